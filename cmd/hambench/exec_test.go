package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"hambench/internal/long"
)

// marker is in the environment of every child of these tests.
const marker = "HAMBENCH_TEST_CHILD"

// Children that do not keep to the protocol get one line and exit code 2, and
// leave no process behind.
func TestBrokenChildrenAreNamedInOneLine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("children are shell scripts")
	}
	// After a good hello, what the child does when it is asked for a step.
	then := func(script string) string { return `read x; echo '{"name":"x"}'; read x; ` + script }
	say := func(s string) string { return `printf '%s\n' '` + s + `'; read x` }
	states := func(s string) string { return then(say(`{"states":` + s + `}`)) }
	hello := func(s string) string { return `read x; ` + say(s) }
	for _, tt := range []struct{ name, command, want string }{
		{"silent", `sleep 1000`, "no answer to hello within 500ms"},
		{"silent, and says why", `echo compiling >&2; sleep 1000`, "on standard error: compiling"},
		{"slow", `sleep 30; echo '{"name":"x"}'`, "no answer to hello"},
		{"silent when a step is asked for", then(`sleep 1000`), "no answer to step"},
		{"does not read", then(`sleep 1000 < /dev/null`), "no answer to step"},
		{"closes its output", `exec >&-; sleep 1000`, "ended before it answered hello"},
		{"no such command", `no-such-command`, "not found"},
		{"a shell that does not exist", "", "cannot be started"},
		{"no command", ` `, `--exec " ": want the command of a sampler`},
		{"ends at once", `true`, "ended before it answered hello, with exit code 0"},
		{"fails with a trace", `echo Traceback >&2; echo 'No module named x' >&2; exit 3`, "exit status 3; on standard error: No module named x"},
		{"killed half-way", then(`kill -9 $$`), "signal: killed"},
		{"half a line", then(`printf '{"states":['`), "not an object in JSON"},
		{"text on standard output", `echo Loading the model; cat`, `not an object in JSON: "Loading the model"`},
		{"text before an answer", then(`echo 'step 1'; read x`), "step 1"},
		{"an array", hello(`[1, 2]`), "not an object"},
		{"an empty line", hello(``), "not an object"},
		{"the protocol of the future", hello(`{"version":2,"name":"x"}`), "version 2 of the protocol: want 1"},
		{"refuses", hello(`{"error":"only version 7"}`), "only version 7"},
		{"refuses a step", then(say(`{"error":"no\nCUDA device"}`)), "no CUDA device"},
		{"an unknown key", hello(`{"name":"x","normal":2}`), `unknown field "normal"`},
		{"no name", hello(`{"state":2}`), `name "": want`},
		{"a name of two lines", hello(`{"name":"a\nb"}`), "printable characters"},
		{"no state", hello(`{"name":"x","state":0}`), "state 0: want 1"},
		{"normals below 0", hello(`{"name":"x","normals":-1}`), "normals -1: want"},
		{"no batches", hello(`{"name":"x","batches":0}`), "batches 0: want"},
		{"too many batches", hello(`{"name":"x","batches":1000000000}`), "batches 1000000000: want 1 to 4096"},
		{"a claim below 0", hello(`{"name":"x","claims":{"joint":-2}}`), "claim -2"},
		{"a word for a number", hello(`{"name":"x","state":"two"}`), "cannot unmarshal string"},
		{"no states", then(`echo '{}'; read x`), "0 states: want"},
		{"too few states", states(`[[[0,0],[0,0]]]`), "1 states: want"},
		{"too few vectors", states(`[` + strings.Repeat(`[[0,0]],`, 8) + `[[0,0]]]`), "a state has 1 vectors: want 2"},
		{"too short a vector", states(`[` + strings.Repeat(`[[0],[0]],`, 8) + `[[0],[0]]]`), "a vector has 1 numbers: want 2"},
		{"NaN", states(`[[[NaN,0],[0,0]]]`), "not finite"},
		{"null", states(`[` + strings.Repeat(`[[null,0],[0,0]],`, 8) + `[[0,0],[0,0]]]`), "want finite numbers"},
		{"a number too large", states(`[[[1e999,0],[0,0]]]`), "want finite numbers"},
		{"leaves a process behind", `sleep 1000 >&2 & read x; exit 1`, "exit status 1"},
		{"leaves one behind that holds its output", `sleep 1000 & read x; exit 1`, "no answer to hello"},
		{"draws numbers of its own", `i=0; while read x; do i=$((i+1)); case $x in *hello*) echo '{"name":"x"}';; *) printf '{"states":['; for k in 1 2 3 4 5 6 7 8; do printf '[[%s,0],[0,0]],' $i; done; echo '[[0,0],[0,0]]]}';; esac; done`, "draws no numbers of its own"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fails(t, tt.command, tt.want, "certify", "--problem", "gaussian", "--scheme", "full,replacement", "--exec")
		})
	}
}

