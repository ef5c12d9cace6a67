package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/certify"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/models/datasets"
	"hambench/paper"
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
						Batches: 1, BatchSize: batch, Step: h, Samples: 100, Thin: 1, Oracle: "reference"}
					if batch != bench.Full {
						c.Scheme, c.Batches = "reshuffle", 57
					}
					r := bench.Result{Cell: c, Key: c.Stream(), Made: made, Seconds: 2, KS: 0.1 + float64(i+k+n)*h, KSSelf: 0.1, KSSelfLow: 0.05, KSSelfHigh: 0.14, KSSelfSD: 0.007,
						Gradients: int64(5700 / (n + 1)), Diverged: name == "leapfrog" && n == 2}
					if r.Diverged {
						r.KS = 1
					}
					sweep.Cells = append(sweep.Cells, bench.Job{Key: r.Key, Cell: c})
					if name != "mt3" || n != 2 || batch != 8 {
						put(store.NewRecord(store.Result, r.Key, r.Seconds, r.Made, r))
					}
				}
			}
		}
	}
	orders := bench.Plan{Profile: "quick", Place: 1, Study: bench.Study{ID: "orders", Title: "Exact orders", Figure: &bench.FigureSpec{Kind: "orders"}}}
	work := orders
	work.ID, work.Title, work.Figure = "efficiency", "Work and precision", &bench.FigureSpec{Kind: "orders", X: bench.OnBudget, Y: bench.OnMSE, Lines: []string{"integrator"}}
	for _, name := range []string{"leapfrog", "lietrotter"} {
		m, err := integrators.Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		exact := func(to *bench.Plan, purpose string, budgets ...float64) {
			rows, err := certify.Run(context.Background(), certify.Options{Problem: certify.Builtin()[0], Integrators: []integrators.Integrator{m}, Schemes: minibatch.Builtin()[:2], Inner: 1, Budgets: budgets})
			if err != nil {
				t.Fatal(err)
			}
			body, err := json.Marshal(rows)
			key := purpose + "-" + name
			put(store.Record{Kind: store.Exact, Key: key, Made: made, Body: body}, err)
			to.Exact = append(to.Exact, bench.ExactJob{Key: key, Purpose: purpose, Exact: bench.Exact{Name: "gaussian", Integrator: name, Inner: 1}})
		}
		exact(&orders, bench.OfOrders)
		exact(&work, "efficiency", 1000, 100_000)
	}
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
	body, _, _ := strings.Cut(html, "<script>\"use strict\"")
	drawn := 0
	for _, s := range p.Studies {
		drawn += len(s.Figures)
	}
	if want := `aria-label="Work and precision: mean squared error (target variances) against budget (gradients of a batch)"`; !strings.Contains(body, want) {
		t.Errorf("no chart is called %q", want)
	}
	if got := strings.Count(body, `<svg class="chart"`); got != drawn || drawn < 3 {
		t.Errorf("%d charts on the page, want %d and 3 or more", got, drawn)
	}
	for _, want := range []string{
		"local slope", "diverged", "Incomplete: 3 of", "Without any result so far: friction.", "0123abc", "2 January 2026", "amd64 generic", `<details class="order confirmed"`,
		"leapfrog has ergodic order 1", "by those K, schemes, estimators and N_l", "Chains that diverged (4)", `<code title="0123456789abcdef0123">0123456789abcdef…</code>`, "methods-table.csv.gz", `aria-label="Numbers of reshuffle-order"`,
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

// The ranking takes the cheapest chain that is where right ones are: passes over the
// data, inf where none is. A chain that diverged never is.
func TestRanking(t *testing.T) {
	p, _ := testPage(t)
	got := places(p.Rankings)
	// boston: leapfrog 0.1, 0.12, diverged; mt3 0.11, 0.14, 0.22 (missing for B = 8). The
	// band of one predicted value reaches 0.14, that of a right chain's mean 0.116.
	for name, want := range map[string]string{
		"5 leapfrog boston": "100 B = 8, reshuffle, η = 0.01", "5 mt3 boston": "100 B = 8, reshuffle, η = 0.01",
		"5 leapfrog " + hostile: "100 B = 8, reshuffle, η = 0.01", "5 mt3 " + hostile: "inf ",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	none, never := Cheapest{Passes: math.NaN()}, Cheapest{Passes: math.Inf(1)}
	if none.Text() != "–" || never.Text() != "inf" {
		t.Errorf("no chain is %q, none in the band %q", none.Text(), never.Text())
	}
}

// places are the texts of rankings by friction, integrator and data set.
func places(rankings []Matrix[Cheapest]) map[string]string {
	got := make(map[string]string)
	for _, ranking := range rankings {
		for _, r := range ranking.Rows {
			for i, place := range r.Places {
				got[fmt.Sprint(ranking.Title, " ", r.Name, " ", ranking.Columns[i])] = place.Text() + " " + place.Of
			}
		}
	}
	return got
}

// memory are records by their keys.
type memory map[string]store.Record

func (m memory) Get(kind store.Kind, key string) (store.Record, bool) {
	r, ok := m[key]
	return r, ok && r.Kind == kind
}

// put keeps a body under a key.
func (m memory) put(t *testing.T, kind store.Kind, key string, body any) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	m[key] = store.Record{Kind: kind, Key: key, Body: b}
}

// An integrator that ran at several frictions gains nothing by its best one against
// those that ran at one. What a reference judged that failed a check has no place.
func TestIntegratorsAreRankedAtOneFriction(t *testing.T) {
	var plan bench.Plan
	m := make(memory)
	for _, c := range []struct {
		name     string
		friction bench.Real
		passes   int64
		failed   []string
	}{{"leapfrog", 1, 10, nil}, {"leapfrog", 5, 200, nil}, {"mt3", 5, 100, nil}, {"ubu", 5, 50, []string{"split-R̂"}}} {
		cell := bench.Cell{Observe: bench.Distance, Dataset: "boston", Integrator: c.name, Friction: c.friction, Batches: 1, BatchSize: bench.Full, Step: 0.01}
		plan.Cells = append(plan.Cells, bench.Job{Key: cell.Stream(), Cell: cell})
		m.put(t, store.Result, cell.Stream(), bench.Result{Cell: cell, KS: 0.1, KSSelf: 0.1, KSSelfSD: 0.01, Gradients: c.passes, ReferenceFailed: c.failed})
	}
	got := places(newRankings(chains(bench.Results{Store: m}.Table([]bench.Plan{plan, plan}))))
	want := map[string]string{"5 leapfrog boston": "200 full batch, η = 0.01", "5 mt3 boston": "100 full batch, η = 0.01", "5 ubu boston": "– "}
	if !maps.Equal(got, want) {
		t.Errorf("ranked %v, want %v", got, want)
	}
}

// Chains of few samples, at another temperature, or of a thinning that is stated are ranked among
// their like, and models and precisions of one data set have columns of their own, if several
// integrators do.
func TestIntegratorsAreRankedOnEqualTerms(t *testing.T) {
	usual := bench.Cell{Observe: bench.Distance, Dataset: "boston", Friction: 5, Batches: 1, BatchSize: bench.Full, Step: 0.05, Samples: 200, Thin: 50, BurnIn: 200, Precision: "float32"}
	for what, c := range map[string]struct {
		change func(c *bench.Cell)
		want   []string
	}{
		"none":        {func(*bench.Cell) {}, []string{"5 leapfrog boston", "5 mt3 boston"}},
		"samples":     {func(c *bench.Cell) { c.Samples = 5 }, nil},
		"temperature": {func(c *bench.Cell) { c.More = map[string]any{"temperature": 4.} }, nil},
		"thinning":    {func(c *bench.Cell) { c.Thin = 1 }, nil},
		"burn-in":     {func(c *bench.Cell) { c.BurnIn = 0 }, nil},
		"all samples": {func(c *bench.Cell) { c.Samples, c.Integrator = 5, c.Integrator+"-short" },
			[]string{"5, samples = 200 leapfrog boston", "5, samples = 200 mt3 boston", "5, samples = 5 leapfrog-short boston", "5, samples = 5 mt3-short boston"}},
		"model":           {func(c *bench.Cell) { c.Model = "bnn:400" }, nil},
		"precision":       {func(c *bench.Cell) { c.Precision = "float64" }, nil},
		"both models":     {func(c *bench.Cell) { c.Model = "bnn:400" }, []string{"5 leapfrog boston, ", "5 leapfrog boston, bnn:400", "5 mt3 boston, ", "5 mt3 boston, bnn:400"}},
		"both precisions": {func(c *bench.Cell) { c.Precision = "float64" }, []string{"5 leapfrog boston, float32", "5 leapfrog boston, float64", "5 mt3 boston, float32", "5 mt3 boston, float64"}},
		"all of leapfrog": {func(c *bench.Cell) {
			if c.Integrator == "leapfrog" {
				c.Precision = "float64"
			}
		}, []string{"5 leapfrog boston", "5 mt3 boston"}},
	} {
		var plan bench.Plan
		m := make(memory)
		put := func(cell bench.Cell) {
			plan.Cells = append(plan.Cells, bench.Job{Key: cell.Stream(), Cell: cell})
			m.put(t, store.Result, cell.Stream(), bench.Result{Cell: cell, KS: 0.1, KSSelf: 0.1, KSSelfSD: 0.01, Gradients: 100})
		}
		for i, name := range []string{"leapfrog", "mt3"} {
			cell := usual
			cell.Integrator = name
			all := strings.HasPrefix(what, "all") || strings.HasPrefix(what, "both")
			if all {
				put(cell)
			}
			if i > 0 || all {
				c.change(&cell)
			}
			put(cell)
		}
		if got := slices.Sorted(maps.Keys(places(newRankings(chains(bench.Results{Store: m}.Table([]bench.Plan{plan})))))); !slices.Equal(got, c.want) {
			t.Errorf("%s: ranked %q, want %q", what, got, c.want)
		}
	}
}

// What one integrator alone ran, batches, a scheme, N_l or an estimator, is not compared with what others ran:
// neither does it rank there, nor are the others said to have failed.
func TestIntegratorsAreRankedByWhatSeveralRan(t *testing.T) {
	for what, c := range map[string]struct {
		ran  string // cells: an integrator and its estimator, K, scheme, N_l and passes each
		want map[string]string
	}{
		"other batches": {"lietrotter 1 full 1 10, leapfrog 4 reshuffle 1 20", map[string]string{}},
		"batches of one alone": {"lietrotter 1 full 1 10, leapfrog 4 reshuffle 1 20, mt3 4 reshuffle 1 30",
			map[string]string{"5 leapfrog boston": "20 B = 32, reshuffle, η = 0.01", "5 mt3 boston": "30 B = 32, reshuffle, η = 0.01"}},
		"a scheme of one alone": {"leapfrog 4 reshuffle 1 20, mt3 4 reshuffle 1 30, leapfrog 4 symmetric 1 5",
			map[string]string{"5 leapfrog boston": "20 B = 32, reshuffle, η = 0.01", "5 mt3 boston": "30 B = 32, reshuffle, η = 0.01"}},
		"N_l of one alone": {"leapfrog 1 full 1 20, lietrotter 1 full 1 30, lietrotter 1 full 10 5",
			map[string]string{"5 leapfrog boston": "20 full batch, η = 0.01", "5 lietrotter boston": "30 full batch, η = 0.01"}},
		"N_l of both": {"leapfrog 1 full 10 20, lietrotter 1 full 10 30",
			map[string]string{"5 leapfrog boston": "20 full batch, N_l = 10, η = 0.01", "5 lietrotter boston": "30 full batch, N_l = 10, η = 0.01"}},
		"an estimator each": {"leapfrog/svrg 4 reshuffle 1 30, lietrotter/plain 4 reshuffle 1 10", map[string]string{}},
		"an estimator of one alone": {"leapfrog/plain 4 reshuffle 1 20, mt3/plain 4 reshuffle 1 30, mt3/svrg 4 reshuffle 1 5",
			map[string]string{"5 leapfrog boston": "20 B = 32, reshuffle, η = 0.01", "5 mt3 boston": "30 B = 32, reshuffle, η = 0.01"}},
		"an estimator of both": {"leapfrog/svrg 4 reshuffle 1 20, mt3/svrg 4 reshuffle 1 30",
			map[string]string{"5 leapfrog boston": "20 B = 32, reshuffle, svrg, η = 0.01", "5 mt3 boston": "30 B = 32, reshuffle, svrg, η = 0.01"}},
	} {
		var plan bench.Plan
		m := make(memory)
		for of := range strings.SplitSeq(c.ran, ", ") {
			cell := bench.Cell{Observe: bench.Distance, Dataset: "boston", Friction: 5, BatchSize: bench.Full, Step: 0.01}
			var passes int64
			if _, err := fmt.Sscan(of, &cell.Integrator, &cell.Batches, &cell.Scheme, &cell.Inner, &passes); err != nil {
				t.Fatal(err)
			}
			cell.Integrator, cell.Estimator, _ = strings.Cut(cell.Integrator, "/")
			if cell.Batches > 1 {
				cell.BatchSize = 32
			}
			plan.Cells = append(plan.Cells, bench.Job{Key: cell.Stream(), Cell: cell})
			m.put(t, store.Result, cell.Stream(), bench.Result{Cell: cell, KS: 0.1, KSSelf: 0.1, KSSelfSD: 0.01, Gradients: passes * int64(cell.Batches)})
		}
		if got := places(newRankings(chains(bench.Results{Store: m}.Table([]bench.Plan{plan})))); !maps.Equal(got, c.want) {
			t.Errorf("%s: ranked %v, want %v", what, got, c.want)
		}
	}
}

// divergedPage is a page of chains that diverged, no two of them alike.
func divergedPage(t *testing.T) string {
	t.Helper()
	var plan bench.Plan
	m := make(memory)
	for _, change := range []func(c *bench.Cell){
		func(c *bench.Cell) {}, func(c *bench.Cell) { c.Scheme = "cyclic" }, func(c *bench.Cell) { c.Seed = 2 },
		func(c *bench.Cell) { c.Model = "bnn:4" }, func(c *bench.Cell) { c.Values = map[string]float64{"a": 1} },
		func(c *bench.Cell) { c.Friction = bench.Real(math.Inf(1)) }, func(c *bench.Cell) { c.Friction = 0.5 },
	} {
		cell := bench.Cell{Observe: bench.Distance, Dataset: "boston", Model: "bnn", Integrator: "leapfrog", Inner: 1, Friction: 5, Batches: 15, BatchSize: 32, Scheme: "reshuffle", Step: 0.01, Seed: 1}
		change(&cell)
		plan.Cells = append(plan.Cells, bench.Job{Key: cell.Stream(), Cell: cell})
		m.put(t, store.Result, cell.Stream(), bench.Result{Cell: cell, KS: 1, Diverged: true, DivergedStep: 3})
	}
	var b bytes.Buffer
	if err := New([]bench.Plan{plan}, bench.Results{Store: m}).Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Of chains that diverged the page says what tells them apart.
func TestDivergedChainsAreToldApart(t *testing.T) {
	_, text, _ := strings.Cut(divergedPage(t), "Chains that diverged (7)")
	text, _, _ = strings.Cut(text, "</table>")
	seen := make(map[string]bool)
	for _, row := range strings.Split(text, "<tr>")[2:] {
		if seen[row] {
			t.Errorf("two chains have the row %s", row)
		}
		seen[row] = true
	}
	if len(seen) != 7 || !strings.Contains(text, "<td>∞</td>") || !strings.Contains(text, "<td>boston, bnn:4</td>") {
		t.Errorf("%d rows %s: want 7, one at ∞ friction, one of another model", len(seen), text)
	}
}

// A reference of one model of a data set that fails a check says nothing of another model's.
func TestFailedReferencesNameTheirModel(t *testing.T) {
	var plan bench.Plan
	m := make(memory)
	for _, c := range []struct {
		dataset, model string
		failed         []string
	}{{"yacht", "bnn", nil}, {"yacht", "bnn:4", []string{"restarts"}}, {"boston", "bnn", []string{"split-R̂"}}} {
		cell := bench.Cell{Observe: bench.Distance, Dataset: c.dataset, Model: c.model, Integrator: "leapfrog", Friction: 5, Batches: 1, BatchSize: bench.Full, Step: 0.01}
		plan.Cells = append(plan.Cells, bench.Job{Key: cell.Stream(), Cell: cell})
		m.put(t, store.Result, cell.Stream(), bench.Result{Cell: cell, KS: 0.1, ReferenceFailed: c.failed})
	}
	got := New([]bench.Plan{plan}, bench.Results{Store: m}).Made.Failed
	want := []FailedReference{{"yacht, bnn:4", 0, "restarts"}, {"boston", 0, "split-R̂"}}
	if !slices.Equal(got, want) {
		t.Errorf("references that failed: %v, want %v", got, want)
	}
}

// A control from other starts is not ranked, nor a model with data of its own, whose cells have
// no rows.
func TestControlsAreNotRanked(t *testing.T) {
	var plan bench.Plan
	m := make(memory)
	for _, c := range []struct {
		dataset, start string
		passes         int64
	}{{"boston", "", 200}, {"boston", "prior", 100}, {datasets.None, "", 100}} {
		cell := bench.Cell{Observe: bench.Distance, Dataset: c.dataset, Integrator: "leapfrog", Friction: 5, Batches: 1, BatchSize: bench.Full, Step: 0.01}
		other := cell
		other.Integrator = "mt3"
		for _, cell := range []bench.Cell{cell, other} {
			if c.start != "" {
				cell.More = map[string]any{"start": c.start}
			}
			plan.Cells = append(plan.Cells, bench.Job{Key: cell.Stream(), Cell: cell})
			m.put(t, store.Result, cell.Stream(), bench.Result{Cell: cell, KS: 0.1, KSSelf: 0.1, KSSelfSD: 0.01, Gradients: c.passes})
		}
	}
	got := places(newRankings(chains(bench.Results{Store: m}.Table([]bench.Plan{plan}))))
	want := map[string]string{"5 leapfrog boston": "200 full batch, η = 0.01", "5 mt3 boston": "200 full batch, η = 0.01"}
	if !maps.Equal(got, want) {
		t.Errorf("ranked %v, want %v", got, want)
	}
}

// Every verdict stands in its place as what it is, and every estimator and parameter
// set has a row.
func TestTheMatrixOfOrdersShowsEveryVerdict(t *testing.T) {
	var plan bench.Plan
	m := make(memory)
	add := func(row certify.Row, verdicts ...certify.Verdict) {
		row.Problem, row.Inner, row.Steps = "gaussian", 1, []float64{0.1}
		one := []certify.Number{1}
		for _, v := range verdicts {
			x := certify.Observable{Name: "theta.cov", Verdict: v, Errors: one, Resolution: one}
			row.Observables = append(row.Observables, x)
		}
		key := fmt.Sprint(len(m))
		m.put(t, store.Exact, key, []certify.Row{row})
		plan.Exact = append(plan.Exact, bench.ExactJob{Key: key, Purpose: bench.OfOrders, Exact: bench.Exact{
			Name: row.Problem, Integrator: row.Integrator, Estimator: row.Estimator, Values: row.Values, Inner: 1}})
	}
	for i, v := range certify.Verdicts() {
		add(certify.Row{Integrator: fmt.Sprint("planted ", i), Scheme: "full"}, certify.Exact, v, certify.Exact)
	}
	add(certify.Row{Integrator: "planted later", Scheme: "full"}, certify.Refuted, "a verdict of a later version")
	for _, estimator := range []string{"", "saga"} {
		for _, word := range []float64{1, 2} {
			row := certify.Row{Integrator: "leapfrog", Estimator: estimator, Values: map[string]float64{"a": word}, Scheme: "full"}
			add(row, certify.Confirmed)
		}
	}
	p := &Page{Orders: newOrders(bench.Results{Store: m}.Table([]bench.Plan{plan}))}
	var got, want []string
	for _, r := range p.Orders[0].Rows {
		got = append(got, r.Name+": "+string(r.Places[0].Verdict))
	}
	for i, v := range certify.Verdicts() {
		want = append(want, fmt.Sprintf("planted %d: %s", i, v))
	}
	want = append(want, "planted later: a verdict of a later version", "leapfrog, a = 1: confirmed", "leapfrog, a = 2: confirmed",
		"leapfrog, saga, a = 1: confirmed", "leapfrog, saga, a = 2: confirmed")
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, v := range certify.Verdicts()[2:] { // neither confirmed nor exact
		if !strings.Contains(b.String(), "<small>"+string(v)+"</small></summary>") {
			t.Errorf("the page does not say %q", v)
		}
	}
}

// The laws after a period and after every step have rows of their own.
func TestTheMatrixOfOrdersTellsLawsApart(t *testing.T) {
	var plan bench.Plan
	m := make(memory)
	for _, law := range []string{"period", "every-step"} {
		one := []certify.Number{1}
		row := certify.Row{Problem: "p", Integrator: "mt3", Inner: 1, Scheme: "full", Observe: law, Steps: []float64{0.1},
			Observables: []certify.Observable{{Name: "theta.cov", Errors: one, Resolution: one, Verdict: certify.Confirmed}}}
		m.put(t, store.Exact, law, []certify.Row{row})
		plan.Exact = append(plan.Exact, bench.ExactJob{Key: law, Purpose: bench.OfOrders, Exact: bench.Exact{Name: "p", Integrator: "mt3", Inner: 1}})
	}
	var got []string
	for _, r := range newOrders(bench.Results{Store: m}.Table([]bench.Plan{plan}))[0].Rows {
		got = append(got, r.Name+": "+r.Places[0].Observe)
	}
	if want := []string{"mt3: period", "mt3, every step: every-step"}; !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
}

// A place names the observables that its orders are of: on a scalar problem the second is of r
// alone, and no joint law.
func TestPlacesNameTheirObservables(t *testing.T) {
	for want, names := range map[string][2]string{
		"cov θ 2 · cov(θ, r) 1": {"theta.cov", "joint.cov"}, "E θ² 2 · E r² 3": {"theta^2", "r^2"},
	} {
		row := certify.Row{Problem: "p", Integrator: "mt3", Inner: 1, Scheme: "full", Steps: []float64{0.1}}
		for i, name := range names {
			one := []certify.Number{1}
			order := map[bool]certify.Number{true: 2, false: 3}[i == 0]
			if name == "joint.cov" {
				order = 1
			}
			row.Observables = append(row.Observables, certify.Observable{Name: name, Order: order, Errors: one, Resolution: one, Verdict: certify.Confirmed})
		}
		m := make(memory)
		m.put(t, store.Exact, "key", []certify.Row{row})
		plan := bench.Plan{Study: bench.Study{Exact: []bench.ExactJob{{Key: "key", Purpose: bench.OfOrders, Exact: bench.Exact{Name: "p", Integrator: "mt3", Inner: 1}}}}}
		p := &Page{Orders: newOrders(bench.Results{Store: m}.Table([]bench.Plan{plan}))}
		var b bytes.Buffer
		if err := p.Write(&b); err != nil || !strings.Contains(b.String(), "<summary>"+want+"</summary>") {
			t.Errorf("the page lacks %q (%v): %+v", want, err, p.Orders[0].Rows[0].Places[0])
		}
	}
}

// Where nothing can be ranked the page says what has been run.
func TestRankingWithoutComparisonsSaysWhatWasRun(t *testing.T) {
	const ownData = "the distance of a model with data of its own"
	for want, observe := range map[string][]bench.Observable{
		"No chain has been run yet.": {bench.Density},
		"Nothing to rank: of 1 chain that was run, 0 are judged by the distance to the posterior on a data set, and nowhere those of several integrators on equal terms.":  {bench.Density, bench.Path},
		"Nothing to rank: of 2 chains that were run, 1 is judged by the distance to the posterior on a data set, and nowhere those of several integrators on equal terms.": {bench.Histogram, bench.Distance},
		"of 3 chains that were run, 1 is judged by the distance to the posterior on a data set":                                                                            {bench.Path, ownData, bench.Distance},
	} {
		var plan bench.Plan
		m := make(memory)
		for _, o := range observe {
			cell := bench.Cell{Observe: o, Dataset: "toy", Integrator: "leapfrog", Friction: 1, Batches: 1, BatchSize: bench.Full, Step: 0.1}
			if o == ownData {
				cell.Observe, cell.Dataset, cell.Model = bench.Distance, datasets.None, "mine"
			}
			plan.Cells = append(plan.Cells, bench.Job{Key: cell.Stream(), Cell: cell})
			m.put(t, store.Result, cell.Stream(), bench.Result{Cell: cell, KS: 0.1})
		}
		var b bytes.Buffer
		if err := New([]bench.Plan{plan}, bench.Results{Store: m}).Write(&b); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%v: the page lacks %q (%v)", observe, want, err)
		}
	}
}

// The page of a user's study begins with it and has no claims of the paper; beside one of
// the program's own, the claims come first.
func TestAPageOfAUsersStudyBeginsWithIt(t *testing.T) {
	cell := bench.Cell{Observe: bench.Histogram, Dataset: "toy", Integrator: "leapfrog", Friction: 1, Batches: 1, BatchSize: bench.Full, Step: 0.1}
	job := bench.Job{Key: cell.Stream(), Cell: cell}
	own := bench.Plan{Study: bench.Study{ID: "mine", Title: "Mine", Origin: "mine.toml"}}
	theirs := bench.Plan{Study: bench.Study{ID: "toy"}}
	own.Cells, theirs.Cells = []bench.Job{job}, []bench.Job{job}
	m := make(memory)
	m.put(t, store.Result, job.Key, bench.Result{Cell: cell, KS: 0.1})
	sections := regexp.MustCompile(`<section id="([a-z]+)"`)
	for want, plans := range map[string][]bench.Plan{
		"figures ranking orders provenance":        {own},
		"claims ranking orders figures provenance": {own, theirs},
	} {
		var b bytes.Buffer
		if err := New(plans, bench.Results{Store: m}).Write(&b); err != nil {
			t.Fatal(err)
		}
		var got, linked []string
		for _, m := range sections.FindAllStringSubmatch(b.String(), -1) {
			got = append(got, m[1])
		}
		for _, m := range regexp.MustCompile(`<a href="#([a-z]+)">`).FindAllStringSubmatch(b.String(), -1) {
			linked = append(linked, m[1])
		}
		if strings.Join(got, " ") != want || strings.Join(linked, " ") != want+" terms" {
			t.Errorf("sections %v, links to %v: want %s", got, linked, want)
		}
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
