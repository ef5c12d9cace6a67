package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/chain/minibatch"
	"hambench/internal/distinct"
	"hambench/paper"
)

// The figure of the two laws of mini-batch error (docs/theory.md). Left stand exact errors, of
// problems that differ in nothing else the median; right chains on data sets, each place for all
// chains that differ in their seed alone:
//
//	C/ω               map: where random orders leave how much of the error of independent batches
//	ratio             the same against Kηω
//	excess / (η/C)    level where the law of heat holds
//	excess / η²       level where the law of orders holds
//
// All panels have Kηω for their horizontal axis, with a line at 1.

// place is chains with one setting, or an exact error of a problem at a step.
type place struct {
	table.Row           // any of them
	excess    float64   // over the measured floor
	ratio     float64   // to independent batches; NaN where these have no clear error
	of        string    // the data set, or C/ω of an exact problem
	line      table.Key // those that differ in the step alone, or in the problem
}

// regimeObservable is the exact error that the figure shows.
const regimeObservable = "theta.cov"

// clearExcess is the least sampled excess that ratios divide by, and that the lower rows show:
// three times what chance makes of a mean over two chains.
const clearExcess = 0.02

// placeColumns tell places apart but for their scheme.
var placeColumns = []string{"record", "dataset", "problem", "K", "friction", "h"}

// places returns what a study has under all schemes but the full batch.
func (d *drawing) places() (out []place) {
	floors := paper.Floors(d.cells)
	excess := func(r table.Row) float64 {
		if r.Text("record") == bench.ErrorRecord {
			return max(r.Number("error"), 0)
		}
		floor, ok := floors[r.Key(paper.FloorColumns...)]
		if !ok {
			floor = r.Number("ks_self")
		}
		return r.Number("ks") - floor
	}
	rows := d.rows.Filter(func(r table.Row) bool {
		exact := r.Text("record") == bench.ErrorRecord
		return hasRegime(r) && !r.Get("diverged").Truth() &&
			(!exact || r.Text("observable") == regimeObservable)
	})
	for _, g := range rows.GroupBy(placeColumns...) {
		independent := g.Where("scheme", "replacement").Mean(excess)
		for _, s := range g.GroupBy("scheme") {
			p := place{Row: s.Rows()[0], excess: s.Mean(excess), ratio: math.NaN()}
			exact := p.kind() == exactKind
			if independent > clearExcess || exact && independent > 0 {
				p.ratio = p.excess / independent
			}
			if p.of = p.Text("dataset"); exact {
				p.of = "exact, C/ω = " + significant(p.Number("c_over_omega"))
			}
			p.line = p.Key("record", "dataset", "K", "friction", "scheme")
			out = append(out, p)
		}
	}
	return out
}

// regimeQuantity is what a row of panels shows of a place.
type regimeQuantity struct {
	column, label string
	note          string // what to look for
	of            func(p place) float64
	log           bool
}

// regimeQuantities are the rows of panels below the map.
var regimeQuantities = []regimeQuantity{
	{column: "ratio", label: "error / independent batches'",
		note: "0: no heat is left, 1: no gain",
		of:   func(p place) float64 { return p.ratio }},
	{column: "excess_over_eta_c", label: "error / (η/C)", note: "level under heat", log: true,
		of: func(p place) float64 { return p.excess * p.Number("friction") / p.Number("h") }},
	{column: "excess_over_eta2", label: "error / η²", note: "level under orders", log: true,
		of: func(p place) float64 { return p.excess / (p.Number("h") * p.Number("h")) }},
}

// ratioClasses are the classes of ratios on the map: their upper ends, and what they say. Colours
// are those of the lines below.
var ratioClasses = []struct {
	below float64
	label string
	style style
}{
	{1. / 3, "map: random orders leave less than ⅓ of independent batches' error",
		style{Color: axisGrey, Marker: "open circle"}},
	{2. / 3, "map: ⅓ to ⅔", style{Color: selfGrey, Marker: "square"}},
	{math.Inf(1), "map: ⅔ or more", style{Color: ink, Marker: "diamond"}},
}

