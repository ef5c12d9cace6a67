package sweep

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"hambench/bench"
	"hambench/chain"
	"hambench/models"
	"hambench/oracle"
)

// Calibrate measures the kernels of every integrator, data set, precision and
// batch size in the plans, and of their references, on this machine, with as
// many chains at once as a run would have, in about the given time. It also
// estimates the stable steps of what it measures.
func Calibrate(ctx context.Context, src Source, r chain.Registry, plans []bench.Plan, workers int, budget time.Duration) (CostModel, error) {
	todo := kernelsOf(plans)
	cal := calibration{ctx: ctx, src: src, chains: r, workers: max(workers, 1), each: budget / time.Duration(max(len(todo), 1))}
	m := CostModel{Kernels: make(map[Timed]float64), Stable: make(map[Stiffness]float64)}
	for at, c := range todo {
		outer, err := cal.measure(c)
		if err != nil {
			return CostModel{}, err
		}
		m.Kernels[at] = outer / float64(c.Inner)
	}
	return m, cal.stableSteps(m.Stable, todo)
}

// cheap is the number of parameters below which chains cost so little that
// their kernels are not worth timing.
const cheap = 100

// kernelsOf returns a cell for each kind of kernel that Estimates may ask for
// and that is worth timing.
func kernelsOf(plans []bench.Plan) map[Timed]bench.Cell {
	todo := make(map[Timed]bench.Cell)
	add := func(c bench.Cell, inner int) {
		c.Inner = inner
		todo[timedOf(c)] = c
	}
	var size CostModel
	for _, p := range plans {
		for _, j := range p.Jobs() {
			if _, n := size.size(j.Cell); j.Cell.Kernels() == 0 || n < cheap {
				continue
			}
			add(j.Cell, 1)
			if j.Cell.Inner > 1 {
				add(j.Cell, manyInner)
			}
		}
		for _, r := range p.References {
			c := referenceCell(r.Spec)
			if _, ok := todo[timedOf(c)]; !ok {
				add(c, 1)
			}
		}
	}
	return todo
}

type calibration struct {
	ctx     context.Context
	src     Source
	chains  chain.Registry
	workers int
	each    time.Duration // per measurement
}

// repeat does something n times.
type repeat func(n int) error

// measure returns the seconds of one core that an outer step takes while all
// workers are busy with the same.
func (m calibration) measure(c bench.Cell) (float64, error) {
	times, errs := make([]float64, m.workers), make([]error, m.workers)
	var group sync.WaitGroup
	for w := range m.workers {
		group.Go(func() {
			var run repeat
			if run, errs[w] = m.steps(c); errs[w] == nil {
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

// timed returns the seconds per run of the median series within the limit:
// not of the fastest, as what disturbs a measurement will disturb the run.
func timed(run repeat, limit time.Duration) (float64, error) {
	var series []float64
	for n, start := 1, time.Now(); ; {
		begin := time.Now()
		if err := run(n); err != nil {
			return 0, err
		}
		took := time.Since(begin)
		last := time.Since(start)+took > limit
		if took >= seriesTime/2 || last {
			series = append(series, took.Seconds()/float64(n))
		} else {
			n *= 2
		}
		if last {
			slices.Sort(series)
			return series[len(series)/2], nil
		}
	}
}

// frozenStep is a step so small that the chain stays where it is, wherever
// that is: a prior draw may be far from stability.
const frozenStep = 1e-12

// steps makes a chain of the cell's integrator on its problem, and ends its
// adaptation.
func (m calibration) steps(c bench.Cell) (repeat, error) {
	t, err := m.src.Target(m.ctx, c.Dataset, c.Split, c.Model, models.Options{Precision: c.Precision})
	if err != nil {
		return nil, err
	}
	c.Friction, c.Step = 1, frozenStep
	sampler, err := m.chains.New(t, spec(c))
	if err != nil {
		return nil, err
	}
	z := sampler.Start(0, nil)
	if err := sampler.Run(m.ctx, z, chain.Plan{BurnIn: 1}, nil); err != nil {
		return nil, err
	}
	return func(n int) error { return sampler.Advance(m.ctx, z, n) }, nil
}

// stableSteps estimates the stable steps of every data set and model, for all
// numbers of batches of its cells at once, as many data sets at a time as there
// are workers.
func (m calibration) stableSteps(stable map[Stiffness]float64, todo map[Timed]bench.Cell) error {
	batches, precision := make(map[Stiffness][]int), make(map[Stiffness]string) // by data set and model
	for _, c := range todo {
		at := Stiffness{Dataset: c.Dataset, Model: c.Model}
		if c.Step == 0 { // a reference's chains find their own
			continue
		}
		if !slices.Contains(batches[at], c.Batches) {
			batches[at] = append(batches[at], c.Batches)
		}
		if p, ok := precision[at]; !ok || c.Precision < p {
			precision[at] = c.Precision // float32 before float64: it is as good, and faster
		}
	}
	var mu sync.Mutex
	var failed error
	var group sync.WaitGroup
	free := make(chan struct{}, m.workers)
	for at, ks := range batches {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			steps, err := m.stableStepsOf(at, precision[at], ks)
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
			for i, h := range steps {
				at.Batches = ks[i]
				stable[at] = h
			}
		})
	}
	group.Wait()
	return failed
}

func (m calibration) stableStepsOf(at Stiffness, precision string, batches []int) ([]float64, error) {
	t, err := m.src.Target(m.ctx, at.Dataset, 0, at.Model, models.Options{Precision: precision})
	if err != nil {
		return nil, err
	}
	return oracle.StableSteps(m.ctx, t, batches...)
}
