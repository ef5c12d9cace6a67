// Package spectral computes exact errors of chains with one position in a potential that
// need not be quadratic.
//
// The transition operator of a step becomes a matrix in polynomials of θ and r that are
// orthonormal under the target, or under a law as wide as the chain's own, and the stationary
// law is that matrix's left eigenvector. Bases of growing degree (see rungs) say how far each
// result is from the next one, which is its stated resolution. A basis that does not see the
// potential does not count, and where results are not fine a space of another width must agree.
//
// In the order of a computation:
//
//   - oscillator.go, density.go: potentials, and the target on a fine grid;
//   - polynomial.go: polynomials orthonormal under a density, and their quadrature rules;
//   - additive.go: the noise of a step, apart from what passes through the force;
//   - basis.go: a basis, and the matrix of a step in it;
//   - ladder.go: an integrator in growing bases, and the errors with their resolution;
//   - open.go: the laws of auxiliary variables that nobody states;
//   - crossing.go: two valleys that cross, of which only the target is known;
//   - engine.go: the problem's engine, its observables, and the spaces of its bases.
//
// Far out a potential of oscillators is quadratic. There package gaussian decides whether a
// chain has a stationary law, and how wide it is.
package spectral
