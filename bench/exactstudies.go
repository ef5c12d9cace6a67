package bench

import (
	"fmt"
	"math"

	"hambench/certify"
	"hambench/integrators"
)

// What the claims need beyond the orders.
var (
	// InnerSteps are the N_l of lietrotter; the Gaussian problem has 4 batches.
	InnerSteps = []int{1, 2, 4, 8}
	// LargeSteps reach up to the step of the paper's toy.
	LargeSteps = []float64{0.4, 0.2, 0.1}
	// Frictions are those of Theorem 1.
	Frictions = []float64{0.5, 2, 10}
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
// small ones. (leapfrog would not do: its θ-covariance is exact on a Gaussian
// with the full batch.)
func exactBottleneck() []ExactJob {
	var steps []float64
	for h := 0.16; h > 6e-4; h /= math.Sqrt2 {
		steps = append(steps, h)
	}
	var jobs []ExactJob
	for _, name := range []string{"euler", "lietrotter", "mt3"} {
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
		}
	}
	e := newExact(problems["toy"], "exact", "full", "replacement", "reshuffle")
	e.Steps = LargeSteps
	add(OfLargeSteps, e)
	return s
}
