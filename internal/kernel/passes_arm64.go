package kernel

import (
	"unsafe"

	"hambench/internal/kernel/arm64"
)

// turnLen is the number of doubles in a turn of the passes' loops,
// normalsTurn in one of those that make normals.
func turnLen(Set) int { return 8 }

func normalsTurn(Set) int { return groupLen }

func narrowTurns(_ Set, dst *float32, x *float64, turns int) { arm64.Narrow(dst, x, turns) }

func combineTurns(_ Set, dst *float64, rounded *float32, summands unsafe.Pointer, n, turns int) {
	arm64.Combine(dst, rounded, summands, n, turns)
}

func updateTurns(_ Set, pass unsafe.Pointer, turns int) { arm64.Update(pass, turns) }

func normalsTurns(_ Set, counter unsafe.Pointer, dst *float64, turns int) {
	arm64.Normals(counter, dst, turns)
}

func noiseUpdateTurns(_ Set, counter, coefficients unsafe.Pointer, theta, r, g *float64, turns int) {
	arm64.NoiseUpdate(counter, coefficients, theta, r, g, turns)
}

func noiseStepTurns(_ Set, counter, coefficients unsafe.Pointer, theta, r *float64, data, next *float32, turns int) {
	arm64.NoiseStep(counter, coefficients, theta, r, data, next, turns)
}
