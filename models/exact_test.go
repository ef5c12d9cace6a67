package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hambench/internal/kernel"
	"hambench/models/datasets"

	"gonum.org/v1/gonum/floats"
)

// The formulas of the paper's appendix "Toy example", with its numbers.
func TestToyIsThePapers(t *testing.T) {
	const thetaVar, xVar, x1, x2 = 0.5, 2.0, 4.0, -3.2
	v := xVar/thetaVar + 2
	posteriorVar := 1 / (1/thetaVar + 2/xVar)
	target, err := Builtin().New("toy", builtin(t, "toy"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	mean, sd := target.(Analytic).PredictiveMarginals()
	if want := (x1 + x2) / v; math.Abs(mean[0]-want) > 1e-15 {
		t.Errorf("posterior mean %g: want %g", mean[0], want)
	}
	if want := math.Sqrt(posteriorVar); math.Abs(sd[0]-want) > 1e-15 {
		t.Errorf("posterior deviation %g: want %g", sd[0], want)
	}
	theta, g, g2 := []float64{0.7}, make([]float64, 1), make([]float64, 1)
	for i, x := range []float64{x1, x2} {
		// ∇U_i = (θ − 2x_i/v)/σ_l², already scaled by K = 2.
		target.Gradient(g, theta, Rows{Lo: i, Hi: i + 1, Scale: 2})
		if want := (theta[0] - 2*x/v) / posteriorVar; math.Abs(g[0]-want) > 1e-14 {
			t.Errorf("gradient of observation %d is %g: want %g", i, g[0], want)
		}
	}
	target.Gradient(g2, theta, Rows{Lo: 0, Hi: 2, Scale: 1})
	if want := (theta[0] - (x1+x2)/v) / posteriorVar; math.Abs(g2[0]-want) > 1e-14 {
		t.Errorf("full gradient %g: want %g", g2[0], want)
	}
	up, down := target.Potential([]float64{1}), target.Potential([]float64{-0.5})
	m := (x1 + x2) / v
	if want := ((1-m)*(1-m) - (0.5+m)*(0.5+m)) / (2 * posteriorVar); math.Abs(up-down-want) > 1e-13 {
		t.Errorf("potential differs by %g: want %g", up-down, want)
	}
}

// affineModels are the models with an affine gradient.
func affineModels(t *testing.T) map[string]LinearGaussian {
	out := make(map[string]LinearGaussian)
	for _, name := range []string{"toy", "linear"} {
		target, err := Builtin().New(name, builtin(t, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		out[name] = target.(LinearGaussian)
	}
	return out
}

func TestAffineIsTheGradient(t *testing.T) {
	for name, target := range affineModels(t) {
		r := rand.New(rand.NewPCG(5, 0))
		target.Arrange(r.Perm(target.Rows()))
		dim := target.Dim()
		for _, rows := range rowsOf(target.Rows()) {
			p, s := target.Affine(rows)
			theta, g := normals(r, dim), make([]float64, dim)
			target.Gradient(g, theta, rows)
			want := make([]float64, dim)
			for i := range want {
				want[i] = dot(p[i*dim:(i+1)*dim], theta) - s[i]
				for j := range i {
					if p[i*dim+j] != p[j*dim+i] {
						t.Fatalf("%s: precision is not symmetric at %d, %d", name, i, j)
					}
				}
			}
			// Sums of 256 terms in two orders.
			if d := distance(g, want); d > 1e-12*(norm(g)+norm(s)) {
				t.Errorf("%s, %+v: Pθ − s is %.3g away from the gradient", name, rows, d)
			}
		}
	}
}

// The features and the length scale as the documentation has them: the
// kernel of the features must be near exp(−(x − x')²/2ℓ²) (D = 256 random
// frequencies err by about 1/√256, and 5 deviations are allowed, which one of
// 15 pairs exceeds once in 100 000 choices of frequencies; theirs are fixed).
func TestFeaturesApproximateTheKernel(t *testing.T) {
	x := []float64{-1, -0.9, -0.3, 0, 0.25, 1.1}
	phi := cosines(x, 1)
	for i, a := range x {
		for j, b := range x {
			got := dot(phi[i*trigonometric:(i+1)*trigonometric], phi[j*trigonometric:(j+1)*trigonometric])
			want := math.Exp(-(a - b) * (a - b) / (2 * linearLengthScale * linearLengthScale))
			if math.Abs(got-want) > 5/math.Sqrt(trigonometric) {
				t.Errorf("kernel at %g, %g is %.3f: want %.3f", a, b, got, want)
			}
		}
	}
}

// The marginals by brute force: the Gaussian process view of the same model,
// mean k*ᵀ(K + σ²I)⁻¹y and variance k** − k*ᵀ(K + σ²I)⁻¹k*, solved by
// elimination. It shares neither matrix nor solver with the weight view. Both
// systems have a condition number below 1e5, so 1e-9 is far above round-off.
func TestLinearPosteriorAgainstKernelView(t *testing.T) {
	s := builtin(t, "linear")
	target, err := Builtin().New("linear", s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mean, sd := target.(Analytic).PredictiveMarginals()
	if len(mean) != 200 || len(sd) != 200 || target.Outputs() != 200 {
		t.Fatalf("%d means, %d deviations, %d outputs: want 200", len(mean), len(sd), target.Outputs())
	}
	checkKernelView(t, target.(Analytic), s, cosines, trigonometric)
}

// checkKernelView compares marginals with those of the Gaussian process whose
// kernel is the inner product of dim features.
func checkKernelView(t *testing.T, target Analytic, s *datasets.Split, features func(x []float64, width int) []float64, dim int) {
	t.Helper()
	mean, sd := target.PredictiveMarginals()
	train, test := features(s.TrainX, s.Features), features(s.TestX, s.Features)
	n := len(s.TrainY)
	row := func(phi []float64, i int) []float64 { return phi[i*dim : (i+1)*dim] }
	gram := make([][]float64, n)
	for i := range gram {
		for j := range n {
			gram[i] = append(gram[i], dot(row(train, i), row(train, j)))
		}
		gram[i][i] += s.NoiseVariance
	}
	alpha := solve(gram, s.TrainY)
	for i := 0; i < len(mean); i += 37 {
		phi := row(test, i)
		k := make([]float64, n)
		for j := range k {
			k[j] = dot(phi, row(train, j))
		}
		if want := dot(k, alpha); math.Abs(mean[i]-want) > 1e-9 {
			t.Errorf("mean at row %d is %.12g: want %.12g", i, mean[i], want)
		}
		if want := math.Sqrt(dot(phi, phi) - dot(k, solve(gram, k))); math.Abs(sd[i]-want) > 1e-9 {
			t.Errorf("deviation at row %d is %.12g: want %.12g", i, sd[i], want)
		}
	}
}

// On several inputs the features are an intercept and the inputs.
func TestLinearPosteriorOnSeveralInputs(t *testing.T) {
	s := builtin(t, "teacher-reg")
	target, err := Builtin().New("linear", s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if target.Dim() != s.Features+1 {
		t.Fatalf("%d parameters: want %d slopes and an intercept", target.Dim(), s.Features)
	}
	checkKernelView(t, target.(Analytic), s, withOnes, target.Dim())
}

// solve is Gaussian elimination with pivoting.
func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
	m := make([][]float64, n)
	for i := range m {
		m[i] = append(slices.Clone(a[i]), b[i])
	}
	for c := range n {
		p := c
		for i := c; i < n; i++ {
			if math.Abs(m[i][c]) > math.Abs(m[p][c]) {
				p = i
			}
		}
		m[c], m[p] = m[p], m[c]
		for i := c + 1; i < n; i++ {
			floats.AddScaled(m[i][c:], -m[i][c]/m[c][c], m[c][c:])
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = (m[i][n] - dot(m[i][i+1:n], x[i+1:])) / m[i][i]
	}
	return x
}

// The gradient vanishes at the posterior's mean, the image of the zero draw.
func TestPosteriorMeanIsTheMode(t *testing.T) {
	for name, target := range affineModels(t) {
		theta, g := make([]float64, target.Dim()), make([]float64, target.Dim())
		target.(Analytic).DrawPosterior(theta)
		all := Rows{Lo: 0, Hi: target.Rows(), Scale: 1}
		_, s := target.Affine(all)
		if target.Gradient(g, theta, all); norm(g) > 1e-11*norm(s) {
			t.Errorf("%s: gradient %.3g at the posterior mean (shift %.3g)", name, norm(g), norm(s))
		}
	}
}

// Exact draws, seen through Predict, have the marginals' means and
// deviations. With 4000 draws the standard error is sd/63 of the mean and
// sd/89 of the deviation; 5.5 of them bound 200 outputs with a false-alarm
// rate of 1e-5. The seed is fixed.
func TestDrawPosteriorHasTheMarginals(t *testing.T) {
	const draws = 4000
	for name, target := range affineModels(t) {
		law := target.(Analytic)
		mean, sd := law.PredictiveMarginals()
		r := rand.New(rand.NewPCG(6, 0))
		sum, squares, out := make([]float64, len(mean)), make([]float64, len(mean)), make([]float64, len(mean))
		for range draws {
			theta := normals(r, target.Dim())
			law.DrawPosterior(theta)
			target.Predict(out, theta)
			for i, v := range out {
				z := (v - mean[i]) / sd[i]
				sum[i] += z / draws
				squares[i] += z * z / draws
			}
		}
		for i := range mean {
			if z := sum[i] * math.Sqrt(draws); math.Abs(z) > 5.5 {
				t.Errorf("%s: mean of output %d is %.1f standard errors off", name, i, z)
			}
			if z := (math.Sqrt(squares[i]) - 1) * math.Sqrt(2*draws); math.Abs(z) > 5.5 {
				t.Errorf("%s: deviation of output %d is %.1f standard errors off", name, i, z)
			}
		}
	}
}

// All sets of kernels give the linear model's gradient, up to the order of
// sums.
func TestLinearOnEverySetOfKernels(t *testing.T) {
	s := builtin(t, "linear")
	plain := newLinearOn(t, s, kernel.Sets()[len(kernel.Sets())-1])
	r := rand.New(rand.NewPCG(7, 0))
	for _, set := range kernel.Sets() {
		target := newLinearOn(t, s, set)
		for _, rows := range rowsOf(target.Rows()) {
			theta, g, want := normals(r, trigonometric), make([]float64, trigonometric), make([]float64, trigonometric)
			target.Gradient(g, theta, rows)
			plain.Gradient(want, theta, rows)
			if d := distance(g, want); d > 1e-13*norm(want)*16 { // √256 roundings
				t.Errorf("%s, %+v: %.3g away from plain Go", set.Name(), rows, d)
			}
		}
	}
}

func newLinearOn(t *testing.T, s *datasets.Split, set kernel.Set) *linear {
	t.Helper()
	target, err := newLinear(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := target.(*linear)
	l.kernels = set
	return l
}

// BenchmarkLinearGradient is the hot path of the bottleneck figure.
func BenchmarkLinearGradient(b *testing.B) {
	target, err := Builtin().New("linear", builtin(b, "linear"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	theta, g := make([]float64, trigonometric), make([]float64, trigonometric)
	for b.Loop() {
		target.Gradient(g, theta, Rows{Lo: 8, Hi: 16, Scale: 32})
	}
}
