//go:build linux

// Command small runs the built-in studies with references and chains so short
// that a sweep of hundreds of cells is over in seconds, on a clock that can be
// made to jump, and can be made to leak. It is made of the public packages, as
// hambench is, and prints errors, exit codes and progress as that does: the
// fault tests break it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
	"unsafe"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/figures"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/usage"
)

// options are the flags.
type options struct {
	out              string
	long, plan, draw bool
	clock            bool
	leak             int
}

func main() {
	var o options
	flag.StringVar(&o.out, "out", "", "`DIR` of results and figures")
	flag.BoolVar(&o.long, "long", false, "run thousands of cells, one at a time")
	flag.BoolVar(&o.plan, "plan", false, "count what is missing, and stop; exit code 1 if there is any")
	flag.BoolVar(&o.draw, "draw", false, "draw what is there")
	flag.BoolVar(&o.clock, "clock", false, "let the wall clock jump at every look at it")
	flag.IntVar(&o.leak, "leak", 0, "leak `N` bytes in each cell")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	err := o.run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "small:", err)
	}
	os.Exit(exitCode(err))
}

func exitCode(err error) int {
	var bad *usage.Error
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return 130
	case errors.As(err, &bad):
		return 2
	}
	return 1
}

func (o options) run(ctx context.Context) error {
	source := models.NewSource(nil, &datasets.Resolver{Offline: true})
	plans, err := o.plans(ctx, source)
	if err != nil {
		return err
	}
	dir := filepath.Join(o.out, "store")
	if o.plan {
		return missing(dir, plans)
	}
	s, err := store.Open(dir, sweep.Here())
	if err != nil {
		return err
	}
	defer s.Close()
	for _, c := range s.Corruptions() {
		if !c.Known {
			fmt.Fprintln(os.Stderr, c)
		}
	}
	if err := bench.Save(s, sweep.MadeHere(), plans); err != nil {
		return err
	}
	if !o.draw {
		r := sweep.Runner{Store: s, Source: leaky{source, o.leak}, Made: sweep.MadeHere(), Workers: 2, Progress: os.Stderr}
		if o.long {
			r.Workers = 1
		}
		if o.clock {
			r.Now = jumping
		}
		summary, err := r.Run(ctx, plans)
		for _, f := range summary.Failures {
			fmt.Fprintln(os.Stderr, f.Name, f.Err)
		}
		if err != nil {
			return err
		}
		fmt.Printf("computed %d cells, %d exact errors and %d references in %s\n", summary.Cells.Computed, summary.Exact.Computed, summary.References.Computed, summary.Elapsed)
	}
	return draw(ctx, s, o.out, plans)
}

// The studies, and the sets that they are restricted to: exact errors, cells with
// an exact truth, a reference with its parts, a choice, figures and tables.
var (
	studies     = []string{"bottleneck", "methods", "friction", "classification", "synthetic"}
	longStudies = []string{"methods", "friction", "integration-length"}
	sets        = []string{"linear", "teacher-cls"}
)

// plans are the short studies, with their keys.
func (o options) plans(ctx context.Context, source *models.Source) ([]bench.Plan, error) {
	label, ids, on := "quick", studies, sets
	if o.long {
		label, ids, on = "paper", longStudies, sets[:1]
	}
	profile, err := bench.LookupProfile(label)
	if err != nil {
		return nil, err
	}
	if o.long {
		profile.Splits = 20
	}
	var names []string
	for _, d := range source.Datasets() {
		names = append(names, d.Name)
	}
	unavailable, err := source.Unavailable(ctx, names...)
	if err != nil {
		return nil, err
	}
	profile.Only = ids
	all, err := bench.Studies(profile, source.Datasets(), source.Models(), unavailable...)
	if err != nil {
		return nil, err
	}
	if all, err = bench.Restrict(all, on...); err != nil {
		return nil, err
	}
	for _, s := range all {
		shorten(s)
	}
	keys := &bench.Keys{Source: source}
	return keys.Resolve(ctx, label, all, unavailable...)
}

// shorten makes a study's references and chains short.
func shorten(s bench.Study) {
	short := make(map[string]string) // references by what they were
	for i := range s.References {
		spec := &s.References[i].Spec
		was := spec.ID()
		spec.Samples, spec.Thin, spec.BurnIn = 20, 10, 200
		short[was] = spec.ID()
	}
	for i := range s.Cells {
		c := &s.Cells[i].Cell
		c.Thin, c.BurnIn, c.Samples = max(1, c.Thin/50), c.BurnIn/50, min(c.Samples, 20)
		if id, ok := short[c.Oracle]; ok {
			c.Oracle = id
		}
	}
}

// missing counts the cells that a store lacks.
func missing(dir string, plans []bench.Plan) error {
	s, err := store.ReadIfThere(dir, sweep.Here())
	if err != nil {
		return err
	}
	n := 0
	for _, p := range plans {
		cells, _ := bench.Results{Store: s}.Missing(p.Study)
		n += cells
	}
	if n > 0 {
		return fmt.Errorf("%d cells are missing", n)
	}
	return nil
}

// draw draws what there is.
func draw(ctx context.Context, s *store.Store, out string, plans []bench.Plan) error {
	drawer := figures.Drawer{Results: bench.Results{Store: s}, Dir: out, All: plans}
	for _, p := range plans {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("interrupted while drawing: the same command continues: %w", err)
		}
		if _, err := drawer.Draw(p); err != nil {
			return err
		}
	}
	return nil
}

// leaky leaks with every target.
type leaky struct {
	*models.Source
	size int
}

var leaked [][]byte

func (l leaky) Target(ctx context.Context, dataset string, split int, model string, o models.Options) (models.Target, error) {
	if l.size > 0 { // there is one worker
		b := make([]byte, l.size)
		for i := range b {
			b[i] = 1
		}
		leaked = append(leaked, b)
	}
	return l.Source.Target(ctx, dataset, split, model, o)
}

// jumping is a wall clock that is up to 50 years off, anew at each look. As on
// a machine whose clock is set, the monotonic reading goes on: a time.Time with
// one has the seconds since 1885 above 30 bits of nanoseconds in its first
// word.
func jumping() time.Time {
	t := time.Now()
	jumped := t
	seconds := int64(rand.IntN(101)-50) * 365 * 86400
	*(*uint64)(unsafe.Pointer(&jumped)) += uint64(seconds) << 30
	if jumped.Unix()-t.Unix() != seconds || jumped.Sub(t) != 0 {
		panic("the clock does not jump as it should")
	}
	return jumped
}
