package sweep

import (
	"errors"
	"slices"
	"testing"
	"time"

	"hambench/bench"
	"hambench/usage"
)

// costly gives the kernels of data sets made-up times.
func costly(plans []bench.Plan, seconds map[string]float64) CostModel {
	m := CostModel{Kernels: make(map[Timed]float64)}
	for at := range kernelsOf(plans) {
		m.Kernels[at] = seconds[at.Dataset]
	}
	return m
}

// Data sets are left out, the most expensive first, with their references,
// which stay as they are where they stay.
func TestTheMostExpensiveDataIsLeftOut(t *testing.T) {
	var plans []bench.Plan
	for _, p := range unresolved(t, "quick") {
		if p.ID == "methods" || p.ID == "regression" {
			plans = append(plans, p)
		}
	}
	seconds := map[string]float64{"boston": 1e-4, "concrete": 1e-6, "energy": 1e-3, "yacht": 1e-5, "linear": 1e-6}
	r := &Runner{Cost: costly(plans, seconds), Store: openStore(t, t.TempDir()), Workers: 2}
	all := r.TimeOf(plans)
	for _, c := range []struct {
		limit time.Duration
		want  []string
	}{
		{all, nil},
		{all - time.Second, []string{"energy"}},
		{r.TimeOf(plans, "energy") - time.Second, []string{"energy", "boston"}},
		{r.TimeOf(plans, "energy", "boston") / 2, []string{"energy", "boston", "yacht"}},
	} {
		got, err := r.LeaveOut(plans, c.limit)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, %v; want %v", c.limit, got, err, c.want)
		}
		var studies []bench.Study
		for _, p := range plans {
			studies = append(studies, p.Study)
		}
		if len(got) == 0 {
			continue
		}
		rest, err := bench.Without(studies, got...)
		if err != nil {
			t.Fatal(err)
		}
		var kept []bench.Plan
		for i, s := range rest {
			if s.LeftOut[0] != "energy" {
				t.Errorf("%s states %v as left out", s.ID, s.LeftOut)
			}
			kept = append(kept, bench.Plan{Study: s})
			for _, ref := range s.References {
				if !slices.Contains(plans[i].References, ref) {
					t.Errorf("%s: another reference, %v", s.ID, ref)
				}
			}
		}
		if took := r.TimeOf(kept); took > c.limit || took != r.TimeOf(plans, got...) {
			t.Errorf("%v: the rest takes %v", c.limit, took)
		}
	}
	var bad *usage.Error
	if _, err := r.LeaveOut(plans, -time.Second); !errors.As(err, &bad) {
		t.Errorf("no time at all: %v, want a usage error", err)
	}
}

// As many splits are taken as fit.
func TestSplitsThatFit(t *testing.T) {
	r := &Runner{Store: openStore(t, t.TempDir()), Workers: 1}
	plans := func(n int) ([]bench.Plan, error) {
		var s bench.Study
		for i := range n {
			c := smallRun()[0].Cells[0].Cell
			c.Split, c.Oracle = i, bench.Analytic
			s.Cells = append(s.Cells, bench.Job{Cell: c})
		}
		return planned(s), nil
	}
	one, _ := plans(1)
	for _, c := range []struct {
		limit      time.Duration
		most, want int
	}{{r.TimeOf(one) - 1, 5, 0}, {r.TimeOf(one), 5, 1}, {3*r.TimeOf(one) + time.Microsecond, 5, 3}, {time.Hour, 5, 5}} {
		if got, err := r.Most(c.most, c.limit, plans); err != nil || got != c.want {
			t.Errorf("%v: %d splits, %v; want %d", c.limit, got, err, c.want)
		}
	}
}
