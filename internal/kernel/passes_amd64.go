package kernel

import (
	"unsafe"

	"hambench/internal/kernel/amd64"
)

// The loops below choose between the assembly of the two instruction sets by direct calls: a table
// of functions would make what their arguments point to escape to the heap, and a step allocate.

// iterationLen is the number of doubles that one iteration of a pass's loop takes.
func iterationLen(s Set) int {
	if s == avx512 {
		return longestIteration
	}
	return longestIteration / 2
}

// normalsIterationLen is the same for the loops that make normals.
func normalsIterationLen(s Set) int {
	if s == avx512 {
		return 2 * groupLen
	}
	return groupLen
}

// narrowLoop rounds x to float32 in dst.
func narrowLoop(s Set, dst *float32, x *float64, iterations int) {
	if s == avx512 {
		amd64.NarrowAVX512(dst, x, iterations)
	} else {
		amd64.NarrowAVX2(dst, x, iterations)
	}
}

// combineLoop stores the sum of n Summands in dst and, unless it is nil, in rounded.
func combineLoop(s Set, dst *float64, rounded *float32, summands unsafe.Pointer,
	n, iterations int) {
	if s == avx512 {
		amd64.CombineAVX512(dst, rounded, summands, n, iterations)
	} else {
		amd64.CombineAVX2(dst, rounded, summands, n, iterations)
	}
}

// updateLoop carries out a pass.
func updateLoop(s Set, pass unsafe.Pointer, iterations int) {
	if s == avx512 {
		amd64.UpdateAVX512(pass, iterations)
	} else {
		amd64.UpdateAVX2(pass, iterations)
	}
}

// normalsLoop stores the normals from a counter's block on.
func normalsLoop(s Set, counter unsafe.Pointer, dst *float64, iterations int) {
	if s == avx512 {
		amd64.NormalsAVX512(counter, dst, iterations)
	} else {
		amd64.NormalsAVX2(counter, dst, iterations)
	}
}

// noiseUpdateLoop carries out an update with uniform coefficients and normals from a
// counter's block on.
func noiseUpdateLoop(s Set, counter, coefficients unsafe.Pointer, theta, r, g *float64,
	iterations int) {
	if s == avx512 {
		amd64.NoiseUpdateAVX512(counter, coefficients, theta, r, g, iterations)
	} else {
		amd64.NoiseUpdateAVX2(counter, coefficients, theta, r, g, iterations)
	}
}

// noiseStepLoop is noiseUpdateLoop for a whole step, with the likelihood's gradient in
// data.
func noiseStepLoop(s Set, counter, coefficients unsafe.Pointer, theta, r *float64,
	data, next *float32, iterations int) {
	if s == avx512 {
		amd64.NoiseStepAVX512(counter, coefficients, theta, r, data, next, iterations)
	} else {
		amd64.NoiseStepAVX2(counter, coefficients, theta, r, data, next, iterations)
	}
}
