package paper

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/internal/distinct"
)

// Own returns the decisions on the claims that a user's studies state, each by the rows
// of its own study alone.
func Own(plans []bench.Plan, results bench.Results) (decisions []Decision) {
	for _, p := range plans {
		if len(p.Claims) == 0 {
			continue
		}
		rows := results.Table([]bench.Plan{p})
		for _, c := range p.Claims {
			decisions = append(decisions, Decision{ownClaim(p, c), Evaluate(c, rows)})
		}
	}
	return decisions
}

// ownClaim is a claim of a study as pages show it.
func ownClaim(p bench.Plan, c bench.DataClaim) Claim {
	where := selection(c.Where)
	if len(c.Over) > 0 {
		where += ", over " + selection(c.Over)
	}
	test := fmt.Sprintf("%s of %s in [%g, %g], at %g %%", c.Statistic, c.Of, float64(c.Between[0]), float64(c.Between[1]), 100*c.Level)
	if c.Statistic == bench.DistanceStatistic {
		test += fmt.Sprintf("; from %g, in units of %g", c.From, unitOf(c))
	}
	return Claim{ID: c.ID, Own: true, Study: p.ID, By: "study " + p.ID, Statement: c.Text, Where: where, Test: test}
}

// selection states the rows that a claim selects.
func selection(where map[string][]any) string {
	var parts []string
	for _, column := range slices.Sorted(maps.Keys(where)) {
		parts = append(parts, fmt.Sprintf("%s = %s", column, strings.Trim(fmt.Sprint(where[column]), "[]")))
	}
	if len(parts) == 0 {
		return "all rows of the study"
	}
	return strings.Join(parts, ", ")
}

func unitOf(c bench.DataClaim) float64 {
	if c.SD > 0 {
		return c.SD
	}
	return 1
}

// Evaluate decides a claim that is data by rows as bench.Results.Table returns them.
//
// Exact errors have no scatter: each order and each ratio must lie in the interval, and
// one that does not refutes. Sampled numbers are averaged over what chains share, and
// an interval of their mean is Student's over data sets; where all rows are of one
// data set, over its splits or, if it has one, over its seeds.
func Evaluate(c bench.DataClaim, rows *table.Table) Finding {
	x := &evaluation{DataClaim: c}
	selected := x.rows(rows, c.Where)
	var f Finding
	switch {
	case selected.Len() == 0:
		f = Finding{Verdict: NotDecided, Summary: "no rows yet that the claim selects"}
		if x.failed > 0 {
			f.Summary = "no rows are left: a check of each reference failed"
		}
	case c.Statistic == bench.OrderStatistic && c.Of == "error":
		f = x.exactOrders(selected)
	case c.Statistic == bench.OrderStatistic:
		f = x.sampledOrders(selected)
	case c.Statistic == bench.RatioStatistic:
		f = x.ratios(selected, x.rows(rows, x.denominators()))
	case selected.Rows()[0].Text("record") != bench.CellRecord:
		f = x.each(selected)
	default:
		f = x.means(selected)
	}
	f.Numbers = append(f.Numbers, x.left...)
	f.Detail = strings.TrimSpace(f.Detail + x.remarks())
	return f
}

// evaluation is a claim with what was left out of its rows.
type evaluation struct {
	bench.DataClaim
	missing, failed int // cells without a result, and with a reference that failed a check
	left            []Number
}

// remarks say which rows were left out.
func (x *evaluation) remarks() (text string) {
	if x.missing > 0 {
		text += fmt.Sprintf(" %d cells have no result yet.", x.missing)
	}
	if x.failed > 0 {
		text += fmt.Sprintf(" Left out: %d cells whose reference failed a check.", x.failed)
	}
	return text
}

// rows are those that have the values and a number of the claim's column. Distances to
// a reference that failed a check of its own are left out.
func (x *evaluation) rows(all *table.Table, where map[string][]any) *table.Table {
	failed := make(map[table.Key]bool)
	for _, r := range all.Where("record", bench.CheckRecord).Where("pass", false).Rows() {
		failed[r.Key("oracle")] = true
	}
	judged := x.Of == "ks" || x.Of == bench.ExcessColumn || x.Of == bench.RightColumn
	return bench.Selected(all, where).Filter(func(r table.Row) bool {
		switch {
		case r.Get("missing").Truth():
			x.missing++
			return false
		case x.number(r) != x.number(r):
			return false
		case judged && failed[r.Key("oracle")]:
			x.failed++
			return false
		}
		return true
	})
}

