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
// It solves in the time unit h for r in the units M^½ and θ in those of M^−3/2 h, or of P_ii^−½
// where these are smaller: so, for masses near 1, blocks are of one size, and their norms are those
// of the rates. (M^−½h would do that for any mass, but its rounding is other numbers.) A Taylor
// series gives the flow over a time t = 2^{−k} that is short for A, and doubling the flow over the
// step:
//
//	e^{tA} − I = D(t) = Σ_{n≥1} (tA)ⁿ/n!,   D(2t) = 2D(t) + D(t)²
//	Σ(t) = Σ t^{n+1}/(n+1)! D_n,   D₀ = Q,  D_{n+1} = A D_n + D_n Aᵀ
//	Σ(2t) = Σ(t) + e^{tA} Σ(t) e^{tA}ᵀ.
//
// Squares of e^{tA} would lose the digits of slow modes, of which D(t) holds all. Sums of
// positive semidefinite matrices lose none, where the closed form S − e^{hA} S e^{hA}ᵀ (S the
// stationary covariance) cancels for small h, and the formulas by modes need three cases, for
// under-, critically and overdamped ones.
//
// It returns an error if rounding leaves the noise's covariance without a Cholesky
// factor.
func newLinearFlow(precision *mat.SymDense, invMass []float64, friction, h float64) (
	linearFlow, error) {
	d := len(invMass)
	a, q := mat.NewDense(2*d, 2*d, nil), mat.NewDense(2*d, 2*d, nil)
	units := make([]float64, 2*d) // of (r, θ)
	for i, m := range invMass {
		units[i] = 1 / math.Sqrt(m)
		units[d+i] = min(h/units[i]*m, 1/math.Sqrt(precision.At(i, i)))
	}
	for i, m := range invMass {
		// hA and the noise of the time h, in the units: those of r² are 1/m, hence the m in q.
		for j := range d {
			a.Set(i, d+j, -h*precision.At(i, j)*units[d+j]/units[i])
		}
		a.Set(i, i, -h*friction*m)
		a.Set(d+i, i, h*m*units[i]/units[d+i])
		q.Set(i, i, 2*friction*h*m)
	}
	halvings := 0
	if norm := mat.Norm(a, 1); norm > 0.5 {
		halvings = int(math.Ceil(math.Log2(2 * norm)))
	}
	defect, cov := taylorFlow(a, q, math.Ldexp(1, -halvings))
	for range halvings {
		// Σ before D: it needs the flow over the time that is doubled.
		var moved, squared mat.Dense
		flow := plusIdentity(defect)
		moved.Product(flow, cov, flow.T())
		cov.Add(cov, &moved)
		squared.Mul(defect, defect)
		defect.Scale(2, defect)
		defect.Add(defect, &squared)
	}
	return blocks(plusIdentity(defect), cov, units)
}

// plusIdentity returns I + D.
func plusIdentity(defect *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(defect)
	for i := range out.RawMatrix().Rows {
		out.Set(i, i, 1+out.At(i, i))
	}
	return out
}

// taylorTerms is enough for ‖tA‖ ≤ 1/2: the first term left out of Σ(t) is
// below (2‖tA‖)²⁰/21! = 2e-20 of it.
const taylorTerms = 20

// taylorFlow sums the series of D(t) and Σ(t).
func taylorFlow(a, q *mat.Dense, t float64) (defect, cov *mat.Dense) {
	n, _ := a.Dims()
	defect, cov = mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	power, term := plusIdentity(defect), mat.DenseCopyOf(q)
	term.Scale(t, term)
	for i := range taylorTerms {
		// Here power is (tA)ⁱ/i!, and term is t^{i+1}/(i+1)! D_i of the formulas of newLinearFlow.
		cov.Add(cov, term)
		var next, left mat.Dense
		next.Mul(a, power)
		power.Scale(t/float64(i+1), &next)
		defect.Add(defect, power)
		left.Mul(a, term)
		term.Add(&left, left.T())
		term.Scale(t/float64(i+2), term)
	}
	return defect, cov
}

// blocks turns the flow of (r, θ) in some units into that of (θ, r).
func blocks(flow, cov *mat.Dense, units []float64) (linearFlow, error) {
	var mean mat.Dense
	// Rounding leaves cov not quite symmetric, and NewSymDense reads the upper half alone.
	mean.Add(cov, cov.T())
	mean.Scale(0.5, &mean)
	var chol mat.Cholesky
	if !chol.Factorize(mat.NewSymDense(len(units), mean.RawMatrix().Data)) {
		return linearFlow{}, errors.New("the noise's covariance is not positive definite")
	}
	// r comes first, so that n_r is of ξ₁ alone, and n_θ of both.
	var l mat.TriDense
	chol.LTo(&l)
	r, theta, d := 0, len(units)/2, len(units)/2
	// block is the d × d block of a matrix at row i and column j, of the flow or of the noise.
	block := func(a mat.Matrix, i, j int, noise bool) []float64 {
		b := make([]float64, 0, d*d)
		for row := i; row < i+d; row++ {
			for col := j; col < j+d; col++ {
				v := units[row] * a.At(row, col)
				// A normal has no unit: only the left side of the noise's factor has one.
				if !noise {
					v /= units[col]
				}
				b = append(b, v)
			}
		}
		return b
	}
	return linearFlow{
		tt: block(flow, theta, theta, false), tr: block(flow, theta, r, false),
		rt: block(flow, r, theta, false), rr: block(flow, r, r, false),
		nrr: block(&l, r, r, true),
		ntr: block(&l, theta, r, true), ntt: block(&l, theta, theta, true),
	}, nil
}
