package bench

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"hambench/internal/distinct"
	"hambench/usage"
)

// document is a study's file in which mistakes are looked for. Only the first one is
// reported: later ones often follow from it.
type document struct {
	file  string
	lines map[string]int // of keys and headers, by path
	err   error          // the first mistake
}

// place is a key in a document.
type place struct {
	*document
	// path is the key with the tables around it, those of an array by number from 0:
	// profile.quick.samples, grid.0.step. It is "" for the whole file.
	path string
}

// errorf returns a usage error that begins with file, line and path. A key within
// braces has the line of the key whose value they are.
// The rest of the line says what is wrong and what is wanted.
func (p place) errorf(format string, args ...any) error {
	line, where := 1, ""
	// The key itself may have no line of its own, within braces: the nearest table around it has.
	for path := p.path; path != ""; path = path[:max(0, strings.LastIndexByte(path, '.'))] {
		if n := p.lines[path]; n > 0 {
			line = n
			break
		}
	}
	if p.path != "" {
		where = p.path + ": "
	}
	return usage.Errorf("%s:%d: %s%w", p.file, line, where, fmt.Errorf(format, args...))
}

// fail notes a mistake at the place, unless err is nil or an earlier one was noted.
func (p place) fail(err error) {
	if err != nil && p.err == nil {
		p.err = p.errorf("%w", err)
	}
}

// at returns the place of a key of the table at p.
func (p place) at(key string) place { return place{p.document, joinKeys(p.path, key)} }

// joinKeys puts a table's path before a key.
func joinKeys(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// section is a table of a document. What is missing or of another kind reads as empty,
// after the mistake has been noted.
type section struct {
	place
	values map[string]any
}

// parseTOML reads a file's text.
// A file that is not TOML is a usage error with the line at which the parser stopped.
func parseTOML(file string, text []byte) (section, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // byte order mark
	// The document is shared by all sections and places of the file: it has the one mistake.
	s := section{place: place{document: &document{file: file, lines: linesOf(text)}}}
	err := toml.Unmarshal(text, &s.values)
	if err != nil {
		line := 1
		if bad, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ = bad.Position()
		}
		err = usage.Errorf("%s:%d: %s", file, line, strings.TrimPrefix(err.Error(), "toml: "))
	}
	return s, err
}

// linesOf returns the lines, from 1, on which tables and keys are first stated, by path.
// They place errors, and order the keys of a table. Of a text that is no TOML it has those up to
// the mistake.
func linesOf(text []byte) map[string]int {
	// count has how many tables of each array have begun, by the array's path.
	lines, count := make(map[string]int), make(map[string]int)
	note := func(path string, line int) { lines[path] = cmp.Or(lines[path], line) }
	var p unstable.Parser
	p.Reset(text)
	// The path of the header that the next keys stand below, with the numbers of arrays in it.
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		path, line := "", 0
		if e.Kind == unstable.KeyValue {
			path = table
		}
		for keys := e.Key(); keys.Next(); {
			key := keys.Node()
			line = p.Shape(key.Raw).Start.Line
			path = joinKeys(path, string(key.Data))
			// [[a]] begins the next table of the array: a itself has the line of the first.
			if e.Kind == unstable.ArrayTable && keys.IsLast() {
				note(path, line)
				count[path]++
			}
			// Behind an array of tables stands the number of its last table so far.
			if n := count[path]; n > 0 {
				path = joinKeys(path, strconv.Itoa(n-1))
			}
		}
		note(path, line)
		if e.Kind != unstable.KeyValue {
			table = path
		}
	}
	return lines
}

// keys returns the section's keys in the order of the file.
// So the first mistake in the file is the one that is reported.
func (s section) keys() []string {
	return slices.SortedFunc(maps.Keys(s.values), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.lines[s.at(a).path], s.lines[s.at(b).path]), cmp.Compare(a, b))
	})
}

// only refuses keys that are not known.
// The error names the nearest key that is known.
func (s section) only(known ...string) {
	for _, k := range s.keys() {
		if !slices.Contains(known, k) {
			s.at(k).fail(usage.Unknown("key", k, known))
		}
	}
}

// table returns the table of a key, empty if there is none.
// A value that is no table is a mistake; what it holds is not looked at.
func (s section) table(key string) section {
	// A section without a table has nil values, in which no key is found.
	t := section{place: s.at(key)}
	v, ok := s.values[key]
	if t.values, _ = v.(map[string]any); ok && t.values == nil {
		t.fail(fmt.Errorf("is %s: want a table, [%s]", kindOf(v), t.path))
	}
	return t
}

// tables returns the tables of an array.
// One that is not an array of tables is a mistake.
func (s section) tables(key string) (tables []section) {
	v, ok := s.values[key]
	list, _ := v.([]any)
	for i, e := range list {
		if values, is := e.(map[string]any); is {
			tables = append(tables, section{s.at(key + "." + strconv.Itoa(i)), values})
		}
	}
	if at := s.at(key); ok && (len(tables) == 0 || len(tables) < len(list)) {
		at.fail(fmt.Errorf("is %s: want tables, [[%s]]", kindOf(v), at.path))
	}
	return tables
}

