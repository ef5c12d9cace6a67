package models

import (
	"fmt"
	"slices"

	"hambench/internal/kernel"
)

// Gatherer is a Target that takes lists of rows: in any order, perhaps repeated,
// each with a weight. It copies the rows of a list, not all data.
type Gatherer interface {
	Target
	// Gather makes rows index[0], index[1], … of the data, as they were
	// given, the target's rows N, N+1, …, where N = Rows(), until the next
	// call. The arrangement of the others stays. weights, nil for 1 each,
	// multiply their negative log-likelihoods. A list has at most N rows. It
	// allocates nothing after the first list of its length.
	Gather(index []int, weights []float64)
}

// glm is what the models of a predictor θᵀφ(x) have in common: features φ and an
// observation of each training row, in the arrangement in force and then as
// gathered, and the features of the test inputs.
type glm struct {
	dim, rows int
	phi, y    column
	weights   []float64 // of the rows gathered last
	test      []float64 // row-major
}

func newGLM(dim int, phi, y, test []float64) glm {
	return glm{dim: dim, rows: len(y), phi: newColumn(phi, dim), y: newColumn(y, 1), test: test}
}

func (t *glm) Dim() int     { return t.dim }
func (t *glm) Rows() int    { return t.rows }
func (t *glm) Outputs() int { return len(t.test) / t.dim }

// Arrange implements Target.
func (t *glm) Arrange(order []int) {
	t.phi.arrange(order)
	t.y.arrange(order)
}

// Gather implements Gatherer.
func (t *glm) Gather(index []int, weights []float64) {
	if len(index) > t.rows || weights != nil && len(weights) != len(index) {
		panic(fmt.Sprintf("models: list of %d rows with %d weights: want at most %d rows, and as many weights or none", len(index), len(weights), t.rows))
	}
	t.weights = append(t.weights[:0], weights...)
	for len(t.weights) < len(index) {
		t.weights = append(t.weights, 1)
	}
	t.phi.gather(index)
	t.y.gather(index)
}

// Predict stores the predictors of the test inputs.
func (t *glm) Predict(dst, theta []float64) {
	checkLen(t.dim, theta)
	checkLen(t.Outputs(), dst)
	for i := range dst {
		dst[i] = dot(t.test[i*t.dim:(i+1)*t.dim], theta)
	}
}

// DrawPrior takes the normals as they are: the prior is N(0, I).
func (t *glm) DrawPrior(dst []float64) { checkLen(t.dim, dst) }

// weight is that of a row.
func (t *glm) weight(i int) float64 {
	if i < t.rows {
		return 1
	}
	return t.weights[i-t.rows]
}

// check panics if the rows are neither within the data, nor within what was
// gathered behind them.
func (t *glm) check(r Rows) {
	end := t.rows
	if r.Lo >= t.rows {
		end += len(t.weights)
	}
	if r.Lo < 0 || r.Hi < r.Lo || r.Hi > end {
		panic(fmt.Sprintf("models: rows [%d, %d): want a range within [0, %d) or within the %d rows gathered behind", r.Lo, r.Hi, t.rows, len(t.weights)))
	}
}

// column is what a target holds of each row of its data: width numbers.
type column struct {
	width      int
	given, now []float64 // as arranged, then as gathered
}

// newColumn returns a column in the order in which it was given, with room for a
// list of all rows. Room behind what was given would let a row beyond the last
// pass for one of them.
func newColumn(given []float64, width int) column {
	return column{width, slices.Clip(given), append(kernel.Aligned[float64](2 * len(given))[:0], given...)}
}

// row returns row i of the arrangement, or of the list behind it.
func (c *column) row(i int) []float64 { return c.now[i*c.width : (i+1)*c.width] }

// arrange puts the rows into a new order; nil is the given one.
func (c *column) arrange(order []int) {
	if order == nil {
		copy(c.now, c.given)
		return
	}
	if len(order)*c.width != len(c.given) {
		panic(fmt.Sprintf("models: order of %d rows: want %d", len(order), len(c.given)/c.width))
	}
	for i, r := range order {
		copy(c.row(i), c.given[r*c.width:(r+1)*c.width])
	}
}

// gather puts the rows that a list names behind all others.
func (c *column) gather(index []int) {
	c.now = c.now[:len(c.given)]
	for _, r := range index {
		c.now = append(c.now, c.given[r*c.width:(r+1)*c.width]...)
	}
}
