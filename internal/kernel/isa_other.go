//go:build !amd64 && !arm64

package kernel

import "unsafe"

// Other machines run plain Go only: no program of theirs has instructions, and
// no pass of theirs assembly.

type instruction struct{}

// Sets returns the sets that this machine can run.
func Sets() []Set { return []Set{generic} }

func run([]instruction, unsafe.Pointer) {}

func compileProduct[T Float](code []instruction, _ Set, _ *Product) []instruction { return code }

func compileTranspose[T Float](code []instruction, _ Set, _ *Transpose) []instruction {
	return code
}

func narrowVectors(Set, []float32, []float64) int { return 0 }

func combineVectors(Set, []float64, []float32, []Summand) int { return 0 }

func updateVectors(Set, *Update, []float64) int { return 0 }

func normalVectors(Set, *counter, []float64) int { return 0 }

func noiseUpdateVectors(Set, *counter, *Update) int { return 0 }
