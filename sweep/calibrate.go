package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/chain"
	"hambench/internal/distinct"
	"hambench/models"
	"hambench/oracle"
)

// MeasureKernels measures on this machine, for the cost model, the kernels of every
// integrator, data set, precision and batch size in the plans, and of their
// references, as far as the model lacks them. It takes about the given time.
func (r *Runner) MeasureKernels(ctx context.Context, plans []bench.Plan, budget time.Duration) error {
	todo := kernelsOf(plans)
	maps.DeleteFunc(todo, func(at Timed, _ bench.Cell) bool { _, known := r.Cost.Kernels[at]; return known })
	if r.Cost.Kernels == nil {
		r.Cost.Kernels = make(map[Timed]float64)
	}
	each, done := budget/time.Duration(max(len(todo), 1)), 0
	for at, cell := range todo {
		outer, err := r.measure(ctx, cell, each)
		if err != nil {
			return err
		}
		r.Cost.Kernels[at] = outer / float64(cell.Inner)
		done++
		r.measured("kernels", done, len(todo))
	}
	return nil
}

// Slowdown measures one kernel of the plans and returns how many times longer it
// takes than the zero CostModel says; 0 if no kernel is worth measuring.
func (r *Runner) Slowdown(ctx context.Context, plans []bench.Plan, budget time.Duration) (float64, error) {
	todo := kernelsOf(plans)
	if len(todo) == 0 {
		return 0, nil
	}
	// The same kernel at every call, and a common one: most chains have small batches.
	cell := slices.MaxFunc(slices.Collect(maps.Values(todo)), func(a, b bench.Cell) int {
		return cmp.Or(cmp.Compare(a.Batches, b.Batches), cmp.Compare(fmt.Sprint(b), fmt.Sprint(a)))
	})
	method, err := r.Chains.Integrator(cell.Integrator)
	if err != nil {
		return 0, err
	}
	outer, err := r.measure(ctx, cell, budget)
	return outer / float64(cell.Inner) / defaultKernel(cell, method.Claims), err
}

func (r *Runner) measured(what string, done, total int) {
	if r.Measuring != nil {
		r.Measuring(what, done, total)
	}
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
	for _, r := range bench.References(plans) {
		add(referenceCell(r.Spec), 1)
	}
	for _, p := range plans { // a cell counts rather than a reference: it has a step
		for _, j := range p.Jobs() {
			if _, n := size(j.Cell); j.Cell.Kernels() == 0 || n < cheap {
				continue
			}
			add(j.Cell, 1)
			if j.Cell.Inner > 1 {
				add(j.Cell, manyInner)
			}
		}
	}
	return todo
}

// measure returns the seconds of one core that an outer step takes while all
// workers are busy with the same.
func (r *Runner) measure(ctx context.Context, cell bench.Cell, limit time.Duration) (float64, error) {
	times, errs := make([]float64, r.cores()), make([]error, r.cores())
	var group sync.WaitGroup
	for w := range times {
		group.Go(func() { times[w], errs[w] = r.stepTime(ctx, cell, limit) })
	}
	group.Wait()
	return stat.Mean(times, nil), errors.Join(errs...)
}

// seriesTime is how long a series of runs should take: long against the
// clock's resolution, and short enough to fall between the time slices of
// other programs most of the time.
const seriesTime = time.Millisecond

// timed returns the seconds per run of the median series within the limit:
// not of the fastest, as what disturbs a measurement will disturb the run. run does
// n of them.
func timed(run func(n int) error, limit time.Duration) (float64, error) {
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

// stepTime times the steps of a chain of the cell's integrator on its problem,
// after its adaptation.
func (r *Runner) stepTime(ctx context.Context, cell bench.Cell, limit time.Duration) (float64, error) {
	t, err := r.Source.Target(ctx, cell.Dataset, cell.Split, cell.Model, models.Options{Precision: cell.Precision})
	if err != nil {
		return 0, err
	}
	cell.Friction, cell.Step = 1, frozenStep
	sampler, err := r.Chains.New(t, cell.Chain())
	if err != nil {
		return 0, err
	}
	z := sampler.Start(0, nil)
	if err := sampler.Run(ctx, z, chain.Plan{BurnIn: 1}, nil); err != nil {
		return 0, err
	}
	return timed(func(n int) error { return sampler.Advance(ctx, z, n) }, limit)
}

// MeasureStableSteps estimates, for the cost model, the stable steps of every data
// set and model in the plans, for all numbers of batches of its cells at once, with
// as many data sets at a time as there are workers.
func (r *Runner) MeasureStableSteps(ctx context.Context, plans []bench.Plan) error {
	type problem struct{ dataset, model string }
	batches, precision := make(map[problem][]int), make(map[problem]string)
	for _, cell := range kernelsOf(plans) {
		at := problem{cell.Dataset, cell.Model}
		if _, known := r.Cost.Stable[stiffnessOf(cell)]; known || cell.Step == 0 { // a reference's chains find their own
			continue
		}
		batches[at] = distinct.Append(batches[at], cell.Batches)
		// float32 before float64: it is as good, and faster.
		precision[at] = min(cmp.Or(precision[at], cell.Precision), cell.Precision)
	}
	if r.Cost.Stable == nil {
		r.Cost.Stable = make(map[Stiffness]float64)
	}
	var tasks []*task
	var failed error
	done := 0
	for at, ks := range batches {
		var steps []float64
		run := func(ctx context.Context) error {
			t, err := r.Source.Target(ctx, at.dataset, 0, at.model, models.Options{Precision: precision[at]})
			if err == nil {
				steps, err = oracle.StableSteps(ctx, t, ks...)
			}
			return err
		}
		next := func(err error) []*task {
			failed = errors.Join(failed, err)
			for i, h := range steps {
				r.Cost.Stable[Stiffness{at.dataset, at.model, ks[i]}] = h
			}
			done++
			r.measured("stable steps", done, len(batches))
			return nil
		}
		tasks = append(tasks, &task{name: at.dataset, width: 1, run: run, next: next})
	}
	schedule(ctx, r.cores(), tasks, func(*task) {})
	return cmp.Or(failed, ctx.Err())
}
