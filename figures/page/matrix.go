package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/figures"
	"hambench/integrators"
	"hambench/internal/distinct"
)

// Matrix shows rows of a table grouped in two ways, such as the orders on one problem by sampler
// and scheme: each place is what the rows at it are shown as.
type Matrix[P any] struct {
	Title   string // what all rows have in common: a problem, a friction
	Columns []string
	Rows    []Line[P]
}

// Line is one row of a matrix, with a place for each of its columns.
type Line[P any] struct {
	Name   string
	Places []P
}

// axis is one side of a matrix: the columns of the table that its rows or columns differ in, and
// what people read of a group, by any row of it.
type axis struct {
	columns []string
	name    func(table.Row) string
}

// newMatrix groups the rows of a table, in the order in which groups occur. The function place
// gets the rows at a place, or nil where there are none.
func newMatrix[P any](title string, t *table.Table, rows, columns axis,
	place func(*table.Table) P) Matrix[P] {
	m := Matrix[P]{Title: title}
	all := t.GroupBy(columns.columns...)
	for _, c := range all {
		m.Columns = append(m.Columns, columns.name(c.Rows()[0]))
	}
	for _, r := range t.GroupBy(rows.columns...) {
		// Rows have a place for every column, whatever there is of it.
		line := Line[P]{Name: rows.name(r.Rows()[0])}
		of := table.ByKey(r.GroupBy(columns.columns...))
		for _, c := range all {
			line.Places = append(line.Places, place(of[c.Key]))
		}
		m.Rows = append(m.Rows, line)
	}
	return m
}

// settings are those that tell chains apart and have a column, without those of some names.
func settings(without ...string) (of []bench.Setting) {
	for _, s := range bench.Settings() {
		if s.Column != "" && !slices.Contains(without, s.Name) {
			of = append(of, s)
		}
	}
	return of
}

// Cheapest is a place of a ranking: the cheapest right chain of an integrator on a data set.
type Cheapest struct {
	// Passes are those over the data, burn-in included, on average over the chain's
	// repetitions: +Inf if no chain was right, NaN if none was run or if it is not known
	// which ones were, as where a reference failed.
	Passes float64
	// Of is the chain's batch size and scheme, N_l where it is not 1, its estimator where it is not
	// plain, and its step.
	Of string
}

// Text returns the number for people.
func (p Cheapest) Text() string {
	switch {
	case math.IsNaN(p.Passes):
		return "–"
	case math.IsInf(p.Passes, 1):
		return "inf"
	}
	return fmt.Sprintf("%.0f", p.Passes)
}

// counted reports whether passes over a cell's data are counted: models with data of their own
// have no number of rows.
func counted(r table.Row) bool { return !bench.HasOwnData(r) }

// newRankings ranks integrators by what they cost, per data set, until a chain was where right
// ones are, from the rows of cells, each once. There is a ranking for each friction and each other
// term, such as the number of samples, on which several integrators ran: one with its best of five
// frictions is not compared with one at a single friction. Models and precisions of one data set
// have columns of their own. Batches, a scheme, N_l or an estimator, which has a cost of its own,
// that a single integrator ran there compare nothing, and are left out: one that was never asked
// to run them did not fail at them.
// Controls from other starts are not ranked, nor models with data of their own, over whose rows no
// passes are counted.
func newRankings(cells *table.Table) (out []Matrix[Cheapest]) {
	judged := cells.Where("observe", string(bench.Distance)).Where("start", bench.AtTruth).
		Filter(counted)
	// An integrator with parameters of its own has a row of its own.
	integrator := integratorOf(cells)
	rows := axis{integrator.Columns(), integrator.Plain}
	for _, g := range onTerms(judged) {
		shared := append(setsOf(g.Table).columns, "K", "scheme", "nl", "estimator")
		single := make(map[table.Key]bool)
		for _, of := range g.GroupBy(shared...) {
			single[of.Key] = len(of.GroupBy(rows.columns...)) == 1
		}
		compared := g.Filter(func(r table.Row) bool { return !single[r.Key(shared...)] })
		m := newMatrix(g.title, compared, rows, setsOf(compared), cheapest)
		slices.SortStableFunc(m.Rows, func(a, b Line[Cheapest]) int {
			return cmp.Compare(reached(a.Places), reached(b.Places))
		})
		if m.Rows != nil {
			out = append(out, m)
		}
	}
	return out
}

// integratorOf is the setting that names the integrators of cells, with their parameters.
func integratorOf(cells *table.Table) bench.Setting {
	found, err := bench.LookupSettings([]string{"integrator"}, cells)
	if err != nil {
		panic(err) // the program declares it
	}
	return found[0]
}

// setsOf are the columns of a ranking: data sets, with what else several columns of one differ in.
func setsOf(t *table.Table) axis {
	of := table.ByKey(t.GroupBy("dataset"))
	return axis{[]string{"dataset", "model", "precision"}, func(r table.Row) string {
		name := r.Text("dataset")
		for _, column := range []string{"model", "precision"} {
			if of[r.Key("dataset")].Varies(column) {
				name += ", " + r.Text(column)
			}
		}
		return name
	}}
}

// terms are rows that are on equal terms: their chains have one friction, target and number of
// samples, and are thinned alike.
type terms struct {
	title string // the friction, and what else differs between terms
	*table.Table
}

