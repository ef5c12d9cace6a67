// Package input reads files that a user names. They may be pipes, such as a shell's <(…) or
// /dev/stdin, but no devices, which may have no end.
package input

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Open opens a file or a pipe. All errors are of type *os.PathError.
func Open(path string) (*os.File, error) {
	if path == "" { // of a variable that is not set, say
		return nil, refused(`""`, "no name: want a file")
	}
	path = filepath.Clean(path)
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeDevice != 0 {
		return nil, refused(path, "is a device: want a file or a pipe")
	}
	return os.Open(path)
}

// Read returns the bytes of a file or a pipe.
func Read(path string) ([]byte, error) {
	in, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}

// IsFolder reports whether a folder is there, or a link to one.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ReadRegular returns the bytes of a file that is read more than once, or beside a process that a
// pipe may be meant for: it must be a regular one.
func ReadRegular(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, refused(path, "not a regular file")
	}
	return os.ReadFile(filepath.Clean(path))
}

// refused is the error of a file that is not read for what it is.
func refused(path, why string) error {
	return &os.PathError{Op: "read", Path: path, Err: errors.New(why)}
}

// Await returns what a function that reads returns or, if ctx ends first, the error of ctx:
// opening a pipe that nobody writes to cannot be stopped, and the function is then left alone. If
// ctx has ended before, it is called all the same: what is wrong with a file comes first.
func Await[T any](ctx context.Context, read func() (T, error)) (T, error) {
	if ctx.Err() != nil {
		return read()
	}
	var all T
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		all, err = read()
	}()
	select {
	case <-done:
		return all, err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
