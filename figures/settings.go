package figures

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/chain"
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
		if t := k.Text(r); t != "" && !usual(k, r) {
			text += ", " + t
		}
	}
	return text
}

// usual reports whether a chain has the value of a setting that follows from its other settings
// where it is not stated, or none. The step is always stated, and so is a model that has neither
// the name of its data set nor is a network.
func usual(k bench.Setting, r table.Row) bool {
	v, plan := k.Value(r), chain.PaperPlan(r.Number("h"), 1)
	network := strings.HasPrefix(r.Text("model"), "bnn")
	switch {
	case v.IsNone() || k.Kind == table.Text && v.Text() == "":
		return true
	case k.Name == "thin":
		return v.Number() == float64(plan.Thin) || v.Number() == 0 // 0: not stated
	case k.Name == "burn":
		return v.Number() == float64(plan.BurnIn) || r.Number("thin") == 0
	case k.Name == "model":
		return network || v.Text() == r.Text("dataset")
	case k.Name == "precision" && !network:
		return true
	case k.Default == nil:
		return k.Name != "step"
	case k.Kind == table.Number:
		return v.Number() == table.Of(k.Default).Number()
	}
	return v.Text() == table.Of(k.Default).Text()
}

// told reports whether captions state a setting that is the same in all cells: some always, others
// where no cell has what is usual. A friction is that of chains that have one.
func told(k bench.Setting, cells *table.Table) bool {
	rows := cells.Rows()
	switch {
	case k.Name == "friction" && !slices.ContainsFunc(rows, bench.HasFriction):
		return false
	case k.Axis == bench.Stated:
		return true
	}
	return !slices.ContainsFunc(rows, func(r table.Row) bool { return usual(k, r) })
}

// statement is what captions state of a chain by some settings.
func statement(of []bench.Setting, r table.Row) string {
	var model string
	isModel := func(k bench.Setting) bool { return k.Name == "model" }
	if slices.ContainsFunc(of, isModel) {
		of, model = slices.DeleteFunc(slices.Clone(of), isModel), "model "+r.Text("model")
	}
	texts := []string{bench.TextOf(of, r), model}
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), ", ")
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
