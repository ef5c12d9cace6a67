package bench

import (
	"math/rand/v2"
	"strings"
	"testing"

	"hambench/bench/table"
)

// judged makes rows of chains on one data set, each with the same self-distance.
func judged(results ...Result) *table.Table {
	t := newRows(nil)
	for i, r := range results {
		r.KSSelf, r.Cell.Dataset, r.Cell.Split = 0.1, "boston", i
		row := make(map[string]any)
		Job{Cell: r.Cell}.fill(row, r, false)
		t.Add(r, row)
	}
	return t
}

// Chains are right, wrong, or not to be decided on: by their mean distance, whether one
// diverged, what the reference may err, and whether it failed.
func TestRightChains(t *testing.T) {
	for what, c := range map[string]struct {
		chains         []Result
		right, decided bool
	}{
		"near":            {[]Result{{KS: 0.118, KSSelfSD: 0.008}}, true, true},
		"far":             {[]Result{{KS: 0.119, KSSelfSD: 0.008}}, false, true},
		"own error":       {[]Result{{KS: 0.119, KSSelfSD: 0.008, ReferenceError: 0.005}}, true, true},
		"near on average": {[]Result{{KS: 0.130, KSSelfSD: 0.008}, {KS: 0.1, KSSelfSD: 0.008}}, true, true},
		"one diverged":    {[]Result{{KS: 0.1, KSSelfSD: 0.008}, {KS: 1, KSSelfSD: 0.008, Diverged: true}}, false, true},
		"no scatter":      {[]Result{{KS: 0.1}}, true, false},
		// 2 draws for an independent one: √1.5 times the mean, twice the deviation.
		"correlated, near":  {[]Result{{KS: 0.159, KSSelfSD: 0.008, Scores: map[string]float64{"lag1": 1. / 3}}}, true, true},
		"correlated, far":   {[]Result{{KS: 0.160, KSSelfSD: 0.008, Scores: map[string]float64{"lag1": 1. / 3}}}, false, true},
		"alternating":       {[]Result{{KS: 0.119, KSSelfSD: 0.008, Scores: map[string]float64{"lag1": -0.2}}}, false, true},
		"slow":              {[]Result{{KS: 0.3, KSSelfSD: 0.008, Scores: map[string]float64{"lag1": 0.41}}}, false, false},
		"short":             {[]Result{{KS: 0.1, KSSelfSD: 0.008, Cell: Cell{Samples: 99}}}, true, false},
		"long enough":       {[]Result{{KS: 0.1, KSSelfSD: 0.008, Cell: Cell{Samples: 100}}}, true, true},
		"stuck":             {[]Result{{KS: 0.1, KSSelfSD: 0.008, Scores: map[string]float64{"lag1": 1}}}, true, false},
		"slow, diverged":    {[]Result{{KS: 1, Diverged: true}, {KS: 0.1, KSSelfSD: 0.008, Scores: map[string]float64{"lag1": 0.9}}}, false, true},
		"a failed check":    {[]Result{{KS: 0.1, KSSelfSD: 0.008, ReferenceFailed: []string{"split-R̂"}}}, false, false},
		"diverged, failed":  {[]Result{{KS: 1, Diverged: true, ReferenceFailed: []string{"split-R̂"}}}, false, false},
		"one failed of two": {[]Result{{KS: 0.1, KSSelfSD: 0.008}, {KS: 0.1, KSSelfSD: 0.008, ReferenceFailed: []string{"a", "b"}}}, false, false},
	} {
		right, decided := Right(judged(c.chains...).Rows()...)
		if decided != c.decided || decided && right != c.right {
			t.Errorf("%s: right %t, decided %t", what, right, decided)
		}
	}
}

// Of 20 000 right chains 1 % are refused, with a standard error of 0.07 %: a right limit leaves
// 0.75 to 1.25 % at one seed in 2 800.
func TestRightChainsAreRefusedAsStated(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	const n = 20_000
	chains, refused := make([]Result, n), 0
	for i := range chains {
		chains[i] = Result{KS: 0.1 + 0.008*rng.NormFloat64(), KSSelfSD: 0.008}
	}
	for _, r := range judged(chains...).Rows() {
		if right, _ := Right(r); !right {
			refused++
		}
	}
	if refused < 0.0075*n || refused > 0.0125*n {
		t.Errorf("%d of %d right chains refused, want 1 %%", refused, n)
	}
}

func TestFailedReferencesAreNamedOnce(t *testing.T) {
	failed := Result{ReferenceFailed: []string{"split-R̂", "self-distance"}}
	rows := judged(Result{}, failed)
	if got := strings.Join(FailedReferences(rows), ", "); got != "boston, split 1 (split-R̂; self-distance)" {
		t.Error(got)
	}
	failed.Cell.Model = "bnn:400,400"
	rows = judged(Result{}, failed)
	if got := strings.Join(FailedReferences(rows), ", "); got != "boston, bnn:400,400, split 1 (split-R̂; self-distance)" {
		t.Error(got)
	}
}
