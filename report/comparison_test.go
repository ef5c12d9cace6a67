package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"hambench/gate"
)

// cells is an export of cells of two data sets, one of them with a hostile name,
// whose distances are a factor of what they are else from the n-th on.
func cells(factor float64, from int, skip int) string {
	var b strings.Builder
	b.WriteString("experiment,dataset,integrator,h,split,ks,ks_self,diverged,gradients,seconds\n")
	for i := range 12 {
		set, ks := "boston", 0.05+float64(i)/200
		if i%2 == 1 {
			set = `"` + strings.ReplaceAll(hostile, `"`, `""`) + `"`
		}
		if i >= from {
			ks *= factor
		}
		if i != skip {
			fmt.Fprintf(&b, "methods,%s,leapfrog,%g,0,%g,0.085,false,1000,1\n", set, 0.01*float64(i+1), ks)
		}
	}
	return b.String()
}

func compared(t *testing.T, old, new string) (Comparison, string) {
	t.Helper()
	r, err := gate.Compare(gate.Run{Name: "old " + hostile, Data: []byte(old)}, gate.Run{Name: "new.csv", Data: []byte(new)}, gate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := (Comparison{r}).Write(&b); err != nil {
		t.Fatal(err)
	}
	return Comparison{r}, b.String()
}

// The page has what moved first, then what is undecided, then every quantity; a
// point in the figure for each that differs; and hostile names as text.
func TestTheComparisonShowsWhatMovedFirst(t *testing.T) {
	c, html := compared(t, cells(1, 0, -1), cells(4, 8, 3))
	body, _, ok := strings.Cut(html, "<dialog")
	if !ok {
		t.Fatal("the page has no end")
	}
	// Four of eight on and the missing one moved; of the rest one is the time per gradient.
	if c.Count(gate.Moved) != 5 || c.Count(gate.Unchanged) != 8 || len(c.Pairs) != c.Compared {
		t.Errorf("%d moved, %d are equal: %+v", c.Count(gate.Moved), c.Count(gate.Unchanged), c.Pairs)
	}
	at := 0
	for _, want := range []string{"5 moved", "present</td><td>missing", "p = ", "1 more are 0, or have no value", `<tr data-verdict="moved">`, "&#43;300.0 %", `<tr data-verdict="equal">`} {
		next := strings.Index(body[at:], want)
		if next < 0 {
			t.Fatalf("%q does not stand behind what comes before it", want)
		}
		at += next
	}
	if n := strings.Count(body, `class="point`); n != 4+3 { // and three in the legend
		t.Errorf("%d points", n)
	}
	if strings.Contains(html, "<script>document") || strings.Count(html, "&lt;script&gt;document.title") < 8 {
		t.Error("a hostile name is no text")
	}
	if strings.Contains(html, "http:") || strings.Contains(html, "https:") {
		t.Error("the page has an address")
	}
	if _, html := compared(t, cells(1, 0, -1), cells(1, 0, -1)); !strings.Contains(html, "Nothing moved.") || !strings.Contains(html, "No quantity that could be drawn differs.") {
		t.Error("equal runs are not said to be equal")
	}
}

// Every control of the page acts, and the console stays silent.
func TestEveryControlOfTheComparisonActs(t *testing.T) {
	_, html := compared(t, cells(1, 0, -1), cells(4, 8, 3))
	path := saved(t, html)
	for _, width := range []int{400, 1600} {
		b := openBrowser(t, width)
		b.open(path)
		b.point("document.querySelector('input[name=verdict][value=equal]')", true)
		if n := b.count("tr[data-verdict]"); n != 5 {
			t.Errorf("without what is equal there are %d rows", n)
		}
		b.point("document.querySelector('input[name=words]')", true)
		b.keys(strings.Split("boston", "")...)
		if n := b.count("tr[data-verdict]"); n != 2 {
			t.Errorf("of boston there are %d rows", n)
		}
		b.point("document.querySelector('svg.chart .point')", false)
		if got := b.text("document.querySelector('.reading').textContent"); !strings.Contains(got, "leapfrog") || !strings.Contains(got, "new = ") {
			t.Errorf("the point under the pointer reads %q", got)
		}
		b.point("document.querySelector('#moved th button')", true)
		if got := b.text("document.querySelector('#moved th').getAttribute('aria-sort')"); got != "ascending" {
			t.Errorf("the table is sorted %q", got)
		}
		if wide := b.text("document.documentElement.scrollWidth - document.documentElement.clientWidth"); wide != "0" {
			t.Errorf("the page is %s points wider than its window of %d", wide, width)
		}
		for _, c := range b.complaints() {
			t.Error(c)
		}
	}
}