// number is the claim's column as a number, 1 for true; NaN if the row has none.
func (x *evaluation) number(r table.Row) float64 {
	switch x.Of {
	case bench.ExcessColumn:
		return r.Number("ks") - r.Number("ks_self")
	case bench.RightColumn:
		if x := r.Number("ks"); x != x {
			return x
		}
		limit := r.Number("ks_self") + 1.645*r.Number("ks_self_sd")
		return float64(indicator(!diverged(r) && r.Number("ks") <= limit))
	}
	if v := r.Get(x.Of); v.Kind() == table.Truth {
		return float64(indicator(v.Truth()))
	}
	return r.Number(x.Of)
}

func diverged(r table.Row) bool { return r.Get("diverged").Truth() }

// finite leaves out the rows of chains that diverged, and counts them.
func (x *evaluation) finite(t *table.Table) *table.Table {
	if x.Statistic == bench.ShareStatistic {
		return t
	}
	left := t.Filter(func(r table.Row) bool { return !diverged(r) })
	if n := t.Len() - left.Len(); n > 0 {
		x.left = append(x.left, Number{"stability: chains that diverged, left out", certify.Number(n), fmt.Sprint(n)})
	}
	return left
}

// estimate is a number with its interval.
type estimate struct {
	name      string
	value     float64
	low, high float64
	reason    string // why there is no interval
	number    string // the value as people read it, if that is not its digits
}

// verdict compares an interval with the claim's.
func (x *evaluation) verdict(e estimate) (v Verdict, reason string) {
	from, to := float64(x.Between[0]), float64(x.Between[1])
	switch {
	case e.reason != "":
		return NotDecided, e.reason
	case e.low >= from && e.high <= to:
		return Confirmed, ""
	case e.low > to || e.high < from:
		return Refuted, ""
	case e.low < from && e.high > to:
		return NotDecided, fmt.Sprintf("the interval holds both limits, %g and %g", from, to)
	case e.low < from:
		return NotDecided, fmt.Sprintf("the interval holds the limit %g", from)
	}
	return NotDecided, fmt.Sprintf("the interval holds the limit %g", to)
}

// text is the estimate as people read it.
func (e estimate) text() string {
	if e.number != "" {
		return e.number
	}
	if e.low == e.high {
		return fmt.Sprintf("%.4g", e.value)
	}
	return fmt.Sprintf("%.4g, in [%.4g, %.4g]", e.value, e.low, e.high)
}

// all decides where each estimate must lie in the interval: one that does not refutes,
// one that is open leaves the claim open.
func (x *evaluation) all(found []estimate) Finding {
	f := Finding{Verdict: Confirmed}
	low, high := math.Inf(1), math.Inf(-1)
	for _, e := range found {
		f.Numbers = append(f.Numbers, Number{e.name, certify.Number(e.value), e.text()})
		low, high = min(low, e.value), max(high, e.value)
		switch v, reason := x.verdict(e); {
		case v == Refuted && f.Verdict != Refuted:
			f.Verdict, f.Summary = Refuted, fmt.Sprintf("%s: %s", e.name, e.text())
		case v == NotDecided && f.Verdict == Confirmed:
			f.Verdict, f.Summary = NotDecided, fmt.Sprintf("%s: %s: %s", e.name, e.text(), reason)
		}
	}
	if f.Verdict == Confirmed {
		f.Summary = fmt.Sprintf("%d numbers from %.4g to %.4g", len(found), low, high)
	}
	return f
}

