package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/chain/minibatch"
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

// A place is all chains with one setting, or an exact error of a problem at a step: a row of a
// table with these columns.
var (
	// placeColumns are also columns of the figure's CSV, after its first one, which says whether a
	// row is a place, a line or a region.
	placeColumns = []table.Column{
		{Name: "name", Kind: table.Text}, // of the data set or the problem
		{Name: "K", Kind: table.Number},
		{Name: "scheme", Kind: table.Text},
		{Name: "h", Kind: table.Number},
		{Name: "friction", Kind: table.Number},
		{Name: "k_eta_omega", Kind: table.Number},
		{Name: "c_over_omega", Kind: table.Number},
		{Name: "regime", Kind: table.Text},
		{Name: "excess", Kind: table.Number}, // over the measured floor; of exact ones the error
		{Name: "ratio", Kind: table.Number},  // to independent batches; NaN unless clear
		{Name: "excess_over_eta_c", Kind: table.Number},
		{Name: "excess_over_eta2", Kind: table.Number},
	}
	// sideColumns tell where and how a place is drawn.
	sideColumns = []table.Column{
		{Name: "kind", Kind: table.Text}, // exactKind or sampledKind
		{Name: "dataset", Kind: table.Text},
		{Name: "of", Kind: table.Text}, // the data set, or C/ω of an exact problem
	}
	// lineColumns are equal for places that differ in the step alone, or in the problem.
	lineColumns = []string{"kind", "dataset", "K", "friction", "scheme"}
)

// newPlaces returns a table of places without rows.
func newPlaces() *table.Table { return table.New(slices.Concat(placeColumns, sideColumns)...) }

// regimeObservable is the exact error that the figure shows.
const regimeObservable = "theta.cov"

// places returns what a study has under all schemes but the full batch, and whether all floors of
// its chains are measured.
func (d *drawing) places() (out *table.Table, measured bool) {
	// The floor of chains is the measured one; where the study has no full batch at a small step it
	// is the self-distance.
	floors := paper.Floors(d.cells)
	isExact := func(r table.Row) bool { return r.Text("record") == bench.ErrorRecord }
	excess := func(r table.Row) float64 {
		if isExact(r) {
			return max(r.Number("error"), 0)
		}
		floor, ok := floors[r.Key(paper.FloorColumns...)]
		if !ok {
			floor, measured = r.Number("ks_self"), false
		}
		return r.Number("ks") - floor
	}
	rows := d.rows.Filter(func(r table.Row) bool {
		return hasRegime(r) && !r.Get("diverged").Truth() &&
			(!isExact(r) || r.Text("observable") == regimeObservable)
	})
	out, measured = newPlaces(), true
	for _, g := range rows.GroupBy("record", "dataset", "problem", "K", "friction", "h") {
		// It is 0 if no chain here had independent batches. There is no ratio then, nor of chains
		// where it is not above paper.ClearExcess.
		independent := g.Where("scheme", "replacement").Mean(excess)
		for _, s := range g.GroupBy("scheme") {
			r, above := s.Rows()[0], s.Mean(excess)
			h, friction, set := r.Number("h"), r.Number("friction"), r.Text("dataset")
			place := map[string]any{
				"kind": sampledKind, "of": set, "name": cmp.Or(r.Text("problem"), set),
				"excess": above, "ratio": math.NaN(),
				"excess_over_eta_c": above * friction / h, "excess_over_eta2": above / (h * h),
			}
			for _, column := range []string{"dataset", "K", "scheme", "h", "friction",
				"k_eta_omega", "c_over_omega", "regime"} {
				place[column] = r.Get(column)
			}
			if isExact(r) {
				place["kind"] = exactKind
				place["of"] = "exact, C/ω = " + significant(r.Number("c_over_omega"))
			}
			if independent > paper.ClearExcess || isExact(r) && independent > 0 {
				place["ratio"] = above / independent
			}
			out.Add(nil, place)
		}
	}
	return out, measured
}

// regimeQuantity is what a row of panels shows of a place.
type regimeQuantity struct {
	column, label string
	note          string // what to look for
	log           bool
}

