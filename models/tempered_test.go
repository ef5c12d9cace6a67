package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// temperings are one of each kind for a target of a dimension.
func temperings(r *rand.Rand, dim int) []Tempering {
	return []Tempering{
		{Temperature: 2.5},
		{Temperature: 1, Localisation: 3, Centre: normals(r, dim)},
		{Temperature: 0.2, Localisation: 0.7, Centre: normals(r, dim)},
	}
}

// Every model's gradient and Hessian-vector product are derivatives of U/T + γ|θ − θ*|²/2,
// with the likelihood's scale of a batch inside of it: differences and their errors are those
// of TestGradientIsDerivativeOfPotential.
func TestATemperedTargetIsOfItsPotential(t *testing.T) {
	eachSubject(t, func(t *testing.T, s subject, r *rand.Rand) {
		order := r.Perm(s.on(t, s.split).Rows())
		for _, m := range temperings(r, s.on(t, s.split).Dim()) {
			target, err := m.On(s.on(t, s.split))
			if err != nil {
				t.Fatal(err)
			}
			target.Arrange(order)
			n := target.Dim()
			tie := func(theta []float64) float64 {
				if m.Localisation == 0 {
					return 0
				}
				return m.Localisation * halfSquares(shifted(theta, -1, m.Centre))
			}
			plain := s.on(t, s.split)
			at := normals(r, n)
			if got, want := target.Potential(at), plain.Potential(at)/m.Temperature+tie(at); math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Errorf("%+v: potential %v, want %v", m, got, want)
			}
			for _, rows := range rowsOf(target.Rows()) {
				batch := batchPotential(t, s, order, rows)
				u := func(theta []float64) float64 { return batch(theta)/m.Temperature + tie(theta) }
				theta, v, g := normals(r, n), normals(r, n), make([]float64, n)
				target.Gradient(g, theta, rows)
				got, want := dot(g, v), slope(u, theta, v, 1e-5)
				if size := math.Abs(u(theta)) + math.Abs(want); math.Abs(got-want) > 1e-7*size {
					t.Errorf("T = %v, γ = %v, %+v: gradient along v is %.12g, differences give %.12g", m.Temperature, m.Localisation, rows, got, want)
				}
				hv, up, down := make([]float64, n), make([]float64, n), make([]float64, n)
				CapabilitiesOf(target).Hessian.HessianVector(hv, theta, v, rows)
				const h = 1e-6
				target.Gradient(up, shifted(theta, h, v), rows)
				target.Gradient(down, shifted(theta, -h, v), rows)
				floats.Sub(up, down)
				floats.Scale(1/(2*h), up)
				if d, size := distance(hv, up), norm(hv)+norm(down); d > 1e-7*size {
					t.Errorf("T = %v, γ = %v, %+v: product is %.3g away from the differences (size %.3g)", m.Temperature, m.Localisation, rows, d, size)
				}
			}
		}
	})
}