// exactOrders takes the order of each observable of each chain's law. An order that is
// known is a certain power of the step, without an interval; of others certify may know
// that they are at least some power.
func (x *evaluation) exactOrders(rows *table.Table) Finding {
	var found []estimate
	for _, g := range rows.GroupBy("key", "scheme", "observable") {
		r := g.Rows()[0]
		order, least := r.Number("order"), r.Number("at_least")
		row := r.Source.(certify.Row)
		e := estimate{name: "order of " + fitted{Row: row, observable: r.Text("observable")}.name(), value: order, low: order, high: order}
		switch v := certify.Verdict(r.Text("verdict")); {
		case v == certify.Exact:
			e.value, e.low, e.high, e.number = math.Inf(1), math.Inf(1), math.Inf(1), "exact"
		case v != certify.Confirmed && v != certify.Refuted || order != order && least != least:
			e.reason, e.number = "the order could not be fitted", "not known"
		case order != order:
			e.value, e.low, e.high = least, least, math.Inf(1)
			e.number = fmt.Sprintf("%g or more", least)
		}
		found = append(found, e)
	}
	return x.all(found)
}

// each takes every number by itself.
func (x *evaluation) each(rows *table.Table) Finding {
	if x.Statistic == bench.ShareStatistic {
		share := x.mean(rows)
		return x.all([]estimate{{name: "share of " + x.Of, value: share, low: share, high: share}})
	}
	var found []estimate
	for _, r := range rows.Rows() {
		v := (x.number(r) - x.From) / unitOf(x.DataClaim)
		found = append(found, estimate{name: x.Of + " of " + nameOf(r), value: v, low: v, high: v})
	}
	return x.all(found)
}

// nameOf names a row of exact errors or of a check.
func nameOf(r table.Row) string {
	if row, ok := r.Source.(certify.Row); ok {
		return fmt.Sprintf("%s, h = %g", fitted{Row: row, observable: r.Text("observable")}.name(), r.Number("h"))
	}
	return fmt.Sprintf("%s, %s, split %g", r.Text("check"), r.Text("dataset"), r.Number("split"))
}

func (x *evaluation) mean(rows *table.Table) float64 {
	var values []float64
	for _, r := range rows.Rows() {
		values = append(values, x.number(r))
	}
	return stat.Mean(values, nil)
}

// replicateOf is the column whose values an interval is over, and what they are called:
// data sets, or the splits or seeds of the only one.
func replicateOf(rows []table.Row) (column, name string) {
	for _, by := range [][2]string{{"dataset", "data sets"}, {"split", "splits"}, {"seed", "seeds"}} {
		if slices.ContainsFunc(rows, func(r table.Row) bool { return r.Get(by[0]) != rows[0].Get(by[0]) }) {
			return by[0], by[1]
		}
	}
	return "dataset", "data sets"
}

// replicates groups rows by what an interval is over.
func replicates(rows *table.Table) (groups []table.Group, column, over string) {
	column, over = replicateOf(rows.Rows())
	return rows.GroupBy(column), column, over
}

// student is the interval of the mean of one number a replicate.
func (x *evaluation) student(name, over string, values []float64) estimate {
	mean, sd := stat.MeanStdDev(values, nil)
	e := estimate{name: name, value: mean, low: math.Inf(-1), high: math.Inf(1)}
	if n := len(values); n < fewest {
		e.number = fmt.Sprintf("%.4g", mean)
		e.reason = fmt.Sprintf("an interval needs %d %s or more, and there are %d", fewest, over, n)
		return e
	}
	half := quantile(x.Level, len(values)-1) * sd / math.Sqrt(float64(len(values)))
	e.low, e.high = mean-half, mean+half
	return e
}

// quantile is what Student's law exceeds in size with probability 1 − level.
func quantile(level float64, freedom int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}.Quantile((1 + level) / 2)
}

// one decides by the interval of one number, and lists those of the replicates.
func (x *evaluation) one(e estimate, over string, names []string, values []float64) Finding {
	f := Finding{}
	for i, name := range names {
		f.add(fmt.Sprintf("%s, %s", e.name, name), values[i], "%.4g")
	}
	var reason string
	f.Verdict, reason = x.verdict(e)
	f.Summary = fmt.Sprintf("%s %s, %d %s", e.name, e.text(), len(values), over)
	if reason != "" {
		f.Summary += ": " + reason
	}
	return f
}

