// Command claim decides a claim of its own by stored evidence: exact errors
// that a run leaves in a store. The claim: with mini-batches it no longer
// matters how a splitting orders its letters. With the full batch, baoab's
// covariance of θ is exact on a Gaussian and obabo's is not.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/paper"
)

// ofSplittings is the purpose of the exact errors that the claim reads.
const ofSplittings = "splittings"

// claim is a value like the built-in ones.
var claim = paper.Claim{
	ID: "letters-do-not-matter", By: "this program",
	Statement: "With reshuffled mini-batches, obabo and baoab have the same leading error in the covariance of θ.",
	Where:     "Leimkuhler & Matthews 2013 compare them with the full batch",
	Test:      "exact errors on a Gaussian problem at small steps; confirmed if at the smallest step they agree within 1 % with mini-batches, and differ tenfold with the full batch",
	Decide:    decide,
}

// decide reads the rows of stored results and returns a finding; it runs no chain.
func decide(rows *table.Table) paper.Finding {
	full, err := ratio(rows, "full")
	mini, err2 := ratio(rows, "reshuffle")
	if err := errors.Join(err, err2); err != nil {
		return paper.Finding{Verdict: paper.NotDecided, Summary: err.Error() + ": run the study " + ofSplittings}
	}
	f := paper.Finding{Verdict: paper.Refuted, Summary: fmt.Sprintf("with mini-batches baoab's error is %.4f times obabo's", mini)}
	if math.Abs(mini-1) < 0.01 && full < 0.1 {
		f.Verdict = paper.Confirmed
	}
	f.Numbers = []paper.Number{
		{Name: "full batch: baoab's error over obabo's", Value: certify.Number(full), Text: fmt.Sprintf("%.2g", full)},
		{Name: "mini-batches: baoab's error over obabo's", Value: certify.Number(mini), Text: fmt.Sprintf("%.4f", mini)},
	}
	return f
}

// ratio is that of baoab's error to obabo's at the smallest step.
func ratio(rows *table.Table, scheme string) (float64, error) {
	rows = rows.Where("purpose", ofSplittings).Where("scheme", scheme).Where("observable", "theta.cov")
	baoab, obabo := rows.Where("integrator", "baoab"), rows.Where("integrator", "obabo")
	pairs := table.Join(baoab.Sort("h"), obabo, "h")
	if len(pairs) == 0 || pairs[0].Left.Len() == 0 || pairs[0].Right.Len() == 0 {
		return 0, fmt.Errorf("no exact errors of both splittings under %s", scheme)
	}
	a, b := pairs[0].Left.Rows()[0], pairs[0].Right.Rows()[0]
	return a.Number("error") / b.Number("error"), nil
}

// newStudy lists what the claim needs: one exact job an integrator, on the
// built-in Gaussian problem.
func newStudy() (bench.Study, error) {
	s := bench.Study{ID: "splittings", Title: "Exact errors of two splittings"}
	problem := certify.Builtin()[0]
	text, err := json.Marshal(problem)
	if err != nil {
		return s, err
	}
	for _, name := range []string{"obabo", "baoab"} {
		s.Exact = append(s.Exact, bench.ExactJob{Purpose: ofSplittings, Exact: bench.Exact{
			Name: problem.Name, Problem: text, Integrator: name, Inner: 1, Schemes: []string{"full", "reshuffle"},
		}})
	}
	return s, nil
}

// collect runs the study into a store in dir.
func collect(ctx context.Context, dir string) error {
	study, err := newStudy()
	if err != nil {
		return err
	}
	source := models.NewSource(nil, &datasets.Resolver{Offline: true})
	plans, err := (&bench.Keys{Source: source}).Resolve(ctx, "", []bench.Study{study})
	if err != nil {
		return err
	}
	s, err := store.Open(dir, sweep.Here())
	if err != nil {
		return err
	}
	defer s.Close()
	if err := bench.Save(s, sweep.MadeHere(), plans); err != nil {
		return err
	}
	_, err = (&sweep.Runner{Store: s, Source: source, Made: sweep.MadeHere()}).Run(ctx, plans)
	return err
}

// judge decides the claim by what the store in dir
// holds. It needs no integrator, model or data.
func judge(w io.Writer, dir string) ([]paper.Decision, error) {
	s, err := store.Read(dir, sweep.Here())
	if err != nil {
		return nil, err
	}
	plans, err := bench.Plans(s, "")
	if err != nil {
		return nil, err
	}
	// append(paper.Claims(), claim) would decide those of the paper, too.
	rows := bench.Results{Store: s}.Table(plans)
	decisions := paper.Decide([]paper.Claim{claim}, rows)
	return decisions, paper.WriteText(w, decisions, "exact errors alone")
}

func main() {
	dir := "out-claim"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	dir = filepath.Join(dir, "store")
	if err := collect(context.Background(), dir); err != nil {
		log.Fatal(err)
	}
	if _, err := judge(os.Stdout, dir); err != nil {
		log.Fatal(err)
	}
}
