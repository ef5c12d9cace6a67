//go:build linux || darwin

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
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
