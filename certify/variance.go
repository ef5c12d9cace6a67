package certify

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/integrators"
)

// correct tells an integrator that lessens its noise by the variance of the
// mini-batch gradient (sghmc) what that variance is, per coordinate; nil stands
// for 0. A chain finds it by a running mean along its own path, whose law is the
// target's but for the errors that are looked for.
func correct(in *integrators.Integrator, variance []float64) {
	if v, ok := in.Kernel.(integrators.VarianceCorrected); ok {
		if variance == nil {
			variance = make([]float64, in.Dim)
		}
		v.SetGradientVariance(variance)
	}
}

// gradientVariance is E_θ E_i (∇U_i − ∇U)² under the target, per coordinate, of
// batches that are moved to the frame's centre.
func gradientVariance(f *frame, mean *affineForce, batches []*affineForce) []float64 {
	out := make([]float64, f.d)
	for _, b := range batches {
		var differs, spread mat.Dense
		differs.Sub(mat.NewDense(f.d, f.d, b.affine.Precision), mat.NewDense(f.d, f.d, mean.affine.Precision))
		spread.Mul(&differs, f.colour)
		for i, s := range b.affine.Shift {
			row := spread.RawRowView(i)
			out[i] += (floats.Dot(row, row) + s*s) / float64(len(batches))
		}
	}
	return out
}

// gradientSpread returns E_i (U_i′ − U′)² at the nodes of a scalar target, and
// its mean under the target.
func gradientSpread(batches []ScalarPotential, target *density) (at []float64, average float64) {
	at = make([]float64, len(target.x))
	for j, x := range target.x {
		whole := scalarMean(batches).Gradient(x)
		for _, u := range batches {
			g := u.Gradient(x) - whole
			at[j] += g * g / float64(len(batches))
		}
		average += target.w[j] * at[j]
	}
	return at, average
}
