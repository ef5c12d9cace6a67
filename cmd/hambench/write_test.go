//go:build linux || darwin

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A page that is asked for at a pipe or behind a link leaves both where they are.
func TestAPageReplacesNeitherPipesNorLinks(t *testing.T) {
	dir := t.TempDir()
	pipe, link, behind := filepath.Join(dir, "pipe"), filepath.Join(dir, "page.html"), filepath.Join(dir, "behind.html")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(behind, nil, 0o600), os.Symlink(behind, link)); err != nil {
		t.Fatal(err)
	}
	read := make(chan string, 1)
	go func() {
		text, _ := os.ReadFile(pipe)
		read <- string(text)
	}()
	for path, kind := range map[string]os.FileMode{pipe: os.ModeNamedPipe, link: os.ModeSymlink} {
		if err := writeTo(path, func(w io.Writer) error { _, err := io.WriteString(w, "page"); return err }); err != nil {
			t.Error(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode()&kind == 0 {
			t.Fatalf("%s was replaced by a file (%v)", path, err)
		}
	}
	if text, err := os.ReadFile(behind); string(text) != "page" || <-read != "page" {
		t.Errorf("behind the link is %q (%v)", text, err)
	}
}

// Draws may come through a pipe. One that nobody writes to does not keep a signal from ending the
// program.
func TestAPipeOfDrawsIsReadAndInterrupted(t *testing.T) {
	dir := t.TempDir()
	silent, pipe, file := filepath.Join(dir, "silent"), filepath.Join(dir, "pipe"), filepath.Join(dir, "f.csv")
	text := []byte("f0\n" + strings.Repeat("1\n2\n3\n", 40))
	if err := errors.Join(syscall.Mkfifo(silent, 0o600), syscall.Mkfifo(pipe, 0o600), os.WriteFile(file, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	go os.WriteFile(pipe, text, 0o600)
	if code, stdout, stderr := call(t, "judge", "--reference", file, pipe); code == exitUsage || stdout == "" {
		t.Errorf("draws in a pipe: exit code %d, %q", code, stderr)
	}
	for _, files := range [][]string{{silent, file}, {file, silent}} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		var stderr bytes.Buffer
		ended := make(chan int)
		go func() { ended <- run(ctx, io.Discard, &stderr, []string{"judge", "--reference", files[0], files[1]}) }()
		select {
		case code := <-ended:
			if code != exitInterrupted || stderr.String() != "hambench: interrupted\n" {
				t.Errorf("exit code %d, %q", code, &stderr)
			}
		case <-time.After(time.Minute):
			t.Fatal("a pipe that is silent keeps the program")
		}
	}
}