// onTerms groups cells by their terms, in the order of their frictions.
func onTerms(cells *table.Table) (out []terms) {
	// Thinning and burn-in follow from the step unless they are stated.
	schedule := func(r table.Row) string { return r.Source.(bench.Result).Cell.Schedule() }
	several := len(distinct.Of(cells.Rows(), schedule)) > 1
	for _, g := range cells.Sort("friction", "samples").GroupBy("friction", "samples",
		"temperature", "localisation") {
		title := g.Get("friction").String()
		for _, s := range bench.Settings() {
			column := s.Column == "samples" || s.Column == "temperature" ||
				s.Column == "localisation"
			if column && cells.Varies(s.Column) {
				title += ", " + s.Text(g.Rows()[0])
			}
		}
		for _, of := range distinct.Of(g.Rows(), schedule) {
			name := title
			if several && of != "" {
				name += ", " + of
			}
			out = append(out, terms{name, g.Filter(func(r table.Row) bool {
				return schedule(r) == of
			})})
		}
	}
	return out
}

// cheapest finds the cheapest right chain, by the criterion of the claims. Chains that differ in
// split, seed or reference alone are repetitions of one, which must be right on average and
// costs what they cost on average. A gradient of one of K batches is a K-th of a pass over the
// data, a Hessian-vector product costs as much as integrators.ProductGradients of them.
func cheapest(t *table.Table) Cheapest {
	if t == nil {
		return Cheapest{Passes: math.NaN()}
	}
	// Chains that ran are there, even if none was right.
	best := Cheapest{Passes: math.Inf(1)}
	for _, g := range t.GroupBy(bench.ColumnsOf(settings("split", "seed")...)...) {
		passes := 0.0
		for _, r := range g.Rows() {
			c := r.Source.(bench.Result)
			gradients := c.Gradients + integrators.ProductGradients*c.HessianVectors
			passes += float64(gradients) / float64(c.Cell.Batches) / float64(g.Len())
		}
		// Of equally cheap chains the first counts.
		switch right, decided := bench.Right(g.Rows()...); {
		case !decided && math.IsInf(best.Passes, 1):
			best.Passes = math.NaN()
		case right && decided && !(passes >= best.Passes):
			best = Cheapest{passes, chainText(g.Rows()[0].Source.(bench.Result).Cell)}
		}
	}
	return best
}

// chainText is what a place of a ranking says of its chain.
func chainText(c bench.Cell) string {
	text := "full batch"
	if c.BatchSize != bench.Full {
		text = fmt.Sprintf("B = %d, %s", c.BatchSize, c.Scheme)
	}
	if c.Inner > 1 {
		text += fmt.Sprintf(", N_l = %d", c.Inner)
	}
	if c.Estimator != "" && c.Estimator != "plain" {
		text += ", " + c.Estimator
	}
	return fmt.Sprintf("%s, η = %v", text, c.Step)
}

// reached orders integrators: first those that got there on most data sets, then by what
// they needed, as a geometric mean.
func reached(places []Cheapest) float64 {
	// A data set outweighs any cost: logarithms of passes are far below 1000.
	sum, n := 0.0, 0
	for _, p := range places {
		if !math.IsNaN(p.Passes) && !math.IsInf(p.Passes, 1) {
			sum, n = sum+math.Log(p.Passes), n+1
		}
	}
	return sum/float64(max(1, n)) - 1000*float64(n)
}

// Order is a place of a matrix of orders: what certify found for a sampler under a scheme.
type Order struct {
	certify.Row
	// Position and Joint are the orders of the law of the position and of what the momentum takes
	// part in, as certify.Row.Orders has them, each with the observable that it is of.
	Position, Joint string
	Verdict         certify.Verdict // the worst of all observables
}

// Plain reports whether the orders say all, without the verdict's words.
func (o *Order) Plain() bool {
	return o.Verdict == certify.Confirmed || o.Verdict == certify.Exact
}

// judged are the observables whose orders a place states, by the kind of its problem: of Gaussian
// and of scalar ones. That of the latter is of r alone, and may be of a higher order than θ's.
var judged = [][2]string{{"theta.cov", "joint.cov"}, {"theta^2", "r^2"}}

// newOrder makes a place of the exact errors of a sampler under a scheme; nil of none.
func newOrder(t *table.Table) *Order {
	if t == nil {
		return nil
	}
	o := &Order{Row: exactOf(t.Rows()[0]), Verdict: certify.Exact}
	o.Position, o.Joint = o.Orders()
	of := judged[0]
	if slices.ContainsFunc(o.Observables, func(x certify.Observable) bool {
		return x.Name == judged[1][1]
	}) {
		of = judged[1]
	}
	o.Position = figures.ObservableLabel(of[0]) + " " + o.Position
	o.Joint = figures.ObservableLabel(of[1]) + " " + o.Joint
	for _, x := range o.Observables { // one refuted law refutes the sampler
		o.Verdict = certify.Worse(o.Verdict, x.Verdict)
	}
	return o
}

// exactOf is what certify found, of which a row of exact errors is one number.
func exactOf(r table.Row) certify.Row { return r.Source.(certify.Row) }

// newOrders makes a matrix of each problem whose exact errors have the purpose of the study of
// orders, a user's among them: a row per integrator with its estimator, its parameters and N_l,
// and the law that is observed, a column per mini-batch scheme.
func newOrders(t *table.Table) (out []Matrix[*Order]) {
	samplers := axis{[]string{"integrator", "parameters", "estimator", "nl", bench.Law.Column},
		func(r table.Row) string {
			name := exactOf(r).Name()
			if law := bench.Law.Text(r); law != "" {
				name += ", " + law
			}
			return name
		}}
	schemes := axis{[]string{"scheme"}, func(r table.Row) string { return r.Text("scheme") }}
	// All rows of a place have one Source, of which the first row is enough.
	exact := t.Where("record", bench.ErrorRecord).Where("purpose", bench.OfOrders)
	for _, g := range exact.GroupBy("problem", "friction", "mass") {
		problem := exactOf(g.Rows()[0]).Problem
		out = append(out, newMatrix(problem, g.Table, samplers, schemes, newOrder))
	}
	return out
}