// regimeQuantities are the rows of panels below the map.
var regimeQuantities = []regimeQuantity{
	{column: "ratio", label: "error / that of independent batches",
		note: "0: no heat is left, 1: no gain"},
	{column: "excess_over_eta_c", label: "error / (η/C)", note: "level under heat", log: true},
	{column: "excess_over_eta2", label: "error / η²", note: "level under orders", log: true},
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
	all, measured := d.places()
	shown := all.Where("scheme", "reshuffle")
	if shown.Len() == 0 {
		return fmt.Errorf("no chain in random orders has a regime")
	}
	// Both axes hold the decades around 1, where the regimes change, whatever a study has.
	x := axis{Log: true, Label: "Kηω: an epoch of K steps in units of 1/ω"}.
		over(shown.Numbers("k_eta_omega"), []float64{0.1, 10}).padded(0.03)
	y := axis{Log: true, Label: "friction C/ω"}.
		over(shown.Numbers("c_over_omega"), []float64{0.1, 10}).padded(0.14)
	x.Low, y.Low = x.at(-0.12), y.at(-0.1) // names of regions stand beside and below the places
	f := &Figure{ID: d.plan.ID, Title: d.plan.Title, Warning: d.replaced(),
		width: 302, height: 150}
	f.Data.Columns = []string{"kind"}
	for _, c := range placeColumns {
		f.Data.Columns = append(f.Data.Columns, c.Name)
	}
	styles := regimeStyles(shown)
	panels := [][]*panel{regimeMap(f, shown, x, y)}
	for _, q := range regimeQuantities {
		panels = append(panels, q.row(shown, x, styles))
	}
	f.panels = panels
	for _, c := range ratioClasses {
		f.legend = append(f.legend, legendEntry{Name: c.label, Label: c.label, Style: c.style})
	}
	for _, v := range shown.Values("of") {
		name := v.Text()
		f.legend = append(f.legend, legendEntry{Name: name, Label: name, Style: styles[name]})
	}
	// Dashes tell numbers of batches apart, of exact places alone (row).
	if ks := exactBatches(shown); len(ks) > 1 {
		for i, k := range ks {
			f.legend = append(f.legend, legendEntry{Label: fmt.Sprintf("exact, K = %v", k),
				Style: style{Color: ink, Width: lineWidth, Dashes: dashings[i%len(dashings)]}})
		}
	}
	f.legend = append(f.legend, legendEntry{Label: "theory of equal curvatures",
		Style: dotted(1)})
	// The file has places of all schemes, independent batches among them.
	for _, p := range all.Rows() {
		row := []any{"place"}
		for _, c := range placeColumns {
			row = append(row, p.Get(c.Name).Any())
		}
		f.Data.add(row...)
	}
	above := "the measured floor"
	if !measured {
		above += " (where there is none, above the self-distance of the truth's draws)"
	}
	of := func(rows *table.Table) string { // bench sees to it that all are alike in these
		for _, r := range rows.Rows() {
			return " (integrator " + setting("integrator").Text(r) + unusual(r) + ")"
		}
		return ""
	}
	exact := d.rows.Where("record", bench.ErrorRecord)
	f.Caption = d.caption("Mini-batches in random orders (reshuffle); K batches, step η, "+
		"friction C, ω the largest frequency of the posterior. A line joins the steps of one C "+
		"and K. Exact"+of(exact)+": error of cov θ, the median over Gaussian problems of equal "+
		"K. Sampled"+of(d.cells)+": "+
		"Kolmogorov distance above "+above+", without chains that diverged; in the lower rows "+
		"where it is above "+significant(paper.ClearExcess)+", three times what chance makes, on "+
		"the map and as a ratio where that of independent batches is. Dotted, of chains: the "+
		"theory for C/ω = "+significant(sampledDamping)+".",
		"Under heat the error goes like η/C, and random orders gain the less the longer the "+
			"epoch. Under orders they remove the heat, and the error goes like η² whatever C is; "+
			"where C/ω is below Kηω, the rest of the heat, like η³/C, is more than that (tables "+
			"call both orders).", strings.Join(regimeLimits(shown, panels), " "))
	d.out.Figures = append(d.out.Figures, f)
	d.exponents(all)
	return nil
}

// regimeLimits are what a reader would miss on the panels of some places: how far they go, and
// which of them are no effect.
func regimeLimits(shown *table.Table, panels [][]*panel) (notes []string) {
	negative := func(p table.Row) bool { return p.Number("ratio") < 0 }
	chains := shown.Where("kind", sampledKind)
	if chains.Filter(negative).Len() > 0 {
		notes = append(notes, "Negative ratios are chance.")
	}
	row := panels[len(panels)-1] // chains are on its last panel, if there are any
	early := slices.ContainsFunc(row[len(row)-1].Series[1:], func(c curve) bool {
		return slices.ContainsFunc(c.X, func(x float64) bool { return x < 1 })
	})
	if chains.Len() > 0 && !early {
		notes = append(notes, "Of chains, no place with Kηω < 1 has an excess that large: the two "+
			"lower panels on the right show none under orders.")
	}
	most := 0.
	for _, p := range shown.Where("kind", exactKind).Rows() {
		most = max(most, p.Number("k_eta_omega")/p.Number("K"))
	}
	if most > 2 {
		notes = append(notes, "Exact places reach ηω = "+significant(most)+
			"; beyond 2 neither law is proven.")
	}
	return notes
}

