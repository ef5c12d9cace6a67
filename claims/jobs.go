package claims

import (
	"context"
	"fmt"
	"math"
	"slices"

	"hambench/certify"
	"hambench/integrators"
	"hambench/minibatch"
)

// OrderJobs certify every integrator under every scheme on the built-in
// problems, one job an integrator and problem.
func OrderJobs() ([]Job, error) { return orderJobs(certify.Builtin()) }

func orderJobs(problems []*certify.Problem) ([]Job, error) {
	var jobs []Job
	for _, p := range problems {
		for _, m := range certify.Compatible(p, integrators.Builtin()) {
			j, err := newJob(certify.Options{Problem: p, Integrators: []integrators.Method{m}, Schemes: certify.ExactSchemes()})
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// BottleneckJob is Figure 1 without noise.
func BottleneckJob() (Job, error) {
	o, err := certify.BottleneckOptions()
	if err != nil {
		return Job{}, err
	}
	return newJob(o)
}

// What the claims need beyond the orders.
var (
	innerSteps = []int{1, 2, 4, 8}           // N_l; the Gaussian problem has 4 batches
	largeSteps = []float64{0.4, 0.2, 0.1}    // the toy's own step is the first
	frictions  = []float64{0.5, 2, 10}       // for Theorem 1
	reading    = "mt3 with Var(w2) = 1"      // name of the variant
	unitFactor = []float64{1, math.Sqrt(12)} // of w₁ and w₂
)

// variant is a call of the certifier in words.
type variant struct {
	problem string
	method  string
	inner   int
	steps   []float64
	schemes []string
	// friction takes the place of the problem's own, if it is not 0.
	friction float64
}

// extraJobs are the jobs of the claims beyond OrderJobs and BottleneckJob, on
// the named problems.
func extraJobs(problems ...string) ([]Job, error) {
	var jobs []Job
	for _, v := range variants() {
		if !slices.Contains(problems, v.problem) {
			continue
		}
		o, err := v.options()
		if err != nil {
			return nil, err
		}
		j, err := newJob(o)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

func variants() []variant {
	both := []string{"full", "reshuffle"}
	var out []variant
	for _, n := range innerSteps {
		if n > 1 { // the orders hold N_l = 1
			out = append(out, variant{problem: "gaussian", method: "lietrotter", inner: n, schemes: both})
		}
		out = append(out, variant{problem: "gaussian", method: "lietrotter", inner: n, steps: largeSteps, schemes: both})
	}
	for _, problem := range []string{"gaussian", "scalar"} {
		out = append(out, variant{problem: problem, method: reading, schemes: []string{"full"}})
		for _, c := range frictions {
			out = append(out, variant{problem: problem, method: "mt3", friction: c, schemes: []string{"full"}})
		}
	}
	return append(out, variant{problem: "toy", method: "exact", steps: largeSteps, schemes: []string{"full", "replacement", "reshuffle"}})
}

func (v variant) options() (certify.Options, error) {
	o := certify.Options{Steps: v.steps, Inner: v.inner}
	for _, p := range certify.Builtin() {
		if p.Name == v.problem {
			o.Problem = p
		}
	}
	if v.friction != 0 {
		o.Problem.Name, o.Problem.Friction = withFriction(v.problem, v.friction), v.friction
	}
	m, err := lookup(v.method)
	if err != nil {
		return o, err
	}
	o.Integrators = []integrators.Method{m}
	var schemes []minibatch.Method
	schemes, err = certify.Schemes(v.schemes...)
	o.Schemes = schemes
	return o, err
}

func withFriction(problem string, c float64) string { return fmt.Sprintf("%s, C = %g", problem, c) }

func lookup(name string) (integrators.Method, error) {
	if name != reading {
		return integrators.Builtin().Lookup(name)
	}
	m, err := integrators.Builtin().Lookup("mt3")
	if err != nil {
		return m, err
	}
	build := m.New
	m.Name = reading
	m.New = func(dim int, p integrators.Params) (*integrators.Integrator, error) {
		in, err := build(dim, p)
		if err == nil {
			in.Kernel = unitNoise{in.Kernel}
		}
		return in, err
	}
	return m, nil
}

// unitNoise is mt3 as the paper can be read: w₂ has variance 1, not 1/12.
type unitNoise struct{ integrators.Stepper }

func (s unitNoise) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	s.Stepper.Step(z, f, &alternating{Noise: n})
}

// alternating scales every second vector.
type alternating struct {
	integrators.Noise
	at int
}

func (a *alternating) Normal(dst []float64) {
	a.Noise.Normal(dst)
	for i := range dst {
		dst[i] *= unitFactor[a.at%2]
	}
	a.at++
}

// Jobs are all the jobs that the claims need.
func Jobs() ([]Job, error) {
	orders, err := OrderJobs()
	if err != nil {
		return nil, err
	}
	bottleneck, err := BottleneckJob()
	if err != nil {
		return nil, err
	}
	extra, err := extraJobs("gaussian", "scalar", "toy")
	return append(append(orders, bottleneck), extra...), err
}

// Certified computes the rows that the claims need, or finds them.
func (c *Cache) Certified(ctx context.Context, workers int) ([]certify.Row, error) {
	jobs, err := Jobs()
	if err != nil {
		return nil, err
	}
	return c.Rows(ctx, jobs, workers)
}