// drawRegimes makes the figure of the two laws, and the table of exponents.
func drawRegimes(d *drawing) error {
	all := d.places()
	shown := slices.DeleteFunc(slices.Clone(all), func(p place) bool {
		return p.Text("scheme") != "reshuffle"
	})
	if len(shown) == 0 {
		return fmt.Errorf("no chain in random orders has a regime")
	}
	var xs, ys []float64
	for _, p := range shown {
		xs, ys = append(xs, p.Number("k_eta_omega")), append(ys, p.Number("c_over_omega"))
	}
	x := axis{Log: true, Label: "Kηω: an epoch of K steps in units of 1/ω"}.
		over(xs, []float64{0.1, 10}).padded(0.03)
	y := axis{Log: true, Label: "friction C/ω"}.over(ys, []float64{0.1, 10}).padded(0.14)
	x.Low, y.Low = x.at(-0.12), y.at(-0.1) // names of regions stand beside and below the places
	f := &Figure{ID: d.plan.ID, Title: d.plan.Title, Warning: d.replaced(),
		width: 302, height: 150}
	f.Data.Columns = []string{"kind", "name", "K", "scheme", "h", "friction", "k_eta_omega",
		"c_over_omega", "regime", "excess", "ratio", "excess_over_eta_c", "excess_over_eta2"}
	styles := regimeStyles(shown)
	panels := [][]*panel{regimeMap(f, shown, x, y)}
	for _, q := range regimeQuantities {
		panels = append(panels, q.row(shown, x, styles))
	}
	f.panels = panels
	for _, c := range ratioClasses {
		f.legend = append(f.legend, legendEntry{Name: c.label, Label: c.label, Style: c.style})
	}
	for _, name := range distinct.Of(shown, func(p place) string { return p.of }) {
		f.legend = append(f.legend, legendEntry{Name: name, Label: name, Style: styles[name]})
	}
	f.legend = append(f.legend, legendEntry{Label: "theory of equal curvatures",
		Style: dotted(1)})
	for _, p := range all {
		row := []any{"place", p.name(), p.Number("K"), p.Text("scheme"), p.Number("h"),
			p.Number("friction"), p.Number("k_eta_omega"), p.Number("c_over_omega"),
			p.Text("regime"), p.excess}
		for _, q := range regimeQuantities {
			row = append(row, q.of(p))
		}
		f.Data.add(row...)
	}
	f.Caption = d.caption("Mini-batches in random orders (reshuffle); K batches, step η, "+
		"friction C, largest frequency ω. A line joins the steps of one C and K. Exact: error of "+
		"cov θ, the median over Gaussian problems of equal K. Sampled: Kolmogorov distance above "+
		"the measured floor, in the lower rows where it is above "+significant(clearExcess)+
		", three times what chance makes.",
		"Under heat the error goes like η/C, and random orders gain the less the longer the "+
			"epoch. Under orders they remove the heat, and the error goes like η² whatever C is; "+
			"where C/ω is below Kηω, the rest of the heat, like η³/C, is more than that (tables "+
			"call both orders).")
	d.out.Figures = append(d.out.Figures, f)
	d.exponents(all)
	return nil
}

// name is the data set or the problem.
func (p place) name() string { return cmp.Or(p.Text("problem"), p.Text("dataset")) }

// exactKind and sampledKind are the kinds of places.
const exactKind, sampledKind = "exact", "sampled"

// sideTitles are the titles of the columns of panels, by the kind of their places.
var sideTitles = map[string]string{
	exactKind: "exact errors of Gaussian problems", sampledKind: "chains on data sets",
}

// kind is what a place is.
func (p place) kind() string {
	if p.Text("record") == bench.ErrorRecord {
		return exactKind
	}
	return sampledKind
}

// regimeStyles are those of lines by what they are of: a colour by data set, and by friction of
// exact problems.
func regimeStyles(shown []place) map[string]style {
	styles := make(map[string]style)
	var exact, sets []string
	for _, p := range shown {
		if p.kind() == exactKind {
			exact = distinct.Append(exact, p.of)
		} else {
			sets = distinct.Append(sets, p.of)
		}
	}
	for i, name := range exact {
		styles[name] = sequential(i, len(exact))
	}
	for i, name := range sets {
		styles[name] = categorical(i)
		s := styles[name]
		s.Dashes = nil
		styles[name] = s
	}
	return styles
}

