package integrators

import (
	"math"
	"slices"

	"hambench/usage"
)

// counted is a force that counts what it is asked for.
type counted struct {
	Force
	gradients, products int
}

func (c *counted) Gradient(g, theta []float64) {
	c.gradients++
	c.Force.Gradient(g, theta)
}

func (c *counted) HessianVector(hv, theta, v []float64) {
	c.products++
	NeedHessian(c.Force).HessianVector(hv, theta, v)
}

// Affine is that of the force, which the exact flow reads instead of asking.
func (c *counted) Affine() *Affine { return needAffine(c.Force).Affine() }

// CheckNeeds takes an outer step of the integrator in two dimensions. It is a usage error if
// that takes another number of gradients, Hessian-vector products or normals than its Needs
// say, by which costs are counted. p has the integrator's own parameters, and says whether the
// friction is infinite. Step and friction are otherwise our own: where a step damps the
// momentum to nothing, factors underflow and their normals are not drawn, and a flow over 10¹⁰
// times that of the force has no noise that float64 can hold.
func (in Integrator) CheckNeeds(p Params) error {
	const dim = 2
	p.Inner, p.InvMass, p.Step = 1, nil, 0.1
	if !math.IsInf(p.Friction, 1) {
		p.Friction = 1
	}
	made, err := in.New(dim, p)
	if err != nil {
		return err
	}
	f, normals, want := &counted{Force: made.trialForce()}, 0, in.needs(made.Params.Values)
	noise := Replay(func(length int) []float64 { // vectors of one fixed number
		normals++
		return slices.Repeat([]float64{0.5}, length)
	})
	made.OuterSteps(made.NewState(), func() Force { return f }, noise, 1)
	if f.gradients != want.Gradients || f.products != want.HessianVectors ||
		normals != want.Normals {
		return usage.Errorf("integrator %q takes %d gradients, %d Hessian-vector products and %d "+
			"normal vectors a step: its Needs say %d, %d and %d", in.Name, f.gradients,
			f.products, normals, want.Gradients, want.HessianVectors, want.Normals)
	}
	return nil
}

// needs are the integrator's with the values of its own parameters.
func (in Integrator) needs(values map[string]float64) Needs {
	n := in.Needs
	for _, p := range in.Parameters {
		if values[p.Name] != 0 {
			n.Gradients += p.Needs.Gradients
			n.HessianVectors += p.Needs.HessianVectors
			n.Normals += p.Needs.Normals
		}
	}
	return n
}
