package paper

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"hambench/internal/table"
)

// Table returns the claims as an ASCII table, a line each, of at most width
// characters if that can be; 0 is any width.
func Table(decisions []Decision, profile string, width int) (string, error) {
	var rows [][]string
	for _, d := range decisions {
		rows = append(rows, []string{d.ID, d.By, string(d.Verdict), d.Summary})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The claims of the paper, decided (%s)\n", counts(decisions, profile))
	_, err := table.Fit(&b, width, []int{0, 1, 0, 0}, []string{"claim", "by", "verdict", "number"}, rows)
	return b.String(), err
}

// WriteText prints the table of the claims, then the test and the numbers of
// each.
func WriteText(w io.Writer, decisions []Decision, profile string) error {
	head, err := Table(decisions, profile, 0)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	for _, d := range decisions {
		fmt.Fprintf(w, "\n%s: %s\n", d.ID, d.Verdict)
		for _, line := range []string{d.Statement, "where: " + d.Where, "test: " + d.Test, "found: " + d.Summary, d.Detail} {
			if line != "" {
				fmt.Fprintf(w, "  %s\n", line)
			}
		}
		for _, n := range d.Numbers {
			fmt.Fprintf(w, "    %s: %s\n", n.Name, n.Text)
		}
	}
	return nil
}

// counts says how many claims have which verdict.
func counts(decisions []Decision, profile string) string {
	n := make(map[Verdict]int)
	for _, d := range decisions {
		n[d.Verdict]++
	}
	return fmt.Sprintf("%d claims: %d confirmed, %d refuted, %d not decided; profile %s", len(decisions), n[Confirmed], n[Refuted], n[NotDecided], profile)
}

// WriteMarkdown prints the claims as a page.
func WriteMarkdown(w io.Writer, decisions []Decision, profile string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Claims\n\n")
	fmt.Fprintf(&b, "Claims of Franzese, Milios, Filippone and Michiardi, “Revisiting the Effects of Stochasticity for Hamiltonian Samplers” (AISTATS 2022), and how they hold.\n")
	fmt.Fprintf(&b, "Where a claim is not the paper's own, the column “by” says whose it is.\n\n%s.\n\n", counts(decisions, profile))
	fmt.Fprintf(&b, "| claim | by | statement | verdict | number |\n|---|---|---|---|---|\n")
	for _, d := range decisions {
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | **%s** | %s |\n", d.ID, d.ID, cell(d.By), cell(d.Statement), d.Verdict, cell(d.Summary))
	}
	for _, d := range decisions {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n- Said by: %s\n- Where: %s\n- Test: %s\n- Verdict: **%s**: %s\n", d.ID, d.Statement, d.By, d.Where, d.Test, d.Verdict, d.Summary)
		if d.Detail != "" {
			fmt.Fprintf(&b, "\n%s\n", d.Detail)
		}
		if len(d.Numbers) > 0 {
			fmt.Fprintf(&b, "\n| quantity | value |\n|---|---|\n")
		}
		for _, n := range d.Numbers {
			fmt.Fprintf(&b, "| %s | %s |\n", cell(n.Name), cell(n.Text))
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// cell is text as a cell of a Markdown table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// WriteJSON prints the claims as an array.
func WriteJSON(w io.Writer, decisions []Decision, profile string) error {
	type row struct {
		Claim
		Profile string `json:"profile"`
		Finding
	}
	rows := []row{}
	for _, d := range decisions {
		d.Numbers = append([]Number{}, d.Numbers...) // [], not null
		rows = append(rows, row{d.Claim, profile, d.Finding})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(rows)
}
