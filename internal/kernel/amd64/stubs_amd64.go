package amd64

import "unsafe"

// The functions of normals_amd64.s and passes_amd64.s. Structures are those of
// package kernel: a counter, coefficients, summands, a pass.

//go:noescape
func NormalsAVX512(counter unsafe.Pointer, dst *float64, iterations int)

//go:noescape
func NormalsAVX2(counter unsafe.Pointer, dst *float64, iterations int)

//go:noescape
func NoiseUpdateAVX512(counter, coefficients unsafe.Pointer, theta, r, grad *float64,
	iterations int)

//go:noescape
func NoiseUpdateAVX2(counter, coefficients unsafe.Pointer, theta, r, grad *float64,
	iterations int)

//go:noescape
func NoiseStepAVX512(counter, coefficients unsafe.Pointer, theta, r *float64,
	grad, next *float32, iterations int)

//go:noescape
func NoiseStepAVX2(counter, coefficients unsafe.Pointer, theta, r *float64,
	grad, next *float32, iterations int)

//go:noescape
func NarrowAVX512(dst *float32, x *float64, iterations int)

//go:noescape
func NarrowAVX2(dst *float32, x *float64, iterations int)

//go:noescape
func CombineAVX512(dst *float64, rounded *float32, summands unsafe.Pointer, n, iterations int)

//go:noescape
func CombineAVX2(dst *float64, rounded *float32, summands unsafe.Pointer, n, iterations int)

//go:noescape
func UpdateAVX512(pass unsafe.Pointer, iterations int)

//go:noescape
func UpdateAVX2(pass unsafe.Pointer, iterations int)

// Run carries out n instructions on a frame of slice headers. It flushes
// denormal numbers to zero meanwhile: they slow a product 200-fold.
//
//go:noescape
func Run(instructions unsafe.Pointer, n int, frame unsafe.Pointer)
