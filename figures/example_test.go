package figures_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/figures"
)

// A study of four cells, as a run would leave it in a store, is drawn from its
// plan.
func Example() {
	dir, err := os.MkdirTemp("", "figures")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(filepath.Join(dir, "store"), store.Machine{Arch: "amd64", ISA: "avx2"})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	plan := bench.Plan{Profile: "quick", Study: bench.Study{ID: "my-study", Title: "Two splittings on wine"}}
	plan.Data = []bench.Data{{Name: "wine", Label: "Wine"}}
	for _, name := range []string{"leapfrog", "split:OBABO"} {
		plan.Methods = append(plan.Methods, bench.Method{Name: name, Joint: 1, Position: 2})
		for _, h := range []float64{0.005, 0.01} {
			c := bench.Cell{Observe: bench.Distance, Dataset: "wine", Model: "bnn", Integrator: name, Inner: 1, Friction: 5, Scheme: "full", Batches: 1, Step: h, Samples: 100}
			r := bench.Result{Cell: c, Key: c.Stream(), KS: 0.08 + 4*h, Gradients: int64(125 / h), KSSelf: 0.09, KSSelfLow: 0.05, KSSelfHigh: 0.13, KSSelfSD: 0.008}
			record, err := store.NewRecord(store.Result, r.Key, r.Seconds, r.Made, r)
			if err != nil {
				log.Fatal(err)
			}
			if err := s.Put(record); err != nil {
				log.Fatal(err)
			}
			plan.Cells = append(plan.Cells, bench.Job{Key: r.Key, Cell: c})
		}
	}

	out, err := figures.Drawer{Results: bench.Results{Store: s}, Dir: dir, Width: 100}.Draw(plan)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(out.Text)
	for _, f := range out.Files {
		fmt.Println(filepath.Base(f))
	}
	// Output:
	// Two splittings on wine
	// +----------+-------+-------------+-------+--------+----------+-------+-----------+
	// | data set | batch | line        | η     | chains | distance | right | gradients |
	// +----------+-------+-------------+-------+--------+----------+-------+-----------+
	// | wine     | full  | leapfrog    | 0.005 | 1      | 0.100    | yes   | 25000     |
	// | wine     | full  | leapfrog    | 0.01  | 1      | 0.120    | NO    | 12500     |
	// | wine     | full  | split:OBABO | 0.005 | 1      | 0.100    | yes   | 25000     |
	// | wine     | full  | split:OBABO | 0.01  | 1      | 0.120    | NO    | 12500     |
	// +----------+-------+-------------+-------+--------+----------+-------+-----------+
	// All chains: C = 5.
	// A chain that diverged has no distance and no scores.
	// Right: the distance, less the reference's own error, is one that about 99 of 100 right chains of its
	// lag-1 autocorrelation do not exceed; –: that cannot be decided, as where that is above 0.4, or of
	// chains that differ in more than their split and seed.
	// Profile quick. 100 samples per chain.
	// my-study.csv
	// my-study.png
	// my-study.svg
	// my-study.pdf
	// my-study-table.csv
	// my-study-table.json
	// my-study-table.txt
}
