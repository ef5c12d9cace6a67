package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestFlagsStandAnywhere(t *testing.T) {
	dir := t.TempDir()
	_, want, _ := call(t, "data", "verify", "--data", dir, "toy", "linear")
	for _, args := range [][]string{
		{"data", "verify", "toy", "linear", "--data", dir}, {"data", "verify", "toy", "--data=" + dir, "linear"}, {"--data", dir, "data", "verify", "toy", "linear"},
		{"data", "verify", "--data", dir, "--", "toy", "linear"},
	} {
		if code, got, stderr := call(t, args...); code != exitOK || got != want || strings.Count(got, "built in") != 2 {
			t.Errorf("%v: exit code %d, %q, %q", args, code, got, stderr)
		}
	}
	for _, args := range [][]string{{"data", "verify", "toy", "--more"}, {"data", "verify", "toy", "--", "--data", dir}} {
		if code, _, stderr := call(t, args...); code != exitUsage {
			t.Errorf("%v: exit code %d, %q", args, code, stderr)
		}
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

// Names are shown such that they neither break the line nor command the terminal; errors that come
// together are one line, too.
func TestAnErrorIsOneLineWhateverItNames(t *testing.T) {
	_, _, stderr := call(t, "data", "export", "--dataset", "no\nwhere\x1b[31m.csv", "--noise", "0.1", "--to", t.TempDir())
	if !strings.Contains(stderr, `no\nwhere\x1b[31m.csv`) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%q: want one line", stderr)
	}
	a, b := errors.New("a is full"), fmt.Errorf("b: %w", errors.Join(errors.New("gone"), errors.New("lost\tthere")))
	if got, want := errorLine(errors.Join(a, b)), `hambench: a is full; b: gone; lost\tthere`; got != want {
		t.Errorf("%q: want %q", got, want)
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
		{"no inner step", []string{"sample", "--model", "toy", "--nl", "0"}, `--nl "0": is 0: want a whole number from 1 to 1000000`},
		{"a batch of more rows than there are", []string{"sample", "--model", "toy", "--batch", "3"}, "--batch 3 exceeds the 2 training rows"},
		{"merging what is no store, the flag last", []string{"store", "merge", dir, "--out", out}, "holds no store"},
		{"an oracle of a split that is not there", []string{"judge", "--checks", "--dataset", "teacher-reg", "--split", "1000", "--out", out}, "no split 1000"},
		{"more splits than files may state", []string{"reproduce", "--only", "toy", "--splits", "30000", "--out", out}, "--splits 30000: want 1 to 1000"},
		{"samples with an exponent", []string{"sample", "--model", "toy", "--samples", "1e3"}, `--samples "1e3": has a point or an exponent: want it written as 1000`},
		{"no estimator", []string{"sample", "--model", "toy", "--estimator", ""}, `--estimator "": is empty: want a text`},
		{"no start", []string{"sample", "--model", "toy", "--start", ""}, `--start "": is empty: want a text`},
		{"a step beyond the largest", []string{"sample", "--model", "toy", "--h", "1e101"}, `--h "1e101": is 1e+101: want a number > 0, at most 1e+100`},
		{"a number of chains with an exponent", []string{"sample", "--model", "toy", "--chains", "1e3"}, `--chains "1e3": want a whole number, in digits alone`},
		{"a word for a number", []string{"sample", "--dataset", "own.csv", "--noise", "low"}, `--noise "low": want a number`},
		{"a flag that judge has no use for", []string{"judge", "--checks", "--dataset", "teacher-reg", "--repeat", "2", "--out", out}, "repeat"},
		{"splits where one is judged", []string{"judge", "--dataset", "linear", "--splits", "3", "draws.csv"}, "--splits"},
		{"exporting what has no cells", []string{"export", "--only", "orders", "--out", out}, `study "orders" has no cells`},
		{"exporting an unknown study", []string{"export", "--only", "order", "--out", out}, `unknown study "order"`},
		{"a precision of no gradients", []string{"reproduce", "--precision", "half", "--out", out}, `--precision "half": want one of float32, float64`},
		{"the same for an oracle", []string{"judge", "--checks", "--dataset", "teacher-reg", "--precision", "16", "--out", out}, `--precision "16": want one of float32, float64`},
		{"the same for the claims", []string{"claims", "--precision", "double", "--out", out}, `--precision "double": want one of float32, float64`},
		{"noise of a data set that has its own", []string{"sample", "--dataset", "toy", "--noise", "1"}, "--noise 1 goes with --dataset FILE.csv"},
		{"a file of another ending", []string{"data", "export", "--dataset", "own.tsv", "--noise", "0.1", "--to", out}, `--dataset "own.tsv" is no name of a data set, and files end in .csv`},
		{"the same without noise", []string{"sample", "--dataset", "/dev/stdin"}, `--dataset "/dev/stdin" is no name of a data set, and files end in .csv`},
		{"an ending in capitals", []string{"data", "export", "--dataset", "nowhere.CSV", "--noise", "0.1", "--to", out}, `data set "nowhere": open nowhere.CSV`},
		{"a switch that is neither on nor off", []string{"claims", "--strict=maybe", "--out", out}, `--strict "maybe": want true or false`},
		{"a study of a second use of a list", []string{"reproduce", "--only", "tpy", "--only", "toy", "--dry-run", "--out", out}, `unknown study "tpy"`},
		{"a step of a second use of a list", []string{"certify", "--steps", "0.1", "--steps", "0.2,0.1"}, "step 0.1 is given twice"},
		{"two modes at once", []string{"reproduce", "--dry-run", "--figures-only", "--out", out}, "hambench reproduce: --dry-run and --figures-only: want one of them"},
		{"two modes of run", []string{"run", "mine.toml", "--check", "--figures-only", "--out", out}, "hambench run: --check and --figures-only: want one of them"},
		{"a later study among those of reproduce", []string{"reproduce", "--only", "regimes", "--out", out}, `study "regimes" is run by its name, hambench run regimes: want one of `},
		{"the claims of a later study", []string{"claims", "regimes", "--profile", "standard", "--out", out}, "study regimes states no claims of its own: those of the program are decided by hambench claims, and those on later studies by hambench run regimes"},
		{"claims in the profile of runs without one", []string{"claims", "--profile", "default", "--out", out}, `profile "default" is of studies that hambench run ran without --profile, which built-in ones are shown with in any: want one of quick, standard, paper`},
		{"a flag that only looks like help", []string{"claims", "--only", "toy"}, "unknown flag: --only (see"},
		{"a short flag", []string{"sample", "--hh", "1"}, "unknown flag: --hh (did you mean --h?)"},
		{"all lists in JSON", []string{"list", "--json"}, "list --json: want list settings --json"},
		{"a data set in no file", []string{"data", "export", "--dataset", "nowhere.csv", "--noise", "0.1", "--to", out}, "nowhere.csv"},
		{"a step given twice to all integrators", []string{"certify", "--steps", "0.1,0.1"}, "step 0.1 is given twice"},
		{"a step that no float64 can hold", []string{"certify", "--problem", "gaussian", "--integrator", "exact", "--steps", "1e300"}, "step 1e+300: want less than 6.32e+11, which is 1e+12 times the shortest time"},
		{"more batches than orders can be averaged over", []string{"certify", "--scheme", "reshuffle", "--budget", "100", "--problem", manyBatches(15)}, `scheme "reshuffle" with K = 15 batches: exact orders need K at most 14 under random orders`},
		{"inner steps without end", []string{"certify", "--problem", "gaussian", "--integrator", "lietrotter", "--nl", "1000000000"}, "a period of 1000000000 steps: want at most"},
		{"a mass of too few positions", []string{"certify", "--problem", "gaussian", "--mass", "1"}, "--mass 1: want 2 numbers"},
		{"a mass below 0", []string{"certify", "--problem", "gaussian", "--mass", "1,-2"}, "--mass 1,-2: want finite numbers > 0"},
		{"a mass without an inverse", []string{"certify", "--problem", "gaussian", "--mass", "1e-320,1"}, "with finite inverses"},
		{"a mass of a scalar problem", []string{"certify", "--problem", "scalar", "--mass", "1"}, "want one of kind gaussian"},
		{"a mass of a sampler in another process", []string{"certify", "--problem", "gaussian", "--mass", "1,2", "--exec", "true"}, "hambench certify: --exec and --mass: want one of them"},
		{"inner steps of a sampler that says its own", []string{"certify", "--exec", "true", "--nl", "4"}, "--nl 4 with --exec"},
		{"more chains than there is memory for", []string{"sample", "--model", "toy", "--chains", "1000000000000"}, "--chains 1000000000000: want 1 to 10000"},
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

// Of all commands, flags that exclude each other and flags that do not exist are one line and
// exit code 2, whatever else is missing.
func TestFlagsThatExcludeEachOtherAreBadInput(t *testing.T) {
	var groups int
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		refused := func(want string, flags ...string) {
			t.Helper()
			code, stdout, stderr := call(t, append(slices.Clone(path), flags...)...)
			if code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, want) {
				t.Errorf("%v %v: exit code %d, %s%s: want 2 and one line with %q", path, flags, code, stdout, stderr, want)
			}
		}
		refused("unknown flag: --none", "--none")
		seen := map[string]bool{}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			for _, g := range f.Annotations[exclusiveGroups] {
				names := strings.Fields(g)
				groups++
				for _, other := range names {
					if pair := fmt.Sprintf("--%s and --%s", min(f.Name, other), max(f.Name, other)); other != f.Name && !seen[pair] {
						seen[pair] = true
						var flags []string
						for _, name := range []string{f.Name, other} {
							flags = append(flags, "--"+name)
							if c.Flag(name).NoOptDefVal == "" {
								flags = append(flags, map[bool]string{true: "float32", false: "1"}[name == "precision"])
							}
						}
						refused(pair+": want one of them", flags...)
					}
				}
			}
		})
		for _, sub := range c.Commands() {
			walk(sub, append(slices.Clone(path), sub.Name()))
		}
	}
	walk(newRoot(), nil)
	if groups == 0 {
		t.Error("no flags exclude each other: are groups under another annotation?")
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
		{"sample", "--model", "toy", "--h", "0.1", "--samples", "2"}, {"list", "models"}, {"--version"}, {"help"},
	} {
		var stderr bytes.Buffer
		if code := run(context.Background(), brokenPipe{}, &stderr, args); code != exitFailed || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%v: exit code %d, %q", args, code, stderr.String())
		}
	}
}

