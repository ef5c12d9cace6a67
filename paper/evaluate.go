package paper

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/internal/distinct"
	"hambench/oracle"
)

// Case is a condition on rows: a statistic of those that it selects lies in an interval.
// The claim of a user's study is one; built-in claims say more, mostly for readers.
type Case struct {
	bench.DataClaim
	Title string   // names the case where a claim has several
	Names []string // of the two sides of a ratio; by default what they select
	Unit  string   // follows the number that decides
	Verb  string   // formats numbers; by default %.4g, %.2f for orders
	// Worst has the columns that tell chains apart of which only the lowest order counts;
	// none if every order does. The order of a law is that of its worst observable.
	Worst []string
	// At is "smallest" or "largest" if of each line only the ratio at that step counts. A
	// line has the rows that differ in the step alone; steps at which one of the two
	// chains diverged do not count.
	At string
	// Replicates is the column of what an interval is over; by default data sets, or the
	// splits or seeds of the only one.
	Replicates string
	// Optional cases may have no rows: the others decide, or a program.
	Optional bool
	// SameSplits says that the splits of a published table are those of our chains, so that
	// only the noise of chains lies between the numbers.
	SameSplits bool `toml:"same-splits"`
	// Summary formats what a best-ratio or a program found, for people.
	Summary string
}

// Statistics of built-in claims alone: users' studies cannot name them, as they presume
// what only the built-in studies hold.
const (
	bestRatioStatistic = "best-ratio" // of each number over the least of its rivals'
	publishedStatistic = "published"  // differences from a table of the paper
	worseStatistic     = "worse"      // share of pairs whose left chain alone diverged or is worse
	divergedStatistic  = "diverged"   // share that diverged, left less right
	// of a number ∝ ηᵃCᵇ: a, b, and a + b, which is 0 if it depends on η/C
	stepPowerStatistic     = "step-power"
	frictionPowerStatistic = "friction-power"
	powerSumStatistic      = "power-sum"
)

// aboveFloor is the distance above the floor that was measured: a column of built-in claims
// alone, whose studies have full batches at small steps.
const aboveFloor = "above-floor"

// clearlyAbove is aboveFloor of those distances that lie more than ClearExcess above it, and no
// number of others.
const clearlyAbove = "clear-excess"

// ClearExcess is the least sampled excess that ratios and powers are taken of where it must be
// clear, and that pictures of them show: three times what chance makes of a mean over two chains.
const ClearExcess = 0.02

// defaultLevel is the confidence of intervals of cases that state none.
const defaultLevel = 0.99

// evaluation is a case with the rows that it is decided by, and what was left out. One is
// made for each decision: it collects numbers by replicate, counts and names as its
// statistic reads the rows, and is not used twice.
type evaluation struct {
	Case
	*evidence
	selected  *table.Table            // those of Where
	divisors  *table.Table            // those that they are compared with; nil until compared
	what      string                  // names the numbers that are averaged
	values    map[string]*replicate   // what was added, by name
	scale     func(x float64) float64 // of a mean, to how people read it
	missing   int                     // cells without a result
	lacking   int                     // chains that did not diverge and lack the number
	unpaired  int                     // rows that a ratio has no counterpart of
	lines     int                     // that a slope may be of
	short     int                     // those of them with too few steps
	left      map[string]splitsOf     // chains that were left out, by the reason
	stability []Number                // counts of chains that diverged
	read      []*table.Table          // rows that were selected, of either side of a ratio
}

// Reasons why chains are left out, and what is not known of those that are not. The texts
// stand before the names of data sets and splits.
const (
	failedReference = "Left out, since a check of the reference failed"
	coarseReference = "Left out, since the reference's own error is more than a quarter of " +
		"the smallest distance that it judges"
	unknownError    = "The own error of the reference is not known, and not in the interval"
	uncheckedChains = "Judged by references whose checks are not known (run " + reproduce +
		"autocorrelation)"
)

// evidence is the rows that claims may read, and what is found of them once for all claims.
type evidence struct {
	all      *table.Table
	failures map[table.Key]float64        // checks that failed, by reference
	nearest  map[string]float64           // the smallest distance that a reference judges
	floors   func() map[table.Key]float64 // measured, by FloorColumns
	away     func() func(table.Row) bool  // whether a chain left the posterior
}

