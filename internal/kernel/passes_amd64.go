package kernel

import (
	"unsafe"

	"hambench/internal/kernel/amd64"
)

// turnLen is the number of doubles in a turn of the passes' loops,
// normalsTurn in one of those that make normals.
func turnLen(s Set) int {
	if s == avx512 {
		return longestTurn
	}
	return longestTurn / 2
}

func normalsTurn(s Set) int {
	if s == avx512 {
		return 2 * groupLen
	}
	return groupLen
}

func narrowTurns(s Set, dst *float32, x *float64, turns int) {
	if s == avx512 {
		amd64.NarrowAVX512(dst, x, turns)
	} else {
		amd64.NarrowAVX2(dst, x, turns)
	}
}

func combineTurns(s Set, dst *float64, rounded *float32, summands unsafe.Pointer, n, turns int) {
	if s == avx512 {
		amd64.CombineAVX512(dst, rounded, summands, n, turns)
	} else {
		amd64.CombineAVX2(dst, rounded, summands, n, turns)
	}
}

func updateTurns(s Set, pass unsafe.Pointer, turns int) {
	if s == avx512 {
		amd64.UpdateAVX512(pass, turns)
	} else {
		amd64.UpdateAVX2(pass, turns)
	}
}

func normalsTurns(s Set, counter unsafe.Pointer, dst *float64, turns int) {
	if s == avx512 {
		amd64.NormalsAVX512(counter, dst, turns)
	} else {
		amd64.NormalsAVX2(counter, dst, turns)
	}
}

func noiseUpdateTurns(s Set, counter, coefficients unsafe.Pointer, theta, r, g *float64, turns int) {
	if s == avx512 {
		amd64.NoiseUpdateAVX512(counter, coefficients, theta, r, g, turns)
	} else {
		amd64.NoiseUpdateAVX2(counter, coefficients, theta, r, g, turns)
	}
}

func noiseStepTurns(s Set, counter, coefficients unsafe.Pointer, theta, r *float64, data, next *float32, turns int) {
	if s == avx512 {
		amd64.NoiseStepAVX512(counter, coefficients, theta, r, data, next, turns)
	} else {
		amd64.NoiseStepAVX2(counter, coefficients, theta, r, data, next, turns)
	}
}
