// Package usage marks errors that are the caller's mistake: a bad name, a
// value out of range, an unreadable file. The driver reports them in one line
// and exits with code 2.
package usage

import (
	"fmt"
	"slices"
	"strings"
)

// Error is a mistake of the caller, in one line that says what was given and what is
// wanted.
type Error struct{ err error }

// Errorf formats an Error as fmt.Errorf does, %w included.
func Errorf(format string, args ...any) error {
	return &Error{fmt.Errorf(format, args...)}
}

func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the wrapped error, if the format had %w.
func (e *Error) Unwrap() error { return e.err }

// Lookup returns the entry of a list with a name. A name that is unknown, or that
// two entries have, is an Error; kind is what its message calls an entry.
func Lookup[T any](kind, name string, list []T, nameOf func(T) string) (T, error) {
	var none T
	names := make([]string, len(list))
	for i, entry := range list {
		names[i] = nameOf(entry)
	}
	at := slices.Index(names, name)
	switch {
	case at < 0:
		return none, Unknown(kind, name, names)
	case slices.Contains(names[at+1:], name):
		return none, Errorf("two %ss are called %q: want another name for one of them", kind, name)
	}
	return list[at], nil
}

// Unknown returns the Error for a name that is not in a list: kind is what its
// message calls an entry. It suggests a known name that looks much like it.
func Unknown(kind, name string, known []string) error {
	return Errorf("unknown %s %q%s: want one of %s",
		kind, name, Suggest(name, known), strings.Join(known, ", "))
}

// Suggest returns " (did you mean X?)" with the known name that is nearest to a
// mistyped one of two letters or more; "" if none is near, that is, within one more
// than a third of its letters.
func Suggest(name string, known []string) string {
	best, least := "", len(name)/3+1
	if len(name) < 2 {
		return ""
	}
	for _, k := range known {
		if d := distance(name, k); d < least || d == least && best == "" {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// distance counts the letters to insert, delete, replace or swap with their
// neighbour that lead from a to b: the optimal string alignment of Damerau (1964), which
// edits no part twice. Words are short, so that it keeps the whole matrix.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			// rows[i][j] is the distance of the first i bytes of a from the first j of b.
			case i == 0 || j == 0:
				rows[i][j] = i + j
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
				// Two neighbours that are swapped count once, not as two that are replaced.
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					rows[i][j] = min(rows[i][j], 1+rows[i-2][j-2])
				}
			}
		}
	}
	return rows[len(a)][len(b)]
}