// newEvidence finds which references failed checks: of the chains that record the number of
// failed checks, by data set, split and model; of the checks in a store that has the references
// themselves, by reference.
func newEvidence(rows *table.Table) *evidence {
	e := &evidence{rows, make(map[table.Key]float64), make(map[string]float64),
		sync.OnceValue(func() map[table.Key]float64 { return Floors(rows) }),
		sync.OnceValue(func() func(table.Row) bool { return LeftPosterior(rows) })}
	for _, r := range rows.Rows() {
		n, ks, by := r.Number("checks_failed"), r.Number("ks"), r.Text("oracle")
		switch {
		case n == n: // a chain with diagnostics, whose failed checks are those of its split
			at := r.Key("dataset", "split", "model")
			e.failures[at] = max(n, e.failures[at])
		case r.Text("record") == bench.CheckRecord && r.Text("check") != oracle.OwnErrorCheck:
			e.failures[r.Key("oracle")] += 1 - indicator(r.Get("pass").Truth())
		case ks == ks && !diverged(r):
			e.nearest[by] = min(ks, cmp.Or(e.nearest[by], ks))
		}
	}
	return e
}

// newEvaluation selects the rows of a case.
func newEvaluation(c Case, e *evidence) *evaluation {
	c.Level = cmp.Or(c.Level, defaultLevel)
	x := &evaluation{
		Case: c, evidence: e, what: c.Statistic + " of " + c.Of,
		values: make(map[string]*replicate), left: make(map[string]splitsOf),
		scale: func(x float64) float64 { return x },
	}
	x.selected = x.rows(c.Where)
	return x
}

// FloorColumns tell floors apart: chains that differ in other settings share one, so that
// it does not favour a side of a ratio.
var FloorColumns = []string{
	"dataset", "split", "seed", "model", "observe", "samples", "friction", "start",
	"temperature", "localisation",
}

// Floors returns the distance that chains without visible error have, their autocorrelation
// included, by FloorColumns: the median of FloorChains.
func Floors(rows *table.Table) map[table.Key]float64 {
	floors := make(map[table.Key]float64)
	for key, of := range FloorChains(rows) {
		floors[key] = median(of)
	}
	return floors
}

// FloorChains returns the distances of the chains that measure a floor, by FloorColumns: those
// of the full batch, N_l = 1, at the smallest step at which there is one. A chain counts once,
// however many studies list it: else the floor would favour what most of them compare.
func FloorChains(rows *table.Table) map[table.Key][]float64 {
	chains := make(map[table.Key][]float64)
	full := rows.Where("K", 1).Filter(func(r table.Row) bool {
		ks := r.Number("ks")
		return ks == ks && !diverged(r) && !(r.Number("nl") > 1) && r.Number("h") > 0
	})
	for _, g := range full.GroupBy(FloorColumns...) {
		for _, chain := range g.Sort("h").GroupBy("h")[0].GroupBy("key") {
			chains[g.Key] = append(chains[g.Key], chain.Rows()[0].Number("ks"))
		}
	}
	return chains
}

