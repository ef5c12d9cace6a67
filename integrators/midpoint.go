package integrators

import "math"

var midpointIntegrator = Define(Integrator{
	Name: "midpoint",
	About: "randomised midpoint: a kick at a random time between exact flows, " +
		"its gradient predicted",
	Claims: Claims{
		WeakOrder: 3, ErgodicOrder: 3, PositionOrder: 3,
		Source: "Shen & Lee 2019, algorithm 1 (its orders are those found here)",
	},
	Needs: Needs{Gradients: 2, Normals: 5},
}, func(dim int, p Params) (Stepper, Stepper) { return newMidpoint(dim, p), nil })

// Mixed is a Stepper that draws a uniform number besides its normals. With that number fixed the
// step is as affine as its force, so that the law of a step is a mixture over the number.
type Mixed interface {
	Stepper
	// Fix returns the step with the uniform number u, which draws its normals alone. It shares
	// the scratch space of the receiver.
	Fix(u float64) Stepper
}

// Mixes reports whether a step has a uniform number: see Mixed.
func (in Integrator) Mixes() bool {
	made, err := in.New(1, Params{Step: 1, Friction: 1})
	if err != nil {
		return false
	}
	_, mixes := made.Kernel.(Mixed)
	return mixes
}

// midpoint is the scheme of Shen and Lee with a uniform number u. With U(t) the exact flow of
// drift, friction and noise (see newUBU) its step is
//
//	U(uh),   r ← r − h∇U(θ − b∇U(θ₀)),   U((1 − u)h),
//
// where θ₀ is the position at the start, and b∇U(θ₀) what a constant force moves θ by in the time
// t = uh: b = (t − (1 − e)/(CM⁻¹))/C, e = e^{−CM⁻¹t}.
type midpoint struct {
	p             Params
	at            midpointAt
	number        [1]float64 // the normal that makes u
	g, predicted  []float64
	first, second looseFlow
	force         Coef // −b
}

// midpointAt is the step with a uniform number.
type midpointAt struct {
	*midpoint
	u float64
}

// newMidpoint makes the kick a part of the second flow, before its drift. The flows share the
// vector of their last normal, since one has ended when the other begins.
func newMidpoint(dim int, p Params) *midpoint {
	v := vectors(3, dim)
	s := &midpoint{p: p, g: v[0], predicted: v[1], force: p.Drift(1),
		first: newLooseFlow(p, v[2]), second: newLooseFlow(p, v[2])}
	s.second.u.A, s.second.u.G = Coef{All: -p.Step}, s.g
	s.at.midpoint = s
	return s
}

func (s *midpoint) Fix(u float64) Stepper { return midpointAt{s, u} }

// Step makes u of a normal: the normal law's distribution function at it.
func (s *midpoint) Step(z *State, f Force, n Noise) {
	n.Normal(s.number[:])
	s.at.u = math.Erfc(-s.number[0]/math.Sqrt2) / 2
	s.at.Step(z, f, n)
}

// Step takes ∇U(θ₀) before the first flow moves the position, and predicts from where that ends.
func (m midpointAt) Step(z *State, f Force, n Noise) {
	s, C, t := m.midpoint, m.p.Friction, m.u*m.p.Step
	s.first.set(s.p, t)
	s.second.set(s.p, s.p.Step-t)
	// b is forced(x) m t² with x = CM⁻¹t, and stands with a minus sign in the step.
	s.p.set(&s.force, func(m float64) float64 { return -forced(C*m*t) * m * t * t })
	f.Gradient(s.g, z.Theta)
	s.first.run(z, n)
	Combine(s.predicted, times(one, z.Theta), times(s.force, s.g))
	f.Gradient(s.g, s.predicted)
	s.second.run(z, n)
}

// forced is (x − 1 + e^{−x})/x², of which a constant force makes its way, without the loss of
// digits near 0.
func forced(x float64) float64 {
	if x > 0.5 {
		return (x + math.Expm1(-x)) / (x * x)
	}
	sum, term := 0.0, 0.5 // Σ (−x)ᵏ/(k + 2)!
	for k := 3.0; k < 18; k++ {
		sum, term = sum+term, -term*x/k
	}
	return sum
}

// looseFlow is U(t) for a time that changes from step to step: see newUBUNoise.
type looseFlow struct {
	u    Update
	rest Coef // deviation of the noise that θ gets by itself
	xi   []float64
}

func newLooseFlow(p Params, xi []float64) looseFlow {
	return looseFlow{Update{P: one, B: p.Drift(1), Q: p.Drift(1), S: p.Drift(1)}, p.Drift(1), xi}
}

// set works out the coefficients for a time.
func (l *looseFlow) set(p Params, t float64) {
	C := p.Friction
	y := func(m float64) float64 { return C * m * t / 2 }
	p.set(&l.u.B, func(m float64) float64 { return math.Tanh(y(m)) / C })
	p.set(&l.u.Q, func(m float64) float64 { return math.Exp(-2 * y(m)) })
	p.set(&l.u.S, func(m float64) float64 { return math.Sqrt(-math.Expm1(-4*y(m)) / m) })
	p.set(&l.rest, func(m float64) float64 { return 2 / C * math.Sqrt(tanhDefect(y(m))/m) })
	l.u.D = l.u.B
}

// run moves a state, with two normal vectors.
func (l *looseFlow) run(z *State, n Noise) {
	update(&l.u, z, n)
	n.Normal(l.xi)
	Combine(z.Theta, times(one, z.Theta), times(l.rest, l.xi))
}