// means decides by the mean over replicates of a number, a share, or a difference from
// a published number.
func (x *evaluation) means(rows *table.Table) Finding {
	if x.Statistic == bench.DistanceStatistic && rows.Varies("dataset") {
		return Finding{Verdict: NotDecided, Summary: "rows of more than one data set: a published number is of one"}
	}
	groups, column, over := replicates(x.finite(rows))
	var names []string
	var values []float64
	for _, g := range groups {
		names = append(names, g.Get(column).String())
		values = append(values, (x.mean(g.Table)-x.From)/unitOf(x.DataClaim))
	}
	if len(values) == 0 {
		return Finding{Verdict: NotDecided, Summary: "every chain diverged"}
	}
	e := x.student(x.Statistic+" of "+x.Of, over, values)
	if x.Statistic == bench.ShareStatistic {
		if e.reason == "" && e.low == e.high { // scatter says nothing here
			e.low, e.high = binomial(x.Level, rows.Len(), e.value)
		}
		e.low, e.high = max(e.low, 0), min(e.high, 1)
	}
	return x.one(e, over, names, values)
}

// binomial is the interval of Clopper and Pearson for the probability of what happened
// in a share of n trials.
func binomial(level float64, n int, share float64) (low, high float64) {
	k, tail := math.Round(share*float64(n)), (1-level)/2
	if low, high = 0, 1; k > 0 {
		low = distuv.Beta{Alpha: k, Beta: float64(n) - k + 1}.Quantile(tail)
	}
	if k < float64(n) {
		high = distuv.Beta{Alpha: k + 1, Beta: float64(n) - k}.Quantile(1 - tail)
	}
	return low, high
}

// chainColumns tell chains apart but for what is averaged or compared.
var chainColumns = []string{
	"dataset", "model", "observe", "integrator", "parameters", "estimator", "scheme", "batch", "K",
	"friction", "nl", "samples", "precision",
}

// fewestSteps is how many steps a slope needs.
const fewestSteps = 3

// sampledOrders takes the slope over the steps of each chain, and averages slopes over
// replicates.
func (x *evaluation) sampledOrders(rows *table.Table) Finding {
	groups, column, over := replicates(x.finite(rows))
	var names []string
	var values []float64
	short := 0
	for _, g := range groups {
		var slopes []float64
		for _, line := range g.GroupBy(append([]string{"split"}, chainColumns...)...) {
			var h, y []float64
			for _, at := range line.GroupBy("h") {
				if v := x.mean(at.Table); v > 0 {
					h, y = append(h, math.Log(at.Get("h").Number())), append(y, math.Log(v))
				}
			}
			if len(h) < fewestSteps {
				short++
				continue
			}
			_, slope := stat.LinearRegression(h, y, nil, false)
			slopes = append(slopes, slope)
		}
		if len(slopes) > 0 {
			names = append(names, g.Get(column).String())
			values = append(values, stat.Mean(slopes, nil))
		}
	}
	if short > 0 {
		x.left = append(x.left, Number{fmt.Sprintf("lines with fewer than %d steps, left out", fewestSteps), certify.Number(short), fmt.Sprint(short)})
	}
	if len(values) == 0 {
		return Finding{Verdict: NotDecided, Summary: fmt.Sprintf("no line has %d steps or more with a number above 0", fewestSteps)}
	}
	return x.one(x.student("order of "+x.Of, over, values), over, names, values)
}

// denominators select what a ratio divides by.
func (x *evaluation) denominators() map[string][]any {
	where := maps.Clone(x.Where)
	if where == nil {
		where = make(map[string][]any)
	}
	maps.Copy(where, x.Over)
	return where
}

