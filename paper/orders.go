package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/certify"
)

// orderTolerance is how far a fitted order may be from the stated one. Orders are whole
// numbers, and fits are good to a few hundredths.
const orderTolerance = 0.3

// law are the columns that tell stationary laws apart: the chain of a job and its scheme.
var law = []string{"key", "scheme"}

// observableName says what an order is of.
func observableName(r table.Row) string {
	of := r.Source.(certify.Row)
	return fmt.Sprintf("%s, %s, %s, %s", of.Name(), of.Scheme, of.Problem, r.Text("observable"))
}

// orders returns the orders of all observables of exact errors, of a chain that has
// several names once.
func orders(rows *table.Table) (found []estimate) {
	for _, g := range independent(rows.GroupBy(law...)) {
		for _, of := range g.GroupBy("observable") {
			found = append(found, orderOf(of.Rows()[0]))
		}
	}
	return found
}

// orderOf is the order of the observable of a row. One that is known is a certain power
// of the step; of others certify may know that they are at least some power.
func orderOf(r table.Row) estimate {
	order, least := r.Number("order"), r.Number("at_least")
	e := estimate{row: r, name: observableName(r), value: order, low: order, high: order}
	switch v := certify.Verdict(r.Text("verdict")); {
	case v == certify.Exact:
		e.value, e.low, e.high, e.text = inf, inf, inf, "exact"
	case v != certify.Confirmed && v != certify.Refuted || order != order && least != least:
		e.value, e.open, e.text = math.NaN(), "the order could not be fitted", "not known"
	case order != order:
		e.value, e.low, e.high, e.text = least, least, inf, fmt.Sprintf("%g or more", least)
	case math.IsInf(r.Number("uncertainty"), 1):
		e.text = fmt.Sprintf("%.2f", order)
	default:
		e.text = fmt.Sprintf("%.2f ± %.2f", order, r.Number("uncertainty"))
	}
	return e
}

// decideOrders decides by orders, or by the worst of each chain.
func (x *evaluation) decideOrders(found []estimate) Finding {
	if x.Worst != nil {
		found = worst(found, x.Worst...)
	}
	x.Verb = "%.2f"
	return x.each("order", "orders", found)
}

// worst returns the lowest order of each group by some columns, in order of appearance.
// An unknown order counts as lower than all.
func worst(found []estimate, columns ...string) (lowest []estimate) {
	at := make(map[table.Key]int) // places in lowest
	for _, e := range found {
		k := e.row.Key(columns...)
		i, ok := at[k]
		if !ok {
			at[k] = len(lowest)
			lowest = append(lowest, e)
		} else if cmp.Less(e.value, lowest[i].value) { // NaN is less than all
			lowest[i] = e
		}
	}
	return lowest
}

// independent leaves out laws whose errors are those of an earlier one under another
// name: frozen sghmc-adaptive, and sghmc with the full batch, are leapfrog, and so are no
// evidence of their own.
func independent(laws []table.Group) (out []table.Group) {
	of := []string{"problem", "friction", "mass", "scheme", "nl", "estimator"}
	seen := make(map[table.Key][]table.Group)
	for _, g := range laws {
		k := g.Rows()[0].Key(of...)
		if !slices.ContainsFunc(seen[k], func(o table.Group) bool {
			return o.Get("integrator") != g.Get("integrator") && sameErrors(o, g)
		}) {
			out, seen[k] = append(out, g), append(seen[k], g)
		}
	}
	return out
}

// sameErrors reports whether the errors of two laws are equal, but for round-off and for
// what neither resolves, and some are resolved.
func sameErrors(a, b table.Group) bool {
	seen := false
	for _, p := range table.Join(a.Table, b.Table, "observable", "h") {
		if p.Left.Len() == 0 {
			continue
		}
		if p.Right.Len() == 0 {
			return false
		}
		v, w := resolved(p.Left.Rows()[0]), resolved(p.Right.Rows()[0])
		if v != w && !(math.Abs(v-w) <= 1e-9*v) && (v == v || w == w) {
			return false
		}
		seen = seen || v > 0
	}
	return seen
}

// resolved is the error of a row: 0 if it is not above its resolution, NaN where the
// chain is unstable.
func resolved(r table.Row) float64 {
	if x := r.Number("error"); !(x <= r.Number("resolution")) {
		return x
	}
	return 0
}

// quotient is the error of an observable under one law over that under another, at one
// step.
type quotient struct {
	row   table.Row // of the law above
	below table.Row
	value float64 // NaN where one is unstable or both are too small to tell
}

// quotients are those of all observables and steps that both laws have.
func quotients(above, below *table.Table) (out []quotient) {
	for _, p := range table.Join(above, below, "observable", "h") {
		if p.Left.Len() > 0 && p.Right.Len() > 0 {
			a, b := p.Left.Rows()[0], p.Right.Rows()[0]
			out = append(out, quotient{a, b, resolved(a) / resolved(b)})
		}
	}
	return out
}

// covariance names the observable that the claims about single errors use.
const covariance = "theta.cov"

// ofMomentum are the observables that are not of θ alone.
var ofMomentum = []string{"joint.cov", "r^2"}

func ofPosition(r table.Row) bool { return !slices.Contains(ofMomentum, r.Text("observable")) }