// median is the mean of the two middle ones of some numbers, at least one.
func median(x []float64) float64 {
	slices.Sort(x)
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// TooFar is how many times the least test error of its data set and model a chain's is if it left
// the posterior.
const TooFar = 10

// LeftPosterior tells the chains that ended far from the posterior while their numbers were finite:
// those whose test error is more than TooFar times the least on their target, which no chain that
// ran away has as long as one did not, or had squares that overflowed, so that they have a coverage
// and no error. A tempered or localised target has errors of its own. Their distance looks like
// any. Most grow until they overflow, but some stay away for hundreds of draws, so that neither is
// claimed.
func LeftPosterior(rows *table.Table) func(table.Row) bool {
	least := make(map[table.Key]float64)
	of := []string{"dataset", "model", "temperature", "localisation"}
	stayed := rows.Filter(func(r table.Row) bool { return !diverged(r) })
	for _, set := range stayed.GroupBy(of...) {
		if errors := set.Numbers("rmse"); len(errors) > 0 {
			least[set.Key] = slices.Min(errors)
		}
	}
	return func(r table.Row) bool {
		e, limit := r.Number("rmse"), math.NaN() // of sets without test errors
		if v, ok := least[r.Key(of...)]; ok {
			limit = TooFar * v
		}
		return !diverged(r) && (e > limit || math.IsNaN(e) && !math.IsNaN(r.Number("coverage")))
	}
}

// statistics decide a case by the rows that it selects, by their names.
//
// Exact errors have no scatter: each order and each ratio must lie in the interval, and
// one that does not refutes. Sampled numbers are averaged over what chains share, and
// an interval of their mean is Student's over replicates, or Fieller's of a ratio of means.
var statistics = map[string]func(x *evaluation) Finding{
	bench.OrderStatistic:    (*evaluation).orders,
	bench.RatioStatistic:    (*evaluation).ratios,
	bench.LogRatioStatistic: (*evaluation).ratios,
	bench.MeanStatistic:     (*evaluation).means,
	bench.ShareStatistic:    (*evaluation).means,
	bench.DistanceStatistic: (*evaluation).means,
	worseStatistic:          (*evaluation).worse,
	divergedStatistic:       (*evaluation).divergence,
	bestRatioStatistic:      (*evaluation).decideRivals,
	publishedStatistic:      (*evaluation).published,
	stepPowerStatistic:      func(x *evaluation) Finding { return x.powers(1, 0) },
	frictionPowerStatistic:  func(x *evaluation) Finding { return x.powers(0, 1) },
	powerSumStatistic:       func(x *evaluation) Finding { return x.powers(1, 1) },
}

// decide decides by the case's statistic, without what was left out.
func (x *evaluation) decide() Finding {
	if x.selected.Len() == 0 {
		return x.nothing()
	}
	return statistics[x.Statistic](x)
}

// users reports whether the case is the claim of a user's study, whose author may not know what a
// statistic presumes. Those of built-in claims were fixed with their rows before them.
func (x *evaluation) users() bool { return x.ID != "" }

// exact reports whether the rows that are selected are of exact errors or of checks.
func (x *evaluation) exact() bool {
	return x.selected.Rows()[0].Text("record") != bench.CellRecord
}

// whole takes the verdict back while cells that the case selects have no result: long jobs run
// first, so that those that are there are no fair sample of all.
func (x *evaluation) whole(f *Finding) {
	if x.missing > 0 && (f.Verdict == Confirmed || f.Verdict == Refuted) {
		f.Verdict = NotDecided
		f.Summary += fmt.Sprintf("; %d cells are still to be run", x.missing)
	}
}

// finish adds what was left out to the finding of a case: the counts of chains that
// diverged to its numbers, the chains that do not count to its detail.
func (x *evaluation) finish(f Finding) Finding {
	x.whole(&f)
	away := x.leftThePosterior()
	// A test error shows itself how far a chain is away.
	shown := x.Of == "rmse" || x.Of == "mnll"
	if away > 0 && !shown && (f.Verdict == Confirmed || f.Verdict == Refuted) {
		f.Verdict = NotDecided
		f.Summary += fmt.Sprintf("; %d chains left the posterior", away)
	}
	f.Numbers = append(f.Numbers, x.stability...)
	f.Detail += x.remarks()
	if away > 0 {
		counts := "their distances are no measure"
		switch {
		case shown:
			counts = "their errors count"
		case x.ofDistance() == 0:
			counts = "their " + x.Of + " is no measure"
		}
		f.Detail += fmt.Sprintf(" %d chains left the posterior without diverging (RMSE above %d "+
			"times the least of their data set): %s.", away, TooFar, counts)
	}
	f.Detail = strings.TrimSpace(f.Detail)
	return f
}

// leftThePosterior counts the chains that a user's claim on distances or scores reads and that
// left the posterior. Built-in claims were fixed with theirs, which their figures count.
func (x *evaluation) leftThePosterior() int {
	seen := make(map[string]bool)
	if x.users() && (x.ofDistance() > 0 || slices.Contains(ofTheLaw, x.Of)) {
		for _, rows := range x.read {
			for _, r := range rows.Rows() {
				if x.away()(r) {
					seen[r.Text("key")] = true
				}
			}
		}
	}
	return len(seen)
}

// ofTheLaw are scores of a chain that say something of the law that it samples.
var ofTheLaw = []string{"rmse", "mnll", "coverage", "lag1", "ess"}

// remarks say which chains were left out, and why. Cells without a result are counted:
// they may change the verdict once they have run.
func (x *evaluation) remarks() (text string) {
	if x.missing > 0 {
		text = fmt.Sprintf(" %d cells have no result yet.", x.missing)
	}
	// Built-in claims select such rows by design; an author of a study may have expected pairs.
	if x.unpaired > 0 && x.users() {
		text += fmt.Sprintf(" %d of %d rows have no counterpart at the same step and all else, "+
			"and are left out.", x.unpaired, x.selected.Len())
	}
	if x.lacking > 0 && x.users() {
		text += fmt.Sprintf(" %d rows without a chain that diverged have no %s, and are left out.",
			x.lacking, x.Of)
	}
	if x.short > 0 && x.users() {
		text += fmt.Sprintf(" %d of %d lines have fewer than %d steps with a number above 0, and "+
			"are left out.", x.short, x.lines, fewestSteps)
	}
	reasons := []string{failedReference, coarseReference, uncheckedChains, unknownError}
	for _, reason := range reasons {
		if len(x.left[reason]) > 0 {
			text += fmt.Sprintf(" %s: %s.", reason, x.left[reason])
		}
	}
	return text
}

// nothing is the finding where there is nothing to decide by: it says which command gives rows, if
// it is not that no chain is judged by a good reference.
func (x *evaluation) nothing() Finding {
	// Rows were selected, but no pair of two numbers. An author needs to know which is missing: the
	// counterparts, or their numbers.
	if x.users() && x.selected.Len() > 0 && len(x.Over) > 0 {
		if slices.ContainsFunc(x.compared(), func(line []table.Pair) bool { return line != nil }) {
			return undecided("no pair has a number on both sides: chains diverged, or lack it")
		}
		of := strings.Join(slices.Sorted(maps.Keys(x.Over)), ", ")
		return undecided("no row that the claim selects has a counterpart that differs from it " +
			"in " + of + " alone, at the same step and all else")
	}
	// Not the other reasons: these are of chains that count.
	if len(x.left[failedReference])+len(x.left[coarseReference]) > 0 {
		return undecided("no chains are left to compare")
	}
	if x.users() {
		there := bench.Selected(x.all, x.Where).Where("missing", false, nil)
		switch n := there.Len(); {
		case n > 0 && there.Where("record", bench.CellRecord).Len() == 0:
			return undecided(fmt.Sprintf("none of the %d rows that the claim selects has %s: they "+
				"are of exact errors or checks that do not record it", n, x.Of))
		case n > 0 && x.Of == bench.RightColumn:
			return undecided(fmt.Sprintf("of none of the %d rows that the claim selects is it "+
				"known whether the chain is right: they have %s", n, bench.Undecidable))
		case n > 0:
			return undecided(fmt.Sprintf("none of the %d rows that the claim selects has a number "+
				"there: their chains diverged, or do not record it", n))
		case x.missing == 0:
			return undecided("no rows that the claim selects: its profile has none, or exact " +
				"errors are still to be computed")
		}
		return undecided("no rows yet that the claim selects")
	}
	if study := x.study(); slices.Contains(bench.Later(), study) {
		return unavailable("hambench run " + study)
	}
	return unavailable(reproduce + x.study())
}

// study is the study whose rows the case selects, which the command that gives them names.
// Exact errors are selected by their purpose, whatever study has them: the study of claims
// has all.
func (x *evaluation) study() string {
	if study := x.Where["study"]; len(study) > 0 {
		return fmt.Sprint(study[0])
	}
	return StudyID
}

// rows are those that have the values of where and a number of the case's column. Cells
// without a result are left out and counted, distances to a reference that failed a check
// of its own are left out and named. Errors are taken as they are: NaN says that the chain
// has no stationary law at that step, and the orders of such a chain may still be known.
func (x *evaluation) rows(where map[string][]any) *table.Table {
	judged := x.Of == bench.RightColumn || x.ofDistance() == 1
	missing := x.all.Where("missing", true)
	if x.users() { // whose exact jobs are counted apart
		missing = missing.Where("record", bench.CellRecord)
	}
	if !x.users() || !bench.OfExact(x.Of) { // which cells have no number of
		x.missing += bench.Unrun(missing, where).Len()
	}
	found := bench.Selected(x.all, where).Filter(func(r table.Row) bool {
		switch {
		case r.Get("missing").Truth():
			return false
		case x.Of == "":
			return true
		case x.Of == "error": // which rows of other kinds do not have
			return r.Text("record") == bench.ErrorRecord
		case x.users() && x.Of == "relative_error" && r.Text("record") == bench.ErrorRecord &&
			math.IsNaN(r.Number("error")): // no stationary law, which is no missing number
			return true
		}
		v := x.number(r)
		if v != v && !diverged(r) {
			x.lacking++
		}
		// Built-in claims were fixed without scores of chains that diverged, which have none.
		return (v == v || x.users() && diverged(r)) && (!judged || x.judges(r))
	})
	x.read = append(x.read, found)
	return found
}

// judges reports whether a chain's distance says something, and keeps why it does not. A
// reference whose checks nobody recorded judges, but the finding says so. An analytic
// posterior needs no checks.
func (x *evaluation) judges(r table.Row) bool {
	leave := func(reason string) {
		if x.left[reason] == nil {
			x.left[reason] = make(splitsOf)
		}
		name := r.Text("dataset")
		x.left[reason][name] = distinct.Append(x.left[reason][name], r.Number("split"))
	}
	ofSplit, known := x.failures[r.Key("dataset", "split", "model")]
	ofOracle, checked := x.failures[r.Key("oracle")]
	by, own := r.Text("oracle"), r.Number("reference_error")
	// The record says itself what its reference failed, which may be another run's; an exact
	// posterior has no checks.
	if own > 0 || by == bench.Analytic {
		ofSplit = 0
	}
	switch {
	case ofSplit > 0 || ofOracle > 0 || r.Text("reference_failed") != "":
		leave(failedReference)
		return false
	case own > 0 && own > referenceShare*x.nearest[by]:
		leave(coarseReference)
		return false
	case by == "" || by == bench.Analytic:
	case !known && !checked && !(own > 0): // a record that has the error has failed checks, too
		leave(uncheckedChains)
	case !(own > 0):
		leave(unknownError)
	}
	return true
}

// splitsOf are splits of data sets, by name.
type splitsOf map[string][]float64

// String names them: boston (split 0), concrete (splits 0, 1, 3).
func (of splitsOf) String() string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		splits, word := slices.Sorted(slices.Values(of[name])), "split"
		if len(splits) > 1 {
			word = "splits"
		}
		list := strings.Trim(strings.ReplaceAll(fmt.Sprint(splits), " ", ", "), "[]")
		names = append(names, fmt.Sprintf("%s (%s %s)", name, word, list))
	}
	return strings.Join(names, ", ")
}

