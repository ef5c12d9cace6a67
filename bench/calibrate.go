package bench

import (
	"context"
	"slices"
	"sync"
	"time"

	"hambench/chain"
	"hambench/integrators"
	"hambench/noise"
)

// Calibrate measures the kernels of every integrator, data set, precision and
// batch size in the experiments, and of their references, on this machine, with
// as many chains at once as a run would have, in about the given time.
func Calibrate(ctx context.Context, src Source, exps []Experiment, workers int, budget time.Duration) (CostModel, error) {
	todo := kernelsOf(exps)
	cal := calibration{ctx: ctx, src: src, workers: max(workers, 1), each: budget / time.Duration(max(len(todo), 1))}
	m := CostModel{Kernels: make(map[Timed]float64)}
	for at, c := range todo {
		outer, err := cal.measure(c)
		if err != nil {
			return CostModel{}, err
		}
		m.Kernels[at] = outer / float64(c.Inner)
	}
	return m, nil
}

// kernelsOf returns a cell for each kind of kernel that Estimates may ask for
// and that is worth timing.
func kernelsOf(exps []Experiment) map[Timed]Cell {
	todo := make(map[Timed]Cell)
	add := func(c Cell, inner int) {
		c.Inner = inner
		todo[timedOf(c)] = c
	}
	for _, e := range exps {
		for _, c := range e.listed() {
			if c.kernels() == 0 || c.Model != "bnn" && c.Model != "linear" { // the others cost nothing
				continue
			}
			add(c, 1)
			if c.Inner > 1 {
				add(c, manyInner)
			}
		}
		for _, s := range e.Oracles {
			add(oracleCell(s), 1)
		}
	}
	return todo
}

// listed are the cells and all of the choices.
func (e Experiment) listed() []Cell {
	cells := slices.Clone(e.Cells)
	for _, ch := range e.Choices {
		cells = append(cells, ch...)
	}
	return cells
}

type calibration struct {
	ctx     context.Context
	src     Source
	workers int
	each    time.Duration // per measurement
}

// repeat does something n times.
type repeat func(n int) error

// measure returns the seconds of one core that an outer step takes while all
// workers are busy with the same.
func (m calibration) measure(c Cell) (float64, error) {
	times, errs := make([]float64, m.workers), make([]error, m.workers)
	var group sync.WaitGroup
	for w := range m.workers {
		group.Go(func() {
			var in Inputs
			var run repeat
			if in.Target, in.Plane, errs[w] = m.src.Target(m.ctx, c.Dataset, c.Split, c.Model, c.Precision); errs[w] != nil {
				return
			}
			if run, errs[w] = m.steps(c, in); errs[w] == nil {
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

// timed returns the seconds per run of the middling series within the limit:
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
func (m calibration) steps(c Cell, in Inputs) (repeat, error) {
	c.Friction, c.Step = paperFriction, frozenStep
	sampler, err := newSampler(c, in)
	if err != nil {
		return nil, err
	}
	z := integrators.NewState(in.Target.Dim())
	noise.New(0, noise.StreamStart).Normal(z.Theta)
	in.Target.DrawPrior(z.Theta)
	if err := sampler.Run(m.ctx, z, chain.Plan{BurnIn: 1}, nil); err != nil {
		return nil, err
	}
	return func(n int) error { return sampler.Advance(m.ctx, z, n) }, nil
}
