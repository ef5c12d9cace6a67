package integrators

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/internal/fingerprint"
)

// Structure probes the two conditions of a quasi-symplectic scheme (Milstein
// & Tretyakov 2003; Franzese et al. 2022, App. B.4): the determinant of the
// step's Jacobian does not depend on the state, and the step becomes
// symplectic as C → 0. Jacobians are taken at several states and noises of a
// non-linear potential in one and in two dimensions with unequal masses (of a
// quadratic one for a scheme that needs an AffineForce), by differences whose
// error is far below the tolerance. The conditions are of position and momentum:
// a scheme with auxiliary variables has neither. It panics if the scheme's New refuses
// a step of 0.1, which no scheme made by Define does.
func Structure(m Integrator) (detConstant, symplecticLimit bool) {
	if m.Variables != nil {
		return false, false
	}
	detConstant, symplecticLimit = true, true
	for _, invMass := range [][]float64{{0.8}, {0.8, 1.3}} {
		damped, free := frozen(m, invMass, 1.5), frozen(m, invMass, vanishing)
		want := mat.Det(damped.jacobian(0))
		for point := range structurePoints {
			det := mat.Det(damped.jacobian(point))
			detConstant = detConstant && math.Abs(det-want) < structureTolerance
			defect := symplecticDefect(free.jacobian(point))
			symplecticLimit = symplecticLimit && defect < structureTolerance
		}
	}
	return detConstant, symplecticLimit
}

const (
	structurePoints = 4
	// vanishing is a friction so small that √C is below the tolerance, too.
	vanishing = 1e-20
	// structureTolerance lies between the error of the differences, 1e-10, and
	// what schemes without the structure reach, 2e-5 and more.
	structureTolerance = 1e-8
)

// frozen returns the scheme past its adaptation, with h = 0.1.
func frozen(m Integrator, invMass []float64, friction float64) *Instance {
	in, err := m.New(len(invMass), Params{Step: 0.1, Friction: friction, InvMass: invMass})
	if err != nil {
		panic("integrators: probing the structure: " + err.Error())
	}
	in.Freeze()
	return in
}

// jacobian returns ∂z⁺/∂z of an outer step at a numbered point, z = (θ, r), with
// a noise of its own, by central differences: 2d × 2d.
func (in *Instance) jacobian(point int) *mat.Dense {
	z := make([]float64, 2*in.Dim)
	for i := range z {
		z[i] = 1.5 * math.Sin(float64(1+i+7*point))
	}
	jac := mat.NewDense(len(z), len(z), nil)
	fd.Jacobian(jac, func(dst, from []float64) {
		s, n := in.NewState(), &fingerprint.Noise{}
		// The noise of point p begins after p numbers, so that each point has another.
		n.Normal(make([]float64, point))
		copy(s.Theta, from)
		copy(s.R, from[in.Dim:])
		in.OuterSteps(s, in.trialForce, n, 1)
		copy(dst, s.Theta)
		copy(dst[in.Dim:], s.R)
	}, z, &fd.JacobianSettings{Formula: fd.Central})
	return jac
}

// symplecticDefect is the largest row sum of |ΩᵀJΩ − J|, with J the symplectic matrix.
func symplecticDefect(omega *mat.Dense) float64 {
	n, _ := omega.Dims()
	d := n / 2
	j := mat.NewDense(n, n, nil)
	for i := range d {
		j.Set(i, d+i, 1)
		j.Set(d+i, i, -1)
	}
	var half, full mat.Dense
	half.Mul(omega.T(), j)
	full.Mul(&half, omega)
	full.Sub(&full, j)
	return mat.Norm(&full, math.Inf(1))
}

// trialForce returns the force to probe the scheme with: one that is not linear, unless
// the scheme needs an affine one.
func (in *Instance) trialForce() Force {
	if in.Integrator.Needs.Affine {
		return newWell(in.Dim)
	}
	return quartic{}
}

// quartic is the force of U = Σ θ_i⁴/4 + cos(θ_i + i) + Σ_{i<j} (θ_iθ_j)²/2.
type quartic struct{}

func (quartic) Gradient(g, theta []float64) {
	sum := floats.Dot(theta, theta)
	for i, x := range theta {
		// x³ + x Σ_{j≠i} θ_j² is x Σ θ_j².
		g[i] = x*sum - math.Sin(x+float64(i))
	}
}

func (quartic) HessianVector(hv, theta, v []float64) {
	// ∇²U is |θ|² I + 2θθᵀ, less the cosines on the diagonal.
	sum, dot := floats.Dot(theta, theta), floats.Dot(theta, v)
	for i, x := range theta {
		hv[i] = v[i]*(sum-math.Cos(x+float64(i))) + 2*x*dot
	}
}

// newWell is the force of a coupled quadratic potential.
func newWell(dim int) *Affine {
	a := NewAffine(slices.Repeat([]float64{0.3}, dim*dim), slices.Repeat([]float64{0.5}, dim))
	for i := range dim {
		a.Precision[i*(dim+1)] = 1 + float64(i)
	}
	return a
}
