// Package distinct keeps lists without repetitions in the order in which their
// entries came.
package distinct

import "slices"

// Append appends x unless it is there.
func Append[T comparable](s []T, x T) []T {
	if slices.Contains(s, x) {
		return s
	}
	return append(s, x)
}
