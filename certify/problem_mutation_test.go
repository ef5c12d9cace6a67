package certify

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hambench/certify/gaussian"
	"hambench/certify/spectral"
	"hambench/test/mutate"
	"hambench/usage"
)

// goodLarge is a Gaussian problem in three positions, over several lines.
const goodLarge = `{
  "kind": "gaussian",
  "friction": 0.75,
  "batches": [
    {"precision": [[2, 0.3, -0.1],
                   [0.3, 1.5, 2e-1],
                   [-0.1, 0.2, 11.25]],
     "shift": [1.0, -0.5, 0]},
    {"precision": [[0.5, 0, 0], [0, 3, 0], [0, 0, 1]], "shift": [0, 7e-2, -3]},
    {"precision": [[1, 0, 0.5], [0, 1, 0], [0.5, 0, 1]], "shift": [0.25, 0, 0]}
  ]
}
`

// verdict judges a reader's answer: an error must be one line and a usage
// error; a problem must be valid by definitions of the test's own.
func verdict(p *Problem, err error) error {
	if err != nil {
		var bad *usage.Error
		if !errors.As(err, &bad) || strings.ContainsAny(err.Error(), "\n\r") {
			return fmt.Errorf("%q is not a one-line usage error", err)
		}
		return nil
	}
	if !(p.Friction > 0) || !allFinite(p.Friction) || p.Batches() < 1 {
		return fmt.Errorf("accepted friction %v, %d batches", p.Friction, p.Batches())
	}
	for i, f := range p.gaussian {
		if err := validAffine(f.Precision, f.Shift, p.Dim()); err != nil {
			return fmt.Errorf("batch %d: %w", i+1, err)
		}
	}
	if p.Kind == Gaussian {
		if err := positiveUnits(gaussian.Mean(p.gaussian).Precision, p.Dim()); err != nil {
			return err
		}
	}
	stiffness := 0.0
	for i, u := range p.scalar {
		for _, theta := range []float64{0, -3, 1e3} {
			if !allFinite(u.Value(theta), u.Gradient(theta), u.Curvature(theta)) {
				return fmt.Errorf("batch %d: accepted %+v: U(%v) = %v, U′ = %v, U″ = %v", i+1, u, theta, u.Value(theta), u.Gradient(theta), u.Curvature(theta))
			}
		}
		stiffness += u.Stiffness
	}
	if p.Kind == Scalar && !(stiffness > 0) {
		return fmt.Errorf("accepted a mean stiffness of %v", stiffness)
	}
	return nil
}

// validAffine checks sizes, finiteness and symmetry.
func validAffine(precision, shift []float64, dim int) error {
	if dim < 1 || len(precision) != dim*dim || len(shift) != dim || !allFinite(precision...) || !allFinite(shift...) {
		return fmt.Errorf("accepted precision %v and shift %v in %d positions", precision, shift, dim)
	}
	largest := 0.0
	for _, v := range precision {
		largest = max(largest, math.Abs(v))
	}
	for i := range dim {
		for j := i; j < dim; j++ {
			a, b := precision[i*dim+j], precision[j*dim+i]
			if math.Abs(a-b) > 1e-12*largest {
				return fmt.Errorf("accepted the asymmetric precision %v", precision)
			}
		}
	}
	return nil
}