// exactBatches are the numbers of batches of exact places, ascending.
func exactBatches(shown *table.Table) []table.Value {
	return shown.Where("kind", exactKind).Sort("K").Values("K")
}

// exactKind and sampledKind are the kinds of places.
const exactKind, sampledKind = "exact", "sampled"

// sideTitles are the titles of the columns of panels, by the kind of their places.
var sideTitles = map[string]string{
	exactKind: "exact errors of Gaussian problems", sampledKind: "chains on data sets",
}

// sides are the columns of panels: the exact places and the sampled ones, those of which there
// are any.
func sides(shown *table.Table) []table.Group {
	return slices.Concat(shown.Where("kind", exactKind).GroupBy("kind"),
		shown.Where("kind", sampledKind).GroupBy("kind"))
}

// regimeStyles are those of lines by what they are of: a colour by data set, and by friction of
// exact problems.
func regimeStyles(shown *table.Table) map[string]style {
	styles := make(map[string]style)
	exact := shown.Where("kind", exactKind).Values("of")
	for i, v := range exact {
		styles[v.Text()] = sequential(i, len(exact))
	}
	for i, v := range shown.Where("kind", sampledKind).Values("of") {
		s := categorical(i)
		s.Dashes = nil
		if s.Marker == ratioClasses[0].style.Marker { // which the map has for something else
			s.Marker = "open triangle"
		}
		styles[v.Text()] = s
	}
	return styles
}

