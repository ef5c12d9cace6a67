package peak

import (
	"hambench/internal/kernel"
	"hambench/internal/kernel/amd64"
)

// multiplyAdds runs a register loop and returns its number of multiply-adds.
func multiplyAdds[T kernel.Float](isa string, turns int) int {
	lanes := kernel.Lanes[T]()
	switch isFloat32 := lanes == 16; {
	case isa == "avx512" && isFloat32:
		amd64.MultiplyAddsAVX512Float32(turns)
	case isa == "avx512":
		amd64.MultiplyAddsAVX512Float64(turns)
	case isFloat32:
		amd64.MultiplyAddsAVX2Float32(turns)
	default:
		amd64.MultiplyAddsAVX2Float64(turns)
	}
	if isa == "avx512" {
		return turns * 24 * lanes
	}
	return turns * 12 * lanes / 2
}
