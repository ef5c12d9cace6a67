package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/sweep"
	"hambench/paper"
	"hambench/usage"
)

// claimsCommand returns the command that decides claims: the paper's, for which missing exact
// errors are computed, or those of a user's study, for which nothing is.
func claimsCommand() *cobra.Command {
	var f selection
	format, strict := "text", false
	c := &cobra.Command{
		Use: "claims [FILE]",
		Short: "Prints the claims of the paper, or of a study, each with its test, the number " +
			"and the verdict.",
		Long: `Claims about orders are decided by exact errors, which are computed here unless
the store has them (about a minute). The others are decided by the cells in the
store of --out; where some are missing, the output says what to run. Each test was
frozen on a day that is stated; a verdict on results from that day or before says
so. JSON has the query, the limits and both ratios of each.

With the FILE of a study, the claims that it states ([[claim]], docs/studies.md)
are decided by what its run left in the store; nothing is computed. The run is that of
the file as it is, unless --profile names one of its profiles.`,
		Args:    cobra.MaximumNArgs(1),
		Example: "hambench claims --format markdown",
		RunE: func(c *cobra.Command, args []string) error {
			decisions, err := f.claims(c, args)
			if err != nil {
				return err
			}
			// The format is a key of the map: oneOf has refused all others.
			if err := claimWriters[format](f.stdout, decisions, f.label()); err != nil {
				return err
			}
			return refusal(decisions, strict)
		},
	}
	f.register(c, storeFlags)
	oneOf(c.Flags(), &format, "format", "format", "text", "markdown", "json")
	c.Flags().BoolVar(&strict, "strict", false, "exit with 1 if a claim is refuted")
	return c
}

// claimWriters write decisions, by format.
// The keys are the words of --format. Each writes to a writer with a label for the run.
var claimWriters = map[string]func(io.Writer, []paper.Decision, string) error{
	"text": paper.WriteText, "markdown": paper.WriteMarkdown, "json": paper.WriteJSON,
}

// refusal is the error of --strict.
// It is nil without --strict, or if no claim is refuted: what is not decided is no failure,
// since most runs hold a part of the evidence.
func refusal(decisions []paper.Decision, strict bool) error {
	var refuted []string
	for _, d := range decisions {
		if d.Verdict == paper.Refuted {
			refuted = append(refuted, d.ID)
		}
	}
	if !strict || refuted == nil {
		return nil
	}
	return fmt.Errorf("refuted: %s", strings.Join(refuted, ", "))
}

// claims decides the claims of a study's file, or those of the paper.
// The file of a study makes the difference: its claims are decided by its own rows only.
func (f *selection) claims(c *cobra.Command, args []string) ([]paper.Decision, error) {
	if len(args) == 1 {
		if err := f.takeStudy(c, args[0]); err != nil {
			return nil, err
		}
		return f.ownClaims()
	}
	return f.paperClaims(c.Context())
}

// ownClaims decides the claims that the file states now, by the rows that a run of the
// study left.
// The claims of the file replace those that the run's manifest has, so that a claim can be
// written or changed after the run.
func (f *selection) ownClaims() ([]paper.Decision, error) {
	profile, err := f.lookupProfile()
	if err != nil {
		return nil, err
	}
	study, err := f.study.Study(profile)
	switch {
	case err != nil:
		return nil, err
	case len(study.Claims) == 0 && f.study.BuiltIn():
		return nil, usage.Errorf("study %s states no claims of its own: those of the program are "+
			"decided by hambench claims, and those on later studies by hambench run %s",
			f.study.ID, f.study.ID)
	case len(study.Claims) == 0:
		return nil, usage.Errorf("%s states no claims: want [[claim]] (docs/studies.md)",
			f.study.Path)
	}
	plans, err := f.stored()
	if err != nil {
		return nil, err
	}
	f.noteOther(study, plans, "that")
	for i := range plans {
		plans[i].Claims = study.Claims
	}
	return paper.Own(plans, bench.NewResults(f.Store)), nil
}

// paperClaims computes the exact errors that the paper's claims need and the store lacks, and
// decides the claims by these and by the sampled runs of the profile.
func (f *selection) paperClaims(ctx context.Context) ([]paper.Decision, error) {
	if err := f.open(nil); err != nil {
		return nil, err
	}
	// The orders' exact jobs alone are computed; sampled runs are read as they are. The copy has a
	// selection of its own, and shares what is open.
	exact := *f
	exact.only = []string{paper.StudyID}
	wanted, err := exact.resolve(ctx)
	if err != nil {
		return nil, err
	}
	remove, err := f.openEvidence(ctx)
	defer remove()
	if err != nil {
		return nil, err
	}
	sampled, err := bench.Plans(f.Store, f.label())
	if err != nil {
		return nil, err
	}
	f.Progress = nil // only the claims are printed
	if _, err := f.Run(ctx, wanted); err != nil {
		return nil, err
	}
	rows := paper.Rows(append(sampled, wanted...), bench.NewResults(f.Store))
	return paper.Decide(paper.Claims(), rows), nil
}

// openEvidence opens a writable store that has the runs of the profile: that of
// --out or, if there is none or it is read-only, a temporary one, which remove
// deletes.
// A store that cannot be written is merged into the temporary one, without references: exact
// errors can then be added. Without a store, claims that need sampled chains stay undecided.
func (f *selection) openEvidence(ctx context.Context) (remove func(), err error) {
	remove = func() {} // the store of --out stays
	var there []*store.Store
	// Four cases: no store, one that cannot be read, one that can be written, and one that can only
	// be read, which s then holds for the merge below.
	if _, absent := os.Stat(storePath(f.out)); absent != nil {
		f.note("no store in %s: claims that need sampled chains are not decided", f.out)
	} else if s, err := store.Read(storePath(f.out), store.Machine{}); err != nil {
		return remove, err
	} else if f.openStore(store.Open, sweep.Here()) == nil {
		return remove, nil
	} else {
		there = append(there, s)
	}
	dir, err := os.MkdirTemp("", "hambench-")
	if err != nil {
		return remove, err
	}
	// From here on the folder must go whatever fails: the caller defers remove before it sees err.
	remove = func() { os.RemoveAll(dir) }
	f.Temporary = true
	if f.Store, err = store.Open(dir, sweep.Here()); err != nil {
		return remove, err
	}
	_, err = f.Store.Merge(ctx, store.Published, there...)
	return func() { f.Store.Close(); os.RemoveAll(dir) }, err
}
