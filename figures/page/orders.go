package page

import (
	"slices"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/internal/distinct"
)

// Matrix holds the orders of exact errors on one problem: a row per integrator with
// its estimator and parameters, a column per mini-batch scheme.
type Matrix struct {
	Problem string
	Schemes []string
	Rows    []OrderRow
}

// OrderRow is one row of a matrix; a place is nil if nothing was computed.
type OrderRow struct {
	Name   string
	Places []*Order
}

// Order is one place of a matrix: the orders of the law of the position and of the
// joint law, the worst verdict of all observables, and their exact errors.
type Order struct {
	certify.Row
	Position, Joint string
	Verdict         certify.Verdict
}

// Plain reports whether the orders say all, without the verdict's words.
func (o *Order) Plain() bool {
	return o.Verdict == certify.Confirmed || o.Verdict == certify.Exact
}

// newOrders makes a matrix of each problem of the study of orders.
func newOrders(rows *table.Table) (out []Matrix) {
	type place struct{ problem, name, scheme string }
	at := make(map[place]*Order)
	var all []certify.Row
	of := rows.Where("record", bench.ErrorRecord).Where("purpose", bench.OfOrders)
	for _, g := range of.GroupBy("key", "scheme") { // a job of two studies once
		row := g.Rows()[0].Source.(certify.Row)
		all = append(all, row)
		o := &Order{Row: row, Verdict: certify.Exact}
		o.Position, o.Joint = row.Orders()
		for _, x := range row.Observables {
			o.Verdict = certify.Worse(o.Verdict, x.Verdict)
		}
		at[place{row.Problem, row.Name(), row.Scheme}] = o
	}
	for _, problem := range distinct.Of(all, func(row certify.Row) string { return row.Problem }) {
		other := func(row certify.Row) bool { return row.Problem != problem }
		rows := slices.DeleteFunc(slices.Clone(all), other)
		schemes := distinct.Of(rows, func(row certify.Row) string { return row.Scheme })
		m := Matrix{Problem: problem, Schemes: schemes}
		for _, name := range distinct.Of(rows, certify.Row.Name) {
			r := OrderRow{Name: name}
			for _, scheme := range schemes {
				r.Places = append(r.Places, at[place{problem, name, scheme}])
			}
			m.Rows = append(m.Rows, r)
		}
		out = append(out, m)
	}
	return out
}
