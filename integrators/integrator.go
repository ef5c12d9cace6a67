// Package integrators holds the numerical schemes for the Hamiltonian
// stochastic differential equation
//
//	dr = −∇U(θ) dt − C M⁻¹ r dt + √(2C) dW,   dθ = M⁻¹ r dt,
//
// whose stationary density is exp(−U(θ) − ½ rᵀM⁻¹r), one scheme per file.
//
// To run one, look it up in [Builtin], make an [Instance] with [Integrator.New]
// for a dimension and a step, a [State] with its NewState, and call OuterSteps
// with a [Force] and a [Noise]; see the example. Package chain does it for a
// model on data.
//
// A force must offer what a scheme's [Needs] say. [Integrator.Check] refuses one that does
// not with a usage error; a step under such a force panics.
//
// A scheme knows neither the time loop, nor the data, nor where its noise
// comes from: the force and the noise are inputs of a step, so that the same
// code runs under a generator, under replayed noise, and under the
// quadrature nodes of package certify. A step allocates nothing.
//
// To write one, give [Define] an [Integrator] and a function that makes a [Stepper].
// Most steps are a [Kick], formulas in [Stages], or a word of a splitting
// (split:WORD needs no code at all). A scheme may have parameters and auxiliary
// variables of its own; its [Claims] are what package certify and the tests hold
// it to.
package integrators

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hambench/internal/kernel"
	"hambench/usage"
)

// State is a point of phase space: the position θ and the momentum r, of
// equal length, and the auxiliary variables that Integrator.Variables names.
type State struct {
	Theta, R []float64
	Aux      [][]float64 // nil for a scheme without any
}

// NewState returns the origin of a phase space with dim positions and no
// auxiliary variables.
func NewState(dim int) *State {
	return &State{Theta: make([]float64, dim), R: make([]float64, dim)}
}

// Force gives the gradient of the potential, or of the scaled potential of
// one mini-batch.
type Force interface {
	// Gradient stores ∇U(θ) in g. It must not keep or change theta.
	Gradient(g, theta []float64)
}

// HessianForce is a Force that also gives Hessian-vector products.
type HessianForce interface {
	Force
	// HessianVector stores ∇²U(θ)v in hv.
	HessianVector(hv, theta, v []float64)
}

// AffineForce is a Force whose gradient is P θ − s. The exact flow needs it.
type AffineForce interface {
	Force
	// Affine returns the matrix P (row-major, dim × dim, symmetric positive
	// definite) and the shift s. The same pointer means the same force, so
	// what is derived from it may be kept.
	Affine() *Affine
}

// NeedHessian returns f as the HessianForce that a step cannot do without. It panics if f
// is none: that is a mistake of the program, since Integrator.Check refuses such a force
// before a chain starts.
func NeedHessian(f Force) HessianForce { return need[HessianForce](f, "Hessian-vector products") }

// needAffine is NeedHessian for an AffineForce.
func needAffine(f Force) AffineForce { return need[AffineForce](f, "an affine gradient") }

// need returns f as an F, and panics with what is missing if it is none.
func need[F Force](f Force, what string) F {
	g, ok := f.(F)
	if !ok {
		panic(fmt.Sprintf("integrators: a step needs %s, which force %T does not have: "+
			"see Integrator.Check", what, f))
	}
	return g
}

// Affine is a linear-Gaussian force, ∇U(θ) = Pθ − s.
type Affine struct {
	Precision []float64 // row-major dim × dim
	Shift     []float64
}

// NewAffine returns the force Pθ − s.
func NewAffine(precision, shift []float64) *Affine {
	return &Affine{Precision: precision, Shift: shift}
}

// Gradient stores Pθ − s in g.
func (a *Affine) Gradient(g, theta []float64) {
	a.HessianVector(g, nil, theta)
	floats.Sub(g, a.Shift)
}

// HessianVector stores Pv in hv.
func (a *Affine) HessianVector(hv, _, v []float64) {
	for i, d := 0, len(v); i < d; i++ {
		hv[i] = floats.Dot(a.Precision[i*d:(i+1)*d], v)
	}
}

// Affine returns the force itself.
func (a *Affine) Affine() *Affine { return a }

// Noise hands out independent standard-normal vectors, one after another.
type Noise interface {
	// Normal fills dst with the next vector.
	Normal(dst []float64)
	// Update carries out u with the next vector, of length len(u.R), as ξ: by
	// u.Apply, or by one pass that does what Update describes.
	Update(u *Update)
}

