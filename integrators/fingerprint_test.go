package integrators

import (
	"fmt"
	"math"
	"testing"
)

func fingerprintOf(t *testing.T, m Integrator, values map[string]float64) string {
	t.Helper()
	f, err := Fingerprint(m, values)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFingerprintsOfAllSchemesDiffer(t *testing.T) {
	seen := make(map[string]string)
	for _, m := range Builtin() {
		f := fingerprintOf(t, m, nil)
		if again := fingerprintOf(t, m, nil); f != again {
			t.Errorf("%s: fingerprints %s and %s of the same scheme", m.Name, f, again)
		}
		if other, ok := seen[f]; ok {
			t.Errorf("%s and %s have the same fingerprint", m.Name, other)
		}
		seen[f] = m.Name
	}
	typed := fingerprintOf(t, lookup(t, "split:BAOAB"), nil)
	if seen[typed] != "baoab" {
		t.Errorf("split:BAOAB has fingerprint %s, not that of baoab", typed)
	}
}

// Each case plants a change of one constant.
func TestFingerprintChangesWithEveryConstant(t *testing.T) {
	altered := func(name string, change func(in *Instance)) Integrator {
		m := lookup(t, name)
		build := m.New
		m.New = func(dim int, p Params) (*Instance, error) {
			in, err := build(dim, p)
			if err == nil {
				change(in)
			}
			return in, err
		}
		return m
	}
	const little = 1 + 1e-5

	cases := map[string]Integrator{
		"mt3 with another variance of w₂": Define(lookup(t, "mt3"), func(dim int, p Params) (Stepper, Stepper) {
			p.Values[w2Variance] *= little
			return newMT3(dim, p), nil
		}),
		"mt3 with another Hessian's weight": altered("mt3", func(in *Instance) { scale(in, 7, 6, little) }),
		"leapfrog with other noise":         altered("leapfrog", func(in *Instance) { in.Kernel.(*Kick).update.S.All *= little }),
		"lietrotter with another refreshment after inner steps": altered("lietrotter", func(in *Instance) {
			if u, ok := in.Refresh.(*flow); ok {
				u.S.All *= little
			}
		}),
		"lietrotter with another full refreshment": altered("lietrotter", func(in *Instance) {
			if s, ok := in.Kernel.(*Kick); ok && math.IsInf(in.Params.Friction, 1) {
				s.update.S.Each[1] *= little
			}
		}),
		"sghmc with other noise at the start": altered("sghmc", func(in *Instance) { in.Kernel.(*sghmc).leapfrog.update.S.Each[0] *= little }),
		"sghmc-adaptive with another τ":       altered("sghmc-adaptive", func(in *Instance) { in.Kernel.(*sghmcAdaptive).tau[0] = little }),
		"exact with another friction":         altered("exact", func(in *Instance) { in.Kernel.(*exact).p.Friction *= little }),
	}
	for what, m := range cases {
		if fingerprintOf(t, m, nil) == fingerprintOf(t, lookup(t, m.Name), nil) {
			t.Errorf("%s has the fingerprint of %s", what, m.Name)
		}
	}
}

// Round-off of one machine or another must not reach the seventh digit, not
// even of schemes that adapt for a thousand steps.
func TestFingerprintsForgetRoundOff(t *testing.T) {
	for _, m := range Builtin() {
		build := m.New
		m.New = func(dim int, p Params) (*Instance, error) {
			p.Step *= 1 + 1e-14 // some 50 units in the last place
			return build(dim, p)
		}
		if fingerprintOf(t, m, nil) != fingerprintOf(t, lookup(t, m.Name), nil) {
			t.Errorf("%s: a relative change of 1e-14 of the step changes the fingerprint", m.Name)
		}
	}
}

func TestSchemesHaveParametersAndVariablesOfTheirOwn(t *testing.T) {
	m := lookup(t, "sgnht")
	in, err := m.New(3, Params{Step: 0.1, Friction: 2})
	if err != nil {
		t.Fatal(err)
	}
	if z := in.NewState(); len(z.Theta) != 3 || fmt.Sprint(z.Aux) != "[[2]]" || in.Params.Values[massOfZeta] != 1 {
		t.Errorf("state %v, parameters %v: want a thermostat at the friction and the default", z, in.Params)
	}
	if fingerprintOf(t, m, nil) == fingerprintOf(t, m, map[string]float64{massOfZeta: 2}) {
		t.Error("another thermal mass does not change the fingerprint")
	}
	for _, tt := range []struct {
		method Integrator
		values map[string]float64
		want   string
	}{
		{m, map[string]float64{massOfZeta: 0}, "sgnht: thermal-mass = 0: want a number from 0.001 to 1e+06"},
		{m, map[string]float64{massOfZeta: math.NaN()}, "sgnht: thermal-mass = NaN: want a number from 0.001 to 1e+06"},
		{m, map[string]float64{"nu": 1, massOfZeta: 1}, `sgnht: parameter "nu": want one of thermal-mass`},
		{lookup(t, "leapfrog"), map[string]float64{"mu": 1}, `leapfrog: parameter "mu": the scheme has no parameters of its own`},
	} {
		_, err := tt.method.New(1, Params{Step: 0.1, Friction: 1, Values: tt.values})
		checkUsage(t, err, tt.want)
		_, err = Fingerprint(tt.method, tt.values)
		checkUsage(t, err, tt.want)
	}
}
