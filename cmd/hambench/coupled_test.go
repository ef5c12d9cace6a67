package main

import (
	"strings"
	"testing"
)

// Coupled chains give a line a sample and an estimate, the same again for the same
// seed; what cannot be coupled is refused by name.
func TestSampleCoupled(t *testing.T) {
	args := []string{"sample", "--coupled", "--model", "toy", "--h", "0.2", "--samples", "30", "--integrator"}
	code, stdout, stderr := call(t, append(args, "ubu")...)
	if code != 0 || strings.Count(stdout, "\n") != 31 || !strings.HasPrefix(stdout, "sample,theta0\n") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	if !strings.Contains(stderr, "means at h = 0.2 and at half of it differ by ") || !strings.Contains(stderr, "over 1 values") {
		t.Errorf("stderr %q: want the estimate", stderr)
	}
	_, again, _ := call(t, append(args, "ubu")...)
	if again != stdout {
		t.Error("the same command gives other differences")
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{append(args, "sghmc"), `integrator "sghmc" adapts`},
		{append(args, "ubu", "--chains", "2"), "--chains and --coupled: want one of them"},
		{append(args, "ubu", "--format", "zarr", "--to", "x"), "--coupled: want --format csv or jsonl"},
	} {
		if code, _, stderr := call(t, c.args...); code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit code %d, %q: want %q", c.args, code, stderr, c.want)
		}
	}
}
