package minibatch

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// lazy is an Index that shuffles its order in every other epoch alone.
type lazy struct {
	sweep
	epochs int
}

func (s *lazy) Next() int {
	if s.at == 0 {
		if s.epochs++; s.epochs%2 == 1 {
			shuffle(s.order, s.rng)
		}
	}
	i := s.order[s.at]
	s.at = (s.at + 1) % len(s.order)
	return i
}

// A scheme whose Index does not follow the law that Visits states is refused by name.
func TestVisitsAreThoseOfTheIndex(t *testing.T) {
	for _, m := range Builtin() {
		for k := 1; k < 6; k++ {
			if err := m.CheckVisits(k); err != nil {
				t.Errorf("K = %d: %v", k, err)
			}
		}
	}
	twoOrders := Words{Length: func(k int) int { return k }, List: func(int) []Word {
		return []Word{{[]int{0, 1, 2}, 0.5}, {[]int{2, 1, 0}, 0.5}}
	}}
	shuffled := reshuffleScheme.Index
	for _, c := range []struct {
		reason string
		visits Visits
		index  func(k int, rng *rand.Rand) Index
		want   string // "" if it is right
	}{
		{"cyclic, said to be reshuffled", Permutation{}, cyclicScheme.Index, "rates"},
		{"drawn, said to be reshuffled", Permutation{}, replacementScheme.Index, "never come in the order"},
		{"reshuffled, said to be cyclic", Cycle{}, shuffled, "never come in the order"},
		{"reshuffled, said to be drawn", Independent{}, shuffled, "rates"},
		{"reshuffled, said to be symmetric", Palindrome{}, shuffled, "never come in the order"},
		{"reshuffled in every other epoch", Permutation{}, func(k int, rng *rand.Rand) Index {
			return &lazy{sweep: sweep{order: identity(k), rng: rng}}
		}, "not independently"},
		{"two orders of six, said to be all", Permutation{}, func(k int, rng *rand.Rand) Index {
			return &twoWays{k: k, rng: rng, low: 0.5}
		}, "rates"},
		{"two orders", twoOrders, func(k int, rng *rand.Rand) Index {
			return &twoWays{k: k, rng: rng, low: 0.5}
		}, ""},
		{"two orders, one of them too often", twoOrders, func(k int, rng *rand.Rand) Index {
			return &twoWays{k: k, rng: rng, low: 0.6}
		}, "rates"},
	} {
		err := Scheme{Name: "mine", Visits: c.visits, Index: c.index}.CheckVisits(3)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.reason, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `scheme "mine"`)):
			t.Errorf("%s: error %v, want one of %q that names the scheme", c.reason, err, c.want)
		}
	}
}

// twoWays goes through the batches forwards with probability low, else backwards.
type twoWays struct {
	k, at int
	low   float64
	back  bool
	rng   *rand.Rand
}

func (s *twoWays) Next() int {
	if s.at == 0 {
		s.back = s.rng.Float64() >= s.low
	}
	i := s.at
	s.at = (s.at + 1) % s.k
	if s.back {
		return s.k - 1 - i
	}
	return i
}

func BenchmarkCheckVisits(b *testing.B) {
	for b.Loop() {
		if err := reshuffleScheme.CheckVisits(8); err != nil {
			b.Fatal(err)
		}
	}
}
