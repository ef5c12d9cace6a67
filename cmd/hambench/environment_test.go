package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hambench/models/datasets"
)

// A bad environment is one line and exit code 2, whatever the command, and
// leaves nothing behind.
func TestBadEnvironmentIsOneLineAndExitCode2(t *testing.T) {
	driver, dir := driverIn(t, t.TempDir()), t.TempDir()
	out, file := filepath.Join(dir, "out"), filepath.Join(dir, "file")
	data := filepath.Join(dir, "data")
	for path, text := range map[string]string{
		file: "", filepath.Join(data, "boston", "data.txt"): "1 2 3\n", filepath.Join(data, "yacht", "data.txt", "below"): "",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	toy := []string{"sample", "--model", "toy", "--samples", "2", "--h", "0.1"}
	for _, c := range []struct {
		reason string
		env    []string
		args   []string
		want   string
	}{
		{"an unknown instruction set", []string{"HAMBENCH_ISA=sse9"}, toy, `HAMBENCH_ISA: unknown instruction set "sse9": want one of`},
		{"for a run", []string{"HAMBENCH_ISA=sse9"}, []string{"reproduce", "--only", "toy", "--out", out}, "HAMBENCH_ISA"},
		{"for a certificate", []string{"HAMBENCH_ISA=sse9"}, []string{"certify", "--problem", "gaussian"}, "HAMBENCH_ISA"},
		{"for a reference", []string{"HAMBENCH_ISA=sse9"}, []string{"judge", "--checks", "--dataset", "teacher-reg", "--out", out}, "HAMBENCH_ISA"},
		{"for the version", []string{"HAMBENCH_ISA=sse9"}, []string{"--version"}, "HAMBENCH_ISA"},
		{"an instruction set in capitals", []string{"HAMBENCH_ISA=AVX2"}, toy, `unknown instruction set "AVX2"`},
		{"an instruction set of blanks", []string{"HAMBENCH_ISA= "}, toy, `unknown instruction set " "`},
		{"two instruction sets", []string{"HAMBENCH_ISA=avx2,generic"}, toy, `unknown instruction set "avx2,generic"`},
		{"an instruction set that the machine lacks", []string{"HAMBENCH_ISA=avx2", "GODEBUG=cpu.avx2=off"}, toy, "this machine lacks it: want one of generic"},
		{"a wider one that the machine lacks", []string{"HAMBENCH_ISA=avx512", "GODEBUG=cpu.avx512f=off"}, toy, "this machine lacks it: want one of"},
		{"a data folder that is not there", []string{"HAMBENCH_DATA=" + dir + "/nowhere"}, []string{"data", "list"}, `nowhere" (HAMBENCH_DATA) does not exist`},
		{"a data folder that is a file", []string{"HAMBENCH_DATA=" + file}, []string{"data", "list"}, `file" (HAMBENCH_DATA) is not a folder`},
		{"a data folder below a file", []string{"HAMBENCH_DATA=" + file + "/x"}, []string{"sample", "--dataset", "boston"}, "(HAMBENCH_DATA)"},
		{"for a run", []string{"HAMBENCH_DATA=" + file}, []string{"reproduce", "--only", "methods", "--out", out}, "is not a folder"},
		{"a damaged file in the data folder", []string{"HAMBENCH_DATA=" + data}, []string{"sample", "--dataset", "boston"}, "boston/data.txt: line 1: 3 columns: want 14"},
		{"a folder for a file in the data folder", []string{"HAMBENCH_DATA=" + data}, []string{"sample", "--dataset", "yacht"}, "is a directory"},
	} {
		cmd := exec.Command(driver, c.args...)
		cmd.Env = append([]string{"HAMBENCH_OFFLINE=1", "HOME=" + dir, "PATH=" + os.Getenv("PATH")}, c.env...)
		cmd.Dir = dir
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != exitUsage {
			t.Errorf("%s (%v %v): %v, want exit code 2; %s", c.reason, c.env, c.args, err, stderr.String())
		}
		if said := stderr.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, c.want) || stdout.Len() > 0 {
			t.Errorf("%s (%v %v): standard error %q, standard output %q; want one line with %q", c.reason, c.env, c.args, said, stdout.String(), c.want)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v, error %v: want data and file alone, as before", entries, err)
	}
}

// Environments that look odd and are fine.
func TestGoodEnvironment(t *testing.T) {
	driver, dir := driverIn(t, t.TempDir()), t.TempDir()
	toy := []string{"sample", "--model", "toy", "--samples", "2", "--h", "0.1"}
	for _, c := range []struct {
		reason string
		env    []string
		args   []string
	}{
		{"an empty instruction set is the machine's own", []string{"HAMBENCH_ISA="}, toy},
		{"plain Go is everywhere", []string{"HAMBENCH_ISA=generic"}, toy},
		{"a narrower machine chooses for itself", []string{"GODEBUG=cpu.avx2=off,cpu.avx512f=off"}, toy},
		{"the flag comes before a bad variable", []string{"HAMBENCH_DATA=" + dir + "/nowhere"}, []string{"data", "list", "toy", "--data", dir}},
		{"built-in sets need neither home nor network", []string{"HAMBENCH_OFFLINE=yes"}, toy},
	} {
		cmd := exec.Command(driver, c.args...)
		cmd.Env = c.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s (%v): %v: %s", c.reason, c.env, err, out)
		}
	}
}