// referenceShare is how large a reference's own error may be beside the smallest distance
// that it judges. A smaller one is part of the uncertainty of what it judges.
const referenceShare = 0.25

// ofDistance is 1 if the case's column is a distance to a reference, or one less what does
// not depend on it: the reference's own error moves it by as much. It is 0 for others.
func (x *evaluation) ofDistance() float64 {
	return indicator(slices.Contains([]string{"ks", bench.ExcessColumn, aboveFloor,
		clearlyAbove}, x.Of))
}

// number is the case's column as a number, 1 for true; NaN if the row has none. An error
// that is not above its resolution is 0. Four columns are derived: the excess of a distance
// over the mean self-distance, that over the measured floor, which is the former where none
// was measured, the same where it is clear, and whether the chain is where right ones are.
func (x *evaluation) number(r table.Row) float64 {
	switch x.Of {
	case "error":
		return resolved(r)
	case bench.ExcessColumn:
		return excess(r)
	case aboveFloor:
		return x.aboveFloor(r)
	case clearlyAbove:
		if above := x.aboveFloor(r); above > ClearExcess {
			return above
		}
		return math.NaN()
	case bench.RightColumn:
		if right, decided := bench.Right(r); decided {
			return indicator(right)
		}
		return math.NaN()
	}
	if v := r.Get(x.Of); v.Kind() == table.Truth {
		return indicator(v.Truth())
	}
	if of, ok := resolutions[x.Of]; ok && x.users() && r.Number(x.Of) <= r.Number(of) {
		return 0 // as of "error"
	}
	return r.Number(x.Of)
}

