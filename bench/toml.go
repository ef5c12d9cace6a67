package bench

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"hambench/usage"
)

// place is where a key stands: all that an error says before what is wrong.
type place struct {
	file string
	line int
	key  string // with the tables around it: profile.quick.samples
}

// errorf is the usage error of what stands there.
func (p place) errorf(format string, args ...any) error {
	return usage.Errorf("%s:%d: %s: %w", p.file, p.line, p.key, fmt.Errorf(format, args...))
}

// section is a table of a TOML file. Its methods refuse what is not of their
// type, with the place.
type section struct {
	place
	values map[string]any
	lines  map[string]int // of all keys of the file
}

// parseTOML reads a file's text.
func parseTOML(file string, text []byte) (section, error) {
	s := section{place: place{file: file, line: 1}, lines: make(map[string]int)}
	if err := toml.Unmarshal(text, &s.values); err != nil {
		var bad *toml.DecodeError
		if errors.As(err, &bad) {
			s.line, _ = bad.Position()
		}
		return s, usage.Errorf("%s:%d: %s", file, s.line, strings.TrimPrefix(err.Error(), "toml: "))
	}
	var parser unstable.Parser
	parser.Reset(text)
	var table string // the last header
	count := make(map[string]int)
	for parser.NextExpression() {
		e := parser.Expression()
		path := table
		if e.Kind != unstable.KeyValue {
			path = ""
		}
		for key := e.Key(); key.Next(); {
			path = joinKeys(path, string(key.Node().Data))
			if n := count[path]; n > 0 && (e.Kind == unstable.Table || !key.IsLast()) { // within the last of an array of tables
				path = joinKeys(path, strconv.Itoa(n-1))
			}
			line := parser.Shape(parser.Range(key.Node().Data)).Start.Line
			if s.lines[path] == 0 {
				s.lines[path] = line
			}
			if e.Kind == unstable.ArrayTable && key.IsLast() {
				count[path]++
				path = joinKeys(path, strconv.Itoa(count[path]-1))
				s.lines[path] = line
			}
		}
		if e.Kind != unstable.KeyValue {
			table = path
		}
	}
	return s, parser.Error()
}

func joinKeys(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// at is the place of one of the section's keys. What stands in braces has the
// line of what it is in.
func (s section) at(key string) place {
	path := joinKeys(s.key, key)
	p := place{s.file, s.line, path}
	for ; path != ""; path = path[:max(0, strings.LastIndexByte(path, '.'))] {
		if line := s.lines[path]; line > 0 {
			p.line = line
			break
		}
	}
	return p
}

// keys are in the order of the file.
func (s section) keys() []string {
	return slices.SortedFunc(maps.Keys(s.values), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.at(a).line, s.at(b).line), cmp.Compare(a, b))
	})
}

// only refuses keys that are not known.
func (s section) only(known ...string) error {
	for _, k := range s.keys() {
		if !slices.Contains(known, k) {
			return s.at(k).errorf("%w", usage.Unknown("key", k, known))
		}
	}
	return nil
}

// table is the section of a key, empty if there is none.
func (s section) table(key string) (section, error) {
	t := section{place: s.at(key), lines: s.lines}
	v, ok := s.values[key]
	if t.values, _ = v.(map[string]any); ok && t.values == nil {
		return t, t.errorf("is %s: want a table, [%s]", kindOf(v), t.key)
	}
	return t, nil
}

// tables are the sections of an array of tables.
func (s section) tables(key string) ([]section, error) {
	v, ok := s.values[key]
	if !ok {
		return nil, nil
	}
	list, _ := v.([]any)
	var out []section
	for i, e := range list {
		t := section{place: s.at(key + "." + strconv.Itoa(i)), lines: s.lines}
		if t.values, _ = e.(map[string]any); t.values == nil {
			break
		}
		out = append(out, t)
	}
	if len(out) == 0 || len(out) < len(list) {
		return nil, s.at(key).errorf("is %s: want tables, [[%s]]", kindOf(v), s.at(key).key)
	}
	return out, nil
}

// read stores the value of each key that is there where its reader puts it; a
// key without a reader is refused.
func (s section) read(readers map[string]func(any) error) error {
	if err := s.only(slices.Sorted(maps.Keys(readers))...); err != nil {
		return err
	}
	for _, k := range s.keys() {
		if err := readers[k](s.values[k]); err != nil {
			return s.at(k).errorf("%w", err)
		}
	}
	return nil
}

// kindOf names the type of a value, for errors.
func kindOf(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("the text %.40q", v)
	case int64, float64, bool:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return fmt.Sprintf("%v, a date", v)
}

// text reads a text that is not empty.
func text(v any) (string, error) {
	s, ok := v.(string)
	if !ok || s == "" {
		return "", fmt.Errorf("is %s: want a text in quotes", kindOf(v))
	}
	return s, nil
}

// textInto is a reader of a text.
func textInto(to *string) func(any) error {
	return func(v any) (err error) { *to, err = text(v); return err }
}

// whole reads a whole number of a range.
func whole(v any, low, high int64) (int, error) {
	n, ok := v.(int64)
	if !ok || n < low || n > high {
		return 0, fmt.Errorf("is %s: want a whole number from %d to %d", kindOf(v), low, high)
	}
	return int(n), nil
}

// real reads a number.
func real(v any) (float64, error) {
	switch v := v.(type) {
	case int64:
		return float64(v), nil
	case float64:
		return v, nil
	}
	return 0, fmt.Errorf("is %s: want a number", kindOf(v))
}

// positive reads a number > 0; +Inf only if that is allowed.
func positive(v any, infinite bool) (float64, error) {
	x, err := real(v)
	switch {
	case err != nil:
		return 0, err
	case infinite && !(x > 0):
		return 0, fmt.Errorf("is %v: want a number > 0, or inf", x)
	case !infinite && !(x > 0 && x <= largestNumber):
		return 0, fmt.Errorf("is %v: want a finite number > 0", x)
	}
	return x, nil
}

// largestNumber bounds what files may say, so that products stay finite.
const largestNumber = 1e100

// oneOf reads one of some words.
func oneOf[T ~string](v any, kind string, words []T) (T, error) {
	s, err := text(v)
	if err != nil {
		return "", err
	}
	var known []string
	for _, w := range words {
		known = append(known, string(w))
	}
	if !slices.Contains(known, s) {
		return "", usage.Unknown(kind, s, known)
	}
	return T(s), nil
}

// truth is a reader of true or false.
func truth(to *bool) func(any) error {
	return func(v any) error {
		var ok bool
		if *to, ok = v.(bool); !ok {
			return fmt.Errorf("is %s: want true or false", kindOf(v))
		}
		return nil
	}
}

// list reads a list that is not empty, or one value as a list of it.
func list(v any) ([]any, error) {
	l, ok := v.([]any)
	if !ok {
		return []any{v}, nil
	}
	if len(l) == 0 {
		return nil, errors.New("is empty: want at least one value")
	}
	return l, nil
}
