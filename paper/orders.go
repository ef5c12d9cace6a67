package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hambench/bench/table"
	"hambench/certify"
)

// orderTolerance is how far a fitted order may be from the stated one. Orders are whole
// numbers, and fits are good to a few hundredths.
const orderTolerance = 0.3

// law are the columns that tell stationary laws apart: the chain of a job and its scheme.
var law = []string{"key", "scheme"}

// observableName says what an order is of, for people: the integrator with its settings,
// the scheme, the problem with its friction and mass, the observable.
func observableName(r table.Row) string {
	of := r.Source.(certify.Row)
	return fmt.Sprintf("%s, %s, %s, %s", of.Name(), of.Scheme, of.Problem, r.Text("observable"))
}

// orders returns the orders of all observables of exact errors, of a chain that has
// several names once. certify has fitted them; a row at any step has that of its
// observable.
func orders(rows *table.Table) (found []estimate) {
	for _, g := range independent(rows.GroupBy(law...)) {
		for _, of := range g.GroupBy("observable") {
			found = append(found, orderOf(of.Rows()[0]))
		}
	}
	return found
}

// orderOf is the order of the observable of a row. One that is known is a certain power
// of the step; of others certify may know that they are at least some power. A law without
// any error has every order: +Inf. An order that could not be fitted leaves a claim open.
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
	default:
		e.text = fmt.Sprintf("%.2f", order)
	}
	return e
}

// orders decides by the orders of exact errors, or by the slopes of what is sampled.
func (x *evaluation) orders() Finding {
	if x.exact() {
		return x.decideOrders(orders(x.selected))
	}
	return x.slopes()
}

// decideOrders decides by orders that a program may have chosen, or by the worst of each
// chain if the case says so.
func (x *evaluation) decideOrders(found []estimate) Finding {
	if x.Worst != nil {
		found = worst(found, x.Worst...)
	}
	if len(found) == 0 {
		return x.nothing()
	}
	x.Verb = cmp.Or(x.Verb, "%.2f")
	return x.each("order", "orders", found)
}

// worst returns the lowest order of each group by some columns, in order of appearance.
// An unknown order counts as lower than all: it could be the worst.
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
// evidence of their own. Only laws of equal settings are compared.
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
// what neither resolves, and some are resolved: two laws without any error are not one.
func sameErrors(a, b table.Group) bool {
	seen := false
	for _, p := range table.Join(a.Table, b.Table, "observable", "h") {
		if p.Left.Len() == 0 {
			continue
		}
		if p.Right.Len() == 0 {
			return false
		}
		// NaN, of an unstable step, equals NaN alone: both laws must be unstable there.
		v, w := resolved(p.Left.Rows()[0]), resolved(p.Right.Rows()[0])
		if v != w && !(math.Abs(v-w) <= 1e-9*v) && (v == v || w == w) {
			return false
		}
		seen = seen || v > 0
	}
	return seen
}

// resolved is the error of a row: 0 if it is not above its resolution, which is what
// certify can tell from 0, and NaN where the chain is unstable.
func resolved(r table.Row) float64 {
	if x := r.Number("error"); !(x <= r.Number("resolution")) {
		return x
	}
	return 0
}

// underCap returns the smallest order of every chain that the case selects. Claimed of each
// is the smaller of the limit and of its order with the full batch, which is what the case
// compares with: rounded, as orders are whole numbers. An order that is not known on either
// side is open.
func (x *evaluation) underCap(limit float64) (found []estimate) {
	full := make(map[table.Value]estimate)
	var all []estimate
	for _, g := range x.others().GroupBy("key", "observable") {
		all = append(all, orderOf(g.Rows()[0]))
	}
	for _, e := range worst(all, "key") {
		full[e.row.Get("key")] = e
	}
	for _, e := range worst(orders(x.selected), "key") {
		own, ok := full[e.row.Get("key")]
		if !ok {
			own.open = "its order with the full batch is not there"
		}
		e.open, e.claimed = cmp.Or(e.open, own.open), min(math.Round(own.value), limit)
		found = append(found, e)
	}
	return found
}

