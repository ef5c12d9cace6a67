package figures

import (
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
	profile := d.plan.Profile
	d.file(".txt", func(w io.Writer) error { return paper.WriteText(w, decisions, profile) })
	d.file(".md", func(w io.Writer) error { return paper.WriteMarkdown(w, decisions, profile) })
	d.file(".json", func(w io.Writer) error { return paper.WriteJSON(w, decisions, profile) })
	return nil
}
