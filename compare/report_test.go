package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Right draws of columns that depend on each other are refused once in a hundred times at most: of
// 60 sets each, more than 3 less than once in 300 times. What is equal but for round-off on both
// sides has no correlation to compare.
func TestStrongCorrelationsAreSeldomRefused(t *testing.T) {
	for _, c := range []struct {
		law, n int
		rho    float64
		time   float64
	}{{0, 500, 0.9, 4}, {3, 300, 0.95, 1}, {0, 100, 0.999, 1}} {
		refused := 0
		for k := range 60 {
			rng := rand.New(rand.NewPCG(uint64(k), 13))
			d := deviation{width: 1, correlation: c.rho}
			ref, own := simulated(rng, laws[c.law], 4, 1000, 2, 1, d), simulated(rng, laws[c.law], 1, c.n, 2, c.time, d)
			r, err := Sides(ref, own)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict == Refused {
				refused++
			}
		}
		if refused > 3 {
			t.Errorf("%+v: %d of 60 right sets are refused", c, refused)
		}
	}
	rng := rand.New(rand.NewPCG(14, 14))
	twice := func() Side {
		s := simulated(rng, laws[0], 1, 500, 2, 1, right)
		for i, v := range s.Chains[0][0] {
			s.Chains[0][1][i] = math.Exp(v)
		}
		return s
	}
	if r, err := Sides(twice(), twice()); err != nil || r.Joint[0].P != 1 {
		t.Errorf("a column and its exponential: %v, %+v", err, r.Joint)
	}
}

// Draws of a rare mode where the reference has some are expected, and none at all within its
// range. A mode that it does not have is not.
func TestNothingIsImprobableInTheReferencesRange(t *testing.T) {
	for k := range 40 {
		rng := rand.New(rand.NewPCG(uint64(k), 15))
		rare := func(n, far int) Side {
			s := simulated(rng, laws[0], 1, n, 1, 1, right)
			for range far {
				s.Chains[0][0][rng.IntN(n)] += 1e4
			}
			return s
		}
		if s := pool(rare(10_000, 5), rare(4000, 2), 0).farthest(1); s.expected <= Level {
			t.Errorf("set %d: a draw at %g is not expected", k, s.at)
		}
		if s := pool(rare(10_000, 0), rare(4000, 2), 0).farthest(1); s.expected > Level {
			t.Errorf("set %d: a draw at %g is expected", k, s.at)
		}
	}
}