// key declares a key of a table: the values that it takes, and where they go.
type key struct {
	name string
	// to points to a text, a number, a truth, or a list of them, for which a file may
	// have one value. A text must not be empty.
	to any
	// words are the texts that are allowed, of the stated kind; nil: all. lookup refuses
	// others where they are not a list.
	words  []string
	kind   string
	lookup func(name string) error
	// low and high bound a number; 0 and 0 bound none. High is 0 for low alone.
	low, high float64
	// once is what is said of a value that a list has twice; "" allows it.
	once string
	// read replaces all of these.
	read func(v any) error
}

const (
	// aboveZero, as a lower bound, allows all numbers > 0.
	aboveZero = math.SmallestNonzeroFloat64
	// largestNumber bounds what files may say, so that products stay finite.
	largestNumber = 1e100
)

// positive declares a key for finite numbers > 0.
func positive(name string, to any) key {
	return key{name: name, to: to, low: aboveZero, high: largestNumber}
}

// known declares a key for a name that a lookup finds.
func known[T any](name string, to any, lookup func(string) (T, error)) key {
	return key{name: name, to: to, lookup: func(name string) error {
		_, err := lookup(name)
		return err
	}}
}

// read has the keys read their values; a key that is not declared is refused.
func (s section) read(declared ...key) {
	s.only(distinct.Of(declared, func(k key) string { return k.name })...)
	// In the order of the file, so that its first mistake is the one that is noted.
	for _, name := range s.keys() {
		for _, k := range declared {
			if k.name == name {
				s.at(name).fail(k.set(s.values[name]))
			}
		}
	}
}

// set puts a value where the key's values go, or returns what is wrong with it.
func (k key) set(v any) error {
	if k.read != nil {
		return k.read(v)
	}
	return k.assign(reflect.ValueOf(k.to).Elem(), v)
}

// assign is set for a place of any kind that keys may point to, named types included.
// The first value of a list that is wrong makes the error.
func (k key) assign(to reflect.Value, v any) error {
	switch to.Kind() {
	// Each element is set as a single value is, with the same words and range.
	case reflect.Slice:
		all, err := list(v)
		to.Set(reflect.MakeSlice(to.Type(), len(all), len(all)))
		for i, v := range all {
			err = cmp.Or(err, k.assign(to.Index(i), v))
			for j := range i {
				if k.once != "" && err == nil && to.Index(j).Equal(to.Index(i)) {
					err = fmt.Errorf("%v %s", to.Index(i), k.once)
				}
			}
		}
		return err
	case reflect.String:
		text, ok := v.(string)
		to.SetString(text)
		switch {
		case ok && text == "":
			return errors.New("is empty: want a text")
		case !ok:
			return fmt.Errorf("is %s: want a text in quotes", kindOf(v))
		case k.lookup != nil:
			return k.lookup(text)
		case k.words != nil && !slices.Contains(k.words, text):
			return usage.Unknown(cmp.Or(k.kind, k.name), text, k.words)
		}
	case reflect.Bool:
		truth, ok := v.(bool)
		to.SetBool(truth)
		if !ok {
			return fmt.Errorf("is %s: want true or false", kindOf(v))
		}
	case reflect.Float64:
		// Whole numbers are numbers, too: a file may say 5 for 5.0.
		x, ok := numberOf(v)
		to.SetFloat(x)
		if !ok {
			return fmt.Errorf("is %s: want a number", kindOf(v))
		}
		return k.bound(x)
	default:
		n, ok := v.(int64)
		// 1e3 is no whole number in TOML, and in flags neither; printed, it would look like one.
		if x, _ := v.(float64); !ok && x == math.Trunc(x) && x >= k.low && x <= k.high {
			return fmt.Errorf("has a point or an exponent: want it written as %.0f", x)
		}
		// All keys for whole numbers declare both ends of their range.
		if !ok || float64(n) < k.low || float64(n) > k.high {
			return fmt.Errorf("is %s: want a whole number from %.0f to %.0f", kindOf(v), k.low,
				k.high)
		}
		// The field may be of any integer type; the range is within it.
		to.Set(reflect.ValueOf(n).Convert(to.Type()))
	}
	return nil
}

// bound refuses a number that is out of the key's range.
// The error says what is wanted, with the ends of the range.
func (k key) bound(x float64) error {
	// NaN is in no range; only keys that state none take it.
	high := cmp.Or(k.high, math.Inf(1))
	want := fmt.Sprintf("a number from %v to %v", k.low, high)
	switch {
	case k.low == 0 && k.high == 0 || x >= k.low && x <= high:
		return nil
	case k.low == aboveZero && k.high == 0:
		want = "a number > 0, or inf"
	case k.low == aboveZero && x > high && !math.IsInf(x, 1):
		want = fmt.Sprintf("a number > 0, at most %v", high)
	case k.low == aboveZero:
		want = "a finite number > 0"
	}
	return fmt.Errorf("is %v: want %s", x, want)
}

// numberOf returns the number that a value is.
// ok is false for a text, a truth, a date, a list or a table.
func numberOf(v any) (x float64, ok bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// kindOf names a value and its type, for errors.
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

// list returns the values of a list that is not empty, or one value as a list of it.
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

// texts returns words as texts.
func texts[T ~string](words []T) []string {
	return distinct.Of(words, func(w T) string { return string(w) })
}
