package certify

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"hambench/certify/spectral"
	"hambench/integrators"
)

// A problem that went through JSON gives the same rows, to the last bit.
func TestProblemJSONRoundTrip(t *testing.T) {
	m, err := integrators.Builtin().Lookup("obabo")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(Builtin(), BottleneckProblem()) {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		q, err := ParseProblem(p.Name+".json", data)
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		run := func(p *Problem) []Row {
			s, err := Schemes("cyclic")
			if err != nil {
				t.Fatal(err)
			}
			rows, err := Run(context.Background(), Options{Problem: p, Integrators: []integrators.Integrator{m}, Schemes: s, Steps: []float64{0.1, 0.05}})
			if err != nil {
				t.Fatal(err)
			}
			return rows
		}
		// As text: NaN differs from itself.
		if a, b := fmt.Sprintf("%+v", run(p)), fmt.Sprintf("%+v", run(q)); a != b {
			t.Errorf("%s: rows differ after JSON:\n%s\n%s", p.Name, a, b)
		}
	}
}

// own is a potential that certify knows nothing of.
type own struct{ spectral.Potential }

// A potential of one's own is certified as the oscillator that it is, and has no JSON form.
func TestPotentialsOfOnesOwn(t *testing.T) {
	known := scalarBuiltin()
	p, err := NewScalar("own", known.Friction, own{known.scalar[0]}, own{known.scalar[1]})
	if err != nil {
		t.Fatal(err)
	}
	m, err := integrators.Builtin().Lookup("leapfrog")
	if err != nil {
		t.Fatal(err)
	}
	errors := func(p *Problem) []Observable {
		rows, err := Errors(context.Background(), Options{Problem: p, Integrators: []integrators.Integrator{m}, Steps: []float64{0.1}})
		if err != nil {
			t.Fatal(err)
		}
		return rows[0].Observables
	}
	want := errors(known)
	for i, got := range errors(p) {
		if d := math.Abs(float64(got.Errors[0] - want[i].Errors[0])); !(d <= float64(got.Resolution[0]+want[i].Resolution[0])) {
			t.Errorf("%s: error %v ± %v, of the oscillators %v", got.Name, got.Errors[0], got.Resolution[0], want[i].Errors[0])
		}
	}
	if _, err := json.Marshal(p); err == nil || !strings.Contains(err.Error(), "no JSON form") {
		t.Errorf("error is %v, want one that says there is no JSON form", err)
	}
}
