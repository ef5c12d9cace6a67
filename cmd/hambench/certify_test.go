package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
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
	args = []string{"certify", "--problem", "crossing", "--integrator", "quicsort", "--scheme", "reshuffle", "--strict"}
	if code, _, stderr := call(t, args...); code != exitFailed || !strings.Contains(stderr, "4 predictions alone, 0 of steps without a law, or of no sampler") {
		t.Errorf("exit code %d, %s: want 1 with the number of predictions", code, stderr)
	}
}

// What of crossing valleys has no exact errors is refused with one line.
func TestCertifyRefusesWhatACrossingLacks(t *testing.T) {
	for _, more := range [][]string{{"--scheme", "full"}, {"--stability"}, {"--distance"}, {"--energy"}, {"--budget", "100"}, {"--mass", "1,2"}, {"--integrator", "exact"}} {
		code, _, stderr := call(t, append([]string{"certify", "--problem", "crossing"}, more...)...)
		lines := strings.Count(stderr, "\n") - strings.Count(stderr, "note: predictions alone:") - strings.Count(stderr, "note: left out:")
		if code != exitUsage || lines != 1 {
			t.Errorf("%v: exit code %d, %q: want one line", more, code, stderr)
		}
	}
}

// What is left out of a problem is said once, though another process's sampler and integrators
// that are named are certified one after another.
func TestNotesOnSchemesAreGivenOnce(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not on this machine")
	}
	batches := strings.Repeat(`{"precision": [[1]], "shift": [1]},`, 10)
	problem := `{"kind": "gaussian", "friction": 1, "batches": [` + strings.TrimSuffix(batches, ",") + `]}`
	code, _, stderr := call(t, "certify", "--problem", problem, "--steps", "0.1", "--integrator", "baoab",
		"--exec", "python3 ../../certify/testdata/sampler.py sgld:1")
	if code != exitOK || strings.Count(stderr, "note: predictions alone:") != 1 {
		t.Errorf("exit code %d, %q: want one note", code, stderr)
	}
}