// medians returns a place for those of one line and step: the first of them, with the median of
// a column over all. There is none where no place has a number.
func medians(side *table.Table, column string) *table.Table {
	out := newPlaces()
	for _, g := range side.GroupBy(append(slices.Clip(lineColumns), "h")...) {
		_, median, _ := spread(g.Numbers(column))
		if !isFinite(median) {
			continue
		}
		place := make(map[string]any)
		for _, c := range out.Columns() {
			place[c.Name] = g.Get(c.Name)
		}
		place[column] = median
		out.Add(nil, place)
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
func regimeMap(f *Figure, shown *table.Table, x, y axis) (row []*panel) {
	bounds, words := regimeBounds(x, y)
	lines := append([]curve{epochLine(y)}, bounds...)
	// Rows have the fields of placeColumns behind their kind: lines their name and coordinates
	// alone, regions the regime as well.
	for _, l := range lines {
		for i := range l.X {
			f.Data.add("line", l.Name, nil, nil, nil, nil, l.X[i], l.Y[i], nil, nil, nil, nil, nil)
		}
	}
	for _, w := range words {
		f.Data.add("region", w.Text, nil, nil, nil, nil, w.X, w.Y, w.Text, nil, nil, nil, nil)
	}
	for _, side := range sides(shown) {
		p := &panel{Title: sideTitles[side.Get("kind").Text()], X: x, Y: y,
			Series: slices.Clone(lines), Words: words}
		// A place without a ratio, where independent batches have no clear error, is not on the
		// map.
		ratios := medians(side.Table, "ratio")
		for j, class := range ratioClasses {
			s := curve{Name: class.label, Style: class.style}
			for _, at := range ratios.Rows() {
				ratio := at.Number("ratio")
				if ratio < class.below && (j == 0 || ratio >= ratioClasses[j-1].below) {
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
	// A regime depends on Kηω and C/ω alone, so that the bounds are those of any study: they are
	// found with K = 2 and ω = 1. Along the axis the regime is looked up at fine + 1 places; a
	// bound lies between two neighbours at which it differs.
	const fine = 400
	regime := func(i int, friction float64) minibatch.Regime {
		return scheme.Regime(2, x.at(float64(i)/fine)/2, 1, friction)
	}
	look := style{Color: selfGrey, Width: 0.7, Dashes: []float64{3, 2}}
	orders := curve{Name: "orders | between", Style: look}
	heat := curve{Name: "between | heat", Style: look}
	// Bounds are found row by row, from the lower edge up: where a regime ends along each.
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
	// Each regime has one interval of the lower edge: the first and the last index are its ends.
	first := make(map[minibatch.Regime][2]int)
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
	// Below C/ω = Kηω the law of orders is less than what is left of the heat. At the lower edge
	// friction decides nothing, so that the bound of orders is that of Kηω alone.
	corner := orders.X[0]
	// The diagonal enters the map at the left edge, or at the lower one where it meets that first.
	enters := max(x.Low, y.Low)
	rest := curve{Name: "orders | rest of the heat", Style: look,
		X: []float64{enters, corner}, Y: []float64{enters, corner}}
	// "orders" was placed at the lower edge, which is below the bound just added: the region there
	// is named "rest of the heat", and "orders" moves to the left edge.
	words = append(words, word{words[0].X, y.at(0.05), "rest of the heat"})
	words[0].X, words[0].Y = x.at(0.07), math.Sqrt(corner) // left of the places
	// The label of the line Kηω = 1 stands to its right, at the upper edge.
	words = append(words, word{1.95, y.at(0.95), "Kηω = 1"})
	return []curve{orders, heat, rest}, words
}

// row makes the panels of a quantity: lines of places that differ in the step alone. On
// logarithmic axes, which magnify what chance makes, sampled places have a clear excess.
func (q regimeQuantity) row(shown *table.Table, x axis, styles map[string]style) (row []*panel) {
	drawn := func(p table.Row) bool {
		return !q.log || p.Text("kind") == exactKind || p.Number("excess") > paper.ClearExcess
	}
	y := axis{Label: q.label, Log: q.log, Ticks: 4, Grid: true}
	for _, side := range sides(shown) {
		places := side.Filter(drawn)
		values := places.Numbers(q.column)
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
		for _, line := range medians(places, q.column).GroupBy(lineColumns...) {
			of := line.Get("of").Text()
			l := curve{Name: of, Style: styles[of]}
			if i := slices.Index(exactBatches(side.Table), line.Get("K")); i >= 0 {
				l.Style.Dashes = dashings[i%len(dashings)]
			}
			for _, at := range line.Sort("k_eta_omega").Rows() {
				if v := at.Number(q.column); !q.log || v > 0 {
					l.X, l.Y = append(l.X, at.Number("k_eta_omega")), append(l.Y, v)
				}
			}
			p.Series = append(p.Series, l)
		}
		row = append(row, p)
	}
	return row
}

// sampledDamping is C/ω of the theory beside chains: the law hardly depends on it where it is
// small.
const sampledDamping = 0.01

// heatLeft are the curves of minibatch.HeatLeft: for each friction of exact places in its colour,
// and for chains that of small friction, which theirs is.
func heatLeft(side table.Group, x axis, styles map[string]style) (out []curve) {
	add := func(friction float64, look style) {
		theory := curve{Name: "theory", Style: look}
		theory.X, theory.Y = x.along(100, func(epoch float64) float64 {
			return minibatch.HeatLeft(epoch, friction)
		})
		out = append(out, theory)
	}
	if side.Get("kind").Text() == sampledKind {
		add(sampledDamping, dotted(1))
		return out
	}
	for _, of := range side.GroupBy("of") {
		look := dotted(1)
		look.Color = styles[of.Get("of").Text()].Color
		add(of.Get("c_over_omega").Number(), look)
	}
	return out
}

// exponents adds the table of excess ∝ ηᵃCᵇ by regime and scheme: for each data set, and over data
// sets, with intervals at 95 %.
func (d *drawing) exponents(all *table.Table) {
	const level = 0.95
	power := func(label, column string, p paper.Power) entry {
		text := signed(p.Value, 2) + " ± " + show(p.Half, math.NaN(), 2)
		return entry{label, 0, text, column + "," + column + "_half", []any{p.Value, p.Half}}
	}
	var lines [][]entry
	line := func(of table.Group, name string, p paper.Powers) {
		lines = append(lines, []entry{
			plain("kind", 0, "kind", of.Get("kind").Text()),
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
	for _, g := range all.Sort(by...).GroupBy(by...) {
		// The mean over data sets, each of which counts once: by the means over its numbers of
		// batches. Of exact errors a problem is a data set.
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
			mean.Step.Value, mean.Step.Half = paper.MeanInterval(steps, 0, level)
			mean.Friction.Value, mean.Friction.Half = paper.MeanInterval(frictions, 0, level)
			line(g, "mean", mean)
		}
	}
	notes := []string{"Excess ∝ ηᵃCᵇ, by least squares of logarithms; ±: half of the 95 % " +
		"interval, of a data set by the scatter of its points, of the mean by that of data sets, " +
		"each of which counts once. Points at or below the floor are left out, which lowers a " +
		"where they are at the smallest steps. Independent batches (replacement) are under heat " +
		"at every step.",
		"The law of heat has a = 1 and b = −1, and a + b = 0 where distances saturate; the law " +
			"of orders has a = 2 and b = 0."}
	if slices.ContainsFunc(lines, func(l []entry) bool { return l[0].text == exactKind }) {
		notes = append(notes, "Sampled rows are of chains, whose excess is the Kolmogorov "+
			"distance above the floor; exact rows of Gaussian problems in d dimensions, each of "+
			"which counts as a data set: their excess is the error of cov θ itself, which has "+
			"no floor.")
	}
	d.table(d.plan.ID+"-exponents", lines, notes...)
}
