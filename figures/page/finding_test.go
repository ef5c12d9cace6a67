package page

import (
	"os"
	"strings"
	"testing"

	"hambench/figures"
	"hambench/paper"
)

// A page opens with the first of its findings that is drawn and decided.
func TestThePageOpensWithTheMainFinding(t *testing.T) {
	study := func(id string, ids ...string) Study {
		s := Study{ID: id, Output: &figures.Output{}}
		for _, f := range ids {
			s.Figures = append(s.Figures, &figures.Figure{ID: f})
		}
		return s
	}
	claim := func(id string, v paper.Verdict) paper.Decision {
		return paper.Decision{Claim: paper.Claim{ID: id}, Finding: paper.Finding{Verdict: v}}
	}
	both := []paper.Decision{claim("reshuffle-limit", paper.Refuted), claim("regime-line", paper.Confirmed)}
	open := []paper.Decision{both[0], claim("regime-line", paper.NotDecided)}
	for what, c := range map[string]struct {
		page          Page
		figure, claim string
	}{
		"both drawn":   {Page{Studies: []Study{study("a", "other", "bottleneck"), study("b", "regimes")}, Claims: both}, "regimes", "regime-line"},
		"one drawn":    {Page{Studies: []Study{study("a", "other", "bottleneck")}, Claims: both}, "bottleneck", "reshuffle-limit"},
		"not decided":  {Page{Studies: []Study{study("a", "bottleneck"), study("b", "regimes")}, Claims: open}, "bottleneck", "reshuffle-limit"},
		"not claimed":  {Page{Studies: []Study{study("b", "regimes")}, Claims: both[:1]}, "", ""},
		"a user's own": {Page{Studies: []Study{study("mine", "mine")}}, "", ""},
	} {
		c.page.Finding = c.page.finding()
		if c.figure == "" {
			if c.page.Finding != nil {
				t.Errorf("%s: the page opens with %s", what, c.page.Finding.ID)
			}
			continue
		}
		if f := c.page.Finding; f == nil || f.ID != c.figure || f.Claim.ID != c.claim {
			t.Fatalf("%s: %+v, want %s", what, f, c.figure)
		}
		for _, s := range c.page.Studies {
			for _, f := range s.Figures {
				if c.page.Opens(f) != (f.ID == c.figure) {
					t.Errorf("%s: opens with %s: %t", what, f.ID, c.page.Opens(f))
				}
			}
		}
	}
}

// The committed page shows its finding once, before the claims, and refers to it.
func TestTheCommittedPageOpensWithItsFinding(t *testing.T) {
	page, err := os.ReadFile("../../docs/results/index.html")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	finding, figure, claims := strings.Index(text, `id="finding"`), strings.Index(text, `id="figure-regimes"`), strings.Index(text, `id="claims"`)
	if finding < 0 || figure < finding || claims < figure || strings.Count(text, `id="figure-regimes"`) != 1 || !strings.Contains(text, `href="#figure-regimes"`) {
		t.Errorf("finding at %d, its figure at %d, claims at %d: want this order, the figure once, and a link to it", finding, figure, claims)
	}
}
