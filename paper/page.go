package paper

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/template"

	"hambench/internal/table"
)

// Table returns the claims as an ASCII table, one line each, at most width
// characters wide if possible; 0 means any width.
func Table(decisions []Decision, profile string, width int) (string, error) {
	var rows [][]string
	for _, d := range decisions {
		rows = append(rows, []string{d.ID, d.By, string(d.Verdict), d.Summary})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, decided (%s)\n", title(decisions), counts(decisions, profile))
	header := []string{"claim", "by", "verdict", "number"}
	_, err := table.Fit(&b, width, []int{0, 1, 0, 0}, header, rows)
	return b.String(), err
}

// title says whose claims these are: decisions are of one study's claims or of the paper's.
func title(decisions []Decision) string {
	if len(decisions) > 0 && decisions[0].Own {
		return "The claims of " + decisions[0].By
	}
	return "The claims of the paper"
}

//go:embed claims.txt.tmpl claims.md.tmpl
var pageTexts embed.FS

// A | in a text must not cut a cell of a Markdown table.
var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"own":  func(d []Decision) bool { return len(d) > 0 && d[0].Own },
	"cell": func(s string) string { return strings.ReplaceAll(s, "|", `\|`) },
}).ParseFS(pageTexts, "*"))

// page is what the templates show.
type page struct {
	Table, Title, Counts string
	Decisions            []Decision
}

// WriteText prints the table of the claims, then the test and the numbers of
// each.
func WriteText(w io.Writer, decisions []Decision, profile string) error {
	head, err := Table(decisions, profile, table.WidthOf(w))
	if err != nil {
		return err
	}
	p := page{Table: table.Colour(w, head), Decisions: decisions}
	return pages.ExecuteTemplate(w, "claims.txt.tmpl", p)
}

// WriteMarkdown prints the claims as a page.
func WriteMarkdown(w io.Writer, decisions []Decision, profile string) error {
	p := page{Title: title(decisions), Counts: counts(decisions, profile), Decisions: decisions}
	return pages.ExecuteTemplate(w, "claims.md.tmpl", p)
}

// counts says how many claims have which verdict, and under which profile they were
// decided: another one has other chains.
func counts(decisions []Decision, profile string) string {
	n := make(map[Verdict]int)
	for _, d := range decisions {
		n[d.Verdict]++
	}
	return fmt.Sprintf("%d claims: %d confirmed, %d refuted, %d not decided; profile %s",
		len(decisions), n[Confirmed], n[Refuted], n[NotDecided], profile)
}

// WriteJSON prints the claims as an array, each with its finding. A number that is infinite
// or not known is null there, and its text says which.
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
