package sweep

import (
	"runtime"
	"testing"
	"time"

	"hambench/bench"
	"hambench/chain"
	"hambench/models"
	"hambench/models/datasets"
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
	source := models.NewSource(nil, r)
	// Chains of a few draws: the reference only starts and judges.
	spec := oracle.NewSpec("teacher-reg", 0, "bnn")
	spec.Chains, spec.Samples, spec.Thin, spec.BurnIn, spec.MaxError = 2, 8, 10, 500, 1
	study := bench.Study{ID: "workers", References: []bench.ReferenceJob{{Spec: spec}}}
	plan := chain.PaperPlan(0.01, 200)
	for seed := range uint64(8) {
		study.Cells = append(study.Cells, bench.Job{Cell: bench.Cell{
			Observe: bench.Distance, Dataset: spec.Dataset, Model: spec.Model, Integrator: "leapfrog", Inner: 1, Friction: 5, Scheme: "reshuffle",
			Batches: 14, BatchSize: 32, Step: 0.01, Samples: plan.Samples, Thin: plan.Thin, BurnIn: plan.BurnIn, Seed: 1 + seed,
			Precision: spec.Precision, Oracle: spec.ID(),
		}})
	}
	best := map[int]time.Duration{}
	for range b.N {
		for _, workers := range []int{1, 2} {
			if t := timeSweep(b, source, planned(study), workers); best[workers] == 0 || t < best[workers] {
				best[workers] = t
			}
		}
	}
	b.ReportMetric(best[1].Seconds()/best[2].Seconds(), "speedup")
	b.ReportMetric(best[2].Seconds(), "s/sweep")
}

// timeSweep runs the cells of a study in a new store.
func timeSweep(b *testing.B, source Source, plans []bench.Plan, workers int) time.Duration {
	s := openStore(b, b.TempDir())
	if _, err := (&Runner{Store: s, Source: source, Workers: 2, ReferencesOnly: true}).Run(b.Context(), plans); err != nil {
		b.Fatal(err)
	}
	sum, err := (&Runner{Store: s, Source: source, Workers: workers}).Run(b.Context(), plans)
	if n := len(plans[0].Cells); err != nil || sum.Cells.Computed != n || sum.Diverged > 0 {
		b.Fatalf("%d workers: %+v, %v; want all %d cells", workers, sum, err, n)
	}
	return sum.Elapsed
}
