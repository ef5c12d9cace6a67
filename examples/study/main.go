// Command study states a study and takes it through all that may happen
// to one: it is stopped in the middle and continued, divided among two
// machines whose stores are merged, and drawn. The study compares integrators
// at steps relative to the largest stable one, which is estimated.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"sync/atomic"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/figures"
	"hambench/models"
	"hambench/models/datasets"
)

// question is the study, as a file states it.
const question = `
title = "Integrators at an eighth to a half of the largest stable step"
[vary]
batch = [32, "full"]
integrator = ["leapfrog", "obabo", "ubu"]
step = "stable/8 .. stable/2"
[fix]
data = "linear"
samples = 100
`

// newStudy lists the study's cells twice: first to learn whose stable steps they want, then
// at these.
func newStudy(ctx context.Context, w io.Writer, keys *bench.Keys) (bench.Study, error) {
	file, err := bench.Parse("stable-steps", []byte(question), bench.Parts{})
	if err != nil {
		return bench.Study{}, err
	}
	var wanted []bench.Cell
	profile := bench.Profile{Missing: func(c bench.Cell) { wanted = append(wanted, c) }}
	if _, err := file.Study(profile); err != nil {
		return bench.Study{}, err
	}
	profile.Known, err = keys.StableSteps(ctx, wanted, 1, func(c bench.Cell, h float64, _ int) {
		fmt.Fprintf(w, "%s, batches of %d rows (0: all): the largest stable step is about %.2g\n", c.Integrator, c.BatchSize, h)
	})
	if err != nil {
		return bench.Study{}, err
	}
	return file.Study(profile)
}

// run computes what a store in dir lacks of the plans. The plans are saved there, too,
// so that figures can be drawn from the store alone, on any machine, later.
func run(ctx context.Context, dir string, source sweep.Source, plans []bench.Plan) (sweep.Summary, error) {
	s, err := store.Open(dir, sweep.Here())
	if err != nil {
		return sweep.Summary{}, err
	}
	defer s.Close()
	if err := bench.Save(s, sweep.MadeHere(), plans); err != nil {
		return sweep.Summary{}, err
	}
	return (&sweep.Runner{Store: s, Source: source, Made: sweep.MadeHere()}).Run(ctx, plans)
}

// stopping is a source that stops the run when it is asked for one target more
// than some. In earnest it is Ctrl-C (signal.NotifyContext) or a kill that
// does: what was computed is in the store.
type stopping struct {
	*models.Source
	left *atomic.Int64
	stop func()
}

func (s stopping) Target(ctx context.Context, dataset string, split int, model string, o models.Options) (models.Target, error) {
	if s.left.Add(-1) < 0 {
		s.stop()
	}
	return s.Source.Target(ctx, dataset, split, model, o)
}

// interrupted runs the plans until some targets were made, then continues.
func interrupted(ctx context.Context, w io.Writer, dir string, source *models.Source, plans []bench.Plan) error {
	stopped, stop := context.WithCancel(ctx)
	defer stop()
	left := new(atomic.Int64)
	left.Store(6)
	summary, err := run(stopped, dir, stopping{source, left, stop}, plans)
	if !errors.Is(err, context.Canceled) {
		return fmt.Errorf("the run was not stopped: %w", err)
	}
	fmt.Fprintf(w, "stopped with %d of %d cells\n", summary.Cells.Computed, len(plans[0].Cells))
	summary, err = run(ctx, dir, source, plans)
	fmt.Fprintf(w, "continued: %d taken from the store, %d computed\n", summary.Cells.Reused, summary.Cells.Computed)
	return err
}

// divided runs two halves of the cells into stores of their own, as two machines would,
// and merges them. Processes that share a store need no division: each takes what the
// others are not at.
func divided(ctx context.Context, w io.Writer, dir string, source *models.Source, plans []bench.Plan) (*store.Store, error) {
	var parts []*store.Store
	for i := range 2 {
		half, n := plans[0], len(plans[0].Cells)
		half.Cells = half.Cells[i*n/2 : (i+1)*n/2]
		part := fmt.Sprintf("%s-%d-of-2", dir, i+1)
		summary, err := run(ctx, part, source, []bench.Plan{half})
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "half %d of 2: %d cells\n", i+1, summary.Cells.Computed)
		s, err := store.Read(part, store.Machine{})
		if err != nil {
			return nil, err
		}
		parts = append(parts, s)
	}
	all, err := store.Open(dir, sweep.Here())
	if err != nil {
		return nil, err
	}
	merged, err := all.Merge(ctx, store.Shared, parts...)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "merged: %d results\n", merged.Added[store.Result])
	return all, bench.Save(all, sweep.MadeHere(), plans)
}

// whole is the program.
func whole(ctx context.Context, w io.Writer, dir string) error {
	source := models.NewSource(nil, &datasets.Resolver{Offline: true})
	keys := &bench.Keys{Source: source}
	study, err := newStudy(ctx, w, keys)
	if err != nil {
		return err
	}
	plans, err := keys.Resolve(ctx, "", []bench.Study{study})
	if err != nil {
		return err
	}
	if err := interrupted(ctx, w, filepath.Join(dir, "store"), source, plans); err != nil {
		return err
	}
	merged, err := divided(ctx, w, filepath.Join(dir, "merged"), source, plans)
	if err != nil {
		return err
	}
	defer merged.Close()
	// The plans are taken from the store, as another program would.
	stored, err := bench.Plans(merged, "")
	if err != nil {
		return err
	}
	stored = bench.Widest(stored)
	out, err := figures.Drawer{Results: bench.Results{Store: merged}, Dir: dir}.Draw(stored[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "drawn from %d of %d cells: %v\n", out.Cells, out.Of, out.Files)
	return nil
}

func main() {
	dir := "out-study"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := whole(context.Background(), os.Stdout, dir); err != nil {
		log.Fatal(err)
	}
}
