package certify

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hambench/certify/gaussian"
	"hambench/integrators"
)

// Mode by mode the full batch has the distances that the engine finds for the joint law of all
// positions: the largest over the principal axes.
func TestModesHaveTheDistancesOfTheEngine(t *testing.T) {
	for _, p := range []*Problem{BottleneckProblem(), gaussianBuiltin()} {
		precision := gaussian.Mean(p.gaussian).Precision
		var eigen mat.EigenSym
		eigen.Factorize(mat.NewSymDense(p.Dim(), precision), true)
		var axes mat.Dense
		eigen.VectorsTo(&axes)
		for _, name := range []string{"euler", "lietrotter", "mt3", "symmetric", "obabo", "leapfrog"} {
			m, err := integrators.Builtin().Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			schemes, err := Schemes("full")
			if err != nil {
				t.Fatal(err)
			}
			steps := []float64{0.2, 0.1, 0.05}
			rows, err := Errors(t.Context(), Options{Problem: p, Integrators: []integrators.Integrator{m}, Schemes: schemes, Steps: steps, Distances: true})
			if err != nil {
				t.Fatal(err)
			}
			for i, h := range steps {
				got := 0.0
				for j := range p.Dim() {
					axis := func(theta []float64) []float64 {
						return []float64{mat.Dot(mat.NewVecDense(p.Dim(), theta), axes.ColView(j))}
					}
					modes, err := NewModes(precision, axis)
					if err != nil {
						t.Fatal(err)
					}
					d, err := modes.Distance(m, integrators.Params{Step: h, Friction: p.Friction})
					if err != nil {
						t.Fatal(err)
					}
					got = max(got, d)
				}
				want := float64(rows[0].Kolmogorov[i])
				if name == "leapfrog" && got != 0 {
					t.Errorf("%s, leapfrog at %v: distance %v, want 0", p.Name, h, got)
				}
				// both are off by round-off alone
				if !(math.Abs(got-want) <= 1e-12+1e-8*want) {
					t.Errorf("%s, %s at %v: distance %v, want %v", p.Name, name, h, got, want)
				}
			}
		}
	}
}

// Outputs weigh modes by their shares of the variance, a step beyond a mode's limit has no law,
// and a target or an integrator that modes cannot follow is refused.
func TestModesOfOutputs(t *testing.T) {
	mt3, err := integrators.Builtin().Lookup("mt3")
	if err != nil {
		t.Fatal(err)
	}
	distance := func(h float64, outputs func([]float64) []float64) float64 {
		m, err := NewModes([]float64{1, 0, 0, 400}, outputs)
		if err != nil {
			t.Fatal(err)
		}
		d, err := m.Distance(mt3, integrators.Params{Step: h, Friction: 2})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	slow := distance(0.05, func(x []float64) []float64 { return []float64{x[0]} })
	fast := distance(0.05, func(x []float64) []float64 { return []float64{x[1]} })
	mixed := distance(0.05, func(x []float64) []float64 { return []float64{x[0] + 20*x[1]} })
	both := distance(0.05, func(x []float64) []float64 { return []float64{3 * x[0], x[1]} })
	// The distance is linear in a small change of variance, of which each mode has a half.
	if slow >= fast/10 || math.Abs(mixed/(fast/2)-1) > 0.2 || math.Abs(both-(slow+fast)/2) > 1e-15 {
		t.Errorf("distances %v, %v, mixed %v, both %v", slow, fast, mixed, both)
	}
	if d := distance(1, func(x []float64) []float64 { return []float64{x[0]} }); !math.IsNaN(d) {
		t.Errorf("beyond the stable step of a mode the distance is %v, want none", d)
	}
	if _, err := NewModes([]float64{1, 2, 2, 1}, nil); err == nil {
		t.Error("an indefinite precision is taken")
	}
	flow, err := integrators.Builtin().Lookup("exact")
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewModes([]float64{1}, func(x []float64) []float64 { return x })
	if err == nil {
		_, err = m.Distance(flow, integrators.Params{Step: 0.1, Friction: 1})
	}
	if err == nil {
		t.Error("an integrator that needs the whole force is taken")
	}
}
