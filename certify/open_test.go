package certify

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hambench/certify/spectral"
	"hambench/integrators"
	"hambench/internal/long"
)

// normalProblem is N(0, 1), with the full batch alone.
func normalProblem() *Problem {
	return &Problem{Name: "normal", Kind: Scalar, Friction: 1, scalar: spectral.Mean{spectral.Oscillator{Stiffness: 1, Frequency: 1}}}
}

// Variances of N(0, 1) under psgld, of long chains of a program in C (certify/testdata/squares.c,
// 4·10⁸ steps, standard errors 0.001 to 0.006), at lr = 2h. As the step falls the mean of squares follows the
// gradient, the law tends to e^(−U)|U′|, and the variance to 2.
func TestTheLawUnderARunningMeanOfSquares(t *testing.T) {
	o := Options{Problem: normalProblem(), Steps: []float64{0.025, 0.005, 0.001, 0.00025}}
	row := certifyOne(t, o, "psgld", "full")
	x := row.observable(t, "theta^2")
	for i, want := range []struct{ variance, sd float64 }{{1.184, 0.001}, {1.475, 0.002}, {1.764, 0.004}, {1.898, 0.006}} {
		off, bound := math.Abs(1+float64(x.Errors[i])-want.variance), float64(x.Resolution[i])
		if !(bound < 0.01 && off < bound+3*want.sd) {
			t.Errorf("h = %v: variance %v ± %v, want %v", o.Steps[i], 1+x.Errors[i], bound, want.variance)
		}
	}
	if x.Verdict != Refuted || x.Order != 0 || x.Claim != 1 {
		t.Errorf("order %v is %s, claim %v: want 0, refuted", x.Order, x.Verdict, x.Claim)
	}
	if row.observable(t, "theta^1").Verdict == Refuted {
		t.Error("the mean, right by symmetry, is refuted")
	}
}

// wild is psgld whose mean of squares is changed after each step.
func wild(change func(theta, v *float64)) integrators.Integrator {
	m, _ := integrators.Builtin().Lookup("psgld")
	right := m.New
	m.New = func(dim int, p integrators.Params) (*integrators.Instance, error) {
		in, err := right(dim, p)
		if err == nil {
			in.Kernel = after{in.Kernel, change}
		}
		return in, err
	}
	return m
}

type after struct {
	step   integrators.Stepper
	change func(theta, v *float64)
}

func (a after) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	a.step.Step(z, f, n)
	a.change(&z.Theta[0], &z.Aux[0][0])
}

// A law that escapes is none, by the variable or by θ, and a variable that turns negative is an
// error in one line that names it.
func TestVariablesThatEscapeOrTurnNegative(t *testing.T) {
	o := Options{Problem: normalProblem(), Steps: []float64{0.01}}
	o.Schemes, _ = Schemes("full")
	for name, change := range map[string]func(theta, v *float64){
		"to infinity": func(_, v *float64) { *v *= 1.1 },
		"with θ":      func(theta, _ *float64) { *theta *= 1.2 },
		"to 0":        func(_, v *float64) { *v = 0 },
	} {
		o.Integrators = []integrators.Integrator{wild(change)}
		rows, err := Run(t.Context(), o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		x := rows[0].observable(t, "theta^2")
		if x.Verdict != Lawless || !(rows[0].Radii[0] > 1) {
			t.Errorf("%s: %s, radius %v", name, x.Verdict, rows[0].Radii)
		}
	}
	o.Integrators = []integrators.Integrator{wild(func(_, v *float64) { *v -= 2 })}
	_, err := Run(t.Context(), o)
	checkUsageError(t, err, `integrator "psgld": variable "v" is -`, "want a number of at least 0")
}

func checkUsageError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q: want one line with %q", err, part)
		}
	}
}

// squaresCase is a chain with a running mean of squares, and what long chains of another program
// found: testdata/squares.c reads line, of whose output the means and standard errors are.
type squaresCase struct {
	line        string
	problem     *Problem
	scheme      string
	h           float64
	values      map[string]float64
	means, errs []float64
}

