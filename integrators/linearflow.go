package integrators

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// linearFlow is the exact law over a step of
//
//	dθ = M⁻¹ r dt,   dr = −Pθ dt − C M⁻¹ r dt + √(2C) dW:
//
// the blocks of e^{hA}, where tr takes r to θ, and of a factor of the noise's
// covariance, (n_r, n_θ) = (nrr ξ₁, ntr ξ₁ + ntt ξ₂). Blocks are row-major.
type linearFlow struct {
	tt, tr, rt, rr []float64
	nrr, ntr, ntt  []float64
}

// append adds the blocks of b behind those of l.
func (l *linearFlow) append(b linearFlow) {
	l.tt, l.tr = append(l.tt, b.tt...), append(l.tr, b.tr...)
	l.rt, l.rr = append(l.rt, b.rt...), append(l.rr, b.rr...)
	l.nrr, l.ntr, l.ntt = append(l.nrr, b.nrr...), append(l.ntr, b.ntr...), append(l.ntt, b.ntt...)
}

// newLinearFlow works out the flow for a precision, a diagonal of M⁻¹, a
// friction and a step.
//
// It solves for (r, θ/h) in the time unit h, in which all blocks are of one
// size. A Taylor series gives the flow over a time t = 2^{−k} that is short for
// A, and doubling the flow over the step:
//
//	e^{tA} = Σ (tA)ⁿ/n!,   Σ(t) = Σ t^{n+1}/(n+1)! D_n,   D₀ = Q,  D_{n+1} = A D_n + D_n Aᵀ
//	Σ(2t) = Σ(t) + e^{tA} Σ(t) e^{tA}ᵀ.
//
// Sums of positive semidefinite matrices lose no digits, where the closed form
// S − e^{hA} S e^{hA}ᵀ (S the stationary covariance) cancels for small h, and the
// formulas by modes need three cases, for under-, critically and overdamped
// ones.
//
// It returns an error if rounding leaves the noise's covariance without a Cholesky
// factor.
func newLinearFlow(precision *mat.SymDense, invMass []float64, friction, h float64) (
	linearFlow, error) {
	d := len(invMass)
	a, q := mat.NewDense(2*d, 2*d, nil), mat.NewDense(2*d, 2*d, nil)
	for i, m := range invMass {
		for j := range d {
			a.Set(i, d+j, -h*h*precision.At(i, j))
		}
		a.Set(i, i, -h*friction*m)
		a.Set(d+i, i, m)
		q.Set(i, i, 2*friction*h)
	}
	halvings := 0
	if norm := mat.Norm(a, 1); norm > 0.5 {
		halvings = int(math.Ceil(math.Log2(2 * norm)))
	}
	flow, cov := taylorFlow(a, q, math.Ldexp(1, -halvings))
	for range halvings {
		var half, moved mat.Dense
		half.Mul(flow, cov)
		moved.Mul(&half, flow.T())
		cov.Add(cov, &moved)
		moved.Mul(flow, flow)
		flow.Copy(&moved)
	}
	return blocks(flow, cov, d, h)
}

// taylorTerms is enough for ‖tA‖ ≤ 1/2: the first term left out of Σ(t) is
// below (2‖tA‖)²⁰/21! = 2e-20 of it.
const taylorTerms = 20

// taylorFlow sums the series of e^{tA} and Σ(t).
func taylorFlow(a, q *mat.Dense, t float64) (flow, cov *mat.Dense) {
	n, _ := a.Dims()
	flow, cov = mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	power, term := mat.NewDense(n, n, nil), mat.DenseCopyOf(q)
	for i := range n {
		power.Set(i, i, 1)
	}
	term.Scale(t, term)
	for i := range taylorTerms {
		flow.Add(flow, power)
		cov.Add(cov, term)
		var next, left mat.Dense
		next.Mul(a, power)
		power.Scale(t/float64(i+1), &next)
		left.Mul(a, term)
		term.Add(&left, left.T())
		term.Scale(t/float64(i+2), term)
	}
	return flow, cov
}

// blocks turns the flow of (r, θ/h) into that of (θ, r).
func blocks(flow, cov *mat.Dense, d int, h float64) (linearFlow, error) {
	var mean mat.Dense
	mean.Add(cov, cov.T())
	mean.Scale(0.5, &mean)
	var chol mat.Cholesky
	if !chol.Factorize(mat.NewSymDense(2*d, mean.RawMatrix().Data)) {
		return linearFlow{}, errors.New("the noise's covariance is not positive definite")
	}
	var l mat.TriDense
	chol.LTo(&l)
	r, theta := 0, d
	return linearFlow{
		tt: block(flow, theta, theta, d, 1), tr: block(flow, theta, r, d, h),
		rt: block(flow, r, theta, d, 1/h), rr: block(flow, r, r, d, 1),
		nrr: block(&l, r, r, d, 1),
		ntr: block(&l, theta, r, d, h), ntt: block(&l, theta, theta, d, h),
	}, nil
}

// block returns scale times the d × d block at row i and column j.
func block(a mat.Matrix, i, j, d int, scale float64) []float64 {
	b := make([]float64, 0, d*d)
	for row := range d {
		for col := range d {
			b = append(b, scale*a.At(i+row, j+col))
		}
	}
	return b
}
