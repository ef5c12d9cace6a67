package models

import (
	"math"
	"slices"
	"sort"

	"hambench/models/datasets"
)

// crossing is the linear network of two weights, U = n(ab)²/2v + (a² + b²)/2: its minima are
// both axes, which cross where U has no quadratic part. Its outputs are a, b and ab, whose laws
// are known by quadrature, also where the target is tempered and tied to 0.
type crossing struct {
	*linearNet
	*crossingLaw
}

// crossingRows is n; with crossingVariance the curvature across an axis at distance 1 is 1000.
const crossingRows, crossingVariance = 16, 0.016

// newCrossing returns the model with its law, s = n/v = 1000 and γ = 1.
func newCrossing(*datasets.Split, Options) (Target, error) {
	t := newLinearNet([]int{1, 1, 1}, 0, crossingRows, crossingVariance)
	return crossing{t, newCrossingLaw(crossingRows/crossingVariance, 1)}, nil
}

func (crossing) Name() string { return "crossing" }
func (crossing) Outputs() int { return 3 }

// Predict stores a, b and ab.
func (crossing) Predict(dst, theta []float64) {
	checkLen(3, dst)
	checkLen(2, theta)
	dst[0], dst[1], dst[2] = theta[0], theta[1], theta[0]*theta[1]
}

// lawOf implements tempers.
func (crossing) lawOf(m Tempering) law {
	if m.Localisation > 0 && slices.ContainsFunc(m.Centre, func(x float64) bool { return x != 0 }) {
		return nil
	}
	return newCrossingLaw(crossingRows/crossingVariance/m.Temperature,
		1/m.Temperature+m.Localisation)
}

// crossingLaw is ∝ exp(−s(ab)²/2 − γ(a² + b²)/2). b given a is normal with variance
// 1/(sa² + γ), so that a has the density ∝ exp(−γa²/2)/√(sa² + γ). With a = √(γ/s) sinh t the
// root is √γ cosh t and cancels the derivative of a: the density of t is
// ∝ exp(−(γ²/2s) sinh² t). It is analytic and vanishes at both ends, so that sums over equal
// steps converge faster than any power of the step.
type crossingLaw struct {
	s, gamma float64
	scale    float64   // √(γ/s)
	t, p, c  []float64 // nodes, their probabilities, and the law up to the middle of each
}

const (
	crossingNodes = 4000
	crossingDepth = 40 // of the density of t, below its maximum, at the last node
)

func newCrossingLaw(s, gamma float64) *crossingLaw {
	l := &crossingLaw{s: s, gamma: gamma, scale: math.Sqrt(gamma / s)}
	// At ±end the exponent (γ²/2s) sinh² t is crossingDepth; nodes are the middles of equal steps.
	end := math.Asinh(math.Sqrt(2*crossingDepth*s) / gamma)
	var sum float64
	for i := range crossingNodes {
		t := end * (2*(float64(i)+0.5)/crossingNodes - 1)
		x := math.Sinh(t) * gamma
		l.t, l.p = append(l.t, t), append(l.p, math.Exp(-x*x/(2*s)))
		sum += l.p[i]
	}
	// up is the law at a node's lower end; half of the node's own probability is below its middle.
	up := 0.0
	for i := range l.p {
		l.p[i] /= sum
		l.c = append(l.c, up+l.p[i]/2)
		up += l.p[i]
	}
	return l
}

// mean returns that of f(t).
func (l *crossingLaw) mean(f func(t float64) float64) (sum float64) {
	for i, t := range l.t {
		sum += l.p[i] * f(t)
	}
	return sum
}

// LearningEstimate is the mean of s(ab)²/2, which tends to the learning coefficient ½ as
// s/γ² grows, by the multiplicity 2 as slowly as its logarithm.
func (l *crossingLaw) LearningEstimate() float64 {
	// Given t the variance of ab is a²/(sa² + γ) = tanh² t/s.
	return l.mean(func(t float64) float64 { return math.Tanh(t) * math.Tanh(t) / 2 })
}

// PredictiveMarginals implements Analytic: the laws are not normal, CDF has them.
func (l *crossingLaw) PredictiveMarginals() (mean, sd []float64) {
	a := l.scale * math.Sqrt(l.mean(func(t float64) float64 { return math.Sinh(t) * math.Sinh(t) }))
	return make([]float64, 3), []float64{a, a, math.Sqrt(2 * l.LearningEstimate() / l.s)}
}

// DrawPosterior implements Analytic: the first normal's quantile is a's, the second is b's in
// its deviations given a.
func (l *crossingLaw) DrawPosterior(dst []float64) {
	checkLen(2, dst)
	u := math.Erfc(-dst[0]/math.Sqrt2) / 2
	dst[0] = l.scale * math.Sinh(interpolated(l.c, l.t, u))
	dst[1] /= math.Sqrt(l.s*dst[0]*dst[0] + l.gamma)
}

// CDF implements Marginals. Given t, ab is normal with deviation |tanh t|/√s.
func (l *crossingLaw) CDF(output int, v float64) float64 {
	if output < 2 {
		return interpolated(l.t, l.c, math.Asinh(v/l.scale))
	}
	return l.mean(func(t float64) float64 {
		return math.Erfc(-v*math.Sqrt(l.s/2)/math.Abs(math.Tanh(t))) / 2
	})
}

// interpolated returns the value at x of the line through points (xs, ys), xs ascending, and
// that of the nearest end beyond them.
func interpolated(xs, ys []float64, x float64) float64 {
	i := sort.SearchFloat64s(xs, x)
	if i == 0 || i == len(xs) {
		return ys[min(i, len(xs)-1)]
	}
	f := (x - xs[i-1]) / (xs[i] - xs[i-1])
	return ys[i-1] + f*(ys[i]-ys[i-1])
}