// squaresCases reads testdata/squares.txt: a line that the program reads, and the one that it
// printed, in turns.
func squaresCases(t *testing.T) (cases []squaresCase) {
	t.Helper()
	raw, err := os.ReadFile("testdata/squares.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	for i := 0; i < len(lines); i += 2 {
		in, out := floatsOf(t, lines[i]), floatsOf(t, lines[i+1])
		c := squaresCase{line: lines[i], scheme: "replacement", h: in[4],
			values:  map[string]float64{"alpha": in[2], "epsilon": in[3]},
			problem: &Problem{Name: fmt.Sprint("squares ", in[0]), Kind: Scalar, Friction: 1}}
		if in[5] == 1 {
			c.scheme = "full"
		}
		for b := range slices.Chunk(in[7:], 5) {
			c.problem.scalar = append(c.problem.scalar, spectral.Oscillator{Stiffness: b[0], Center: b[1], Amplitude: b[2], Frequency: b[3], Phase: b[4]})
		}
		for j := 0; j < len(out); j += 2 {
			c.means, c.errs = append(c.means, out[j]), append(c.errs, out[j+1])
		}
		cases = append(cases, c)
	}
	return cases
}

func floatsOf(t *testing.T, line string) (out []float64) {
	t.Helper()
	for _, word := range strings.Fields(line) {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	return out
}

// TestBoundsUnderARunningMeanOfSquares compares ten random problems with 10⁷ steps each of a program
// in C: errors are within their bounds and four standard errors. A right engine fails once in
// four hundred runs of new seeds; these are pinned.
func TestBoundsUnderARunningMeanOfSquares(t *testing.T) {
	cases := squaresCases(t)
	if !*all {
		cases = []squaresCase{cases[0], cases[5], cases[9]}
	}
	stated := 0
	for _, c := range cases {
		row := errorsOne(t, Options{Problem: c.problem, Steps: []float64{c.h}, Values: c.values}, "psgld", c.scheme)
		for i, name := range []string{"theta^1", "theta^2", "cos(theta)", "tanh(theta)"} {
			x := row.observable(t, name)
			bound := float64(x.Resolution[0])
			if !(bound < 0.1) {
				t.Logf("%s: %s ± %v", c.line, name, bound)
				continue
			}
			stated++
			truth := meanOf(c.problem, latticeObservables[i])
			off := math.Abs(math.Abs(c.means[i]-truth) - float64(x.Errors[0]))
			if !(off <= bound+4*c.errs[i]) {
				t.Errorf("%s: %s has the error %v ± %v, the chain's %v ± %v", c.line, name, x.Errors[0], bound, c.means[i]-truth, c.errs[i])
			}
		}
	}
	if stated < 3*len(cases) {
		t.Errorf("only %d bounds are stated in %d cases", stated, len(cases))
	}
}

// meanOf is the mean of a function of θ under the target.
func meanOf(p *Problem, f func(theta, r float64) float64) float64 {
	const points, reach = 20_000, 20.
	mass, sum := 0.0, 0.0
	for i := range points {
		x := reach * (2*float64(i)/points - 1)
		w := math.Exp(-value(p.scalar, x))
		mass, sum = mass+w, sum+w*f(x, 0)
	}
	return sum / mass
}

// TestLongSquaresOfTheProgram runs the program in C again, 10⁸ steps in 25 s of processor time: its
// means are those of the file, to five standard errors, since libraries round differently.
func TestLongSquaresOfTheProgram(t *testing.T) {
	long.Test(t)
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("needs a C compiler")
	}
	program := filepath.Join(t.TempDir(), "squares")
	if out, err := exec.Command("cc", "-O2", "-o", program, "testdata/squares.c", "-lm").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, c := range squaresCases(t) {
		run := exec.Command(program)
		run.Stdin = strings.NewReader(c.line)
		out, err := run.Output()
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range floatsOf(t, string(out)) {
			if want := c.means[i/2]; i%2 == 0 && !(math.Abs(x-want) <= 5*math.Sqrt2*c.errs[i/2]) {
				t.Errorf("%s: mean %d is %v, in the file %v ± %v", c.line, i/2, x, want, c.errs[i/2])
			}
		}
	}
}
