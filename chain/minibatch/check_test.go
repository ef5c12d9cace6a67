package minibatch

import (
	"math/rand/v2"
	"slices"
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

// Words may be those of some numbers of batches alone, and so are checked with as many as there
// are: this Index goes through three in both ways, and through four forwards only.
func TestWordsAreCheckedWithTheirNumberOfBatches(t *testing.T) {
	m := Scheme{
		Name: "mine",
		Visits: Words{Length: func(k int) int { return k }, List: func(k int) []Word {
			back := identity(k)
			slices.Reverse(back)
			return EquallyLikely([][]int{identity(k), back})
		}},
		Index: func(k int, rng *rand.Rand) Index {
			return &twoWays{k: k, rng: rng, low: map[int]float64{3: 0.5, 4: 1}[k]}
		},
	}
	for k, right := range map[int]bool{3: true, 4: false} {
		if err := m.CheckVisits(k); (err == nil) != right {
			t.Errorf("K = %d: error %v, want none: %v", k, err, right)
		}
	}
}

// A word that a list has twice has both of its probabilities, and words of which none is expected
// often are counted together: here sixty of sixty-one, of which the law has 6 % and a wrong Index
// draws 10 %.
func TestEqualWordsAndRareOnesCountTogether(t *testing.T) {
	twice := Words{Length: func(int) int { return 2 }, List: func(int) []Word {
		return EquallyLikely([][]int{{0, 1}, {1, 0}, {1, 0}})
	}}
	rare := Words{Length: func(int) int { return 1 }, List: func(k int) []Word {
		words := []Word{{[]int{0}, 0.94}}
		for i := 1; i < k; i++ {
			words = append(words, Word{[]int{i}, 0.06 / float64(k-1)})
		}
		return words
	}}
	for _, c := range []struct {
		reason string
		visits Visits
		k      int
		index  func(k int, rng *rand.Rand) Index
		right  bool
	}{
		{"one word twice", twice, 2, func(k int, rng *rand.Rand) Index {
			return &twoWays{k: k, rng: rng, low: 1. / 3}
		}, true},
		{"rare words", rare, 61, func(k int, rng *rand.Rand) Index {
			return &mostlyFirst{k, 0.06, rng}
		}, true},
		{"rare words too often", rare, 61, func(k int, rng *rand.Rand) Index {
			return &mostlyFirst{k, 0.1, rng}
		}, false},
	} {
		err := Scheme{Name: "mine", Visits: c.visits, Index: c.index}.CheckVisits(c.k)
		if (err == nil) != c.right {
			t.Errorf("%s: error %v, want none: %v", c.reason, err, c.right)
		}
	}
}

// mostlyFirst draws batch 0, but for a share of the draws, which are uniform among the others.
type mostlyFirst struct {
	k     int
	share float64
	rng   *rand.Rand
}

func (s *mostlyFirst) Next() int {
	if s.rng.Float64() >= s.share {
		return 0
	}
	return 1 + s.rng.IntN(s.k-1)
}

func BenchmarkCheckVisits(b *testing.B) {
	for b.Loop() {
		if err := reshuffleScheme.CheckVisits(8); err != nil {
			b.Fatal(err)
		}
	}
}
