package paper

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/certify"
)

// errorsFor are the exact errors of a purpose under an integrator with N_l = 1.
func errorsFor(rows *table.Table, purpose, integrator, scheme string) *table.Table {
	return rows.Where("record", bench.ErrorRecord).Where("purpose", purpose).
		Where("integrator", integrator).Where("nl", 1).Where("scheme", scheme)
}

// The probes of the step run where a study is resolved; rows have what they found.
func quasiSymplectic(_ Claim, rows *table.Table) Finding {
	f := Finding{Verdict: Confirmed, Summary: "both conditions hold for each"}
	for _, name := range []string{"leapfrog", "lietrotter", "mt3"} {
		of := errorsFor(rows, bench.OfOrders, name, "full").Rows()
		if len(of) == 0 || of[0].Get("constant_determinant").IsNone() {
			return unavailable(computeAll)
		}
		for _, condition := range [][2]string{
			{"determinant independent of the state", "constant_determinant"},
			{"symplectic as C → 0", "symplectic_limit"},
		} {
			v := of[0].Get(condition[1]).Truth()
			text := map[bool]string{true: "yes", false: "no"}[v]
			f.Numbers = append(f.Numbers, Number{name + ", " + condition[0], certify.Number(indicator(v)), text})
			if !v {
				f.Verdict, f.Summary = Refuted, name+" fails a condition"
			}
		}
	}
	return f
}

// duels counts, for each observable of two laws, the steps at which the one has the
// smaller error.
type duels struct {
	Finding
	wins, n int
	lost    []string
	open    bool // whether losing at some steps leaves it open, rather than refutes
}

// add compares two laws.
func (d *duels) compare(above, below *table.Table) {
	won, of := make(map[string]int), make(map[string]int)
	var names []string
	for _, q := range quotients(above, below) {
		name := fmt.Sprintf("%s against %s, %s, %s", q.row.Text("integrator"),
			q.below.Text("integrator"), q.row.Text("problem"), q.row.Text("observable"))
		if q.value != q.value {
			continue
		}
		if of[name] == 0 {
			names = append(names, name)
		}
		of[name]++
		won[name] += int(indicator(q.value < 1))
	}
	for _, name := range names {
		d.wins, d.n = d.wins+won[name], d.n+of[name]
		text := fmt.Sprintf("%d of %d", won[name], of[name])
		number := Number{"steps with the smaller error, " + name, certify.Number(won[name]), text}
		d.Numbers = append(d.Numbers, number)
		switch {
		case won[name] == 0 || won[name] < of[name] && !d.open:
			d.Verdict, d.lost = Refuted, append(d.lost, name)
		case won[name] < of[name] && d.Verdict == Confirmed:
			d.Verdict = NotDecided
		}
	}
}

// decide confirms if the one always has the smaller error.
func (d *duels) decide() Finding {
	if d.n == 0 {
		return unavailable(computeAll)
	}
	d.Summary = fmt.Sprintf("smaller error in %d of %d comparisons", d.wins, d.n)
	if len(d.lost) > 0 {
		d.Summary += "; larger: " + strings.Join(d.lost, "; ")
	}
	return d.Finding
}

func higherOrderBetter(_ Claim, rows *table.Table) Finding {
	d := duels{Finding: Finding{Verdict: Confirmed}}
	for _, pair := range [][2]string{
		{"mt3", "lietrotter"}, {"mt3", "leapfrog"}, {"lietrotter", "leapfrog"},
	} {
		high := errorsFor(rows, bench.OfBottleneck, pair[0], "full").Where("observable", covariance)
		low := errorsFor(rows, bench.OfBottleneck, pair[1], "full")
		if high.Len() == 0 || low.Len() == 0 {
			return unavailable(computeAll)
		}
		d.compare(high, low)
	}
	return d.decide()
}

// quasiSymplecticBetter compares schemes of one order that have the same observables.
func quasiSymplecticBetter(_ Claim, rows *table.Table) Finding {
	structured := func(g table.Group) bool {
		return g.Get("constant_determinant").Truth() && g.Get("symplectic_limit").Truth()
	}
	d := duels{Finding: Finding{Verdict: Confirmed}, open: true}
	laws := independent(ofOrders(rows).Where("scheme", "full").GroupBy(law...))
	for _, a := range laws {
		for _, b := range laws {
			if a.Get("problem") == b.Get("problem") && structured(a) && !structured(b) &&
				a.Get("joint_order") == b.Get("joint_order") && !a.Get("joint_order").IsNone() &&
				len(a.Values("observable")) == len(b.Values("observable")) {
				d.compare(a.Table, b.Table)
			}
		}
	}
	return d.decide()
}

