package paper

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"hambench/bench/table"
)

// Powers are those of a number that is fitted as a constant times ηᵃCᵇ. Heat, which depends on
// η/C, has a + b = 0; the law of orders has a = 2 and b = 0.
type Powers struct {
	Step, Friction Power // a and b
	Points, Of     int   // that the fit has, and those above 0 or not
}

// Power is a power with half of its interval, by the scatter of the points.
type Power struct{ Value, Half float64 }

// cancelled is the share of the numbers' size below which their mean is what rounding left.
const cancelled = 1e-9

// fewestPoints is how many points a fit of three numbers needs: one for the scatter.
const fewestPoints = 4

// PowersOf fits the powers of the step and of the friction to numbers above 0, by the least
// squares of their logarithms. The numbers of rows of equal step and friction are averaged
// first, and averages that are not above 0, but for rounding, are left out. ok is false if what
// is left does not determine the powers. The intervals are Student's at a level.
func PowersOf(rows *table.Table, number func(table.Row) float64,
	level float64) (p Powers, ok bool) {
	var design, logs []float64
	for _, g := range rows.GroupBy("h", "friction") {
		p.Of++
		mean := g.Mean(number)
		size := g.Mean(func(r table.Row) float64 { return math.Abs(number(r)) })
		if r := g.Rows()[0]; mean > cancelled*size && !math.IsInf(mean, 0) {
			design = append(design, 1, math.Log(r.Number("h")), math.Log(r.Number("friction")))
			logs = append(logs, math.Log(mean))
		}
	}
	if p.Points = len(logs); p.Points < fewestPoints {
		return p, false
	}
	x, y := mat.NewDense(p.Points, 3, design), mat.NewVecDense(p.Points, logs)
	// Of log y = c + a log η + b log C the normal equations are 3 × 3, and their inverse is needed
	// for the variances of a and b.
	var normal, inverse mat.Dense
	normal.Mul(x.T(), x)
	if inverse.Inverse(&normal) != nil { // nearly singular is singular here
		return p, false
	}
	var right, fit, residual mat.VecDense
	right.MulVec(x.T(), y)
	fit.MulVec(&inverse, &right)
	residual.MulVec(x, &fit)
	residual.SubVec(y, &residual)
	freedom := p.Points - 3
	variance := mat.Dot(&residual, &residual) / float64(freedom)
	power := func(i int) Power {
		half := quantile(1-level, freedom) * math.Sqrt(variance*inverse.At(i, i))
		return Power{fit.AtVec(i), half}
	}
	p.Step, p.Friction = power(1), power(2)
	return p, true
}

// powers decides by step·a + friction·b, of the powers a and b that rows which differ in step
// and friction alone have: each of exact errors, and of what is sampled the mean over the splits
// of a replicate and over replicates.
func (x *evaluation) powers(step, friction float64) Finding {
	columns := slices.DeleteFunc(slices.Concat(chainColumns, exactColumns),
		func(c string) bool { return c == "friction" })
	rows := x.finite(x.selected)
	x.over(rows)
	var found []estimate
	for _, g := range rows.GroupBy(append(columns, "split", x.Replicates)...) {
		p, ok := PowersOf(g.Table, x.number, x.Level)
		if !ok {
			continue
		}
		r, v := g.Rows()[0], step*p.Step.Value+friction*p.Friction.Value
		name := fmt.Sprintf("%s, %s", r.Text("problem"), r.Text("scheme"))
		found = append(found, x.certain(r, name, v))
		// 0: the references' own errors have no part in the interval of a power.
		x.add(r, v, 0)
	}
	switch {
	case len(found) == 0:
		return undecided("no line has points above 0 at enough steps and frictions")
	case x.exact():
		return x.each("power", "powers", found)
	}
	return x.interval()
}
