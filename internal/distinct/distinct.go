// Package distinct keeps lists without repetitions in the order in which their
// entries came.
package distinct

import "slices"

// Append appends x unless s has it. Lists are short: it compares x with every entry.
func Append[T comparable](s []T, x T) []T {
	if slices.Contains(s, x) {
		return s
	}
	return append(s, x)
}

// Of returns the different values of a function on the entries of a list.
func Of[T any, X comparable](list []T, value func(T) X) (values []X) {
	for _, t := range list {
		values = Append(values, value(t))
	}
	return values
}
