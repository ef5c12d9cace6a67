// Package rows numbers the data rows of a target: N rows as given or rearranged,
// 0 … N − 1, and behind them the rows of a gathered list, N, N + 1, ….
//
// What its methods refuse are mistakes of the program, so they panic.
package rows

import "fmt"

// Range names the rows [Lo, Hi) of a target: data rows in their current arrangement, or
// rows of the list behind them.
type Range struct {
	Lo, Hi int
	// Scale is the factor of their negative log-likelihood: K for one of K batches.
	Scale float64
}

// Layout counts the rows of a target.
type Layout struct {
	N        int // data rows
	Gathered int // rows of the list behind them, at most N
}

// CheckOrder panics if order, unless nil, does not have N entries.
func (l *Layout) CheckOrder(order []int) {
	if order != nil && len(order) != l.N {
		panic(fmt.Sprintf("rows: order of %d rows: want %d", len(order), l.N))
	}
}

// Gather notes a list of rows. It panics if the list is longer than N, or if there
// are weights, but not one for each row of it.
func (l *Layout) Gather(index []int, weights []float64) {
	if len(index) > l.N || weights != nil && len(weights) != len(index) {
		panic(fmt.Sprintf("rows: list of %d rows with %d weights: want at most %d rows, "+
			"and as many weights or none", len(index), len(weights), l.N))
	}
	l.Gathered = len(index)
}

// Check panics unless the rows of a range exist and are all data rows, or all rows of the
// list behind them.
func (l *Layout) Check(r Range) {
	end := l.N
	if r.Lo >= l.N {
		end += l.Gathered
	}
	if r.Lo < 0 || r.Hi < r.Lo || r.Hi > end {
		panic(fmt.Sprintf("rows: rows [%d, %d): want a range within [0, %d) "+
			"or within the %d rows gathered behind", r.Lo, r.Hi, l.N, l.Gathered))
	}
}

// Identity returns 0, 1, …, n − 1: the order of rows as given.
func Identity(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}
