package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/floats"

	"hambench/bench"
	"hambench/bench/sweep"
)

// call runs a command line as main does.
func call(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), &out, &errs, args)
	return code, out.String(), errs.String()
}

func TestBadInputIsOneLineAndExitCode2(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("HAMBENCH_DATA", "")
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("no store"), 0o644); err != nil {
		t.Fatal(err)
	}
	sample := func(args ...string) []string { return append([]string{"sample", "--model", "toy"}, args...) }
	for _, c := range []struct {
		reason string
		args   []string
		want   string // part of the line
	}{
		{"unknown command", []string{"reprodce"}, `unknown command "reprodce"`},
		{"unknown flag", sample("--hh", "1"), "hh"},
		{"a flag that is no number", sample("--h", "small"), `--h "small": want a number`},
		{"a flag with one dash", sample("-integrator", "mt3"), "did you mean --integrator?"},
		{"an argument too many", sample("more"), `unexpected argument "more": want no arguments`},
		{"unknown integrator", sample("--integrator", "leapfrg"), `unknown integrator "leapfrg" (did you mean leapfrog?): want one of euler`},
		{"a splitting word with a wrong letter", sample("--integrator", "split:BAXAB"), "BAXAB"},
		{"unknown model", []string{"sample", "--model", "cubic", "--dataset", "toy"}, `unknown model "cubic"`},
		{"unknown scheme", sample("--scheme", "random"), `unknown`},
		{"unknown data set", []string{"sample", "--dataset", "bostn"}, `unknown data set "bostn" (did you mean boston?): want one of boston`},
		{"unknown profile", []string{"reproduce", "--profile", "huge", "--out", dir}, `unknown profile "huge": want one of`},
		{"unknown study", []string{"reproduce", "--only", "figure1", "--out", dir}, `unknown study "figure1": want one of`},
		{"unknown format", sample("--format", "xml"), `--format "xml": want one of csv, jsonl, zarr`},
		{"a folder without a name", sample("--format", "zarr"), `--format zarr needs --to`},
		{"a name for text", sample("--to", "x"), `--to x: csv goes to standard output`},
		{"a negative number of chains", sample("--chains", "-1"), `--chains -1: want 1 to 10000`},
		{"predictions apart from both", sample("--format", "zarr", "--to", "x", "--predictions"), `holds them with the parameters`},
		{"unknown precision", []string{"sample", "--dataset", "teacher-reg", "--precision", "half"}, `half`},
		{"a step of zero", sample("--h", "0"), `--h "0": is 0: want a finite number > 0`},
		{"a step so small that no chain ends", sample("--h", "1e-18"), "no chain ends; want a larger step h"},
		{"a smaller one", sample("--h", "1e-19", "--samples", "1", "--burn", "0"), "no chain ends"},
		{"steps that overflow", sample("--thin", "9223372036854775807", "--h", "0.1"), "want a whole number from 1 to 1000000000"},
		{"a wrong integrator where the step is to be found", sample("--integrator", "leapfrg"), "did you mean leapfrog?"},
		{"a mistyped command", []string{"sampel"}, "did you mean sample?"},
		{"a mistyped flag", sample("--modle", "toy"), "did you mean --model?"},
		{"a mistyped study", []string{"reproduce", "--only", "metods", "--out", dir}, "did you mean methods?"},
		{"a mistyped profile", []string{"reproduce", "--profile", "standrad", "--out", dir}, "did you mean standard?"},
		{"data for studies without", []string{"reproduce", "--only", "claims", "--datasets", "boston", "--out", dir}, `data set "boston" was chosen, but none of the studies uses data`},
		{"a negative step", sample("--h", "-0.1"), "is -0.1: want a finite number > 0"},
		{"a step that is no number", sample("--h", "NaN"), "is NaN: want a finite number > 0"},
		{"no friction", sample("--friction", "0"), `--friction "0": is 0: want a number > 0, or inf`},
		{"infinite friction where it is not exact", sample("--friction", "Inf"), "friction C = +Inf"},
		{"more batches than rows", sample("--scheme", "reshuffle", "--K", "3"), "3"},
		{"batches for a scheme that has one", sample("--scheme", "full", "--K", "2", "--h", "0.1"), "full: K = 2 batches: want 1"},
		{"inner steps for a scheme without", sample("--nl", "2"), "N_l = 2"},
		{"no samples", sample("--samples", "0"), `--samples "0": is 0: want a whole number from 1`},
		{"batch size and number of batches", sample("--K", "2", "--batch", "1"), "hambench sample: --K and --batch: want one of them"},
		{"neither model nor data", []string{"sample"}, "neither --model nor --dataset"},
		{"a model that does not take the data", []string{"sample", "--model", "logistic", "--dataset", "teacher-reg"}, "logistic"},
		{"a data folder that is not there", []string{"data", "list", "--data", filepath.Join(dir, "nowhere")}, "does not exist"},
		{"a data folder in the environment that is not there", nil, "does not exist"},
		{"a store that is a file", []string{"reproduce", "--only", "toy", "--out", file}, "cannot be created"},
		{"a store that cannot be created", []string{"reproduce", "--only", "toy", "--out", "/dev/null/x"}, "cannot be created"},
		{"no store to read", []string{"export", "--out", filepath.Join(dir, "nowhere")}, "cannot be read"},
		{"no workers", []string{"reproduce", "--workers", "0", "--out", dir}, "--workers 0: want at least 1"},
		{"a reference to make where none is needed", []string{"judge", "--rebuild", "--dataset", "linear", "draws.csv"}, "--rebuild: the posterior of linear is known"},
		{"an oracle of a data set that needs none", []string{"judge", "--checks", "--dataset", "toy", "--out", dir}, "needs no reference"},
		{"an oracle of nothing", []string{"judge", "--checks", "--out", dir}, "neither --model nor --dataset"},
		{"nothing to merge", []string{"store", "merge", "--out", dir}, "requires at least 1 arg(s), only received 0: want DIR …"},
		{"unknown list", []string{"list", "figures"}, `unknown list "figures"`},
		{"a problem that is not there", []string{"certify", "--problem", filepath.Join(dir, "none.json")}, "none.json"},
		{"a problem that is no JSON", []string{"certify", "--problem", file}, "file"},
		{"one file for the gate", []string{"gate", file}, "accepts 2 arg(s), received 1: want OLD NEW"},
		{"files that the gate cannot read", []string{"gate", file, file}, "file"},
	} {
		if c.args == nil {
			t.Setenv("HAMBENCH_DATA", filepath.Join(dir, "nowhere"))
			c.args = []string{"reproduce", "--only", "methods", "--out", dir}
		}
		code, stdout, stderr := call(t, c.args...)
		if code != exitUsage {
			t.Errorf("%s (%v): exit code %d, want 2; %s", c.reason, c.args, code, stderr)
		}
		if n := strings.Count(stderr, "\n"); n != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s (%v): standard error is %q, want one line with %q", c.reason, c.args, stderr, c.want)
		}
		if stdout != "" {
			t.Errorf("%s (%v): standard output is %q", c.reason, c.args, stdout)
		}
		t.Setenv("HAMBENCH_DATA", "")
	}
}

