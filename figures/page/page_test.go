package page

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hambench/figures"
	"hambench/internal/long"
)

// saved writes a page to a file, and returns its path.
func saved(t *testing.T, html string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index.html")
	if err := os.WriteFile(path, []byte(html), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// shown is how many elements a reader can see.
func shown(selector string) string {
	return fmt.Sprintf("[...document.querySelectorAll(%q)].filter((e) => e.checkVisibility()).length", selector)
}

func (b *browser) count(selector string) (n int) {
	b.t.Helper()
	b.eval(shown(selector), &n)
	return n
}

// In a browser without a network every control acts, by the pointer and by the
// keyboard alone; nothing is asked of others, the console stays silent, and the
// page is no wider than its window.
func TestEveryControlOfThePageActs(t *testing.T) {
	_, html := testPage(t)
	path := saved(t, html)
	for _, width := range []int{400, 900, 1600} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			b := openBrowser(t, width)
			b.open(path)
			var narrow float64
			b.eval("Math.min(...[...document.querySelectorAll('svg.chart')].map((e) => e.getScreenCTM().a))", &narrow)
			if narrow < 1.1 { // the marks of axes have 8.5 points
				t.Errorf("a chart is drawn %.2f times as large as its file: too small to be read", narrow)
			}
			if title := b.text("document.title"); !strings.HasPrefix(title, "hambench") {
				t.Errorf("the title is %q", title)
			}
			claims := b.count(".claim")
			less := func(what string, got, all int) {
				t.Helper()
				if got <= 0 || got >= all {
					t.Errorf("%s: %d of %d are shown", what, got, all)
				}
			}
			b.point("document.querySelector(\"input[name=verdict][value='not decided']\")", true)
			less("filter by verdict", b.count(".claim"), claims)
			b.keys(" ")
			b.point("document.querySelector('input[name=words]')", true)
			b.keys(strings.Split("lietrotter", "")...)
			less("filter by words", b.count(".claim"), claims)
			b.eval("document.querySelector('input[name=words]').select()", nil)
			b.keys(" ")
			if got := b.count(".claim"); got != claims {
				t.Errorf("without filters there are %d of %d claims", got, claims)
			}
			b.point("document.querySelector('.claim summary')", true)
			if b.count(".claim[open]") != 1 {
				t.Error("a claim does not open")
			}
			b.eval("document.querySelector('figure .tips circle').scrollIntoView({block: 'center', inline: 'center'})", nil)
			at := "document.elementFromPoint(...(({x, y, width, height}) => [x + width / 2, y + height / 2])(document.querySelector('figure .tips circle').getBoundingClientRect()))"
			if got := b.text(at + ".querySelector('title').textContent"); !strings.Contains(got, "η = ") {
				t.Errorf("the point under the pointer is called %q", got)
			}
			order := "[...document.querySelectorAll('#ranking tbody th')].map((t) => t.textContent).join()"
			b.point("document.querySelector('#ranking th button')", true)
			up := b.text(order)
			b.point("document.querySelector('#ranking th button')", true)
			if down := b.text(order); up == down || b.text("document.querySelector('#ranking th').getAttribute('aria-sort')") != "descending" {
				t.Errorf("the ranking is %s after one click and %s after two", up, down)
			}
			b.point("document.querySelector('.order summary')", true)
			if b.count(".order[open] tbody tr") < 2 {
				t.Error("a place of the matrix does not show its observables")
			}
			if wide := b.text("document.documentElement.scrollWidth - document.documentElement.clientWidth"); wide != "0" {
				t.Errorf("the page is %s points wider than its window", wide)
			}
			for _, c := range b.complaints() {
				t.Error(c)
			}
		})
	}
}

// Printed, everything is within the page: paper does not scroll.
func TestThePrintedPageIsWhole(t *testing.T) {
	_, html := testPage(t)
	b := openBrowser(t, 500)
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
	b.open(saved(t, html))
	b.eval("for (const d of document.querySelectorAll('details')) d.open = true", nil)
	if n := b.text("[...document.querySelectorAll('svg.chart')].filter((e) => e.checkVisibility()).length"); len(n) == 1 && n < "3" {
		t.Fatalf("%s charts are printed", n)
	}
	if cut := b.text("[...document.querySelectorAll('svg.chart, table')].filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth).map((e) => e.closest('[aria-label]').ariaLabel).join()"); cut != "" {
		t.Errorf("beyond the edge of the paper: %s", cut)
	}
}

// Infinite numbers are sorted as numbers.
func TestInfinityIsSortedAsANumber(t *testing.T) {
	b := openBrowser(t, 1200)
	b.open(saved(t, divergedPage(t)))
	b.eval("for (const d of document.querySelectorAll('details')) d.open = true", nil)
	const table = "document.querySelector('[aria-label=\"Diverged chains\"]')"
	button := "[..." + table + ".querySelectorAll('th button')].find((e) => e.textContent === 'C')"
	for range 2 {
		b.eval(button+".click()", nil)
	}
	if got := b.text("[..." + table + ".querySelectorAll('tbody tr')].map((r) => r.cells[5].textContent).join(' ')"); got != "∞ 5 5 5 5 5 0.5" {
		t.Errorf("the largest frictions first are %s", got)
	}
}

