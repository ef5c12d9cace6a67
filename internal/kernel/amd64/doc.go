// Package amd64 holds the assembly kernels of package kernel for AVX-512 and
// AVX2; function names end in their set. The large files are made by the
// generators of internal/gen. The table of kernels that runs a program's
// instructions, and the declarations in stubs_amd64.go, are written by hand.
//
// Arguments are addresses: of vectors, and of structures of package kernel,
// whose layout the generators know. The functions work on whole iterations of
// their loops, and flush denormal numbers while they run.
package amd64
