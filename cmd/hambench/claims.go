package main

import (
	"fmt"
	"io"
	"os"
	"runtime"

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
		Short: "Prints the claims of the paper with how each is tested, the number and the verdict.",
		Long: `Claims about orders are decided by exact errors, which are computed here if they
are not in the store yet (about a minute). The others are decided by the
cells that the store of --out has; what to run for more is said.`,
		Example: "hambench claims --format markdown",
		RunE: func(c *cobra.Command, _ []string) error {
			return f.claims(c, map[string]func(io.Writer, []paper.Decision, string) error{"text": paper.WriteText, "markdown": paper.WriteMarkdown, "json": paper.WriteJSON}[format])
		},
	}
	f.register(c, storeFlags)
	oneOf(c.Flags(), &format, "format", "format", "text", "markdown", "json")
	return c
}

func (f *selection) claims(c *cobra.Command, write func(io.Writer, []paper.Decision, string) error) error {
	ctx, stdout, stderr := c.Context(), c.OutOrStdout(), c.ErrOrStderr()
	keys, err := newKeys("", nil)
	if err != nil {
		return err
	}
	exact := *f
	exact.only = paper.StudyID
	wanted, err := exact.resolve(ctx, keys, stderr)
	if err != nil {
		return err
	}
	s, done, err := f.evidence(stderr)
	if err != nil {
		return err
	}
	defer done()
	sampled, err := bench.Plans(s, f.label())
	if err != nil {
		return err
	}
	runner := &sweep.Runner{Store: s, Source: keys.Source, Made: sweep.MadeHere(), Workers: runtime.GOMAXPROCS(0)}
	if _, err := runner.Run(ctx, wanted); err != nil {
		return err
	}
	evidence := paper.Gather(append(sampled, wanted...), bench.Results{Store: s})
	return write(stdout, paper.Decide(paper.Claims(), evidence), f.label())
}

// evidence returns a store that can be written, with the runs of the profile
// in it: that of --out, or, if there is none or it can only be read, one that is
// removed when done is called.
func (f *selection) evidence(stderr io.Writer) (s *store.Store, done func() error, err error) {
	_, absent := os.Stat(storePath(f.out))
	if absent != nil {
		fmt.Fprintf(stderr, "hambench: no store in %s: claims that need sampled chains are not decided\n", f.out)
	} else if _, err = readStore(f.out); err != nil {
		return nil, nil, err
	} else if s, err = openStore(f.out, stderr); err == nil {
		return s, s.Close, nil
	}
	dir, err := os.MkdirTemp("", "hambench-")
	if err != nil {
		return nil, nil, err
	}
	done = func() error { s.Close(); return os.RemoveAll(dir) }
	if s, err = store.Open(dir, sweep.Here()); err == nil && absent == nil {
		_, err = s.Merge(store.Published, storePath(f.out))
	}
	return s, done, err
}
