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

// listed are the weights of the rows that were gathered last.
type listed struct{ weights []float64 }

// gather takes in the weights of a list of rows of n.
func (l *listed) gather(n int, index []int, weights []float64) {
	if len(index) > n || weights != nil && len(weights) != len(index) {
		panic(fmt.Sprintf("models: list of %d rows with %d weights: want at most %d rows, and as many weights or none", len(index), len(weights), n))
	}
	l.weights = append(l.weights[:0], weights...)
	for len(l.weights) < len(index) {
		l.weights = append(l.weights, 1)
	}
}

// weight is that of row i of a target with n rows.
func (l *listed) weight(i, n int) float64 {
	if i < n {
		return 1
	}
	return l.weights[i-n]
}

// weightsOf are those of gathered rows of a target with n rows; nil for others.
func (l *listed) weightsOf(r Rows, n int) []float64 {
	if r.Lo < n {
		return nil
	}
	return l.weights[r.Lo-n : r.Hi-n]
}

// check panics if the rows are neither within [0, n), nor within what was
// gathered behind them.
func (l *listed) check(r Rows, n int) {
	end := n
	if r.Lo >= n {
		end += len(l.weights)
	}
	if r.Lo < 0 || r.Hi < r.Lo || r.Hi > end {
		panic(fmt.Sprintf("models: rows [%d, %d): want a range within [0, %d) or within the %d rows gathered behind", r.Lo, r.Hi, n, len(l.weights)))
	}
}

// gather stores the given rows, width numbers each, that a list names behind
// all rows in dst, which grows if it must.
func gather[T any](dst, given []T, width int, index []int) []T {
	dst = slices.Grow(dst[:len(given)], len(index)*width)
	for _, r := range index {
		dst = append(dst, given[r*width:(r+1)*width]...)
	}
	return dst
}
