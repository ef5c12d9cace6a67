// Package kernel holds the vector kernels of the hot path: products of small
// matrices with fused epilogues, normal generation, and the update of a
// chain's state.
//
// The assembly is made by the generators of internal/gen, a module of its own,
// so that nothing else depends on theirs: amd64's with avo, arm64's by writing
// text. check.sh there verifies that what is committed is what they make.
package kernel

//go:generate go -C ../gen run ./products -out ../kernel/amd64/products_amd64.s -stubs ../kernel/amd64/products_amd64.go -pkg amd64
//go:generate go -C ../gen run ./normals -out ../kernel/amd64/normals_amd64.s -pkg amd64
//go:generate go -C ../gen run ./passes -out ../kernel/amd64/passes_amd64.s -pkg amd64
//go:generate go -C ../gen run ./peak -out ../kernel/amd64/peak_amd64.s -stubs ../kernel/amd64/peak_amd64.go -pkg amd64
//go:generate go -C ../gen run ./arm64 -dir ../kernel/arm64
