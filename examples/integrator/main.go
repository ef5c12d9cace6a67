// Command integrator puts a sampler of its own through hambench: Langevin
// dynamics with memory, which has a parameter and an auxiliary variable. Its
// orders are decided exactly, and a sweep compares it with leapfrog.
//
// The friction does not act on the momentum r but on a second variable s, of
// the same length, with which r exchanges energy at the rate λ:
//
//	dθ = M⁻¹r dt,  dr = −∇U dt + λs dt,  ds = −λr dt − C M⁻¹s dt + √(2C) dW.
//
// The stationary density is exp(−U(θ) − ½rᵀM⁻¹r − ½sᵀM⁻¹s): θ and r have the
// law that they have without memory (Ceriotti, Bussi & Parrinello 2010).
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/floats"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/certify"
	"hambench/chain"
	"hambench/figures"
	"hambench/integrators"
	"hambench/models"
	"hambench/models/datasets"
)

// memory describes the scheme: what it claims, which tests and certify hold it
// to, its parameter, and its auxiliary variable, which starts at 0.
func memory() integrators.Integrator {
	return integrators.Define(integrators.Integrator{
		Name:  "memory",
		About: "generalised Langevin dynamics, one memory variable a coordinate, splitting OVABAVO",
		Claims: integrators.Claims{
			WeakOrder: 2, ErgodicOrder: 2, PositionOrder: 2,
			Source: "Leimkuhler & Sachs 2022, with the friction on s alone",
		},
		Needs: integrators.Needs{Gradients: 1, Normals: 2},
		Parameters: []integrators.Parameter{
			{Name: "coupling", About: "λ, the rate at which r and s exchange energy, per unit of time", Default: 10, Low: 0.01, High: 100},
		},
		Variables: func(dim int, _ integrators.Params) []integrators.Variable {
			return []integrators.Variable{{Name: "s", Start: make([]float64, dim)}}
		},
	}, newMemory)
}

// step is a symmetric splitting: half a step of O (friction and noise on s), V
// (the exchange, a rotation of r and s), A (drift), a whole kick B, and back.
type step struct {
	kick       float64
	cos, sin   float64   // of the rotation's angle
	drift      []float64 // per coordinate, as the next two: M is diagonal
	decay, std []float64
	g, xi      []float64 // scratch: a step allocates nothing
}

func newMemory(dim int, p integrators.Params) (kernel, refresh integrators.Stepper) {
	half := p.Step / 2
	s := &step{kick: p.Step, g: make([]float64, dim), xi: make([]float64, dim)}
	s.sin, s.cos = math.Sincos(p.Values["coupling"] * half)
	for i := range dim {
		m := 1.0 // the coordinate's inverse mass
		if p.InvMass != nil {
			m = p.InvMass[i]
		}
		s.drift = append(s.drift, m*half)
		s.decay = append(s.decay, math.Exp(-p.Friction*m*half))
		s.std = append(s.std, math.Sqrt(-math.Expm1(-2*p.Friction*m*half)/m))
	}
	return s, nil
}

// Step runs one step. What the scheme adds to the phase space stands in z.Aux.
func (s *step) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	memory := z.Aux[0]
	s.friction(memory, n)
	s.exchange(z.R, memory)
	s.move(z)
	f.Gradient(s.g, z.Theta)
	floats.AddScaled(z.R, -s.kick, s.g)
	s.move(z)
	s.exchange(z.R, memory)
	s.friction(memory, n)
}

func (s *step) friction(memory []float64, n integrators.Noise) {
	n.Normal(s.xi)
	for i, x := range s.xi {
		memory[i] = s.decay[i]*memory[i] + s.std[i]*x
	}
}

func (s *step) exchange(r, memory []float64) {
	for i := range r {
		r[i], memory[i] = s.cos*r[i]+s.sin*memory[i], s.cos*memory[i]-s.sin*r[i]
	}
}

func (s *step) move(z *integrators.State) {
	for i, r := range z.R {
		z.Theta[i] += s.drift[i] * r
	}
}

// decide prints the orders of the scheme's exact ergodic errors.
func decide(ctx context.Context, w io.Writer) ([]certify.Row, error) {
	schemes, err := certify.Schemes("full", "reshuffle", "replacement")
	if err != nil {
		return nil, err
	}
	rows, err := certify.Run(ctx, certify.Options{
		Problem: certify.Builtin()[0], Integrators: []integrators.Integrator{memory()}, Schemes: schemes,
		Values: map[string]float64{"coupling": 3},
	})
	if err != nil {
		return nil, err
	}
	return rows, certify.WriteTable(w, rows)
}

// question is the study, as a file states it.
const question = `
title = "Langevin dynamics with memory beside leapfrog"
[vary]
step = [0.02, 0.05, 0.1]
batch = [32, "full"]
integrator = ["leapfrog", "memory", {name = "memory", coupling = 20}]
[fix]
data = "linear"
samples = 100
`

// compare runs chains of the scheme, with two couplings, and of leapfrog, and
// draws their distances to the posterior.
func compare(ctx context.Context, w io.Writer, dir string) error {
	source := models.NewSource(nil, &datasets.Resolver{Offline: true})
	chains := chain.Registries{Integrators: append(integrators.Builtin(), memory())}
	file, err := bench.Parse("memory", []byte(question), bench.Parts{Chains: chains})
	if err != nil {
		return err
	}
	study, err := file.Study(bench.Profile{})
	if err != nil {
		return err
	}
	plans, err := (&bench.Keys{Source: source, Chains: chains}).Resolve(ctx, "", []bench.Study{study})
	if err != nil {
		return err
	}
	s, err := store.Open(filepath.Join(dir, "store"), sweep.Here())
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := (&sweep.Runner{Store: s, Source: source, Parts: file.Parts, Made: sweep.MadeHere()}).Run(ctx, plans); err != nil {
		return err
	}
	out, err := figures.Drawer{Results: bench.Results{Store: s}, Dir: dir}.Draw(plans[0])
	if err != nil {
		return err
	}
	fmt.Fprint(w, out.Text)
	return nil
}

func main() {
	dir := "out-integrator"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	ctx := context.Background()
	if _, err := decide(ctx, os.Stdout); err != nil {
		log.Fatal(err)
	}
	if err := compare(ctx, os.Stdout, dir); err != nil {
		log.Fatal(err)
	}
	fmt.Println("figure:", filepath.Join(dir, "memory.png"))
}