// aboveFloor is a distance less the measured floor, or the excess where none was measured.
func (x *evaluation) aboveFloor(r table.Row) float64 {
	if floor, ok := x.floors()[r.Key(FloorColumns...)]; ok {
		return r.Number("ks") - floor
	}
	return excess(r)
}

// mean is the mean of the rows' numbers: of repetitions of one chain, of which there is
// mostly one; NaN without rows.
func (x *evaluation) mean(rows *table.Table) float64 {
	var values []float64
	for _, r := range rows.Rows() {
		values = append(values, x.number(r))
	}
	return stat.Mean(values, nil)
}

// excess is a distance above the mean self-distance: that of draws of the truth itself, as
// many as the chain's. Chance makes it negative.
func excess(r table.Row) float64 { return r.Number("ks") - r.Number("ks_self") }

// diverged reports whether the numbers of a row's chain became infinite.
func diverged(r table.Row) bool { return r.Get("diverged").Truth() }

// anyDiverged reports whether one of the rows' chains diverged.
func anyDiverged(rows *table.Table) bool { return slices.ContainsFunc(rows.Rows(), diverged) }

// estimate is a number with its interval: of a certain number, the number itself.
type estimate struct {
	row              table.Row // the first of those that it is of
	name, text       string    // for people
	value, low, high float64
	open             string  // why there is no interval
	claimed          float64 // the least order that is claimed, where a program compares
}

// certain is an estimate without scatter, such as one that was computed exactly.
func (x *evaluation) certain(r table.Row, name string, v float64) estimate {
	return estimate{row: r, name: name, text: x.format(v), value: v, low: v, high: v}
}

// number is the estimate as a finding lists it.
func (e estimate) number() Number { return Number{e.name, certify.Number(e.value), e.text} }

// format writes a number for people.
func (x *evaluation) format(v float64) string { return sprint(cmp.Or(x.Verb, "%.4g"), v) }

// sprint is fmt.Sprintf, whose format vet cannot check.
func sprint(format string, values ...any) string { return fmt.Sprintf(format, values...) }

// verdict compares an interval with the case's: within confirms, outside refutes, and one
// that holds an end decides nothing.
func (x *evaluation) verdict(e estimate) Verdict {
	from, to := float64(x.Between[0]), float64(x.Between[1])
	switch {
	case e.open != "":
		return NotDecided
	case e.low >= from && e.high <= to:
		return Confirmed
	case e.low > to || e.high < from:
		return Refuted
	}
	return NotDecided
}

