package certify

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	// fewDifferent is the difference between batches, relative to the target,
	// below which it is amplified for the decision on the order, and different
	// what it is amplified to.
	fewDifferent = 0.05
	different    = 0.3
	// farApart is where differences of shifts are damped.
	farApart = 5
	// rounding is the relative difference that decimal input may make.
	rounding = 64 * epsilon
)

// amplified returns the problem with the differences between its batches, of
// precision and of shift, made as large as suits the decision on an order, and
// the two factors. Every coefficient of an error's expansion in h is a
// polynomial in the two, so the powers that occur do not depend on them; but a
// term of batches that differ by 10⁻⁶ is 10⁻¹² of the others, and round-off
// hides it.
func (g *gaussianEngine) amplified() (*Problem, [2]float64) {
	p, d := g.problem, g.frame.d
	mean := meanAffine(p.gaussian)
	curved, apart := 0.0, 0.0
	for i, b := range p.gaussian {
		diff := mat.NewDense(d, d, append([]float64(nil), b.affine.Precision...))
		diff.Sub(diff, mat.NewDense(d, d, mean.affine.Precision))
		if largest(diff.RawMatrix().Data) > rounding*largest(mean.affine.Precision) {
			diff.Mul(diff, g.frame.colour)
			diff.Mul(g.frame.colour.T(), mat.DenseCopyOf(diff))
			curved = max(curved, mat.Norm(diff, 2))
		}
		var pull mat.VecDense
		pull.MulVec(g.frame.colour.T(), mat.NewVecDense(d, g.parts.moved[i].affine.Shift))
		apart = max(apart, norm(pull.RawVector().Data))
	}
	by := [2]float64{1, 1}
	if curved > 0 && curved < fewDifferent {
		by[0] = different / curved
	}
	// What the shifts of equal batches differ by is round-off of this size.
	if floor := rounding * norm(g.frame.toWhite(append(append([]float64(nil), g.frame.centre...), make([]float64, d)...))); apart > floor && (apart < fewDifferent || apart > farApart) {
		by[1] = different / apart
	}
	if by == [2]float64{1, 1} {
		return p, by
	}
	out := &Problem{Name: p.Name, Kind: Gaussian, Friction: p.Friction}
	for i, b := range p.gaussian {
		precision := append([]float64(nil), mean.affine.Precision...)
		for j, v := range b.affine.Precision {
			precision[j] += by[0] * (v - mean.affine.Precision[j])
		}
		// The mean stays at the frame's centre, taken for 0.
		shift := append([]float64(nil), g.parts.moved[i].affine.Shift...)
		scale(shift, by[1])
		out.gaussian = append(out.gaussian, newAffineForce(precision, shift))
	}
	return out, by
}

// pace returns the fastest and the slowest of the batches' frequencies and of
// the friction.
func (g *gaussianEngine) pace() pace {
	d := g.frame.d
	out := pace{largest: 1} // half of the limit of stability
	least, most := math.Inf(1), 0.0
	for i := range d {
		c := g.problem.Friction * g.frame.root[i] * g.frame.root[i]
		least, most = min(least, c), max(most, c)
	}
	frequencies := func(f *affineForce) (low, high float64) {
		s := mat.NewSymDense(d, nil)
		for i := range d {
			for j := i; j < d; j++ {
				s.SetSym(i, j, f.affine.Precision[i*d+j]*g.frame.root[i]*g.frame.root[j])
			}
		}
		var eig mat.EigenSym
		if !eig.Factorize(s, false) {
			return math.NaN(), math.NaN()
		}
		v := eig.Values(nil)
		return math.Sqrt(max(0, v[0])), math.Sqrt(max(0, v[d-1]))
	}
	out.slow, _ = frequencies(g.full.original[0])
	out.slow = min(out.slow, least)
	out.fast = most
	for _, b := range g.problem.gaussian {
		_, high := frequencies(b)
		out.fast = max(out.fast, high)
	}
	return out
}
