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

// setting is a setting of a cell, or a value that follows from several.
type setting struct {
	name, column string // in a study's file and in CSV
	label        string // heads a column for people and names an axis
	symbol       string // stands before the value: "N_l = "
	axis         bench.Axis
	value        func(bench.Cell) any
}

// settings are those that figures and tables may show, as package bench declares them.
var settings = shownSettings()

func shownSettings() (shown []setting) {
	for _, s := range bench.Settings() {
		if s.Axis != "" {
			shown = append(shown, setting{s.Name, s.Column, s.Label, s.Symbol, s.Axis, valueOf(s)})
		}
	}
	return shown
}

// valueOf returns the value of a setting in a cell. Parameters belong to their
// integrator, and the full batch keeps the number that CSV has for it.
func valueOf(s bench.Setting) func(bench.Cell) any {
	return func(c bench.Cell) any {
		switch v := s.Of(c).(type) {
		case uint64:
			return int(v)
		case string:
			if s.Name == "integrator" {
				return v + valuesText(c.Values)
			}
			if v == "" && s.Default != nil {
				return s.Default
			}
			return v
		case float64:
			if s.Name == "batch" && math.IsInf(v, 1) {
				return bench.Full
			}
			return v
		default:
			return v
		}
	}
}

// onLines reports whether the setting makes lines where it varies.
func (s setting) onLines() bool { return s.axis == bench.OnLines || s.axis == bench.Stated }

// lookup returns the settings of the names. A name that is none is a parameter
// of an integrator if any of the cells has it.
func lookup(names []string, jobs []bench.Job) (found []setting, err error) {
	for _, name := range names {
		i := slices.IndexFunc(settings, func(s setting) bool { return s.name == name })
		switch {
		case i >= 0:
			found = append(found, settings[i])
		case slices.ContainsFunc(jobs, func(j bench.Job) bool { _, ok := j.Cell.Values[name]; return ok }):
			found = append(found, setting{name, name, name, name + " = ", bench.Averaged, func(c bench.Cell) any {
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

// distance is what all cells are compared by. A chain that diverged counts as
// distance 1; of nothing else but counts has it a value.
const distance = "distance"

// observe returns the observation of a name.
func observe(name string) (bench.Observation, error) {
	of := bench.Observations()
	i := slices.IndexFunc(of, func(o bench.Observation) bool { return o.Name == name })
	if i < 0 {
		return bench.Observation{}, usage.Errorf("%q is nothing that is observed", name)
	}
	return of[i], nil
}

// observed are the numbers of the results that have one.
func observed(o bench.Observation, results []bench.Result) (values []float64) {
	for _, r := range results {
		if v := o.Of(r); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}
