// Package usage marks errors that are the caller's mistake: a bad name, a
// value out of range, an unreadable file. The driver reports them in one line
// and exits with code 2.
package usage

import "fmt"

// Error is a mistake of the caller.
type Error struct{ err error }

// Errorf formats an Error as fmt.Errorf does, %w included.
func Errorf(format string, args ...any) error {
	return &Error{fmt.Errorf(format, args...)}
}

func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the wrapped error, if the format had %w.
func (e *Error) Unwrap() error { return e.err }
