package kernel

import (
	"unsafe"

	"hambench/internal/kernel/arm64"
)

// iterationLen is the number of doubles that one iteration of a pass's loop takes.
func iterationLen(Set) int { return 8 }

// normalsIterationLen is the same for the loops that make normals.
func normalsIterationLen(Set) int { return groupLen }

// narrowLoop rounds x to float32 in dst.
func narrowLoop(_ Set, dst *float32, x *float64, iterations int) {
	arm64.Narrow(dst, x, iterations)
}

// combineLoop stores the sum of n Summands in dst and, unless it is nil, in rounded.
func combineLoop(_ Set, dst *float64, rounded *float32, summands unsafe.Pointer,
	n, iterations int) {
	arm64.Combine(dst, rounded, summands, n, iterations)
}

// updateLoop carries out a pass.
func updateLoop(_ Set, pass unsafe.Pointer, iterations int) { arm64.Update(pass, iterations) }

// normalsLoop stores the normals from a counter's block on.
func normalsLoop(_ Set, counter unsafe.Pointer, dst *float64, iterations int) {
	arm64.Normals(counter, dst, iterations)
}

// noiseUpdateLoop carries out an update with uniform coefficients and normals from a
// counter's block on.
func noiseUpdateLoop(_ Set, counter, coefficients unsafe.Pointer, theta, r, g *float64,
	iterations int) {
	arm64.NoiseUpdate(counter, coefficients, theta, r, g, iterations)
}

// noiseStepLoop is noiseUpdateLoop for a whole step, with the likelihood's gradient in
// data.
func noiseStepLoop(_ Set, counter, coefficients unsafe.Pointer, theta, r *float64,
	data, next *float32, iterations int) {
	arm64.NoiseStep(counter, coefficients, theta, r, data, next, iterations)
}
