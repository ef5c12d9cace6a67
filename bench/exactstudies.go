package bench

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"hambench/certify"
	"hambench/integrators"
)

// What the claims need beyond the orders.
var (
	// InnerSteps are the N_l of lietrotter; the Gaussian problem has 4 batches.
	InnerSteps = []int{1, 2, 4, 8}
	// LargeSteps reach up to the step of the paper's toy.
	LargeSteps = []float64{0.4, 0.2, 0.1}
	// Frictions are those of Theorem 1, on all built-in problems, with M = I and,
	// on the Gaussian one, with UnequalMass, the diagonal of M⁻¹.
	Frictions   = []float64{0.5, 2, 5}
	UnequalMass = []float64{0.5, 2}
	// WeakMethods are the integrators whose weak order the paper speaks of, and
	// those that it compares them with.
	WeakMethods = []string{"euler", "leapfrog", "rk2", "symmetric", "lietrotter", "mt3"}
	// BatchNumbers are the K of problems that differ in nothing else, at
	// BatchSteps: epochs from a small part of the target's period to two periods.
	BatchNumbers = []int{2, 4, 8, 14}
	BatchSteps   = []float64{0.8, 0.4, 0.2, 0.1, 0.05, 0.025, 0.0125}
)

// orders is every integrator under every scheme on the built-in problems, a
// job an integrator and problem.
func orders() Study {
	return Study{
		ID: "orders", Title: "Exact ergodic error of every integrator under every mini-batch scheme, and the fitted orders",
		Exact: exactOrders(),
	}
}

func exactOrders() []ExactJob {
	var schemes []string
	for _, s := range certify.ExactSchemes() {
		schemes = append(schemes, s.Name)
	}
	var jobs []ExactJob
	for _, p := range certify.Builtin() {
		for _, m := range certify.Compatible(p, integrators.Builtin()) {
			jobs = append(jobs, ExactJob{Purpose: OfOrders, Exact: newExact(p, m.Name, schemes...)})
		}
	}
	return jobs
}

// exactBottleneck is the paper's Figure 1 without noise: integrators of order
// 1, 2 and 3 in every observable on a small Bayesian linear model, with
// mini-batches in random orders and with the full batch, from large steps to
// small ones; and leapfrog, of order 1 too, whose θ-covariance is exact there
// with the full batch.
func exactBottleneck() []ExactJob {
	var steps []float64
	for h := 0.16; h > 6e-4; h /= math.Sqrt2 {
		steps = append(steps, h)
	}
	var jobs []ExactJob
	for _, name := range []string{"euler", "leapfrog", "lietrotter", "mt3"} {
		e := newExact(certify.BottleneckProblem(), name, "reshuffle", "full")
		e.Steps = steps
		jobs = append(jobs, ExactJob{Purpose: OfBottleneck, Exact: e})
	}
	return jobs
}

// claims is the study that decides claims: it needs the exact errors of all
// the others and some of its own. What is sampled comes from the other studies.
func claims() Study {
	s := Study{ID: "claims", Title: "The claims of the paper: how each is tested, the number, the verdict"}
	s.Exact = append(exactOrders(), exactBottleneck()...)
	both := []string{"full", "reshuffle"}
	problems := make(map[string]*certify.Problem)
	for _, p := range certify.Builtin() {
		problems[p.Name] = p
	}
	add := func(purpose string, e Exact) { s.Exact = append(s.Exact, ExactJob{Purpose: purpose, Exact: e}) }
	for _, n := range InnerSteps {
		e := newExact(problems["gaussian"], "lietrotter", both...)
		e.Inner = n
		if n > 1 { // the orders hold N_l = 1
			add(OfInner, e)
		}
		e.Steps = LargeSteps
		add(OfLargeSteps, e)
	}
	for _, name := range []string{"gaussian", "scalar"} {
		e := newExact(problems[name], "mt3", "full")
		e.Values = map[string]float64{integrators.MT3Variance: 1}
		add(OfVariance, e)
		for _, c := range Frictions {
			p := *problems[name]
			p.Name, p.Friction = fmt.Sprintf("%s, C = %g", name, c), c
			add(OfFriction, newExact(&p, "mt3", "full"))
			if p.Kind == certify.Gaussian {
				p.Name += ", M ≠ I"
				e := newExact(&p, "mt3", "full")
				e.InvMass = UnequalMass
				add(OfFriction, e)
			}
		}
	}
	for _, name := range WeakMethods {
		e := newExact(problems["gaussian"], name, "full")
		e.OneStep = true
		add(OfWeak, e)
	}
	for _, k := range BatchNumbers {
		add(OfBatches, alternating(k))
	}
	for i := range closedForms {
		add(OfClosedForm, randomGaussian(uint64(i)))
	}
	e := newExact(problems["toy"], "exact", "full", "replacement", "reshuffle")
	e.Steps = LargeSteps
	add(OfLargeSteps, e)
	return s
}

// batch is a batch of a Gaussian problem as certify.ParseProblem reads it.
type batch struct {
	Precision [][]float64 `json:"precision"`
	Shift     []float64   `json:"shift"`
}

// newFlow is the job of the exact flow on a Gaussian problem.
func newFlow(name string, friction float64, batches []batch, schemes ...string) Exact {
	text, err := json.Marshal(struct {
		Kind     certify.Kind `json:"kind"`
		Friction float64      `json:"friction"`
		Batches  []batch      `json:"batches"`
	}{certify.Gaussian, friction, batches})
	if err != nil {
		panic(fmt.Sprintf("bench: %v", err)) // finite numbers
	}
	return Exact{Name: name, Problem: text, Integrator: "exact", Inner: 1, Schemes: schemes}
}

// alternating is a target N(0, 1) cut into k batches of precision 1.6 and 0.4
// in turn: the spread of the gradients does not depend on k.
func alternating(k int) Exact {
	var batches []batch
	for i := range k {
		batches = append(batches, batch{[][]float64{{1 + 0.6*float64(1-2*(i%2))}}, []float64{0}})
	}
	e := newFlow(fmt.Sprintf("K = %d", k), 1.5, batches, "reshuffle", "replacement")
	e.Steps = BatchSteps
	return e
}

// closedForms is how many random problems the closed form is compared on.
const closedForms = 10

// randomGaussian is a problem of a pinned seed: 1 to 3 positions, 2 to 6 batches
// of precision 0.2·I + GGᵀ/n, with n normal columns in G.
func randomGaussian(seed uint64) Exact {
	rng := rand.New(rand.NewPCG(seed, 62))
	d, k := 1+rng.IntN(3), 2+rng.IntN(5)
	batches := make([]batch, k)
	for b := range batches {
		p := make([][]float64, d)
		for i := range p {
			p[i] = make([]float64, d)
			p[i][i] = 0.2
			batches[b].Shift = append(batches[b].Shift, rng.NormFloat64())
		}
		for range d + 1 {
			column := make([]float64, d)
			for i := range column {
				column[i] = rng.NormFloat64() / math.Sqrt(float64(d+1))
			}
			for i, row := range p {
				floats.AddScaled(row, column[i], column)
			}
		}
		batches[b].Precision = p
	}
	return newFlow(fmt.Sprintf("random %d", seed+1), 0.5+2*rng.Float64(), batches, "reshuffle")
}
