package paper_test

import (
	"fmt"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/table"
	"hambench/paper"
)

// A claim of one's own is decided beside the paper's. Here its results are written down;
// paper.Rows reads those of built-in studies from a store.
func Example() {
	unstable := paper.Claim{
		ID: "mt3-stability", By: "me",
		Statement: "mt3 diverges at h = 0.05 on boston.",
		Where:     "a note of mine", Test: "Every such cell of the study my-study diverged.",
		Decide: func(rows *table.Table) paper.Finding {
			chains := rows.Where("study", "my-study").Where("integrator", "mt3").Where("h", 0.05)
			switch {
			case chains.Len() == 0:
				return paper.Finding{Verdict: paper.NotDecided, Summary: "no results yet"}
			case chains.Where("diverged", true).Len() < chains.Len():
				return paper.Finding{Verdict: paper.Refuted, Summary: "one stayed finite"}
			}
			return paper.Finding{Verdict: paper.Confirmed, Summary: "all diverged"}
		},
	}
	study := bench.Study{ID: "my-study", Cells: []bench.Job{
		{Key: "a", Cell: bench.Cell{Integrator: "mt3", Step: 0.05}},
	}}
	rows := bench.Results{Store: diverged{}}.Table([]bench.Plan{{Study: study}})
	for _, d := range paper.Decide(append(paper.Claims()[:1], unstable), rows) {
		fmt.Printf("%s: %s: %s\n", d.ID, d.Verdict, d.Summary)
	}
	// Output:
	// stationary-law: not decided: no results yet: run hambench reproduce --only claims
	// mt3-stability: confirmed: all diverged
}

// diverged is a store in which every chain diverged.
type diverged struct{}

func (diverged) Get(store.Kind, string) (store.Record, bool) {
	return store.Record{Body: []byte(`{"diverged": true}`)}, true
}
