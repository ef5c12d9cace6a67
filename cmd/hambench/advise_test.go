package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hambench/certify"
)

// A file of one's own is a data set, on which the linear model is taken for what it is,
// and the chain that is named runs.
func TestAdviceOnAFile(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	file := filepath.Join(t.TempDir(), "line.csv")
	var text strings.Builder
	text.WriteString("x,z,y\n")
	for i := range 40 {
		x := float64(i) / 10
		fmt.Fprintf(&text, "%g,%g,%g\n", x, math.Cos(float64(i)), 2*x+math.Sin(7*float64(i)))
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	on := []string{"--dataset", file, "--noise", "0.1", "--model", "linear", "--batch", "18"}
	code, stdout, stderr := call(t, append([]string{"advise", "--budget", "1000", "--friction", "3", "--json"}, on...)...)
	var advice certify.Advice
	if err := json.Unmarshal([]byte(stdout), &advice); err != nil || code != exitOK {
		t.Fatalf("exit code %d, %v, %s", code, err, stderr)
	}
	if advice.Problem != "linear on line" || advice.K != 2 || advice.Friction != 3 || len(advice.Best) == 0 || strings.Contains(strings.Join(advice.Assumed, "\n"), "linearisation") {
		t.Errorf("advice %+v", advice)
	}
	best := advice.Best[0]
	code, stdout, stderr = call(t, append([]string{"sample", "--friction", "3", "--integrator", best.Integrator, "--estimator", best.Estimator, "--scheme", best.Scheme,
		"--h", fmt.Sprint(best.Step), "--samples", "10"}, on...)...)
	if code != exitOK || strings.Count(stdout, "\n") != 11 {
		t.Errorf("the chain that is named: exit code %d, %q, %s", code, stdout, stderr)
	}
}
