package main

import (
	"strings"
	"testing"
)

// A run under another label is not said to be absent without a word of it, and of the flags that
// make labels.
func TestARunUnderOtherFlagsIsNamedWithThem(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	const study = `[vary]
step = [0.1, 0.2]
[fix]
data = "linear"
integrator = "leapfrog"
batch = "full"
samples = 5
[profile.quick]
samples = 4
`
	inFolder(t, map[string]string{"one.toml": study, "two.toml": study})
	for _, args := range [][]string{{"run", "two.toml", "--profile", "quick"}, {"run", "one.toml", "--profile", "quick", "--repeat", "2", "--seed-from", "7"}} {
		if code, _, stderr := call(t, append(args, "--out", "out")...); code != exitOK {
			t.Fatalf("%v: exit code %d, %s", args, code, stderr)
		}
	}
	for want, only := range map[string]string{
		"there are runs of profile quick, 2 seeds, seeds from 7: give --profile and, of what such a run changed, --splits, --samples, --repeat, --seed-from or --precision\n": "one",
		"there are runs of two\n": "paths",
	} {
		code, _, stderr := call(t, "export", "--out", "out", "--profile", "quick", "--only", only)
		if code != exitUsage || !strings.HasPrefix(stderr, "hambench: no run of "+only+" in ") || !strings.HasSuffix(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("exit code %d, %s: want 2 and %q", code, stderr, want)
		}
	}
	code, stdout, stderr := call(t, "export", "--out", "out", "--profile", "quick", "--repeat", "2", "--seed-from", "7", "--only", "one")
	if code != exitOK || strings.Count(stdout, "\none,") != 4 {
		t.Errorf("with these flags: exit code %d, %s%s", code, stdout, stderr)
	}
}
