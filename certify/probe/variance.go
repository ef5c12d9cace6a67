package probe

import "hambench/integrators"

// Correct tells an integrator that lessens its noise by the variance of the mini-batch gradient
// (sghmc) what that variance is, per coordinate. A chain finds it by a running mean along its
// own path, whose law is the target's but for the errors that are looked for.
func Correct(in *integrators.Instance, variance []float64) {
	if v, ok := in.Kernel.(integrators.VarianceCorrected); ok {
		v.SetGradientVariance(variance)
	}
}