func TestMissingDataNamesTheCommandThatGetsThem(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("HAMBENCH_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, args := range [][]string{
		{"sample", "--dataset", "boston"},
		{"judge", "--checks", "--dataset", "boston", "--out", t.TempDir()},
	} {
		code, _, stderr := call(t, args...)
		if code != exitFailed || !strings.Contains(stderr, "hambench data fetch boston, or name a folder with copies by HAMBENCH_DATA") {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
}

// Every command and sub-command has help on --help and -h, with an example.
func TestHelpOnEveryLevel(t *testing.T) {
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		for _, flag := range []string{"--help", "-h"} {
			code, stdout, stderr := call(t, append(append([]string{}, path...), flag)...)
			if code != exitOK || stderr != "" || !strings.Contains(stdout, "Example:") || !strings.Contains(stdout, "Usage: hambench") {
				t.Errorf("%v %s: exit code %d, standard error %q, standard output %q", path, flag, code, stderr, stdout)
			}
		}
		for _, s := range c.Commands() {
			walk(s, append(append([]string{}, path...), s.Name()))
		}
	}
	walk(newRoot(), nil)
}

func TestListShowsEverything(t *testing.T) {
	code, stdout, _ := call(t, "list")
	if code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	for _, want := range []string{"bnn", "yacht", "teacher-cls", "mt3", "split:WORD", "repartition", "integration-length", "standard"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("list lacks %s", want)
		}
	}
}

