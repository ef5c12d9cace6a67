// Package page writes what a run left in its store as one page: an HTML file
// that can be read without other files, a network or scripts.
//
//	plans, err := bench.Plans(store, "quick")
//	err = page.New(plans, bench.NewResults(store)).Write(w)
//
// Figures and tables are the values that package figures makes for its files, claims those of
// package paper. Figures are their SVG files, in the page. What the script adds is convenience:
// filters of claims, sorted tables, unpacked CSV files.
//
// The page opens with the picture of the main finding and its claim, and has six sections. Claims
// are what was found, decided ones first. The ranking and the orders are matrices: rows of the
// run's table, grouped by integrator and data set, or by sampler and scheme. Figures and tables
// come by study, in the order of the run, with the claims of a user's study beside its own. The
// provenance names machines, commits and data, and lists what a reader should know of: chains that
// diverged, and references whose checks failed. The terms explain the letters.
//
// Nothing of what is shown is computed here but counts and the ranking. Names from a user's
// files are text wherever they stand: the templates escape them.
package page

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/figures"
	"hambench/internal/distinct"
	"hambench/paper"
)

// Page is what a page shows. It is plain data: Write makes HTML of it.
type Page struct {
	// Profile names the profile and what the run changed in it.
	Profile string
	// Running says how far a run under way has come, and makes the page reload
	// itself every minute. It is empty when the run has ended.
	Running string
	// Missing counts the cells and exact jobs without a result, of Wanted.
	Missing, Wanted int
	Chains, Judged  int                // that were run, and those of them whose distance was taken
	Warnings        []string           // what is missing or could not be drawn, each once
	Finding         *Finding           // nil if none is drawn and decided
	Claims          []paper.Decision   // of the program, decided ones first; none of own studies
	Studies         []Study            // that have any result
	Rankings        []Matrix[Cheapest] // by friction
	Orders          []Matrix[*Order]   // by problem
	Made            Provenance
}

// Finding is a picture and the claim that it shows.
type Finding struct {
	*figures.Figure
	Claim paper.Decision
}

// findings are what a page may open with, by the ids of figure and claim: the first that is
// drawn and decided.
var findings = []struct{ figure, claim string }{
	{"regimes", "regime-line"}, {"bottleneck", "reshuffle-limit"},
}

// Study is what one study shows: its figures and tables, and what a user's study claims.
type Study struct {
	ID, Title string
	*figures.Output
	Claims []paper.Decision // that a user's study states
}

// FailedReference is a reference with checks that failed: their names, or how many.
type FailedReference struct {
	Dataset string // and the model, where the data set has several
	Split   int
	Checks  string
}

// Diverged is a chain whose numbers became infinite or NaN.
type Diverged struct {
	Dataset    string // and the model, where the data set has several
	Integrator string // with its parameters
	bench.Result
}

// Provenance is where the results come from, and of which of them a reader should know.
type Provenance struct {
	// Commits of the program, machines and versions of the compiler that made any record.
	Commits, Machines, Versions []string
	From, To                    time.Time // of the first and the last record
	Seconds                     float64   // that the jobs took, added up
	Data                        []bench.Data
	Diverged                    []Diverged
	Failed                      []FailedReference
}

