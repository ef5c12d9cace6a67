package certify

import (
	"context"
	"math"

	"hambench/integrators"
)

// bottleneckIntegrators are of order 1, 2 and 3 in every observable.
// (leapfrog would not do: its θ-covariance is exact on a Gaussian.)
var bottleneckIntegrators = []string{"euler", "lietrotter", "mt3"}

// BottleneckProblem is a small Bayesian linear model, the exact counterpart
// of the paper's Figure 1: features √(2/D) cos(ωx − π/4), prior N(0, I),
// Gaussian likelihood, cut into K batches of unequal curvature.
func BottleneckProblem() *Problem {
	const (
		batches, rowsPerBatch = 8, 2
		noiseVariance         = 1.0
		friction              = 2.0
	)
	omegas := []float64{0.4, 1.3, 2.7}
	p := &Problem{Name: "linear", Kind: Gaussian, Friction: friction}
	d := len(omegas)
	for i := range batches {
		precision, shift := make([]float64, d*d), make([]float64, d)
		for j := range d {
			precision[j*d+j] = 1 // the prior: K times a share of 1/K
		}
		for l := range rowsPerBatch {
			// Neighbouring inputs share a batch, so that batches see different
			// directions.
			x := -2 + 4*(float64(i*rowsPerBatch+l)+0.5)/(batches*rowsPerBatch)
			phi := make([]float64, d)
			for j, w := range omegas {
				phi[j] = math.Sqrt(2/float64(d)) * math.Cos(w*x-math.Pi/4)
			}
			for j := range d {
				addScaled(precision[j*d:(j+1)*d], batches*phi[j]/noiseVariance, phi)
			}
			addScaled(shift, batches*math.Sin(2*x)/noiseVariance, phi)
		}
		p.gaussian = append(p.gaussian, newAffineForce(precision, shift))
	}
	return p
}

// BottleneckOptions say what makes the paper's Figure 1 without noise:
// integrators of order 1, 2 and 3 on BottleneckProblem, with mini-batches in
// random orders and with the full batch, from large steps to small ones.
func BottleneckOptions() (Options, error) {
	o := Options{Problem: BottleneckProblem()}
	for _, name := range bottleneckIntegrators {
		m, err := integrators.Builtin().Lookup(name)
		if err != nil {
			return o, err
		}
		o.Integrators = append(o.Integrators, m)
	}
	for h := 0.16; h > 6e-4; h /= math.Sqrt2 {
		o.Steps = append(o.Steps, h)
	}
	var err error
	o.Schemes, err = Schemes("reshuffle", "full")
	return o, err
}

// Bottleneck computes the exact errors of BottleneckOptions. Under
// mini-batches the third-order scheme gains nothing over the second.
func Bottleneck(ctx context.Context) ([]Row, error) {
	o, err := BottleneckOptions()
	if err != nil {
		return nil, err
	}
	return Run(ctx, o)
}
