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

	"hambench/internal/distinct"
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

// section is a table of a TOML file. What is wrong with it is noted once for the
// whole file, with the place; what is not as it should be reads as nothing.
type section struct {
	place
	values map[string]any
	lines  map[string]int // of all keys of the file
	failed *error         // the first mistake of the file
}

// fail notes an error at a place, unless it is nil or an earlier one was noted.
func (s section) fail(at place, err error) {
	if err != nil && *s.failed == nil {
		*s.failed = at.errorf("%w", err)
	}
}

// parseTOML reads a file's text.
func parseTOML(file string, text []byte) (section, error) {
	s := section{place: place{file: file, line: 1}, lines: make(map[string]int), failed: new(error)}
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
			// within the last of an array of tables
			if n := count[path]; n > 0 && (e.Kind == unstable.Table || !key.IsLast()) {
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

// at is the place of one of the section's keys. A key within braces has the line
// of the key whose value they are.
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
func (s section) only(known ...string) {
	for _, k := range s.keys() {
		if !slices.Contains(known, k) {
			s.fail(s.at(k), usage.Unknown("key", k, known))
		}
	}
}

// table is the section of a key, empty if there is none.
func (s section) table(key string) section {
	t := section{s.at(key), nil, s.lines, s.failed}
	v, ok := s.values[key]
	if t.values, _ = v.(map[string]any); ok && t.values == nil {
		t.fail(t.place, fmt.Errorf("is %s: want a table, [%s]", kindOf(v), t.key))
	}
	return t
}

// tables are the sections of an array of tables.
func (s section) tables(key string) (out []section) {
	v, ok := s.values[key]
	list, _ := v.([]any)
	for i, e := range list {
		if values, is := e.(map[string]any); is {
			out = append(out, section{s.at(key + "." + strconv.Itoa(i)), values, s.lines, s.failed})
		}
	}
	if ok && (len(out) == 0 || len(out) < len(list)) {
		at := s.at(key)
		s.fail(at, fmt.Errorf("is %s: want tables, [[%s]]", kindOf(v), at.key))
	}
	return out
}

// reader stores a value of a key where it belongs, or says what is wrong with
// the value.
type reader = func(v any) error

// get has a reader read the value of a key, if the section has the key.
func (s section) get(key string, read reader) {
	if v, ok := s.values[key]; ok {
		s.fail(s.at(key), read(v))
	}
}

// read has the readers of the section's keys read them; a key without a reader
// is refused.
func (s section) read(readers map[string]reader) {
	s.only(slices.Sorted(maps.Keys(readers))...)
	for _, k := range s.keys() {
		if read, known := readers[k]; known {
			s.get(k, read)
		}
	}
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
func text(to *string) reader {
	return func(v any) error {
		if *to, _ = v.(string); *to == "" {
			return fmt.Errorf("is %s: want a text in quotes", kindOf(v))
		}
		return nil
	}
}

// known reads a name that a lookup finds.
func known[T any](to *string, lookup func(string) (T, error)) reader {
	return func(v any) error {
		err := text(to)(v)
		if err == nil {
			_, err = lookup(*to)
		}
		return err
	}
}

// texts are words as texts.
func texts[T ~string](words []T) []string {
	return distinct.Of(words, func(w T) string { return string(w) })
}

// oneOf reads one of some words.
func oneOf[T ~string](to *T, kind string, words []T) reader {
	return func(v any) error {
		var name string
		if err := text(&name)(v); err != nil {
			return err
		}
		if *to = T(name); !slices.Contains(words, *to) {
			return usage.Unknown(kind, name, texts(words))
		}
		return nil
	}
}

// whole reads a whole number of a range.
func whole[T int | uint64](to *T, low, high int64) reader {
	return func(v any) error {
		n, ok := v.(int64)
		if !ok || n < low || n > high {
			return fmt.Errorf("is %s: want a whole number from %d to %d", kindOf(v), low, high)
		}
		*to = T(n)
		return nil
	}
}

// real reads a number.
func real(to *float64) reader {
	return func(v any) error {
		switch v := v.(type) {
		case int64:
			*to = float64(v)
		case float64:
			*to = v
		default:
			return fmt.Errorf("is %s: want a number", kindOf(v))
		}
		return nil
	}
}

// largestNumber bounds what files may say, so that products stay finite.
const largestNumber = 1e100

// positive reads a finite number > 0.
func positive(to *float64) reader {
	return func(v any) error {
		err := real(to)(v)
		if err == nil && !(*to > 0 && *to <= largestNumber) {
			err = fmt.Errorf("is %v: want a finite number > 0", *to)
		}
		return err
	}
}

// truth reads true or false.
func truth(to *bool) reader {
	return func(v any) error {
		var ok bool
		if *to, ok = v.(bool); !ok {
			return fmt.Errorf("is %s: want true or false", kindOf(v))
		}
		return nil
	}
}

// each reads a list, or one value as a list of it, by a reader of one.
func each[T any](to *[]T, read func(*T) reader) reader {
	return func(v any) error {
		all, err := list(v)
		*to = make([]T, len(all))
		for i, v := range all {
			err = cmp.Or(err, read(&(*to)[i])(v))
		}
		return err
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
