// Package ranks orders draws by value, and gives those of equal value one rank.
package ranks

import (
	"cmp"
	"slices"
)

// Middle returns, for each value, how many are below it, and half of those that are equal
// to it, itself included; and the places of the values from the smallest to the largest,
// equal ones as they came.
func Middle(x []float64) (middle []float64, order []int) {
	type place struct {
		x  float64
		at int
	}
	sorted := make([]place, len(x))
	for i, v := range x {
		sorted[i] = place{v, i}
	}
	slices.SortFunc(sorted, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.x, b.x), a.at-b.at)
	})
	middle = make([]float64, len(x))
	// sorted[first:last] are the places of one value: first of all are below it, and half of the
	// last − first equal ones are added.
	for first := 0; first < len(sorted); {
		last := first + 1 // a NaN is not even equal to itself
		for last < len(sorted) && sorted[last].x == sorted[first].x {
			last++
		}
		for _, p := range sorted[first:last] {
			middle[p.at] = float64(first+last) / 2
			order = append(order, p.at)
		}
		first = last
	}
	return middle, order
}
