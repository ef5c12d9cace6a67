package paper

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"hambench/bench"
	"hambench/internal/table"
)

// Table returns the claims as an ASCII table, one line each, at most width
// characters wide if possible; 0 means any width.
func Table(decisions []Decision, profile string, width int) (string, error) {
	var rows [][]string
	for _, d := range decisions {
		rows = append(rows, []string{d.ID, d.By, string(d.Verdict), d.Summary + d.Mark()})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, decided (%s)\n", title(decisions), counts(decisions, profile, ";\n"))
	header := []string{"claim", "by", "verdict", "number"}
	_, err := table.Fit(&b, width, []int{0, 1, 0, 0}, header, rows)
	return b.String(), err
}

// title says whose claims these are: of a study of the user's, of the paper and later ones,
// or of those that a study beyond the paper decides.
func title(decisions []Decision) string {
	switch {
	case len(decisions) > 0 && decisions[0].Own:
		return "The claims of " + decisions[0].By
	case ofPaper(decisions):
		return "The claims of the paper"
	}
	return "Claims beyond the paper"
}

// ofPaper reports whether any of the claims is the paper's.
func ofPaper(decisions []Decision) bool {
	return slices.ContainsFunc(decisions, func(d Decision) bool { return d.By == "paper" })
}

//go:embed claims.txt.tmpl claims.md.tmpl
var pageTexts embed.FS

// A | in a text must not cut a cell of a Markdown table.
var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"own":     func(d []Decision) bool { return len(d) > 0 && d[0].Own },
	"ofPaper": ofPaper,
	"cell":    func(s string) string { return strings.ReplaceAll(s, "|", `\|`) },
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
	p := page{
		Title: title(decisions), Counts: counts(decisions, profile, "; "), Decisions: decisions,
	}
	return pages.ExecuteTemplate(w, "claims.md.tmpl", p)
}

// Whose says whose claim it is: the paper's, our own, or another author's. A corrected
// law is not the paper's.
func (c Claim) Whose() string {
	switch {
	case c.Own:
		return c.By
	case c.By == "paper":
		return "the paper's"
	case c.By == "not in the paper":
		return "our own"
	}
	return "of others"
}

// Tally is how many claims of a kind have which verdict.
type Tally struct {
	Whose                                string
	Claims                               int
	Confirmed, Refuted, Open, BeforeTest int
}

// Tallies counts claims by whose they are, in the order in which these occur.
func Tallies(decisions []Decision) (out []Tally) {
	for _, d := range decisions {
		i := slices.IndexFunc(out, func(t Tally) bool { return t.Whose == d.Whose() })
		if i < 0 {
			i = len(out)
			out = append(out, Tally{Whose: d.Whose()})
		}
		out[i].add(d)
	}
	return out
}

// add counts a decision.
func (t *Tally) add(d Decision) {
	t.Claims++
	switch d.Verdict {
	case Confirmed:
		t.Confirmed++
	case Refuted:
		t.Refuted++
	default:
		t.Open++
	}
	if d.BeforeFreeze {
		t.BeforeTest++
	}
}

// String has the counts in words.
func (t Tally) String() string {
	return fmt.Sprintf("%d confirmed, %d refuted, %d not decided",
		t.Confirmed, t.Refuted, t.Open)
}

// counts says how many claims have which verdict, whose they are, how many verdicts rest on
// what was known when their tests were frozen, and under which profile they were decided:
// another one has other chains. What is separated is of all claims, of some, and of the run.
func counts(decisions []Decision, profile, separator string) string {
	var all Tally
	for _, d := range decisions {
		all.add(d)
	}
	text := fmt.Sprintf("%d claims: %v", len(decisions), all)
	if len(decisions) == 1 {
		text = fmt.Sprintf("1 claim: %v", all)
	}
	if of := Tallies(decisions); len(of) > 1 {
		for _, t := range of {
			text += fmt.Sprintf("%s%s %d: %v", separator, t.Whose, t.Claims, t)
		}
	}
	if all.BeforeTest > 0 {
		text += fmt.Sprintf("%s%d read results from before the freeze of their tests",
			separator, all.BeforeTest)
	}
	return text + "; profile " + profile
}

// Mark says what a reader must know beside a verdict: that it rests on results from before
// the freeze of its test, and where chains have been run since, what either say alone; or
// that the test was changed since. It may be empty.
func (f Finding) Mark() string {
	switch {
	case f.TestChanged:
		return " (the test was changed after its freeze)"
	case f.Since != nil:
		return fmt.Sprintf(" (by chains from before the freeze %s, by those since %s)",
			f.Known.Verdict, f.Since.Verdict)
	case f.BeforeFreeze && f.fresh > 0:
		return " (in part before the freeze)"
	case f.BeforeFreeze:
		return " (before the freeze)"
	}
	return ""
}

// query is how a case reads its rows, for programs: where selects columns, over replaces
// some of them on the other side of a ratio.
type query struct {
	Title     string           `json:"title,omitempty"`
	Statistic string           `json:"statistic"` // "" where a program decides
	Of        string           `json:"of"`
	Where     map[string][]any `json:"where"`
	Over      map[string][]any `json:"over,omitempty"`
	Limit     [2]bench.Real    `json:"limit"`
	Level     float64          `json:"level"`
	Rows      int              `json:"rows"` // that were read, of both sides of a ratio
	// Export writes the rows of sampled chains, given the run's own flags. Exact errors are
	// those of certify.
	Export string `json:"export,omitempty"`
}

// queries are those of the claim's cases.
func (d Decision) queries() []query {
	out := []query{}
	for i, x := range d.Cases {
		q := query{
			Title: x.Title, Statistic: x.Statistic, Of: x.Of, Where: plain(x.Where),
			Over: plain(x.Over), Limit: x.Between, Level: cmp.Or(x.Level, defaultLevel),
		}
		// reads is empty where a case that must have rows had none: nothing was decided then.
		if i < len(d.reads) {
			q.Rows = d.reads[i]
		}
		var studies []string
		for _, v := range x.Where["study"] {
			studies = append(studies, fmt.Sprint(v))
		}
		if len(studies) > 0 && !slices.Contains(bench.Later(), d.Study) {
			q.Export = "hambench export --only " + strings.Join(studies, ",")
		}
		out = append(out, q)
	}
	return out
}

// plain has infinity as text, which JSON has no number for.
func plain(where map[string][]any) map[string][]any {
	out := make(map[string][]any)
	for column, values := range where {
		for _, v := range values {
			if v == inf {
				v = "inf"
			}
			out[column] = append(out[column], v)
		}
	}
	return out
}

// WriteJSON prints the claims as an array, each with its finding. A number that is infinite
// or not known is null there, and its text says which.
func WriteJSON(w io.Writer, decisions []Decision, profile string) error {
	type row struct {
		Claim
		Whose   string  `json:"whose"` // the paper's, our own, of others, or a study's
		Profile string  `json:"profile"`
		Query   []query `json:"query"`
		Finding
	}
	rows := []row{}
	for _, d := range decisions {
		d.Numbers = append([]Number{}, d.Numbers...) // [], not null
		rows = append(rows, row{d.Claim, d.Whose(), profile, d.queries(), d.Finding})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(rows)
}