// Replay is a Noise whose next vector, of the length asked for, a function returns.
type Replay func(length int) []float64

// Normal fills dst with the next vector.
func (next Replay) Normal(dst []float64) { copy(dst, next(len(dst))) }

// Update carries out u with the next vector, by the plain formulas.
func (next Replay) Update(u *Update) { u.Apply(next(len(u.R))) }

// The vector operations of a step.
type (
	// Coef is a coefficient of a vector: All for every coordinate or, if Each
	// is not nil, a number of its own for each.
	Coef = kernel.Coef
	// Update is one pass over a state,
	//
	//	r ← P∘r + A∘g,   θ ← θ + B∘r,   r ← Q∘r + S∘ξ,   θ ← θ + D∘r,
	//
	// for the vectors R, G and Theta, of which the last two may be nil, and the
	// coefficients P, A, B, Q, S, D. Apply(ξ) carries it out.
	Update = kernel.Update
	// Term is a term C∘X of a linear combination.
	Term = kernel.Summand
)

// Combine stores the sum of the terms in dst, which may be one
// of the terms' vectors.
func Combine(dst []float64, terms ...Term) { kernel.Combine(dst, nil, terms...) }

// Stepper advances a state by one step, in place.
type Stepper interface {
	// Step moves z by one step under f, with the normals of n. It allocates
	// nothing.
	Step(z *State, f Force, n Noise)
}

// Adapter is a Stepper that estimates something (a gradient variance, a
// preconditioner) while it runs. It adapts from the first step until Freeze.
type Adapter interface {
	Stepper
	// Freeze ends the adaptation: from then on the chain is Markov.
	Freeze()
}

// Instance is a scheme with its parameters fixed, ready to run in a given
// dimension. One outer step is Batches runs of Kernel, each under a force of
// its own (the next mini-batch), then Refresh, if there is one, once. It covers
// Step × Batches units of time. For most schemes Batches is 1 and Refresh nil.
// An Instance holds scratch space: it serves one chain.
type Instance struct {
	Integrator Integrator
	Params     Params // as given, with the defaults filled in
	Dim        int    // of the positions
	Batches    int    // kernels of an outer step: N_l
	Kernel     Stepper
	Refresh    Stepper // needs no force: it is called with nil
}

// NewState returns the origin of the scheme's phase space, with auxiliary
// variables at their start values.
func (in *Instance) NewState() *State {
	z := NewState(in.Dim)
	if in.Integrator.Variables != nil {
		for _, v := range in.Integrator.Variables(in.Dim, in.Params) {
			z.Aux = append(z.Aux, slices.Clone(v.Start))
		}
	}
	return z
}

// OuterSteps runs count outer steps: see Steps.
func (in *Instance) OuterSteps(z *State, next func() Force, n Noise, count int) {
	in.Steps(z, next, n, 0, count*in.Batches)
}

// Steps runs count kernels of a chain that has run done of them, and refreshes after each
// that completes an outer step. next is called before each kernel and returns the force
// of the next mini-batch. Many steps in one call are faster than one by one if the forces
// are FusedForces. It panics if a force lacks what the integrator's Needs say.
func (in *Instance) Steps(z *State, next func() Force, n Noise, done int64, count int) {
	var ahead any                                    // see Kick.step
	left := in.Batches - int(done%int64(in.Batches)) // kernels before the next refreshment
	for range count {
		if k, ok := in.Kernel.(follower); ok {
			ahead = k.step(z, next(), n, ahead)
		} else {
			in.Kernel.Step(z, next(), n)
		}
		if left--; left > 0 {
			continue
		}
		left = in.Batches
		if in.Refresh != nil {
			in.Refresh.Step(z, nil, n)
			// What a force has worked out ahead is of the state before the refreshment.
			ahead = nil
		}
	}
}

// Freeze ends the adaptation of an adaptive scheme; for other schemes it does
// nothing.
func (in *Instance) Freeze() {
	if a, ok := in.Kernel.(Adapter); ok {
		a.Freeze()
	}
}

// InvMass returns a copy of the diagonal of M⁻¹ in use, which an adaptive
// scheme changes after New; nil means the identity.
func (in *Instance) InvMass() []float64 {
	if p, ok := in.Kernel.(interface{ invMass() []float64 }); ok {
		return p.invMass()
	}
	return slices.Clone(in.Params.InvMass)
}

