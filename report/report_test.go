package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"hambench/bench"
	"hambench/certify"
	"hambench/integrators"
	"hambench/minibatch"
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
		sweep.Data = append(sweep.Data, bench.Data{Name: set, Label: set, Rows: 455, Features: 13, Task: "regression"})
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
		rows, err := certify.Run(context.Background(), certify.Options{Problem: problem, Integrators: []integrators.Method{m}, Schemes: minibatch.Builtin()[:2], Inner: 1})
		if err != nil {
			t.Fatal(err)
		}
		body, err := json.Marshal(rows)
		put(store.Record{Kind: store.Exact, Key: name, Made: made, Body: body}, err)
		orders.Exact = append(orders.Exact, bench.ExactJob{Key: name, Purpose: bench.OfOrders, Exact: bench.Exact{Name: "gaussian", Integrator: name, Inner: 1}})
	}
	absent := sweep
	absent.ID, absent.Cells = "friction", []bench.Job{{Key: "none", Cell: bench.Cell{Dataset: "boston", Integrator: "leapfrog"}}}
	p, err := New([]bench.Plan{sweep, orders, absent}, bench.Results{Store: s})
	if err != nil {
		t.Fatal(err)
	}
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
	if got := strings.Count(body, `class="panel" data-find`); got != panels || panels < 4 {
		t.Errorf("%d panels on the page, want %d and 4 or more", got, panels)
	}
	for _, want := range []string{
		"local slope", "diverged", "Incomplete: 3 of", "Without any result so far: friction.", "0123abc", "2 January 2026", "amd64 generic", `<details class="order confirmed"`,
		"leapfrog has ergodic order 1", "Chains that diverged (4)", "methods-table.csv.gz",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
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

// actions uses every control as a reader would, and leaves what it saw as the
// document's last words.
const actions = `<pre id="seen"></pre><script>
const seen = {}, $ = (s) => document.querySelector(s), $$ = (s) => [...document.querySelectorAll(s)];
const press = (el, key) => el.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const shown = (s) => $$(s).filter((e) => e.getClientRects().length > 0).length;
seen.title = document.title;
seen.claims = shown(".claim");
const box = $("input[name=verdict][value='not decided']"); box.click();
seen.decided = shown(".claim");
box.click();
const words = $("input[name=words]"); words.value = "lietrotter"; words.dispatchEvent(new Event("input", { bubbles: true }));
seen.lietrotter = shown(".claim");
words.value = ""; words.dispatchEvent(new Event("input", { bubbles: true }));
const find = $("input[name=find]"); find.value = "boston full"; find.dispatchEvent(new Event("input", { bubbles: true }));
seen.found = shown(".panel[data-find]");
find.value = ""; find.dispatchEvent(new Event("input", { bubbles: true }));
seen.panels = shown(".panel[data-find]");
const figure = $("figure.panels"), entry = figure.querySelector("button.entry"), chart = figure.querySelector("svg.chart");
const lines = () => [...figure.querySelectorAll("g[data-line]")].filter((g) => !g.classList.contains("off")).length;
seen.lines = lines(); entry.click(); seen.linesLess = lines(); entry.click(); seen.linesAgain = lines();
chart.focus(); seen.focused = document.activeElement === chart;
press(chart, "ArrowRight"); seen.reading = figure.querySelector(".reading").textContent;
press(chart, "ArrowRight"); seen.next = figure.querySelector(".reading").textContent;
const mark = chart.querySelector(".point").getBoundingClientRect();
chart.dispatchEvent(new PointerEvent("pointermove", { clientX: mark.x + 1, clientY: mark.y + 1, bubbles: true }));
seen.hover = figure.querySelector(".reading").textContent;
const column = $$("#ranking th button")[0], order = () => $$("#ranking tbody th").map((t) => t.textContent).join();
column.click(); seen.up = order(); column.click(); seen.down = order(); seen.sort = column.parentElement.getAttribute("aria-sort");
figure.querySelector(".enlarge").click(); seen.dialog = $("dialog").open; seen.large = $("dialog svg").getBoundingClientRect().width > chart.getBoundingClientRect().width;
$("dialog").close();
seen.unnamed = $$("button, input, a, summary, svg[tabindex], [role=group]").filter((e) =>
  !(e.getAttribute("aria-label") || e.textContent.trim() || (e.labels && e.labels.length))).length;
seen.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
document.getElementById("seen").textContent = JSON.stringify(seen);
</script>`

// In a browser without a network every control acts, by the keyboard as well, the
// console stays silent, and nothing is wider than a phone.
func TestThePageInABrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no browser: install chromium (apt-get install chromium)")
	}
	_, html := testPage(t)
	path := filepath.Join(t.TempDir(), "index.html")
	if err := os.WriteFile(path, []byte(strings.Replace(html, "</body>", actions+"</body>", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{500, 1600} { // headless windows are no narrower than 500
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
				"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
				"--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", fmt.Sprintf("--window-size=%d,1200", width), "--dump-dom", "file://"+path)
			var log bytes.Buffer
			cmd.Stderr = &log
			dom, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, log.String())
			}
			for line := range strings.Lines(log.String()) {
				if strings.Contains(line, "CONSOLE") {
					t.Errorf("console: %s", line)
				}
			}
			m := regexp.MustCompile(`<pre id="seen">(.*?)</pre>`).FindSubmatch(dom)
			if m == nil {
				t.Fatalf("the page's script did not run to its end: %s", log.String())
			}
			var seen struct {
				Title, Reading, Next, Hover, Up, Down, Sort                                             string
				Claims, Decided, Lietrotter, Found, Panels, Lines, LinesLess, LinesAgain, Unnamed, Wide int
				Focused, Dialog, Large                                                                  bool
			}
			if err := json.Unmarshal(bytes.ReplaceAll(m[1], []byte("&amp;"), []byte("&")), &seen); err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", seen)
			for what, ok := range map[string]bool{
				"title":             strings.HasPrefix(seen.Title, "hambench"),
				"filter by verdict": seen.Decided > 0 && seen.Decided < seen.Claims,
				"filter by words":   seen.Lietrotter > 0 && seen.Lietrotter < seen.Claims,
				"find panels":       seen.Found > 0 && seen.Found < seen.Panels,
				"switch lines":      seen.LinesLess < seen.Lines && seen.LinesAgain == seen.Lines,
				"keyboard":          seen.Focused && strings.Contains(seen.Reading, "η") && seen.Next != seen.Reading,
				"hover":             strings.Contains(seen.Hover, "η"),
				"sort":              seen.Up != seen.Down && seen.Sort == "descending",
				"enlarge":           seen.Dialog && (seen.Large || width == 500),
				"names":             seen.Unnamed == 0,
				"width":             seen.Wide <= 0,
			} {
				if !ok {
					t.Errorf("%s does not act", what)
				}
			}
		})
	}
}
