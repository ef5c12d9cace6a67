package figures

import (
	"bytes"
	"fmt"
	"io"

	"hambench/internal/table"
	"hambench/paper"
)

// drawClaims decides the paper's claims by all that the run has, and writes
// them as text, as a page, and as JSON.
func drawClaims(d *drawing) error {
	if _, missing := d.plan.Evidence(d.Results.Rows); len(missing) > 0 {
		d.note(fmt.Sprintf("%d of %d exact jobs are missing: claims that need them are not decided", len(missing), len(d.plan.Exact)))
	}
	decisions := paper.Decide(paper.Claims(), paper.Gather(append(d.All, d.plan), d.Results))
	var err error
	if d.out.Text, err = paper.Table(decisions, d.plan.Profile, table.Width()); err != nil {
		return fmt.Errorf("figures: claims: %w", err)
	}
	for _, f := range []struct {
		suffix string
		write  func(io.Writer, []paper.Decision, string) error
	}{{".txt", paper.WriteText}, {".md", paper.WriteMarkdown}, {".json", paper.WriteJSON}} {
		var b bytes.Buffer
		if err := f.write(&b, decisions, d.plan.Profile); err != nil {
			return fmt.Errorf("figures: claims%s: %w", f.suffix, err)
		}
		if err := d.write(f.suffix, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
