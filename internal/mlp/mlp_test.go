package mlp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hambench/internal/kernel"
)

// shapes are networks of all depths, with widths around the vectors' edges.
var shapes = []struct {
	widths  []int
	classes bool
	rows    int
}{
	{[]int{3, 1}, false, 5},                   // no hidden layer
	{[]int{1, 7, 1}, false, 9},                // one hidden layer, one input
	{[]int{4, 1, 1}, false, 33},               // a layer of width one
	{[]int{5, 33, 2}, true, 40},               // two classes
	{[]int{5, 16, 17, 4}, true, 300},          // more than one chunk
	{[]int{13, 50, 50, 50, 50, 1}, false, 70}, // Boston's
	{[]int{34, 50, 50, 2}, true, 31},          // Ionosphere's
	{[]int{18, 50, 50, 4}, true, 17},          // Vehicle's
}

// Precision is the number format of a problem's derivatives.
type Precision string

const (
	Float32 Precision = "float32"
	Float64 Precision = "float64"
)

// problem draws the data of a shape.
func problem(shape int, p Precision) Problem {
	s := shapes[shape]
	r := rand.New(rand.NewPCG(1, uint64(shape)))
	q := Problem{Widths: s.widths, NoiseVariance: 0.3, Float64: p == Float64, Inputs: normals(r, s.rows*s.widths[0])}
	if !s.classes {
		q.Targets = normals(r, s.rows)
		return q
	}
	for range s.rows {
		q.Labels = append(q.Labels, r.IntN(s.widths[len(s.widths)-1]))
	}
	return q
}