// atLeast decides whether each order reaches what is claimed of it, less the tolerance. One
// that does not refutes, even if others are not known.
func atLeast(found []estimate) Finding {
	f := Finding{Verdict: Confirmed}
	f.Summary = fmt.Sprintf("all %d orders reach what is claimed", len(found))
	var short []estimate
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
		const summary = "%d of %d orders are below what is claimed: %s has order %s, not %g"
		f.Verdict, f.Summary = Refuted, fmt.Sprintf(summary,
			len(short), len(found), short[0].name, short[0].text, short[0].claimed)
	}
	return f
}

// reshuffleOrder holds every integrator to the order of the paper's theorem, min(p, 2).
func reshuffleOrder(of []*evaluation) Finding { return atLeast(of[0].underCap(2)) }

// above2 returns the orders of the integrators whose order with the full batch is above 2.
func (x *evaluation) above2() []estimate {
	return slices.DeleteFunc(x.underCap(inf), func(e estimate) bool {
		return e.claimed <= 2+orderTolerance
	})
}

// reshuffleLimit asks whether such integrators have the order that the case states.
func reshuffleLimit(of []*evaluation) Finding { return of[0].decideOrders(of[0].above2()) }

// chenErgodicError leads with the integrators whose order with the full batch is 2 or more
// under batches that are drawn at every step, as the theorem of Chen et al. presumes, and
// names their own, symmetric. Random orders come second. The paper contradicts the claim,
// so it should be refuted.
func chenErgodicError(of []*evaluation) Finding {
	drawn := slices.DeleteFunc(of[1].underCap(inf), func(e estimate) bool {
		return e.claimed < 2
	})
	random := of[0].above2()
	f := atLeast(slices.Concat(drawn, random))
	i := slices.IndexFunc(drawn, func(e estimate) bool {
		return e.row.Text("integrator") == "symmetric"
	})
	if f.Verdict == Refuted && i >= 0 {
		f.Summary = sprint(of[0].Summary, drawn[i].claimed, drawn[i].value,
			of[1].span("order", "orders", drawn), of[0].span("order", "orders", random))
	}
	return f
}

// cyclicOrder takes the integrators whose θ-averages have order 2 with the full batch, as
// the first case has them: the second is of θ with one order of the batches for ever, the
// third of the joint law.
func cyclicOrder(of []*evaluation) Finding {
	good := make(map[table.Value]bool)
	// All of them, also those whose law with the full batch is another's: sghmc has leapfrog's.
	var full []estimate
	for _, g := range of[0].selected.GroupBy("key", "observable") {
		if slices.Contains(of[1].Where["observable"], any(g.Get("observable").Text())) {
			full = append(full, orderOf(g.Rows()[0]))
		}
	}
	for _, e := range worst(full, "key") {
		good[e.row.Get("key")] = e.value > 2-orderTolerance
	}
	var found []Finding
	for _, x := range of[1:] {
		all := orders(x.selected)
		all = slices.DeleteFunc(all, func(e estimate) bool { return !good[e.row.Get("key")] })
		found = append(found, x.decideOrders(all))
	}
	return jointly(of[1:], found)
}

// weakOrders compares the orders of the law after one step with those that the paper
// states. The worst observable of mean and covariance counts. An integrator without a row
// leaves the claim open, unless another refutes it.
func weakOrders(of []*evaluation) Finding {
	stated := map[string]float64{"leapfrog": 1, "lietrotter": 2, "mt3": 3}
	var found []estimate
	for _, e := range worst(orders(of[0].selected), law...) {
		e.claimed = stated[e.row.Text("integrator")]
		found = append(found, e)
	}
	if f := atLeast(found); f.Verdict != Confirmed || len(found) == len(stated) {
		return f
	}
	return of[0].nothing()
}