func toyLaw(_ Claim, rows *table.Table) Finding {
	const posterior = 1. / 3 // σ_l²
	var f Finding
	errs := make(map[string]float64)
	for _, scheme := range []string{"full", "replacement", "reshuffle"} {
		of := errorsFor(rows, bench.OfLargeSteps, "exact", scheme).Where("observable", covariance)
		if of.Len() == 0 {
			return unavailable(computeAll)
		}
		errs[scheme] = resolved(of.Rows()[0])
		f.add("error of the variance of θ (which is 1/3), "+scheme, errs[scheme], "%.4g")
	}
	sampled := rows.Where("study", "toy").Where("record", bench.CellRecord).Where("missing", false)
	for _, r := range sampled.Rows() {
		series := r.Source.(bench.Result).Series
		v := histogramVariance(series["edges"], series["counts"])
		name := "sampled variance of θ, %s, %g samples"
		f.add(fmt.Sprintf(name, r.Text("scheme"), r.Number("samples")), v, "%.4f")
	}
	const summary = "variance off by %.0f %% (drawn at every step), %.0f %% (random orders), " +
		"0 with the full batch"
	drawn, random := errs["replacement"]/posterior, errs["reshuffle"]/posterior
	f.Summary = fmt.Sprintf(summary, 100*drawn, 100*random)
	f.Verdict = holds(errs["full"] < 1e-10 && drawn > 0.01 && random > 0.01)
	return f
}

// histogramVariance is the variance of draws known as counts in bins.
func histogramVariance(edges, counts []float64) float64 {
	var middles []float64
	for i := range counts {
		middles = append(middles, (edges[i]+edges[i+1])/2)
	}
	return stat.PopVariance(middles, counts)
}

// bottleneckExact shows every fourth step, and goes by the smallest, the last.
func bottleneckExact(_ Claim, rows *table.Table) Finding {
	of := func(scheme string) []quotient {
		third := errorsFor(rows, bench.OfBottleneck, "mt3", scheme)
		return quotients(third.Where("observable", covariance),
			errorsFor(rows, bench.OfBottleneck, "lietrotter", scheme))
	}
	mini, full := of("reshuffle"), of("full")
	if len(mini) == 0 || len(full) == 0 {
		return unavailable(computeAll)
	}
	last := len(full) - 1
	a, b, h := mini[last].value, full[last].value, full[last].row.Number("h")
	f := Finding{Verdict: holds(a >= 0.5 && a <= 2 && b < 0.1)}
	for i := 0; i <= last; i += 4 {
		const ratio = "error of mt3 / error of lietrotter, %s, h = %.4g"
		h := full[i].row.Number("h")
		f.add(fmt.Sprintf(ratio, "mini-batches", h), mini[i].value, "%.3g")
		f.add(fmt.Sprintf(ratio, "full batch", h), full[i].value, "%.3g")
	}
	const summary = "ratio of errors %.2f with mini-batches, %.3f with the full batch (h = %.2g)"
	f.Summary = fmt.Sprintf(summary, a, b, h)
	return f
}

func innerErrorExact(_ Claim, rows *table.Table) Finding {
	var f Finding
	inner := rows.Where("purpose", bench.OfLargeSteps).Where("integrator", "lietrotter").
		Where("observable", covariance).Where("scheme", "full", "reshuffle")
	most, step := 1., 0.
	for _, r := range inner.Rows() {
		most, step = max(most, r.Number("nl")), max(step, r.Number("h"))
	}
	at := make(map[table.Key]float64) // errors
	for _, r := range inner.Rows() {
		err := resolved(r)
		if err != err { // no stationary law
			err = inf
		}
		name := "error of cov θ, %s, N_l = %g, η = %g"
		f.add(fmt.Sprintf(name, r.Text("scheme"), r.Number("nl"), r.Number("h")), err, "%.4g")
		if r.Number("h") == step {
			at[r.Key("scheme", "nl")] = err
		}
	}
	growth := make(map[string]float64)
	for _, r := range inner.Where("nl", most).Where("h", step).Rows() {
		first := inner.Where("nl", 1).Where("scheme", r.Text("scheme"))
		if first.Len() > 0 && most > 1 {
			short := at[first.Rows()[0].Key("scheme", "nl")]
			growth[r.Text("scheme")] = at[r.Key("scheme", "nl")] / short
		}
	}
	if len(growth) < 2 {
		return unavailable(computeAll)
	}
	f.Verdict = holds(growth["reshuffle"] > 2)
	const summary = "N_l = %g has %.1f times the error of N_l = 1 with mini-batches, " +
		"%.2f times with the full batch (η = %g)"
	f.Summary = fmt.Sprintf(summary, most, growth["reshuffle"], growth["full"], step)
	return f
}

