package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"hambench/bench"
	"hambench/internal/kernel"
	"hambench/store"
	"hambench/sweep"
)

// calibrationTime is how long this machine's kernels are measured for an
// estimate; of the time of --within, a twentieth at most.
const calibrationTime = 10 * time.Second

// fitShare is the part of the time of --within that jobs may take by the
// estimate; the rest is for drawing, and for what the estimate misses.
const fitShare = 0.95

// overestimate is how many times too large an estimate may be until it is known
// which chains diverge.
const overestimate = 2

// Chains of the coarsest profile have few samples; those of the others, the most.
const (
	fewSamples  = 40
	moreSamples = 10
	mostSamples = 200
)

// fitting is a choice under way, which measures this machine as far as needed.
type fitting struct {
	sweep.Runner
	each     time.Duration // for the kernels of some plans
	limit    time.Duration // of jobs
	deadline time.Time
}

// kernels measures the kernels of plans.
func (f *fitting) kernels(ctx context.Context, plans []bench.Plan) error {
	err := f.MeasureKernels(ctx, plans, f.each)
	f.limit = time.Duration(fitShare * float64(time.Until(f.deadline)))
	return err
}

// fits reports whether plans fit. If it may matter, it first estimates which of
// their chains diverge and so make room.
func (f *fitting) fits(ctx context.Context, plans []bench.Plan) (bool, error) {
	if f.TimeOf(plans) >= overestimate*f.limit {
		return false, nil
	}
	err := f.MeasureStableSteps(ctx, plans)
	f.limit = time.Duration(fitShare * float64(time.Until(f.deadline)))
	return f.TimeOf(plans) <= f.limit, err
}

// fit chooses what is run in the time of --within and sets the flags that name
// the choice. First come the data sets: as many as fit on the coarsest grid,
// without the most expensive ones. Then comes the finest grid that fits on them,
// unless the grid was given, with as many samples as fit.
func (r *reproduction) fit(ctx context.Context, started time.Time) error {
	if r.within == 0 {
		return nil
	}
	s, err := store.ReadIfThere(storePath(r.out), sweep.Here())
	if err != nil {
		return err
	}
	plans, err := r.resolve(ctx, io.Discard)
	if err != nil {
		return err
	}
	f := &fitting{Runner: r.Runner, each: min(calibrationTime, r.within/20), deadline: started.Add(r.within)}
	f.Store, f.Measuring = s, r.measuring()
	if err := f.kernels(ctx, plans); err != nil {
		return err
	}
	out, err := f.LeaveOut(plans, f.limit)
	if err != nil {
		return fmt.Errorf("--within %v: %w", r.within, err)
	}
	for len(out) > 0 { // what is known of chains that diverge may make room
		var rest []bench.Plan
		for _, p := range plans {
			rest = append(rest, p.Without(out[:len(out)-1]...))
		}
		if fits, err := f.fits(ctx, rest); err != nil {
			return err
		} else if !fits {
			break
		}
		out = out[:len(out)-1]
	}
	out = realNames(plans, out)
	r.without = append(r.without, out...)
	if !r.gridGiven {
		if err := r.refine(ctx, f); err != nil {
			return err
		}
	}
	if plans, err = r.resolve(ctx, io.Discard); err != nil {
		return err
	}
	if err := f.MeasureStableSteps(ctx, plans); err != nil {
		return err
	}
	r.Cost, r.measured = f.Cost, true
	fmt.Fprintf(r.stderr, "hambench: --within %v: %s, about %s; left out: %s\n", r.within, r.choice(), f.TimeOf(plans).Round(time.Second), cmp.Or(strings.Join(out, ", "), "nothing"))
	return nil
}

// realNames replaces the names of stand-ins by those of the data sets they replace.
func realNames(plans []bench.Plan, names []string) (out []string) {
	for _, n := range names {
		real := []string{n}
		for _, p := range plans {
			if d, ok := p.Dataset(n); ok && len(d.For) > 0 {
				real = d.For
			}
		}
		out = append(out, real...)
	}
	return out
}

