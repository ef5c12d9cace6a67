package main

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// With a step near 0 the only draw is the start: an exact draw, a draw of the prior, or a
// typical position, which is the default.
func TestSampleStartsWhereItIsTold(t *testing.T) {
	size := func(args ...string) (mean float64) {
		t.Helper()
		args = append([]string{"sample", "--dataset", "linear", "--h", "1e-9", "--samples", "1", "--burn", "0", "--thin", "1"}, args...)
		code, stdout, stderr := call(t, args...)
		if code != exitOK {
			t.Fatalf("%q: exit code %d, %s", args, code, stderr)
		}
		for _, field := range strings.Split(strings.TrimSpace(strings.Split(stdout, "\n")[1]), ",")[1:] {
			x, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			mean += x * x / 256
		}
		return mean
	}
	plain, typical, truth, prior := size(), size("--start", "typical"), size("--start", "truth"), size("--start", "prior")
	if plain != typical || truth == typical || prior == truth || prior == typical {
		t.Errorf("mean squares %v by default, %v, %v, %v", plain, typical, truth, prior)
	}
	file := filepath.Join(t.TempDir(), "w.csv")
	if err := os.WriteFile(file, []byte(strings.Repeat("0.5 ", 256)), 0o644); err != nil {
		t.Fatal(err)
	}
	if at := size("--start", file); math.Abs(at-0.25) > 1e-6 {
		t.Errorf("mean square %v at the position in a file: want 0.25", at)
	}
	for _, c := range []struct{ args, want string }{
		{"sample --model toy --temperature -1", `--temperature "-1": is -1: want a number from 1e-30 to 1e+100`},
		{"sample --model toy --temperature inf", `--temperature "inf": is +Inf: want a number from 1e-30 to 1e+100`},
		{"sample --dataset linear --temperature 1e-308 --start truth --h 0.1", `--temperature "1e-308": is 1e-308: want a number from 1e-30 to 1e+100`},
		{"sample --model toy --localisation -2", `--localisation "-2": is -2: want a number from 0 to 1e+100`},
		{"sample --model toy --localisation 2", "localisation 2 without a centre: want a start that is \"optimum\" or a file with a position"},
		{"sample --model toy --h 0.2 --start optimum", `start "optimum": model "toy" does not know its optimum: want the file of a position`},
		{"sample --model linear-net --h 0.2", `model "linear-net" without its widths`},
		{"sample --model linear-net:3,x --h 0.2", `width "x": want 1 to 10000`},
		{"sample --model crossing --dataset boston --h 0.2", `model "crossing" wants no rows`},
		{"sample --model toy --friction 1e308", "friction 1e+308: largest stable step, K = 1, tried with leapfrog: chains diverge at every step down to 0.001953125: want less friction, or a step"},
		{"sample --model toy --start ./none", "start ./none: no such file or directory"}, // before the search for the step
		{"sample --model toy --h 0.2 --start ./none", "start ./none: no such file or directory"},
		{"sample --model toy --h 0.2 --start " + file, "w.csv: 256 numbers: want one for each of 1 parameters"},
		{"sample --dataset teacher-reg --h 0.01 --temperature 2 --start truth", `--start truth: the tempered posterior of model "bnn" is not known: want another start`},
		{"sample --dataset linear --start mode", `unknown start "mode": want one of truth, prior, typical, optimum, or a file, whose name has a dot or a slash`},
		{"sample --model toy --h 0.2 --samples 30 --coupled --start prior", "--start prior: coupled chains start at a typical position"},
	} {
		code, _, stderr := call(t, strings.Fields(c.args)...)
		if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, %q: want %q", c.args, code, stderr, c.want)
		}
	}
}