// A reader without a pointer gets to everything that acts, in the order of the
// page, and sees where he is.
func TestTheKeyboardAloneReachesEverything(t *testing.T) {
	_, html := testPage(t)
	b := openBrowser(t, 1200)
	b.open(saved(t, html))
	b.eval(`window.wanted = [...document.querySelectorAll("a[href], button, input, summary, [tabindex='0']")].filter((e) => e.checkVisibility())`, nil)
	var all int
	b.eval("wanted.length", &all)
	var reached []int
	for range all {
		b.keys("Tab")
		var at int
		b.eval("wanted.indexOf(document.activeElement)", &at)
		reached = append(reached, at)
		if outline := b.text("getComputedStyle(document.activeElement).outlineStyle"); outline == "none" {
			t.Fatalf("no outline shows where the keyboard is: %s", b.text("document.activeElement.outerHTML.slice(0, 200)"))
		}
	}
	want := make([]int, all)
	for i := range want {
		want[i] = i
	}
	if !slices.Equal(reached, want) || all < 50 {
		t.Errorf("of %d controls the tabulator reaches %v", all, reached)
	}
	for _, c := range b.complaints() {
		t.Error(c)
	}
}

// Every link to numbers gives the file that is written beside the figure or the
// table, byte for byte: by the pointer, by the keyboard, and packed, for want of
// a script.
func TestTheLinksGiveTheFilesOfNumbers(t *testing.T) {
	p, html := testPage(t)
	path, want := saved(t, html), map[string]string{}
	for _, s := range p.Studies {
		for _, f := range s.Figures {
			want[f.ID] = csvOf(t, f.Data)
		}
		for _, f := range s.Tables {
			want[f.ID] = csvOf(t, f.Data)
		}
	}
	b := openBrowser(t, 1200)
	b.open(path)
	b.eval("for (const d of document.querySelectorAll('details')) d.open = true", nil)
	if n := b.count("a[download]"); n != len(want) || n < 3 {
		t.Fatalf("%d links to %d files", n, len(want))
	}
	for id, text := range want {
		link := fmt.Sprintf("document.querySelector(\"a[download='%s.csv.gz']\")", id)
		for how, act := range map[string]func(){
			"the pointer":  func() { b.point(link, true) },
			"the keyboard": func() { b.eval(link+".focus()", nil); b.keys("Enter") },
		} {
			if name, got := b.download(act); name != id+".csv" || got != text {
				t.Errorf("%s: %s gives %s: %.300q, want %.300q", id, how, name, got, text)
			}
		}
	}
	without := openBrowser(t, 1200)
	without.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	without.open(path)
	name, packed := without.download(func() { without.point("document.querySelector('figcaption a')", true) })
	z, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || string(got) != want[strings.TrimSuffix(name, ".csv.gz")] {
		t.Errorf("without a script %s holds %.300q, %v", name, got, err)
	}
}

func csvOf(t *testing.T, r figures.Records) string {
	t.Helper()
	text, err := r.CSV()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The page without its script shows the same figures, tables and claims.
func TestThePageWithoutScriptShowsEverything(t *testing.T) {
	_, html := testPage(t)
	path := saved(t, html)
	const all = ".claim, figure svg .tips circle, table, figcaption"
	with := openBrowser(t, 1200)
	with.open(path)
	without := openBrowser(t, 1200)
	without.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	without.open(path)
	if a, b := with.count(all), without.count(all); a != b || a < 50 {
		t.Errorf("%d claims, points and tables are seen with the script, %d without", a, b)
	}
	if n := without.count("form, th button"); n > 0 {
		t.Errorf("%d controls are seen that nothing acts on", n)
	}
}

// What the page throws, writes or asks for is seen by these tests.
func TestComplaintsAreSeen(t *testing.T) {
	b := openBrowser(t, 800)
	b.open(saved(t, `<title>x</title><img src="http://nowhere.example/x.png"><script>console.warn("careful"); throw new Error("broken");</script>`))
	all := strings.Join(b.complaints(), "\n")
	for _, want := range []string{"request: http://nowhere.example/x.png", "careful", "broken"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among the complaints: %s", want, all)
		}
	}
}

// The checker of accessibility finds nothing serious on the pages, with everything
// opened; and finds what is wrong on one that is wrong.
func TestLongThePagesAreAccessible(t *testing.T) {
	long.Test(t)
	script := axeScript(t)
	_, html := testPage(t)
	for _, width := range []int{400, 1600} {
		t.Run(fmt.Sprintf("page/%d", width), func(t *testing.T) {
			b := openBrowser(t, width)
			b.open(saved(t, html))
			b.eval("for (const d of document.querySelectorAll('details')) d.open = true", nil)
			b.checkAccess(script)
		})
	}
	t.Run("wrong", func(t *testing.T) {
		b := openBrowser(t, 800)
		b.open(saved(t, `<html><title>x</title><button></button><p style="color: #ccc">pale</p>`))
		found := make(map[string]bool)
		for _, v := range b.violations(script) {
			found[v.ID] = true
		}
		if !found["button-name"] || !found["color-contrast"] || !found["html-has-lang"] {
			t.Errorf("of a page that is wrong is found: %v", found)
		}
	})
}
