//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The worker answers with gradients that agree, and a chain in equilibrium.
func TestServe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "problem.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"problem"}, nil, f); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		precision string
		// Round-off, in the last bias's gradient above all: a sum of
		// residuals that cancel. Float32's is what peers are held to.
		tolerance float64
	}{{"float32", 1e-4}, {"float64", 1e-12}} {
		var out strings.Builder
		requests := "check 8\ncheck 32\ncheck 128\ncheck 455\nheat 455\n"
		if err := run([]string{"serve", path, c.precision}, strings.NewReader(requests), &out); err != nil {
			t.Fatal(err)
		}
		answers := strings.Fields(out.String())
		if len(answers) != 5 {
			t.Fatalf("%s: answers %q: want 5", c.precision, answers)
		}
		for i, a := range answers {
			v, err := strconv.ParseFloat(a, 64)
			if err != nil {
				t.Fatal(err)
			}
			if i < 4 && !(v < c.tolerance) {
				t.Errorf("%s: gradient %d differs by %g: want less than %g", c.precision, i, v, c.tolerance)
			}
			// The mean of 8401 squares varies by 0.015, of which 0.1 is more than six: fewer than
			// one seed in a billion is outside. Seeds are pinned.
			if i == 4 && !(v > 0.9 && v < 1.1) {
				t.Errorf("%s: mean squared momentum %g: want 0.9 to 1.1", c.precision, v)
			}
		}
	}
	plantBug(t, path)
}

// The problem with published times has its size, and the same answers.
func TestServePublished(t *testing.T) {
	path := filepath.Join(t.TempDir(), "problem.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"problem", "published"}, nil, f); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run([]string{"serve", path, "float32"}, strings.NewReader("check 1202\n"), &out); err != nil {
		t.Fatal(err)
	}
	if v, err := strconv.ParseFloat(strings.TrimSpace(out.String()), 64); err != nil || !(v < 1e-4) {
		t.Errorf("gradient differs by %q, error %v: want less than 1e-4", out.String(), err)
	}
	p, err := readProblem(path)
	if err != nil {
		t.Fatal(err)
	}
	// 5 inputs, four layers of 16 and an output, with biases.
	if got, want := len(p.Theta), 6*16+3*17*16+17; got != want || len(p.Y) != 1202 {
		t.Errorf("%d parameters, %d rows: want %d, 1202", got, len(p.Y), want)
	}
}

// plantBug is the negative control: a wrong last bias, one number of 8401,
// must show.
func plantBug(t *testing.T, path string) {
	p, err := readProblem(path)
	if err != nil {
		t.Fatal(err)
	}
	g := p.Cases[0].Gradient
	g[len(g)-1] *= 1.001
	s, err := newServer(p, "float64")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.answer("check 8"); err != nil || v < 5e-4 {
		t.Errorf("a wrong bias: disagreement %g, error %v: want at least 5e-4", v, err)
	}
}

func TestClocks(t *testing.T) {
	for _, name := range []string{"", "wall", "processor"} {
		clock, err := namedClock(name)
		if err != nil {
			t.Fatal(err)
		}
		for start := clock(); clock() == start; {
		}
	}
	if _, err := namedClock("sun"); err == nil || !strings.Contains(err.Error(), "want wall or processor") {
		t.Errorf("error %v: want the clocks that there are", err)
	}
}

func TestRefusals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "problem.json")
	text, err := json.Marshal(problem{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args     []string
		requests string
		want     string
	}{
		{nil, "", "want sets, problem [published], or serve"},
		{[]string{"problem", "mine"}, "", `problem "mine": want none, or published`},
		{[]string{"serve", path, "float32"}, "check\n", "with a batch size"},
		{[]string{"serve", path, "float32"}, "check 7\n", "a batch size of the problem"},
		{[]string{"serve", filepath.Join(t.TempDir(), "none"), "float32"}, "", "no such file"},
	} {
		err := run(c.args, strings.NewReader(c.requests), new(strings.Builder))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q with requests %q: error %v: want %q in it", c.args, c.requests, err, c.want)
		}
	}
}

// The driver's own tests need no peer, only Python.
func TestDriver(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	out, err := exec.Command(python, "-B", "-m", "unittest", "run_test").CombinedOutput()
	if err != nil {
		t.Errorf("python3 -m unittest run_test: %v\n%s", err, out)
	}
}
