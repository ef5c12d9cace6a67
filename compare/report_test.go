package compare

import (
	"math/rand/v2"
	"testing"
)

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
