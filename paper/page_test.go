package paper

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"hambench/certify"
)

var someDecisions = []Decision{
	{Claim{ID: "one", By: "paper", Statement: "A is below B.", Where: "Section 1", Test: "Look."},
		Finding{Verdict: Confirmed, Summary: "A = 1 | B = 2", Detail: "C does not matter.", Numbers: []Number{{"A", 1, "1"}, {"B", certify.Number(math.Inf(1)), "exact"}}}},
	{Claim{ID: "two", By: "Chen et al. 2015", Statement: "B is below A.", Where: "Section 2", Test: "Look."}, Finding{Verdict: Refuted, Summary: "it is not"}},
	{Claim{ID: "three", By: "not in the paper", Statement: "Who knows?", Where: "nowhere", Test: "Wait."}, unavailable("hambench reproduce --only one")},
}

func TestTextHasEveryClaim(t *testing.T) {
	var b bytes.Buffer
	if err := WriteText(&b, someDecisions, "quick"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"decided (3 claims: 1 confirmed, 1 refuted, 1 not decided;\nthe paper's 1: 1 confirmed, 0 refuted, 0 not decided;\n" +
			"of others 1: 0 confirmed, 1 refuted, 0 not decided;\nour own 1: 0 confirmed, 0 refuted, 1 not decided; profile quick)",
		"| one   | paper            | confirmed   | A = 1 | B = 2",
		"| two   | Chen et al. 2015 | refuted     | it is not",
		"no results yet: run hambench reproduce --only one",
		"one: confirmed\n  A is below B.\n  where: Section 1\n  test: Look.\n  found: A = 1 | B = 2\n  C does not matter.\n    A: 1\n    B: exact\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("text lacks %q:\n%s", want, b.String())
		}
	}
}

func TestTitlesSayWhoseTheClaimsAre(t *testing.T) {
	own := Decision{Claim: Claim{By: "study.toml", Own: true}}
	for want, of := range map[string][]Decision{
		"The claims of the paper": someDecisions, "Claims beyond the paper": someDecisions[1:],
		"The claims of study.toml": {own},
	} {
		if got := title(of); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		var page strings.Builder
		if err := WriteMarkdown(&page, of, "quick"); err != nil {
			t.Fatal(err)
		}
		if ofPaper := strings.Contains(page.String(), "Claims of Franzese"); ofPaper != (want == "The claims of the paper") {
			t.Errorf("%s: the page starts with %.200s", want, page.String())
		}
	}
}

// narrow is a writer of a width.
type narrow struct{ bytes.Buffer }

func (*narrow) Width() int { return 60 }

func TestTheTableFitsItsWriter(t *testing.T) {
	var b narrow
	decisions := []Decision{{Claim{ID: "one", By: "paper"}, Finding{Verdict: Confirmed, Summary: strings.Repeat("many words ", 20)}}}
	if err := WriteText(&b, decisions, "quick"); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if strings.HasPrefix(line, "|") && utf8.RuneCountInString(line) > 60 {
			t.Errorf("%d characters: %s", utf8.RuneCountInString(line), line)
		}
	}
}

// A | in a text must not cut a cell of a Markdown table.
func TestMarkdownTablesAreWhole(t *testing.T) {
	var b bytes.Buffer
	if err := WriteMarkdown(&b, someDecisions, "quick"); err != nil {
		t.Fatal(err)
	}
	columns := 0
	for _, line := range strings.Split(b.String(), "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns != 0 && n != columns {
			t.Errorf("%d bars, want %d: %s", n, columns, line)
		}
		columns = n
	}
	for _, want := range []string{"| [one](#one) | paper | A is below B. | **confirmed** |", "## two", "- Verdict: **refuted**: it is not"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("page lacks %q", want)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, someDecisions, "quick"); err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		ID, Verdict, Profile string
		Numbers              []struct {
			Name  string
			Value *float64
		}
	}
	if err := json.Unmarshal(b.Bytes(), &rows); err != nil {
		t.Fatalf("%v in %s", err, b.Bytes())
	}
	if len(rows) != 3 || rows[1].Verdict != "refuted" || rows[0].Profile != "quick" || len(rows[0].Numbers) != 2 {
		t.Fatalf("rows are %+v", rows)
	}
	if a, b := rows[0].Numbers[0].Value, rows[0].Numbers[1].Value; a == nil || *a != 1 || b != nil {
		t.Errorf("numbers are %v and %v, want 1 and null", a, b)
	}
}

