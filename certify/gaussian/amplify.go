package gaussian

import (
	"math"
	"slices"

	"hambench/certify/markov"
	"hambench/integrators"

	"gonum.org/v1/gonum/floats"
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
	rounding = 64 * markov.Epsilon
)

// Judging returns the engine of the problem with the differences between its
// batches, of precision and of shift, made as large as suits the decision on an
// order, and the two factors. Every coefficient of an error's expansion in h is a
// polynomial in the two, so the powers that occur do not depend on them; but a
// term of batches that differ by 10⁻⁶ is 10⁻¹² of the others, and round-off
// hides it.
func (g *Engine) Judging() (markov.Engine, []float64, error) {
	p, d, mean := g.problem, g.frame.d, g.mean
	// How far precisions and shifts of the batches are from their mean, in the frame.
	curved, apart := 0.0, 0.0
	for i, b := range p.Batches {
		diff := floats.SubTo(make([]float64, d*d), b.Precision, mean.Precision)
		if markov.Largest(diff) > rounding*markov.Largest(mean.Precision) {
			curved = max(curved, mat.Norm(g.frame.whitened(mat.NewDense(d, d, diff)), 2))
		}
		var pull mat.VecDense
		pull.MulVec(g.frame.colour.T(), mat.NewVecDense(d, g.moved[i].Shift))
		apart = max(apart, mat.Norm(&pull, 2))
	}
	by := []float64{1, 1} // for precisions, for shifts
	if curved > 0 && curved < fewDifferent {
		by[0] = different / curved
	}
	// What the shifts of equal batches differ by is round-off of this size.
	floor := rounding * floats.Norm(g.frame.toWhite(g.frame.centre), 2)
	if apart > floor && (apart < fewDifferent || apart > farApart) {
		by[1] = different / apart
	}
	if slices.Equal(by, []float64{1, 1}) || len(p.Batches) == 1 {
		return g, nil, nil
	}
	out := p
	out.Batches = nil
	// P̄ + f(P_i − P̄), and the moved shifts times the other factor: both keep their mean.
	for i, b := range p.Batches {
		precision := slices.Clone(mean.Precision)
		for j, v := range b.Precision {
			precision[j] += by[0] * (v - mean.Precision[j])
		}
		// The mean stays at the frame's centre, taken for 0.
		shift := slices.Clone(g.moved[i].Shift)
		floats.Scale(by[1], shift)
		out.Batches = append(out.Batches, integrators.NewAffine(precision, shift))
	}
	e, err := New(out)
	return e, by, err
}

// Pace is that of the batches, whatever the estimator.
func (g *Engine) Pace() markov.Pace { return g.rates }

// measured is the fastest and the slowest of the batches' frequencies and of
// the friction. Batches that are not definite may differ by far more than their mean
// is curved. Their random orders then change the law as the rate √(E ΔP P̄⁻¹ΔP / K)
// says, ΔP what a batch differs by, and steps far above its time see a plateau.
// Of definite batches it is below their frequencies: E PP̄⁻¹P is at most KP̄.
func (g *Engine) measured() markov.Pace {
	var squares []float64 // of M^−½ per coordinate
	for _, v := range g.frame.root {
		squares = append(squares, v*v)
	}
	slowest, _ := Frequencies(g.mean, g.frame.root)
	damping := g.problem.Friction * slices.Min(squares)
	out := markov.Pace{
		Low:     slowest,
		Slow:    min(slowest, damping),
		Damping: damping,
		Fast:    g.problem.Friction * slices.Max(squares),
		Largest: 1, // half of the limit of stability
	}
	fastest := 0.0 // frequency
	for _, b := range g.problem.Batches {
		_, high := Frequencies(b, g.frame.root)
		fastest = max(fastest, high)
	}
	// E ΔP P̄⁻¹ΔP / K, of which the rate is the root of the largest eigenvalue.
	d, k := g.frame.d, float64(len(g.problem.Batches))
	spread := mat.NewDense(d, d, nil)
	for _, differs := range g.differs {
		var square mat.Dense
		square.Mul(differs, differs.T())
		spread.Add(spread, &square)
	}
	spread.Scale(1/(k*k), spread)
	_, high := Frequencies(integrators.NewAffine(spread.RawMatrix().Data, nil), g.frame.root)
	fastest = max(fastest, high)
	out.High, out.Fast = fastest, max(out.Fast, fastest)
	// What batches add in a step is of the size of a squared frequency or, per coordinate, of the
	// gradient's variance in the frame; see markov.Pace.Settled.
	heat := fastest * fastest
	for j, v := range g.variance {
		heat = max(heat, v*squares[j])
	}
	// Gradients that estimators keep are up to K steps old: hence the factor.
	out.Settled = max(out.Fast, k*heat/damping)
	return out
}

// Frequencies are the square roots of the extreme eigenvalues of M^−½PM^−½, high that of the
// largest in size; root is the diagonal of M^−½. They are NaN where no eigenvalues are found.
func Frequencies(f *integrators.Affine, root []float64) (low, high float64) {
	d := len(root)
	s := mat.NewSymDense(d, slices.Clone(f.Precision))
	for i := range d {
		for j := i; j < d; j++ {
			s.SetSym(i, j, s.At(i, j)*root[i]*root[j])
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(s, false) {
		return math.NaN(), math.NaN()
	}
	v := eig.Values(nil)
	return math.Sqrt(max(0, v[0])), math.Sqrt(max(-v[0], v[d-1]))
}
