package paper

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/models"
	"hambench/models/datasets"
)

// freeze writes a day or a time and new digests for the claims whose tests have changed:
//
//	go test ./paper -run TestTestsAreFrozen -freeze 2026-12-24
var freeze = flag.String("freeze", "", "freeze changed tests on this day, or at this time")

// ledger has a line for each freeze that there was: id, day or time, digest. Lines are added to it,
// and none is removed.
const ledger = "testdata/frozen.txt"

func moment(t *testing.T, text string) (m Moment) {
	t.Helper()
	if err := m.UnmarshalTOML([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return m
}

// refreeze writes the moment and the digest of each claim that changed into a claims' file,
// and appends them to the ledger.
func refreeze(t *testing.T, file, text string) {
	t.Helper()
	when := moment(t, *freeze)
	for _, c := range readClaims(text) {
		if c.Frozen != nil && !c.changed() {
			continue
		}
		c.Frozen = &when
		lines := fmt.Sprintf("frozen    = %v\ndigest    = %q\n", when, c.currentDigest())
		head := regexp.MustCompile(`(?m)^id +=.*"` + regexp.QuoteMeta(c.ID) + `"\n(frozen.*\ndigest.*\n)?`)
		text = head.ReplaceAllStringFunc(text, func(old string) string {
			id, _, _ := strings.Cut(old, "\n")
			return id + "\n" + lines
		})
		entry := fmt.Sprintf("%s %v %s\n", c.ID, when, c.currentDigest())
		f, err := os.OpenFile(ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err == nil {
			_, err = f.WriteString(entry)
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every test is the one that was frozen: who changes a statistic, a limit or a query must
// freeze it again.
func TestTestsAreFrozen(t *testing.T) {
	for file, text := range map[string]string{"claims.toml": claimsText, "later.toml": laterText} {
		if *freeze != "" {
			refreeze(t, file, text)
			continue
		}
		for _, c := range readClaims(text) {
			if c.Frozen == nil || c.changed() {
				t.Errorf("%s: the test is not the frozen one; -freeze DAY freezes it anew", c.ID)
			}
		}
	}
}

// The claims have the last freeze of the ledger, whose moments never fall for a claim.
// Results of a day are older than every freeze on it, so that several on one day hide
// nothing.
func TestFreezesFollowOneAnother(t *testing.T) {
	text, err := os.ReadFile(ledger)
	if err != nil {
		t.Fatal(err)
	}
	last := make(map[string][2]string)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if old := last[f[0]]; f[1] < old[0] {
			t.Errorf("%s was frozen on %s and again on %s: want no earlier moment", f[0], old[0], f[1])
		}
		last[f[0]] = [2]string{f[1], f[2]}
	}
	for _, c := range append(readClaims(claimsText), readClaims(laterText)...) {
		if c.Frozen == nil || last[c.ID] != [2]string{c.Frozen.String(), c.Digest} {
			t.Errorf("%s is frozen on %v (%s), by the ledger: %v", c.ID, c.Frozen, c.Digest, last[c.ID])
		}
	}
}

// A limit, a statistic, a query or a word of a test that changed after the freeze is seen,
// and so is another day; how a number is written is not part of the test.
func TestAChangeAfterTheFreezeIsSeen(t *testing.T) {
	frozen := func() Claim {
		c := Claims()[0]
		c.Cases = append([]Case(nil), c.Cases...)
		return c
	}
	later := moment(t, "2030-01-01")
	for what, change := range map[string]func(c *Claim){
		"limit":     func(c *Claim) { c.Cases[0].Between[0] += 0.1 },
		"level":     func(c *Claim) { c.Cases[0].Level = 0.9 },
		"statistic": func(c *Claim) { c.Cases[0].Statistic = bench.MeanStatistic },
		"query":     func(c *Claim) { c.Cases[0].Where = map[string][]any{"K": {2}} },
		"words":     func(c *Claim) { c.Test += "." },
		"case":      func(c *Claim) { c.Cases = append(c.Cases, c.Cases[0]) },
		"day":       func(c *Claim) { c.Frozen = &later },
	} {
		c := frozen()
		if change(&c); !c.changed() {
			t.Errorf("another %s is not seen", what)
		}
		c.Cases[0].Unit = "m"
		if d := Decide([]Claim{c}, inventedTruth().rows(t, c))[0]; !d.TestChanged || d.Mark() == "" {
			t.Errorf("the decision does not say that the %s changed", what)
		}
	}
	c := frozen()
	if c.Cases[0].Verb = "%.9f"; c.changed() {
		t.Error("the format of numbers counts as a change of the test")
	}
}

// What was stored on the day of the freeze, or before it, or at no known time, is older.
func TestResultsFromBeforeTheFreezeAreMarked(t *testing.T) {
	c := Claims()[0]
	day, err := time.Parse(time.DateOnly, c.Frozen.String())
	if err != nil {
		t.Fatal(err)
	}
	for made, want := range map[string]bool{
		"": true,
		day.AddDate(0, 0, -1).Format(time.RFC3339):                    true,
		day.Add(24*time.Hour - time.Second).Format(time.RFC3339):      true,
		day.AddDate(0, 0, 1).Format(time.RFC3339):                     false,
		day.AddDate(0, 0, 1).Format("2006-01-02T15:04:05") + "+02:00": true,
		day.AddDate(0, 1, 0).Format(time.RFC3339):                     false,
	} {
		rows := madeUp()
		exactRow(rows, "mt3", 3, 0, 0.1, "confirmed")
		rows.Add(nil, map[string]any{bench.MadeColumn: made})
		if got := c.older(rows.Rows()[1]); got != want {
			t.Errorf("made %q: older %t, want %t", made, got, want)
		}
		rows.Add(nil, map[string]any{"missing": true})
		if c.older(rows.Rows()[2]) {
			t.Error("a cell that has not been run was known before the freeze")
		}
		c := Claim{Freeze: c.Freeze, Cases: []Case{{}}}
		c.Cases[0].Where = map[string][]any{bench.MadeColumn: {made}}
		c.Cases[0].Statistic, c.Cases[0].Of = bench.MeanStatistic, ""
		c.program = func([]*evaluation) Finding { return Finding{Verdict: Confirmed} }
		if made == "" {
			continue // an empty cell is selected by no value
		}
		if f := c.decide(newEvidence(rows)); f.Read != 1 || f.BeforeFreeze != want {
			t.Errorf("made %q: %d rows read, before the freeze %t, want 1 and %t", made, f.Read, f.BeforeFreeze, want)
		}
	}
}

// A test that was frozen at a time has what was stored later on that day as fresh.
func TestAFreezeMayHaveATime(t *testing.T) {
	for text, bad := range map[string]bool{"2026-11-27T14:00:00Z": false, "2026-11-27T15:00:00+01:00": false, "2026-11-31": true, "14:00:00": true} {
		var c Claim
		if err := toml.NewDecoder(strings.NewReader("frozen = " + text)).EnableUnmarshalerInterface().Decode(&c); (err != nil) != bad {
			t.Errorf("%s: %v", text, err)
		}
		if bad {
			continue
		}
		if got, err := json.Marshal(c.Freeze); err != nil || string(got) != `{"frozen":"`+text+`"}` {
			t.Errorf("%s: %s, %v", text, got, err)
		}
		for made, want := range map[string]bool{"2026-11-27T13:59:59Z": true, "2026-11-27T14:00:00Z": false, "2026-11-28T00:00:00Z": false} {
			rows := madeUp()
			exactRow(rows, "mt3", 3, 0, 0.1, "confirmed")
			rows.Add(nil, map[string]any{bench.MadeColumn: made})
			if got := c.older(rows.Rows()[1]); got != want {
				t.Errorf("frozen at %s, made at %s: older %t, want %t", text, made, got, want)
			}
		}
	}
}

// Where chains were run before the freeze and since, each part has a verdict of its own. What is
// exact belongs to both, and where all chains are of one part there is nothing to tell apart.
func TestChainsSinceTheFreezeDecideAlone(t *testing.T) {
	day := Claims()[0].Frozen
	at := func(days int) string { return day.end.AddDate(0, 0, days-1).Format(time.RFC3339) }
	claim := Claim{Freeze: Freeze{Frozen: day}, Cases: []Case{
		{DataClaim: bench.DataClaim{
			Where: map[string][]any{"record": {bench.CellRecord}}, Statistic: bench.MeanStatistic, Of: "rmse", Between: limits(1.9, 2.1),
		}},
		{DataClaim: bench.DataClaim{
			Where: map[string][]any{"record": {bench.ErrorRecord}}, Statistic: bench.OrderStatistic, Of: "error", Between: limits(1.7, 2.3),
		}},
	}}
	add := func(rows *table.Table, made string, rmse float64) {
		for i := range 6 {
			chainRow(rows, fmt.Sprint("set", i), 1, "slow", 0.1, 0.2, map[string]any{
				"rmse": rmse + 0.01*float64(i%3-1), "made": made, "key": fmt.Sprint(made, i),
			})
		}
	}
	rows := madeUp()
	exactRow(rows, "slow", 2, math.NaN(), 0.01, certify.Confirmed)
	add(rows, at(-1), 3)
	if d := Decide([]Claim{claim}, rows)[0]; d.Known != nil || d.Since != nil || !d.BeforeFreeze {
		t.Errorf("chains from before the freeze alone: %+v", d.Finding)
	}
	add(rows, at(2), 2)
	d := Decide([]Claim{claim}, rows)[0]
	if d.Known == nil || d.Since == nil || d.Known.Verdict != Refuted || d.Since.Verdict != Confirmed {
		t.Fatalf("%+v: before the freeze %+v, since %+v, want refuted and confirmed", d.Finding, d.Known, d.Since)
	}
	if d.Known.Read != 7 || d.Since.Read != 7 || d.Read != 13 {
		t.Errorf("%d rows read, %d before the freeze and %d since", d.Read, d.Known.Read, d.Since.Read)
	}
	// A part without the rows of a case decides nothing.
	other := claim
	other.Cases = append(slices.Clone(claim.Cases), claim.Cases[0])
	other.Cases[2].Where = map[string][]any{"record": {bench.CellRecord}, bench.MadeColumn: {at(-1)}}
	part := other.decide(newEvidence(rows))
	if d := Decide([]Claim{other}, rows)[0]; d.Since != nil || part.Mark() != " (in part before the freeze)" {
		t.Errorf("a case has no chains since the freeze: %+v, %q", d.Since, part.Mark())
	}
	d.TestChanged = false
	var page strings.Builder
	if err := WriteMarkdown(&page, []Decision{d}, "quick"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"(by chains from before the freeze refuted, by those since confirmed)", "before the freeze alone: **refuted**", "since the freeze alone, and exact errors from before: **confirmed**",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page of claims lacks %q", want)
		}
	}
}

// Chains that decide have random numbers that were not seen when tests were frozen: no chain of
// a built-in study has the stream of one that was stored by the first freeze. Left out are paths
// and the toy, which are as they were, and whose claim says that it read them before.
func TestDecidingChainsHaveStreamsOfTheirOwn(t *testing.T) {
	first := moment(t, "2100-01-01").end
	for _, c := range Claims() {
		if c.Frozen.end.Before(first) {
			first = c.Frozen.end
		}
	}
	used, s := make(map[string]bool), unpacked(t)
	for _, key := range s.Keys(store.Result) {
		record, _ := s.Get(store.Result, key)
		var r bench.Result
		if err := json.Unmarshal(record.Body, &r); err != nil {
			t.Fatal(err)
		}
		if record.Made.Time.Before(first) {
			used[r.Cell.Stream()] = true
		}
	}
	if len(used) == 0 {
		t.Skip("the published store has no chain from before the freeze")
	}
	profile, err := bench.LookupProfile("standard")
	if err != nil {
		t.Fatal(err)
	}
	studies, err := bench.Studies(profile, datasets.Builtin(), models.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	for _, study := range studies {
		for _, j := range study.Cells {
			if study.ID != "paths" && study.ID != "toy" && used[j.Cell.Stream()] {
				t.Fatalf("%s: the stream of %+v was used before the freeze", study.ID, j.Cell)
			}
		}
	}
}