// Data that cannot be fetched are no mistake of the user's: exit code 1 and
// one line that says why.
func TestUnusableNetworkIsOneLine(t *testing.T) {
	t.Setenv(datasets.EnvData, "")
	t.Setenv(datasets.EnvOffline, "0")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1") // read once in a process: no other test has a proxy
	code, stdout, stderr := call(t, "sample", "--dataset", "yacht")
	if code != exitFailed || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "hambench data fetch yacht") {
		t.Errorf("exit code %d, standard output %q, standard error %q; want 1 and one line that names the command", code, stdout, stderr)
	}
}

// A fetch that is interrupted is no success, whether or not what it was about to load is there.
func TestInterruptedFetchFails(t *testing.T) {
	t.Setenv(datasets.EnvOffline, "1")
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := run(interrupted, &stdout, &stderr, []string{"data", "fetch", "toy", "boston"})
	if code != exitInterrupted || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("exit code %d, %q, %q: want one line that says so", code, stdout.String(), stderr.String())
	}
}

// Every flag that takes a value refuses a bad one. The runs are interrupted
// before they begin: a bad value that is accepted shows as another exit code.
func TestEveryFlagRefusesBadValues(t *testing.T) {
	t.Setenv(datasets.EnvOffline, "1")
	t.Setenv(datasets.EnvData, "")
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	good := filepath.Join(dir, "good.json")
	code, stdout, stderr := call(t, "certify", "--problem", "gaussian", "--integrator", "leapfrog", "--scheme", "full", "--json")
	if code != exitOK || os.WriteFile(good, []byte(stdout), 0o644) != nil {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	sample := []string{"sample", "--model", "toy", "--h", "0.1", "--samples", "2"}
	certify := []string{"certify", "--problem", "gaussian", "--integrator", "leapfrog", "--scheme", "full"}
	reproduce := []string{"reproduce", "--only", "toy", "--out", out}
	gate := []string{"gate", good, good}
	for _, c := range []struct {
		base   []string
		values [][]string
	}{
		{sample, [][]string{
			{"--split", "one"}, {"--split", "-1"}, {"--split", "1"}, {"--K", "-1"}, {"--K", "1.5"}, {"--batch", "-1"}, {"--batch", "3"}, {"--nl", "-1"},
			{"--samples", "-5"}, {"--samples", "1e3"}, {"--samples", "99999999999999999999"}, {"--thin", "-1"}, {"--burn", "-2"}, {"--burn", "x"},
			{"--seed", "-1"}, {"--seed", "1.5"}, {"--seed", "18446744073709551616"}, {"--h", "Inf"}, {"--h", "1e999"}, {"--h", ""}, {"--friction", "-1"},
			{"--friction", "NaN"}, {"--friction", "C"}, {"--precision", ""}, {"--precision", "float16"}, {"--format", ""}, {"--format", "JSON"},
			{"--integrator", ""}, {"--integrator", "split:"}, {"--integrator", "split:ba"}, {"--scheme", "Full"}, {"--model", "toy2"}, {"--dataset", "bostn"},
			{"--data", filepath.Join(dir, "nowhere")}, {"--data", good}, {"--predictions=maybe"},
		}},
		{certify, [][]string{
			{"--steps", "0"}, {"--steps", "-0.1"}, {"--steps", "NaN"}, {"--steps", "Inf"}, {"--steps", "0.1,"}, {"--steps", "0.1;0.05"}, {"--steps", ","},
			{"--observe", ""}, {"--observe", "never"}, {"--nl", "0"}, {"--nl", "x"}, {"--integrator", "leapfrog,"}, {"--integrator", "leapfrog,leap"},
			{"--scheme", "window"}, {"--scheme", ","}, {"--problem", dir}, {"--problem", good}, {"--json=2"},
		}},
		{reproduce, [][]string{
			{"--profile", ""}, {"--profile", "Quick"}, {"--only", "toy,toys"}, {"--only", ","}, {"--workers", "-1"}, {"--workers", "two"},
			{"--out", ""},
			{"--only", "toy,"}, {"--datasets", "boson"}, {"--datasets", ","}, {"--precision", "float16"}, {"--data", good}, {"--check=perhaps"},
		}},
		{gate, [][]string{
			{"--order", "-1"}, {"--order", "NaN"}, {"--constant", "-0.1"}, {"--constant", "x"}, {"--alpha", "-0.5"}, {"--alpha", "2"}, {"--alpha", "NaN"},
			{"--distance", "-1"}, {"--distance", "NaN"}, {"--distance", "Inf"},
		}},
		{[]string{"export", "--out", out}, [][]string{{"--format", "xml"}, {"--profile", "x"}, {"--only", "x"}}},
		{[]string{"claims", "--out", out}, [][]string{{"--format", "xml"}, {"--profile", "x"}}},
		{[]string{"judge", "--checks", "--dataset", "teacher-reg", "--out", out}, [][]string{{"--split", "-1"}, {"--split", "x"}, {"--workers", "0"}, {"--dataset", ""}, {"--precision", "half"}}},
		{[]string{"slurm", "--only", "toy", "--dry-run", "--out", out}, [][]string{
			{"--array", "0"}, {"--array", "-1"}, {"--cpus-per-task", "0"}, {"--profile", "x"}, {"--data", good},
		}},
	} {
		for _, v := range c.values {
			args := append(append([]string{}, c.base...), v...)
			var stdout, stderr bytes.Buffer
			code := run(interrupted, &stdout, &stderr, args)
			if code != exitUsage || stdout.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 {
				t.Errorf("%v: exit code %d, standard output %.200q, standard error %q; want 2 and one line", args, code, stdout.String(), stderr.String())
			}
			if _, err := os.Stat(out); err == nil {
				t.Errorf("%v: made %s", args, out)
				os.RemoveAll(out)
			}
		}
	}
}
