package paper

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"hambench/bench"
	"hambench/bench/table"
)

// rivalry compares the best mean squared errors of a choice and of the best of its rivals
// at one number of gradients: each at its own best step, so steps are not equal.
type rivalry struct {
	choice, best table.Row
	ratio        float64 // of the choice's number over the best's
}

// rivals compares each row with those that differ in what is compared alone. The choice
// itself may be among them, and is then the best at a ratio of 1; a choice that has no
// other rival says nothing. A choice or a rival without a finite number takes no part. Two
// studies that asked for the same numbers give one comparison.
func (x *evaluation) rivals() (out []rivalry) {
	on, compared := x.shared(), slices.Collect(maps.Keys(x.Over))
	// A best error is that of the worst average, which may be another one for each rival.
	on = slices.DeleteFunc(on, func(c string) bool { return c == "observable" })
	others := table.ByKey(x.others().GroupBy(on...))
	// Of rows that two studies have, the first counts.
	for _, g := range x.selected.GroupBy(append(on, compared...)...) {
		r := rivalry{choice: g.Rows()[0]}
		// Numbers that are NaN are not below any: such rivals are passed over.
		least, alone := inf, true // alone: there is no rival but the choice itself
		if of := others[r.choice.Key(on...)]; of != nil {
			for _, o := range of.Rows() {
				alone = alone && o.Key(compared...) == r.choice.Key(compared...)
				if v := x.number(o); v < least {
					least, r.best = v, o
				}
			}
		}
		if r.ratio = x.number(r.choice) / least; !alone && r.ratio < inf {
			out = append(out, r)
		}
	}
	return out
}

// choiceName names what is compared of a row, with the symbols of the settings: "C = 5".
func (x *evaluation) choiceName(r table.Row) string {
	var parts []string
	for _, s := range bench.Settings() {
		if _, ok := x.Over[s.Column]; ok {
			parts = append(parts, s.Symbol+r.Get(s.Column).String())
		}
	}
	return strings.Join(parts, ", ")
}

// decideRivals confirms if every ratio lies in the interval, and refutes if none does: a
// choice that is good on some problems and bad on others is left open, and the detail
// names those to the contrary.
func (x *evaluation) decideRivals() Finding {
	all := x.rivals()
	if len(all) == 0 {
		return x.nothing()
	}
	f := Finding{Verdict: NotDecided}
	var ratios []float64
	var contrary []string
	good := 0
	for _, r := range all {
		// Without the budget: a choice that is bad at several is one case to the contrary.
		at := r.choice.Text("problem") + " under " + r.choice.Text("scheme")
		name := fmt.Sprintf("mean squared error of %s / %s, %s, %s, %g gradients",
			x.choiceName(r.choice), x.choiceName(r.best), r.choice.Text("problem"),
			r.choice.Text("scheme"), r.choice.Number("budget"))
		f.add(name, r.ratio, "%.3g")
		ratios = append(ratios, r.ratio)
		if x.holds(r.ratio) {
			good++
		} else if !slices.Contains(contrary, at) {
			contrary = append(contrary, at)
		}
	}
	switch good {
	case len(all):
		f.Verdict = Confirmed
	case 0:
		f.Verdict = Refuted
	}
	f.Summary = sprint(x.Summary, floats.Min(ratios), floats.Max(ratios), good, len(all))
	f.Detail = "All this is of these problems."
	if len(contrary) > 0 {
		f.Detail += " Cases to the contrary: " + strings.Join(contrary, "; ") + "."
	}
	return f
}

// frictionEfficient states the best friction in the unit of the target's lowest frequency,
// too: a friction is a rate, and means something beside a frequency alone.
func frictionEfficient(of []*evaluation) Finding {
	f := of[0].decideRivals()
	var best []float64
	for _, r := range of[0].rivals() {
		best = append(best, r.best.Number("friction")/r.choice.Number("omega"))
	}
	if len(best) > 0 {
		const more = "; the best C is %.2g to %.2g ω, ω the target's lowest frequency"
		f.Summary += fmt.Sprintf(more, floats.Min(best), floats.Max(best))
	}
	return f
}