// Programs read whose a claim is, its test, the day of its freeze, what it reads and both
// ratios; infinite limits are texts.
func TestJSONHasTheTest(t *testing.T) {
	decisions := Decide(Claims(), inventedTruth().rows(t, Claims()...))
	var b bytes.Buffer
	if err := WriteJSON(&b, decisions, "quick"); err != nil {
		t.Fatal(err)
	}
	type interval struct{ Value, Low, High *float64 }
	var rows []struct {
		ID, By, Paper, Whose, Statement, Where, Quote, Test, Frozen, Digest, Verdict string
		Query                                                                        []struct {
			Statistic, Of, Export string
			Rows                  int
			Where, Over           map[string][]any
			Limit                 []any
			Level                 float64
		}
		Excess, Distance *interval
		Read             int  `json:"rows_read"`
		Before           bool `json:"before_freeze"`
	}
	if err := json.Unmarshal(b.Bytes(), &rows); err != nil {
		t.Fatalf("%v in %s", err, b.Bytes())
	}
	for i, r := range rows {
		if r.ID != decisions[i].ID || r.By == "" || r.Whose != decisions[i].Whose() || r.Statement == "" || r.Where == "" || r.Test == "" || r.Frozen == "" || r.Digest == "" || r.Verdict == "" {
			t.Errorf("%s: a field is empty: %+v", decisions[i].ID, r)
		}
		if r.Paper != decisions[i].Paper || r.Quote != decisions[i].Quote {
			t.Errorf("%s: paper %q, quote %q: want those of the claim", r.ID, r.Paper, r.Quote)
		}
		if len(r.Query) != len(decisions[i].Cases) || r.Read == 0 || !r.Before {
			t.Errorf("%s: %d queries, %d rows read, before the freeze: %t", r.ID, len(r.Query), r.Read, r.Before)
		}
		rows := 0
		for _, q := range r.Query {
			rows += q.Rows
		}
		if rows != r.Read {
			t.Errorf("%s: its queries have %d rows together, it read %d", r.ID, rows, r.Read)
		}
		if r.ID == "leapfrog-competes" && r.Query[0].Export != "hambench export --only methods,population" {
			t.Errorf("%q exports less than what the query reads", r.Query[0].Export)
		}
		if r.ID != "batch-size" {
			continue
		}
		q := r.Query[0]
		if q.Statistic != worseStatistic || q.Of != aboveFloor || q.Export != "hambench export --only methods" || q.Over["batch"][0] != "inf" || q.Limit[0] != 0.5 || q.Limit[1] != "inf" || q.Level != 0.99 {
			t.Errorf("query %+v", q)
		}
		if r.Excess == nil || r.Excess.Value == nil || r.Distance == nil || r.Distance.Low == nil {
			t.Errorf("excess %v, distance %v", r.Excess, r.Distance)
		}
	}
}

// The summary line counts the paper's claims and our own apart; a corrected law is ours.
func TestClaimsAreCountedByWhoseTheyAre(t *testing.T) {
	for _, tally := range Tallies(Decide(Claims(), inventedTruth().rows(t, Claims()...))) {
		want := map[string]Tally{
			"the paper's": {"the paper's", 36, 34, 1, 1, 36}, "our own": {"our own", 11, 11, 0, 0, 11},
			"of others": {"of others", 1, 0, 1, 0, 1},
		}[tally.Whose]
		if tally != want {
			t.Errorf("%+v, want %+v", tally, want)
		}
	}
}
