package main

import (
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
	for _, c := range []struct{ args, want string }{
		{"sample --dataset linear --start mode", `unknown start "mode": want one of truth, prior, typical`},
		{"sample --model toy --h 0.2 --samples 30 --coupled --start prior", "--start prior: coupled chains start at a typical position"},
	} {
		code, _, stderr := call(t, strings.Fields(c.args)...)
		if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, %q: want %q", c.args, code, stderr, c.want)
		}
	}
}
