package integrators

import (
	"math"
	"slices"
)

// The parameters of psgld.
const (
	psgldMemory   = "alpha"
	psgldLeast    = "epsilon"
	psgldGradient = "gamma"
)

var psgldIntegrator = Define(Integrator{
	Name:  "psgld",
	About: "sgld with a preconditioner by the running mean of squared gradients (RMSProp)",
	Claims: Claims{
		WeakOrder: 1, ErgodicOrder: 1, PositionOrder: 1,
		Source: "Li et al. 2016, algorithm 1, with squares of ∇U; not at small steps",
	},
	Needs:        Needs{Gradients: 1, Normals: 1},
	PositionOnly: true,
	Nonlinear:    true,
	Parameters: []Parameter{{
		Name: psgldMemory, About: "α, the share of the mean of squares that a step keeps",
		Default: 0.99, Low: 0, High: 1 - 1e-9,
	}, {
		Name: psgldLeast, About: "ε, added to the root of the mean of squares", Default: 1e-5,
		Low: 1e-12, High: 1e12,
	}, {
		Name: psgldGradient, About: "1 adds the divergence term Γ, which takes a " +
			"Hessian-vector product, and is a share 1 − α of what small steps need; 0 leaves " +
			"it out, as is usual", High: 1,
		Needs: Needs{HessianVectors: 1, Normals: 1},
	}},
	Variables: func(dim int, _ Params) []Variable {
		return []Variable{{Name: "v", Start: slices.Repeat([]float64{1}, dim), Positive: true}}
	},
}, func(dim int, p Params) (Stepper, Stepper) { return newPSGLD(dim, p), nil })

// psgld is the scheme of Li et al., but that v averages squares of g = ∇U(θ), of all N rows and
// with the prior, where theirs averages those of the mean gradient of a row's log-likelihood: but
// for the prior their step ε and their λ are h = Nε/2 and epsilon = Nλ. The order is what is
// usually said of it: as h falls at a fixed α the law of one batch of all data tends to
// e^{−U} Π(|∂ᵢU| + epsilon) where U is a sum of functions of one coordinate each, as in one
// dimension, where certify finds it. Of coupled coordinates that product is not stationary, and
// no closed form is known. With g,
//
//	v⁺ = αv + (1 − α)g²,   G = M⁻¹/(ε + √v⁺)
//	θ⁺ = θ − hGg + hΓ + √(2hG) ξ
//	Γ  = ∂G/∂θ = −M⁻¹(1 − α)g∘diag(∇²U)/(√v⁺(ε + √v⁺)²)   at the old v.
//
// The diagonal of the Hessian is taken by one product with random signs z, z∘∇²U z, whose mean it
// is (Hutchinson 1990); in one dimension it is exact.
type psgld struct {
	p    Params
	kick Update    // with θ in the place of r; its A and S are set at every step
	z    []float64 // random signs
	hz   []float64 // ∇²U z; nil without Γ
}

func newPSGLD(dim int, p Params) *psgld {
	v := vectors(5, dim)
	s := &psgld{p: p, kick: Update{G: v[0], P: one, A: Coef{Each: v[1]}, Q: one,
		S: Coef{Each: v[2]}}}
	if p.Values[psgldGradient] != 0 {
		s.z, s.hz = v[3], v[4]
	}
	return s
}

func (s *psgld) Step(z *State, f Force, n Noise) {
	h, v, g := s.p.Step, z.Aux[0], s.kick.G
	f.Gradient(g, z.Theta)
	if s.hz != nil {
		n.Normal(s.z)
		for i, x := range s.z {
			// The sign of a normal is a fair coin, so that a noise hands out normals alone.
			s.z[i] = math.Copysign(1, x)
		}
		NeedHessian(f).HessianVector(s.hz, z.Theta, s.z)
	}
	alpha, least := s.p.Values[psgldMemory], s.p.Values[psgldLeast]
	for i, x := range g {
		// v⁺ first: the step's own gradient is part of its preconditioner.
		v[i] = alpha*v[i] + (1-alpha)*x*x
		root := math.Sqrt(v[i])
		at := (Coef{All: 1, Each: s.p.InvMass}).At(i) / (least + root)
		s.kick.A.Each[i], s.kick.S.Each[i] = -h*at, math.Sqrt(2*h*at)
		// Γ is added to the gradient: θ moves by −hG(g − Γ/G). Where v is 0 so is g, and Γ with it.
		if s.hz != nil && root > 0 {
			g[i] += s.p.Values[psgldGradient] * (1 - alpha) * x * s.z[i] * s.hz[i] /
				(root * (least + root))
		}
	}
	s.kick.R = z.Theta
	n.Update(&s.kick)
}
