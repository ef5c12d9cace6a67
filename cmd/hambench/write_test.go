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

// A file that a user names may be a pipe. One that nobody writes to does not keep a signal from
// ending the program, and a device, which may have no end, is refused.
func TestAPipeIsReadAndInterrupted(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	draws, rows := []byte("f0\n"+strings.Repeat("1\n2\n3\n", 40)), []byte(strings.Repeat("1,3\n2,5\n3,8\n4,1\n", 3))
	if err := errors.Join(os.WriteFile(at("draws"), draws, 0o600), os.WriteFile(at("device.toml"), []byte("title = \"t\"\n[data.d]\nfile = \""+os.DevNull+"\"\nnoise = 1.0\n"), 0o600), os.Symlink(os.DevNull, at("device.csv"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "pipe.csv", "silent", "silent.csv", "silent.toml"} {
		if err := syscall.Mkfifo(at(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		pipe string
		text []byte
		args []string
	}{
		{"pipe", draws, []string{"judge", "--reference", at("draws"), at("pipe")}},
		{"pipe.csv", rows, []string{"data", "export", "--dataset", at("pipe.csv"), "--noise", "1", "--to", at("to")}},
		{"pipe", []byte("1"), []string{"sample", "--model", "toy", "--start", at("pipe"), "--h", "0.1", "--samples", "1"}},
		{"pipe", []byte("1"), []string{"sample", "--model", "toy", "--localisation", "1", "--start", at("pipe"), "--samples", "1", "--chains", "2"}},
	} {
		go os.WriteFile(at(c.pipe), c.text, 0o600)
		if code, stdout, stderr := call(t, c.args...); code == exitUsage || stdout == "" {
			t.Errorf("%v: exit code %d, %q", c.args, code, stderr)
		}
	}
	for _, args := range [][]string{
		{"judge", "--reference", at("silent"), at("draws")}, {"judge", "--reference", at("draws"), at("silent")},
		{"gate", at("silent"), at("silent")}, {"data", "export", "--dataset", at("silent.csv"), "--noise", "1", "--to", at("to")},
		{"run", at("silent.toml"), "--out", at("out")}, {"certify", "--problem", at("silent")}, {"sample", "--model", "toy", "--start", at("silent")},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		var stderr bytes.Buffer
		ended := make(chan int)
		go func() { ended <- run(ctx, io.Discard, &stderr, args) }()
		select {
		case code := <-ended:
			if code != exitInterrupted || stderr.String() != "hambench: interrupted\n" {
				t.Errorf("%v: exit code %d, %q", args, code, &stderr)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%v: a pipe that is silent keeps the program", args)
		}
	}
	// Chains of a study read their start again.
	start := "[vary]\ndata = [\"toy\"]\n[fix]\nmodel = \"toy\"\nstart = \"./silent\"\nintegrator = \"leapfrog\"\nbatch = \"full\"\nstep = 0.1\nfriction = 5\nsamples = 5\n"
	if err := os.WriteFile(at("start.toml"), []byte(start), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(t, "run", at("start.toml"), "--out", at("out")); code != exitUsage || !strings.Contains(stderr, "silent: not a regular file") {
		t.Errorf("a study that starts at a pipe: exit code %d, %q", code, stderr)
	}
	for _, args := range [][]string{
		{"judge", "--reference", os.DevNull, at("draws")}, {"gate", os.DevNull, os.DevNull}, {"data", "export", "--dataset", at("device.csv"), "--noise", "1", "--to", at("to")},
		{"run", at("device.toml"), "--out", at("out")}, {"certify", "--problem", os.DevNull}, {"sample", "--model", "toy", "--start", os.DevNull},
	} {
		if code, _, stderr := call(t, args...); code != exitUsage || !strings.Contains(stderr, "is a device: want a file or a pipe") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q", args, code, stderr)
		}
	}
}
