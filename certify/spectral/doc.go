// Package spectral computes exact errors of chains with one position in a potential that
// need not be quadratic.
//
// The transition operator of a step becomes a matrix in polynomials of θ and r that are
// orthonormal under the target, or under a law as wide as the chain's own, and the stationary
// law is that matrix's left eigenvector. Bases of growing degree (see rungs) say how far each
// result is from the next one, which is its stated resolution.
package spectral
