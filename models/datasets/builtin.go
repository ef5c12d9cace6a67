package datasets

import (
	"math"
	"math/rand/v2"

	"hambench/integrators/noise"
	"hambench/internal/kernel"
	"hambench/internal/mlp"
)

// builtinSeed is the first seed of the PCG generators that draw the built-in sets. The
// second seed is another number for each set.
const builtinSeed = 2022

// generator returns the generator of a built-in set.
func generator(set uint64) *rand.Rand { return rand.New(rand.NewPCG(builtinSeed, set)) }

// round6 rounds to six decimals. All drawn numbers are rounded, so that they are the
// same on processors whose arithmetic differs in the last bits.
func round6(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// makers fill the built-in sets of builtin.toml, by their names.
var makers = map[string]func(*Set){
	"toy": func(s *Set) { s.Y = []float64{4, -3.2} }, None: func(*Set) {},
	"linear": makeLinear, "logistic": makeLogistic,
	"teacher-reg": makeTeacherReg, "teacher-cls": makeTeacherCls,
}

// linearReach bounds the test inputs of linear, which cover [−1.2, 1.2]: more than the
// training inputs, so that predictions extrapolate.
const linearReach = 1.2

// makeLinear draws y = sin 2πx + ½ cos 5x + ε, ε ~ N(0, σ²). Training inputs are uniform
// on [−1, 0] and [0.4, 1], with a gap in which the posterior widens; test inputs are
// evenly spaced.
func makeLinear(s *Set) {
	rng := generator(1)
	for len(s.X) < s.TrainRows {
		if x := 2*rng.Float64() - 1; x < 0 || x > 0.4 {
			s.X = append(s.X, round6(x))
		}
	}
	s.X = append(s.X, even(s.TestRows, -linearReach, linearReach)...)
	for _, x := range s.X {
		f := math.Sin(2*math.Pi*x) + 0.5*math.Cos(5*x)
		s.Y = append(s.Y, round6(f+math.Sqrt(s.NoiseVariance)*rng.NormFloat64()))
	}
}

// makeLogistic draws labels with P(1 | x) = 1/(1 + exp(0.5 − 1.5x)). Inputs lie
// to one side of 0, so that the posterior's intercept and slope are correlated.
// Training inputs are uniform on [−1, 3], test inputs evenly spaced there.
func makeLogistic(s *Set) {
	rng := generator(2)
	for range s.TrainRows {
		s.X = append(s.X, round6(4*rng.Float64()-1))
	}
	s.X = append(s.X, even(s.TestRows, -1, 3)...)
	for _, x := range s.X {
		s.Labels = append(s.Labels, bernoulli(rng, 1.5*x-0.5))
	}
}

// even returns n points that divide [lo, hi] evenly, ends included.
func even(n int, lo, hi float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = round6(lo + (hi-lo)*float64(i)/float64(n-1))
	}
	return x
}

// bernoulli draws 1 with probability 1/(1 + e^−z), else 0.
func bernoulli(rng *rand.Rand, z float64) int {
	if rng.Float64() < 1/(1+math.Exp(-z)) {
		return 1
	}
	return 0
}

// makeTeacherReg draws targets y = √(1 − σ²) f(x) + ε, ε ~ N(0, σ²), with f a random
// network of unit variance over the rows, so that y has variance 1.
func makeTeacherReg(s *Set) {
	rng := generator(3)
	s.X = inputs(rng, s.Rows, s.Features)
	signal, noise := math.Sqrt(1-s.NoiseVariance), math.Sqrt(s.NoiseVariance)
	for _, f := range teacher(rng, s.X, []int{s.Features, 50, 50, 50, 50, 1}) {
		s.Y = append(s.Y, round6(signal*f+noise*rng.NormFloat64()))
	}
}

// teacherMargin is the standard deviation of the teacher's logits over the rows.
const teacherMargin = 3

// makeTeacherCls draws labels with P(1 | x) = 1/(1 + exp(−3f(x))), with f a random
// network of unit variance over the rows.
func makeTeacherCls(s *Set) {
	rng := generator(4)
	s.X = inputs(rng, s.Rows, s.Features)
	for _, f := range teacher(rng, s.X, []int{s.Features, 50, 50, 1}) {
		s.Labels = append(s.Labels, bernoulli(rng, teacherMargin*f))
	}
}

// inputs draws rows × features standard normals.
func inputs(rng *rand.Rand, rows, features int) []float64 {
	x := make([]float64, rows*features)
	for i := range x {
		x[i] = round6(rng.NormFloat64())
	}
	return x
}

// teacher returns the outputs of a network of the bnn model whose weights and
// biases are drawn from its prior, shifted and scaled to mean 0 and deviation 1
// over the rows.
func teacher(rng *rand.Rand, x []float64, widths []int) []float64 {
	f := make([]float64, len(x)/widths[0])
	net := mlp.New(mlp.Problem{
		Set: kernel.Plain(), Widths: widths, Inputs: x, Targets: f, Float64: true,
	})
	net.Outputs(f, noise.Normals(rng, net.Dim()))
	mean, sd := moments(f, 1, 0)
	rescale(f, 1, 0, mean, sd)
	return f
}
