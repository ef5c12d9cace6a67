package bench

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"hambench/integrators"
	"hambench/internal/random"
)

// calibrationRows are the batch sizes at which steps are timed, beside the
// full batch.
var calibrationRows = []int{8, 64}

// Calibrate measures the steps of every data set and precision in the
// experiments on this machine, with as many chains at once as a run would have, in about the
// given time: leapfrog for gradients, mt3 for Hessian-vector products.
func Calibrate(ctx context.Context, src Source, exps []Experiment, workers int, budget time.Duration) (CostModel, error) {
	m := CostModel{Problems: make(map[Timed]KernelTimes)}
	var todo []Cell
	for _, e := range exps {
		for _, c := range e.Cells {
			known := slices.ContainsFunc(todo, func(t Cell) bool { return t.Dataset == c.Dataset && t.Precision == c.Precision })
			if !known && (c.Model == "bnn" || c.Model == "linear") { // the others cost nothing
				todo = append(todo, c)
			}
		}
	}
	points := len(todo) * (2*(len(calibrationRows)+1) + 1)
	cal := calibration{ctx: ctx, src: src, workers: max(workers, 1), each: budget / time.Duration(max(points, 1))}
	for _, c := range todo {
		k, err := cal.times(c)
		if err != nil {
			return CostModel{}, err
		}
		m.Problems[Timed{c.Dataset, c.Precision}] = k
	}
	return m, nil
}

type calibration struct {
	ctx     context.Context
	src     Source
	workers int
	each    time.Duration // per measurement
}

// times measures the problem of a cell.
func (m calibration) times(c Cell) (k KernelTimes, err error) {
	if k.Noise, err = m.measure(c, noiseOnly); err != nil {
		return k, err
	}
	p, _ := LookupProblem(c.Dataset)
	for _, size := range append(slices.Clone(calibrationRows), Full) {
		batches := Batches(p.Rows, size)
		if size != Full && batches == 1 {
			continue
		}
		leapfrog, err := m.measure(c, m.kernel("leapfrog", batches))
		if err != nil {
			return k, err
		}
		mt3, err := m.measure(c, m.kernel("mt3", batches))
		if err != nil {
			return k, err
		}
		gradient := max(leapfrog-k.Noise, 0)
		k.Rows = append(k.Rows, float64(p.Rows)/float64(batches))
		k.Gradient = append(k.Gradient, gradient)
		// A step of mt3 is three gradients, two normals and one product.
		k.Product = append(k.Product, max(mt3-3*gradient-2*k.Noise, 0))
	}
	return k, nil
}

// repeat does something n times.
type repeat func(n int) error

// measure returns the seconds of one core that one run takes while all
// workers are busy with the same. prepare is called once per worker.
func (m calibration) measure(c Cell, prepare func(c Cell, in Inputs) (repeat, error)) (float64, error) {
	times, errs := make([]float64, m.workers), make([]error, m.workers)
	var group sync.WaitGroup
	for w := range m.workers {
		group.Go(func() {
			var in Inputs
			var run repeat
			if in.Target, in.Plane, errs[w] = m.src.Target(m.ctx, c.Dataset, c.Split, c.Model, c.Precision); errs[w] != nil {
				return
			}
			if run, errs[w] = prepare(c, in); errs[w] == nil {
				times[w], errs[w] = timed(run, m.each)
			}
		})
	}
	group.Wait()
	var sum float64
	for w, t := range times {
		if errs[w] != nil {
			return 0, errs[w]
		}
		sum += t / float64(m.workers)
	}
	return sum, nil
}

// seriesTime is how long a series of runs should take: long against the
// clock's resolution, and short enough to fall between the time slices of
// other programs most of the time.
const seriesTime = time.Millisecond

// timed returns the seconds per run of the fastest series within the limit:
// what disturbs a measurement only adds to it.
func timed(run repeat, limit time.Duration) (float64, error) {
	best := math.Inf(1)
	for n, start := 1, time.Now(); ; {
		begin := time.Now()
		if err := run(n); err != nil {
			return 0, err
		}
		took := time.Since(begin)
		best = min(best, took.Seconds()/float64(n))
		if took < seriesTime/2 {
			n *= 2
		}
		if time.Since(start)+took > limit {
			return best, nil
		}
	}
}

// frozenStep is a step so small that the chain stays where it is, wherever
// that is: a prior draw may be far from stability.
const frozenStep = 1e-12

// kernel makes a chain of the named integrator on the cell's problem.
func (m calibration) kernel(integrator string, batches int) func(Cell, Inputs) (repeat, error) {
	return func(c Cell, in Inputs) (repeat, error) {
		c.Integrator, c.Inner, c.Friction, c.Batches, c.Scheme, c.Step = integrator, 1, paperFriction, batches, "reshuffle", frozenStep
		sampler, err := newSampler(c, in)
		if err != nil {
			return nil, err
		}
		z := integrators.NewState(in.Target.Dim())
		random.New(0, random.StreamStart).Normal(z.Theta)
		in.Target.DrawPrior(z.Theta)
		return func(n int) error { return sampler.Advance(m.ctx, z, n) }, nil
	}
}

// noiseOnly is a pass over the state that makes one normal per parameter.
func noiseOnly(_ Cell, in Inputs) (repeat, error) {
	s := random.New(0, random.StreamNoise)
	z := integrators.NewState(in.Target.Dim())
	u := integrators.Update{Theta: z.Theta, R: z.R}
	u.P.All, u.Q.All, u.S.All = 1, 0.5, 1
	return func(n int) error {
		for range n {
			s.Update(&u)
		}
		return nil
	}, nil
}