// sides are the exact places and the sampled ones, with the titles of their columns; those of
// which there are any.
func sides(shown []place) (titles []string, of [][]place) {
	for _, kind := range []string{exactKind, sampledKind} {
		other := func(p place) bool { return p.kind() != kind }
		side := slices.DeleteFunc(slices.Clone(shown), other)
		if len(side) > 0 {
			titles, of = append(titles, sideTitles[kind]), append(of, side)
		}
	}
	return titles, of
}

// typical is the median of a quantity over places of one line and step.
type typical struct {
	place
	value float64
}

// medians are those of a side, in the order of their first places; none where the quantity has no
// number.
func medians(side []place, of func(p place) float64) (out []typical) {
	type at struct {
		line table.Key
		step float64
	}
	values := make(map[at][]float64)
	var first []place
	for _, p := range side {
		k := at{p.line, p.Number("h")}
		if values[k] == nil {
			first = append(first, p)
		}
		values[k] = append(values[k], of(p))
	}
	for _, p := range first {
		there := slices.DeleteFunc(values[at{p.line, p.Number("h")}], math.IsNaN)
		if _, median, _ := spread(there); isFinite(median) {
			out = append(out, typical{p, median})
		}
	}
	return out
}

// epochLine is the line Kηω = 1 across a panel.
func epochLine(y axis) curve {
	return curve{Name: "Kηω = 1", Style: style{Color: axisGrey, Width: 0.7},
		X: []float64{1, 1}, Y: []float64{y.Low, y.High}}
}

// regimeMap makes the panels of the map, with the bounds of the regimes and their names. What
// the panels have besides places goes to the figure's data.
func regimeMap(f *Figure, shown []place, x, y axis) (row []*panel) {
	bounds, words := regimeBounds(x, y)
	lines := append([]curve{epochLine(y)}, bounds...)
	for _, l := range lines {
		for i := range l.X {
			f.Data.add("line", l.Name, nil, nil, nil, nil, l.X[i], l.Y[i], nil, nil, nil, nil, nil)
		}
	}
	for _, w := range words {
		f.Data.add("region", w.Text, nil, nil, nil, nil, w.X, w.Y, w.Text, nil, nil, nil, nil)
	}
	titles, of := sides(shown)
	for i, side := range of {
		p := &panel{Title: titles[i], X: x, Y: y, Series: slices.Clone(lines), Words: words}
		ratios := medians(side, func(p place) float64 { return p.ratio })
		for j, class := range ratioClasses {
			s := curve{Name: class.label, Style: class.style}
			for _, at := range ratios {
				if at.value < class.below && (j == 0 || at.value >= ratioClasses[j-1].below) {
					s.X = append(s.X, at.Number("k_eta_omega"))
					s.Y = append(s.Y, at.Number("c_over_omega"))
				}
			}
			p.Series = append(p.Series, s)
		}
		row = append(row, p)
	}
	return row
}

