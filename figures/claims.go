package figures

import (
	"fmt"
	"io"

	"hambench/bench"
	"hambench/paper"
)

// drawClaims decides the paper's claims by all that the run has of built-in studies, and writes
// them as text, as a page, and as JSON. Claims whose exact errors are missing are not decided,
// which is a note.
func drawClaims(d *drawing) error {
	if _, missing := d.Results.Missing(d.plan.Study); missing > 0 {
		d.note(fmt.Sprintf("%d of %d exact jobs are missing: claims that need them are not decided",
			missing, len(d.plan.Exact)))
	}
	// Of the run's studies, of which this one may not be among those stored so far.
	rows := paper.Rows(append(d.All, d.plan), d.Results)
	return d.writeClaims(paper.Decide(paper.Claims(), rows), "")
}

// decideLater writes the verdicts of the claims that the study decides by itself. A user's study
// decides no claims of the program, whatever its id is.
func (d *drawing) decideLater() error {
	if claims := paper.Later(d.plan.ID); d.plan.BuiltIn() && len(claims) > 0 {
		rows := paper.Rows([]bench.Plan{d.plan}, d.Results)
		return d.writeClaims(paper.Decide(claims, rows), "-claims")
	}
	return nil
}

// writeClaims writes decisions to files named after the study and a suffix, and makes their
// table the text of the study.
func (d *drawing) writeClaims(decisions []paper.Decision, suffix string) error {
	// The profile stands in all three files: verdicts depend on how much was run.
	profile := d.plan.Profile
	var err error
	if d.out.Text, err = paper.Table(decisions, profile, d.Width); err != nil {
		return fmt.Errorf("figures: claims: %w", err)
	}
	for _, f := range []struct {
		ending string
		write  func(io.Writer, []paper.Decision, string) error
	}{{".txt", paper.WriteText}, {".md", paper.WriteMarkdown}, {".json", paper.WriteJSON}} {
		d.file(suffix+f.ending, func(w io.Writer) error { return f.write(w, decisions, profile) })
	}
	return nil
}