// A command from a variable that is not set would otherwise certify the program's own integrators.
func TestCertifyRefusesAnEmptyCommand(t *testing.T) {
	code, out, stderr := call(t, "certify", "--problem", "gaussian", "--exec", "")
	if want := `hambench: certify: --exec "": want the command of a sampler` + "\n"; code != exitUsage || out != "" || stderr != want {
		t.Errorf("exit code %d, %q, %q: want %q", code, out, stderr, want)
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

// With M = 4I the chain of r' = r/2 in the time t' = t/2 is that of M = I with half
// of the friction and of the step.
func TestMassIsAChangeOfUnits(t *testing.T) {
	errors := func(friction, step string, more ...string) (names []string, errors [][]certify.Number) {
		problem := `{"kind": "gaussian", "friction": ` + friction + `, "batches": [
			{"precision": [[2.0, 0.3], [0.3, 1.5]], "shift": [1.0, -0.5]}, {"precision": [[1.0, 0.0], [0.0, 2.5]], "shift": [0.0, 0.7]}]}`
		code, stdout, stderr := call(t, append([]string{"certify", "--problem", problem, "--integrator", "leapfrog,mt3,ubu,split:BAOAB",
			"--scheme", "full,reshuffle", "--steps", step, "--json"}, more...)...)
		var rows []certify.Row
		if err := json.Unmarshal([]byte(stdout), &rows); code != exitOK || err != nil {
			t.Fatalf("exit code %d, %v, %s", code, err, stderr)
		}
		for _, r := range rows {
			names = append(names, r.Problem)
			for _, o := range r.Observables {
				if strings.HasPrefix(o.Name, "theta") {
					errors = append(errors, o.Errors)
				}
			}
		}
		return names, errors
	}
	_, want := errors("1", "0.1,0.05")
	names, got := errors("2", "0.2,0.1", "--mass", "4,4")
	if names[0] != "given, M = diag(4,4)" || len(got) != 16 || len(got) != len(want) {
		t.Fatalf("problem %q, %d observables: want the mass in the name, 16 observables", names[0], len(got))
	}
	for i := range want {
		for j, w := range want[i] {
			if math.Abs(float64(got[i][j]-w)) > 1e-12 {
				t.Errorf("observable %d: error %g, want %g", i, got[i][j], w)
			}
		}
	}
}

func TestProgressSaysWhatIsLeft(t *testing.T) {
	for _, c := range []struct {
		share, already float64
		elapsed, since time.Duration
		want           string
	}{
		{0.25, 0, 10 * time.Second, 10 * time.Second, "certify: 25 %, 10s elapsed, about 30s left"},
		{0.35, 0.1, 60 * time.Second, 10 * time.Second, "certify: 35 %, 1m0s elapsed, about 26s left"}, // after 50 s of something else
		{0.1, 0.1, 50 * time.Second, 0, "certify: 10 %, 50s elapsed"},
	} {
		if got := progressLine("certify", c.share, c.already, c.elapsed, c.since); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// manyBatches is a problem of k batches that differ.
func manyBatches(k int) string {
	var batches []string
	for i := range k {
		batches = append(batches, fmt.Sprintf(`{"precision": [[%d]], "shift": [%d]}`, 1+i%3, i%2))
	}
	return `{"kind": "gaussian", "friction": 1.5, "batches": [` + strings.Join(batches, ", ") + `]}`
}

// Of schemes with too many orders of the batches constants are predicted, and nothing else is
// known: what asks for more leaves them out. Both is said.
func TestSchemesOfTooManyOrders(t *testing.T) {
	args := []string{"certify", "--integrator", "leapfrog", "--steps", "0.1", "--problem", manyBatches(15)}
	code, stdout, _ := call(t, append(args, "--stability")...)
	if code != 0 || strings.Contains(stdout, "reshuffle") || !strings.Contains(stdout, "cyclic") {
		t.Errorf("the largest stable step: exit code %d, output %s", code, stdout)
	}
	code, stdout, stderr := call(t, args...)
	for _, line := range strings.Split(stdout, "\n") {
		random := strings.Contains(line, "| reshuffle") || strings.Contains(line, "| symmetric")
		if alone := strings.Contains(line, string(certify.Alone)+" |"); code != 0 || alone != random {
			t.Errorf("exit code %d, %s", code, line)
		}
	}
	for _, want := range []string{`"reshuffle" with K = 15 batches: exact orders need K at most 14`, `"symmetric" with K = 15 batches: exact orders need K at most 9`} {
		if !strings.Contains(stderr, want) {
			t.Errorf("standard error lacks %q: %s", want, stderr)
		}
	}
}

// The best chain for a budget is named, over integrators, estimators and schemes.
func TestBudgetsNameTheBestChain(t *testing.T) {
	args := []string{"certify", "--problem", "toy", "--integrator", "lietrotter,leapfrog", "--estimator", "plain,saga", "--scheme", "full,replacement", "--steps", "0.1", "--budget", "1000"}
	code, stdout, stderr := call(t, args...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	code, encoded, stderr := call(t, append(args, "--json")...)
	var rows []certify.Row
	if err := json.Unmarshal([]byte(encoded), &rows); code != 0 || err != nil {
		t.Fatal(code, err, stderr)
	}
	if len(rows) != 2*2*2 {
		t.Fatalf("%d rows: want 8", len(rows))
	}
	var best certify.Row
	for _, r := range rows {
		if best.Budgets == nil || r.Budgets[0].Best < best.Budgets[0].Best {
			best = r
		}
	}
	best.Estimator = strings.TrimPrefix(best.Estimator, "plain")
	want := fmt.Sprintf("best for 1000 gradients on toy: %s under %s, step %.4g,", best.Name(), best.Scheme, float64(best.Budgets[0].Step))
	if strings.Count(stdout, "best for") != 1 || !strings.Contains(stdout, want) {
		t.Errorf("output lacks %q: %s", want, stdout)
	}
	for i, r := range certify.Rank(rows, 0)[1:] {
		if before := certify.Rank(rows, 0)[i]; before.Budgets[0].Best > r.Budgets[0].Best {
			t.Errorf("rank %d: %g comes before %g", i, before.Budgets[0].Best, r.Budgets[0].Best)
		}
	}
}

// A run that certifies nothing is bad input, and no success of --strict.
func TestNothingToCertifyIsNoSuccess(t *testing.T) {
	t.Chdir(t.TempDir())
	const sampler = `import sys, json
for line in sys.stdin:
    variables = [{"name": n, "deviation": 1} for n in "abc"]
    print(json.dumps({"name": "mine", "version": 1, "state": 5, "normals": 1, "batches": 1, "auxiliary": variables}), flush=True)
`
	if err := os.WriteFile("mine.py", []byte(sampler), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call(t, "certify", "--exec", "python3 mine.py", "--strict")
	if code != exitUsage || !strings.Contains(stderr, "nothing to certify") || stdout != "" {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
}
