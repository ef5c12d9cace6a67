package models

import (
	"slices"

	"hambench/internal/kernel"
	"hambench/internal/rows"
)

// glm is the common part of the models with a linear predictor θᵀφ(x): features φ
// and an observation of each training row, as arranged and then as gathered, and
// the features of the test inputs.
type glm struct {
	dim     int // of θ and of φ
	layout  rows.Layout
	phi, y  column
	weights []float64 // one for each row gathered last; 1 where Gather was given none
	test    []float64 // row-major, Outputs × dim
}

// newGLM copies phi (row-major, len(y) × dim) and y, and keeps test.
func newGLM(dim int, phi, y, test []float64) glm {
	return glm{
		dim: dim, layout: rows.Layout{N: len(y)},
		phi: newColumn(phi, dim), y: newColumn(y, 1), test: test,
	}
}

func (t *glm) Dim() int     { return t.dim }
func (t *glm) Rows() int    { return t.layout.N }
func (t *glm) Outputs() int { return len(t.test) / t.dim }

// Arrange implements Target.
func (t *glm) Arrange(order []int) {
	t.layout.CheckOrder(order)
	t.phi.arrange(order)
	t.y.arrange(order)
}

// Gather implements Gatherer.
func (t *glm) Gather(index []int, weights []float64) {
	t.layout.Gather(index, weights)
	t.weights = append(t.weights[:0], weights...)
	for len(t.weights) < len(index) {
		t.weights = append(t.weights, 1)
	}
	t.phi.gather(index)
	t.y.gather(index)
}

// Predict stores θᵀφ(x*) for each test input x*.
func (t *glm) Predict(dst, theta []float64) {
	checkLen(t.dim, theta)
	checkLen(t.Outputs(), dst)
	for i := range dst {
		dst[i] = dot(t.test[i*t.dim:(i+1)*t.dim], theta)
	}
}

// DrawPrior leaves the normals as they are: the prior is N(0, I).
func (t *glm) DrawPrior(dst []float64) { checkLen(t.dim, dst) }

// weight is the factor of row i's negative log-likelihood: 1 for rows of the data.
func (t *glm) weight(i int) float64 {
	if i < t.layout.N {
		return 1
	}
	return t.weights[i-t.layout.N]
}

// check panics if the rows are neither within the data, nor within the list
// gathered behind them.
func (t *glm) check(r Rows) { t.layout.Check(r) }

// observed returns the observations of the data rows in the current arrangement.
func (t *glm) observed() []float64 { return t.y.now[:t.layout.N] }

// column holds width numbers of each row, row-major.
type column struct {
	width int
	given []float64 // in the order in which the data came
	now   []float64 // as arranged, then the list as gathered
}

// newColumn returns a column in the order in which it was given, with capacity for
// a list of all rows, so that Gather allocates nothing. given is clipped: spare
// capacity behind it would let the number of a row beyond the last pass.
func newColumn(given []float64, width int) column {
	room := kernel.Aligned[float64](2 * len(given))
	return column{width, slices.Clip(given), append(room[:0], given...)}
}

// row returns row i of the arrangement, or of the list behind it.
func (c *column) row(i int) []float64 { return c.now[i*c.width : (i+1)*c.width] }

// arrange puts the rows into a new order; nil is the given one.
func (c *column) arrange(order []int) {
	if order == nil {
		copy(c.now, c.given)
		return
	}
	for i, r := range order {
		copy(c.row(i), c.given[r*c.width:(r+1)*c.width])
	}
}

// gather appends the rows of a list, by their numbers as given, behind all others.
func (c *column) gather(index []int) {
	c.now = c.now[:len(c.given)]
	for _, r := range index {
		c.now = append(c.now, c.given[r*c.width:(r+1)*c.width]...)
	}
}