// ofOrders are the exact errors of all integrators, on problems whose batches differ in
// curvature: not on the toy, where mini-batches cost less than elsewhere.
func ofOrders(rows *table.Table) *table.Table {
	return rows.Where("record", bench.ErrorRecord).Where("purpose", bench.OfOrders).
		Where("problem", "gaussian", "scalar")
}

// comparison is an order with the least that is claimed of it.
type comparison struct {
	estimate
	claimed float64
}

// underCap returns the smallest order of every chain under a scheme. Claimed of each is
// the smaller of its order with the full batch and the limit.
func underCap(rows *table.Table, scheme string, limit float64) (found []comparison) {
	full := make(map[table.Key]estimate)
	var all []estimate
	for _, g := range rows.Where("scheme", "full").GroupBy("key", "observable") {
		all = append(all, orderOf(g.Rows()[0]))
	}
	for _, e := range worst(all, "key") {
		full[e.row.Key("key")] = e
	}
	for _, e := range worst(orders(rows.Where("scheme", scheme)), "key") {
		own, ok := full[e.row.Key("key")]
		if !ok {
			own.open = "there is no order with the full batch"
		}
		e.open = cmp.Or(e.open, own.open)
		found = append(found, comparison{e, min(math.Round(own.value), limit)})
	}
	return found
}

// atLeast decides whether each order reaches what is claimed of it.
func atLeast(found []comparison) Finding {
	if len(found) == 0 {
		return unavailable(computeAll)
	}
	summary := fmt.Sprintf("all %d orders reach what is claimed", len(found))
	f := Finding{Verdict: Confirmed, Summary: summary}
	var short []comparison
	for _, e := range found {
		f.Numbers = append(f.Numbers, e.number())
		switch {
		case e.open != "":
			f.Verdict, f.Summary = NotDecided, e.name+": "+e.open
		case !(e.value >= e.claimed-orderTolerance):
			short = append(short, e)
		}
	}
	if len(short) > 0 {
		f.Verdict = Refuted
		f.Summary = fmt.Sprintf("%d of %d orders are below what is claimed: %s has order %s, not %g",
			len(short), len(found), short[0].name, short[0].text, short[0].claimed)
	}
	return f
}

func reshuffleOrder(_ Claim, rows *table.Table) Finding {
	return atLeast(underCap(ofOrders(rows), "reshuffle", 2))
}

// above2 returns the orders under a scheme of the integrators whose order with the full
// batch is above 2.
func above2(rows *table.Table, scheme string) []comparison {
	return slices.DeleteFunc(underCap(ofOrders(rows), scheme, inf), func(e comparison) bool {
		return e.claimed <= 2+orderTolerance
	})
}

func reshuffleLimit(c Claim, rows *table.Table) Finding {
	return decideOrders(c.Cases[0], estimates(above2(rows, "reshuffle")))
}

// decideOrders decides a case by orders that its claim's decider chose.
func decideOrders(c Case, found []estimate) Finding {
	x := newEvaluation(c, table.New())
	if len(found) == 0 {
		return x.nothing()
	}
	return x.decideOrders(found)
}

func estimates(found []comparison) (out []estimate) {
	for _, e := range found {
		out = append(out, e.estimate)
	}
	return out
}

// The paper contradicts this claim of Chen et al., so it should be refuted.
func chenErgodicError(_ Claim, rows *table.Table) Finding {
	reshuffle, replacement := above2(rows, "reshuffle"), above2(rows, "replacement")
	f := atLeast(slices.Concat(reshuffle, replacement))
	if f.Verdict == Refuted {
		span := func(found []comparison) string {
			return (&evaluation{Case: Case{Verb: "%.2f"}}).span("order", "orders", estimates(found))
		}
		f.Summary = fmt.Sprintf("orders of 3 and more fall to %s (random orders) and %s (drawn at every step)",
			span(reshuffle), span(replacement))
	}
	return f
}

// cyclicOrder takes the integrators whose θ-averages have order 2 with the full batch: the
// first case is of θ, the second of the joint law.
func cyclicOrder(c Claim, rows *table.Table) Finding {
	rows = ofOrders(rows)
	of := func(scheme string, keep func(table.Row) bool) []estimate {
		return slices.DeleteFunc(orders(rows.Where("scheme", scheme)), func(e estimate) bool {
			return !keep(e.row)
		})
	}
	good := make(map[table.Value]bool)
	for _, e := range worst(of("full", ofPosition), "key") {
		good[e.row.Get("key")] = e.value > 2-orderTolerance
	}
	position := of("cyclic", func(r table.Row) bool { return good[r.Get("key")] && ofPosition(r) })
	joint := of("cyclic", func(r table.Row) bool {
		return good[r.Get("key")] && r.Text("observable") == "joint.cov"
	})
	found := []Finding{decideOrders(c.Cases[0], position), decideOrders(c.Cases[1], joint)}
	return jointly(c.Cases, found)
}

// weakOrders are those that the paper states.
func weakOrders(_ Claim, rows *table.Table) Finding {
	stated := map[string]float64{"leapfrog": 1, "lietrotter": 2, "mt3": 3}
	weak := rows.Where("purpose", bench.OfWeak).Where("integrator", "leapfrog", "lietrotter", "mt3")
	var found []comparison
	for _, e := range worst(orders(weak), law...) {
		found = append(found, comparison{e, stated[e.row.Text("integrator")]})
	}
	if f := atLeast(found); f.Verdict != Confirmed || len(found) == len(stated) {
		return f
	}
	return unavailable(computeAll)
}
