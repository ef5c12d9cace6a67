package integrators

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
)

// pairs is what a map does to second moments, A⊗A with N Nᵀ in the mass's column, of a target
// moved to 0; weight is that of its uniform number.
func (a affineMap) pairs(weight float64) *mat.Dense {
	n, _ := a.m.Dims()
	out := mat.NewDense(n*n, n*n+1, nil)
	var noise mat.Dense
	noise.Mul(a.n, a.n.T())
	out.Slice(0, n*n, 0, n*n).(*mat.Dense).Kronecker(a.m, a.m)
	for i := range n * n {
		out.Set(i, n*n, noise.At(i/n, i%n))
	}
	out.Scale(weight, out)
	return out
}

// stepOf makes the step of a uniform number.
type stepOf func(m *midpoint, u float64) Stepper

// mixed is the map of second moments of a step, by quadrature over its number.
func (p target) mixed(t *testing.T, h float64, step stepOf) *mat.Dense {
	t.Helper()
	in := p.newAt(t, lookup(t, "midpoint"), h, 1)
	kernel := in.Kernel.(*midpoint)
	in.Integrator.Needs.Normals-- // that of the number
	nodes, weights := make([]float64, 8), make([]float64, 8)
	quad.Legendre{}.FixedLocations(nodes, weights, 0, 1)
	n := 2 * in.Dim
	sum := mat.NewDense(n*n, n*n+1, nil)
	for k, u := range nodes {
		in.Kernel = step(kernel, u)
		sum.Add(sum, probe(in, p.force, in.Dim).pairs(weights[k]))
	}
	return sum
}

// mixedErrors are the largest errors of second moments: of the stationary law of (θ, r) and of θ,
// and of one step.
func (p target) mixedErrors(t *testing.T, h float64, step stepOf) [3]float64 {
	t.Helper()
	d := len(p.force.affine.Shift)
	n := 2 * d
	p.force = newGaussian(p.force.affine.Precision, make([]float64, d)) // moved to 0
	system := p.mixed(t, h, step)
	left := mat.NewDense(n*n, n*n, nil)
	left.Scale(-1, system.Slice(0, n*n, 0, n*n))
	for i := range n * n {
		left.Set(i, i, 1+left.At(i, i))
	}
	var moments mat.VecDense
	if err := moments.SolveVec(left, system.ColView(n*n)); err != nil {
		t.Fatal(err)
	}
	_, cov := p.law(t)
	var out [3]float64
	for i := range n * n {
		e := math.Abs(moments.AtVec(i) - cov.At(i/n, i%n))
		if out[0] = max(out[0], e); i/n < d && i%n < d {
			out[1] = max(out[1], e)
		}
	}
	out[2] = largestDifference(system, probe(p.newAt(t, lookup(t, "exact"), h, 1), p.force, d).pairs(1))
	return out
}

// Bugs that cost orders are planted, to show that they are seen.
func TestMidpointHasTheOrdersItClaims(t *testing.T) {
	claims := lookup(t, "midpoint").Claims
	for _, c := range []struct {
		name   string
		step   stepOf
		orders [3]float64
	}{
		{"as it is", (*midpoint).Fix,
			[3]float64{claims.ErgodicOrder, claims.PositionOrder, claims.WeakOrder}},
		{"always half way", func(m *midpoint, _ float64) Stepper { return m.Fix(0.5) },
			[3]float64{2, 2, 2}},
		{"half a kick", func(m *midpoint, u float64) Stepper {
			m.second.u.A = Coef{All: -m.p.Step / 2}
			return m.Fix(u)
		}, [3]float64{}},
	} {
		for _, p := range targets() {
			const h = 0.04
			a, b, e := p.mixedErrors(t, h, c.step), p.mixedErrors(t, h/2, c.step), p.mixedErrors(t, h/4, c.step)
			for i, want := range c.orders {
				got := 2*order(b[i], e[i]) - order(a[i], b[i])
				if i == 2 {
					got-- // of one step
				}
				if !(math.Abs(got-want) < slopeTolerance) {
					t.Errorf("%s, %s: order %.3f, want %v", p.name, c.name, got, want)
				}
			}
		}
	}
}

// The number that a normal makes is uniform: the step with a normal is that with its number.
func TestMidpointMakesItsNumberOfANormal(t *testing.T) {
	for _, c := range [][2]float64{{0, 0.5}, {-1.959963984540054, 0.025}, {1.2815515655446004, 0.9}} {
		in := targets()[1].newAt(t, lookup(t, "midpoint"), 0.3, 1)
		kernel, a, b := in.Kernel.(*midpoint), in.NewState(), in.NewState()
		kernel.Step(a, targets()[1].force, ones{c[0], 0.4, -0.7})
		kernel.Fix(c[1]).Step(b, targets()[1].force, ones{c[0], 0.4, -0.7})
		for i := range a.R {
			if d := math.Hypot(a.Theta[i]-b.Theta[i], a.R[i]-b.R[i]); !(d < 1e-14) {
				t.Errorf("normal %v: the step differs by %v from that with %v", c[0], d, c[1])
			}
		}
	}
}

// The way that a constant force makes, (x − 1 + e^{−x})/x², on both sides of the switch between its
// two formulas; expDefect is tested by itself.
func TestTheWayOfAConstantForce(t *testing.T) {
	for _, x := range []float64{1e-5, 0.1, 0.5, 0.50001, 1, 4, 40} {
		checkRelative(t, "way", forced(x), expDefect(x)/(x*x))
	}
	if got := forced(0); got != 0.5 {
		t.Errorf("without friction %v, want a half", got)
	}
}
