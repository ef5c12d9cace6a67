package integrators

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestStructureMatchesClaim(t *testing.T) {
	for _, m := range affineIntegrators(t) {
		det, limit := Structure(m)
		if got := det && limit; got != m.Claims.QuasiSymplectic {
			t.Errorf("%s: constant determinant %v, symplectic limit %v; claims quasi-symplectic %v", m.Name, det, limit, m.Claims.QuasiSymplectic)
		}
	}
}

// euler and rk2 must fail, and fail both conditions, so that the probe is
// known to see what it looks for.
func TestStructureFindsOut(t *testing.T) {
	for _, name := range []string{"euler", "rk2"} {
		m, err := Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if det, limit := Structure(m); det || limit {
			t.Errorf("%s: constant determinant %v, symplectic limit %v; want neither", name, det, limit)
		}
	}
}

// The conditions are of position and momentum alone: a step with a variable of its own has neither.
func TestAStepWithItsOwnVariablesHasNoStructure(t *testing.T) {
	for _, name := range []string{"sgnht", "badodab"} {
		if det, limit := Structure(lookup(t, name)); det || limit {
			t.Errorf("%s: constant determinant %v, symplectic limit %v", name, det, limit)
		}
	}
}

// The exact flow contracts volume by exp(−C tr(M⁻¹) h), and so do the
// splittings, whose friction is exact.
func TestVolumeContraction(t *testing.T) {
	for _, name := range []string{"exact", "symmetric", "lietrotter", "baoab", "ubu", "split:ABO"} {
		m, err := Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		got := mat.Det(frozen(m, []float64{0.8, 1.3}, 1.5).jacobian(1))
		// 1e-9 is far above the error of the differences, see structureTolerance.
		if want := math.Exp(-1.5 * (0.8 + 1.3) * 0.1); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: determinant %.12f, want %.12f", name, got, want)
		}
	}
}

// The probe's own force: its Hessian-vector product is the derivative of its
// gradient.
func TestQuarticHessian(t *testing.T) {
	theta, v := []float64{0.7, -1.1}, []float64{0.4, 0.9}
	const delta = 1e-4
	shifted := func(by float64) []float64 {
		g := make([]float64, 2)
		quartic{}.Gradient(g, []float64{theta[0] + by*v[0], theta[1] + by*v[1]})
		return g
	}
	up, down, hv := shifted(delta), shifted(-delta), make([]float64, 2)
	quartic{}.HessianVector(hv, theta, v)
	for i := range hv {
		// Central differences err by δ²/6 times a third derivative below 10.
		if want := (up[i] - down[i]) / (2 * delta); math.Abs(hv[i]-want) > 1e-7 {
			t.Errorf("element %d: %v, want %v", i, hv[i], want)
		}
	}
}
