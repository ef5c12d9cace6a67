package markov

import (
	"context"
	"math"
	"math/bits"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"

	"hambench/chain/minibatch"
	"hambench/usage"
)

// Period advances laws by one period of a mini-batch scheme, averaged over
// the scheme's choices. A period ends where an outer step ends and the
// scheme starts anew.
type Period struct {
	Evolution
	ctx    context.Context // once it is done, laws come soon, but are wrong
	visits minibatch.Visits
	// Words are those of a law without a recursion of its own; nil for the random orders of a
	// permutation or a palindrome.
	Words []minibatch.Word
	sweep int // batches in one run of the scheme: the length of a word
	runs  int // runs of the scheme in a period
}

// NewPeriod returns the period of a scheme. N_l must divide K, or the length of
// the words of a law that lists them, or be a multiple of it, for otherwise an
// outer step straddles the scheme's words.
func NewPeriod(ctx context.Context, e Evolution, m minibatch.Scheme) (*Period, error) {
	k, inner := e.batches(), e.Inner
	if err := Check(m, k); err != nil {
		return nil, err
	}
	p := &Period{ctx: ctx, Evolution: e, visits: m.Visits, sweep: m.Visits.Period(k), runs: 1}
	// What N_l must divide, or be a multiple of, and its name in errors.
	unit, name := k, "K"
	switch m.Visits.(type) {
	// Every step is a run of its own, so that an outer step of any length ends with one.
	case minibatch.Single, minibatch.Independent:
		unit = 1
	case minibatch.Words:
		unit, name = p.sweep, "the length of its words"
	}
	switch m.Visits.(type) {
	case minibatch.Permutation, minibatch.Palindrome: // have recursions
	default:
		words, err := m.Law(k)
		if err != nil {
			return nil, usage.Errorf("scheme %q: %w", m.Name, err)
		}
		if steps := len(words) * p.sweep; steps > MaxWordSteps {
			return nil, usage.Errorf("scheme %q with K = %d batches: %d words of length %d: "+
				"want at most %d steps", m.Name, k, len(words), p.sweep, MaxWordSteps)
		}
		p.Words = words
	}
	if unit%inner != 0 && inner%unit != 0 {
		return nil, usage.Errorf("N_l = %d inner steps with K = %d batches under %q: want a "+
			"divisor or a multiple of %s", inner, k, m.Name, name)
	}
	for p.Length()%inner != 0 { // a period ends with an outer step
		p.runs++
	}
	return p, nil
}

// Length is the number of kernels in a period.
func (p *Period) Length() int { return p.sweep * p.runs }

// First returns the probability of each batch to be the first of a period.
func (p *Period) First() []float64 {
	first := make([]float64, p.batches())
	for _, w := range p.Words {
		first[w.Batches[0]] += w.Probability
	}
	if p.Words == nil { // a fresh order
		floats.AddConst(1/float64(len(first)), first)
	}
	return first
}

// On returns the period of the same scheme for another evolution.
func (p *Period) On(e Evolution) *Period {
	q := *p
	q.Evolution = e
	return &q
}

// Drawn returns the period of an outer step whose batches are drawn independently.
func (p *Period) Drawn() *Period {
	q := *p
	q.visits = minibatch.Independent{}
	q.Words = minibatch.EquallyLikely(combin.Permutations(p.batches(), 1))
	q.sweep, q.runs = 1, p.Inner
	return &q
}

// Excess returns the law of mass 0 that a period adds to a law.
func (p *Period) Excess(law []float64) []float64 {
	out := p.Advance(law, nil)
	floats.Sub(out, law)
	out[p.Mass] = 0 // adding up weights is not exact
	return out
}

// Solve returns the law x of mass 0 for which x − Tx = b, T a period, and what
// is left of that equation.
func (p *Period) Solve(b []float64, precondition Linear, goal float64) (x []float64, left float64) {
	apply := func(x []float64) []float64 {
		y := p.Excess(x)
		floats.Scale(-1, y)
		return y
	}
	return SolveLinear(p.ctx, apply, precondition, b, goal)
}