// New makes the page of a run from its plans and the results that exist. Missing results are
// counted; a study without any result is left out, one that cannot be drawn is a warning.
func New(plans []bench.Plan, results bench.Results) *Page {
	p := &Page{}
	drawer := figures.Drawer{Results: results, All: plans}
	rows := results.Table(plans)
	var claims []paper.Claim // the paper's are no matter of a run of a user's studies alone
	if slices.ContainsFunc(plans, bench.Plan.BuiltIn) {
		claims = paper.Claims()
	}
	var absent []string // studies without any result
	for _, plan := range plans {
		p.Profile = cmp.Or(p.Profile, plan.Profile) // studies run by name come last
		if plan.BuiltIn() {
			claims = append(claims, paper.Later(plan.ID)...)
		}
		if plan.ID == paper.StudyID { // the claims, which have a section of their own
			continue
		}
		have := rows.Where("study", plan.ID).Where("origin", plan.Source()).
			Where("missing", false, nil).Where("check", nil)
		if have.Len() == 0 {
			absent = append(absent, plan.ID)
			continue
		}
		out, err := drawer.Make(plan)
		if err != nil {
			p.warn(fmt.Sprintf("%s: %v", plan.ID, err))
			continue
		}
		own := paper.Own([]bench.Plan{plan}, results)
		p.Studies = append(p.Studies, Study{plan.ID, plan.Title, out, own})
		for _, f := range out.Figures {
			p.warn(f.Warning)
		}
	}
	if len(absent) > 0 {
		p.warn("Without any result so far: " + strings.Join(absent, ", ") + ".")
	}
	// One table serves all that is counted and grouped.
	cells := chains(rows)
	p.count(plans, results, cells)
	p.Claims = paper.Decide(claims, paper.Rows(plans, results))
	slices.SortStableFunc(p.Claims, func(a, b paper.Decision) int {
		return cmp.Compare(rank(a.Verdict), rank(b.Verdict))
	})
	p.Finding = p.finding()
	p.Chains = cells.Len() - cells.Where("observe", string(bench.Density)).Len()
	p.Judged = cells.Where("observe", string(bench.Distance)).Filter(counted).Len()
	p.Rankings, p.Orders = newRankings(cells), newOrders(rows)
	return p
}

// finding returns what the page opens with, if it is there.
func (p *Page) finding() *Finding {
	for _, f := range findings {
		claim := slices.IndexFunc(p.Claims, func(d paper.Decision) bool {
			return d.ID == f.claim && d.Verdict != paper.NotDecided
		})
		for _, s := range p.Studies {
			drawn := func(o *figures.Figure) bool { return o.ID == f.figure }
			i := slices.IndexFunc(s.Figures, drawn)
			if i >= 0 && claim >= 0 {
				return &Finding{s.Figures[i], p.Claims[claim]}
			}
		}
	}
	return nil
}

// Opens reports whether the page opens with a figure: its study then refers to it.
func (p *Page) Opens(f *figures.Figure) bool { return p.Finding != nil && p.Finding.Figure == f }

// rank puts what is decided, either way, before what is not.
func rank(v paper.Verdict) int {
	if v == paper.Confirmed || v == paper.Refuted {
		return 0
	}
	return 1
}

// warn adds a warning, once; "" is none.
func (p *Page) warn(text string) {
	if text != "" {
		p.Warnings = distinct.Append(p.Warnings, text)
	}
}

// chains are the rows of the cells that have results, each cell once, whichever studies share
// it.
func chains(t *table.Table) *table.Table {
	seen := make(map[string]bool)
	there := t.Where("record", bench.CellRecord).Where("missing", false)
	return there.Filter(func(r table.Row) bool {
		key := r.Text("key") // of the job, equal in all studies that ask for it
		again := seen[key]
		seen[key] = true
		return !again
	})
}

// count counts what the plans want and what of it is missing, each job once, and adds to the
// provenance the records that are there, the data, the chains that diverged, and the
// references with checks that failed.
func (p *Page) count(plans []bench.Plan, results bench.Results, cells *table.Table) {
	// Studies share jobs: a key is counted once.
	seen := make(map[string]bool)
	want := func(kind store.Kind, key string) {
		if seen[key] {
			return
		}
		seen[key] = true
		p.Wanted++
		if r, ok := results.Get(kind, key); ok {
			p.Made.add(r)
		} else {
			p.Missing++
		}
	}
	for _, plan := range plans {
		for _, j := range plan.Cells {
			want(store.Result, j.Key)
		}
		for _, j := range plan.Exact {
			want(store.Exact, j.Key)
		}
		for _, d := range plan.Data {
			named := func(o bench.Data) bool { return o.Name == d.Name }
			if !slices.ContainsFunc(p.Made.Data, named) {
				p.Made.Data = append(p.Made.Data, d)
			}
		}
	}
	// Of what is there, a reader should know what went wrong. Each model of a data set has
	// references of its own.
	several := make(map[string]bool)
	for _, g := range cells.GroupBy("dataset") {
		several[g.Get("dataset").Text()] = g.Varies("model")
	}
	integrator := integratorOf(cells)
	for _, row := range cells.Rows() {
		r := row.Source.(bench.Result)
		name := r.Cell.Dataset
		if several[name] {
			name += ", " + r.Cell.Model
		}
		if r.Diverged {
			of := Diverged{name, integrator.Plain(row), r}
			p.Made.Diverged = append(p.Made.Diverged, of)
		}
		if r.ReferenceFailed != nil {
			of := FailedReference{name, r.Cell.Split, strings.Join(r.ReferenceFailed, "; ")}
			p.Made.Failed = distinct.Append(p.Made.Failed, of)
		}
	}
}