// regimeBounds are the bounds of the regimes on the map, as minibatch.Scheme.Regime has them, and
// the names of the regions at the middle of what each has of the lower edge.
func regimeBounds(x, y axis) (bounds []curve, words []word) {
	scheme, err := minibatch.Builtin().Lookup("reshuffle")
	if err != nil {
		panic(err) // it is built in
	}
	const fine = 400 // of the axis
	regime := func(i int, friction float64) minibatch.Regime {
		return scheme.Regime(2, x.at(float64(i)/fine)/2, 1, friction)
	}
	look := style{Color: selfGrey, Width: 0.7, Dashes: []float64{3, 2}}
	orders := curve{Name: "orders | between", Style: look}
	heat := curve{Name: "between | heat", Style: look}
	for j := range 61 {
		at := y.at(float64(j) / 60)
		for i := range fine {
			from, to := regime(i, at), regime(i+1, at)
			middle := x.at((float64(i) + 0.5) / fine)
			switch {
			case from == minibatch.OrdersRegime && to != from:
				orders.X, orders.Y = append(orders.X, middle), append(orders.Y, at)
			case to == minibatch.HeatRegime && to != from:
				heat.X, heat.Y = append(heat.X, middle), append(heat.Y, at)
			}
		}
	}
	first := make(map[minibatch.Regime][2]int) // indices on the lower edge
	for i := range fine + 1 {
		r := regime(i, y.Low)
		if _, ok := first[r]; !ok {
			first[r] = [2]int{i, i}
		}
		first[r] = [2]int{first[r][0], i}
	}
	all := []minibatch.Regime{minibatch.OrdersRegime, minibatch.BetweenRegime, minibatch.HeatRegime}
	for _, r := range all {
		if span, ok := first[r]; ok {
			from, to := x.at(float64(span[0])/fine), x.at(float64(span[1])/fine)
			if from < 1 { // the line Kηω = 1 goes through no word
				to = min(to, 1)
			}
			words = append(words, word{math.Sqrt(from * to), y.at(0.05), string(r)})
		}
	}
	// Below C/ω = Kηω the law of orders is less than what is left of the heat.
	corner := orders.X[0]
	rest := curve{Name: "orders | rest of heat", Style: look,
		X: []float64{x.Low, corner}, Y: []float64{x.Low, corner}}
	words = append(words, word{words[0].X, y.at(0.05), "rest of heat"})
	words[0].X, words[0].Y = x.at(0.07), math.Sqrt(corner) // left of the places
	words = append(words, word{1.65, y.at(0.95), "Kηω = 1"})
	return []curve{orders, heat, rest}, words
}

// row makes the panels of a quantity: lines of places that differ in the step alone.
func (q regimeQuantity) row(shown []place, x axis, styles map[string]style) (row []*panel) {
	y := axis{Label: q.label, Log: q.log, Ticks: 4, Grid: true}
	drawn := func(p place) float64 {
		if q.log && p.kind() == sampledKind && !(p.excess > clearExcess) {
			return math.NaN()
		}
		return q.of(p)
	}
	_, of := sides(shown)
	for _, side := range of {
		var values []float64
		for _, p := range side {
			values = append(values, drawn(p))
		}
		own := y.over(values)
		if !q.log { // the same on both sides as far as values allow
			own = y.over(values, []float64{0, 1.25})
		}
		own = own.padded(0.06)
		own.Low = own.at(-0.1) // the note stands below the lines
		p := &panel{X: x, Y: own, Series: []curve{epochLine(own)}, Note: q.note}
		if q.column == "ratio" {
			p.Series = append(p.Series, heatLeft(side, x, styles)...)
		}
		var keys []table.Key
		lines := make(map[table.Key]*curve)
		for _, at := range medians(side, drawn) {
			l := lines[at.line]
			if l == nil {
				l = &curve{Name: at.of, Style: styles[at.of]}
				lines[at.line], keys = l, append(keys, at.line)
			}
			if !q.log || at.value > 0 {
				l.X, l.Y = append(l.X, at.Number("k_eta_omega")), append(l.Y, at.value)
			}
		}
		for _, key := range keys {
			lines[key].ascend()
			p.Series = append(p.Series, *lines[key])
		}
		row = append(row, p)
	}
	return row
}

// heatLeft are the curves of minibatch.HeatLeft: for each friction of exact places in its colour,
// and for chains that of small friction, which theirs is.
func heatLeft(side []place, x axis, styles map[string]style) (out []curve) {
	frictions := map[string]float64{"": 0.01}
	names := []string{""}
	if side[0].kind() == exactKind {
		names = distinct.Of(side, func(p place) string { return p.of })
		for _, p := range side {
			frictions[p.of] = p.Number("c_over_omega")
		}
	}
	for _, name := range names {
		theory := curve{Name: "theory", Style: dotted(1)}
		if s, ok := styles[name]; ok {
			theory.Style.Color = s.Color
		}
		for i := range 101 {
			at := x.at(float64(i) / 100)
			theory.X = append(theory.X, at)
			theory.Y = append(theory.Y, minibatch.HeatLeft(at, frictions[name]))
		}
		out = append(out, theory)
	}
	return out
}

