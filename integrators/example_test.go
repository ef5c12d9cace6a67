package integrators_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"hambench/integrators"
)

// doubleWell is the force of U(θ) = Σ (θ_i² − 1)²/2.
type doubleWell struct{}

func (doubleWell) Gradient(g, theta []float64) {
	for i, x := range theta {
		g[i] = 2 * x * (x*x - 1)
	}
}

// normals is a noise of the standard library's generator.
type normals struct{ *rand.Rand }

func (n normals) Normal(dst []float64) {
	for i := range dst {
		dst[i] = n.NormFloat64()
	}
}

func (n normals) Update(u *integrators.Update) {
	xi := make([]float64, len(u.R))
	n.Normal(xi)
	u.Apply(xi)
}

// A force and a noise of one's own drive any scheme of the registry. Here the
// splitting BAOAB samples a double well in one dimension. The estimate has a standard error of
// 0.007 over seeds: that it is rounded to another number has the probability 1e-9.
func Example() {
	method, err := integrators.Builtin().Lookup("baoab")
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := method.New(1, integrators.Params{Step: 0.1, Friction: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	z, noise := in.NewState(), normals{rand.New(rand.NewPCG(1, 2))}
	force := func() integrators.Force { return doubleWell{} }

	const samples = 100_000
	var square float64
	for range samples {
		in.OuterSteps(z, force, noise, 1)
		square += z.Theta[0] * z.Theta[0] / samples
	}
	fmt.Printf("E θ² is 0.89, estimated %.1f\n", square)
	// Output: E θ² is 0.89, estimated 0.9
}

// A scheme of one's own is a Method that Define completes: Define checks the
// parameters, the common ones and the scheme's own. This one is a leapfrog
// step with friction from an auxiliary variable, a Nosé–Hoover thermostat.
func ExampleDefine() {
	method := integrators.Define(integrators.Integrator{
		Name: "nose-hoover", About: "leapfrog with a thermostat",
		Needs:      integrators.Needs{Gradients: 1},
		Parameters: []integrators.Parameter{{Name: "mass", About: "of the thermostat", Default: 1, Low: 0.01, High: 100}},
		Variables: func(_ int, p integrators.Params) []integrators.Variable {
			return []integrators.Variable{{Name: "friction", Start: []float64{p.Friction}}}
		},
	}, func(dim int, p integrators.Params) (kernel, refresh integrators.Stepper) {
		half := p.Drift(p.Step / 2)
		return &noseHoover{
			p: p,
			leap: integrators.NewKick(dim, half, integrators.Update{
				P: integrators.Coef{All: 1}, A: integrators.Coef{All: -p.Step}, Q: integrators.Coef{All: 1}, D: half,
			}),
		}, nil
	})
	_, err := method.New(2, integrators.Params{Step: 0.1, Friction: 1, Values: map[string]float64{"mass": 0}})
	fmt.Println(err)

	in, err := method.New(2, integrators.Params{Step: 0.1, Friction: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	z := in.NewState()
	z.R[0] = 2
	in.OuterSteps(z, func() integrators.Force { return doubleWell{} }, nil, 10)
	fmt.Printf("the friction went from 1 to %.3f\n", z.Aux[0][0])
	// Output:
	// nose-hoover: mass = 0: want a number from 0.01 to 100
	// the friction went from 1 to 0.999
}

type noseHoover struct {
	p    integrators.Params
	leap *integrators.Kick
}

func (s *noseHoover) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	s.leap.Step(z, f, n)
	friction, kinetic := &z.Aux[0][0], 0.0
	for _, r := range z.R {
		kinetic += r * r / float64(len(z.R))
	}
	*friction += s.p.Step * (kinetic - 1) / s.p.Values["mass"]
	for i := range z.R {
		z.R[i] *= math.Exp(-s.p.Step * *friction)
	}
}