// positiveUnits checks that all eigenvalues of a precision, scaled to unit
// diagonal, are positive up to round-off.
func positiveUnits(precision []float64, dim int) error {
	unit := mat.NewSymDense(dim, nil)
	for i := range dim {
		for j := i; j < dim; j++ {
			unit.SetSym(i, j, precision[i*dim+j]/math.Sqrt(precision[i*dim+i])/math.Sqrt(precision[j*dim+j]))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(unit, false) || mat.Min(mat.NewVecDense(dim, eigen.Values(nil))) < -1e-14*float64(dim) {
		return fmt.Errorf("accepted the indefinite precision %v with eigenvalues %v", precision, eigen.Values(nil))
	}
	return nil
}

func allFinite(x ...float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// Of 10 000 damaged problems each is refused in one line, or is a valid
// problem; and the same one unless the damage changed the JSON value.
func TestMutatedProblems(t *testing.T) {
	wholes := []string{goodGaussian, goodScalar, goodLarge}
	rng := rand.New(rand.NewPCG(2026, 4))
	same, valid, refused := 0, 0, 0
	for i := range 10_000 {
		whole := wholes[i%len(wholes)]
		mutant, how := mutate.File(rng, []byte(whole))
		p, err := ParseProblem("mutant.json", mutant)
		if bad := verdict(p, err); bad != nil {
			t.Fatalf("mutant %d (%s) %q: %v", i, how, mutant, bad)
		}
		switch {
		case err != nil:
			refused++
			if sameJSON(mutant, whole) && !strings.Contains(err.Error(), "stands twice") {
				t.Fatalf("mutant %d (%s) %q: the same value is refused: %v", i, how, mutant, err)
			}
		case sameJSON(mutant, whole):
			same++
		default:
			valid++
		}
	}
	t.Logf("10000 problems: %d refused, %d valid with other numbers, %d with the old value", refused, valid, same)
	if valid < 100 || same < 100 {
		t.Errorf("few mutants are accepted: this test sees little of what is accepted")
	}
}

// sameJSON reports whether two texts are one JSON value.
func sameJSON(a []byte, b string) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	one, _ := json.Marshal(x)
	two, _ := json.Marshal(y)
	return string(one) == string(two)
}

// Of two values of one name package json takes the last; a problem must not.
func TestParseProblemRefusesNamesThatStandTwice(t *testing.T) {
	for _, c := range []struct{ reason, old, new, want string }{
		{"a second friction", `"friction": 2.0`, `"friction": 2.0, "friction": 3.0`, `"friction" stands twice`},
		{"in other letters", `"friction": 2.0`, `"friction": 2.0, "Friction": 3.0`, `"Friction" stands twice`},
		{"in a batch", `"shift": [1.0, -0.5]`, `"shift": [1.0, -0.5], "shift": [0, 0]`, `"shift" stands twice`},
		{"a name whose first value is of another kind", `"shift": [1.0, -0.5]`, `"shift": [[1]], "shift": [0, 0]`, `"shift" stands twice`},
	} {
		_, err := ParseProblem("p.json", []byte(strings.Replace(goodGaussian, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.reason, err, c.want)
		}
	}
}

// The test's own judge finds what it looks for.
func TestVerdictFindsInvalidProblems(t *testing.T) {
	gaussian := func(precision ...float64) *Problem {
		return &Problem{Kind: Gaussian, Friction: 1, gaussian: []*affineForce{newAffineForce(precision, []float64{0, 0})}}
	}
	for reason, p := range map[string]*Problem{
		"indefinite":       gaussian(1, 2, 2, 1),
		"asymmetric":       gaussian(1, 0.5, 0.4, 1),
		"not finite":       gaussian(math.Inf(1), 0, 0, 1),
		"of a wrong size":  gaussian(1, 0, 0),
		"without limits":   {Kind: Scalar, Friction: 1, scalar: spectral.Mean{spectral.Oscillator{Stiffness: -1}}},
		"without friction": {Kind: Scalar, scalar: spectral.Mean{spectral.Oscillator{Stiffness: 1}}},
		"overflowing":      {Kind: Scalar, Friction: 1, scalar: spectral.Mean{spectral.Oscillator{Stiffness: 1e300, Center: 1e300}}},
	} {
		if verdict(p, nil) == nil {
			t.Errorf("a problem that is %s passes", reason)
		}
	}
	if err := verdict(gaussian(2, 0.5, 0.5, 1), nil); err != nil {
		t.Error(err)
	}
	if verdict(nil, errors.New("two\nlines")) == nil {
		t.Error("an error of two lines passes")
	}
}

// FuzzParseProblem: whatever the bytes, a valid problem or a one-line usage error;
// a valid Gaussian problem starts its engine or says in one line why not.
func FuzzParseProblem(f *testing.F) {
	f.Add([]byte(goodLarge))
	f.Add([]byte(goodGaussian))
	f.Add([]byte(goodScalar))
	f.Add([]byte(`{"kind": "gaussian", "friction": 1, "batches": [{"precision": [[1e-300]], "shift": [1]}]}`))
	f.Add([]byte(`{"kind": "gaussian", "friction": 1, "batches": [{"precision": [[1e308, 1], [1, 1e-308]], "shift": [1, 1]}, {"precision": [[1e308, 0], [0, 1]], "shift": [1e308, 0]}]}`))
	f.Add([]byte(`{"kind": "scalar", "friction": 1, "batches": [null, {"stiffness": 1e300}]}`))
	f.Add([]byte(`{"kind": "scalar", "friction": 1, "batches": [{"stiffness": 1, "center": 0, "amplitude": 1e200, "frequency": 1e-200, "phase": 1e308}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseProblem("fuzz.json", data)
		if bad := verdict(p, err); bad != nil {
			t.Fatalf("%q: %v", data, bad)
		}
		if err == nil && p.Kind == Gaussian && p.Dim() <= 8 {
			if _, err := (&Options{Problem: p}).engine(); err != nil && strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("%q: engine: error of more than one line: %q", data, err)
			}
		}
	})
}
