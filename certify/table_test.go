package certify

import "testing"

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

// An error is shown where it is resolved; else its bound is, and of one that is 0 for certain, 0.
func TestErrorsBelowTheirBoundShowIt(t *testing.T) {
	for want, x := range map[string][2]Number{"2.000e-03": {2e-3, 1e-9}, "< 1e-09": {0, 1e-9}, "0": {0, 0}} {
		o := Observable{Relative: []Number{x[0]}, RelativeResolution: []Number{x[1]}}
		if got := (Row{Steps: []float64{0.1}}).finest(o); got != want {
			t.Errorf("error %v, bound %v: %q, want %q", x[0], x[1], got, want)
		}
	}
}
