package gate

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"hambench/certify"
	"hambench/usage"
)

// certifyRow is a row of certify's output with one observable of order 2, after some changes.
func certifyRow(changes ...func(r *certify.Row, o *certify.Observable)) certify.Row {
	row := certify.Row{
		Problem: "gaussian", Integrator: "mine", Scheme: "full", Steps: []float64{0.2, 0.1},
	}
	o := certify.Observable{
		Name: "theta.cov", Verdict: certify.Confirmed, Order: 2, Uncertainty: 0.01, Constant: 0.25,
		Errors: []certify.Number{0.01, 0.0025}, Resolution: []certify.Number{1e-12, 1e-12},
	}
	for _, change := range changes {
		change(&row, &o)
	}
	row.Observables = []certify.Observable{o}
	return row
}

// compareRows compares the output of certify with some rows with that with others.
func compareRows(t *testing.T, old, now []certify.Row) (*Report, error) {
	t.Helper()
	var runs []Run
	for _, rows := range [][]certify.Row{old, now} {
		data, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, Run{"a run", data})
	}
	return Compare(runs[0], runs[1], Options{})
}

// The first of verdict, order, constant and errors that moved is reported, by as much as counts.
func TestWhatMovesOfCertify(t *testing.T) {
	type change = func(r *certify.Row, o *certify.Observable)
	same := func(*certify.Row, *certify.Observable) {}
	unsettled := func(_ *certify.Row, o *certify.Observable) { o.Uncertainty = 2 }
	coarse := func(_ *certify.Row, o *certify.Observable) { o.Resolution[1] = 1e-4 }
	for _, c := range []struct {
		reason    string
		both, now change
		what, why string // "" if nothing moved
	}{
		{"the same", same, same, "", ""},
		{"another verdict", same, func(_ *certify.Row, o *certify.Observable) {
			o.Verdict = certify.Refuted
		}, "verdict", "verdicts must agree"},
		{"another order", same, func(_ *certify.Row, o *certify.Observable) { o.Order = 1.94 },
			"order", "by 0.06 > 0.05"},
		{"an order within what counts", same, func(_ *certify.Row, o *certify.Observable) {
			o.Order = 2.04
		}, "", ""},
		{"another constant", same, func(_ *certify.Row, o *certify.Observable) {
			o.Constant = 0.2525
		}, "constant", "by 1 % > 0.5 %"},
		{"a constant within what counts", same, func(_ *certify.Row, o *certify.Observable) {
			o.Constant = 0.251
		}, "", ""},
		{"orders that are not settled", unsettled, func(_ *certify.Row, o *certify.Observable) {
			o.Order, o.Constant = 3, 9
		}, "", ""},
		{"another error", same, func(_ *certify.Row, o *certify.Observable) {
			o.Errors[1] = 0.00252
		}, "error at h = 0.1", "by more than 0.5 % and its resolution"},
		{"an error within what counts", same, func(_ *certify.Row, o *certify.Observable) {
			o.Errors[1] = 0.00251
		}, "", ""},
		{"an error within ten resolutions", coarse, func(_ *certify.Row, o *certify.Observable) {
			o.Errors[1] = 0.0044
		}, "", ""},
		{"an error beyond them", coarse, func(_ *certify.Row, o *certify.Observable) {
			o.Errors[1] = 0.0046
		}, "error at h = 0.1", "by more than 0.5 % and its resolution"},
		{"an error that is not known any more", same, func(_ *certify.Row, o *certify.Observable) {
			o.Errors[0] = certify.Number(math.NaN())
		}, "error at h = 0.2", "by more than 0.5 % and its resolution"},
		{"another integrator", same, func(r *certify.Row, _ *certify.Observable) {
			r.Integrator = "theirs"
		}, "row", "every old row must be in the new run"},
	} {
		r, err := compareRows(t, []certify.Row{certifyRow(c.both)},
			[]certify.Row{certifyRow(c.both, c.now)})
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		if c.what != "" {
			want = []string{c.what, c.why}
		}
		for _, m := range r.Moved {
			got = append(got, m.What, m.Why)
		}
		if !slices.Equal(got, want) || r.Compared != 1 {
			t.Errorf("%s: %q moved of %d, want %q of 1", c.reason, got, r.Compared, want)
		}
	}
}

// Rows that differ in one of the settings that identify them are two, equal ones a mistake.
func TestRowsOfCertifyAreToldApartByTheirSettings(t *testing.T) {
	for setting, change := range map[string]func(r *certify.Row, o *certify.Observable){
		"":           func(*certify.Row, *certify.Observable) {},
		"problem":    func(r *certify.Row, _ *certify.Observable) { r.Problem = "toy" },
		"scheme":     func(r *certify.Row, _ *certify.Observable) { r.Scheme = "cyclic" },
		"observable": func(_ *certify.Row, o *certify.Observable) { o.Name = "r.cov" },
		"N_l":        func(r *certify.Row, _ *certify.Observable) { r.Inner = 3 },
		"values": func(r *certify.Row, _ *certify.Observable) {
			r.Values = map[string]float64{"alpha": 1}
		},
		"estimator": func(r *certify.Row, _ *certify.Observable) { r.Estimator = "svrg" },
		"observe":   func(r *certify.Row, _ *certify.Observable) { r.Observe = "every-step" },
	} {
		rows := []certify.Row{certifyRow(), certifyRow(change)}
		r, err := compareRows(t, rows, rows)
		if setting == "" {
			const want = "occurs twice"
			if !errors.As(err, new(*usage.Error)) || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("equal rows: error %v, want %s", err, want)
			}
			continue
		}
		if err != nil || r.Compared != 2 || r.Err() != nil {
			t.Errorf("another %s: %v, %+v", setting, err, r)
		}
	}
}

func TestThresholdsHaveDefaultsAndLimits(t *testing.T) {
	got, err := Options{}.complete()
	if want := (Options{Order: 0.05, Constant: 0.005, Alpha: 0.05, Distance: 0.03}); err != nil ||
		got != want {
		t.Errorf("%+v, %v: want %+v", got, err, want)
	}
	for want, o := range map[string]Options{
		"threshold alpha = 1: want less than 1":                {Alpha: 1},
		"threshold order = -1: want a finite number > 0":       {Order: -1},
		"threshold constant = +Inf: want a finite number > 0":  {Constant: math.Inf(1)},
		"threshold distance = -0.03: want a finite number > 0": {Distance: -0.03},
	} {
		_, err := o.complete()
		if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %s", o, err, want)
		}
	}
}
