package compare

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hambench/usage"
)

// A chain that is given twice is bad input on either side, and named; chains that are equal
// because they never moved, or since few values leave no choice, are none.
func TestAChainTwiceIsRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 3))
	normal := func(n int) [][]float64 {
		x := make([][]float64, 2)
		for i := range n {
			x[0], x[1] = append(x[0], rng.NormFloat64()), append(x[1], float64(i%2))
		}
		return x
	}
	a, b, few := normal(100), normal(100), [][]float64{{0, 1, 1, 0, 1}, {1, 0, 1, 1, 0}}
	begin := [][]float64{a[0][:30], a[1][:30]}
	begun := [][]float64{append([]float64{a[0][0]}, b[0]...), append([]float64{0}, b[1]...)}
	still := [][]float64{make([]float64, 100), make([]float64, 100)}
	other := Side{Names: []string{"x", "y"}, Chains: [][][]float64{normal(100)}}
	for what, c := range map[string]struct {
		chains [][][]float64
		want   string // "" for none
	}{
		"twice":             {[][][]float64{a, b, a}, "chain 1 and chain 3 hold"},
		"its beginning":     {[][][]float64{b, begin, a}, "chain 2 and chain 3 hold"},
		"one start":         {[][][]float64{a, begun}, ""},
		"one start alone":   {[][][]float64{a, {a[0][:1], a[1][:1]}}, ""},
		"equal in a column": {[][][]float64{a, {b[0], a[1]}}, ""},
		"never moved":       {[][][]float64{still, still, a, b}, ""},
		"few values":        {[][][]float64{few, few, {few[1], few[0]}, {few[0], few[0]}, {few[1], few[1]}}, ""},
	} {
		side := Side{Names: other.Names, Chains: c.chains}
		for of, sides := range map[string][2]Side{"the draws: ": {other, side}, "the reference: ": {side, other}} {
			_, err := Sides(sides[0], sides[1])
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), of+c.want)) {
				t.Errorf("%s: %v: want %q", what, err, c.want)
			}
		}
	}
	named := Side{Names: []string{"x", "y"}, Chains: [][][]float64{a, a}, Of: []string{"a.csv", "b.csv"}}
	if _, err := Sides(Side{Names: named.Names, Chains: [][][]float64{b}}, named); err == nil || !strings.Contains(err.Error(), "a.csv and b.csv hold the same draws") {
		t.Errorf("%v: want the names", err)
	}
}

// Of a reference with more columns than the draws have, an acceptance says of how many it is;
// columns of Stan's sampler do not count. At judge's level of 1 % right draws would be refused at 2
// seeds in 100; the seed is pinned.
func TestAnAcceptanceSaysOfWhichColumnsItIs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	column := func() (x []float64) {
		for range 400 {
			x = append(x, rng.NormFloat64())
		}
		return x
	}
	ref := Side{Names: []string{"a", "b", "lp__"}, Chains: [][][]float64{{column(), column(), column()}}}
	all := Side{Names: []string{"a", "b"}, Chains: [][][]float64{{column(), column()}}}
	one := all.Ordered([]string{"a"})
	for want, own := range map[string]Side{"accepted": all, "accepted in 1 of 2 columns": one} {
		if r, err := Sides(ref, own); err != nil || r.Words() != want || r.Compared != len(own.Names) || r.ReferenceColumns != 2 {
			t.Errorf("%v: %q, %d of %d columns: want %q", err, r.Words(), r.Compared, r.ReferenceColumns, want)
		}
	}
	one.Chains = [][][]float64{{one.Chains[0][0][:5]}}
	if r, err := Sides(ref, one); err != nil || r.Words() != Undecided {
		t.Errorf("too few: %v, %q", err, r.Words())
	}
}

// shuffled returns numbers in another order.
func shuffled(rng *rand.Rand, x []float64) (out []float64) {
	for _, i := range rng.Perm(len(x)) {
		out = append(out, x[i])
	}
	return out
}

// thousandths rounds numbers.
func thousandths(x []float64) (out []float64) {
	for _, v := range x {
		out = append(out, math.Round(1000*v)/1000)
	}
	return out
}

