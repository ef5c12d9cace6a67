package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"hambench/bench"
	"hambench/certify"
	"hambench/figures"
	"hambench/internal/distinct"
	"hambench/paper"
)

// Orders are the orders of exact errors: a matrix for each problem.
type Orders []Matrix

// Matrix has a row per integrator and a column per mini-batch scheme.
type Matrix struct {
	Problem string
	Schemes []string
	Rows    []OrderRow
}

// OrderRow is the row of an integrator; a place is nil if nothing was computed.
type OrderRow struct {
	Integrator string
	Places     []*Order
}

// Order is what was found for an integrator under a scheme: the orders of the law
// of the position and of the joint law, and the errors behind them.
type Order struct {
	Position, Joint string
	Verdict         string // the worst of its observables
	Curve           *figures.Panel
}

// newOrders makes a matrix of each problem of the study of orders.
func newOrders(e *paper.Evidence) (out Orders) {
	nameOf := func(row certify.Row) string {
		if row.Inner > 1 {
			return fmt.Sprintf("%s, N_l = %d", row.Integrator, row.Inner)
		}
		return row.Integrator
	}
	all := e.Rows(bench.OfOrders)
	for _, problem := range distinct.Of(all, func(row certify.Row) string { return row.Problem }) {
		rows := slices.DeleteFunc(slices.Clone(all), func(row certify.Row) bool { return row.Problem != problem })
		m := Matrix{Problem: problem, Schemes: distinct.Of(rows, func(row certify.Row) string { return row.Scheme })}
		for _, name := range distinct.Of(rows, nameOf) {
			r := OrderRow{name, make([]*Order, len(m.Schemes))}
			for _, row := range rows {
				if nameOf(row) == name {
					r.Places[slices.Index(m.Schemes, row.Scheme)] = newOrder(name, row)
				}
			}
			m.Rows = append(m.Rows, r)
		}
		out = append(out, m)
	}
	return out
}

func newOrder(name string, row certify.Row) *Order {
	o := &Order{Verdict: string(certify.Exact)}
	o.Position, o.Joint = row.Orders()
	rank := []certify.Verdict{certify.Exact, certify.Confirmed, certify.Inconclusive, certify.Unstable, certify.Refuted}
	for _, x := range row.Observables {
		if slices.Index(rank, x.Verdict) > slices.Index(rank, certify.Verdict(o.Verdict)) {
			o.Verdict = string(x.Verdict)
		}
	}
	o.Curve = curve(name, row)
	return o
}

// curve is the relative error of every observable against the step.
func curve(name string, row certify.Row) *figures.Panel {
	p := &figures.Panel{
		Title: name + ", " + row.Scheme + ", " + row.Problem,
		X:     figures.Axis{Label: "η", Log: true, Low: slices.Min(row.Steps) / 1.2, High: slices.Max(row.Steps) * 1.2},
		Y:     figures.Axis{Label: "relative error", Log: true, Powers: true},
	}
	order := make([]int, len(row.Steps)) // the smallest step first
	floats.ArgsortStable(slices.Clone(row.Steps), order)
	var resolved []float64
	for i, x := range row.Observables {
		s := figures.Series{Name: x.Name, Style: figures.Categorical(i)}
		s.Style.Dashes = nil // no two curves of a place have a colour in common
		for _, k := range order {
			y := float64(x.Relative[k])
			if y > float64(x.RelativeResolution[k]) {
				resolved = append(resolved, y)
			} else {
				y = math.NaN()
			}
			s.X, s.Y = append(s.X, row.Steps[k]), append(s.Y, y)
		}
		p.Series = append(p.Series, s)
	}
	if resolved == nil {
		p.Note = "no error is resolved"
		resolved = []float64{1e-16, 1}
	}
	p.Y.Low, p.Y.High = slices.Min(resolved)/2, slices.Max(resolved)*2
	if p.Y.High/p.Y.Low < 100 { // at least two powers of ten to label
		p.Y.Low, p.Y.High = p.Y.Low/10, p.Y.High*10
	}
	return p
}

// Names returns the observables of a place's curve, with their styles.
func (o *Order) Names() []figures.Entry {
	var out []figures.Entry
	for _, s := range o.Curve.Series {
		out = append(out, figures.Entry{Name: s.Name, Label: strings.ReplaceAll(s.Name, "theta", "θ"), Style: s.Style})
	}
	return out
}
