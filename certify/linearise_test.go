package certify

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/datasets"
	"hambench/minibatch"
	"hambench/models"
	"hambench/noise"
)

// targetOf is a model on the first split of a built-in data set.
func targetOf(t testing.TB, model, dataset string) models.Target {
	t.Helper()
	set, err := (&datasets.Resolver{Offline: true}).Load(t.Context(), dataset)
	if err != nil {
		t.Fatal(err)
	}
	split, err := set.Split(0)
	if err != nil {
		t.Fatal(err)
	}
	return modelOn(t, model, split)
}

func modelOn(t testing.TB, model string, split *datasets.Split) models.Target {
	t.Helper()
	target, err := models.Builtin().New(model, split, models.Options{Precision: "float64"})
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// threeClasses is a split of 60 rows with two features.
func threeClasses() *datasets.Split {
	rng := rand.New(rand.NewPCG(3, 1))
	s := &datasets.Split{Name: "three", Task: datasets.Classification, Classes: 3, Features: 2, TargetScale: 1}
	for i := range 60 {
		s.TrainX = append(s.TrainX, rng.NormFloat64()+float64(i%3), rng.NormFloat64()-float64(i%3))
		s.TrainLabels = append(s.TrainLabels, (i+rng.IntN(5)/4)%3)
	}
	return s
}

func linearised(t testing.TB, name string, target models.Target, batches int) *Problem {
	t.Helper()
	p, err := Linearise(name, target, batches, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A normal posterior is its linearisation at the mode: mean and covariance are those of
// its exact draws, which are affine in the normals that they are made of. With K
// batches, these are of unequal size.
func TestLinearisationOfANormalPosteriorIsThePosterior(t *testing.T) {
	for _, tt := range []struct {
		model, dataset string
		batches        int
	}{{"toy", "toy", 2}, {"linear", "teacher-reg", 57}, {"linear", "linear", 3}} {
		target := targetOf(t, tt.model, tt.dataset)
		p := linearised(t, tt.model, target, tt.batches)
		f, err := newFrame(meanAffine(p.gaussian), nil)
		if err != nil {
			t.Fatal(err)
		}
		if p.Batches() != tt.batches || p.assumed != "" {
			t.Errorf("%s on %s: K = %d, assumed %q", tt.model, tt.dataset, p.Batches(), p.assumed)
		}
		d, law := p.Dim(), target.(models.Analytic)
		mean := make([]float64, d)
		law.DrawPosterior(mean)
		colour := mat.NewDense(d, d, nil)
		for j := range d {
			draw := unit(d, j)
			law.DrawPosterior(draw)
			colour.SetCol(j, floats.SubTo(draw, draw, mean))
		}
		var want, got, scale mat.Dense
		want.Mul(colour, colour.T())
		got.Mul(f.colour, f.colour.T())
		scale.Sub(&got, &want)
		if off := floats.Distance(f.centre, mean, math.Inf(1)); !(off <= 1e-8) {
			t.Errorf("%s on %s: the mean is %.3g off", tt.model, tt.dataset, off)
		}
		if off := largest(scale.RawMatrix().Data); !(off <= 1e-8) {
			t.Errorf("%s on %s: the covariance is %.3g off", tt.model, tt.dataset, off)
		}
	}
}

// plainTarget hides what a target can do beyond gradients.
type plainTarget struct{ models.Target }

// Near the mode every batch of a chain of the seed has the model's own gradient: at the mode itself, and along
// random directions by central differences, whose error is of the second order in
// their step of 1e-4. Without Hessian-vector products the problem is the same to the
// error of its own differences.
func TestLinearisationHasTheModelsGradients(t *testing.T) {
	for name, target := range map[string]models.Target{
		"logistic": targetOf(t, "logistic", "logistic"), "softmax": modelOn(t, "logistic", threeClasses()), "35 parameters": targetOf(t, "logistic", "teacher-cls"),
	} {
		const k, e = 7, 1e-4
		bare := linearised(t, name, plainTarget{target}, k)
		p := linearised(t, name, target, k)
		d, n := p.Dim(), target.Rows()
		chain, err := schemeOf(t, "reshuffle").New(n, k, noise.New(1, noise.StreamBatches).Rand())
		if err != nil {
			t.Fatal(err)
		}
		target.Arrange(chain.Arrangement())
		mean := meanAffine(p.gaussian)
		f, err := newFrame(mean, nil)
		if err != nil {
			t.Fatal(err)
		}
		mode, g, ahead, back := f.centre, make([]float64, d), make([]float64, d), make([]float64, d)
		target.Gradient(g, mode, models.Rows{Lo: 0, Hi: n, Scale: 1})
		if size := floats.Norm(g, 2); !(size <= 1e-5) {
			t.Errorf("%s: the gradient at the mode is %.3g", name, size)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		v := make([]float64, d)
		for i := range k {
			for j := range v {
				v[j] = rng.NormFloat64()
			}
			b := minibatch.Cut(n, k, i)
			rows := models.Rows{Lo: b.Lo, Hi: b.Hi, Scale: b.Scale}
			target.Gradient(g, mode, rows)
			if off := floats.Distance(g, gradient(p.gaussian[i], mode), 2); !(off <= 1e-6) {
				t.Errorf("%s, batch %d: the gradient at the mode is %.3g off", name, i, off)
			}
			target.Gradient(ahead, floats.AddScaledTo(make([]float64, d), mode, e, v), rows)
			target.Gradient(back, floats.AddScaledTo(make([]float64, d), mode, -e, v), rows)
			floats.Scale(1/(2*e), floats.SubTo(ahead, ahead, back))
			p.gaussian[i].HessianVector(g, nil, v)
			if off := floats.Distance(g, ahead, 2); !(off <= 1e-5*floats.Norm(g, 2)) {
				t.Errorf("%s, batch %d: the gradient along a direction is %.3g off, of %.3g", name, i, off, floats.Norm(g, 2))
			}
			if off := floats.Distance(p.gaussian[i].Precision, bare.gaussian[i].Precision, math.Inf(1)); !(off <= 1e-4*largest(p.gaussian[i].Precision)) {
				t.Errorf("%s, batch %d: differences of gradients are %.3g off", name, i, off)
			}
		}
		if p.assumed == "" {
			t.Errorf("%s: nothing is assumed of a posterior that is not normal", name)
		}
	}
}

// ridge has no mode, only a flat direction, in which it is concave a little.
type ridge struct{ models.Target }

func (ridge) Dim() int { return 2 }
func (ridge) Potential(theta []float64) float64 {
	return theta[0]*theta[0]/2 - 1e-3*theta[1]*theta[1]/(1+theta[1]*theta[1])
}
func (ridge) Gradient(g, theta []float64, _ models.Rows) {
	s := 1 + theta[1]*theta[1]
	g[0], g[1] = theta[0], -2e-3*theta[1]/(s*s)
}
func (ridge) DrawPrior([]float64) {}

func TestWhatHasNoLinearisationIsRefused(t *testing.T) {
	for want, target := range map[string]models.Target{
		"has 8401 parameters: want at most 500": targetOf(t, "bnn", "teacher-reg"),
		"convex where the search ended":         ridge{targetOf(t, "toy", "toy")},
		"networks have none":                    targetOf(t, "bnn:2", "logistic"),
	} {
		if _, err := Linearise("a model", target, 2, 5, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v: want %q", err, want)
		}
	}
}

// Batches that share their axes pull nothing across them: the softest and the stiffest
// direction, among fewer, have the worst average of all.
func TestProjectionKeepsWhatDirectionsShare(t *testing.T) {
	turn := mat.NewDense(6, 6, nil)
	rng := rand.New(rand.NewPCG(1, 2))
	turn.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, turn)
	var qr mat.QR
	qr.Factorize(turn)
	qr.QTo(turn)
	p := &Problem{Name: "commuting", Kind: Gaussian, Friction: 2}
	for i := range 3 {
		scale := mat.NewDiagDense(6, []float64{0.5, 1, 2, 3, 5, 8})
		for j := range 6 {
			scale.SetDiag(j, scale.At(j, j)*(1+0.3*float64(i-1)))
		}
		var precision mat.Dense
		precision.Product(turn, scale, turn.T())
		p.gaussian = append(p.gaussian, newAffineForce(precision.RawMatrix().Data, make([]float64, 6)))
	}
	few, err := p.projected()
	if err != nil {
		t.Fatal(err)
	}
	if kept := meanAffine(few.gaussian).Precision; math.Abs(kept[0]-0.5) > 1e-9 || math.Abs(kept[len(kept)-1]-8) > 1e-9 {
		t.Errorf("curvatures from %v to %v were kept, want 0.5 to 8", kept[0], kept[len(kept)-1])
	}
	o := Options{Problem: p, Budgets: []float64{1000}, Steps: []float64{0.2}, quick: true}
	whole := answersOf(t, o, "obabo", "replacement").Budgets[0]
	o.Problem = few
	part := answersOf(t, o, "obabo", "replacement").Budgets[0]
	if few.Dim() != directions || !(math.Abs(float64(whole.MSE[0]-part.MSE[0])) <= 1e-6*float64(whole.MSE[0])) {
		t.Errorf("%d directions have the error %v, all have %v", few.Dim(), part.MSE[0], whole.MSE[0])
	}
}