func normals(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func mustNet(t testing.TB, set kernel.Set, p Problem) *Net {
	t.Helper()
	p.Set = set
	return New(p)
}

// eachNet runs f as a subtest on every set of kernels and every shape.
func eachNet(t *testing.T, p Precision, f func(t *testing.T, n *Net, r *rand.Rand)) {
	for _, set := range kernel.Sets() {
		for i, s := range shapes {
			t.Run(fmt.Sprintf("%s/%v", set.Name(), s.widths), func(t *testing.T) {
				f(t, mustNet(t, set, problem(i, p)), rand.New(rand.NewPCG(2, uint64(i))))
			})
		}
	}
}

// ranges are row ranges at odd places: all, an empty one, single rows, inner
// ones.
func ranges(rows int) [][2]int {
	return [][2]int{{0, rows}, {0, 0}, {rows - 1, rows}, {1, rows / 2}, {rows / 3, rows}}
}

// The directional derivative of the potential of a range of rows must be the
// gradient's inner product with the direction. Central differences err by
// their step squared (1e-10) times a third derivative, and by round-off,
// 1e-16 of the potential over the step.
func TestGradientIsDerivativeOfPotential(t *testing.T) {
	eachNet(t, Float64, func(t *testing.T, n *Net, r *rand.Rand) {
		theta, u, g := normals(r, n.Dim()), normals(r, n.Dim()), make([]float64, n.Dim())
		const scale, h = 2.5, 1e-5
		for _, rows := range ranges(n.Rows()) {
			potential := func(h float64) float64 {
				x := moved(theta, h, u)
				return scale*n.NegLogLikelihood(x, rows[0], rows[1]) + dot(x, x)/2
			}
			n.Gradient(g, theta, Rows{Lo: rows[0], Hi: rows[1], Scale: scale})
			want := (potential(h) - potential(-h)) / (2 * h)
			got := dot(g, u)
			if tol := 1e-7 * (norm(g)*norm(u) + math.Abs(potential(0))); !(math.Abs(got-want) <= tol) {
				t.Errorf("rows %v: gradient·u = %g, difference quotient %g, tolerance %g", rows, got, want, tol)
			}
		}
	})
}

// A product with v must be the gradient's derivative along v; inside a linear
// region of the ReLUs the network is a polynomial, so the step can be small.
func TestHessianVectorIsDerivativeOfGradient(t *testing.T) {
	eachNet(t, Float64, func(t *testing.T, n *Net, r *rand.Rand) {
		theta, v := normals(r, n.Dim()), normals(r, n.Dim())
		hv, lo, hi := make([]float64, n.Dim()), make([]float64, n.Dim()), make([]float64, n.Dim())
		const scale = 1.5
		for _, rows := range ranges(n.Rows()) {
			n.HessianVector(hv, theta, v, Rows{Lo: rows[0], Hi: rows[1], Scale: scale})
			h := 1e-7 // keeps nearly all of the 455 × 200 ReLUs on their sides
			n.Gradient(lo, moved(theta, -h, v), Rows{Lo: rows[0], Hi: rows[1], Scale: scale})
			n.Gradient(hi, moved(theta, h, v), Rows{Lo: rows[0], Hi: rows[1], Scale: scale})
			for i := range hi {
				lo[i] = (hi[i]-lo[i])/(2*h) - hv[i]
			}
			// Round-off is 1e-16/h of the gradient, here at most some 1e3
			// times the product's own size.
			if d := norm(lo); !(d <= 1e-5*norm(hv)) {
				t.Errorf("rows %v: product differs from the quotient by %g of %g", rows, d, norm(hv))
			}
		}
	})
}

// The Hessian is symmetric whatever the network: u·Hv = v·Hu.
func TestHessianIsSymmetric(t *testing.T) {
	eachNet(t, Float64, func(t *testing.T, n *Net, r *rand.Rand) {
		theta, u, v := normals(r, n.Dim()), normals(r, n.Dim()), normals(r, n.Dim())
		hu, hv := make([]float64, n.Dim()), make([]float64, n.Dim())
		n.HessianVector(hu, theta, u, Rows{Lo: 0, Hi: n.Rows(), Scale: 2})
		n.HessianVector(hv, theta, v, Rows{Lo: 0, Hi: n.Rows(), Scale: 2})
		if a, b := dot(u, hv), dot(v, hu); !(math.Abs(a-b) <= 1e-12*norm(u)*norm(hv)) {
			t.Errorf("u·Hv = %g, v·Hu = %g", a, b)
		}
	})
}

// Float32 must give what float64 gives, to some units of
// 6e-8 times the square root of the number of terms of the longest sums. A
// ReLU whose input is 0 to rounding may fall to the other side; none does
// for these seeds.
func TestFloat32AgreesWithFloat64(t *testing.T) {
	for _, set := range kernel.Sets() {
		for i, s := range shapes {
			rounded, double := mustNet(t, set, problem(i, Float32)), mustNet(t, set, problem(i, Float64))
			r := rand.New(rand.NewPCG(3, uint64(i)))
			theta, v := normals(r, rounded.Dim()), normals(r, rounded.Dim())
			a, b := make([]float64, rounded.Dim()), make([]float64, rounded.Dim())
			for _, rows := range ranges(s.rows) {
				rounded.Gradient(a, theta, Rows{Lo: rows[0], Hi: rows[1], Scale: 2})
				double.Gradient(b, theta, Rows{Lo: rows[0], Hi: rows[1], Scale: 2})
				if d := relative(a, b); !(d <= 3e-6) {
					t.Errorf("%s %v rows %v: gradients differ by %g", set.Name(), s.widths, rows, d)
				}
				rounded.HessianVector(a, theta, v, Rows{Lo: rows[0], Hi: rows[1], Scale: 2})
				double.HessianVector(b, theta, v, Rows{Lo: rows[0], Hi: rows[1], Scale: 2})
				if d := relative(a, b); !(d <= 1e-5) {
					t.Errorf("%s %v rows %v: products differ by %g", set.Name(), s.widths, rows, d)
				}
			}
		}
	}
}

// Kicks in a row, on the state that the last one left, on one that was moved,
// and after another force, must be a drift, a gradient and an update: to the last bit.
func TestKicksAreThePlainOnes(t *testing.T) {
	for _, precision := range []Precision{Float32, Float64} {
		eachNet(t, precision, func(t *testing.T, n *Net, r *rand.Rand) {
			drift := kernel.Coef{All: 0.05}
			u := kernel.Update{P: kernel.Coef{All: 0.9}, A: kernel.Coef{All: -1e-3}, Q: one, S: drift, D: drift}
			fused, plain := u, u
			fused.Theta, fused.R = normals(r, n.Dim()), normals(r, n.Dim())
			plain.Theta, plain.R = slices.Clone(fused.Theta), slices.Clone(fused.R)
			plain.G = make([]float64, n.Dim())
			rows := ranges(n.Rows())[0]
			var ahead any
			for step := range 4 {
				xi := replayed(normals(r, n.Dim()))
				if step >= 2 {
					fused.R[0]++
					plain.R[0]++
					ahead = []any{nil, new(Net)}[step-2]
				}
				ahead = n.Kick(drift, &fused, xi, ahead, Rows{Lo: rows[0], Hi: rows[1], Scale: 2})
				kernel.Combine(plain.Theta, nil, kernel.Summand{C: one, X: plain.Theta}, kernel.Summand{C: drift, X: plain.R})
				n.Gradient(plain.G, plain.Theta, Rows{Lo: rows[0], Hi: rows[1], Scale: 2})
				xi.Update(&plain)
				if !slices.Equal(fused.Theta, plain.Theta) || !slices.Equal(fused.R, plain.R) {
					t.Fatalf("%v: step %d is not the plain one", precision, step)
				}
			}
		})
	}
}

// replayed is the noise of one vector.
type replayed []float64

func (xi replayed) Update(u *kernel.Update) { u.Apply(xi) }

// The terms of At must sum to what Gradient and HessianVector store: to the
// last bit, but for a gradient in float32 that shares its passes with a
// product.
func TestDerivativesAtCombinations(t *testing.T) {
	for precision, together := range map[Precision]float64{Float32: 3e-6, Float64: 0} {
		eachNet(t, precision, func(t *testing.T, n *Net, r *rand.Rand) {
			theta, moment, v := normals(r, n.Dim()), normals(r, n.Dim()), normals(r, n.Dim())
			vector := func() []float64 { return make([]float64, n.Dim()) }
			x, w, got, want := vector(), vector(), vector(), vector()
			half, minus := kernel.Coef{All: 0.5}, kernel.Coef{All: -1}
			xs, vs := []kernel.Summand{{C: one, X: theta}, {C: half, X: moment}}, []kernel.Summand{{C: minus, X: v}}
			for _, rows := range ranges(n.Rows()) {
				check := func(what string, term kernel.Summand, tol float64) {
					kernel.Combine(got, nil, term.Times(one))
					if d := norm(moved(got, -1, want)); !(d <= tol*norm(want)) {
						t.Errorf("%v rows %v: %s differs by %g of %g", precision, rows, what, d, norm(want))
					}
				}
				g, _ := n.At(x, xs, nil, nil, Rows{Lo: rows[0], Hi: rows[1], Scale: 2})
				n.Gradient(want, x, Rows{Lo: rows[0], Hi: rows[1], Scale: 2})
				check("the gradient alone", g, 0)
				g, _ = n.At(x, xs, w, vs, Rows{Lo: rows[0], Hi: rows[1], Scale: 2})
				check("the gradient made with a product", g, together)
				n.HessianVector(want, x, w, Rows{Lo: rows[0], Hi: rows[1], Scale: 2})
				_, hv := n.At(x, xs, w, vs, Rows{Lo: rows[0], Hi: rows[1], Scale: 2})
				check("the product", hv, 0)
			}
		})
	}
}

// Batches that leave vectors partly empty may have programs of their own. What
// another batch left in the empty part must not matter, not even one of a
// chain that diverged.
func TestSmallBatches(t *testing.T) {
	for _, set := range kernel.Sets() {
		for i, s := range shapes {
			rounded, double := mustNet(t, set, problem(i, Float32)), mustNet(t, set, problem(i, Float64))
			r := rand.New(rand.NewPCG(4, uint64(i)))
			a, b := make([]float64, rounded.Dim()), make([]float64, rounded.Dim())
			infinite := make([]float64, rounded.Dim())
			for j := range infinite {
				infinite[j] = math.Inf(1)
			}
			for rows := min(17, s.rows); rows > 0; rows-- {
				rounded.Gradient(a, infinite, Rows{Lo: 0, Hi: min(8, s.rows), Scale: 2})
				theta, lo := normals(r, rounded.Dim()), r.IntN(s.rows-rows+1)
				rounded.Gradient(a, theta, Rows{Lo: lo, Hi: lo + rows, Scale: 2})
				double.Gradient(b, theta, Rows{Lo: lo, Hi: lo + rows, Scale: 2})
				if d := relative(a, b); !(d <= 3e-6) {
					t.Errorf("%s %v: %d rows from %d on: gradients differ by %g", set.Name(), s.widths, rows, lo, d)
				}
			}
		}
	}
}

// The prior's part must not be rounded to float32.
func TestPriorIsExact(t *testing.T) {
	n := mustNet(t, kernel.Default(), problem(1, Float32))
	theta, g := make([]float64, n.Dim()), make([]float64, n.Dim())
	for i := range theta {
		theta[i] = -1 - 1e-12 // is -1 in float32
	}
	n.Gradient(g, theta, Rows{Lo: 0, Hi: 0, Scale: 1})
	for i, x := range g {
		if x != theta[i] {
			t.Fatalf("component %d of an empty batch's gradient is %v, want %v", i, x, theta[i])
		}
	}
	last := n.Dim() - 2 // the weight of a hidden unit
	n.Gradient(g, theta, Rows{Lo: 0, Hi: n.Rows(), Scale: 1e-30})
	if d := math.Abs(g[last] - theta[last]); !(d <= 1e-15) {
		t.Errorf("component %d is off by %g", last, d)
	}
}

// A plain evaluation of the network, written from its definition.
func plainOutputs(p Problem, theta []float64, row int) []float64 {
	d := p.Widths[0]
	f := append([]float64(nil), p.Inputs[row*d:(row+1)*d]...)
	for l, in := range p.Widths[:len(p.Widths)-1] {
		out := p.Widths[l+1]
		next := append([]float64(nil), theta[in*out:(in+1)*out]...)
		for i, x := range f {
			if l > 0 {
				x = max(x, 0)
			}
			for o := range next {
				next[o] += theta[i*out+o] * x / math.Sqrt(float64(in))
			}
		}
		f, theta = next, theta[(in+1)*out:]
	}
	return f
}

func TestOutputsAndLikelihoodFollowTheDefinition(t *testing.T) {
	for i, s := range shapes {
		p := problem(i, Float32)
		n := mustNet(t, kernel.Default(), p)
		theta := normals(rand.New(rand.NewPCG(4, 4)), n.Dim())
		width := s.widths[len(s.widths)-1]
		got := make([]float64, s.rows*width)
		n.Outputs(got, theta)
		nll := 0.0
		for row := range s.rows {
			want := plainOutputs(p, theta, row)
			if d := relative(got[row*width:(row+1)*width], want); !(d <= 1e-12) {
				t.Fatalf("%v row %d: outputs differ by %g", s.widths, row, d)
			}
			nll += plainLoss(p, want, row)
		}
		if v := n.NegLogLikelihood(theta, 0, s.rows); !(math.Abs(v-nll) <= 1e-11*math.Abs(nll)) {
			t.Errorf("%v: negative log-likelihood %g, want %g", s.widths, v, nll)
		}
	}
}

func plainLoss(p Problem, z []float64, row int) float64 {
	if p.Labels == nil {
		d := p.Targets[row] - z[0]
		return 0.5*math.Log(2*math.Pi*p.NoiseVariance) + d*d/(2*p.NoiseVariance)
	}
	sum := 0.0
	for _, x := range z {
		sum += math.Exp(x)
	}
	return math.Log(sum) - z[p.Labels[row]]
}

// Softmax of outputs far beyond the range of exp must stay finite.
func TestSoftmaxDoesNotOverflow(t *testing.T) {
	p := Problem{Widths: []int{1, 2}, Inputs: []float64{1, 1}, Labels: []int{0, 1}}
	for _, precision := range []Precision{Float32, Float64} {
		p.Float64 = precision == Float64
		n := mustNet(t, kernel.Default(), p)
		g := make([]float64, n.Dim())
		n.Gradient(g, []float64{1e4, 0, 0, 0}, Rows{Lo: 0, Hi: 2, Scale: 1})
		// Row 0 is right for sure, row 1 wrong for sure: (p − y) = ±1.
		want := []float64{1e4 + 1, -1, 1, -1}
		if d := relative(g, want); !(d <= 1e-7) {
			t.Errorf("%v: gradient %v, want %v", precision, g, want)
		}
		if v := n.NegLogLikelihood([]float64{1e4, 0, 0, 0}, 0, 2); v != 1e4 {
			t.Errorf("negative log-likelihood %g, want 10000", v)
		}
	}
}

func TestArrangePermutesRows(t *testing.T) {
	for i, s := range shapes {
		p := problem(i, Float32)
		moved, given := mustNet(t, kernel.Default(), p), mustNet(t, kernel.Default(), p)
		r := rand.New(rand.NewPCG(5, 5))
		theta, order := normals(r, moved.Dim()), r.Perm(s.rows)
		moved.Arrange(order)
		a, b := make([]float64, moved.Dim()), make([]float64, moved.Dim())
		for j, row := range order {
			moved.Gradient(a, theta, Rows{Lo: j, Hi: j + 1, Scale: 1})
			given.Gradient(b, theta, Rows{Lo: row, Hi: row + 1, Scale: 1})
			if d := relative(a, b); d != 0 {
				t.Fatalf("%v: row %d is not row %d of the data: gradients differ by %g", s.widths, j, row, d)
			}
			if x, y := moved.NegLogLikelihood(theta, j, j+1), given.NegLogLikelihood(theta, row, row+1); x != y {
				t.Fatalf("%v: row %d: likelihoods %g and %g", s.widths, j, x, y)
			}
		}
		moved.Arrange(nil)
		if x, y := moved.NegLogLikelihood(theta, 0, 2), given.NegLogLikelihood(theta, 0, 2); x != y {
			t.Errorf("%v: the given order was not restored", s.widths)
		}
	}
}

// A net that has met an overflow must recover: no value of a call may come
// from an earlier one.
func TestNothingSurvivesACall(t *testing.T) {
	for _, precision := range []Precision{Float32, Float64} {
		used, fresh := mustNet(t, kernel.Default(), problem(5, precision)), mustNet(t, kernel.Default(), problem(5, precision))
		r := rand.New(rand.NewPCG(6, 6))
		theta, v := normals(r, used.Dim()), normals(r, used.Dim())
		huge := moved(theta, math.Inf(1), v)
		a, b := make([]float64, used.Dim()), make([]float64, used.Dim())
		used.Gradient(a, huge, Rows{Lo: 0, Hi: used.Rows(), Scale: 1})
		used.HessianVector(a, huge, v, Rows{Lo: 0, Hi: used.Rows(), Scale: 1})
		for _, rows := range [][2]int{{3, 12}, {0, 70}, {69, 70}} {
			used.Gradient(a, theta, Rows{Lo: rows[0], Hi: rows[1], Scale: 1})
			fresh.Gradient(b, theta, Rows{Lo: rows[0], Hi: rows[1], Scale: 1})
			used.HessianVector(a, theta, v, Rows{Lo: rows[0], Hi: rows[1], Scale: 1})
			fresh.HessianVector(b, theta, v, Rows{Lo: rows[0], Hi: rows[1], Scale: 1})
			if d := relative(a, b); d != 0 {
				t.Errorf("%v rows %v: an overflow earlier changes the result by %g", precision, rows, d)
			}
		}
	}
}

func TestDerivativesAllocateNothing(t *testing.T) {
	for _, set := range kernel.Sets() {
		for _, precision := range []Precision{Float32, Float64} {
			for _, shape := range []int{4, 5} {
				n := mustNet(t, set, problem(shape, precision))
				theta := normals(rand.New(rand.NewPCG(7, 7)), n.Dim())
				g := make([]float64, n.Dim())
				if a := testing.AllocsPerRun(10, func() {
					n.Gradient(g, theta, Rows{Lo: 1, Hi: n.Rows(), Scale: 2})
					n.HessianVector(g, theta, theta, Rows{Lo: 1, Hi: n.Rows(), Scale: 2})
					n.NegLogLikelihood(theta, 0, 9)
				}); a != 0 {
					t.Errorf("%s %v: %g allocations, want 0", set.Name(), precision, a)
				}
			}
		}
	}
}

func moved(x []float64, h float64, u []float64) []float64 {
	y := append([]float64(nil), x...)
	for i := range y {
		y[i] += h * u[i]
	}
	return y
}

func dot(x, y []float64) float64 {
	s := 0.0
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }

// relative is the Euclidean distance of x to y over the norm of y; NaN is
// never equal.
func relative(x, y []float64) float64 {
	d := 0.0
	for i := range x {
		d += (x[i] - y[i]) * (x[i] - y[i])
	}
	return math.Sqrt(d) / norm(y)
}
