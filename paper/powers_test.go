package paper

import (
	"fmt"
	"math"
	"testing"

	"hambench/bench"
	"hambench/bench/table"
)

// Powers are found again, with an interval that holds them; numbers that chance made negative are
// left out, as is a mean that is 0 but for rounding, and points at one friction determine no power of it.
func TestPowers(t *testing.T) {
	rows := func(frictions []float64, noise float64) *table.Table {
		t := table.New(table.Column{Name: "h", Kind: table.Number}, table.Column{Name: "friction", Kind: table.Number},
			table.Column{Name: "v", Kind: table.Number})
		for i, h := range []float64{0.01, 0.02, 0.04} {
			for j, c := range frictions {
				v := 3 * math.Pow(h, 1.5) / c * math.Exp(noise*float64((2*i+j)%3-1))
				t.Add(nil, map[string]any{"h": h, "friction": c, "v": v})
			}
		}
		t.Add(nil, map[string]any{"h": 0.08, "friction": 1.0, "v": -0.1})
		floor := (0.089 + 0.118) / 2
		for _, ks := range []float64{0.100, 0.107} { // about a floor of 0.1035: rounding leaves 7·10⁻¹⁸
			t.Add(nil, map[string]any{"h": 0.16, "friction": 1.0, "v": ks - floor})
		}
		return t
	}
	v := func(r table.Row) float64 { return r.Number("v") }
	p, ok := PowersOf(rows([]float64{1, 2, 5}, 0), v, 0.95)
	if !ok || p.Points != 9 || p.Of != 11 || math.Abs(p.Step.Value-1.5) > 1e-9 || math.Abs(p.Friction.Value+1) > 1e-9 || p.Step.Half > 1e-6 {
		t.Errorf("%+v: want powers 1.5 and −1 of 9 of 11 points", p)
	}
	p, ok = PowersOf(rows([]float64{1, 2, 5}, 0.2), v, 0.95)
	if !ok || math.Abs(p.Step.Value-1.5) > p.Step.Half || math.Abs(p.Friction.Value+1) > p.Friction.Half || p.Step.Half < 0.05 || p.Step.Half > 1 {
		t.Errorf("with scatter: %+v", p)
	}
	if p, ok := PowersOf(rows([]float64{1}, 0), v, 0.95); ok {
		t.Errorf("of one friction: %+v, want none", p)
	}
}

// Of distances η/C above a floor, with what chance makes below 0.02, the powers of clear excesses sum
// to 0 on every split; those of all excesses do not, and neither do those of clear ones of all splits
// together, of which each has others.
func TestPowersOfClearExcesses(t *testing.T) {
	rows := madeUp()
	for i := range 6 {
		for split, scale := range []float64{1, 4} {
			for j, h := range []float64{0.01, 0.02, 0.04, 0.08} {
				for k, c := range []float64{0.5, 2, 10} {
					above := scale * h / c
					if above <= ClearExcess {
						above = 0.001 * float64(1+(i+j+k)%4)
					}
					chainRow(rows, fmt.Sprint("set", i), 1, "leapfrog", h, 0.1+above, map[string]any{"friction": c, "split": split})
				}
			}
		}
	}
	of := func(column string) Finding {
		return decideBy(bench.DataClaim{Statistic: powerSumStatistic, Of: column, Between: limits(-0.01, 0.01), Level: 0.99}, rows)
	}
	if f := of(clearlyAbove); f.Verdict != Confirmed {
		t.Errorf("clear excesses: %v, %s", f.Verdict, f.Summary)
	}
	if f := of(aboveFloor); f.Verdict == Confirmed {
		t.Errorf("all excesses: %v, %s", f.Verdict, f.Summary)
	}
}