// growth decides how the constant of η² grows with K, by the slope of the logarithms.
func growth(_ Claim, rows *table.Table) Finding {
	var f Finding
	var x, y []float64
	random := rows.Where("purpose", bench.OfBatches).Where("scheme", "reshuffle")
	for _, g := range random.Where("observable", covariance).Where("order", 2).Sort("K").GroupBy("K") {
		r := g.Rows()[0]
		c, k, unsure := r.Number("constant"), r.Number("K"), r.Number("uncertainty")
		if c != c {
			continue
		}
		x, y = append(x, math.Log(k)), append(y, math.Log(c))
		text := fmt.Sprintf("%.5f ± %.1g = %.5f K; closed form %.5f", c, c*unsure, c/k, r.Number("closed_form"))
		f.Numbers = append(f.Numbers, Number{fmt.Sprintf("constant of η², K = %g", k), certify.Number(c), text})
	}
	if len(x) < 3 {
		return unavailable(computeAll)
	}
	_, slope := stat.LinearRegression(x, y, nil, false)
	f.Verdict = holds(math.Abs(slope-1) < 0.1)
	f.Summary = fmt.Sprintf("K to the power %.2f for K = %.0f … %.0f: %.3f K", slope,
		math.Exp(x[0]), math.Exp(x[len(x)-1]), math.Exp(stat.Mean(y, nil)-stat.Mean(x, nil)))
	return f
}

// Epochs that are long and short beside the time scale 1/ω = 1 of the problems whose
// batches are counted.
const (
	longEpoch  = 6
	shortEpoch = 1
)

func longEpochs(_ Claim, rows *table.Table) Finding {
	var f Finding
	var long, short []float64
	batches := rows.Where("purpose", bench.OfBatches).Where("observable", covariance)
	for _, g := range batches.Sort("K").GroupBy("K") {
		for _, q := range quotients(g.Where("scheme", "reshuffle"), g.Where("scheme", "replacement")) {
			x := q.row.Number("K") * q.row.Number("h")
			switch {
			case q.value != q.value:
				continue
			case x >= longEpoch:
				long = append(long, q.value)
			case x <= shortEpoch:
				short = append(short, q.value)
			}
			const name = "error in random orders / drawn at every step, %s, Kηω = %.3g"
			f.add(fmt.Sprintf(name, q.row.Text("problem"), x), q.value, "%.3f")
		}
	}
	if len(long) == 0 || len(short) == 0 {
		return unavailable(computeAll)
	}
	f.Verdict = holds(floats.Min(long) >= 0.5 && floats.Max(short) <= 0.25)
	f.Summary = fmt.Sprintf("ratio of errors %.2f to %.2f for Kηω ≥ %d, at most %.2f for Kηω ≤ %d",
		floats.Min(long), floats.Max(long), longEpoch, floats.Max(short), shortEpoch)
	return f
}

// threeDigits is how near the closed form must be to constants known as well.
const threeDigits = 1e-3