// ascend sorts the points of a curve by x.
func (c *curve) ascend() {
	order := make([]int, len(c.X))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(c.X[a], c.X[b]) })
	x, y := slices.Clone(c.X), slices.Clone(c.Y)
	for i, j := range order {
		c.X[i], c.Y[i] = x[j], y[j]
	}
}

// exponents adds the table of excess ∝ ηᵃCᵇ by regime and scheme: for each data set, and over data
// sets, with intervals at 95 %.
func (d *drawing) exponents(all []place) {
	const level = 0.95
	var columns []table.Column
	for _, name := range []string{"kind", "regime", "scheme", "name"} {
		columns = append(columns, table.Column{Name: name, Kind: table.Text})
	}
	for _, name := range []string{"K", "h", "friction", "excess"} {
		columns = append(columns, table.Column{Name: name, Kind: table.Number})
	}
	rows := table.New(columns...)
	for _, p := range all {
		row := map[string]any{"kind": p.kind(), "name": p.name(), "excess": p.excess}
		for _, column := range []string{"regime", "scheme", "K", "h", "friction"} {
			row[column] = p.Get(column)
		}
		rows.Add(p, row)
	}
	power := func(label, column string, p paper.Power) entry {
		text := signed(p.Value, 2) + " ± " + show(p.Half, math.NaN(), 2)
		return entry{label, 0, text, column + "," + column + "_half", []any{p.Value, p.Half}}
	}
	var lines [][]entry
	line := func(of table.Group, name string, p paper.Powers) {
		lines = append(lines, []entry{
			plain("", 0, "kind", of.Get("kind").Text()),
			plain("regime", 0, "regime", of.Get("regime").Text()),
			plain("scheme", 0, "scheme", of.Get("scheme").Text()),
			plain("data", 0, "name", name), power("a, of η", "step_power", p.Step),
			power("b, of C", "friction_power", p.Friction),
			{"points", 1, fmt.Sprintf("%d of %d", p.Points, p.Of), "points,points_asked",
				[]any{p.Points, p.Of}},
		})
	}
	excess := func(r table.Row) float64 { return r.Number("excess") }
	by := []string{"kind", "regime", "scheme"}
	for _, g := range rows.Sort(by...).GroupBy(by...) {
		var mean paper.Powers
		var steps, frictions []float64 // of a data set each
		for _, set := range g.GroupBy("name") {
			var a, b []float64 // of each of its numbers of batches
			for _, one := range set.GroupBy("K") {
				p, ok := paper.PowersOf(one.Table, excess, level)
				if !ok {
					continue
				}
				name := set.Get("name").Text()
				if set.Get("kind").Text() != exactKind { // whose name has K
					name = fmt.Sprintf("%s, K = %v", name, one.Get("K"))
				}
				line(g, name, p)
				a, b = append(a, p.Step.Value), append(b, p.Friction.Value)
				mean.Points, mean.Of = mean.Points+p.Points, mean.Of+p.Of
			}
			if a != nil {
				steps = append(steps, stat.Mean(a, nil))
				frictions = append(frictions, stat.Mean(b, nil))
			}
		}
		if len(steps) > 1 {
			mean.Step.Value, mean.Step.Half = paper.MeanInterval(steps, level)
			mean.Friction.Value, mean.Friction.Half = paper.MeanInterval(frictions, level)
			line(g, "mean", mean)
		}
	}
	d.table(d.plan.ID+"-exponents", lines, "Excess ∝ ηᵃCᵇ, by least squares of logarithms; ±: "+
		"half of the 95 % interval, of a data set by the scatter of its points, of the mean by "+
		"that of data sets, each of which counts once. Points at or below the floor are left out, "+
		"which lowers a where they are at the smallest steps. Independent batches (replacement) "+
		"are under heat at every step.",
		"The law of heat has a = 1 and b = −1, and a + b = 0 where distances saturate; the law of "+
			"orders has a = 2 and b = 0.")
}