// Params are the parameters of a scheme. One that is out of range is a usage
// error of New.
type Params struct {
	// Step is h = η > 0, in units of simulation time.
	Step float64
	// Friction is C > 0, a mass per unit of time. +Inf draws a new momentum at every
	// refreshment; only schemes with Integrator.FullRefreshment take it.
	Friction float64
	// Inner is N_l ≥ 1, the kernels per refreshment; 0 means 1. Only schemes with
	// Integrator.InnerSteps take more than 1.
	Inner int
	// InvMass is the diagonal of M⁻¹, positive; nil means the identity.
	InvMass []float64
	// Values are the scheme's own parameters, by name; a missing one has its
	// default, which New fills in.
	Values map[string]float64
}

// Parameter is a numeric parameter of a scheme's own.
type Parameter struct {
	Name               string
	About              string // one line, with the unit
	Default, Low, High float64
	Needs              Needs // numbers that a value other than 0 adds to the integrator's
}

// Variable is an auxiliary variable of a scheme, such as a thermostat.
type Variable struct {
	Name string
	// Start are its values, any number of them, when the chain starts. States have copies.
	Start []float64
	// Deviation says that the variable's stationary law is normal around Start,
	// independent of θ and r, with this standard deviation; 0 says nothing.
	Deviation float64
	// Open says that the law is to be found, and how it depends on θ and r; Positive that it is,
	// and that the variable is never negative, as a running mean of squares. Start is then > 0.
	Open, Positive bool
}

// Claims states the orders and the structure of a scheme; tests and package certify hold
// it to them.
type Claims struct {
	WeakOrder       float64 // of one step
	ErgodicOrder    float64 // of the stationary law of (θ, r), full batch; +Inf means exact
	PositionOrder   float64 // of the stationary law of θ alone; never below ErgodicOrder
	BatchOrder      float64 // caps both with mini-batches under every scheme; 0 means no cap
	QuasiSymplectic bool    // Milstein & Tretyakov 2003, both conditions
	Source          string  // reference with equation number
}

// Needs states what an integrator asks of its force and its noise. Tests hold it to the
// numbers; a force that offers less is refused, see Integrator.Check.
type Needs struct {
	Gradients      int  // per kernel
	HessianVectors int  // per kernel; if not 0 the force must be a HessianForce
	Affine         bool // the force must be an AffineForce
	Normals        int  // normal vectors per outer step
}

// ProductGradients is the cost of a Hessian-vector product, in gradients over the same
// rows: a product takes a forward and a backward pass over the network and over its
// directional derivative (Pearlmutter 1994, sec. 5).
const ProductGradients = 2

// Cost returns the cost of a kernel in gradients of its batch; at least 1, since the
// exact flow takes none.
func (n Needs) Cost() float64 {
	return float64(max(1, n.Gradients) + ProductGradients*n.HessianVectors)
}

// Available states what a force offers beyond gradients.
type Available struct {
	HessianVectors bool // it is a HessianForce
	Affine         bool // it is an AffineForce
}

// Check returns a usage error if the integrator needs more than a force offers. It names
// the integrator and the provider of the force, given in words such as `model "toy"`.
func (in Integrator) Check(a Available, provider string) error {
	switch {
	case in.Needs.HessianVectors > 0 && !a.HessianVectors:
		return usage.Errorf("integrator %q needs Hessian-vector products, which %s does not have",
			in.Name, provider)
	case in.Needs.Affine && !a.Affine:
		return usage.Errorf("integrator %q needs a linear-Gaussian force, which %s does not have",
			in.Name, provider)
	}
	return nil
}

// Integrator describes a scheme and makes integrators of it.
type Integrator struct {
	Name   string
	About  string // one line for lists
	Claims Claims
	Needs  Needs
	// Parameters are the scheme's own, beyond those that all schemes take.
	Parameters []Parameter
	// Variables describes State.Aux, in its order; nil for a scheme without any.
	Variables func(dim int, p Params) []Variable
	// InnerSteps says that N_l may exceed 1, FullRefreshment that the friction
	// may be +Inf.
	InnerSteps, FullRefreshment bool
	// PositionOnly says that the state is θ alone: a step neither reads nor moves
	// State.R, and Claims speak of θ. The friction is ignored.
	PositionOnly bool
	// Nonlinear says that a step is not affine in the state even if the force is.
	Nonlinear bool
	// New checks the parameters and returns the scheme for a dimension.
	New func(dim int, p Params) (*Instance, error)
}
