package spectral

import (
	"context"
	"math"
	"slices"

	"hambench/certify/cost"
	"hambench/certify/markov"
	"hambench/chain/minibatch"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Radius is that of the chain far out, which decides what is stable.
func (p *Chain) Radius(ctx context.Context, m minibatch.Scheme, mean bool) (cost.Growth, error) {
	// With auxiliary variables.
	if p.tail == nil {
		return cost.Growth{}, nil
	}
	return p.tail.Radius(ctx, m, mean)
}

// Between is that of the chain far out.
func (p *Chain) Between(chains []cost.Chain, weights []float64) cost.Chain {
	var tails []cost.Chain
	for _, c := range chains {
		tails = append(tails, c.(*Chain).tail)
	}
	return p.tail.Between(tails, weights)
}

// Accuracies judges averages of the observables of θ on the lowest rung that the next one
// bears out.
func (p *Chain) Accuracies(ctx context.Context, m minibatch.Scheme,
	_ bool) (all []cost.Accuracy, final bool, err error) {
	at, err := p.Solve(ctx, m, true) // biases count all outer steps
	if err != nil || at.Unstable() || math.IsInf(at.Observed[0].RelativeResolution, 1) {
		return nil, true, err
	}
	// The variances of one rung are believed when the next one has the same.
	var before, now []cost.Accuracy
	agree := func(a, b cost.Accuracy) bool {
		return math.Abs(a.Spread.At(0, 0)-b.Spread.At(0, 0)) <= varianceTolerance*b.Spread.At(0, 0)
	}
	// From coarse to fine.
	for i := range p.engine.ladder {
		if p.rung(i) == nil {
			continue
		}
		now, err = p.accuraciesOn(ctx, i, m, at)
		if err != nil || now != nil && slices.EqualFunc(before, now, agree) {
			return now, true, err
		}
		before = now
	}
	return nil, true, nil
}

// varianceTolerance is how far, relatively, variances on two rungs may be apart. They need not
// be better known: a best step is looked for among steps that differ by 9 %.
const varianceTolerance = 1e-3

// accuraciesOn judges averages on the i-th rung; nil if there is no law there, or a variance
// comes out negative. Biases are those of the finest rung, which at has.
func (p *Chain) accuraciesOn(ctx context.Context, i int, m minibatch.Scheme,
	at markov.Point) ([]cost.Accuracy, error) {
	r := p.rung(i)
	found, err := r.solve(ctx, m, false)
	if err != nil || found.signed == nil {
		return nil, err
	}
	// Coefficients of the law itself: those of rungs are less the target's.
	law := floats.AddTo(make([]float64, r.Size), found.law, r.basis.target)
	var out []cost.Accuracy
	// Observables of the momentum are nobody's estimate.
	for o, f := range p.engine.observed {
		if f.of == nil {
			continue
		}
		// A law times the observable, as a law of coefficients again.
		by := r.basis.multiplication(f)
		// Laws and weighted laws evolve alike here.
		s := &cost.Sums{States: r.Evolution, Weighted: r.Evolution,
			Forms: [][]float64{r.basis.observed[o]}}
		// The law times the observable, or times 1, which is the law itself.
		s.Times = func(law []float64, k int) []float64 {
			if k < 0 {
				return law
			}
			product := make([]float64, len(law))
			by.AddTo(product, 1, law)
			return product
		}
		w := cost.Accuracy{Name: f.name, Bias: mat.NewSymDense(1,
			[]float64{at.Observed[o].Relative * at.Observed[o].Relative})}
		w.Spread, w.Stationary = s.Covariances(found.cycle, law, r.precondition)
		// A truncated basis may give a variance that no process has.
		if w.Spread == nil || !(w.Spread.At(0, 0) > 0) {
			return nil, nil
		}
		// In units of the observable's variance under the target.
		w.Spread.ScaleSym(1/(f.sd*f.sd), w.Spread)
		w.Stationary.ScaleSym(1/(f.sd*f.sd), w.Stationary)
		out = append(out, w)
	}
	return out, nil
}

// multiplication is the matrix ⟨φ_a f φ_b⟩ by which a law is multiplied by a
// function of θ. It leaves r alone, so that pairs with different polynomials of r have none.
func (b *basis) multiplication(f scalarObservable) galerkin {
	size, factors := b.widths[0], make([]float64, len(b.theta.nodes))
	for i, x := range b.theta.nodes {
		factors[i] = f.of(x)
	}
	var product mat.Dense // ⟨p_a f p_b⟩ over θ alone
	product.Mul(b.theta.weighted(size).T(), atNodes(b.theta.nodes, factors, size, b.theta.values))
	out := mat.NewDense(len(b.pairs), len(b.pairs), nil)
	// A block for each polynomial of r.
	for i, p := range b.pairs {
		for j, q := range b.pairs {
			if p[1] == q[1] {
				out.Set(i, j, product.At(p[0], q[0]))
			}
		}
	}
	return galerkin{out}
}
