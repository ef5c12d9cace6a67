package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Of one column and two kinds of tests each has a level of 0.005, on both sides: with standard
// errors that are known, a difference of four of them is outside 2.80703 of them with the
// probability Φ(4 − 2.80703) = 0.88355, and with 0.9 if it is 2.80703 + 1.28155 of them, so with
// (4.08858/4)² times as many draws.
func TestPowerIsThatOfATestOfTwoSides(t *testing.T) {
	const known = 1e9 // degrees of freedom
	side := average{size: 1000, freedom: known}
	p := tests{columns: 1, kinds: 2}.shows("a shift", 0.4, difference{error: 0.1, freedom: known, own: side, ref: side}, 1)
	if math.Abs(p.Power-0.88355) > 1e-5 {
		t.Errorf("power %.5f, want 0.88355", p.Power)
	}
	if want := 1000 * 4.08858 * 4.08858 / 16; p.Needs < want || p.Needs > want*math.Exp(0.02) {
		t.Errorf("needs %.1f draws, want %.1f, up to 2 %% more", p.Needs, want)
	}
}

// Against a reference that is as it is, a sample of 1000 more draws cannot lower the part of the
// error that is the reference's. With standard errors that are known, 4.08858 of them are a
// difference of 0.4 if m draws have 1/m + 1/1000 = 0.002·(4/4.08858)²; half of that difference is
// at most 2√2 standard errors, and seen with the probability Φ(2√2 − 2.80703) = 0.50852. With a
// reference of five chains whose own error decides, known with 4 degrees of freedom, the difference
// is never seen with 0.9; on both sides it would be.
func TestMoreDrawsDoNotLengthenAReference(t *testing.T) {
	const known = 1e9 // degrees of freedom
	side := average{size: 1000, freedom: known}
	of := tests{columns: 1, kinds: 2, pinned: true}
	d := difference{error: 0.1, freedom: known, own: side, ref: side}
	p := of.shows("a shift", 0.4, d, 1)
	want := 1000 / (2*16/4.08858/4.08858 - 1)
	if p.Needs < want || p.Needs > want*math.Exp(0.02) || p.Most != 0 {
		t.Errorf("%+v: want %.1f draws, up to 2 %% more", p, want)
	}
	half := of.shows("half of it", 0.2, d, 1)
	if half.Needs != 0 || math.Abs(half.Most-0.50852) > 1e-3 {
		t.Errorf("%+v: want a power of at most 0.50852", half)
	}
	d.ref.freedom, d.freedom = 4, freedomOf(1000, known, 1000, 4)
	five := of.shows("five chains", 0.4, d, 1)
	if five.Needs != 0 || five.Most < five.Power || five.Most >= shownWith {
		t.Errorf("five chains: %+v", five)
	}
	for want, c := range map[string]struct {
		pinned bool
		of     Power
	}{
		"with 0.9 at 7 effective draws on both sides":          {false, Power{Needs: 7}},
		"with 0.9 at 7 effective draws against this reference": {true, Power{Needs: 7}},
		"at most 0.51 with any number of draws":                {true, half},
	} {
		if got := (Report{Reference: Size{Pinned: c.pinned}}).With(c.of); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Columns of few values: the mean of two values is moved by a tenth of their deviation by drawing
// the larger one more often. The power that is stated is that of 150 sets, within 0.05, by which it
// may be off, and three of their standard errors, which one of three columns exceeds at fewer than
// 8 seeds in 1000; the seed is pinned. Nothing is said of a deviation, which has none of its own.
func TestPowerOfColumnsOfFewValues(t *testing.T) {
	const sets, draws = 150, 2000
	for _, c := range []struct {
		name    string
		weights []float64 // of the values 0, 1, …
	}{{"two values", []float64{0.5, 0.5}}, {"a rare value", []float64{0.9, 0.1}}, {"three values", []float64{1. / 3, 1. / 3, 1. / 3}}} {
		var mean, square float64
		for v, w := range c.weights {
			mean, square = mean+w*float64(v), square+w*float64(v*v)
		}
		moved := slices.Clone(c.weights) // from the smallest value to the largest
		by := 0.1 * math.Sqrt(square-mean*mean) / float64(len(moved)-1)
		moved[0], moved[len(moved)-1] = moved[0]-by, moved[len(moved)-1]+by
		rng := rand.New(rand.NewPCG(11, 12))
		side := func(weights []float64) Side {
			s := Side{Names: []string{"x"}}
			for range 2 {
				x := make([]float64, draws/2)
				for i := range x {
					for u := rng.Float64() - weights[0]; u > 0; u -= weights[int(x[i])] {
						x[i]++
					}
				}
				s.Chains = append(s.Chains, [][]float64{x})
			}
			return s
		}
		var stated, shown float64
		for range sets {
			r, err := Sides(side(c.weights), side(moved))
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Power) != 1 || !strings.Contains(r.Power[0].Of, "shift") {
				t.Fatalf("%s: power %+v, want that of a shift alone", c.name, r.Power)
			}
			stated += r.Power[0].Power / sets
			if r.Verdict == Refused {
				shown += 1. / sets
			}
		}
		t.Logf("%s: stated %.2f, shown %.2f", c.name, stated, shown)
		if error := math.Sqrt(shown * (1 - shown) / sets); math.Abs(stated-shown) > 0.05+3*error {
			t.Errorf("%s: stated %.2f, shown %.2f", c.name, stated, shown)
		}
	}
}
