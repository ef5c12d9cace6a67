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

func TestMoreBadInputIsOneLineAndExitCode2(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	for _, c := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"no inner step", []string{"sample", "--model", "toy", "--nl", "0"}, "--nl 0: want at least 1"},
		{"a batch of more rows than there are", []string{"sample", "--model", "toy", "--batch", "3"}, "--batch 3 exceeds the 2 training rows"},
		{"merging what is no store, the flag last", []string{"store", "merge", dir, "--out", out}, "holds no store"},
		{"an oracle of a split that is not there", []string{"oracle", "--dataset", "teacher-reg", "--split", "1000", "--out", out}, "no split 1000"},
		{"a flag that an oracle has no use for", []string{"oracle", "--dataset", "teacher-reg", "--shard", "0/2", "--out", out}, "shard"},
		{"exporting what has no cells", []string{"export", "--only", "orders", "--out", out}, `study "orders" has no cells`},
		{"exporting an unknown study", []string{"export", "--only", "order", "--out", out}, `unknown study "order"`},
		{"a precision of no gradients", []string{"reproduce", "--precision", "half", "--out", out}, `--precision "half": want one of float32, float64`},
		{"the same for an oracle", []string{"oracle", "--dataset", "teacher-reg", "--precision", "16", "--out", out}, `--precision "16": want one of float32, float64`},
		{"the same for the claims", []string{"claims", "--precision", "double", "--out", out}, `--precision "double": want one of float32, float64`},
		{"an unknown data set behind a good one", []string{"data", "verify", "toy", "bostn"}, `unknown data set "bostn"`},
	} {
		code, stdout, stderr := call(t, c.args...)
		if code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, standard output %q, standard error %q; want one line with %q", c.reason, code, stdout, stderr, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%s: a mistake made %s", c.reason, out)
		}
	}
}

func TestBuiltInSetsAreNamedWhereFilesAreListed(t *testing.T) {
	for _, args := range [][]string{{"data", "verify", "toy"}, {"data", "list", "toy"}} {
		if code, stdout, stderr := call(t, args...); code != exitOK || !strings.Contains(stdout, "toy") || !strings.Contains(stdout, "built in") {
			t.Errorf("%v: exit code %d, %q, %q", args, code, stdout, stderr)
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
