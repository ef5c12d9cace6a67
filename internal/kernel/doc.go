// Package kernel holds the vector kernels of the hot path: products of small
// matrices with fused epilogues, normal generation, and the update of a
// chain's state.
package kernel
