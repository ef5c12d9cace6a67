package certify

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"hambench/certify/spectral"
	"hambench/integrators"
	"hambench/usage"
)

func thermostat(t *testing.T, name string) []integrators.Integrator {
	t.Helper()
	m, err := integrators.Builtin().Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return []integrators.Integrator{m}
}

func thermalRows(t *testing.T, find func(context.Context, Options) ([]Row, error), o Options, schemes ...string) []Row {
	t.Helper()
	var err error
	if o.Schemes, err = Schemes(schemes...); err != nil {
		t.Fatal(err)
	}
	rows, err := find(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Where the curvature is the same in all batches, the noise that they put into the
// gradient is white, of variance V; a step hears it as friction noise of hV/2 more
// than C, and the thermostat answers with a mean of ζ that is as much higher than
// with the full batch. Two more facts are exact at any step: since sgnht moves ζ by
// r² − 1 at the end of every step, E r² = 1 there, and the mean of θ is right on a
// quadratic potential.
func TestTheThermostatTakesUpTheNoiseOfTheGradient(t *testing.T) {
	const v, h = 0.8 * 0.8, 0.01
	p := &Problem{Name: "white", Kind: Scalar, Friction: 1.3, scalar: spectral.Mean{spectral.Oscillator{Stiffness: 1, Center: 0.8}, spectral.Oscillator{Stiffness: 1, Center: -0.8}}}
	schemes := []string{"replacement"}
	if *all {
		schemes = []string{"full", "replacement"}
	}
	rows := thermalRows(t, Errors, Options{Problem: p, Integrators: thermostat(t, "sgnht"), Steps: []float64{h}}, schemes...)
	var shifts []float64
	for _, row := range rows {
		zeta, r, theta := row.observable(t, "zeta^1"), row.observable(t, "r^2"), row.observable(t, "theta^1")
		if res := float64(zeta.Resolution[0]); !(res < 2e-5) {
			t.Errorf("%s: ζ is known to %v", row.Scheme, res)
		}
		if e := max(float64(r.Errors[0]), float64(theta.Errors[0])); !(e < 1e-12) {
			t.Errorf("%s: E r² or E θ is off by %v, want 0", row.Scheme, e)
		}
		shifts = append(shifts, float64(zeta.Errors[0])/h) // above C in both
	}
	if !*all {
		return
	}
	// What is left is of order h.
	if got := shifts[1] - shifts[0]; !(math.Abs(got-v/2) < 3*h*v/2) {
		t.Errorf("noise of the gradient adds %v·h to the mean of ζ, want V/2 = %v", got, v/2)
	}
}

func TestThermostatsAreCertifiedOnScalarProblems(t *testing.T) {
	o := Options{Problem: scalarBuiltin(), Integrators: thermostat(t, "badodab"), Steps: []float64{0.08}}
	var rows []Row
	if *all {
		rows = thermalRows(t, Run, o, "replacement", "reshuffle")
	}
	for i, row := range rows {
		for _, x := range row.Observables {
			want := Number(i + 1)
			// Under random orders ζ² has an order of at least 2: its coefficient is not told from 0.
			known := x.Order == want || x.Name == "zeta^2" && x.AtLeast == want
			if x.Verdict != Confirmed || x.Claim != want || strings.HasPrefix(x.Name, "zeta") && !known {
				t.Errorf("badodab, %s: %s of order %v, claim %v, is %s; want %v", row.Scheme, x.Name, x.Order, x.Claim, x.Verdict, want)
			}
		}
	}
	// A planted bug: noise that is too large. The law of θ and r hides it, which is
	// what a thermostat is for; the law of ζ does not.
	wrong := o.Integrators[0]
	right := wrong.New
	wrong.New = func(dim int, p integrators.Params) (*integrators.Instance, error) {
		in, err := right(dim, p)
		if err == nil {
			in.Kernel = loud{in.Kernel}
		}
		return in, err
	}
	o.Integrators = []integrators.Integrator{wrong}
	if !*all { // the error at one step: noise of 1.21 times the variance wants as much more friction
		zeta := thermalRows(t, Errors, o, "full")[0].observable(t, "zeta^1").Errors[0]
		if more := 0.21 * scalarBuiltin().Friction; math.Abs(float64(zeta)/more-1) > 0.2 {
			t.Errorf("noise of 1.1 times the size: the mean of ζ is off by %v, want about %v", zeta, more)
		}
		return
	}
	for _, x := range thermalRows(t, Run, o, "full")[0].Observables {
		want := Confirmed
		if strings.HasPrefix(x.Name, "zeta") {
			want = Refuted
		}
		if x.Verdict != want {
			t.Errorf("noise of 1.1 times the size: %s of order %v is %s, want %s", x.Name, x.Order, x.Verdict, want)
		}
	}
}

// loud is a step whose noise is too large.
type loud struct{ step integrators.Stepper }

func (s loud) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	s.step.Step(z, f, louder{n})
}

type louder struct{ integrators.Noise }

func (n louder) Update(u *integrators.Update) {
	u.S.All *= 1.1
	n.Noise.Update(u)
	u.S.All /= 1.1
}

// What the engines cannot take is refused by name, and left out of runs of all.
func TestThermostatsOnOtherProblemsAreRefusedByName(t *testing.T) {
	_, err := Run(t.Context(), Options{Problem: gaussianBuiltin(), Integrators: thermostat(t, "sgnht")})
	if bad := new(usage.Error); !errors.As(err, &bad) || !strings.Contains(err.Error(), `integrator "sgnht" is not affine in its state, which problem "gaussian"`) {
		t.Errorf("error %v: want a usage error that names both", err)
	}
	for _, p := range Builtin() {
		for _, m := range All(p) {
			if m.Nonlinear {
				t.Errorf("%s is one of all on %s", m.Name, p.Name)
			}
		}
	}
}