// The same of models.
func TestBrokenModelsAreNamedInOneLine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("children are shell scripts")
	}
	say := func(s string) string { return `printf '%s\n' '` + s + `'; read x` }
	hello := func(s string) string { return `read x; ` + say(s) }
	// After a good hello, what the child does when it is asked for a gradient.
	then := func(script string) string { return `read x; echo '{"name":"x","dim":2,"rows":3}'; read x; ` + script }
	// What it says there; a potential is 0.
	values := func(s string) string {
		return then(`echo '{"values":` + s + `}'; while read x; do echo '{"values":[[0]]}'; done`)
	}
	for _, tt := range []struct{ name, command, want string }{
		{"silent", `sleep 1000`, "no answer to hello within 500ms"},
		{"silent, and says why", `echo compiling >&2; sleep 1000`, "on standard error: compiling"},
		{"slow", `sleep 30; echo '{"name":"x","dim":2,"rows":3}'`, "no answer to hello"},
		{"silent when a gradient is asked for", then(`sleep 1000`), "no answer to gradient"},
		{"does not read", then(`sleep 1000 < /dev/null`), "no answer to gradient"},
		{"closes its output", `exec >&-; sleep 1000`, "ended before it answered hello"},
		{"no such command", `no-such-command`, "not found"},
		{"no command", ` `, "model exec without a command"},
		{"a shell that does not exist", "", "cannot be started"},
		{"ends at once", `true`, "ended before it answered hello, with exit code 0"},
		{"fails with a trace", `echo Traceback >&2; echo 'No module named x' >&2; exit 3`, "exit status 3; on standard error: No module named x"},
		{"killed half-way", then(`kill -9 $$`), "signal: killed"},
		{"half a line", then(`printf '{"values":['`), "not an object in JSON"},
		{"text on standard output", `echo Loading the model; cat`, `not an object in JSON: "Loading the model"`},
		{"text before an answer", then(`echo 'epoch 1'; read x`), "epoch 1"},
		{"an array", hello(`[1, 2]`), "not an object"},
		{"an empty line", hello(``), "not an object"},
		{"the protocol of the future", hello(`{"version":2,"name":"x","dim":2,"rows":3}`), "version 2 of the protocol: want 1"},
		{"refuses", hello(`{"error":"want a data set"}`), "want a data set"},
		{"refuses a gradient", then(say(`{"error":"no\nCUDA device"}`)), "no CUDA device"},
		{"a sampler", hello(`{"name":"x","state":2,"normals":1}`), `unknown field "state"`},
		{"no name", hello(`{"dim":2,"rows":3}`), `name "": want`},
		{"no dimension", hello(`{"name":"x","rows":3}`), "dim 0: want 1 to 10000000 parameters"},
		{"no rows", hello(`{"name":"x","dim":2}`), "rows 0: want 1 to 100000000"},
		{"parameters beyond all memory", hello(`{"name":"x","dim":1000000000000,"rows":3}`), "dim 1000000000000: want 1 to 10000000 parameters"},
		{"rows beyond all memory", hello(`{"name":"x","dim":2,"rows":4611686018427387904}`), "rows 4611686018427387904: want 1 to 100000000"},
		{"outputs beyond all memory", hello(`{"name":"x","dim":2,"rows":3,"outputs":1000000000000}`), "outputs 1000000000000: want 0 to 10000000"},
		{"outputs below 0", hello(`{"name":"x","dim":2,"rows":3,"outputs":-1}`), "outputs -1"},
		{"a word for a number", hello(`{"name":"x","dim":"two"}`), "cannot unmarshal string"},
		{"no values", then(`echo '{}'; read x`), "the answer to gradient has 0 vectors, of 0 numbers together: want 1 of 2"},
		{"too many vectors", values(`[[0,0],[0,0]]`), "has 2 vectors, of 4 numbers"},
		{"too short a gradient", values(`[[0]]`), "has 1 vectors, of 1 numbers together: want 1 of 2"},
		{"NaN", values(`[[NaN,0]]`), "not finite"},
		{"null at the start", values(`[[null,0]]`), "not finite at a random position"},
		{"a number too large", values(`[[1e999,0]]`), "want finite numbers"},
		{"numbers as text", values(`[["1","2"]]`), "want finite numbers"},
		{"the gradient of another potential", values(`[[1,1]]`), "gradient is not that of the potential"},
		{"leaves a process behind", `sleep 1000 >&2 & read x; exit 1`, "exit status 1"},
		{"leaves one behind that holds its output", `sleep 1000 & read x; exit 1`, "no answer to hello"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fails(t, tt.command, tt.want, "sample", "--model")
		})
	}
}