// holds reports whether a number without scatter lies in the case's interval.
func (x *evaluation) holds(v float64) bool {
	return x.verdict(estimate{low: v, high: v}) == Confirmed
}

// each decides where every estimate must lie in the interval: one that does not refutes,
// one that is open leaves the claim open.
func (x *evaluation) each(one, many string, found []estimate) Finding {
	f := Finding{Verdict: Confirmed, Summary: x.span(one, many, found) + x.Unit}
	for _, e := range found {
		f.Numbers = append(f.Numbers, e.number())
		switch v := x.verdict(e); {
		case v == Refuted && f.Verdict != Refuted:
			f.Verdict = Refuted
			f.Summary = fmt.Sprintf("%s has %s %s%s", e.name, one, e.text, x.Unit)
		case v == NotDecided && f.Verdict == Confirmed:
			why := cmp.Or(e.open, "the interval holds a limit")
			if x.users() && e.open == "" && math.IsNaN(e.value) {
				why = "its chain has no stationary law at that step"
			}
			f.Verdict, f.Summary = NotDecided, fmt.Sprintf("%s: %s: %s", e.name, e.text, why)
		}
	}
	return f
}

// span says between what numbers lie: "order 2.00", "orders from 1.00 to 2.00". Infinite
// ones are the orders of laws that are exact; where others are finite, they are no ends.
func (x *evaluation) span(one, many string, found []estimate) string {
	var finite []float64
	for _, e := range found {
		if !math.IsInf(e.value, 1) {
			finite = append(finite, e.value)
		}
	}
	if len(finite) == 0 {
		return "exact"
	}
	low, high := x.format(floats.Min(finite)), x.format(floats.Max(finite))
	if low == high {
		return one + " " + low
	}
	return many + " from " + low + " to " + high
}

// numbers takes every number of exact errors and of checks by itself; a share is one
// number.
func (x *evaluation) numbers() Finding {
	rows := x.selected
	if x.Statistic == bench.ShareStatistic {
		share := x.certain(rows.Rows()[0], x.what, x.mean(rows))
		return x.each("share", "shares", []estimate{share})
	}
	var found []estimate
	for _, r := range rows.Rows() {
		e := x.certain(r, x.Of+" of "+nameOf(r), x.shifted(r))
		if low, high := x.bounds(r); x.users() && low < high {
			e.low, e.high = x.shiftedBy(low), x.shiftedBy(high)
			e.value, e.text = e.high, x.format(e.high)+" or less"
		}
		found = append(found, e)
	}
	return x.each("value", "numbers", found)
}

// shifted is a number's distance from the published one, if the case has one.
func (x *evaluation) shifted(r table.Row) float64 {
	return x.shiftedBy(x.number(r))
}

func (x *evaluation) shiftedBy(v float64) float64 { return (v - x.From) / unitOf(x.DataClaim) }

// nameOf names a row of exact errors or of a check.
func nameOf(r table.Row) string {
	if _, ok := r.Source.(certify.Row); ok {
		return fmt.Sprintf("%s, h = %g", observableName(r), r.Number("h"))
	}
	return fmt.Sprintf("%s, %s, split %g", r.Text("check"), r.Text("dataset"), r.Number("split"))
}

// chainColumns tell chains apart but for what is averaged or compared, exactColumns what
// is computed exactly. Thinning and burn-in follow from the step, and are not among them;
// neither is the step itself, along which lines run.
var (
	chainColumns = []string{
		"dataset", "model", "observe", "integrator", "parameters", "estimator", "scheme",
		"batch", "K", "friction", "nl", "samples", "precision",
	}
	exactColumns = []string{"record", "problem", "mass", "observable", "law", "budget"}
)

// userColumns tell the chains of users' studies apart, which may differ in any setting. Of chains
// at one step thinning and burn-in follow from nothing.
var userColumns = slices.DeleteFunc(bench.ColumnsOf(bench.Settings()...), func(c string) bool {
	return slices.Contains([]string{"", "h", "split", "seed"}, c)
})

// apart are the columns that tell the chains of the case apart.
func (x *evaluation) apart() []string {
	if x.users() {
		return userColumns
	}
	return chainColumns
}

// shared are the columns in which rows are equal that differ in what is compared alone,
// and maybe in their step. Some settings follow from a compared one: other integrators
// have other parameters, another batch size gives another K and, with all rows, another
// scheme. Where one of the parameters is compared, the others are equal one by one.
func (x *evaluation) shared() (on []string) {
	columns := slices.Concat([]string{"split", "seed"}, x.apart(), exactColumns)
	parameters := x.parameters()
	if slices.ContainsFunc(parameters, func(p string) bool { return x.Over[p] != nil }) {
		columns = slices.DeleteFunc(columns, func(c string) bool { return c == "parameters" })
		columns = append(columns, parameters...)
	}
	for _, column := range columns {
		_, differs := x.Over[column]
		follows := column == "parameters" && x.Over["integrator"] != nil ||
			(column == "K" || column == "scheme") && x.Over["batch"] != nil ||
			column == "batch" && x.Over["K"] != nil
		if !differs && !follows {
			on = append(on, column)
		}
	}
	return on
}