// A batch that is rounded to all rows is another sampler than was asked for.
func TestABatchThatIsRoundedToAllRowsIsNamed(t *testing.T) {
	for size, want := range map[string]bool{"100": true, "8": false, "0": false} {
		code, _, stderr := call(t, "sample", "--dataset", "linear", "--h", "0.01", "--samples", "1", "--thin", "1", "--burn", "0", "--batch", size)
		if named := strings.Contains(stderr, "is rounded to one batch of all"); code != exitOK || named != want {
			t.Errorf("--batch %s: exit code %d, %q: want the note: %t", size, code, stderr, want)
		}
	}
}

// A file of draws counts once.
func TestAFileOfDrawsIsGivenOnce(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f.csv")
	if err := os.WriteFile(file, []byte("f0\n1\n2\n3\n4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := call(t, "judge", "--dataset", "toy", file, dir+"/./f.csv")
	if code != exitUsage || !strings.HasSuffix(stderr, "f.csv: the file is given twice: want each once\n") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

// The number 0 is what a flag has that is not given, and no number to ask for.
func TestCountsOfNoneAreRefused(t *testing.T) {
	for _, args := range []string{"reproduce --splits 0", "reproduce --samples 0", "reproduce --repeat 0", "export --seed-from 0", "sample --model toy --samples 0"} {
		code, _, stderr := call(t, strings.Fields(args)...)
		if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "0: want ") {
			t.Errorf("%s: exit code %d, %q", args, code, stderr)
		}
	}
}

// A file has room for all columns, and a disk that is full is named once.
func TestOutputsThatAreNoTerminal(t *testing.T) {
	t.Setenv("COLUMNS", "")
	screen := onTerminal(t, func(w *os.File) { run(context.Background(), w, io.Discard, []string{"list", "integrators"}) })
	t.Setenv("COLUMNS", "100")
	cut := onTerminal(t, func(w *os.File) { run(context.Background(), w, io.Discard, []string{"list", "integrators"}) })
	width := func(text string) (most int) {
		for line := range strings.Lines(text) {
			most = max(most, shown(line)-1)
		}
		return most
	}
	if width(screen) <= 100 || width(cut) > 100 {
		t.Errorf("%d columns in a file, %d where COLUMNS is 100", width(screen), width(cut))
	}
	var stderr bytes.Buffer
	code := run(context.Background(), brokenPipe{}, &stderr, strings.Fields("sample --model toy --h 0.1 --samples 2000"))
	if code != exitFailed || stderr.String() != "hambench: no space left\n" {
		t.Errorf("exit code %d, %q", code, stderr.String())
	}
}

// A file may have any name; what its data are taken for is said in one line each.
func TestAFileOfDataMayHaveAnyName(t *testing.T) {
	rows := strings.Replace(ownCSV, "0,2\n2,", "1,2\n2,", 1) // now x counts the rows
	inFolder(t, map[string]string{"Höhe 2.csv": rows, "é.csv": ownCSV})
	for file, note := range map[string]string{
		"Höhe 2.csv": "note: data set H-he-2: column 1 (\"x\") counts the rows, and is an input like the others: leave it out if it is an index\n",
		"é.csv":      "",
	} {
		code, stdout, stderr := call(t, "sample", "--dataset", file, "--noise", "0.1", "--model", "linear", "--h", "0.001", "--samples", "2", "--thin", "1", "--burn", "1")
		if code != exitOK || !strings.HasPrefix(stdout, "sample,theta0") || stderr != note+"hambench: 2 draws, 3 steps, 3 gradients, 0 Hessian-vector products\n" {
			t.Errorf("%s: exit code %d, %q", file, code, stderr)
		}
		code, _, stderr = call(t, "sample", "--dataset", file)
		if code != exitUsage || !strings.Contains(stderr, "a regression needs --noise V") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s without --noise: exit code %d, %q", file, code, stderr)
		}
	}
}