// What other programs read of the settings has the names of files, flags and columns.
func TestSettingsAreListedAsJSON(t *testing.T) {
	code, stdout, stderr := call(t, "list", "settings", "--json")
	var settings []struct{ Name, Flag, Column, About string }
	if err := json.Unmarshal([]byte(stdout), &settings); code != exitOK || err != nil {
		t.Fatalf("exit code %d, %v, %s", code, err, stderr)
	}
	flags := make(map[string]string)
	for _, s := range settings {
		flags[s.Name] = s.Flag
	}
	if flags["step"] != "h" || flags["friction"] != "friction" || len(flags) != len(bench.Settings()) {
		t.Errorf("flags by setting: %v", flags)
	}
	for _, args := range [][]string{{"list", "--json"}, {"list", "models", "--json"}, {"list", "models", "schemes"}} {
		if code, _, stderr := call(t, args...); code != exitUsage || !strings.Contains(stderr, "want ") {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
}

func TestSampleIsReproducible(t *testing.T) {
	args := []string{"sample", "--model", "toy", "--integrator", "mt3", "--K", "2", "--h", "0.2", "--friction", "2", "--samples", "20"}
	code, first, _ := call(t, args...)
	if code != exitOK || strings.Count(first, "\n") != 21 || !strings.HasPrefix(first, "sample,theta0\n0,") {
		t.Fatalf("exit code %d, output %q", code, first)
	}
	if _, again, _ := call(t, args...); again != first {
		t.Error("the same seed gave different draws")
	}
	if _, other, _ := call(t, append(args, "--seed", "2")...); other == first {
		t.Error("another seed gave the same draws")
	}
	if _, lines, _ := call(t, append(args, "--format", "jsonl")...); !strings.HasPrefix(lines, `{"sample":0,"theta":[`) || strings.Count(lines, "\n") != 20 {
		t.Errorf("jsonl: %q", lines)
	}
}

// An estimator changes the draws, and its work is counted; what it does not fit
// is refused by name.
func TestSampleTakesAnEstimator(t *testing.T) {
	args := []string{"sample", "--model", "logistic", "--K", "5", "--h", "0.05", "--samples", "4", "--thin", "5", "--burn", "10"}
	_, plain, _ := call(t, args...)
	for name, counted := range map[string]string{
		"cv": "35 gradients, 0 Hessian-vector products", "svrg": "60 gradients, 0 Hessian-vector products, 6 gradients of all data",
		"svrg:10": "60 gradients, 0 Hessian-vector products, 3 gradients of all data", "saga": "35 gradients, 0 Hessian-vector products",
	} {
		code, draws, stderr := call(t, append(args, "--estimator", name)...)
		if code != exitOK || draws == plain || !strings.Contains(stderr, counted) {
			t.Errorf("%s: exit code %d, other draws than plain %v, %q: want %q", name, code, draws != plain, stderr, counted)
		}
		if noted := strings.Contains(stderr, "gradient at the mode"); noted != (name == "cv") {
			t.Errorf("%s: speaks of a mode: %v", name, noted)
		}
	}
	if _, again, _ := call(t, append(args, "--estimator", "plain")...); again != plain {
		t.Error("plain by name gives other draws than plain by default")
	}
	for _, tt := range []struct{ estimator, scheme, want string }{
		{"svrg:0", "reshuffle", "want svrg:M"}, {"saga", "iid", `which scheme "iid" does not have`}, {"svg", "reshuffle", "did you mean svrg?"},
	} {
		code, _, stderr := call(t, append(args, "--estimator", tt.estimator, "--scheme", tt.scheme)...)
		if code != exitUsage || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s under %s: exit code %d, %s: want %s", tt.estimator, tt.scheme, code, stderr, tt.want)
		}
	}
}

func TestDivergedSampleIsAFailure(t *testing.T) {
	code, _, stderr := call(t, "sample", "--dataset", "linear", "--h", "5", "--thin", "500", "--samples", "5")
	if code != exitFailed || !strings.Contains(stderr, "diverged") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

// The main job on the built-in toy: run, reuse, check, export.
func TestReproduceToy(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	out := t.TempDir()
	if code, _, _ := call(t, "reproduce", "--only", "toy", "--out", out, "--check"); code != exitFailed {
		t.Errorf("check of an empty store: exit code %d, want 1", code)
	}
	code, stdout, stderr := call(t, "reproduce", "--only", "toy", "--out", out)
	if code != exitOK || !strings.Contains(stdout, "cells: computed 3, reused 0") {
		t.Fatalf("exit code %d, %s %s", code, stdout, stderr)
	}
	for _, name := range []string{"toy.png", "toy.svg", "toy.pdf", "toy.csv"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, stdout, _ = call(t, "reproduce", "--only", "toy", "--out", out); !strings.Contains(stdout, "nothing was computed") {
		t.Errorf("second run: %s", stdout)
	}
	if code, _, _ := call(t, "reproduce", "--only", "toy", "--out", out, "--check"); code != exitOK {
		t.Errorf("check of a complete store: exit code %d", code)
	}
	if _, stdout, _ = call(t, "export", "--only", "toy", "--out", out); strings.Count(stdout, "\n") != 4 || !strings.HasPrefix(stdout, "experiment,dataset,split,integrator,nl,friction,scheme,K,batch,h,") {
		t.Errorf("export: %s", stdout)
	}
	// A name without a run is no reason to write or draw the others alone.
	for _, command := range [][]string{{"export"}, {"reproduce", "--figures-only"}} {
		code, stdout, stderr := call(t, append(command, "--only", "toy,tpy,methods", "--out", out)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, "tpy") || strings.Contains(stderr, "\n\n") {
			t.Errorf("%v of a name without a run: exit code %d, %s %s", command, code, stdout, stderr)
		}
	}
	if code, _, stderr := call(t, "export", "--only", "toy,methods", "--out", out); code != exitUsage || !strings.Contains(stderr, "no run of methods in "+out) {
		t.Errorf("export of a study without a run: exit code %d, %s", code, stderr)
	}
}

func TestInterruptSaysHowToContinue(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	code := run(ctx, &out, &errs, []string{"reproduce", "--only", "toy", "--out", t.TempDir()})
	if code != exitInterrupted || !strings.Contains(errs.String(), "continues") {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
}

// A chain that is interrupted says after how many draws; SIGTERM has an exit
// code of its own.
func TestInterruptedSampleSaysHowFarItIs(t *testing.T) {
	for cause, want := range map[error]int{context.Canceled: exitInterrupted, errTerminated: exitTerminated} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var errs bytes.Buffer
		code := run(ctx, cancelling{cancel, cause}, &errs, []string{"sample", "--model", "toy", "--h", "0.1", "--samples", "100000000"})
		got := errs.String()
		if code != want || !strings.HasPrefix(got, "hambench: interrupted after ") || !strings.HasSuffix(got, " of 100000000 draws\n") {
			t.Errorf("%v: exit code %d, want %d; %q", cause, code, want, got)
		}
	}
}

// cancelling cancels a command at its first output.
type cancelling struct {
	cancel context.CancelCauseFunc
	cause  error
}

func (c cancelling) Write(p []byte) (int, error) {
	c.cancel(c.cause)
	return len(p), nil
}

// A chain with the default step, from where a chain without an oracle starts,
// stays finite where one with the paper's step diverges at once.
func TestDefaultStepFollowsTheStableOne(t *testing.T) {
	args := []string{"sample", "--dataset", "teacher-reg", "--batch", "8", "--samples", "3", "--thin", "200", "--burn", "200", "--predictions"}
	if code, _, stderr := call(t, args...); code != exitOK || !strings.Contains(stderr, "note: --h 0.0") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	langevin := []string{"sample", "--dataset", "linear", "--integrator", "sgld", "--samples", "3", "--thin", "2000", "--burn", "2000"}
	if code, _, stderr := call(t, langevin...); code != exitOK {
		t.Errorf("a scheme that moves the position alone: exit code %d, %s", code, stderr)
	}
	if code, _, stderr := call(t, append(args, "--h", "0.2")...); code != exitFailed || !strings.Contains(stderr, "diverged") {
		t.Errorf("far above the stable step: exit code %d, %s", code, stderr)
	}
}

// Warm-ups of neighbouring seeds have nothing in common: that a chain's start is like that of the
// next one would hide a burn-in that is too short. Over 40 chains and 256 parameters chance makes
// −0.025 of the correlation, give or take 0.02 or less: it is below −0.1 at one seed in 10 000, and
// seeds are pinned. When they shared numbers it was 0.50.
func TestStartsOfChainsAreIndependent(t *testing.T) {
	_, stdout, stderr := call(t, "sample", "--dataset", "linear", "--integrator", "baoab", "--start", "typical",
		"--h", "1e-6", "--burn", "0", "--thin", "1", "--samples", "1", "--chains", "40")
	rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
	if err != nil || len(rows) != 41 {
		t.Fatalf("%d rows, %v, %s", len(rows), err, stderr)
	}
	var products, squares float64
	for column := 2; column < len(rows[0]); column++ {
		var x []float64
		for _, row := range rows[1:] {
			v, err := strconv.ParseFloat(row[column], 64)
			if err != nil {
				t.Fatal(err)
			}
			x = append(x, v)
		}
		floats.AddConst(-floats.Sum(x)/40, x)
		products, squares = products+floats.Dot(x[1:], x[:39]), squares+floats.Dot(x, x)
	}
	if r := products / squares; math.Abs(r) > 0.1 {
		t.Errorf("the starts of neighbouring chains have a correlation of %.2f", r)
	}
}

// A default step says what limits it: a quarter of the largest stable one, or the friction.
func TestDefaultStepNamesItsLimit(t *testing.T) {
	for friction, want := range map[string]string{
		"1":  "note: --h 0.25, a quarter of the largest stable step, about 1\n",
		"10": "note: --h 0.05, 1/(2C), less than a quarter of the largest stable step, about 1\n",
	} {
		_, _, stderr := call(t, "sample", "--model", "toy", "--integrator", "baoab", "--friction", friction, "--samples", "1")
		if !strings.HasPrefix(stderr, want) {
			t.Errorf("friction %s: %q, want %q", friction, stderr, want)
		}
	}
}

func TestVersionIsAFlag(t *testing.T) {
	if code, got, _ := call(t, "--version"); code != exitOK || got != version()+"\n" {
		t.Errorf("--version: exit code %d, %q; want %q", code, got, version())
	}
	if !strings.HasPrefix(version(), "hambench "+sweep.Version+", commit ") {
		t.Errorf("--version: %q", version())
	}
	commit := strings.Repeat("0f", 20)
	for built, want := range map[string]int{"": 0, commit: 1, commit + "+changes": 0} {
		got := versionOf(built)
		if n := strings.Count(got, "\nswh:1:rev:"+commit); n != want || strings.Count(got, "\n") != want {
			t.Errorf("a build from commit %q: %q", built, got)
		}
	}
}

// The value of a flag is named once, and descriptions stand in one column.
func TestHelpIsAligned(t *testing.T) {
	_, help, _ := call(t, "slurm", "--help")
	column := 0
	for _, line := range strings.Split(help, "\n") {
		if flag, about, ok := strings.Cut(strings.TrimLeft(line, " "), "  "); ok && strings.HasPrefix(flag, "--") {
			at := utf8.RuneCountInString(line) - utf8.RuneCountInString(strings.TrimSpace(about))
			if column == 0 {
				column = at
			}
			if at != column {
				t.Errorf("misaligned: %q", line)
			}
		}
		if n := utf8.RuneCountInString(line); n > helpWidth {
			t.Errorf("%d characters: %q", n, line)
		}
	}
	if !strings.Contains(help, "\n      --profile NAME        profile (see") {
		t.Errorf("help of --profile: %s", help)
	}
}

// A setting needs no line in this command to be a flag of sample.
func TestEverySettingIsAFlagOfSample(t *testing.T) {
	sample, _, err := newRoot().Find([]string{"sample"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range bench.Settings() {
		if s.Flag != "" && sample.Flags().Lookup(s.Flag) == nil {
			t.Errorf("setting %s: no flag --%s", s.Name, s.Flag)
		}
	}
	if seed := sample.Flags().Lookup("samples"); seed.DefValue != "200" {
		t.Errorf("--samples has default %q: want that of its declaration, 200", seed.DefValue)
	}
}

// Draws of a known posterior state float64, in which its model computes whatever
// was asked for.
func TestDrawsStateThePrecisionUsed(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "draws.zarr")
	code, _, stderr := call(t, "sample", "--model", "toy", "--h", "0.1", "--samples", "2", "--format", "zarr", "--to", folder)
	attributes, err := os.ReadFile(filepath.Join(folder, ".zattrs"))
	if code != exitOK || err != nil || !strings.Contains(string(attributes), `"precision":"float64"`) || strings.Contains(string(attributes), "float32") {
		t.Errorf("exit code %d, %v, %s%s: want float64 as the precision", code, err, attributes, stderr)
	}
	// The program of a test has no commit.
	for _, want := range []string{`"inference_library_version":"` + sweep.Version + `"`, `"commit":"unknown"`} {
		if !strings.Contains(string(attributes), want) {
			t.Errorf("the draws' attributes lack %s: %s", want, attributes)
		}
	}
	for _, s := range bench.Settings() {
		if s.Flag != "" && !strings.Contains(string(attributes), `"`+s.Column+`":`) {
			t.Errorf("the draws' attributes lack %s: %s", s.Column, attributes)
		}
	}
}