// Occupation returns the average, over the ends of outer steps in a period, of
// what the law there has beyond truth, when the period starts from truth + delta.
func (p *Period) Occupation(truth, delta []float64) []float64 {
	sum := make([]float64, p.Size)
	p.Advance(floats.AddTo(make([]float64, p.Size), truth, delta), func(w float64, law []float64) {
		floats.AddScaled(sum, w*float64(p.Inner)/float64(p.Length()), law)
	})
	floats.Sub(sum, truth)
	return sum
}

// Growth returns the spectral radius of a period on laws of mass 0, as far as a law has parts
// in its eigenvectors: Arnoldi's method, restarted from the vector of the largest eigenvalue
// until what is left of its equation does not change the side of 1 on which that is.
// The law is overwritten. +Inf says that numbers overflow, NaN that eigenvalues are not found.
func (p *Period) Growth(law []float64) (radius float64) {
	const size, starts = 60, 8
	law[p.Mass] = 0
	for range starts {
		var basis [][]float64
		h := mat.NewDense(size+1, size, nil) // the change of a period, in the basis
		left := floats.Norm(law, 2)
		for left > Epsilon && len(basis) < size && len(basis) < len(law)-1 {
			floats.Scale(1/left, law)
			basis = append(basis, law)
			j := len(basis) - 1
			law = p.Excess(law)
			if !Finite(law) {
				return math.Inf(1)
			}
			for range 2 { // the second time for accuracy
				for i, v := range basis {
					c := floats.Dot(law, v)
					floats.AddScaled(law, -c, v)
					h.Set(i, j, h.At(i, j)+c)
				}
			}
			left = floats.Norm(law, 2)
			h.Set(j+1, j, left)
		}
		m := len(basis)
		if m == 0 {
			return radius
		}
		value, vector, ok := outermost(mat.DenseCopyOf(h.Slice(0, m, 0, m)))
		if !ok {
			return math.NaN()
		}
		beyond := beyondOne(value)
		radius = math.Sqrt(max(0, 1+beyond))
		// The residual of Arnoldi's pair is left times the vector's last element. It must be small
		// beside |1 + v|² − 1, on whose sign stability depends.
		if vector == nil || left*cmplx.Abs(vector[m-1]) <= 1e-3*math.Abs(beyond) {
			break
		}
		law = make([]float64, len(law))
		// The real part of a complex vector is in the plane of its conjugate pair.
		for i, v := range basis {
			floats.AddScaled(law, real(vector[i]), v)
		}
	}
	return radius
}

// visitor is shown laws at the ends of outer steps: their weights over one
// position in the period add up to 1.
type visitor func(w float64, law []float64)

// Advance returns the law a period after src. visit may be nil.
func (p *Period) Advance(src []float64, visit visitor) []float64 {
	law := p.initialLaws(src)
	for run := range p.runs {
		at := run * p.sweep
		switch p.visits.(type) {
		case minibatch.Permutation:
			law = p.permutation(law, at, visit)
		case minibatch.Palindrome:
			law = p.palindrome(law, at, 0, 1, visit)
		default:
			law = p.listed(law, at, visit)
		}
	}
	// A period ends with an outer step, so that no kernel waits for batches.
	return law[:p.Size]
}

// finish ends kernel number n of the period: after every N_l of them comes
// the refreshment, and an outer step ends.
func (p *Period) finish(law []float64, n int, w float64, visit visitor) {
	if n%p.Inner != 0 {
		return
	}
	// No list of batches is open where an outer step ends: all of the law is at its start.
	law = law[:p.Size]
	if p.Refresh != nil {
		before := slices.Clone(law)
		clear(law)
		p.Refresh.AddTo(law, 1, before)
	}
	if visit != nil {
		visit(w, law)
	}
}

