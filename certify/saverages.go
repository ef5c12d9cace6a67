package certify

import (
	"context"
	"hambench/chain/minibatch"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// radius is that of the chain far out, which decides what is stable.
func (p *preparedSpectral) radius(ctx context.Context, m minibatch.Scheme) (growth, error) {
	if p.tail == nil {
		return growth{}, nil
	}
	return p.tail.radius(ctx, m)
}

// accuracies judges averages of the observables of θ on the lowest rung that the next one
// bears out.
func (p *preparedSpectral) accuracies(ctx context.Context, m minibatch.Scheme,
	_ bool) (all []accuracy, final bool, err error) {
	at, err := p.solve(ctx, m, true)
	if err != nil || at.unstable() || math.IsInf(at.observed[0].relativeResolution, 1) {
		return nil, true, err
	}
	var before, now []accuracy
	agree := func(a, b accuracy) bool {
		return math.Abs(a.spread.At(0, 0)-b.spread.At(0, 0)) <= varianceTolerance*b.spread.At(0, 0)
	}
	for i := range p.engine.ladder {
		if now, err = p.accuraciesOn(ctx, i, m, at); err != nil || now != nil && slices.EqualFunc(before, now, agree) {
			return now, true, err
		}
		before = now
	}
	return nil, true, nil
}

// varianceTolerance is how far, relatively, variances on two rungs may be apart.
const varianceTolerance = 1e-3

// accuraciesOn judges averages on one rung; nil if there is no law there.
func (p *preparedSpectral) accuraciesOn(ctx context.Context, i int, m minibatch.Scheme,
	at point) ([]accuracy, error) {
	r := p.rung(i)
	found, err := r.solve(ctx, m, false)
	if err != nil || found.signed == nil {
		return nil, err
	}
	law := slices.Clone(found.law)
	law[0]++
	var out []accuracy
	for o, f := range p.engine.observed {
		if f.of == nil {
			continue
		}
		by := r.basis.multiplication(f)
		s := &sums{states: r.evolution, weighted: r.evolution,
			forms: [][]float64{r.basis.observed[o]}}
		s.times = func(law []float64, k int) []float64 {
			if k < 0 {
				return law
			}
			product := make([]float64, len(law))
			by.addTo(product, 1, law)
			return product
		}
		w := accuracy{name: f.name, bias: mat.NewSymDense(1,
			[]float64{at.observed[o].relative * at.observed[o].relative})}
		if w.spread, w.stationary = s.covariances(found.cycle, law, r.precondition); w.spread == nil || !(w.spread.At(0, 0) > 0) {
			return nil, nil
		}
		w.spread.ScaleSym(1/(f.sd*f.sd), w.spread)
		w.stationary.ScaleSym(1/(f.sd*f.sd), w.stationary)
		out = append(out, w)
	}
	return out, nil
}

// multiplication is the matrix ⟨φ_a f φ_b⟩ by which a law is multiplied by a
// function of θ.
func (b *basis) multiplication(f scalarObservable) galerkin {
	size := b.widths[0]
	values, weighted := mat.NewDense(len(b.theta.nodes), size, nil), b.theta.weighted(size)
	for i, x := range b.theta.nodes {
		b.theta.values(values.RawRowView(i), x)
		floats.Scale(f.of(x), values.RawRowView(i))
	}
	var product mat.Dense
	product.Mul(weighted.T(), values)
	out := mat.NewDense(len(b.pairs), len(b.pairs), nil)
	for i, p := range b.pairs {
		for j, q := range b.pairs {
			if p[1] == q[1] {
				out.Set(i, j, product.At(p[0], q[0]))
			}
		}
	}
	return galerkin{out}
}
