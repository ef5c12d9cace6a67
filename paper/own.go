package paper

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hambench/bench"
	"hambench/bench/table"
)

// Own returns the decisions on the claims that a user's studies state, each by the rows
// of its own study alone: in the order of the plans, and of the claims in their files. The
// plans of studies that state none, as the built-in ones, add nothing.
func Own(plans []bench.Plan, results bench.Results) (decisions []Decision) {
	for _, p := range plans {
		if len(p.Claims) == 0 {
			continue
		}
		rows := rowsOf([]bench.Plan{p}, results)
		for _, c := range p.Claims {
			d := Decide([]Claim{ownClaim(p, c)}, rows)[0]
			d.withoutSets(p.LeftOut, c.Where["dataset"])
			d.withoutReferences(p.References, c, rows)
			decisions = append(decisions, d)
		}
	}
	return decisions
}

// withoutSets says which data sets the run left out, and leaves a claim that reads chains open
// unless it names its own sets, and none of these: it says something of all sets of the study.
func (d *Decision) withoutSets(left []string, named []any) {
	reads := d.Finding.older+d.fresh > 0 || d.Read == 0
	of := func(set string) bool { return slices.Contains(named, any(set)) }
	if !reads || left == nil || named != nil && !slices.ContainsFunc(left, of) {
		return
	}
	list := strings.Join(left, ", ")
	d.Detail = strings.TrimSpace(d.Detail + " Data sets left out: " + list + ".")
	if d.Verdict != NotDecided {
		d.Verdict = NotDecided
		d.Summary += "; the run left out " + list
	}
}

// withoutReferences leaves a claim on checks of references open as long as some of those that it
// is about are not there: a reference without a record has no rows that could be missing.
func (d *Decision) withoutReferences(of []bench.ReferenceJob, c bench.DataClaim,
	rows *table.Table) {
	if !slices.Contains([]string{"value", "low", "high", "pass"}, c.Of) {
		return
	}
	there := rows.Where("record", bench.CheckRecord)
	absent := 0
	for _, r := range of {
		named := c.Where["dataset"]
		if (named == nil || slices.Contains(named, any(r.Spec.Dataset))) &&
			there.Where("key", r.Key).Len() == 0 {
			absent++
		}
	}
	if absent > 0 && d.Verdict != NotDecided {
		d.Verdict = NotDecided
		d.Summary += fmt.Sprintf("; %d references are still to be made", absent)
	}
}

// ownClaim is a claim of a study as pages show it: its test is put into words. It has one
// case, and no program, whatever its id is.
func ownClaim(p bench.Plan, c bench.DataClaim) Claim {
	where := selection(c.Where)
	if len(c.Over) > 0 {
		where += ", over " + selection(c.Over)
	}
	test := fmt.Sprintf("%s of %s in [%g, %g], at %g %%", c.Statistic, c.Of,
		float64(c.Between[0]), float64(c.Between[1]), 100*c.Level)
	if c.Statistic == bench.DistanceStatistic {
		test += fmt.Sprintf("; from %g, in units of %g", c.From, unitOf(c))
	}
	return Claim{
		ID: c.ID, Own: true, Study: p.ID, By: "study " + p.ID, Statement: c.Text, Where: where,
		Test: test, Cases: []Case{{DataClaim: c}},
	}
}

// selection states the rows that a claim selects, by the columns in alphabetical order.
func selection(where map[string][]any) string {
	var parts []string
	for _, column := range slices.Sorted(maps.Keys(where)) {
		values := strings.Trim(fmt.Sprint(where[column]), "[]")
		parts = append(parts, fmt.Sprintf("%s = %s", column, values))
	}
	if len(parts) == 0 {
		return "all rows of the study"
	}
	return strings.Join(parts, ", ")
}

// unitOf is the standard deviation in which a claim counts a distance; 1 if it has none, as
// for all other statistics.
func unitOf(c bench.DataClaim) float64 {
	if c.SD > 0 {
		return c.SD
	}
	return 1
}
