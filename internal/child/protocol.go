package child

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode"

	"hambench/usage"
)

// Protocol is the version of the protocol of docs/samplers.md.
const Protocol = 1

// longestName bounds the name of a child.
const longestName = 60

// Hello is the question that a child is asked first.
type Hello struct {
	Op      string `json:"op"`
	Version int    `json:"version"`
}

// Greet returns the question for this protocol.
func Greet() Hello { return Hello{"hello", Protocol} }

// Greeting is the part of the answer that all children give.
type Greeting struct {
	Version *int   `json:"version"`
	Name    string `json:"name"`
}

// Check returns an error for another protocol, or a name that no table can show.
func (g Greeting) Check() error {
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) || r == ',' }
	switch {
	case g.Version != nil && *g.Version != Protocol:
		return usage.Errorf("answer to hello: version %d of the protocol: want %d", *g.Version, Protocol)
	case g.Name == "" || len([]rune(g.Name)) > longestName || strings.ContainsFunc(g.Name, unprintable):
		return usage.Errorf("answer to hello: name %q: want 1 to %d printable characters without a comma", g.Name, longestName)
	}
	return nil
}

// Vector is a list of numbers in JSON. null, which package json would take for a
// 0, stands for a number that is not finite: it becomes NaN.
type Vector []float64

// UnmarshalJSON reads an array of numbers.
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

// Failure is the error of a child in code that cannot return one: the code panics
// with it, and Catch recovers it.
type Failure struct{ Err error }

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the child's error.
func (f *Failure) Unwrap() error { return f.Err }

// Catch, deferred, makes a panic with a Failure the function's error.
func Catch(err *error) {
	switch failed := recover().(type) {
	case nil:
	case *Failure:
		*err = failed
	default:
		panic(failed)
	}
}