// parameters are the columns of integrators' own parameters, in users' claims: built-in ones name
// none.
func (x *evaluation) parameters() []string {
	if !x.users() {
		return nil
	}
	return bench.ParameterColumns(x.all)
}

// denominators select what a ratio divides by: the values of where, but for those of over. Another
// integrator has other parameters than where may state.
func (x *evaluation) denominators() map[string][]any {
	where := make(map[string][]any)
	maps.Copy(where, x.Where)
	if x.Over["integrator"] != nil {
		for _, p := range x.parameters() {
			delete(where, p)
		}
	}
	maps.Copy(where, x.Over)
	return where
}

// sides name what a ratio is of: both names stand in numbers and in counts of chains that
// diverged.
func (x *evaluation) sides() (above, below string) {
	if len(x.Names) == 2 {
		return x.Names[0], x.Names[1]
	}
	return selection(x.Where), selection(x.Over)
}

// others are the rows that the selected ones are compared with, which are selected and counted
// once, however many statistics a claim has.
func (x *evaluation) others() *table.Table {
	if x.divisors == nil {
		x.divisors = x.rows(x.denominators())
	}
	return x.divisors
}

// compared returns lines of rows that differ in the step and in what is compared alone, and
// in each line the pairs by step. The right side of a pair has a row for each combination
// of the values that it is compared with; where one of them is not there, there is no pair.
func (x *evaluation) compared() (lines [][]table.Pair) {
	a, b := x.sides()
	x.what = a + " / " + b
	sides := 1 // rows that a ratio divides by
	for _, values := range x.Over {
		sides *= len(values)
	}
	over := slices.Collect(maps.Keys(x.Over))
	// First lines are joined, then the steps of each: a line of pairs is what At chooses from.
	for _, line := range table.Join(x.selected, x.others(), x.shared()...) {
		var whole []table.Pair
		for _, p := range table.Join(line.Left, line.Right, "h") {
			if p.Left.Len() > 0 && len(p.Right.GroupBy(over...)) >= sides {
				whole = append(whole, p)
			}
		}
		lines = append(lines, whole)
	}
	return lines
}

// pairs returns the compared pairs both of whose sides stayed finite: for each step, or for
// the one of each line that the case wants. Pairs with a chain that diverged have no
// accuracy: they are counted as statements about stability, which the statistics worse
// and diverged decide by.
func (x *evaluation) pairs() (pairs []table.Pair) {
	var alone, others, matched int
	for _, line := range x.compared() {
		var kept []table.Pair
		for _, p := range line {
			matched += p.Left.Len()
			switch left, right := anyDiverged(p.Left), anyDiverged(p.Right); {
			case left && !right:
				alone++
			case right && !left:
				others++
			case left: // both diverged: the step is too large for either
			case x.At == "" || kept == nil:
				kept = append(kept, p)
			case (stepOf(p) > stepOf(kept[0])) == (x.At == "largest"): // steps differ within a line
				kept[0] = p
			}
		}
		pairs = append(pairs, kept...)
	}
	x.unpaired = x.selected.Len() - matched
	a, b := x.sides()
	// Exact errors of a chain without a stationary law are NaN, and not counted here.
	switch {
	case x.exact():
	case x.At != "":
		x.count("cells where "+a+" diverged and "+b+" did not", alone)
		x.count("cells where "+b+" diverged and "+a+" did not", others)
	default:
		x.count("cells where "+a+" alone diverged", alone)
		x.count("cells where "+a+" did not diverge and another did", others)
	}
	return pairs
}

// stepOf is the step of a pair, which both sides share.
func stepOf(p table.Pair) float64 { return p.Left.Rows()[0].Number("h") }

// count adds a statement about stability.
func (x *evaluation) count(name string, n int) {
	number := Number{"stability: " + name, certify.Number(n), fmt.Sprint(n)}
	x.stability = append(x.stability, number)
}

// quotient is the ratio of the numbers of a pair, with the first row of either side.
type quotient struct {
	row, below table.Row
	value      float64
	pair       table.Pair
}

// quotients are those of the case's pairs.
func (x *evaluation) quotients() []quotient { return x.quotientsOf(x.pairs()) }

// quotientsOf are those of pairs both of which have numbers, not both 0.
func (x *evaluation) quotientsOf(pairs []table.Pair) (out []quotient) {
	for _, p := range pairs {
		if v := x.mean(p.Left) / x.mean(p.Right); v == v {
			out = append(out, quotient{p.Left.Rows()[0], p.Right.Rows()[0], v, p})
		}
	}
	return out
}

