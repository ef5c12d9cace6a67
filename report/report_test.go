package report

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hambench/bench"
	"hambench/certify"
	"hambench/integrators"
	"hambench/minibatch"
	"hambench/paper"
	"hambench/store"
)

// hostile is a name that would run if a page took it for HTML.
const hostile = `<script>document.title="taken"</script>"'&`

// testPage makes a page from a store with two data sets, one of them with a
// hostile name, a diverged chain, a missing one, and exact errors.
func testPage(t *testing.T) (*Page, string) {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "store"), store.Machine{Arch: "amd64", ISA: "generic"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	made := store.Made{Machine: store.Machine{Arch: "amd64", ISA: "generic"}, Go: "go1.26", Commit: "0123abc", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	put := func(r store.Record, err error) {
		t.Helper()
		if err == nil {
			err = s.Put(r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sweep := bench.Plan{Profile: "quick", Study: bench.Study{ID: "methods", Title: "Distances " + hostile}}
	sweep.Methods = []bench.Method{{Name: "leapfrog", Position: 2}, {Name: "mt3", Position: 3}}
	for i, set := range []string{"boston", hostile} {
		sweep.Data = append(sweep.Data, bench.Data{Name: set, Label: set, Rows: 455, Features: 13, Task: "regression", Target: "=1+1" + hostile, Digest: "0123456789abcdef0123"})
		for _, batch := range []int{8, bench.Full} {
			for k, name := range []string{"leapfrog", "mt3"} {
				for n, h := range []float64{0.01, 0.02, 0.04} {
					c := bench.Cell{Observe: bench.Distance, Dataset: set, Model: "bnn", Integrator: name, Inner: 1, Friction: 5, Scheme: "full",
						Batches: 1, BatchSize: batch, Step: h, Samples: 40, Thin: 1, Oracle: "reference"}
					if batch != bench.Full {
						c.Scheme, c.Batches = "reshuffle", 57
					}
					r := bench.Result{Cell: c, Key: c.Stream(), Made: made, Seconds: 2, KS: 0.1 + float64(i+k+n)*h, KSSelf: 0.1, KSSelfLow: 0.05, KSSelfHigh: 0.14,
						Gradients: int64(5700 / (n + 1)), Diverged: name == "leapfrog" && n == 2}
					if r.Diverged {
						r.KS = 1
					}
					sweep.Cells = append(sweep.Cells, bench.Job{Key: r.Key, Cell: c})
					if name != "mt3" || n != 2 || batch != 8 {
						put(r.Record())
					}
				}
			}
		}
	}
	orders := bench.Plan{Profile: "quick", Place: 1, Study: bench.Study{ID: "orders", Title: "Exact orders", Figure: &bench.FigureSpec{Kind: "orders"}}}
	problem := certify.Builtin()[0]
	for _, name := range []string{"leapfrog", "lietrotter"} {
		m, err := integrators.Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := certify.Run(context.Background(), certify.Options{Problem: problem, Integrators: []integrators.Method{m}, Schemes: minibatch.Builtin()[:2], Inner: 1, Budgets: []float64{1000, 100_000}})
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(rows)
		put(store.Record{Kind: store.Exact, Key: name, Made: made, Body: body}, err)
		orders.Exact = append(orders.Exact, bench.ExactJob{Key: name, Purpose: bench.OfOrders, Exact: bench.Exact{Name: "gaussian", Integrator: name, Inner: 1}})
	}
	work := orders
	work.ID, work.Title, work.Figure = "efficiency", "Work and precision", &bench.FigureSpec{Kind: "orders", X: bench.OnBudget, Y: bench.OnMSE, Lines: []string{"integrator"}}
	absent := sweep
	absent.ID, absent.Cells = "friction", []bench.Job{{Key: "none", Cell: bench.Cell{Dataset: "boston", Integrator: "leapfrog"}}}
	p := New([]bench.Plan{sweep, orders, work, absent}, bench.Results{Store: s})
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return p, b.String()
}

// Without its script, and without anything else, the page has every figure, table,
// claim and number.
func TestThePageNeedsNoScriptAndNoOtherFile(t *testing.T) {
	p, html := testPage(t)
	body, _, ok := strings.Cut(html, "<script>\"use strict\"")
	if !ok {
		body, _, _ = strings.Cut(html, "<dialog")
	}
	panels := 0
	for _, s := range p.Studies {
		for _, f := range s.Figures {
			for _, row := range f.Rows {
				for _, panel := range row {
					if panel != nil {
						panels++
					}
				}
			}
		}
	}
	if want := "full: best step, gaussian: mean squared error (target variances) against budget (gradients of a batch)"; !strings.Contains(body, want) {
		t.Errorf("no chart is called %q", want)
	}
	if got := strings.Count(body, `class="panel" data-find`); got != panels || panels < 4 {
		t.Errorf("%d panels on the page, want %d and 4 or more", got, panels)
	}
	for _, want := range []string{
		"local slope", "diverged", "Incomplete: 3 of", "Without any result so far: friction.", "0123abc", "2 January 2026", "amd64 generic", `<details class="order confirmed"`,
		"leapfrog has ergodic order 1", "Chains that diverged (4)", `<code title="0123456789abcdef0123">0123456789abcdef…</code>`, "methods-table.csv.gz",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	decided := slices.IndexFunc(p.Claims, func(d paper.Decision) bool { return rank(d.Verdict) > 0 })
	if decided < 1 || slices.ContainsFunc(p.Claims[decided:], func(d paper.Decision) bool { return rank(d.Verdict) == 0 }) {
		t.Errorf("want decided claims, then those that are not: %d of %d come first", decided, len(p.Claims))
	}
	if m := regexp.MustCompile(`(?:src|href|action|url)\s*[=(]\s*["']?\s*(?:https?:)?//[^"')\s]*`).FindString(html); m != "" {
		t.Errorf("the page asks for another file: %s", m)
	}
}

// Names show as text, whatever they hold.
func TestHostileNamesAreText(t *testing.T) {
	_, html := testPage(t)
	if strings.Contains(html, `<script>document.title`) {
		t.Error("a name became a script")
	}
	if n := strings.Count(html, "&lt;script&gt;document.title"); n < 10 {
		t.Errorf("the name stands on the page %d times, want 10 or more", n)
	}
	if !strings.Contains(html, "<td>regression of =1&#43;1&lt;script&gt;") {
		t.Error("the name of a target's column is not on the page")
	}
}

// The ranking takes the cheapest chain within the band: passes over the data, inf
// where none got there. A chain that diverged is never within.
func TestRanking(t *testing.T) {
	p, _ := testPage(t)
	got := make(map[string]string)
	for _, r := range p.Ranking.Rows {
		for i, place := range r.Places {
			got[r.Name+" "+p.Ranking.Sets[i]] = place.Text() + " " + place.Of
		}
	}
	// boston: leapfrog 0.1, 0.12, diverged; mt3 0.11, 0.14, 0.22 (missing for B = 8).
	for name, want := range map[string]string{
		"leapfrog boston": "50 B = 8, η = 0.02", "mt3 boston": "50 B = 8, η = 0.02",
		"leapfrog " + hostile: "50 B = 8, η = 0.02", "mt3 " + hostile: "100 B = 8, η = 0.01",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	none, never := Place{Passes: math.NaN()}, Place{Passes: math.Inf(1)}
	if none.Text() != "–" || never.Text() != "inf" {
		t.Errorf("no chain is %q, none in the band %q", none.Text(), never.Text())
	}
}

// A page of a run under way loads itself again; one of a run that has ended does
// not.
func TestARunningPageLoadsItselfAgain(t *testing.T) {
	p, html := testPage(t)
	if strings.Contains(html, `http-equiv="refresh"`) {
		t.Error("the page of a run that has ended loads itself again")
	}
	p.Running = "jobs 3/7"
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `<meta http-equiv="refresh" content="60">`) || !strings.Contains(b.String(), "jobs 3/7") {
		t.Error("the page of a run under way does not load itself again, or does not say how far it is")
	}
}