// step returns the law after kernel number n, under batch i.
func (p *Period) step(src []float64, i, n int, w float64, visit visitor) []float64 {
	dst := make([]float64, p.lawsSize())
	p.addBatchTo(dst, 1, src, i)
	p.finish(dst, n, w, visit)
	return dst
}

// permutation averages over the K! orders by a recursion over the 2^K
// subsets: given that the batches S have been used, in any order, the last
// one was uniform in S, so V_S = (1/|S|) Σ_{i∈S} A_i V_{S∖i}. The subsets of
// one size need those of the size before alone.
func (p *Period) permutation(src []float64, at int, visit visitor) []float64 {
	k := p.batches()
	// Laws by the set of batches used, a bit for each. Only two sizes are held at once: Layers.
	before := map[int][]float64{0: src}
	for used := 1; used <= k; used++ { // sets of one size after the other
		now := make(map[int][]float64, len(before)) // laws after the sets of this size
		for set := 1<<used - 1; set < 1<<k && p.ctx.Err() == nil; set = nextOfSize(set) {
			law := make([]float64, p.lawsSize())
			for i := range k {
				if set&(1<<i) != 0 {
					p.addBatchTo(law, 1/float64(used), before[set&^(1<<i)], i)
				}
			}
			p.finish(law, at+used, 1/float64(combin.Binomial(k, used)), visit)
			now[set] = law
		}
		if p.ctx.Err() != nil {
			return src
		}
		before = now
	}
	return before[1<<k-1]
}

// nextOfSize is the next larger number with as many bits set (Gosper).
func nextOfSize(set int) int {
	// The lowest run of ones is carried one place up, which leaves a single one of it there; the
	// others go to the lowest places.
	low := set & -set
	up := set + low
	return up | (set^up)/low>>2
}

// Layers is the number of laws that permutation holds at once: the subsets of two sizes next
// to one another.
func Layers(k int) int { return combin.Binomial(k+1, (k+1)/2) }

// palindrome averages over the orders w of w·reverse(w), given the set of
// batches already used going forwards. From the outside in, each batch not
// yet used comes first and last of what remains:
// T_S = (1/|S|) Σ_{i∈S} A_i T_{S∖i} A_i. w is the chance of this prefix.
func (p *Period) palindrome(src []float64, at, used int, w float64, visit visitor) []float64 {
	k := p.batches()
	// As many places are filled from the front as from the end.
	depth := bits.OnesCount(uint(used))
	if depth == k {
		return src
	}
	dst, share := make([]float64, p.lawsSize()), 1/float64(k-depth)
	for i := range k { // the batch that comes first and last of what remains
		if used&(1<<i) != 0 || p.ctx.Err() != nil {
			continue
		}
		// The batch at place depth + 1 from the front is as far from the end, 2K − depth.
		middle := p.step(src, i, at+depth+1, w*share, visit)
		middle = p.palindrome(middle, at, used|1<<i, w*share, visit)
		last := p.step(middle, i, at+2*k-depth, w*share, visit)
		floats.AddScaled(dst, share, last)
	}
	return dst
}

// listed averages over the words of a list.
func (p *Period) listed(src []float64, at int, visit visitor) []float64 {
	sum := make([]float64, p.lawsSize())
	for _, w := range p.Words {
		if p.ctx.Err() != nil {
			return src
		}
		law := src
		for j, i := range w.Batches {
			law = p.step(law, i, at+j+1, w.Probability, visit)
		}
		floats.AddScaled(sum, w.Probability, law)
	}
	return sum
}

// Work is the number of kernels applied to advance a law by a period.
func (p *Period) Work() float64 {
	k, runs := float64(p.batches()), float64(p.runs)
	switch p.visits.(type) {
	case minibatch.Permutation:
		// Every subset S comes from each of its |S| batches: Σ s·C(K, s).
		return runs * k * math.Exp2(k-1)
	case minibatch.Palindrome:
		// Every prefix of an order, e·K! of them, takes a step forwards and one back.
		return runs * 2 * math.E * math.Gamma(k+1)
	}
	return runs * float64(len(p.Words)*p.sweep)
}
