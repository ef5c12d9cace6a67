package bench

import (
	"runtime"
	"testing"
	"time"

	"hambench/datasets"
	"hambench/models"
	"hambench/oracle"
)

// BenchmarkWorkers runs a sweep of eight independent cells (Boston-sized
// network, B = 32) on one worker and on two, in turn, and reports
//
//	speedup      time of one worker over that of two, each the best of b.N
//	s/sweep      the best time on two workers
func BenchmarkWorkers(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("needs two processors")
	}
	r, err := datasets.NewResolver("")
	if err != nil {
		b.Fatal(err)
	}
	data := NewData(r)
	p, _ := LookupProblem("teacher-reg")
	spec := benchSpec(p.Dataset, 0, p.Model)
	newTarget := func() (models.Target, error) {
		t, _, err := data.Target(b.Context(), p.Dataset, 0, p.Model, spec.Precision)
		return t, err
	}
	ref, err := oracle.Build(b.Context(), newTarget, spec, oracle.Options{Workers: 2})
	if err != nil {
		b.Fatal(err)
	}
	e := Experiment{ID: "workers", Oracles: []oracle.Spec{spec}}
	g := grid{Profile: Profile{Precision: spec.Precision}}
	for seed := range uint64(8) {
		c := g.cell(p, 0, settings{integrator: "leapfrog", friction: paperFriction, step: 0.01, batch: 32})
		c.Oracle, c.Seed = spec.Key(), 1+seed
		e.Cells = append(e.Cells, c)
	}
	best := map[int]time.Duration{}
	for range b.N {
		for _, workers := range []int{1, 2} {
			if t := timeSweep(b, data, ref, e, workers); best[workers] == 0 || t < best[workers] {
				best[workers] = t
			}
		}
	}
	b.ReportMetric(best[1].Seconds()/best[2].Seconds(), "speedup")
	b.ReportMetric(best[2].Seconds(), "s/sweep")
}

// timeSweep runs an experiment in a new store.
func timeSweep(b *testing.B, data *Data, ref *oracle.Reference, e Experiment, workers int) time.Duration {
	store, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	if err := store.PutReference(ref); err != nil {
		b.Fatal(err)
	}
	s, err := (&Runner{Store: store, Source: data, Workers: workers}).Run(b.Context(), []Experiment{e})
	if err != nil || s.Computed != len(e.Cells) || s.Diverged > 0 {
		b.Fatalf("%d workers: %+v, %v; want all %d cells", workers, s, err, len(e.Cells))
	}
	return s.Elapsed
}
