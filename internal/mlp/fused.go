package mlp

import "hambench/internal/kernel"

// Noise carries out updates with normals.
type Noise = interface{ Update(u *kernel.Update) }

// engine32 computes derivatives in float32, for vectors of float64.
//
// Rounding a position to float32, and adding the prior's part, θ, to a
// gradient, cost a pass over the state each. Kick and at leave both to passes
// that read the state anyway.
type engine32 struct {
	*engine[float32]
	theta, v       []float32 // operands
	gradient32, hv []float32 // results, without the prior's part
	next           []float32 // the position that the last kick has left
	drifted        []float64 // scratch
}

func newEngine32(set *kernel.Set, p *Problem, rows int) *engine32 {
	e := newEngine[float32](set, p, rows)
	vector := func() []float32 { return kernel.Aligned[float32](e.dim) }
	return &engine32{
		engine: e, theta: vector(), v: vector(), gradient32: vector(), hv: vector(), next: vector(),
		drifted: kernel.Aligned[float64](e.dim),
	}
}

func (e *engine32) gradient(g, theta []float64, lo, hi int, scale float64) {
	e.set.Narrow(e.theta, theta)
	e.derive(operands[float32]{theta: e.theta, gradient: e.gradient32}, lo, hi, scale)
	e.set.Combine(g, nil, kernel.Summand{C: one, Float32: e.gradient32}, kernel.Summand{C: one, X: theta})
}

func (e *engine32) hessianVector(hv, theta, v []float64, lo, hi int, scale float64) {
	e.set.Narrow(e.theta, theta)
	e.set.Narrow(e.v, v)
	e.derive(operands[float32]{theta: e.theta, v: e.v, product: e.hv}, lo, hi, scale)
	e.set.Combine(hv, nil, kernel.Summand{C: one, Float32: e.hv}, kernel.Summand{C: one, X: v})
}

// kick is Net.Kick.
func (e *engine32) kick(drift kernel.Coef, u *kernel.Update, noise Noise, ahead any, lo, hi int, scale float64) any {
	switch {
	case ahead == any(e): // it is there
	case isZero(drift):
		e.set.Narrow(e.next, u.Theta)
	default:
		e.set.Combine(e.drifted, e.next, kernel.Summand{C: one, X: u.Theta}, kernel.Summand{C: drift, X: u.R})
	}
	e.derive(operands[float32]{theta: e.next, gradient: e.gradient32}, lo, hi, scale)
	apply(u, kernel.Likelihood{Float32: e.gradient32, Next: e.next, Drift: drift}, noise)
	return e
}

func (e *engine32) at(x []float64, xs []kernel.Summand, v []float64, vs []kernel.Summand, lo, hi int, scale float64) (gradient, product kernel.Summand) {
	o := operands[float32]{theta: e.theta, gradient: e.gradient32}
	e.set.Combine(x, e.theta, xs...)
	if v != nil {
		e.set.Combine(v, e.v, vs...)
		o.v, o.product = e.v, e.hv
	}
	e.derive(o, lo, hi, scale)
	return kernel.Summand{Float32: e.gradient32, Prior: x}, kernel.Summand{Float32: e.hv, Prior: v}
}

// Kick carries out a drift and an update with the gradient where it leads, as
// integrators.FusedForce asks for it.
func (n *Net) Kick(drift kernel.Coef, u *kernel.Update, noise Noise, ahead any, lo, hi int, scale float64) any {
	check(n, lo, hi, u.Theta, u.R)
	if n.float32 != nil {
		return n.float32.kick(drift, u, noise, ahead, lo, hi, scale)
	}
	e := n.arranged()
	if !isZero(drift) {
		e.set.Combine(u.Theta, nil, kernel.Summand{C: one, X: u.Theta}, kernel.Summand{C: drift, X: u.R})
	}
	e.derive(operands[float64]{theta: u.Theta, gradient: n.likelihood[0]}, lo, hi, scale)
	apply(u, kernel.Likelihood{G: n.likelihood[0]}, noise)
	return nil
}

// At evaluates derivatives at linear combinations, as integrators.FusedForce
// asks for it.
func (n *Net) At(x []float64, xs []kernel.Summand, v []float64, vs []kernel.Summand, lo, hi int, scale float64) (gradient, product kernel.Summand) {
	check(n, lo, hi, x)
	if n.float32 != nil {
		return n.float32.at(x, xs, v, vs, lo, hi, scale)
	}
	e, o := n.arranged(), operands[float64]{theta: x, gradient: n.likelihood[0]}
	e.set.Combine(x, nil, xs...)
	if v != nil {
		e.set.Combine(v, nil, vs...)
		o.v, o.product = v, n.likelihood[1]
	}
	e.derive(o, lo, hi, scale)
	return kernel.Summand{X: n.likelihood[0], Prior: x}, kernel.Summand{X: n.likelihood[1], Prior: v}
}

func isZero(c kernel.Coef) bool { return c.All == 0 && c.Each == nil }

// apply carries out an update with the likelihood's gradient.
func apply(u *kernel.Update, l kernel.Likelihood, noise Noise) {
	u.SetLikelihood(l)
	if noise == nil {
		u.Apply(nil)
	} else {
		noise.Update(u)
	}
	u.SetLikelihood(kernel.Likelihood{})
}
