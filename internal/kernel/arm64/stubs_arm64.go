package arm64

import "unsafe"

// Structures are those of package kernel: a counter, coefficients, summands,
// a pass.

//go:noescape
func Normals(counter unsafe.Pointer, dst *float64, iterations int)

//go:noescape
func NoiseUpdate(counter, coefficients unsafe.Pointer, theta, r, grad *float64,
	iterations int)

//go:noescape
func NoiseStep(counter, coefficients unsafe.Pointer, theta, r *float64,
	grad, next *float32, iterations int)

//go:noescape
func Narrow(dst *float32, x *float64, iterations int)

//go:noescape
func Combine(dst *float64, rounded *float32, summands unsafe.Pointer, n, iterations int)

//go:noescape
func Update(pass unsafe.Pointer, iterations int)

// Run carries out n instructions on a frame of slice headers.
//
//go:noescape
func Run(instructions unsafe.Pointer, n int, frame unsafe.Pointer)

// MultiplyAddsFloat32 does iterations × 24 × 4 multiply-adds, MultiplyAddsFloat64
// half as many.
func MultiplyAddsFloat32(iterations int)

func MultiplyAddsFloat64(iterations int)
