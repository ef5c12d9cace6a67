package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hambench/bench"
	"hambench/certify"
	"hambench/figures"
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

// The observables that stand for the law of the position and for the joint law,
// by kind of problem.
var (
	positionObservables = []string{"theta.cov", "theta^2"}
	jointObservables    = []string{"joint.cov", "r^2"}
)

// newOrders makes a matrix of each problem of the study of orders.
func newOrders(e *paper.Evidence) Orders {
	var out Orders
	for _, row := range e.Rows(bench.OfOrders) {
		i := slices.IndexFunc(out, func(m Matrix) bool { return m.Problem == row.Problem })
		if i < 0 {
			i, out = len(out), append(out, Matrix{Problem: row.Problem})
		}
		out[i].add(row)
	}
	for i := range out {
		for k := range out[i].Rows {
			r := &out[i].Rows[k]
			r.Places = append(r.Places, make([]*Order, len(out[i].Schemes)-len(r.Places))...)
		}
	}
	return out
}

func (m *Matrix) add(row certify.Row) {
	name := row.Integrator
	if row.Inner > 1 {
		name += fmt.Sprintf(", N_l = %d", row.Inner)
	}
	column := slices.Index(m.Schemes, row.Scheme)
	if column < 0 {
		column, m.Schemes = len(m.Schemes), append(m.Schemes, row.Scheme)
	}
	i := slices.IndexFunc(m.Rows, func(r OrderRow) bool { return r.Integrator == name })
	if i < 0 {
		i, m.Rows = len(m.Rows), append(m.Rows, OrderRow{Integrator: name})
	}
	r := &m.Rows[i]
	for len(r.Places) <= column {
		r.Places = append(r.Places, nil)
	}
	r.Places[column] = newOrder(name, row)
}

func newOrder(name string, row certify.Row) *Order {
	o := &Order{Position: orderText(row, positionObservables), Joint: orderText(row, jointObservables), Verdict: string(certify.Exact)}
	rank := []certify.Verdict{certify.Exact, certify.Confirmed, certify.Inconclusive, certify.Unstable, certify.Refuted}
	for _, x := range row.Observables {
		if slices.Index(rank, x.Verdict) > slices.Index(rank, certify.Verdict(o.Verdict)) {
			o.Verdict = string(x.Verdict)
		}
	}
	o.Curve = curve(name, row)
	return o
}

// orderText is the order of the first of the observables that the row has.
func orderText(row certify.Row, names []string) string {
	for _, x := range row.Observables {
		switch order, least := float64(x.Order), float64(x.AtLeast); {
		case !slices.Contains(names, x.Name):
		case x.Verdict == certify.Exact:
			return "exact"
		case !math.IsNaN(order) && !math.IsInf(order, 0):
			return fmt.Sprintf("%.2g", order)
		case !math.IsNaN(least) && least > 0:
			return fmt.Sprintf("≥ %.2g", least)
		default:
			return "?"
		}
	}
	return "–"
}

// markers of the curves of one place.
var curveMarkers = []figures.Marker{"circle", "square", "triangle", "diamond", "nabla", "open circle", "open square"}

// curveColors are told apart with the common kinds of colour blindness (Okabe &
// Ito 2008), as in the figures.
var curveColors = []figures.Color{0x0072b2ff, 0xd55e00ff, 0x009e73ff, 0xcc79a7ff, 0xe69f00ff, 0x56b4e9ff, 0x222222ff}

// curve is the relative error of every observable against the step.
func curve(name string, row certify.Row) *figures.Panel {
	p := &figures.Panel{
		Title: name + ", " + row.Scheme + ", " + row.Problem,
		X:     figures.Axis{Label: "η", Log: true, Low: slices.Min(row.Steps) / 1.2, High: slices.Max(row.Steps) * 1.2},
		Y:     figures.Axis{Label: "relative error", Log: true, Powers: true, Low: math.Inf(1)},
	}
	for i, x := range row.Observables {
		s := figures.Series{Name: x.Name, Style: figures.Style{Color: curveColors[i%len(curveColors)], Width: 1.1, Marker: curveMarkers[i%len(curveMarkers)]}}
		for _, k := range ascending(row.Steps) {
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

// ascending are the indices of the steps, the smallest step first.
func ascending(steps []float64) []int {
	order := make([]int, len(steps))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if steps[a] < steps[b] {
			return -1
		}
		return 1
	})
	return order
}

// Names are the observables of a place's curve, with their styles.
func (o *Order) Names() []figures.Entry {
	var out []figures.Entry
	for _, s := range o.Curve.Series {
		out = append(out, figures.Entry{Name: s.Name, Label: strings.ReplaceAll(s.Name, "theta", "θ"), Style: s.Style})
	}
	return out
}
