package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"hambench/bench"
	"hambench/certify"
	"hambench/claims"
	"hambench/figures"
	"hambench/usage"
)

// Experiments without cells: they come from exact errors and, for the claims,
// from what the store has of the others.
const (
	ordersID     = "orders"
	claimsID     = "claims"
	bottleneckID = "bottleneck"
)

// allExperiments are a profile's experiments and those without cells.
func allExperiments(p bench.Profile, unavailable ...string) []bench.Experiment {
	return append(bench.Experiments(p, unavailable...),
		bench.Experiment{ID: ordersID, Title: "Exact ergodic error of every integrator under every mini-batch scheme, and the fitted orders"},
		bench.Experiment{ID: claimsID, Title: "The claims of the paper: how each is tested, the number, the verdict"},
	)
}

func claimsCommand() *command {
	return &command{
		name:  "claims",
		about: "Prints the claims of the paper with how each is tested, the number and the verdict.",
		detail: `Claims about orders are decided by exact errors, which are computed here if they
are not in the store yet (about ten seconds). The others are decided by the
cells that the store of --out has; what to run for more is said.`,
		example: "hambench claims --format markdown",
		run:     runClaims,
	}
}

func runClaims(ctx context.Context, c *command, stdout, stderr io.Writer, args []string) error {
	fs := c.flagSet()
	var f runFlags
	f.registerStore(fs)
	format := fs.String("format", "text", "`text|markdown|json`")
	if _, err := c.parse(fs, stdout, args); err != nil {
		return err
	}
	write := map[string]func(io.Writer, []claims.Decision, string) error{"text": claims.WriteText, "markdown": claims.WriteMarkdown, "json": claims.WriteJSON}[*format]
	if write == nil {
		return usage.Errorf("--format %q: want text, markdown or json", *format)
	}
	profile, err := f.lookupProfile()
	if err != nil {
		return err
	}
	get, cache, err := storedEvidence(f.out, stderr)
	if err != nil {
		return err
	}
	rows, err := cache.Certified(ctx, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	return write(stdout, claims.Decide(claims.All(), &claims.Evidence{Rows: rows, Results: claims.FromStore(profile, get)}), f.profileLabel())
}

// storedEvidence returns what there is in an output folder. Without a store
// there are no results, and nothing is kept.
func storedEvidence(out string, stderr io.Writer) (figures.Getter, *claims.Cache, error) {
	if out == "" {
		return nil, nil, usage.Errorf("--out is empty: want a folder")
	}
	if _, err := os.Stat(filepath.Join(out, "store")); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(stderr, "hambench: no store in %s: claims that need sampled chains are not decided\n", out)
		return func(string) (bench.Result, bool) { return bench.Result{}, false }, &claims.Cache{}, nil
	}
	store, err := readStore(out)
	if err != nil {
		return nil, nil, err
	}
	cache := certifiedRows(store)
	cache.Optional = true // a store that one may only read can be asked, too
	return store.Get, cache, nil
}

// certifiedRows is where a store keeps exact errors.
func certifiedRows(s *bench.Store) *claims.Cache {
	return &claims.Cache{Dir: filepath.Join(s.Dir(), "certified")}
}

// exactJobs are the exact errors that experiments need, each once.
func exactJobs(exps []bench.Experiment) ([]claims.Job, error) {
	var jobs []claims.Job
	for _, e := range exps {
		switch e.ID {
		case claimsID: // all that there are
			return claims.Jobs()
		case ordersID:
			orders, err := claims.OrderJobs()
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, orders...)
		case bottleneckID:
			b, err := claims.BottleneckJob()
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, b)
		}
	}
	return jobs, nil
}

// certify computes the exact errors of this slice that the store lacks.
func (r *reproduction) certify(ctx context.Context) error {
	jobs, err := exactJobs(r.exps)
	if err != nil {
		return err
	}
	var mine []claims.Job
	for _, j := range jobs {
		if r.slice.Has(j.Key) {
			mine = append(mine, j)
		}
	}
	_, err = r.cache.Rows(ctx, mine, r.workers)
	return err
}

// secondsPerJob is what exact errors of one problem and integrator take, on
// average over the 58 of them.
const secondsPerJob = 0.2

