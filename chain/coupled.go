package chain

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/internal/child"
	"hambench/models"
	"hambench/usage"
)

// Coupled is two chains of one spec, at its step h and at h/2, that share their
// noise. The difference of their samples has a variance that falls with h, and its
// mean is the difference of their biases: for a bias of order p, 1 − 2^{−p} of the
// bias at h. So the bias is estimated without a truth to compare with.
//
// Each chain has the law that it would have alone: a normal of the coarse chain
// is a combination of those that the fine one draws in the same time, with
// variance 1 and independent of the coarse chain's other normals. The combinations
// are those that, without a force, bring r, then θ, then where the gradient is
// taken as near as possible to the same place in one step as in two: for exact
// friction over h their weights are e^{−Ch/2} and 1, divided by their length. Both
// have one partition and one sequence of batches, through which the fine chain goes
// twice as fast.
type Coupled struct {
	// Coarse has the step h, and Fine h/2.
	Coarse, Fine *Sampler
	key          uint64
}

// Couple makes coupled chains on two copies of a target, which they take over. The errors
// are those of Registries.New and Combinations.
func (r Registries) Couple(coarse, fine models.Target, s Spec) (*Coupled, error) {
	weights, err := r.Combinations(s)
	if err != nil {
		return nil, err
	}
	// Two outer steps of the fine chain draw normals; then one of the coarse chain
	// combines them.
	source, sum := noise.New(s.Key, noise.StreamNoise), make([]float64, fine.Dim())
	drawn, combined := 0, 0 // normals so far, of the fine and of the coarse chain
	// The last 2n normals that the fine chain drew, n those of an outer step: Run has it go first.
	kept := slices.Collect(slices.Chunk(make([]float64, 2*len(weights)*fine.Dim()), fine.Dim()))
	half := s
	half.Params.Step /= 2
	half.Noise = integrators.Replay(func(int) []float64 {
		x := kept[drawn%len(kept)]
		drawn++
		source.Normal(x)
		return x
	})
	s.Noise = integrators.Replay(func(int) []float64 {
		clear(sum)
		for j, w := range weights[combined%len(weights)] {
			floats.AddScaled(sum, w, kept[j])
		}
		combined++
		return sum
	})
	c := &Coupled{key: s.Key}
	if c.Coarse, err = r.New(coarse, s); err != nil {
		return nil, err
	}
	c.Fine, err = r.New(fine, half)
	return c, err
}

// Counts returns the work of both chains.
func (c *Coupled) Counts() Counts {
	a, b := c.Coarse.Counts(), c.Fine.Counts()
	return a.Plus(b)
}

// Run starts both chains at theta and calls observe with both states after each
// sample's time. The plan is in steps of the coarse chain, rounded up to whole outer
// steps, whose noise the two share. An error from observe ends the run; the others are
// those of Sampler.Advance.
func (c *Coupled) Run(ctx context.Context, theta []float64, p Plan,
	observe func(sample int, coarse, fine *integrators.State) error) (err error) {
	defer child.Catch(&err)
	coarse, fine := c.Coarse.Start(c.key, theta), c.Fine.Start(c.key, theta)
	outer := c.Coarse.Integrator().Batches
	// The fine chain goes first: it draws the normals that the coarse one combines.
	advance := func(steps int) error {
		for left := steps; left > 0; left -= outer {
			if err := c.Fine.Advance(ctx, fine, 2*outer); err != nil {
				return err
			}
			if err := c.Coarse.Advance(ctx, coarse, outer); err != nil {
				return err
			}
		}
		return nil
	}
	if err := advance(p.BurnIn); err != nil {
		return err
	}
	for i := range p.Samples {
		if err := advance(p.Thin); err != nil {
			return err
		}
		if err := observe(i, coarse, fine); err != nil {
			return err
		}
	}
	return nil
}

// importance is the weight of each quantity that two outer steps of h/2 and one of h
// should share (r, θ, the gradients' position), relative to the one before it.
const importance = 1e-5

// Combinations returns, for each normal of an outer step, the weights of the
// normals of two steps half as long. Of the n × 2n matrices with orthonormal rows
// it is the one that comes closest to turning the two steps' noise into that of the
// one (the orthogonal Procrustes problem), where r counts most, θ next, and the mean
// position of the gradients last. Integrators that adapt, that are not linear
// without a force, or that need an affine one are usage errors, and so is a mass.
func (r Registries) Combinations(s Spec) ([][]float64, error) {
	m, err := r.Integrator(s.Integrator)
	if err != nil {
		return nil, err
	}
	in, err := m.New(1, s.Params)
	if err != nil {
		return nil, err
	}
	_, adapts := in.Kernel.(integrators.Adapter)
	switch {
	case adapts || m.Mixes() || m.Nonlinear || m.Needs.Affine:
		return nil, usage.Errorf("integrator %q adapts, is not linear without a force, or needs "+
			"an affine one: want one whose noise of two half steps combines to that of a step",
			m.Name)
	case s.Params.InvMass != nil:
		return nil, usage.Errorf("integrator %q with a mass: want none for coupled chains", m.Name)
	}
	s.Params.Step /= 2
	fine, err := m.New(1, s.Params)
	if err != nil {
		return nil, err
	}
	one, two := m.Needs.Normals, 2*m.Needs.Normals
	// The matrix W to be found maximises tr WᵀS, S = Σ weight·(effects of one step)(effects of
	// two)ᵀ, each normalised: by the singular vectors, S = UΣVᵀ, it is UVᵀ.
	sum, weight := mat.NewDense(one, two, nil), 1.0
	after := noiseEffects(fine, 2, two)
	for i, row := range noiseEffects(in, 1, one) {
		if size := mat.Norm(row, 2) * mat.Norm(after[i], 2); size > 0 {
			sum.RankOne(sum, weight/size, row, after[i])
			weight *= importance
		}
	}
	var svd mat.SVD
	if !svd.Factorize(sum, mat.SVDThin) {
		return nil, fmt.Errorf("integrator %q: singular values of a step's noise do not converge",
			m.Name)
	}
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	sum.Mul(&u, v.T())
	weights := make([][]float64, one)
	for i := range weights {
		weights[i] = mat.Row(nil, i, sum)
	}
	return weights, nil
}

// noiseEffects returns what each normal of some outer steps from 0 without a force adds
// to r, to θ, and to the sum of the positions where gradients are taken, in one
// dimension: three vectors of length normals.
func noiseEffects(in *integrators.Instance, steps, normals int) [3]*mat.VecDense {
	var out [3]*mat.VecDense
	for i := range out {
		out[i] = mat.NewVecDense(normals, nil)
	}
	for j := range normals {
		at := 0
		unit := integrators.Replay(func(int) []float64 { // 1 in place j, else 0
			at++
			if at == j+1 {
				return []float64{1}
			}
			return []float64{0}
		})
		z, f := in.NewState(), &still{}
		for range steps {
			in.OuterSteps(z, func() integrators.Force { return f }, unit, 1)
		}
		out[0].SetVec(j, z.R[0])
		out[1].SetVec(j, z.Theta[0])
		out[2].SetVec(j, f.sum)
	}
	return out
}

// still is no force; it adds up the positions where it is asked for one.
type still struct{ sum float64 }

func (f *still) Gradient(g, theta []float64) { f.sum, g[0] = f.sum+theta[0], 0 }

func (f *still) HessianVector(hv, _, _ []float64) { hv[0] = 0 }