// A study on a model in Python: when its process ends half-way, so does the run,
// with one line; the same command goes on, and then there is nothing to do. A
// model that was changed has other keys.
func TestAStudyOfAnExternalModel(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not on this machine")
	}
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	model, err := os.ReadFile("../../models/testdata/model.py")
	if err != nil {
		t.Fatal(err)
	}
	write("model.py", string(model))
	write("mine.toml", `
[vary]
step = [0.1, 0.2]
[fix]
data = "none"
model = "exec:python3 model.py toy"
integrator = "baoab"
K = 2
samples = 20
[reference]
chains = 4
samples = 20
thin = 20
burn = 20
step = 0.1
[figure]
x = "step"
y = "distance"
`)
	t.Setenv(marker, "1")
	study, out := filepath.Join(folder, "mine.toml"), filepath.Join(folder, "out")
	if code, stdout, _ := call(t, "run", study, "--out", out, "--dry-run"); code != 0 || !strings.Contains(stdout, "in other processes take is not counted") {
		t.Errorf("dry run: exit code %d, %s: want a word on the model's own time", code, stdout)
	}
	t.Setenv("DIES_AFTER", "3000")
	code, _, log := call(t, "run", study, "--out", out, "--workers", "2")
	last := strings.Split(strings.TrimSpace(log), "\n")
	if want := regexp.MustCompile(`ended with \d of 3 jobs in .*: the same command continues there: python3 model.py toy: ended before it answered \w+, with exit status 1; on standard error: out of memory$`); code != exitUsage || !want.MatchString(last[len(last)-1]) || strings.Count(log, "out of memory") != 1 {
		t.Errorf("exit code %d, %s: want code 2 and one line with %v", code, log, want)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	t.Setenv("DIES_AFTER", "0")
	// 80 draws of one dimension are reference enough: the run ends without a complaint.
	for _, want := range []string{"cells: computed 2", "nothing was computed"} {
		if code, stdout, log := call(t, "run", study, "--out", out); code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit code %d, %s%s: want %q", code, stdout, log, want)
		}
	}
	many, err := os.ReadFile(study)
	if err != nil {
		t.Fatal(err)
	}
	write("many.toml", strings.Replace(string(many), "K = 2", "K = 400", 1))
	if code, _, log := call(t, "run", filepath.Join(folder, "many.toml"), "--out", out, "--dry-run"); code != exitUsage || !strings.Contains(log, "K = 400: model \"exec:python3 model.py toy\" has 2 training rows") {
		t.Errorf("more batches than rows: exit code %d, %s", code, log)
	}
	write("model.py", string(model)+"\n")
	if code, _, log := call(t, "run", study, "--out", out, "--check"); code != exitFailed || !strings.Contains(log, "2 jobs are missing") {
		t.Errorf("the model was changed: exit code %d, %s: want 2 jobs that are missing", code, log)
	}
}

