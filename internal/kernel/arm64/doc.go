// Package arm64 holds the assembly kernels of package kernel for NEON, which
// every 64-bit ARM processor has. The generator internal/gen/arm64 makes them;
// the declarations in stubs_arm64.go are written by hand.
//
// Arguments are addresses: of vectors, and of structures of package kernel,
// whose layout the generator knows. The functions work on whole iterations of
// their loops, and flush denormal numbers while they run.
package arm64