func closedForm(_ Claim, rows *table.Table) Finding {
	f := Finding{Verdict: Confirmed}
	compared, worst := 0, 0.0
	for _, g := range rows.Where("purpose", bench.OfClosedForm).GroupBy("key", "scheme", "observable") {
		r := g.Rows()[0]
		constant, predicted := r.Number("constant"), r.Number("closed_form")
		order, unsure := r.Number("order"), r.Number("uncertainty")
		off := math.Abs(constant/predicted - 1)
		switch {
		case order != order || off != off:
			continue
		case order != 2:
			off = inf
		}
		name := fmt.Sprintf("constant of η², %s, %s", r.Text("problem"), r.Text("observable"))
		text := fmt.Sprintf("%.5f ± %.1g, closed form %.5f", constant, unsure*constant, predicted)
		f.Numbers = append(f.Numbers, Number{name, certify.Number(constant), text})
		if off > max(threeDigits, unsure) {
			f.Verdict = Refuted
		}
		if unsure <= threeDigits {
			compared, worst = compared+1, max(worst, off)
		}
	}
	toy := errorsFor(rows, bench.OfOrders, "exact", "reshuffle").Where("problem", "toy").
		Where("observable", covariance)
	if compared == 0 || toy.Len() == 0 {
		return unavailable(computeAll)
	}
	vanishes := toy.Rows()[0].Number("closed_form") == 0
	ofOrder2 := toy.Rows()[0].Number("order") == 2
	f.Summary = fmt.Sprintf("%d constants agree to %.1g; on the toy it vanishes", compared, worst)
	switch {
	case f.Verdict == Refuted || !vanishes || ofOrder2:
		f.Verdict = Refuted
		const summary = "constants differ by up to %.1g; toy: closed form 0: %t, error of order 2: %t"
		f.Summary = fmt.Sprintf(summary, worst, vanishes, ofOrder2)
	case compared < 5:
		f.Verdict = NotDecided
		f.Summary = fmt.Sprintf("only %d constants are known to three digits", compared)
	}
	return f
}

// sghmcCorrection is decided exactly; sampled chains alone do not show an error below
// their noise. Where they do show a difference, it is one. The case is of these.
func sghmcCorrection(c Claim, rows *table.Table) Finding {
	f := Finding{Verdict: Confirmed}
	by := make(map[string][]float64) // ratios at the smallest step, by scheme
	position := ofOrders(rows).Filter(ofPosition)
	of := func(name, scheme string) *table.Table {
		return position.Where("integrator", name).Where("scheme", scheme)
	}
	for _, problem := range []string{"gaussian", "scalar"} {
		for _, scheme := range []string{"reshuffle", "replacement"} {
			on := func(name string) *table.Table { return of(name, scheme).Where("problem", problem) }
			all := quotients(on("sghmc"), on("leapfrog"))
			for i, q := range all {
				last := i+1 == len(all) || all[i+1].row.Get("observable") != q.row.Get("observable")
				if !last || q.value != q.value {
					continue
				}
				name := fmt.Sprintf("error of sghmc / error of leapfrog, %s, %s, %s, h = %g", scheme,
					problem, q.row.Text("observable"), q.row.Number("h"))
				f.add(name, q.value, "%.3g")
				by[scheme] = append(by[scheme], q.value)
				if q.value > 2 || q.value < 0.5 {
					f.Verdict = Refuted
				}
			}
		}
	}
	if len(by) < 2 {
		return unavailable(computeAll)
	}
	const summary = "exactly, the correction makes errors of θ %.3g to %.3g times as large " +
		"in random orders, %.3g to %.3g times with batches drawn at every step"
	f.Summary = fmt.Sprintf(summary, floats.Min(by["reshuffle"]), floats.Max(by["reshuffle"]),
		floats.Min(by["replacement"]), floats.Max(by["replacement"]))
	for _, name := range []string{"sghmc", "leapfrog"} {
		any := Case{DataClaim: bench.DataClaim{Between: [2]bench.Limit{bench.Limit(-inf), bench.Limit(inf)}}}
		any.Worst = law
		found := decideOrders(any, orders(of(name, "reshuffle")))
		f.Summary += fmt.Sprintf("; %s: %s in random orders", name, found.Summary)
		f.Numbers = append(f.Numbers, found.Numbers...)
	}
	sampled := Evaluate(c.Cases[0], rows)
	f.Detail = "The correction is made for gradient noise that is independent from step to step; " +
		"in random orders it is not. " + sampled.Detail
	f.Numbers = append(f.Numbers, sampled.Numbers...)
	if len(sampled.Numbers) > 0 {
		f.Summary += "; sampled " + sampled.Summary
	}
	if sampled.Verdict == Refuted {
		f.Verdict = Refuted
	}
	return f
}
