package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"hambench/certify"
)

// The problems in the help are those in the docs, and are read.
func TestProblemsOfTheHelpAreDocumentedAndRead(t *testing.T) {
	docs, err := os.ReadFile("../../docs/certify.md")
	if err != nil {
		t.Fatal(err)
	}
	_, help, _ := call(t, "certify", "--help")
	for _, example := range []string{gaussianExample, scalarExample} {
		if !strings.Contains(help, example) || !strings.Contains(string(docs), example) {
			t.Errorf("help or docs lack %s", example)
		}
		if _, err := certify.ParseProblem("example", []byte(example)); err != nil {
			t.Error(err)
		}
	}
}

func TestCertifyNamesTheProblemsThatThereAre(t *testing.T) {
	code, _, stderr := call(t, "certify", "--problem", "gausian")
	if code != exitUsage || !strings.Contains(stderr, "gaussian, scalar, toy") || strings.Count(stderr, "\n") > 1 {
		t.Errorf("exit code %d, %q: want one line that lists the built-in problems", code, stderr)
	}
}

func TestStrictFailsUnlessAllIsDecided(t *testing.T) {
	args := []string{"certify", "--problem", "gaussian", "--integrator", "leapfrog", "--scheme", "full"}
	if code, _, stderr := call(t, append(args, "--strict")...); code != 0 {
		t.Errorf("exit code %d, %s: want 0", code, stderr)
	}
	args = append(args, "--steps", "100")
	if code, _, stderr := call(t, args...); code != 0 {
		t.Errorf("exit code %d, %s: want 0", code, stderr)
	}
	if code, _, stderr := call(t, append(args, "--strict")...); code != exitFailed || !strings.Contains(stderr, "3 unstable") {
		t.Errorf("exit code %d, %s: want 1 with the number of unstable chains", code, stderr)
	}
}

// No estimator is plain, not nothing: a strict run of no rows would be a success.
func TestCertifyWithoutAnEstimatorIsPlain(t *testing.T) {
	args := []string{"certify", "--problem", "gaussian", "--integrator", "leapfrog", "--scheme", "full", "--json", "--estimator"}
	_, want, _ := call(t, append(args, "plain")...)
	if code, got, stderr := call(t, append(args, "")...); code != exitOK || got != want || len(want) < 1000 {
		t.Errorf("exit code %d, %.80q, %s: want the rows of plain", code, got, stderr)
	}
}

func TestProgressSaysWhatIsLeft(t *testing.T) {
	if got, want := progressLine("certify", 0.25, 10*time.Second), "certify: 25 %, 10s elapsed, about 30s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
