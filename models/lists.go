package models

import (
	"fmt"
	"slices"
)

// Gatherer is a Target that takes rows in lists: in any order, repeated, and
// with a weight each. Of a list, it copies the rows of the batch, not all data.
type Gatherer interface {
	Target
	// Gather makes rows index[0], index[1], … of the data, as they were
	// given, the target's rows N, N+1, …, where N = Rows(), until the next
	// call. The arrangement of the others stays. weights, nil for 1 each,
	// multiply their negative log-likelihoods. A list has at most N rows. It
	// allocates nothing after the first list of its length.
	Gather(index []int, weights []float64)
}

// column is what a target holds of each row of its data: width numbers.
type column[T any] struct {
	width int
	given []T
	now   []T // as arranged, then as gathered
}

// newColumn returns a column in the order in which it was given. Room behind the
// last row would let a row beyond it pass for one of them.
func newColumn[T any](given []T, width int) column[T] {
	return column[T]{width, slices.Clip(given), slices.Clone(given)}
}

// row returns row i of the arrangement, or of the list behind it.
func (c *column[T]) row(i int) []T { return c.now[i*c.width : (i+1)*c.width] }

// arrange puts the rows into a new order; nil is the given one.
func (c *column[T]) arrange(order []int) {
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
func (c *column[T]) gather(index []int) {
	c.now = slices.Grow(c.now[:len(c.given)], len(index)*c.width)
	for _, r := range index {
		c.now = append(c.now, c.given[r*c.width:(r+1)*c.width]...)
	}
}

// listed counts the rows of a target, and holds the weights of those that were
// gathered last.
type listed struct {
	rows    int
	weights []float64
}

func (l *listed) Rows() int { return l.rows }

// weigh takes in the weights of a list of rows.
func (l *listed) weigh(index []int, weights []float64) {
	if len(index) > l.rows || weights != nil && len(weights) != len(index) {
		panic(fmt.Sprintf("models: list of %d rows with %d weights: want at most %d rows, and as many weights or none", len(index), len(weights), l.rows))
	}
	l.weights = append(l.weights[:0], weights...)
	for len(l.weights) < len(index) {
		l.weights = append(l.weights, 1)
	}
}

// weight is that of a row.
func (l *listed) weight(i int) float64 {
	if i < l.rows {
		return 1
	}
	return l.weights[i-l.rows]
}

// weightsOf are those of gathered rows; nil for others.
func (l *listed) weightsOf(r Rows) []float64 {
	if r.Lo < l.rows {
		return nil
	}
	return l.weights[r.Lo-l.rows : r.Hi-l.rows]
}

// check panics if the rows are neither within the data, nor within what was
// gathered behind them.
func (l *listed) check(r Rows) {
	end := l.rows
	if r.Lo >= l.rows {
		end += len(l.weights)
	}
	if r.Lo < 0 || r.Hi < r.Lo || r.Hi > end {
		panic(fmt.Sprintf("models: rows [%d, %d): want a range within [0, %d) or within the %d rows gathered behind", r.Lo, r.Hi, l.rows, len(l.weights)))
	}
}
