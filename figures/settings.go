package figures

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"hambench/bench"
	"hambench/usage"
)

// setting is what a study chooses of a cell, under the name that its file has.
type setting struct {
	name, column string // in a study's file and in CSV
	label        string // heads a column for people and names an axis
	symbol       string // stands before the value: "N_l = "
	beside       int    // one of the below
	value        func(bench.Cell) any
}

// A setting that is beside the axes makes lines where it varies, and captions
// state it where it is stated and does not vary.
const (
	beside = 1 + iota
	stated
)

// settings are those that figures and tables know.
var settings = []setting{
	{"data", "dataset", "data set", "", 0, func(c bench.Cell) any { return c.Dataset }},
	{"split", "split", "split", "split ", 0, func(c bench.Cell) any { return c.Split }},
	{"model", "model", "model", "", 0, func(c bench.Cell) any { return c.Model }},
	{"batch", "batch", "batch", "B = ", 0, func(c bench.Cell) any { return c.BatchSize }},
	{"K", "K", "K", "K = ", 0, func(c bench.Cell) any { return c.Batches }},
	{"integrator", "integrator", "integrator", "", stated, func(c bench.Cell) any { return c.Integrator + valuesText(c.Values) }},
	{"nl", "nl", "N_l", "N_l = ", beside, func(c bench.Cell) any { return c.Inner }},
	{"friction", "friction", "C", "C = ", stated, func(c bench.Cell) any { return float64(c.Friction) }},
	{"estimator", "estimator", "estimator", "", beside, func(c bench.Cell) any { return cmp.Or(c.Estimator, "plain") }},
	{"scheme", "scheme", "scheme", "", beside, func(c bench.Cell) any { return c.Scheme }},
	{"precision", "precision", "precision", "", beside, func(c bench.Cell) any { return c.Precision }},
	{"step", "h", "η", "η = ", 0, func(c bench.Cell) any { return c.Step }},
	{"samples", "samples", "samples", "samples = ", 0, func(c bench.Cell) any { return c.Samples }},
	{"thin", "thin", "thinning", "thinning ", 0, func(c bench.Cell) any { return c.Thin }},
	{"burn", "burn_in", "burn-in", "burn-in ", 0, func(c bench.Cell) any { return c.BurnIn }},
	{"seed", "seed", "seed", "seed ", 0, func(c bench.Cell) any { return int(c.Seed) }},
}

// lookup returns the settings of the names. A name that is none is a parameter
// of an integrator if any of the cells has it.
func lookup(names []string, jobs []bench.Job) (found []setting, err error) {
	for _, name := range names {
		i := slices.IndexFunc(settings, func(s setting) bool { return s.name == name })
		switch {
		case i >= 0:
			found = append(found, settings[i])
		case slices.ContainsFunc(jobs, func(j bench.Job) bool { _, ok := j.Cell.Values[name]; return ok }):
			found = append(found, setting{name, name, name, name + " = ", 0, func(c bench.Cell) any {
				if v, ok := c.Values[name]; ok {
					return v
				}
				return math.NaN()
			}})
		default:
			return nil, usage.Errorf("%q is no setting of a cell, nor a parameter that one has", name)
		}
	}
	return found, nil
}

// number is the value where it is one. The full batch is larger than any other.
func (s setting) number(c bench.Cell) (float64, bool) {
	if s.name == "batch" && c.BatchSize == bench.Full {
		return math.Inf(1), true
	}
	switch v := s.value(c).(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return math.NaN(), false
}

// isNumber reports whether the setting is a number of every cell.
func (s setting) isNumber() bool {
	_, ok := s.number(bench.Cell{})
	return ok
}

// field is the value for programs, to whom JSON cannot say infinity.
func (s setting) field(c bench.Cell) any {
	if v, ok := s.value(c).(float64); ok && math.IsInf(v, 1) {
		return "inf"
	}
	return s.value(c)
}

// plain is the value as tables have it.
func (s setting) plain(c bench.Cell) string {
	if s.name == "batch" && c.BatchSize == bench.Full {
		return "full"
	}
	return valueText(s.value(c))
}

// text is the value as legends, titles and captions have it; "" where a cell
// does not have it.
func (s setting) text(c bench.Cell) string {
	switch {
	case s.name == "batch" && c.BatchSize == bench.Full:
		return "full batch"
	case s.name == "batch":
		return fmt.Sprintf("B = %d (K = %d)", c.BatchSize, c.Batches)
	case s.name == "scheme" && c.Batches == 1:
		return ""
	}
	return s.symbol + s.plain(c)
}

// valueText is a value as people read it.
func valueText(v any) string {
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) {
			return "–"
		}
		if math.IsInf(v, 1) {
			return "∞"
		}
		return decimal(v)
	case int:
		return thousands(v)
	}
	return fmt.Sprint(v)
}

// frictionText is C as people read it.
func frictionText(c bench.Cell) string { return valueText(float64(c.Friction)) }

