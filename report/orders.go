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

// OrderRow is an integrator's; a place is nil where nothing was computed.
type OrderRow struct {
	Integrator string
	Places     []*Order
}

// Order is what was found of an integrator under a scheme: the orders of its
// position's and of its joint law, and the errors behind them.
type Order struct {
	Position, Joint string
	Verdict         string // the worst of its observables
	Curve           *figures.Panel
}

// newOrders makes a matrix of each problem of the study of orders.
func newOrders(e *paper.Evidence) Orders {
	var out Orders
	names := make(map[string][]string)   // of integrators, by problem
	places := make(map[[3]string]*Order) // by problem, integrator and scheme
	for _, row := range e.Rows(bench.OfOrders) {
		i := slices.IndexFunc(out, func(m Matrix) bool { return m.Problem == row.Problem })
		if i < 0 {
			i, out = len(out), append(out, Matrix{Problem: row.Problem})
		}
		name := row.Integrator
		if row.Inner > 1 {
			name += fmt.Sprintf(", N_l = %d", row.Inner)
		}
		out[i].Schemes, names[row.Problem] = distinct.Append(out[i].Schemes, row.Scheme), distinct.Append(names[row.Problem], name)
		places[[3]string{row.Problem, name, row.Scheme}] = newOrder(name, row)
	}
	for i := range out {
		m := &out[i]
		for _, name := range names[m.Problem] {
			r := OrderRow{Integrator: name}
			for _, scheme := range m.Schemes {
				r.Places = append(r.Places, places[[3]string{m.Problem, name, scheme}])
			}
			m.Rows = append(m.Rows, r)
		}
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
		Y:     figures.Axis{Label: "relative error", Log: true, Powers: true, Low: math.Inf(1)},
	}
	order := make([]int, len(row.Steps)) // the smallest step first
	floats.ArgsortStable(slices.Clone(row.Steps), order)
	for i, x := range row.Observables {
		s := figures.Series{Name: x.Name, Style: figures.Categorical(i)}
		s.Style.Dashes = nil // no two curves of a place have a colour in common
		for _, k := range order {
			y := float64(x.Relative[k])
			if !(y > float64(x.RelativeResolution[k])) {
				y = math.NaN()
			} else {
				p.Y.Low, p.Y.High = min(p.Y.Low, y), max(p.Y.High, y)
			}
			s.X, s.Y = append(s.X, row.Steps[k]), append(s.Y, y)
		}
		p.Series = append(p.Series, s)
	}
	if p.Y.High == 0 {
		p.Note = "no error is resolved"
		p.Y.Low, p.Y.High = 1e-16, 1
	}
	p.Y.Low, p.Y.High = p.Y.Low/2, p.Y.High*2
	if p.Y.High/p.Y.Low < 100 { // at least two powers of ten to label
		p.Y.Low, p.Y.High = p.Y.Low/10, p.Y.High*10
	}
	return p
}

// Names are the observables of a place's curve, with their styles.
func (o *Order) Names() []figures.Entry {
	var out []figures.Entry
	for _, s := range o.Curve.Series {
		out = append(out, figures.Entry{Name: s.Name, Label: strings.ReplaceAll(s.Name, "theta", "θ"), Style: s.Style})
	}
	return out
}
