package certify

import (
	"hambench/certify/spectral"
	"hambench/integrators"
)

// Builtin returns the built-in problems: a Gaussian one with batches of
// unequal curvature and directions, a scalar one that is not Gaussian, and
// the paper's toy.
func Builtin() []*Problem { return []*Problem{gaussianBuiltin(), scalarBuiltin(), Toy()} }

// Named returns the problems that are known by name: the built-in ones, which stand for all, and
// those that stand for themselves alone.
func Named() []*Problem { return append(Builtin(), BottleneckProblem(), crossingProblem()) }

// crossingProblem has batches of unequal slopes, whose mean is the likelihood of the model of
// that name.
func crossingProblem() *Problem {
	p := &Problem{Name: "crossing", Kind: Crossing, Friction: 1}
	for _, s := range []float64{400, 800, 1200, 1600} {
		p.valleys = append(p.valleys, spectral.Valley{Slope: s, Precision: 1})
	}
	return p
}

// gaussianBuiltin has four batches of unequal curvature that pull apart.
func gaussianBuiltin() *Problem {
	p := &Problem{Name: "gaussian", Kind: Gaussian, Friction: 1.3}
	p.gaussian = []*integrators.Affine{
		integrators.NewAffine([]float64{2.0, 0.3, 0.3, 1.5}, []float64{1.0, -0.5}),
		integrators.NewAffine([]float64{1.0, 0.0, 0.0, 2.5}, []float64{0.0, 0.7}),
		integrators.NewAffine([]float64{0.6, -0.2, -0.2, 1.1}, []float64{-0.4, 0.9}),
		integrators.NewAffine([]float64{1.7, 0.5, 0.5, 0.8}, []float64{0.6, 0.1}),
	}
	return p
}

// scalarBuiltin has two batches whose potentials oscillate about a well.
func scalarBuiltin() *Problem {
	return &Problem{Name: "scalar", Kind: Scalar, Friction: 1, scalar: spectral.Mean{
		spectral.Oscillator{Stiffness: 1.0, Center: -0.1,
			Amplitude: 0.6, Frequency: 1.0, Phase: 0.6},
		spectral.Oscillator{Stiffness: 1.7, Center: -0.1,
			Amplitude: 0.5, Frequency: 1.4, Phase: 1.4},
	}}
}

// Toy is the paper's example of Appendix D: one parameter with prior
// N(0, 0.5), two data 4 and −3.2 of variance 2, friction 2. Both batches have
// the posterior's own curvature, 1/σ_l², and the shift 2x_i/(vσ_l²).
func Toy() *Problem {
	const (
		priorVariance = 0.5
		dataVariance  = 2.0
		curvature     = 1/priorVariance + 2/dataVariance // 1/σ_l²
		v             = dataVariance/priorVariance + 2
	)
	p := &Problem{Name: "toy", Kind: Gaussian, Friction: 2}
	for _, x := range []float64{4, -3.2} {
		p.gaussian = append(p.gaussian, integrators.NewAffine([]float64{curvature},
			[]float64{curvature * 2 * x / v}))
	}
	return p
}