// valuesText states the values of an integrator's own parameters.
func valuesText(values map[string]float64) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, ", %s = %s", name, decimal(values[name]))
	}
	return b.String()
}

// decimal writes a number without an exponent: 0.001, 20.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// varies reports whether the setting differs among the cells of a panel. A
// model or a precision that only goes with the data set does not.
func (s setting) varies(jobs []bench.Job) bool {
	seen := make(map[string]string)
	for _, j := range jobs {
		text, panel := s.text(j.Cell), fmt.Sprint(j.Cell.Dataset, j.Cell.Batches)
		if old, ok := seen[panel]; ok && old != text {
			return true
		}
		seen[panel] = text
	}
	return false
}

// titlesOf returns the titles of panels, a result each, and the settings that titles
// state because their cells would have the same title otherwise.
func titlesOf(results []bench.Result, title func(bench.Cell) string) (titles []string, stated []setting) {
	for _, r := range results {
		titles = append(titles, title(r.Cell))
	}
	able, _ := lookup([]string{"split", "batch", "seed"}, nil)
	for _, s := range able {
		found := false
		for i, r := range results {
			if slices.ContainsFunc(results, func(o bench.Result) bool { return title(o.Cell) == title(r.Cell) && s.plain(o.Cell) != s.plain(r.Cell) }) {
				titles[i], found = titles[i]+", "+s.text(r.Cell), true
			}
		}
		if found {
			stated = append(stated, s)
		}
	}
	return titles, stated
}

// columnsOf and fieldsOf are settings as records for programs have them.
func columnsOf(ss []setting) (columns []string) {
	for _, s := range ss {
		columns = append(columns, s.column)
	}
	return columns
}

func fieldsOf(ss []setting, c bench.Cell) (fields []any) {
	for _, s := range ss {
		fields = append(fields, s.field(c))
	}
	return fields
}

// mixed names what the cells that a mean is over differ in, beside splits and
// seeds.
func mixed(means []*chains) (names []string) {
	for _, s := range settings {
		differ := func(of *chains) bool {
			return slices.ContainsFunc(of.results, func(r bench.Result) bool { return s.plain(r.Cell) != s.plain(of.results[0].Cell) })
		}
		if s.name != "split" && s.name != "seed" && slices.ContainsFunc(means, differ) {
			names = append(names, s.label)
		}
	}
	return names
}

// textOf joins what the settings say of a cell, which is more than nothing.
func textOf(ss []setting, c bench.Cell) string {
	var out []string
	for _, s := range ss {
		if t := s.text(c); t != "" {
			out = append(out, t)
		}
	}
	return cmp.Or(strings.Join(out, ", "), strings.TrimSpace(joined(ss, c, " ")))
}

// joined are the values of the settings, each behind a separator.
func joined(ss []setting, c bench.Cell, separator string) string {
	var b strings.Builder
	for _, s := range ss {
		b.WriteString(separator + s.plain(c))
	}
	return b.String()
}

// observation is a number that a result has.
type observation struct {
	name, column string // in a study's file and in CSV
	label        string // of an axis
	digits       int    // in tables
	shown        bool   // in tables that do not say what they show, where any result has it
}

// distance is what all cells are compared by. A chain that diverged counts as
// distance 1; of nothing else but counts has it a value.
const distance = "distance"

var observations = []observation{
	{distance, "ks", "mean Kolmogorov distance", 3, true},
	{"rmse", "rmse", "test RMSE", 3, true},
	{"accuracy", "accuracy", "test accuracy", 3, true},
	{"mnll", "mnll", "test MNLL", 3, true},
	{"ece", "ece", "expected calibration error", 3, true},
	{"coverage", "coverage", "coverage of 90 % intervals", 3, true},
	{"lag1", "lag1", "lag-1 autocorrelation", 3, true},
	{"coupled", "coupled", "difference of means at h and at h/2", 3, true},
	{"gradients", "gradients", "gradients", 0, true},
	{"ess", "ess", "effective sample size", 3, false},
	{"steps", "steps", "steps", 0, false},
	{"seconds", "seconds", "seconds", 0, false},
}

// observe returns the observation of a name.
func observe(name string) (observation, error) {
	i := slices.IndexFunc(observations, func(o observation) bool { return o.name == name })
	if i < 0 {
		return observation{}, usage.Errorf("%q is nothing that is observed", name)
	}
	return observations[i], nil
}

// value is the number of a result that has it.
func (o observation) value(r bench.Result) (float64, bool) {
	switch o.name {
	case distance:
		return r.KS, r.Cell.Observe != bench.Coupled
	case "gradients":
		return float64(r.Gradients), true
	case "steps":
		return float64(r.Steps), true
	case "seconds":
		return r.Seconds, true
	}
	v, ok := r.Scores[o.name]
	return v, ok && !r.Diverged
}

// of are the values of the results that have one.
func (o observation) of(results []bench.Result) (values []float64) {
	for _, r := range results {
		if v, ok := o.value(r); ok {
			values = append(values, v)
		}
	}
	return values
}
