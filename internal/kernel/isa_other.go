//go:build !amd64 && !arm64

package kernel

import "unsafe"

// Other machines run plain Go only: no program of theirs has instructions, and
// no pass of theirs assembly.

type instruction struct{}

func machineLevels() []level { return []level{generic} }

func run([]instruction, unsafe.Pointer) {}

func compileProduct[T Float](code []instruction, _ *Set, _ *Product) []instruction { return code }

func compileTranspose[T Float](code []instruction, _ *Set, _ *Transpose) []instruction { return code }

func narrowVectors(level, []float32, []float64) int { return 0 }

func combineVectors(level, []float64, []float32, []Summand) int { return 0 }

func updateVectors(level, *Update, []float64) int { return 0 }

func normalVectors(level, *counter, []float64) int { return 0 }

func noiseUpdateVectors(level, *counter, *Update) int { return 0 }
