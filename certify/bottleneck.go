package certify

import (
	"math"

	"hambench/integrators"

	"gonum.org/v1/gonum/floats"
)

// BottleneckProblem is a small Bayesian linear model, the exact counterpart
// of the paper's Figure 1: features √(2/D) cos(ωx − π/4), prior N(0, I),
// Gaussian likelihood, cut into K batches of unequal curvature.
func BottleneckProblem() *Problem {
	const (
		batches, rowsPerBatch = 8, 2
		noiseVariance         = 1.0
		friction              = 2.0
	)
	omegas := []float64{0.4, 1.3, 2.7} // D of them
	p := &Problem{Name: "linear", Kind: Gaussian, Friction: friction}
	d := len(omegas)
	for i := range batches {
		// Of batch i: P = I + (K/σ²) Σ φφᵀ and s = (K/σ²) Σ yφ over its rows, with y = sin 2x.
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
			for j := range d { // row j of φφᵀ is φ_jφᵀ
				floats.AddScaled(precision[j*d:(j+1)*d], batches*phi[j]/noiseVariance, phi)
			}
			floats.AddScaled(shift, batches*math.Sin(2*x)/noiseVariance, phi)
		}
		p.gaussian = append(p.gaussian, integrators.NewAffine(precision, shift))
	}
	return p
}
