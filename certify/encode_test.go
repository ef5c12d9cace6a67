package certify

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

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
			find := Run
			if p.Kind == Scalar { // an order takes many more steps, and says no more of the JSON
				find = Errors
			}
			rows, err := find(context.Background(), Options{Problem: p, Integrators: []integrators.Integrator{m}, Schemes: s, Steps: []float64{0.1, 0.05}})
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
