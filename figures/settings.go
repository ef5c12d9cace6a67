package figures

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"hambench/bench"
	"hambench/bench/table"
)

// distance is what all cells are compared by. A chain that diverged counts as distance 1; of
// nothing else but counts has it a value.
const distance = "distance"

// setting returns the declaration of a setting of the program; it panics if there is none of
// the name. Names that a study gives are for bench.LookupSettings.
func setting(name string) bench.Setting {
	all := bench.Settings()
	return all[slices.IndexFunc(all, func(s bench.Setting) bool { return s.Name == name })]
}

// axisLabel names a setting along an axis: step size η.
func axisLabel(s bench.Setting) string { return strings.TrimSpace(s.Noun + " " + s.Label) }

// nameOf is a setting's name in files.
func nameOf(s bench.Setting) string { return s.Name }

// fieldOf is the value of a setting for programs: whole numbers have all their digits, and an
// integrator, which several columns tell apart, has its parameters behind its name.
func fieldOf(s bench.Setting, r table.Row) any {
	v := s.Field(r)
	x, isNumber := v.(float64)
	switch {
	case len(s.Columns()) > 1:
		return s.Plain(r)
	case isNumber && x == math.Trunc(x) && math.Abs(x) < math.MaxInt64:
		return int64(x)
	}
	return v
}

// fieldsOf are the values of some settings for programs.
func fieldsOf(settings []bench.Setting, r table.Row) (fields []any) {
	for _, s := range settings {
		fields = append(fields, fieldOf(s, r))
	}
	return fields
}

// decimal writes a number without an exponent: 0.001, 20.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// beside are settings that captions of figures of a kind state where they are not at their
// defaults, behind those that they state of all chains.
var beside = []string{"nl", "estimator", "start", "temperature", "localisation"}

// unusual returns the texts of those of a chain, each behind a comma.
func unusual(r table.Row) (text string) {
	for _, name := range beside {
		k := setting(name)
		v, usual := k.Value(r), table.Of(k.Default)
		same := v.Text() == usual.Text()
		if k.Kind == table.Number {
			same = v.Number() == usual.Number()
		}
		if t := k.Text(r); t != "" && !v.IsNone() && !same {
			text += ", " + t
		}
	}
	return text
}

// resultOf is the result of a cell's row: zero but for the cell if it is missing. It has what
// no column has: series, and scores that are not declared as observations.
func resultOf(r table.Row) bench.Result { return r.Source.(bench.Result) }

// titlesOf returns the titles of panels, a row each, and the settings that titles state
// because their chains would have the same title otherwise.
func titlesOf(rows []table.Row, title func(table.Row) string) (
	titles []string, stated []bench.Setting) {
	for _, r := range rows {
		titles = append(titles, title(r))
	}
	// One setting after another is added to the titles of chains that it tells apart, from what
	// readers ask for first. Chains are compared by their first titles: two settings may be added
	// where one would do.
	for _, name := range []string{"split", "batch", "seed"} {
		s, found := setting(name), false
		for i, r := range rows {
			clash := func(o table.Row) bool {
				return title(o) == title(r) && s.Value(o) != s.Value(r)
			}
			if slices.ContainsFunc(rows, clash) {
				titles[i], found = titles[i]+", "+s.Text(r), true
			}
		}
		if found {
			stated = append(stated, s)
		}
	}
	return titles, stated
}
