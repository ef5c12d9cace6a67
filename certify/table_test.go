package certify

import (
	"io"
	"strings"
	"testing"
)

// A row's name has all that tells one sampler from another, in a fixed order.
func TestNameHasEverythingThatTellsSamplersApart(t *testing.T) {
	for _, c := range []struct {
		row  Row
		want string
	}{
		{Row{Integrator: "leapfrog", Inner: 1}, "leapfrog"},
		{Row{Integrator: "leapfrog", Inner: 1, Estimator: "plain"}, "leapfrog"},
		{Row{Integrator: "lietrotter", Inner: 2}, "lietrotter, N_l = 2"},
		{Row{Integrator: "mt3", Inner: 4, Estimator: "saga", Values: map[string]float64{"b": 1e-7, "a": 20}},
			"mt3, saga, a = 20, b = 0.0000001, N_l = 4"},
	} {
		if got := c.row.Name(); got != c.want {
			t.Errorf("name %q: want %q", got, c.want)
		}
	}
}

// Tables name the law of each row where rows are of several.
func TestTablesTellLawsApart(t *testing.T) {
	row := Row{Problem: "p", Integrator: "leapfrog", Inner: 1, Scheme: "cyclic", Observe: "period", Steps: []float64{0.1},
		Observables: []Observable{{Name: "theta.cov", Verdict: Confirmed}}, Answers: Answers{Kolmogorov: []Number{0.5}, Wasserstein: []Number{0.25}}}
	every := row
	every.Observe = "every-step"
	for name, write := range map[string]func(io.Writer, []Row) error{"orders": WriteTable, "answers": WriteAnswers} {
		for _, rows := range [][]Row{{row, every}, {row, row}} {
			var text strings.Builder
			if err := write(&text, rows); err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"law", "period", "every-step"} {
				if strings.Contains(text.String(), word) != (rows[0].Observe != rows[1].Observe) {
					t.Errorf("%s of %s and %s:\n%s", name, rows[0].Observe, rows[1].Observe, text.String())
				}
			}
		}
	}
}

// An error is shown where it is resolved; else its bound is, and of one that is 0 for certain, 0.
func TestErrorsBelowTheirBoundShowIt(t *testing.T) {
	for want, x := range map[string][2]Number{"2.000e-03": {2e-3, 1e-9}, "< 1e-09": {0, 1e-9}, "0": {0, 0}} {
		o := Observable{Relative: []Number{x[0]}, RelativeResolution: []Number{x[1]}}
		if got := (Row{Steps: []float64{0.1}}).finest(o); got != want {
			t.Errorf("error %v, bound %v: %q, want %q", x[0], x[1], got, want)
		}
	}
}
