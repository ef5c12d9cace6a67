package certify

import "hambench/integrators"

// correct tells an integrator that lessens its noise by the variance of the
// mini-batch gradient (sghmc) what that variance is, per coordinate; nil stands
// for 0. A chain finds it by a running mean along its own path, whose law is the
// target's but for the errors that are looked for.
func correct(in *integrators.Instance, variance []float64) {
	if v, ok := in.Kernel.(integrators.VarianceCorrected); ok {
		if variance == nil {
			variance = make([]float64, in.Dim)
		}
		v.SetGradientVariance(variance)
	}
}

// gradientVariance is E_θ E_i (U_i′ − U′)² under a scalar target.
func gradientVariance(batches scalarMean, target *density) float64 {
	return target.expect(func(x float64) (sum float64) {
		whole := batches.slope(x)
		for _, o := range batches {
			g := o.Gradient(x) - whole
			sum += g * g / float64(len(batches))
		}
		return sum
	})
}