// ratios pairs rows that differ in the columns of Over alone.
func (x *evaluation) ratios(above, below *table.Table) Finding {
	var on []string
	columns := append([]string{"split", "seed", "h"}, chainColumns...)
	if above.Rows()[0].Text("record") != bench.CellRecord {
		columns = append(columns, "record", "problem", "mass", "observable", "law", "budget")
	}
	for _, column := range columns {
		follows := column == "parameters" && x.Over["integrator"] != nil ||
			(column == "K" || column == "scheme") && x.Over["batch"] != nil || column == "batch" && x.Over["K"] != nil
		if _, differs := x.Over[column]; !differs && !follows {
			on = append(on, column)
		}
	}
	var pairs []table.Pair
	for _, p := range table.Join(x.finite(above), x.finite(below), on...) {
		if p.Left.Len() > 0 && p.Right.Len() > 0 {
			pairs = append(pairs, p)
		}
	}
	if len(pairs) == 0 {
		return Finding{Verdict: NotDecided, Summary: "no two rows differ in what the ratio compares alone"}
	}
	if pairs[0].Left.Rows()[0].Text("record") != bench.CellRecord {
		return x.exactRatios(pairs)
	}
	return x.sampledRatios(pairs)
}

// exactRatios takes each ratio by itself.
func (x *evaluation) exactRatios(pairs []table.Pair) Finding {
	var found []estimate
	for _, p := range pairs {
		a, b := x.resolved(p.Left), x.resolved(p.Right)
		if a == 0 && b == 0 {
			continue
		}
		found = append(found, estimate{name: "ratio of " + nameOf(p.Left.Rows()[0]), value: a / b, low: a / b, high: a / b})
	}
	if len(found) == 0 {
		return Finding{Verdict: NotDecided, Summary: "no error is above its resolution"}
	}
	return x.all(found)
}

// resolved is the mean of the rows; an error that is not above its resolution is 0.
func (x *evaluation) resolved(rows *table.Table) float64 {
	sum := 0.0
	for _, r := range rows.Rows() {
		if v := x.number(r); x.Of != "error" || v > r.Number("resolution") {
			sum += v
		}
	}
	return sum / float64(rows.Len())
}

// sampledRatios averages both sides over the pairs of a replicate. The interval of the
// ratio of their means is Fieller's.
func (x *evaluation) sampledRatios(pairs []table.Pair) Finding {
	var first []table.Row
	for _, p := range pairs {
		first = append(first, p.Left.Rows()[0])
	}
	column, over := replicateOf(first)
	var names []string
	sides := make(map[string][2][]float64) // above and below, by replicate
	for i, p := range pairs {
		name := first[i].Get(column).String()
		names = distinct.Append(names, name)
		s := sides[name]
		sides[name] = [2][]float64{append(s[0], x.mean(p.Left)), append(s[1], x.mean(p.Right))}
	}
	var above, below, values []float64
	for _, name := range names {
		a, b := stat.Mean(sides[name][0], nil), stat.Mean(sides[name][1], nil)
		above, below, values = append(above, a), append(below, b), append(values, a/b)
	}
	return x.one(x.fieller("ratio of "+x.Of, over, above, below), over, names, values)
}

// fieller is the interval of the ratio of two means whose values come in pairs: the
// ratios r for which the mean of a − r b is not told from 0. Differences are allowed
// on both sides to be below 0, as excesses over a floor may be.
func (x *evaluation) fieller(name, over string, a, b []float64) estimate {
	meanA, meanB, n := stat.Mean(a, nil), stat.Mean(b, nil), len(a)
	e := estimate{name: name, value: meanA / meanB, low: math.Inf(-1), high: math.Inf(1)}
	if n < fewest {
		e.number = fmt.Sprintf("%.4g", e.value)
		e.reason = fmt.Sprintf("an interval needs %d %s or more, and there are %d", fewest, over, n)
		return e
	}
	q := quantile(x.Level, n-1)
	scale := q * q / float64(n)
	square := meanB*meanB - scale*stat.Variance(b, nil)
	linear := meanA*meanB - scale*stat.Covariance(a, b, nil)
	constant := meanA*meanA - scale*stat.Variance(a, nil)
	root := linear*linear - square*constant
	if !(square > 0 && meanB > 0) || root < 0 {
		e.number = fmt.Sprintf("%.4g", e.value)
		e.reason = "what the ratio divides by is not told from 0"
		return e
	}
	e.low, e.high = (linear-math.Sqrt(root))/square, (linear+math.Sqrt(root))/square
	return e
}
