package certify

import (
	"math"
	"strings"
	"testing"

	"hambench/certify/spectral"
	"hambench/integrators"
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