// ratios decides by the ratios of pairs: of exact numbers by each, of sampled ones by
// their mean over replicates. The statistic "ratio" averages the logarithms of the ratios
// of single pairs; "excess-ratio" divides means by means, which allows numbers below 0.
func (x *evaluation) ratios() Finding {
	pairs := x.pairs()
	if x.exact() {
		var found []estimate
		for _, q := range x.quotientsOf(pairs) {
			name := fmt.Sprintf("%s of %s, %s", x.Of, x.what, nameOf(q.row))
			found = append(found, x.bounded(x.certain(q.row, name, q.value), q.pair))
		}
		switch {
		case len(found) > 0:
		case x.users() && pairs == nil:
			return x.nothing()
		default:
			return x.withoutLaws(undecided("no two numbers above their resolution differ in what "+
				"is compared alone"), pairs)
		}
		return x.withoutLaws(x.each("ratio", "ratios", found), pairs)
	}
	x.over(x.selected)
	if x.Statistic == bench.RatioStatistic {
		return x.excessRatios(pairs)
	}
	x.scale = math.Exp
	x.addLogarithms(pairs, x.number, x.ofDistance())
	return x.interval()
}

// resolutions are the columns of what errors have to be above to be told from 0.
var resolutions = map[string]string{
	"error": "resolution", "relative_error": "relative_resolution",
}

// bounds are the numbers between which that of a row lies. Of an error that is not above its
// resolution no more is known.
func (x *evaluation) bounds(r table.Row) (low, high float64) {
	v := x.number(r)
	if of, ok := resolutions[x.Of]; ok && r.Number(x.Of) <= r.Number(of) {
		return 0, r.Number(of)
	}
	return v, v
}

// bounded gives a user's ratio the interval of what is known of both sides: unresolved errors,
// which may be of any size below their resolution, have no ratio of 0 or of infinity.
func (x *evaluation) bounded(e estimate, p table.Pair) estimate {
	if !x.users() {
		return e
	}
	mean := func(t *table.Table) (low, high float64) {
		low = t.Mean(func(r table.Row) float64 { low, _ := x.bounds(r); return low })
		return low, t.Mean(func(r table.Row) float64 { _, high := x.bounds(r); return high })
	}
	left, most := mean(p.Left)
	right, largest := mean(p.Right)
	// The numbers of either side lie in [left, most] and [right, largest]. Where the lower end is 0
	// the side is not resolved: the ratio then has a bound on one side alone.
	e.low, e.high = left/largest, most/right
	switch {
	case left < most && left == 0:
		e.value, e.text = e.high, x.format(e.high)+" or less"
	case right < largest && right == 0:
		e.value, e.text = e.low, x.format(e.low)+" or more"
	case e.low < e.high:
		e.text = x.format(e.low) + " to " + x.format(e.high)
	}
	return e
}

// withoutLaws counts the pairs of exact errors in which a side has none, since its chain has no
// stationary law at that step, or neither is above its resolution. A ratio is infinite or 0 if one
// side alone has a law, so that a user's claim that the others confirm is left open.
func (x *evaluation) withoutLaws(f Finding, pairs []table.Pair) Finding {
	var one, both, zero int
	for _, p := range pairs {
		left, right := x.mean(p.Left), x.mean(p.Right)
		switch {
		case left != left && right != right:
			both++
		case left != left || right != right:
			one++
		case left == 0 && right == 0:
			zero++
		}
	}
	if !x.users() {
		return f
	}
	if one > 0 && f.Verdict == Confirmed {
		f.Verdict = NotDecided
	}
	for _, of := range []struct {
		n    int
		what string
	}{{one, "one side alone has a stationary law"}, {both, "neither side has a stationary law"},
		{zero, "neither side is above its resolution"}} {
		if of.n > 0 {
			f.Detail += fmt.Sprintf(" In %d pairs %s: they have no ratio.", of.n, of.what)
		}
	}
	return f
}

// addLogarithms adds the logarithm of the ratio of each pair: of the left side's mean to
// the geometric mean of the right side's. A shift of the distances to a reference moves
// each of these numbers by a multiple of itself.
func (x *evaluation) addLogarithms(pairs []table.Pair, number func(table.Row) float64,
	multiple float64) {
	for _, p := range pairs {
		left := p.Left.Mean(number)
		below := p.Right.Mean(func(r table.Row) float64 { return math.Log(number(r)) })
		inverse := p.Right.Mean(func(r table.Row) float64 { return 1 / number(r) })
		x.add(p.Left.Rows()[0], math.Log(left)-below, multiple*(1/left-inverse))
	}
}
