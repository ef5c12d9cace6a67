package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hambench/datasets"
)

// TestMain reads a relative HAMBENCH_DATA as the user means it, from the
// repository's root: tests run in their package's folder.
func TestMain(m *testing.M) {
	if dir := os.Getenv(datasets.EnvData); dir != "" && !filepath.IsAbs(dir) {
		if abs, err := filepath.Abs(filepath.Join("..", "..", dir)); err == nil {
			os.Setenv(datasets.EnvData, abs)
		}
	}
	os.Exit(m.Run())
}

func TestFlagsStandAnywhere(t *testing.T) {
	for _, c := range []struct {
		reason string
		args   []string
		out    string
		rest   []string
	}{
		{"before the arguments", []string{"--out", "x", "a", "b"}, "x", []string{"a", "b"}},
		{"behind them", []string{"a", "b", "--out", "x"}, "x", []string{"a", "b"}},
		{"between them", []string{"a", "--out=x", "b"}, "x", []string{"a", "b"}},
		{"after -- there are only arguments", []string{"a", "--", "b", "--out", "x"}, "out", []string{"a", "b", "--out", "x"}},
		{"no arguments", []string{"--out", "x"}, "x", nil},
	} {
		cmd := &command{name: "hambench test", usage: "ARG …"}
		fs := cmd.flagSet()
		out := fs.String("out", "out", "")
		rest, err := cmd.parse(fs, io.Discard, c.args)
		if err != nil || *out != c.out || !slices.Equal(rest, c.rest) {
			t.Errorf("%s: %v: out %q, arguments %q, error %v", c.reason, c.args, *out, rest, err)
		}
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	cmd := &command{name: "hambench test", usage: "ARG …"}
	if _, err := cmd.parse(fs, io.Discard, []string{"a", "--more"}); err == nil {
		t.Error("an unknown flag behind an argument is taken for an argument")
	}
}

func TestErrorLinesNameTheProgramOnce(t *testing.T) {
	for _, args := range [][]string{{"reprodce"}, {"data", "lst"}, {"sample", "--hh", "1"}, {"list", "figures"}, {"gate", "a"}, {"sample", "--model", "toy", "--h", "0"}} {
		_, _, stderr := call(t, args...)
		if !strings.HasPrefix(stderr, "hambench") || strings.HasPrefix(stderr, "hambench: hambench") {
			t.Errorf("%v: %q", args, stderr)
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// Draws that were lost on a full disk must not look like a success.
func TestOutputThatCannotBeWrittenIsAFailure(t *testing.T) {
	for _, args := range [][]string{
		{"sample", "--model", "toy", "--h", "0.1", "--samples", "2"}, {"list", "models"}, {"version"}, {"help"},
	} {
		var stderr bytes.Buffer
		if code := run(context.Background(), brokenPipe{}, &stderr, args); code != exitFailed || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%v: exit code %d, %q", args, code, stderr.String())
		}
	}
}
