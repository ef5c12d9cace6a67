package mlp

import "hambench/internal/kernel"

// Noise carries out updates with normals: an integrators.Noise, without its other method.
type Noise = interface{ Update(u *kernel.Update) }

// single computes derivatives in float32, for vectors of float64.
//
// Rounding a position to float32, and adding the prior's part, θ, to a
// gradient, cost a pass over the state each. Kick and At leave both to passes
// that read the state anyway.
type single struct {
	*engine[float32]
	// theta and v are the rounded arguments, gradient and product the results.
	theta, v, gradient, product []float32
	// next is the position of the next kick's gradient, which the last kick has left.
	next    []float32
	drifted []float64 // scratch
}

func newSingle(p *Problem, rows int) *single {
	e := newEngine[float32](p, rows)
	vector := func(n int) []float32 { return kernel.Aligned[float32](n) }
	n := e.dim
	return &single{
		engine: e,
		// Pairs read one number behind the last.
		theta: vector(n + 1), next: vector(n + 1),
		v: vector(n), gradient: vector(n), product: vector(n),
		drifted: kernel.Aligned[float64](n),
	}
}

// derive returns the gradient at theta and the product with v, those that the kind has, as
// terms of a combination: Scale × the likelihood's part over the rows, with the prior's, θ
// or v. In float32 the caller must have rounded theta and v into n.single.
func (n *Net) derive(k kind, theta, v []float64, r Rows) (gradient, product kernel.Summand) {
	gradient, product = kernel.Summand{Prior: theta}, kernel.Summand{Prior: v}
	if s := n.single; s != nil {
		o := operands[float32]{s.theta, s.v, s.gradient, s.product}
		s.engine.derive(k, o, r)
		gradient.Float32, product.Float32 = s.gradient, s.product
		return gradient, product
	}
	n.arranged().derive(k, operands[float64]{theta, v, n.gradient, n.product}, r)
	gradient.X, product.X = n.gradient, n.product
	return gradient, product
}

// Kick carries out a drift and an update with the gradient where it leads, as
// integrators.FusedForce asks for it, with Scale × the gradient over the rows.
// In float32 the update also drifts on, to the position of the next Kick's gradient; the
// Net itself is the ahead that says so.
func (n *Net) Kick(drift kernel.Coef, u *kernel.Update, noise Noise, ahead any, r Rows) any {
	n.check(r, u.Theta, u.R)
	s, still := n.single, drift.All == 0 && drift.Each == nil
	drifted := []kernel.Summand{{C: one, X: u.Theta}, {C: drift, X: u.R}}
	if s == nil {
		if !still {
			n.set.Combine(u.Theta, nil, drifted...)
		}
		n.derive(gradientOnly, u.Theta, nil, r)
		apply(u, kernel.Likelihood{G: n.gradient}, noise)
		return nil
	}
	switch {
	case ahead == any(n): // the last Kick has left s.next
	case still:
		n.set.Narrow(s.next, u.Theta)
	default:
		n.set.Combine(s.drifted, s.next, drifted...)
	}
	o := operands[float32]{theta: s.next, gradient: s.gradient}
	s.engine.derive(gradientOnly, o, r)
	apply(u, kernel.Likelihood{Float32: s.gradient, Next: s.next, Drift: drift}, noise)
	return n
}

// At evaluates derivatives at linear combinations, as integrators.FusedForce
// asks for it: the sum of xs is stored in x, and that of vs, unless v is nil, in v.
func (n *Net) At(x []float64, xs []kernel.Summand, v []float64, vs []kernel.Summand,
	r Rows) (gradient, product kernel.Summand) {
	n.check(r, x)
	var theta32, v32 []float32
	if s := n.single; s != nil {
		theta32, v32 = s.theta, s.v
	}
	n.set.Combine(x, theta32, xs...)
	if v == nil {
		return n.derive(gradientOnly, x, nil, r)
	}
	n.set.Combine(v, v32, vs...)
	return n.derive(gradientAndProduct, x, v, r)
}

// apply carries out an update with the likelihood's gradient, and without normals if
// noise is nil.
func apply(u *kernel.Update, l kernel.Likelihood, noise Noise) {
	u.SetLikelihood(l)
	if noise == nil {
		u.Apply(nil)
	} else {
		noise.Update(u)
	}
	u.SetLikelihood(kernel.Likelihood{})
}