// add adds a record: who made it, when, and how long that took.
func (m *Provenance) add(r store.Record) {
	// Lists are of different values each, so that the order of the map does not matter.
	for to, text := range map[*[]string]string{
		&m.Commits: r.Made.Commit, &m.Machines: r.Made.Machine.String(), &m.Versions: r.Made.Go,
	} {
		if text != "" {
			*to = distinct.Append(*to, text)
		}
	}
	// A record may have no time.
	if at := r.Made.Time; !at.IsZero() {
		if m.From.IsZero() || at.Before(m.From) {
			m.From = at
		}
		if at.After(m.To) {
			m.To = at
		}
	}
	m.Seconds += r.Seconds
}

// The page's templates, its style sheet and its script, all of which go into the file.
//
//go:embed *.html
var pagesHTML embed.FS

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// pages are the templates of the page, with what they call. A class is a word of a verdict as
// CSS wants it: "no-stationary-law".
var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"css":    func() template.CSS { return template.CSS(pageCSS) },
	"js":     func() template.JS { return template.JS(pageJS) },
	"csv":    csvLink,
	"class":  func(v any) string { return strings.ReplaceAll(fmt.Sprint(v), " ", "-") },
	"counts": counts, "tallies": paper.Tallies,
	"date": func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
	"core": func(s float64) string {
		return time.Duration(s * float64(time.Second)).Round(time.Second).String()
	},
	"batch": func(c bench.Cell) string {
		if c.BatchSize == bench.Full {
			return "full"
		}
		if c.HasOwnData() { // of how many rows is known to the model alone
			return fmt.Sprintf("K = %d", c.Batches)
		}
		return fmt.Sprint(c.BatchSize)
	},
	"friction": func(c any) string { return strings.Replace(fmt.Sprint(c), "+Inf", "∞", 1) },
	"number": func(x certify.Number) string {
		if math.IsNaN(float64(x)) {
			return "–"
		}
		return fmt.Sprintf("%.3g", float64(x))
	},
}).ParseFS(pagesHTML, "*.html"))

// Write writes the page.
func (p *Page) Write(w io.Writer) error { return pages.ExecuteTemplate(w, "page.html", p) }

// dataURL is a file of a media type as a link that holds it.
func dataURL(kind string, b []byte) template.URL {
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(b))
}

// csvLink is the file of a figure's or a table's numbers, compressed: a page holds dozens. The
// script unpacks it; without the script the reader gets the compressed file.
func csvLink(r figures.Records) (template.URL, error) {
	text, err := r.CSV()
	if err != nil {
		return "", err
	}
	var b bytes.Buffer // which takes everything, so that writing cannot fail
	z := gzip.NewWriter(&b)
	z.Write(text)
	z.Close()
	return dataURL("application/gzip", b.Bytes()), nil
}

// count is how many claims have a verdict, or are made by someone.
type count struct {
	Name string
	N    int
}

// counts counts the claims by verdict, or by who makes them, in the order in which these occur:
// what the filters of the page offer.
func counts(decisions []paper.Decision, by string) (out []count) {
	for _, d := range decisions {
		name := cmp.Or(map[string]string{"verdict": string(d.Verdict)}[by], d.By)
		i := slices.IndexFunc(out, func(c count) bool { return c.Name == name })
		if i < 0 {
			i, out = len(out), append(out, count{Name: name})
		}
		out[i].N++
	}
	return out
}