// addExact adds to each experiment's estimate what its exact errors would
// take; those that two experiments share count in the first.
func (r *reproduction) addExact(estimates []bench.Estimate) error {
	seen := make(map[string]bool)
	for i := range estimates {
		jobs, err := exactJobs(r.exps[i : i+1])
		if err != nil {
			return err
		}
		jobs = slices.DeleteFunc(jobs, func(j claims.Job) bool {
			mine := !seen[j.Key] && r.slice.Has(j.Key)
			seen[j.Key] = true
			return !mine
		})
		_, missing := r.cache.Known(jobs)
		estimates[i].Seconds += float64(missing) * secondsPerJob
	}
	return nil
}

// drawOrders draws the figure and the table of orders.
func (r *reproduction) drawOrders() (*figures.Output, error) {
	jobs, err := claims.OrderJobs()
	if err != nil {
		return nil, err
	}
	rows, missing := r.cache.Known(jobs)
	if len(rows) == 0 {
		return nil, fmt.Errorf("no exact errors in %s: run hambench reproduce --only %s first", r.cache.Dir, ordersID)
	}
	o, err := figures.DrawOrders(rows, figures.Options{Dir: r.out, Profile: r.profileLabel()})
	if err != nil {
		return o, err
	}
	o.Text = "" // hundreds of lines, which are in a file
	o.Notes = append(o.Notes, countVerdicts(rows)+"; the table is orders.txt")
	if missing > 0 {
		o.Notes = append(o.Notes, missingErrors(missing, len(jobs), ordersID))
	}
	return o, nil
}

// countVerdicts says how many fitted orders have which verdict.
func countVerdicts(rows []certify.Row) string {
	n := make(map[certify.Verdict]int)
	total := 0
	for _, row := range rows {
		for _, o := range row.Observables {
			n[o.Verdict]++
			total++
		}
	}
	line := fmt.Sprintf("%d orders", total)
	for _, v := range []certify.Verdict{certify.Confirmed, certify.Exact, certify.Refuted, certify.Unstable, certify.Inconclusive} {
		if n[v] > 0 || v == certify.Confirmed || v == certify.Refuted {
			line += fmt.Sprintf(", %d %s", n[v], v)
		}
	}
	return line
}

// missingErrors says that exact errors are missing and how to get them.
func missingErrors(missing, of int, id string) string {
	return fmt.Sprintf("%d of %d files of exact errors are missing: run hambench reproduce --only %s", missing, of, id)
}

// addExactBottleneck draws the bottleneck without noise beside the sampled
// one and adds the files to those of the sampled one.
func (r *reproduction) addExactBottleneck(e bench.Experiment, o *figures.Output) error {
	job, err := claims.BottleneckJob()
	if err != nil {
		return err
	}
	rows, missing := r.cache.Known([]claims.Job{job})
	if missing > 0 {
		o.Notes = append(o.Notes, "bottleneck-exact is not drawn: "+missingErrors(1, 1, bottleneckID))
		return nil
	}
	exact, err := figures.DrawExactBottleneck(e, r.store.Get, rows, figures.Options{Dir: r.out, Profile: r.profileLabel()})
	if err != nil {
		return err
	}
	o.Files = append(o.Files, exact.Files...)
	return nil
}

// drawClaims decides the claims by what there is and writes the page.
func (r *reproduction) drawClaims() (*figures.Output, error) {
	profile, err := r.lookupProfile()
	if err != nil {
		return nil, err
	}
	jobs, err := claims.Jobs()
	if err != nil {
		return nil, err
	}
	rows, missing := r.cache.Known(jobs)
	decisions := claims.Decide(claims.All(), &claims.Evidence{Rows: rows, Results: claims.FromStore(profile, r.store.Get)})
	o := &figures.Output{}
	if missing > 0 {
		o.Notes = []string{missingErrors(missing, len(jobs), claimsID)}
	}
	if o.Text, err = claims.Table(decisions, r.profileLabel()); err != nil {
		return nil, err
	}
	o.Files, err = claims.Save(r.out, decisions, r.profileLabel())
	return o, err
}