// Draws that stand at several places of a side are fewer than they look: they decide nothing. Those
// that repeat the one before are a sampler's, and rounded ones agree by chance.
func TestDrawsAtSeveralPlacesDecideNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 3))
	normal := func(n int) (x []float64) {
		for range n {
			x = append(x, rng.NormFloat64())
		}
		return x
	}
	side := func(columns ...[]float64) (s Side) {
		s.Names = []string{"x"}
		for _, c := range columns {
			s.Chains = append(s.Chains, [][]float64{c})
		}
		return s
	}
	var resampled, stays []float64
	few := normal(300)
	for range 2000 {
		resampled = append(resampled, few[rng.IntN(len(few))])
	}
	for _, v := range normal(400) {
		stays = append(stays, v, v, v)
	}
	stream := normal(1003)
	twice, ref := slices.Concat(few, few), side(normal(1000), normal(1000))
	for what, c := range map[string]struct {
		own     Side
		decides bool
	}{
		"resampled":           {side(resampled), false},
		"shifted":             {side(stream[:1000], stream[1:1001], stream[2:1002]), false},
		"written twice":       {side(twice), false},
		"rejected proposals":  {side(stays), true},
		"rounded draws":       {side(thousandths(normal(2000))), true},
		"coarsely rounded":    {side(thousandths(thousandths(normal(20_000)))), true},
		"one draw of another": {side(normal(500), append(normal(500), few[:20]...), append(normal(500), few[:20]...)), true},
	} {
		r, err := Sides(ref, c.own)
		if err != nil || strings.Contains(r.Why, "not next to them") == c.decides || !c.decides && r.Verdict != Undecided {
			t.Errorf("%s: %v, %s: %s", what, err, r.Verdict, r.Why)
		}
	}
}

// A chain of the reference among the draws is named. Two chains of one side that their own
// values leave no choice are no copies, however many other values the other side has.
func TestDrawsOfTheReferencesOwnAreNamed(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 3))
	column := func(n int, of func(i int) float64) (x []float64) {
		for i := range n {
			x = append(x, of(i))
		}
		return x
	}
	normal := func(int) float64 { return rng.NormFloat64() }
	side := func(columns ...[]float64) (s Side) {
		s.Names = []string{"x"}
		for _, c := range columns {
			s.Chains = append(s.Chains, [][]float64{c})
		}
		return s
	}
	a, b, c := column(400, normal), column(400, normal), column(400, normal)
	turns := func() []float64 { return column(40, func(i int) float64 { return float64(i / 20) }) }
	for what, pair := range map[string]struct {
		ref, own Side
		want     string
	}{
		"none":                   {side(a), side(b, c), ""},
		"the second":             {side(c, a), side(b, a), "chain 2"},
		"its beginning":          {side(a), side(a[:300], b), "chain 1"},
		"its end":                {side(a), side(b, a[100:]), "chain 2"},
		"its draws, shuffled":    {side(a, b), side(c, shuffled(rng, a)), "chain 2"},
		"rounded draws":          {side(thousandths(a), thousandths(b)), side(thousandths(c)), ""},
		"the larger share":       {side(a), side(append(column(940, normal), a[:60]...), append(column(40, normal), a[100:140]...)), "chain 2"},
		"few values, of a side":  {side(turns(), turns()), side(column(400_000, normal)), ""},
		"few values, of another": {side(column(400_000, normal)), side(turns(), turns()), ""},
	} {
		r, err := Sides(pair.ref, pair.own)
		if err != nil || r.Copied != pair.want {
			t.Errorf("%s: %v, %q: want %q", what, err, r.Copied, pair.want)
		}
	}
}

// The words of an acceptance name a chain that is the reference's own; lists of names are short.
func TestWordsNameACopiedChainAndListsAreShort(t *testing.T) {
	r := Report{Verdict: Accepted, Compared: 2, ReferenceColumns: 2, Copied: "b.csv"}
	if got, want := r.Words(), "accepted, with draws of the reference's own (b.csv)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if r.Verdict = Refused; r.Words() != Refused {
		t.Errorf("%q of refused draws", r.Words())
	}
	for want, names := range map[string]string{
		"none": "", "a, b, c, d, e": "a b c d e", "a, b, c, d, e … (6)": "a b c d e f",
	} {
		if got := Listed(strings.Fields(names)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
