package child

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode"

	"hambench/usage"
)

// protocol is the version of the protocol of docs/samplers.md.
const protocol = 1

// longestName bounds the name of a child, in characters, so that tables can show it.
const longestName = 60

// Hello is the first question to a child, or the part of it that all children get.
type Hello struct {
	Op      string `json:"op"`
	Version int    `json:"version"`
}

// Greet returns the first question in this version of the protocol.
func Greet() Hello { return Hello{"hello", protocol} }

// Greeting is the part of the answer to Hello that all children give.
type Greeting struct {
	// Version is that of the child's protocol; nil means this one.
	Version *int `json:"version"`
	// Name stands for the child in tables.
	Name string `json:"name"`
}

// Check returns a usage error for another version of the protocol, and for a name that
// is empty, too long, or has a comma or unprintable characters.
func (g Greeting) Check() error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) || r == ',' }
	switch {
	case g.Version != nil && *g.Version != protocol:
		return usage.Errorf("answer to hello: version %d of the protocol: want %d",
			*g.Version, protocol)
	case g.Name == "" || len([]rune(g.Name)) > longestName,
		strings.ContainsFunc(g.Name, unprintable):
		return usage.Errorf(
			"answer to hello: name %q: want 1 to %d printable characters without a comma",
			g.Name, longestName)
	}
	return nil
}

// Vector is a list of numbers in JSON. null, which package json would take for a
// 0, stands for a number that is not finite: it becomes NaN.
type Vector []float64

// UnmarshalJSON appends the numbers of an array. Anything else in it, and a number beyond
// float64, is a usage error.
func (v *Vector) UnmarshalJSON(b []byte) error {
	text, ok := bytes.CutPrefix(b, []byte("["))
	if !ok {
		return usage.Errorf("%.40s: want an array of numbers", b)
	}
	for _, word := range bytes.Split(bytes.TrimSuffix(text, []byte("]")), []byte(",")) {
		word = bytes.TrimSpace(word)
		if string(word) == "null" {
			*v = append(*v, math.NaN())
			continue
		}
		x, err := strconv.ParseFloat(string(word), 64)
		if err != nil {
			return usage.Errorf("%.40s: want finite numbers", b)
		}
		*v = append(*v, x)
	}
	return nil
}

// Failure is the error of a child in code that cannot return one, such as the gradient
// of an external model in the middle of a step: the code panics with a *Failure, and
// Catch recovers it.
type Failure struct{ Err error }

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the child's error.
func (f *Failure) Unwrap() error { return f.Err }

// Catch, deferred, makes a panic with a *Failure the function's error. It panics again
// with anything else.
func Catch(err *error) {
	switch failed := recover().(type) {
	case nil:
	case *Failure:
		*err = failed
	default:
		panic(failed)
	}
}
