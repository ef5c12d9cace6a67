// Package usage marks errors that are the caller's mistake: a bad name, a
// value out of range, an unreadable file. The driver reports them in one line
// and exits with code 2.
package usage

import (
	"fmt"
	"slices"
	"strings"
)

// Error is a mistake of the caller.
type Error struct{ err error }

// Errorf formats an Error as fmt.Errorf does, %w included.
func Errorf(format string, args ...any) error {
	return &Error{fmt.Errorf(format, args...)}
}

func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the wrapped error, if the format had %w.
func (e *Error) Unwrap() error { return e.err }

// Lookup returns the entry of a list that has a name. A name that is unknown,
// or stands twice, is an Error; kind says what it calls an entry.
func Lookup[T any](kind, name string, list []T, nameOf func(T) string) (T, error) {
	var none T
	names := make([]string, len(list))
	for i, entry := range list {
		names[i] = nameOf(entry)
	}
	at := slices.Index(names, name)
	switch {
	case at < 0:
		return none, Errorf("unknown %s %q: want one of %s", kind, name, strings.Join(names, ", "))
	case slices.Contains(names[at+1:], name):
		return none, Errorf("two %ss are called %q: want another name for one of them", kind, name)
	}
	return list[at], nil
}