// fails runs a command with a broken child, whose own command comes last ("" has
// no shell): it ends in one line, with exit code 2, and leaves no process behind.
func fails(t *testing.T, child, want string, args ...string) {
	t.Helper()
	t.Setenv(marker, "1")
	if child == "" {
		child = "true"
		t.Setenv("PATH", t.TempDir())
	}
	if args[0] == "sample" {
		child = "exec:" + strings.TrimSpace(child)
	}
	var out, log bytes.Buffer
	start := time.Now()
	code := run(t.Context(), &out, &log, append(args, child, "--exec-timeout", "500ms"))
	if message := log.String(); code != exitUsage || strings.Count(message, "\n") != 1 || !strings.Contains(message, want) || out.Len() > 0 {
		t.Errorf("exit code %d, standard output %q, standard error %q: want code 2 and one line with %q", code, out.String(), message, want)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("it took %s", d)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// The commands of docs/samplers.md work, from the top of the tree.
func TestCommandsOfTheSamplersPage(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not on this machine")
	}
	page, err := os.ReadFile("../../docs/samplers.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../..")
	commands := regexp.MustCompile(`(?m)^bin/hambench (.*)$`).FindAllStringSubmatch(string(page), -1)
	if len(commands) == 0 {
		t.Fatal("the page shows no command")
	}
	for _, c := range commands {
		words, err := exec.Command("sh", "-c", `printf '%s\n' `+c[1]).Output()
		if err != nil {
			t.Fatal(err)
		}
		code, out, log := call(t, strings.Split(strings.TrimSuffix(string(words), "\n"), "\n")...)
		want := []string{"their-", `took \d+ steps in \d+ calls`}
		if strings.HasPrefix(c[1], "sample") {
			want = []string{"sample,theta0", `\d+ draws, \d+ steps`}
		}
		if code != exitOK || !strings.Contains(out, want[0]) || !regexp.MustCompile(want[1]).MatchString(log) {
			t.Errorf("%s: exit code %d, %s", c[0], code, log)
		}
	}
}

// What the Python package promises that needs nothing but Python.
func TestLongPythonPackage(t *testing.T) {
	long.Test(t)
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import sys; sys.exit(sys.version_info < (3, 10))").Run() != nil {
		t.Skip("no Python of version 3.10 or newer is on this machine")
	}
	program := driverIn(t, t.TempDir())
	folder, err := filepath.Abs("../../python")
	if err != nil {
		t.Fatal(err)
	}
	smoke := exec.Command(python, "-B", filepath.Join(folder, "tests", "test_smoke.py"))
	smoke.Env = append(os.Environ(), "HAMBENCH="+program, "PYTHONPATH="+folder)
	if out, err := smoke.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("OK")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// children are the running processes that have the marker in their environment,
// where the system shows that.
func children(t *testing.T) []string {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		var left []string
		all, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range all {
			text, err := os.ReadFile(path)
			if err == nil && bytes.Contains(text, []byte(marker+"=1")) && filepath.Base(filepath.Dir(path)) != fmt.Sprint(os.Getpid()) {
				command, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
				left = append(left, string(command))
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(20 * time.Millisecond) // a killed process may not be gone yet
	}
}
