package peak

import (
	"hambench/internal/kernel"
	"hambench/internal/kernel/arm64"
)

// multiplyAdds runs a register loop and returns its number of multiply-adds.
func multiplyAdds[T kernel.Float](_ string, turns int) int {
	lanes := kernel.Lanes[T]() / 4
	if lanes == 4 {
		arm64.MultiplyAddsFloat32(turns)
	} else {
		arm64.MultiplyAddsFloat64(turns)
	}
	return turns * 24 * lanes
}
