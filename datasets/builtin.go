package datasets

import (
	"math"
	"math/rand/v2"
)

// The built-in sets are drawn from fixed seeds, one of its own for each set
// (the second seed of its PCG), and rounded to six decimals: so they are the
// same numbers on processors whose arithmetic differs in the last bits.
const builtinSeed = 2022

func generator(set uint64) *rand.Rand { return rand.New(rand.NewPCG(builtinSeed, set)) }

func round6(x float64) float64 { return math.Round(x*1e6) / 1e6 }

// toySet has the two observations of the paper's appendix "Toy example",
// x = (4, −3.2), with σ_x² = 2.
func toySet() *Set {
	return &Set{
		Name: "toy", Task: Regression, Y: []float64{4, -3.2},
		NoiseVariance: 2, split: fixedSplit(2, 2), splits: 1, plain: true,
	}
}

// Sizes of the one-dimensional sets.
const (
	linearTrain, linearTest     = 128, 200
	linearReach                 = 1.2 // the test inputs cover [−1.2, 1.2]
	logisticTrain, logisticTest = 100, 100
)

// linearSet is a smooth function with noise of variance 0.1 (the paper's
// likelihood; it does not state its function). Training inputs are uniform on
// [−1, 1] without a gap from 0 to 0.4; test inputs lie evenly.
func linearSet() *Set {
	rng := generator(1)
	s := &Set{
		Name: "linear", Task: Regression, Features: 1,
		NoiseVariance: 0.1, split: fixedSplit(linearTrain+linearTest, linearTrain), splits: 1, plain: true,
	}
	for len(s.X) < linearTrain {
		if x := 2*rng.Float64() - 1; x < 0 || x > 0.4 {
			s.X = append(s.X, round6(x))
		}
	}
	s.X = append(s.X, even(linearTest, -linearReach, linearReach)...)
	for _, x := range s.X {
		f := math.Sin(2*math.Pi*x) + 0.5*math.Cos(5*x)
		s.Y = append(s.Y, round6(f+math.Sqrt(s.NoiseVariance)*rng.NormFloat64()))
	}
	return s
}

// logisticSet draws labels with P(1 | x) = 1/(1 + exp(0.5 − 1.5x)). Inputs lie
// to one side of 0, so that the posterior's intercept and slope are
// correlated.
func logisticSet() *Set {
	rng := generator(2)
	s := &Set{
		Name: "logistic", Task: Classification, Features: 1, Classes: 2,
		split: fixedSplit(logisticTrain+logisticTest, logisticTrain), splits: 1, plain: true,
	}
	for range logisticTrain {
		s.X = append(s.X, round6(4*rng.Float64()-1))
	}
	s.X = append(s.X, even(logisticTest, -1, 3)...)
	for _, x := range s.X {
		s.Labels = append(s.Labels, bernoulli(rng, 1.5*x-0.5))
	}
	return s
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

// The teacher sets have the sizes and the networks of Boston and Ionosphere.
const (
	teacherNoise  = 0.2 // Boston's σ²
	teacherMargin = 3   // deviation of the teacher's logits
)

// teacherRegSet is a random network with Gaussian noise: its values have
// variance 1 − σ², the targets 1.
func teacherRegSet() *Set {
	rng := generator(3)
	s := &Set{
		Name: "teacher-reg", Task: Regression, Features: 13,
		NoiseVariance: teacherNoise, split: publishedSplits(506), splits: maxSplits,
	}
	s.X = inputs(rng, 506, s.Features)
	signal := math.Sqrt(1 - teacherNoise)
	for _, f := range teacher(rng, s.X, []int{13, 50, 50, 50, 50, 1}) {
		s.Y = append(s.Y, round6(signal*f+math.Sqrt(teacherNoise)*rng.NormFloat64()))
	}
	return s
}

// teacherClsSet draws labels from a random network's logits.
func teacherClsSet() *Set {
	rng := generator(4)
	s := &Set{
		Name: "teacher-cls", Task: Classification, Features: 34, Classes: 2,
		split: permuted(ownSeed, 351, 301, 34), splits: maxSplits,
	}
	s.X = inputs(rng, 351, s.Features)
	for _, f := range teacher(rng, s.X, []int{34, 50, 50, 1}) {
		s.Labels = append(s.Labels, bernoulli(rng, teacherMargin*f))
	}
	return s
}

func inputs(rng *rand.Rand, rows, features int) []float64 {
	x := make([]float64, rows*features)
	for i := range x {
		x[i] = round6(rng.NormFloat64())
	}
	return x
}

// teacher returns the outputs of a ReLU network with weights and biases drawn
// from the prior of the bnn model (NTK scaling), shifted and scaled to mean 0
// and deviation 1 over the rows.
func teacher(rng *rand.Rand, x []float64, widths []int) []float64 {
	f := x
	for l, in := range widths[:len(widths)-1] {
		f = denseLayer(rng, f, in, widths[l+1], l > 0)
	}
	mean, sd := moments(f, 1, 0)
	rescale(f, 1, 0, mean, sd)
	return f
}

// denseLayer returns W φ(f)/√in + b for each row of f, φ the ReLU if relu, with
// new standard-normal W and b.
func denseLayer(rng *rand.Rand, f []float64, in, out int, relu bool) []float64 {
	w := make([]float64, (in+1)*out) // the last row is b
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	rows := len(f) / in
	g := make([]float64, rows*out)
	for r := range rows {
		y := g[r*out : (r+1)*out]
		for i, v := range f[r*in : (r+1)*in] {
			if relu {
				v = max(v, 0)
			}
			for o := range y {
				y[o] += v * w[i*out+o]
			}
		}
		for o := range y {
			y[o] = y[o]/math.Sqrt(float64(in)) + w[in*out+o]
		}
	}
	return g
}
