package gaussian

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/certify/markov"
	"hambench/chain/minibatch"
)

// EnergyErrors are variances, per position, of the change of the energy over a step without
// friction and noise that a period of the chain begins with: what tuners of samplers
// without a Metropolis test hold to a limit (Robnik, Cohn-Gordon & Seljak, arXiv 2412.08876).
// whole is of the energy with the potential of all data, own of that with the potential of the
// step's batch, which is all that a sampler with mini-batches sees. still is the same
// integrator at the same step, without friction. The law is taken for normal with its exact
// moments: it is under full and cyclic, but for kernels that mix steps. NaN where there is no
// law, and for integrators with auxiliary variables or with several batches a step.
func (p *Chain) EnergyErrors(ctx context.Context, m minibatch.Scheme,
	still markov.Chain) (whole, own float64, err error) {
	g := p.engine
	d := g.frame.d
	if p.n != 2*d+1 || p.each != 1 {
		return math.NaN(), math.NaN(), nil
	}
	cycle, err := markov.NewPeriod(ctx, p.evolution(asOperator), m)
	if err != nil {
		return 0, 0, err
	}
	law := p.truth()
	s, _ := p.stationary(cycle, law)
	if s == nil || s.delta == nil {
		return math.NaN(), math.NaN(), ctx.Err()
	}
	floats.Add(law, s.delta)
	var sums [2]changes
	// The law is that at the ends of periods, so that the step is the first of a period.
	for i, weight := range cycle.First() {
		of := mat.NewDense(p.n, p.n, nil) // the energy of a state in the frame is ½wᵀ·of·w
		for j := range 2 * d {
			// In the frame the target is N(0, I), of the energy ½|θ|² + ½|r|².
			of.Set(j, j, 1)
		}
		// A kernel that mixes steps has some for each batch.
		steps := still.(*Chain).kernels[i*len(p.weights):][:len(p.weights)]
		add := func(to *changes) {
			for j, part := range p.weights {
				to.add(weight*part, steps[j].a, of, law)
			}
		}
		add(&sums[0])
		// The batch's own: ½θᵀPθ − sᵀθ in the place of ½|θ|², both in the frame. Its constant drops
		// out of changes.
		of.Slice(0, d, 0, d).(*mat.Dense).Copy(g.frame.whitened(matrix(g.moved[i])))
		var shift mat.VecDense
		shift.MulVec(g.frame.colour.T(), mat.NewVecDense(d, g.moved[i].Shift))
		for j := range d {
			of.Set(j, p.n-1, -shift.AtVec(j))
			of.Set(p.n-1, j, -shift.AtVec(j))
		}
		add(&sums[1])
	}
	return sums[0].variance() / float64(d), sums[1].variance() / float64(d), ctx.Err()
}

// changes sums up the first two moments of changes of energy, by weights that add up to 1.
type changes struct{ first, second float64 }

// add counts the change of ½wᵀGw over a step w ↦ Aw, w = (θ, r, 1) of a normal law with the
// second moments given. With E = AᵀGA − G, Σ the law's covariance and μ its mean, the change
// has the mean ½(tr EΣ + μᵀEμ) and the variance ½ tr EΣEΣ + μᵀEΣEμ.
func (c *changes) add(weight float64, step, energy *mat.Dense, law []float64) {
	n, _ := step.Dims()
	moments := mat.NewDense(n, n, law)
	mu := mat.VecDenseCopyOf(moments.ColView(n - 1))
	var e, cov, product, shifted mat.Dense
	e.Product(step.T(), energy, step)
	e.Sub(&e, energy)
	cov.Outer(1, mu, mu)
	cov.Sub(moments, &cov)
	product.Mul(&e, &cov)
	mean := (mat.Trace(&product) + mat.Inner(mu, &e, mu)) / 2
	shifted.Mul(&product, &e)
	product.Mul(&product, &product)
	variance := mat.Trace(&product)/2 + mat.Inner(mu, &shifted, mu)
	c.first += weight * mean
	c.second += weight * (variance + mean*mean)
}

// variance is that of all changes; 0 where it is no more than the rounding of energies.
func (c *changes) variance() float64 {
	v := c.second - c.first*c.first
	if rounding := 64 * markov.Epsilon; !(v > rounding*rounding) {
		return 0
	}
	return v
}
