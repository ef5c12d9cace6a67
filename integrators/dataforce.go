package integrators

import "hambench/internal/vec"

// DataForce is a Force of a target with the prior N(0, I) that can leave the
// prior's part of ∇U out. That part is θ itself, and costs least inside a pass
// over the state that reads θ anyway.
type DataForce interface {
	Force
	// GradientData stores ∇U(θ) − θ in g. It must not keep or change theta.
	GradientData(g, theta []float64)
}

// DataHessianForce is a DataForce that also gives Hessian-vector products.
type DataHessianForce interface {
	DataForce
	// DerivativesData stores ∇U(θ) − θ in g and ∇²U(θ)v − v in hv: together
	// they cost less.
	DerivativesData(g, hv, theta, v []float64)
}

// SingleForce is a force of the same kind that works in float32.
type SingleForce interface {
	Force
	// GradientSingle stores ∇U(θ) − θ in g. It must not keep or change theta.
	GradientSingle(g, theta []float32)
}

// SingleHessianForce is a SingleForce that also gives Hessian-vector
// products.
type SingleHessianForce interface {
	SingleForce
	// DerivativesSingle is DerivativesData in float32.
	DerivativesSingle(g, hv, theta, v []float32)
}

// evaluate stores ∇U(θ) in g for the update u of a state at θ; where the force
// can leave θ out, u adds it.
func evaluate(f Force, g, theta []float64, u *Update) {
	data, ok := f.(DataForce)
	u.AddTheta = ok
	if !ok {
		f.Gradient(g, theta)
		return
	}
	data.GradientData(g, theta)
	u.Theta = theta
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
	parts    parts
	x, v     []float64
	g, hv    []float64 // ∇U(x) and ∇²U(x)v, or the data's part of them
	x32, v32 []float32
	g32, h32 []float32 // the data's part
}

// parts says what a force has given.
type parts int

const (
	whole      parts = iota // ∇U
	dataOnly                // ∇U − θ
	singleData              // the same in float32
)

func newSlope(dim int) slope {
	w := vectors(4, dim)
	return slope{
		x: w[0], v: w[1], g: w[2], hv: w[3],
		x32: vec.Single(dim), v32: vec.Single(dim), g32: vec.Single(dim), h32: vec.Single(dim),
	}
}

// gradientAt evaluates ∇U at x, the sum of the terms.
func (s *slope) gradientAt(f Force, x ...Term) {
	if f, ok := f.(SingleForce); ok {
		s.parts = singleData
		vec.CombineRounded(s.x, s.x32, x...)
		f.GradientSingle(s.g32, s.x32)
		return
	}
	vec.Combine(s.x, x...)
	if f, ok := f.(DataForce); ok {
		s.parts = dataOnly
		f.GradientData(s.g, s.x)
		return
	}
	s.parts = whole
	f.Gradient(s.g, s.x)
}

// derivativesAt evaluates ∇²U(x)v, too; v is one term.
func (s *slope) derivativesAt(f Force, v Term, x ...Term) {
	if f, ok := f.(SingleHessianForce); ok {
		s.parts = singleData
		vec.CombineRounded(s.x, s.x32, x...)
		vec.CombineRounded(s.v, s.v32, v)
		f.DerivativesSingle(s.g32, s.h32, s.x32, s.v32)
		return
	}
	vec.Combine(s.x, x...)
	vec.Combine(s.v, v)
	if f, ok := f.(DataHessianForce); ok {
		s.parts = dataOnly
		f.DerivativesData(s.g, s.hv, s.x, s.v)
		return
	}
	s.parts = whole
	f.Gradient(s.g, s.x)
	f.(HessianForce).HessianVector(s.hv, s.x, s.v)
}

// gradient returns the two terms that make c∘∇U(x), product those that make
// c∘∇²U(x)v. The second is empty where the force has given the whole.
func (s *slope) gradient(c Coef) (data, prior Term) { return s.terms(c, s.g, s.g32, s.x) }
func (s *slope) product(c Coef) (data, prior Term)  { return s.terms(c, s.hv, s.h32, s.v) }

func (s *slope) terms(c Coef, given []float64, single []float32, prior []float64) (Term, Term) {
	switch s.parts {
	case singleData:
		return Term{C: c, Single: single}, times(c, prior)
	case dataOnly:
		return times(c, given), times(c, prior)
	}
	return times(c, given), Term{}
}