// The law of a tempered linear model against its closed form by another way: the precision
// is P/T + γI and the mean solves (P/T + γI) m = s/T + γθ*, by Gaussian elimination, and the
// exact draws have the mean and the variance of the marginals. In all temperings of the three
// models 21 means and as many mean squares of 4000 draws are tested: one is beyond 5 of its
// standard errors once in 35 000 seeds.
func TestTheLawOfATemperedLinearModel(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	for _, name := range []string{"toy", "teacher-reg", "affine"} {
		newTarget := func() Target {
			model, data := "linear", "teacher-reg"
			if name == "toy" {
				model, data = name, name
			}
			target, err := Builtin().New(model, builtin(t, data), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if name == "affine" {
				return affine{target.(*linear)}
			}
			return target
		}
		n := newTarget().Dim()
		for _, m := range temperings(r, n) {
			target, err := m.On(newTarget())
			if err != nil {
				t.Fatal(err)
			}
			law := CapabilitiesOf(target).Analytic
			precision, shift := newTarget().(LinearGaussian).Affine(Rows{Lo: 0, Hi: target.Rows(), Scale: 1})
			rows, rhs := make([][]float64, n), make([]float64, n)
			for i := range rows {
				rows[i] = slices.Clone(precision[i*n : (i+1)*n])
				floats.Scale(1/m.Temperature, rows[i])
				rows[i][i] += m.Localisation
				rhs[i] = shift[i] / m.Temperature
				if m.Localisation > 0 {
					rhs[i] += m.Localisation * m.Centre[i]
				}
			}
			mean := solve(rows, rhs)
			want := make([]float64, target.Outputs())
			target.Predict(want, mean)
			means, sds := law.PredictiveMarginals()
			for o := range want {
				if math.Abs(means[o]-want[o]) > 1e-9*(1+math.Abs(want[o])) {
					t.Errorf("%s, T = %v, γ = %v: mean %v of output %d, want %v", name, m.Temperature, m.Localisation, means[o], o, want[o])
				}
			}
			const draws = 4000
			sum, squares, out := make([]float64, len(want)), make([]float64, len(want)), make([]float64, len(want))
			for range draws {
				theta := normals(r, n)
				law.DrawPosterior(theta)
				target.Predict(out, theta)
				for o, f := range out {
					z := (f - means[o]) / sds[o]
					sum[o] += z / draws
					squares[o] += z * z / draws
				}
			}
			for o := range min(3, len(want)) {
				if math.Abs(sum[o])*math.Sqrt(draws) > 5 || math.Abs(squares[o]-1)*math.Sqrt(draws/2) > 5 {
					t.Errorf("%s, T = %v, γ = %v, output %d: standardised draws have mean %v and mean square %v", name, m.Temperature, m.Localisation, o, sum[o], squares[o])
				}
			}
		}
	}
}

// affine is a user's linear model whose predictions have a constant, as in the target's own units.
type affine struct{ *linear }

func (a affine) Predict(dst, theta []float64) {
	a.linear.Predict(dst, theta)
	for o := range dst {
		dst[o] = 5*dst[o] + float64(o+1)
	}
}

// skewed is one whose outputs are not normal.
type skewed struct{ *linear }

func (skewed) CDF(int, float64) float64 { return 0.5 }

func TestATemperedLawThatIsNotNormalIsNotKnown(t *testing.T) {
	plain, err := Builtin().New("linear", builtin(t, "teacher-reg"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	target, err := (Tempering{Temperature: 2}).On(skewed{plain.(*linear)})
	if err != nil || CapabilitiesOf(target).Analytic != nil {
		t.Errorf("%v: outputs that are not normal are so at another temperature", err)
	}
}

func TestATemperedTargetKeepsWhatItCan(t *testing.T) {
	for model, want := range map[string]string{
		"bnn": "Gatherer Hessian Likelihood Scorer", "linear": "Analytic Gatherer Hessian Likelihood LinearGaussian Named Scorer",
	} {
		plain, err := Builtin().New(model, builtin(t, "teacher-reg"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		target, err := (Tempering{Temperature: 2}).On(plain)
		if err != nil || !Tempered(target) || Tempered(plain) {
			t.Fatalf("%v, %v", target, err)
		}
		c := CapabilitiesOf(target)
		if got := has(c); !slices.Equal(got, strings.Fields(want)) || c.Name != model {
			t.Errorf("%s has %v: want %s", c.Name, got, want)
		}
		same, err := (Tempering{Temperature: 1}).On(plain)
		if err != nil || same != plain {
			t.Errorf("temperature 1 changes the target: %v", err)
		}
	}
}

func TestBadTemperingsAreUsageErrors(t *testing.T) {
	for want, m := range map[string]Tempering{
		"temperature -1: want a finite number > 0":                        {Temperature: -1},
		"temperature NaN: want a finite number > 0":                       {Temperature: math.NaN()},
		"temperature 1e-31: want 1e-30 or more":                           {Temperature: 1e-31},
		"localisation -2: want a finite number, 0 or more":                {Temperature: 1, Localisation: -2},
		"a centre of 2 numbers for model \"toy\", which has 1 parameters": {Temperature: 1, Localisation: 2, Centre: []float64{1, 2}},
	} {
		plain, err := Builtin().New("toy", builtin(t, "toy"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.On(plain); err == nil || err.Error() != want {
			t.Errorf("%v: want %s", err, want)
		}
	}
}

// The fingerprint is of numbers that are equal on all machines: another one is another
// tempering.
func TestTheFingerprintOfTemperings(t *testing.T) {
	if got, err := TemperedFingerprint(); err != nil || got != "b5bf6f35f2852ebde5475ca5bfb4c1b0" {
		t.Errorf("%s, %v", got, err)
	}
}
