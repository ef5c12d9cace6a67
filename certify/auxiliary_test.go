package certify

import (
	"context"
	"math"
	"slices"
	"testing"

	"hambench/integrators"
)

// coloured moves θ by noise that remembers: s ← as + √(1−a²)ξ, θ ← θ − h∇U + fs,
// with momenta drawn anew. Where ∇U = θ, that is θ ← eθ + fs with e = 1 − h; since s
// has variance 1 and correlations a^k, θ has the variance
// f²(1 + ea)/((1 − ea)(1 − e²)). f makes it (1 + h²)².
type coloured struct{ h, a, f float64 }

func newColoured(h float64) coloured {
	a, e := 1-h/2, 1-h
	return coloured{h, a, (1 + h*h) * math.Sqrt((1-e*a)*(1-e*e)/(1+e*a))}
}

func (c coloured) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	g, xi, s := make([]float64, len(z.R)), make([]float64, len(z.R)), z.Aux[0]
	f.Gradient(g, z.Theta)
	n.Normal(xi)
	n.Normal(z.R)
	for i, x := range xi {
		s[i] = c.a*s[i] + math.Sqrt(1-c.a*c.a)*x
		z.Theta[i] += c.f*s[i] - c.h*g[i]
	}
}

// What a step leaves in its auxiliary variables is there at the next one,
// whatever the batch, and where they start does not count.
func TestAuxiliaryVariablesArePartOfTheChain(t *testing.T) {
	m := integrators.Define(integrators.Integrator{
		Name:   "coloured",
		Claims: integrators.Claims{WeakOrder: 1, ErgodicOrder: 2, PositionOrder: 2, Source: "here"},
		Needs:  integrators.Needs{Gradients: 1, Normals: 2},
		Variables: func(dim int, _ integrators.Params) []integrators.Variable {
			return []integrators.Variable{{Name: "s", Start: slices.Repeat([]float64{5}, dim)}}
		},
	}, func(_ int, p integrators.Params) (kernel, refresh integrators.Stepper) {
		return newColoured(p.Step), nil
	})
	o := Options{Integrators: []integrators.Integrator{m}, Steps: []float64{0.2, 0.05}}
	o.Problem = &Problem{Kind: Gaussian, Friction: 1, gaussian: []*affineForce{
		newAffineForce([]float64{1, 0, 0, 1}, []float64{0, 0}), newAffineForce([]float64{1, 0, 0, 1}, []float64{0, 0}),
	}}
	rows, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		for _, name := range []string{"theta.cov", "joint.cov"} {
			got := r.observable(t, name)
			for i, h := range o.Steps {
				want := (1+h*h)*(1+h*h) - 1
				// Sums of some hundred terms of order 1, over the chain's forgetting.
				if d := math.Abs(float64(got.Errors[i]) - want); !(d < 1e-12 && d <= float64(got.Resolution[i])) {
					t.Errorf("%s: %s at h = %v is off by %v ± %v, want %v", r.Scheme, name, h, got.Errors[i], got.Resolution[i], want)
				}
			}
			if got.Order != 2 {
				t.Errorf("%s: %s is of order %v, want 2", r.Scheme, name, got.Order)
			}
		}
	}
	o.Problem = scalarBuiltin()
	if _, err := Run(context.Background(), o); err == nil {
		t.Error("a scalar problem was taken")
	}
}
