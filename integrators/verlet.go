package integrators

import "hambench/internal/vec"

// verlet is the pattern of the schemes that drift for half a step, kick with
// the gradient there, in one pass with friction, noise and what else they do
// to the momentum, and drift again:
//
//	θ* = θ + (h/2) M⁻¹ r,   then an Update with ∇U(θ*).
//
// With the Update r ← r − h∇U(θ*), θ ← θ* + (h/2)M⁻¹r it is the leapfrog step
// of the Hamiltonian flow.
//
// A scheme that embeds it and has a Step of its own must say in leads when
// stepLed may take its place.
type verlet struct {
	g     []float64
	half  Coef   // (h/2) M⁻¹
	kick  Update // all but the first drift
	still bool   // there is no noise

	// Under a SingleForce.
	data, next []float32 // ∇U − θ, and the position of the next gradient
}

// newVerlet returns the scheme of a first drift and a kick.
func newVerlet(dim int, half Coef, kick Update) *verlet {
	s := &verlet{g: make([]float64, dim), half: half, data: vec.Single(dim), next: vec.Single(dim)}
	kick.G = s.g
	s.kick = kick
	return s
}

func (s *verlet) Step(z *State, f Force, n Noise) {
	vec.AddScaled(z.Theta, s.half, z.R)
	evaluate(f, s.g, z.Theta, &s.kick)
	s.finish(z, n)
}

// forceAt drifts and evaluates the whole gradient.
func (s *verlet) forceAt(z *State, f Force) {
	vec.AddScaled(z.Theta, s.half, z.R)
	f.Gradient(s.g, z.Theta)
	s.kick.AddTheta = false
}

// finish is the rest of the step.
func (s *verlet) finish(z *State, n Noise) {
	s.kick.Theta, s.kick.R = z.Theta, z.R
	if s.still {
		s.kick.Apply(nil)
		return
	}
	n.Update(&s.kick)
}

func (s *verlet) leads() bool { return true }

func (s *verlet) lead(z *State) { // g is free under a SingleForce
	vec.CombineRounded(s.g, s.next, times(one, z.Theta), times(s.half, z.R))
}

func (s *verlet) stepLed(z *State, f SingleForce, n Noise) {
	f.GradientSingle(s.data, s.next)
	s.kick.Data, s.kick.Lead, s.kick.E, s.kick.AddTheta = s.data, s.next, s.half, false
	s.finish(z, n)
	s.kick.Data, s.kick.Lead, s.kick.E = nil, nil, Coef{}
}
