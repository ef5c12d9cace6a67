package models

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hambench/internal/kernel"
	"hambench/models/datasets"
	"hambench/usage"

	"gonum.org/v1/gonum/floats"
)

// builtin returns the first split of a built-in data set.
func builtin(t testing.TB, name string) *datasets.Split {
	t.Helper()
	set, err := (&datasets.Resolver{Offline: true}).Load(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := set.Split(0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// vehicles is a data set of four classes with random inputs and labels.
func vehicles() *datasets.Split {
	r := rand.New(rand.NewPCG(3, 0))
	s := &datasets.Split{Name: "four", Task: datasets.Classification, Classes: 4, Features: 5, TargetScale: 1}
	for range 30 {
		s.TrainX = append(s.TrainX, normals(r, 5)...)
		s.TrainLabels = append(s.TrainLabels, r.IntN(4))
	}
	for range 7 {
		s.TestX = append(s.TestX, normals(r, 5)...)
		s.TestLabels = append(s.TestLabels, r.IntN(4))
	}
	return s
}

func normals(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

// subject is a model on data, with the variance of its prior.
type subject struct {
	name  string
	split *datasets.Split
	model string
	o     Options
	prior float64
}

func (s subject) on(t testing.TB, split *datasets.Split) Hessian {
	t.Helper()
	target, err := Builtin().New(s.model, split, s.o)
	if err != nil {
		t.Fatal(err)
	}
	return target.(Hessian)
}

// subjects are all models, the network as float64 at every task.
func subjects(t testing.TB) []subject {
	return []subject{
		{"toy", builtin(t, "toy"), "toy", Options{}, 0.5},
		{"logistic", builtin(t, "logistic"), "logistic", Options{}, 1},
		{"linear", builtin(t, "linear"), "linear", Options{}, 1},
		{"bnn/regression", builtin(t, "teacher-reg"), "bnn", Options{Precision: "float64", Hidden: []int{9, 4}}, 1},
		{"bnn/two classes", builtin(t, "teacher-cls"), "bnn", Options{Precision: "float64", Hidden: []int{6}}, 1},
		{"bnn/four classes", vehicles(), "bnn", Options{Precision: "float64", Hidden: []int{}}, 1},
		{"linear/thirteen features", builtin(t, "teacher-reg"), "linear", Options{}, 1},
		{"logistic/four classes", vehicles(), "logistic", Options{Precision: "float64"}, 1},
	}
}

// eachSubject runs f as a subtest on every model.
func eachSubject(t *testing.T, f func(t *testing.T, s subject, r *rand.Rand)) {
	for i, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) { f(t, s, rand.New(rand.NewPCG(1, uint64(i)))) })
	}
}

// rowsOf are batches at odd places, with odd scales.
func rowsOf(n int) []Rows {
	return []Rows{
		{Lo: 0, Hi: n, Scale: 1}, {Lo: 0, Hi: 0, Scale: 3}, {Lo: n - 1, Hi: n, Scale: float64(n)},
		{Lo: n / 3, Hi: n, Scale: 1.5}, {Lo: 0, Hi: n / 2, Scale: 2},
	}
}

// part returns the split whose training rows are the rows [lo, hi) of s in
// the given order.
func part(s *datasets.Split, order []int, lo, hi int) *datasets.Split {
	p := *s
	p.TrainX, p.TrainY, p.TrainLabels = nil, nil, nil
	for _, i := range order[lo:hi] {
		p.TrainX = append(p.TrainX, s.TrainX[i*s.Features:(i+1)*s.Features]...)
		if s.Task == datasets.Classification {
			p.TrainLabels = append(p.TrainLabels, s.TrainLabels[i])
		} else {
			p.TrainY = append(p.TrainY, s.TrainY[i])
		}
	}
	return &p
}

// batchPotential returns the function that a gradient of these rows
// differentiates, made of the potential of a target on those rows alone.
func batchPotential(t *testing.T, s subject, order []int, rows Rows) func(theta []float64) float64 {
	prior := func(theta []float64) float64 { return halfSquares(theta) / s.prior }
	if rows.Lo == rows.Hi {
		return prior
	}
	alone := s.on(t, part(s.split, order, rows.Lo, rows.Hi))
	return func(theta []float64) float64 {
		p := prior(theta)
		return rows.Scale*(alone.Potential(theta)-p) + p
	}
}

// The directional derivative of a batch's potential must be the gradient's
// inner product with the direction. Central differences of step h err by h²
// times a third derivative and by round-off, 1e-16 of the potential over h:
// with h = 1e-5 both are below 1e-8 of the potential's size for these models.
func TestGradientIsDerivativeOfPotential(t *testing.T) {
	eachSubject(t, func(t *testing.T, s subject, r *rand.Rand) {
		target := s.on(t, s.split)
		order := r.Perm(target.Rows())
		target.Arrange(order)
		for _, rows := range rowsOf(target.Rows()) {
			u := batchPotential(t, s, order, rows)
			theta, v, g := normals(r, target.Dim()), normals(r, target.Dim()), make([]float64, target.Dim())
			target.Gradient(g, theta, rows)
			got, want := dot(g, v), slope(u, theta, v, 1e-5)
			if size := math.Abs(u(theta)) + math.Abs(want); math.Abs(got-want) > 1e-7*size {
				t.Errorf("%+v: gradient along v is %.12g, differences give %.12g (size %.3g)", rows, got, want, size)
			}
			// The same comparison sees an error of one part in a thousand.
			if size := math.Abs(u(theta)) + math.Abs(want); rows.Hi > rows.Lo && math.Abs(1.001*got-want) < 1e-7*size {
				t.Errorf("%+v: comparison is blind to a gradient that is 0.1 %% too large", rows)
			}
		}
	})
}

// slope is a central difference of u along v.
func slope(u func([]float64) float64, theta, v []float64, h float64) float64 {
	plus, minus := make([]float64, len(theta)), make([]float64, len(theta))
	for i := range theta {
		plus[i], minus[i] = theta[i]+h*v[i], theta[i]-h*v[i]
	}
	return (u(plus) - u(minus)) / (2 * h)
}

// The Hessian-vector product must be the derivative of the gradient along v.
// Differences err as above; a ReLU's kink between the two points would show
// as a jump, which the seeds avoid.
func TestHessianVectorIsDerivativeOfGradient(t *testing.T) {
	eachSubject(t, func(t *testing.T, s subject, r *rand.Rand) {
		target := s.on(t, s.split)
		target.Arrange(r.Perm(target.Rows()))
		n := target.Dim()
		for _, rows := range rowsOf(target.Rows()) {
			theta, v := normals(r, n), normals(r, n)
			hv, up, down := make([]float64, n), make([]float64, n), make([]float64, n)
			target.HessianVector(hv, theta, v, rows)
			const h = 1e-6
			target.Gradient(up, shifted(theta, h, v), rows)
			target.Gradient(down, shifted(theta, -h, v), rows)
			for i := range up {
				up[i] = (up[i] - down[i]) / (2 * h)
			}
			if d, size := distance(hv, up), norm(hv)+norm(down); d > 1e-7*size {
				t.Errorf("%+v: product is %.3g away from the differences (size %.3g)", rows, d, size)
			}
		}
	})
}

func shifted(x []float64, h float64, v []float64) []float64 {
	y := append([]float64(nil), x...)
	floats.AddScaled(y, h, v)
	return y
}

func norm(x []float64) float64 { return math.Sqrt(2 * halfSquares(x)) }

func distance(a, b []float64) float64 { return norm(shifted(a, -1, b)) }

// What a fused target evaluates at a combination is its gradient and its
// product there, to float32's rounding of sums of hundreds of terms. A prior
// left out, or counted twice, shows.
func TestFusedTargetsEvaluateTheirDerivatives(t *testing.T) {
	eachSubject(t, func(t *testing.T, s subject, r *rand.Rand) {
		target := s.on(t, s.split)
		fused, ok := target.(Fused)
		if !ok {
			if s.model == "bnn" {
				t.Fatal("a network does not fuse its steps")
			}
			return
		}
		dim := fused.Dim()
		theta, direction := normals(r, dim), normals(r, dim)
		x, v, g, hv := make([]float64, dim), make([]float64, dim), make([]float64, dim), make([]float64, dim)
		want, wantHV := make([]float64, dim), make([]float64, dim)
		one := kernel.Coef{All: 1}
		for _, rows := range rowsOf(fused.Rows()) {
			gradient, product := fused.At(x, []kernel.Summand{{C: one, X: theta}}, v, []kernel.Summand{{C: one, X: direction}}, rows)
			kernel.Combine(g, nil, gradient.Times(one))
			kernel.Combine(hv, nil, product.Times(one))
			target.Gradient(want, theta, rows)
			target.HessianVector(wantHV, theta, direction, rows)
			for what, pair := range map[string][2][]float64{"gradient": {g, want}, "product": {hv, wantHV}} {
				if d, size := distance(pair[0], pair[1]), norm(pair[1]); !(d <= 1e-5*size) {
					t.Errorf("%+v: %s is off by %g of %g", rows, what, d, size)
				}
			}
		}
	})
}

// K batches, each with scale K, average to the full gradient, up to the
// round-off of sums of a few hundred terms.
func TestBatchGradientsAverageToFull(t *testing.T) {
	eachSubject(t, func(t *testing.T, s subject, r *rand.Rand) {
		target := s.on(t, s.split)
		n, dim := target.Rows(), target.Dim()
		theta, g := normals(r, dim), make([]float64, dim)
		full, mean := make([]float64, dim), make([]float64, dim)
		target.Gradient(full, theta, Rows{Lo: 0, Hi: n, Scale: 1})
		target.Arrange(r.Perm(n))
		for _, k := range []int{2, min(5, n), n} {
			clear(mean)
			for i := range k {
				target.Gradient(g, theta, Rows{Lo: i * n / k, Hi: (i + 1) * n / k, Scale: float64(k)})
				floats.AddScaled(mean, 1/float64(k), g)
			}
			if d := distance(mean, full); d > 1e-12*norm(full)*float64(k) {
				t.Errorf("K = %d: mean of batch gradients is %.3g away from the full one (%.3g)", k, d, norm(full))
			}
		}
	})
}

func TestArrange(t *testing.T) {
	eachSubject(t, func(t *testing.T, s subject, r *rand.Rand) {
		target := s.on(t, s.split)
		n, dim := target.Rows(), target.Dim()
		theta, g, want := normals(r, dim), make([]float64, dim), make([]float64, dim)
		first := Rows{Lo: 0, Hi: 1, Scale: 1}
		last := Rows{Lo: n - 1, Hi: n, Scale: 1}
		target.Gradient(want, theta, last)
		order := make([]int, n)
		for i := range order {
			order[i] = n - 1 - i
		}
		target.Arrange(order)
		if target.Gradient(g, theta, first); distance(g, want) > 1e-12*norm(want) {
			t.Errorf("after a reversal the first row is not the last one")
		}
		target.Arrange(nil)
		if target.Gradient(g, theta, last); distance(g, want) > 1e-12*norm(want) {
			t.Errorf("nil does not restore the given order")
		}
		if target.Gradient(g, theta, first); distance(g, want) < 1e-6*norm(want) {
			t.Errorf("first and last row cannot be told apart: the test is blind")
		}
	})
}

// Two targets on one split share the data and nothing else.
func TestTargetsAreIndependent(t *testing.T) {
	eachSubject(t, func(t *testing.T, s subject, r *rand.Rand) {
		a, b := s.on(t, s.split), s.on(t, s.split)
		theta := normals(r, a.Dim())
		before := b.Potential(theta)
		g, batch, want := make([]float64, a.Dim()), Rows{Lo: 0, Hi: 1, Scale: 1}, make([]float64, a.Dim())
		b.Gradient(want, theta, batch)
		a.Arrange(r.Perm(a.Rows()))
		a.Gradient(g, theta, batch)
		b.Gradient(g, theta, batch)
		if distance(g, want) != 0 || b.Potential(theta) != before {
			t.Error("arranging one target changed another")
		}
	})
}

func TestHotPathsDoNotAllocate(t *testing.T) {
	eachSubject(t, func(t *testing.T, s subject, r *rand.Rand) {
		target := s.on(t, s.split)
		dim, rows := target.Dim(), Rows{Lo: 0, Hi: (target.Rows() + 1) / 2, Scale: 2}
		theta, v, g := normals(r, dim), normals(r, dim), make([]float64, dim)
		out := make([]float64, target.Outputs())
		for name, f := range map[string]func(){
			"Gradient":      func() { target.Gradient(g, theta, rows) },
			"HessianVector": func() { target.HessianVector(g, theta, v, rows) },
			"Predict":       func() { target.Predict(out, theta) },
			"Potential":     func() { target.Potential(theta) },
			"DrawPrior":     func() { target.DrawPrior(v) },
			"Arrange":       func() { target.Arrange(nil) },
		} {
			if n := testing.AllocsPerRun(10, f); n != 0 {
				t.Errorf("%s allocates %g times", name, n)
			}
		}
	})
}

// A prior draw is the standard normals times the prior's deviation.
func TestDrawPrior(t *testing.T) {
	eachSubject(t, func(t *testing.T, s subject, r *rand.Rand) {
		target := s.on(t, s.split)
		z := normals(r, target.Dim())
		draw := append([]float64(nil), z...)
		target.DrawPrior(draw)
		for i := range z {
			if want := math.Sqrt(s.prior) * z[i]; math.Abs(draw[i]-want) > 1e-15 {
				t.Fatalf("coordinate %d: %g: want %g", i, draw[i], want)
			}
		}
	})
}

func TestProbabilitiesAddToOne(t *testing.T) {
	s := subjects(t)[5]
	target := s.on(t, s.split)
	p := make([]float64, target.Outputs())
	target.Predict(p, normals(rand.New(rand.NewPCG(4, 0)), target.Dim()))
	for i := range s.split.TestRows() {
		var sum float64
		for _, v := range p[4*i : 4*i+4] {
			if v <= 0 || v >= 1 {
				t.Errorf("row %d: probability %g", i, v)
			}
			sum += v
		}
		if math.Abs(sum-1) > 1e-15*4 { // four roundings
			t.Errorf("row %d: probabilities add to %.17g", i, sum)
		}
	}
}

func TestSigmoidAndSoftplusAtExtremes(t *testing.T) {
	for _, c := range []struct{ z, sigmoid, softplus float64 }{
		{0, 0.5, math.Ln2}, {-1000, 0, 0}, {1000, 1, 1000}, {-40, math.Exp(-40), math.Exp(-40)},
	} {
		if got := sigmoid(c.z); math.Abs(got-c.sigmoid) > 1e-15*c.sigmoid {
			t.Errorf("sigmoid(%g) = %g: want %g", c.z, got, c.sigmoid)
		}
		if got := softplus(c.z); math.Abs(got-c.softplus) > 1e-15*c.softplus {
			t.Errorf("softplus(%g) = %g: want %g", c.z, got, c.softplus)
		}
	}
}

func TestBadRequestsAreUsageErrors(t *testing.T) {
	reg, cls := builtin(t, "teacher-reg"), vehicles()
	for _, c := range []struct {
		reason, model string
		s             *datasets.Split
		o             Options
		want          string
	}{
		{"a misspelt model", "bnm", reg, Options{}, `unknown model "bnm" (did you mean bnn?): want one of toy, logistic, linear, bnn`},
		{"toy on data with features", "toy", reg, Options{}, `model "toy" wants targets without features: data set "teacher-reg"`},
		{"linear on classes", "linear", cls, Options{}, `wants regression on features`},
		{"logistic on a regression", "logistic", reg, Options{}, `wants features and classes`},
		{"a network without features", "bnn", builtin(t, "toy"), Options{}, `wants features`},
		{"an unknown precision", "bnn", reg, Options{Precision: "float16"}, `unknown precision "float16"`},
		{"an empty layer", "bnn", reg, Options{Hidden: []int{50, 0}}, `0 units in hidden layer 2`},
	} {
		_, err := Builtin().New(c.model, c.s, c.o)
		var u *usage.Error
		if !errors.As(err, &u) || !strings.Contains(fmt.Sprint(err), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v: want a usage error of one line with %q", c.reason, err, c.want)
		}
	}
}

func TestMisusePanics(t *testing.T) {
	eachSubject(t, func(t *testing.T, s subject, r *rand.Rand) {
		target := s.on(t, s.split)
		g, theta := make([]float64, target.Dim()), make([]float64, target.Dim())
		for name, f := range map[string]func(){
			"rows beyond the end":   func() { target.Gradient(g, theta, Rows{Lo: 0, Hi: target.Rows() + 1, Scale: 1}) },
			"a short gradient":      func() { target.Gradient(g[1:], theta, Rows{Lo: 0, Hi: 1, Scale: 1}) },
			"a short draw":          func() { target.DrawPrior(g[1:]) },
			"predictions too short": func() { target.Predict(make([]float64, target.Outputs()-1), theta) },
			"an order too short":    func() { target.Arrange([]int{}) },
		} {
			if !panics(f) {
				t.Errorf("%s: no panic", name)
			}
		}
	})
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}
