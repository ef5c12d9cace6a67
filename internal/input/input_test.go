package input

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A device may have no end; a file is read as it is.
func TestADeviceIsRefused(t *testing.T) {
	for reason, read := range map[string]func(string) ([]byte, error){
		"is a device: want a file or a pipe": Read, "not a regular file": ReadRegular,
	} {
		if _, err := read(os.DevNull); !errors.As(err, new(*os.PathError)) || !strings.HasSuffix(err.Error(), os.DevNull+": "+reason) {
			t.Errorf("%v: want an error that says %q", err, reason)
		}
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
		if text, err := read(file); err != nil || string(text) != "text" {
			t.Errorf("a file: %q, %v", text, err)
		}
		if _, err := read(file + "s"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("no file: %v", err)
		}
	}
}

// What never ends is left alone when the context ends.
func TestAwaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	never := make(chan struct{})
	defer close(never)
	got, err := Await(ctx, func() (int, error) { cancel(); <-never; return 1, nil })
	if got != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v: want 0 and %v", got, err, context.Canceled)
	}
	if got, err := Await(t.Context(), func() (int, error) { return 1, os.ErrClosed }); got != 1 || err != os.ErrClosed {
		t.Errorf("%d, %v: want what the function returns", got, err)
	}
	if got, err := Await(ctx, func() (int, error) { return 1, os.ErrClosed }); got != 1 || err != os.ErrClosed {
		t.Errorf("%d, %v after the context's end: want what the function returns", got, err)
	}
}
