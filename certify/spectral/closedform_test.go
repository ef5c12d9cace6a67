package spectral

import (
	"context"
	"math"
	"testing"

	"hambench/certify/markov"
	"hambench/certify/probe"
	"hambench/chain/minibatch"
	"hambench/integrators"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// wells are potentials that are not quadratic.
var wells = Mean{
	Oscillator{Stiffness: 1.0, Center: -0.1, Amplitude: 0.6, Frequency: 1.0, Phase: 0.6},
	Oscillator{Stiffness: 1.7, Center: -0.1, Amplitude: 0.5, Frequency: 1.4, Phase: 1.4},
}

// quadraticTerms are the coefficients of h² of functions that begin with it, by Richardson's
// extrapolation from steps that halve.
func quadraticTerms(t *testing.T, at func(h float64) ([]float64, error), largest float64) []float64 {
	t.Helper()
	var rows [][]float64
	for i := range 5 {
		h := math.Ldexp(largest, -i)
		x, err := at(h)
		if err != nil {
			t.Fatal(err)
		}
		floats.Scale(1/(h*h), x)
		rows = append(rows, x)
	}
	for power := 1; len(rows) > 1; power++ {
		for i := len(rows) - 2; i >= 0; i-- {
			floats.Scale(math.Ldexp(1, power), rows[i+1])
			floats.Sub(rows[i+1], rows[i])
			floats.Scale(1/(math.Ldexp(1, power)-1), rows[i+1])
		}
		rows = rows[1:]
	}
	return rows[0]
}

// TestClosedFormHoldsOnScalarProblems compares the closed form beyond Gaussian
// problems, −(K/12) times the covariance of an observable with E(U_i′ − U′)², with
// batch flows made of 2⁸ short steps, whose own error is 10⁻⁵ of a step's.
func TestClosedFormHoldsOnScalarProblems(t *testing.T) {
	const doublings, rungOfTest = 8, 2
	const friction = 1
	e, err := New(wells, friction, probe.Estimation{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := integrators.Builtin().Lookup("baoab")
	if err != nil {
		t.Fatal(err)
	}
	s, err := minibatch.Builtin().Lookup("reshuffle")
	if err != nil {
		t.Fatal(err)
	}
	found := quadraticTerms(t, func(h float64) ([]float64, error) {
		in, err := m.New(1, integrators.Params{Step: math.Ldexp(h, -doublings), Friction: friction})
		if err != nil {
			return nil, err
		}
		b, kernels := e.newBasis(e.narrow, rungs[rungOfTest]), []galerkin(nil)
		for _, f := range e.forces {
			step := probe.NewTransition(in, in.Kernel, f)
			flow := b.matrix(step, separateNoise(step, e.observed[0].sd), make(map[added]*mat.Dense)).Dense
			for range doublings {
				var twice mat.Dense
				twice.Mul(flow, flow)
				flow = &twice
			}
			kernels = append(kernels, galerkin{flow})
		}
		// Any preconditioner does: I minus the mean of both flows is one.
		n := len(b.pairs)
		r := &rung{Evolution: markov.Evolution{Size: n, Each: 1, Inner: 1}, basis: b, inverse: galerkin{mat.NewDense(n-1, n-1, nil)}}
		left := mat.NewDense(n, n, nil)
		for i := range n {
			left.Set(i, i, 1)
		}
		for _, k := range kernels {
			var half mat.Dense
			half.Scale(0.5, k)
			left.Sub(left, &half)
			r.Kernels = append(r.Kernels, k)
		}
		if err := r.inverse.Inverse(left.Slice(1, n, 1, n)); err != nil {
			return nil, err
		}
		out, err := r.solve(context.Background(), s, false)
		if err != nil {
			return nil, err
		}
		return out.signed, nil
	}, 0.32)
	for o, x := range scalarObservables {
		if x.of == nil {
			continue
		}
		spread := func(theta float64) (sum float64) {
			for _, u := range wells {
				g := u.Gradient(theta) - wells.slope(theta)
				sum += g * g
			}
			return sum / 2
		}
		mean := e.narrow.theta.expect(spread)
		want := -2. / 12 * e.narrow.theta.expect(func(theta float64) float64 { return (spread(theta) - mean) * x.of(theta) })
		if got := found[o]; math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%s: %v h², closed form %v", x.name, got, want)
		}
	}
}
