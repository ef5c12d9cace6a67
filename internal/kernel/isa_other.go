//go:build !amd64 && !arm64

package kernel

import "unsafe"

// Other machines run plain Go only: no program of theirs has instructions.

type instruction struct{}

func machineLevels() []level { return []level{generic} }

func run([]instruction, unsafe.Pointer) {}

func compileProduct[T Float](code []instruction, _ *Set, _ *Product) []instruction { return code }

func compileTranspose[T Float](code []instruction, _ *Set, _ *Transpose) []instruction { return code }

func compileDots[T Float](code []instruction, _ *Set, _ *Dots) []instruction { return code }
