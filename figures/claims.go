package figures

import (
	"fmt"
	"io"

	"hambench/paper"
)

// drawClaims decides the paper's claims by all that the run has, and writes
// them as text, as a page, and as JSON.
func drawClaims(d *drawing) error {
	if _, missing := d.plan.Evidence(d.Results.Rows); len(missing) > 0 {
		d.note(fmt.Sprintf("%d of %d exact jobs are missing: claims that need them are not decided", len(missing), len(d.plan.Exact)))
	}
	rows := paper.Rows(append(d.All, d.plan), d.Results)
	return d.writeClaims(paper.Decide(paper.Claims(), rows), "")
}

// writeClaims writes decisions to files whose names end in suffix.
func (d *drawing) writeClaims(decisions []paper.Decision, suffix string) error {
	profile := d.plan.Profile
	var err error
	if d.out.Text, err = paper.Table(decisions, profile, d.width()); err != nil {
		return fmt.Errorf("figures: claims: %w", err)
	}
	d.file(suffix+".txt", func(w io.Writer) error { return paper.WriteText(w, decisions, profile) })
	d.file(suffix+".md", func(w io.Writer) error { return paper.WriteMarkdown(w, decisions, profile) })
	d.file(suffix+".json", func(w io.Writer) error { return paper.WriteJSON(w, decisions, profile) })
	return nil
}
