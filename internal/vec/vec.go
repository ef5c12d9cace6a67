// Package vec holds the element-wise vector updates of a sampler's step.
//
// All vectors of one call have the same length; the functions work in place
// and allocate nothing.
package vec

// Coef is a coefficient of an update: the same number for every coordinate,
// or, where Each is not nil, one number per coordinate (a diagonal mass
// matrix).
type Coef struct {
	All  float64
	Each []float64
}

// At returns the coefficient of coordinate i.
func (c Coef) At(i int) float64 {
	if c.Each != nil {
		return c.Each[i]
	}
	return c.All
}

// Update is one pass over a state: a kick, a drift, an exact or explicit
// friction with noise, and a second drift,
//
//	r ← P∘r + A∘g,   θ ← θ + B∘r,   r ← Q∘r + S∘ξ,   θ ← θ + D∘r.
//
// Every update of the integrators between two gradients has this form, so a
// generator that makes ξ inside the pass touches memory once. G may be nil
// (A∘g is then left out); Theta may be nil (no drift).
type Update struct {
	Theta, R, G      []float64
	P, A, B, Q, S, D Coef
}

// Apply carries out the update with the given noise vector; a nil xi stands
// for zero noise.
func (u *Update) Apply(xi []float64) {
	for i, r := range u.R {
		r *= u.P.At(i)
		if u.G != nil {
			r += u.A.At(i) * u.G[i]
		}
		var x float64
		if u.Theta != nil {
			x = u.Theta[i] + u.B.At(i)*r
		}
		r *= u.Q.At(i)
		if xi != nil {
			r += u.S.At(i) * xi[i]
		}
		if u.Theta != nil {
			u.Theta[i] = x + u.D.At(i)*r
		}
		u.R[i] = r
	}
}

// AddScaled adds a∘x to y.
func AddScaled(y []float64, a Coef, x []float64) {
	for i, v := range x {
		y[i] += a.At(i) * v
	}
}
