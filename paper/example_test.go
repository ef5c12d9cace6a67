package paper_test

import (
	"fmt"

	"hambench/bench"
	"hambench/paper"
)

// A claim of one's own is decided beside the paper's. Here the evidence is
// written down; paper.Gather reads it from a store.
func Example() {
	unstable := paper.Claim{
		ID: "mt3-stability", By: "me",
		Statement: "mt3 diverges at h = 0.05 on boston.",
		Where:     "a note of mine", Test: "Every such cell of the study my-study diverged.",
		Decide: func(e *paper.Evidence) paper.Finding {
			f := paper.Finding{Verdict: paper.NotDecided, Summary: "no results yet"}
			for _, r := range e.Results("my-study") {
				if r.Cell.Integrator != "mt3" || r.Cell.Step != 0.05 {
					continue
				}
				if !r.Diverged {
					return paper.Finding{Verdict: paper.Refuted, Summary: "one stayed finite"}
				}
				f = paper.Finding{Verdict: paper.Confirmed, Summary: "all diverged"}
			}
			return f
		},
	}
	evidence := &paper.Evidence{Sampled: map[string][]bench.Result{
		"my-study": {{Cell: bench.Cell{Integrator: "mt3", Step: 0.05}, Diverged: true}},
	}}
	for _, d := range paper.Decide(append(paper.Claims()[:1], unstable), evidence) {
		fmt.Printf("%s: %s: %s\n", d.ID, d.Verdict, d.Summary)
	}
	// Output:
	// stationary-law: not decided: no results yet: run hambench reproduce --only claims
	// mt3-stability: confirmed: all diverged
}
