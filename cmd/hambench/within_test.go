package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	chosenFlags = regexp.MustCompile(`hambench: --within \S+: (--profile .*), about (\S+); left out: (.*)\n`)
	lastRow     = regexp.MustCompile(`(?m)^\| all .* \| (\S+) +\|$`)
)

// With the slow kernels of plain Go the dry run's total fits the time, and the
// choice can be named again.
func TestWithinFitsTheTime(t *testing.T) {
	driver, out := buildDriver(t), t.TempDir()
	dry := func(args ...string) (stdout, stderr string) {
		cmd := exec.Command(driver, append([]string{"reproduce", "--only", "methods,toy,orders", "--dry-run", "--out", out}, args...)...)
		cmd.Env = append(cmd.Environ(), "HAMBENCH_ISA=generic", "HAMBENCH_OFFLINE=1", "HAMBENCH_DATA=", "XDG_CACHE_HOME="+out)
		var errs strings.Builder
		cmd.Stderr = &errs
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, errs.String())
		}
		return string(text), errs.String()
	}
	const limit = 60 * time.Second
	table, said := dry("--within", limit.String())
	choice, row := chosenFlags.FindStringSubmatch(said), lastRow.FindStringSubmatch(table)
	if choice == nil || row == nil {
		t.Fatalf("%s%s", said, table)
	}
	if took, err := time.ParseDuration(row[1]); err != nil || took > limit || took.String() != choice[2] {
		t.Errorf("%v, %v; want at most %v, and as said:\n%s%s", took, err, limit, said, table)
	}
	if !strings.Contains(choice[3], "boston") { // its stand-in's reference alone takes longer
		t.Errorf("left out: %s", choice[3])
	}
	again, _ := dry(strings.Fields(choice[1])...)
	counts := func(table string) []string {
		var rows []string
		for _, line := range strings.Split(table, "\n") {
			if cells := strings.Split(line, "|"); len(cells) > 6 {
				rows = append(rows, strings.Join(cells[:6], "|"))
			}
		}
		return rows
	}
	if a, b := counts(table), counts(again); strings.Join(a, "\n") != strings.Join(b, "\n") {
		t.Errorf("%s:\n%s\nwant\n%s", choice[1], again, table)
	}
}

// What was left out stands in the manifest, so in the figures, also of a later
// call that only draws.
func TestWhatIsLeftOutIsStated(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("HAMBENCH_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	out := t.TempDir()
	args := []string{"reproduce", "--only", "integration-length", "--out", out, "--without", "boston,concrete,energy,yacht,ionosphere,vehicle"}
	for _, more := range [][]string{nil, {"--figures-only"}} {
		code, stdout, stderr := call(t, append(args[:5:5], append(args[5:], more...)...)...)
		if code != exitOK || !strings.Contains(stdout, "note: Left out to save time: boston, concrete, energy, yacht, ionosphere, vehicle.") {
			t.Errorf("%v: exit code %d, %s %s", more, code, stdout, stderr)
		}
	}
	for reason, c := range map[string]struct {
		args []string
		want string
	}{
		"an unknown data set":   {[]string{"--without", "bostn"}, `no study uses data set "bostn"`},
		"a comma":               {[]string{"--without", ","}, "a name is missing"},
		"a negative time":       {[]string{"--within", "-1m"}, "want a time > 0"},
		"a shard within a time": {[]string{"--within", "1m", "--shard", "0/2"}, "--within goes with neither"},
		"no time at all":        {[]string{"--only", "orders", "--within", "1ns"}, "what needs no data takes"},
	} {
		code, _, stderr := call(t, append([]string{"reproduce", "--out", t.TempDir()}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d, %s; want %s", reason, code, stderr, c.want)
		}
	}
}

// A study of one's own is fitted by leaving out data sets: its grid stays.
func TestWithinLeavesOutDataOfAStudy(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Chdir(t.TempDir())
	study := `id = "two"
title = "Two data sets"
[vary]
data = ["linear", "teacher-reg"]
integrator = ["leapfrog"]
step = [0.01]
[fix]
batch = "full"
friction = 5
samples = 20
`
	if err := os.WriteFile("two.toml", []byte(study), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, "run", "two.toml", "--within", "20s", "--dry-run") // the reference of teacher-reg takes longer
	if code != exitOK || !strings.Contains(stderr, "--within 20s: --without teacher-reg, about ") || !regexp.MustCompile(`\| two +\| 1 +\|`).MatchString(stdout) {
		t.Errorf("exit code %d, %s%s; want the cell on linear alone", code, stdout, stderr)
	}
}

// Longer chains are named only where a study has such chains.
func TestWithinNamesNoSamplesWithoutEffect(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	t.Setenv("HAMBENCH_DATA", "")
	out := t.TempDir()
	code, _, stderr := call(t, "reproduce", "--only", "toy", "--within", "1h", "--dry-run", "--out", out)
	if code != exitOK || !strings.Contains(stderr, "--within 1h0m0s: --profile ") || strings.Contains(stderr, "--samples") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