// refine chooses the finest profile that fits with at least one split, with as
// many splits as fit, up to those of the finest profile. What is left goes into
// longer chains where the profile's are short.
func (r *reproduction) refine(ctx context.Context, f *fitting) error {
	profiles := bench.Profiles()
	finest := profiles[len(profiles)-1]
	for _, p := range slices.Backward(profiles) {
		grid := func(splits int) ([]bench.Plan, error) {
			r.asked.Name, r.asked.Splits = p.Name, splits
			return r.resolve(ctx, io.Discard)
		}
		plans, err := grid(1)
		if err != nil {
			return err
		}
		if err := f.kernels(ctx, plans); err != nil {
			return err
		}
		if _, err := f.fits(ctx, plans); err != nil {
			return err
		}
		if r.asked.Splits, err = f.Most(finest.Splits, f.limit, grid); err != nil {
			return err
		}
		if r.asked.Splits == 0 {
			continue
		}
		if r.asked.Splits == p.Splits {
			r.asked.Splits = 0
		}
		if r.asked.Samples > 0 {
			return nil
		}
		return r.lengthen(ctx, f)
	}
	return nil // the coarsest, which fits but for the time that was spent here
}

// lengthen chooses the longest chains that fit, if any can be longer.
func (r *reproduction) lengthen(ctx context.Context, f *fitting) error {
	grid := func(samples int) ([]bench.Plan, error) {
		r.asked.Samples = samples
		return r.resolve(ctx, io.Discard)
	}
	own, err := grid(0)
	if err != nil {
		return err
	}
	more, err := f.Most((mostSamples-fewSamples)/moreSamples, f.limit, func(n int) ([]bench.Plan, error) { return grid(fewSamples + n*moreSamples) })
	if err != nil {
		return err
	}
	longer, err := grid(fewSamples + more*moreSamples)
	if more == 0 || bench.Digest(longer) == bench.Digest(own) {
		r.asked.Samples = 0
	}
	return err
}

// choice is the flags that name what was chosen.
func (r *reproduction) choice() string {
	var flags []string
	for _, flag := range [][2]string{
		{"--profile", r.asked.Name}, {"--splits", fmt.Sprint(r.asked.Splits)}, {"--samples", fmt.Sprint(r.asked.Samples)}, {"--without", strings.Join(r.without, ",")},
	} {
		if value := flag[1]; value != "" && value != "0" {
			flags = append(flags, flag[0]+" "+value)
		}
	}
	return cmp.Or(strings.Join(flags, " "), "all of it")
}

// measuringEvery is how often measuring says how far it is.
const measuringEvery = 2 * time.Second

func (r *reproduction) measuring() func(what string, done, total int) {
	last := time.Now()
	return func(what string, done, total int) {
		if time.Since(last) > measuringEvery {
			last = time.Now()
			fmt.Fprintf(r.stderr, "hambench: measuring this machine: %d of %d %s\n", done, total, what)
		}
	}
}

// measure calibrates the cost model on this machine, once.
func (r *reproduction) measure(ctx context.Context) error {
	if r.measured {
		return nil
	}
	fmt.Fprintf(r.stderr, "hambench: measuring this machine (%s) for about %s\n", kernel.ISA(), calibrationTime)
	r.Measuring = r.measuring()
	if err := r.MeasureKernels(ctx, r.plans, calibrationTime); err != nil {
		return err
	}
	return r.MeasureStableSteps(ctx, r.plans)
}

// probeTime is how long one kernel is measured to tell what a run takes.
const probeTime = 100 * time.Millisecond

// nameKernels says which machine kernels run and, if they are plain Go, how long the
// run takes with them: the estimate for fast ones, times the slowdown measured on one
// of the run's own kernels.
func (r *reproduction) nameKernels(ctx context.Context) error {
	line := "kernels: " + kernel.ISA()
	if took := r.TimeOf(r.plans); kernel.ISA() == kernel.Plain().Name() && !r.measured && took > time.Second {
		ratio, err := r.Slowdown(ctx, r.plans, probeTime)
		if err != nil {
			return err
		}
		if ratio > 0 {
			line += fmt.Sprintf(", plain Go: about %.0f times as slow as AVX-512, so that this run takes about %s on %d workers; --dry-run estimates it, --within TIME fits it into a time",
				ratio, time.Duration(ratio*float64(took)).Round(time.Minute), r.Workers)
		}
	}
	fmt.Fprintln(r.stderr, line)
	return nil
}
