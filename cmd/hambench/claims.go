package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"hambench/bench"
	"hambench/paper"
	"hambench/store"
	"hambench/sweep"
)

func claimsCommand() *cobra.Command {
	var f selection
	format := "text"
	c := &cobra.Command{
		Use:   "claims",
		Short: "Prints the claims of the paper, each with its test, the number and the verdict.",
		Long: `Claims about orders are decided by exact errors, which are computed here unless
the store has them (about a minute). The others are decided by the cells in the
store of --out; where some are missing, the output says what to run.`,
		Example: "hambench claims --format markdown",
		RunE: func(c *cobra.Command, _ []string) error {
			return f.claims(c.Context(), map[string]func(io.Writer, []paper.Decision, string) error{"text": paper.WriteText, "markdown": paper.WriteMarkdown, "json": paper.WriteJSON}[format])
		},
	}
	f.register(c, storeFlags)
	oneOf(c.Flags(), &format, "format", "format", "text", "markdown", "json")
	return c
}

func (f *selection) claims(ctx context.Context, write func(io.Writer, []paper.Decision, string) error) error {
	if err := f.open(nil); err != nil {
		return err
	}
	exact := *f
	exact.only = []string{paper.StudyID}
	wanted, err := exact.resolve(ctx, f.stderr)
	if err != nil {
		return err
	}
	remove, err := f.openEvidence()
	defer remove()
	if err != nil {
		return err
	}
	sampled, err := bench.Plans(f.Store, f.label())
	if err != nil {
		return err
	}
	f.Progress = nil
	if _, err := f.Run(ctx, wanted); err != nil {
		return err
	}
	evidence := paper.Gather(append(sampled, wanted...), bench.Results{Store: f.Store})
	return write(f.stdout, paper.Decide(paper.Claims(), evidence), f.label())
}

// openEvidence opens a writable store that has the runs of the profile: that of
// --out or, if there is none or it is read-only, a temporary one, which remove
// deletes.
func (f *selection) openEvidence() (remove func(), err error) {
	remove = func() {}
	_, absent := os.Stat(storePath(f.out))
	if absent != nil {
		fmt.Fprintf(f.stderr, "hambench: no store in %s: claims that need sampled chains are not decided\n", f.out)
	} else if _, err := store.Read(storePath(f.out), store.Machine{}); err != nil {
		return remove, err
	} else if f.openStore(store.Open, sweep.Here()) == nil {
		return remove, nil
	}
	dir, err := os.MkdirTemp("", "hambench-")
	if err != nil {
		return remove, err
	}
	if f.Store, err = store.Open(dir, sweep.Here()); err == nil && absent == nil {
		_, err = f.Store.Merge(store.Published, storePath(f.out))
	}
	return func() { f.Store.Close(); os.RemoveAll(dir) }, err
}
