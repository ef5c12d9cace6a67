package integrators

import "hambench/internal/vec"

// SingleForce is a Force that works in float32, of a target with the prior
// N(0, I). The prior's part of ∇U, θ itself, is left out: it is added in
// float64, inside a pass over the state that reads θ anyway.
type SingleForce interface {
	Force
	// GradientSingle stores ∇U(θ) − θ in g. It must not keep or change theta.
	GradientSingle(g, theta []float32)
}

// SingleHessianForce is a SingleForce that also gives Hessian-vector
// products.
type SingleHessianForce interface {
	SingleForce
	// DerivativesSingle stores ∇U(θ) − θ in g and ∇²U(θ)v − v in hv: together
	// they cost less.
	DerivativesSingle(g, hv, theta, v []float32)
}

// leader is a Stepper that, under a SingleForce, finds the position of its
// gradient in float32 where the pass of the step before has left it: then a
// step is one gradient and one pass over the state.
type leader interface {
	// leads says whether it does so now.
	leads() bool
	// lead makes the position of the gradient for the state.
	lead(z *State)
	// stepLed is a step that finds the position, and leaves the next one.
	stepLed(z *State, f SingleForce, n Noise)
}

// stepAhead runs a step. led says that no other hand has touched the state
// since a step that returned true.
func (in *Integrator) stepAhead(z *State, f Force, n Noise, led bool) bool {
	k, ok := in.Kernel.(leader)
	single, isSingle := f.(SingleForce)
	if !ok || !isSingle || !k.leads() {
		in.Kernel.Step(z, f, n)
		return false
	}
	if !led {
		k.lead(z)
	}
	k.stepLed(z, single, n)
	return true
}

// slope evaluates a force at positions that are linear combinations, in
// either format, for schemes that combine its results linearly.
type slope struct {
	single         bool // the force was a SingleForce
	x, v           []float64
	g, hv          []float64
	x32, v32       []float32
	data, dataHess []float32 // ∇U(x) − x, ∇²U(x)v − v
}

func newSlope(dim int) slope {
	w := vectors(4, dim)
	return slope{
		x: w[0], v: w[1], g: w[2], hv: w[3],
		x32: vec.Single(dim), v32: vec.Single(dim), data: vec.Single(dim), dataHess: vec.Single(dim),
	}
}

// gradientAt evaluates ∇U at x, the sum of the terms.
func (s *slope) gradientAt(f Force, x ...Term) {
	if f, single := f.(SingleForce); single {
		s.single = true
		vec.CombineRounded(s.x, s.x32, x...)
		f.GradientSingle(s.data, s.x32)
		return
	}
	s.single = false
	vec.Combine(s.x, x...)
	f.Gradient(s.g, s.x)
}

// derivativesAt evaluates ∇²U(x)v, too; v is one term.
func (s *slope) derivativesAt(f Force, v Term, x ...Term) {
	if f, single := f.(SingleHessianForce); single {
		s.single = true
		vec.CombineRounded(s.x, s.x32, x...)
		vec.CombineRounded(s.v, s.v32, v)
		f.DerivativesSingle(s.data, s.dataHess, s.x32, s.v32)
		return
	}
	s.single = false
	vec.Combine(s.x, x...)
	vec.Combine(s.v, v)
	f.Gradient(s.g, s.x)
	f.(HessianForce).HessianVector(s.hv, s.x, s.v)
}

// gradient returns the two terms that make c∘∇U(x), product those that make
// c∘∇²U(x)v. In doubles the second is empty.
func (s *slope) gradient(c Coef) (data, prior Term) { return s.terms(c, s.g, s.data, s.x) }
func (s *slope) product(c Coef) (data, prior Term)  { return s.terms(c, s.hv, s.dataHess, s.v) }

func (s *slope) terms(c Coef, whole []float64, data []float32, prior []float64) (Term, Term) {
	if s.single {
		return Term{C: c, Single: data}, times(c, prior)
	}
	return times(c, whole), Term{}
}
