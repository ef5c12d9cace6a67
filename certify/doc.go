// Package certify decides convergence orders exactly, without Monte Carlo.
//
// Run certifies the integrators and schemes of its Options on a Problem and
// returns a Row for each combination: errors, fitted orders, verdicts on the
// claimed orders. ParseProblem reads a problem of your own.
//
// The ergodic error of a sampler is the difference between an expectation
// under the stationary law of its chain and under the target. Two engines
// compute it from the integrator alone, taken as a black box:
//
//   - the Gaussian engine, where every batch's force is affine: a step is then
//     affine in state and noise, found by probing, and the stationary mean and
//     covariance solve linear fixed-point equations;
//   - the spectral engine, one position and one momentum in any smooth
//     potential: the transition operator of a step becomes a matrix in
//     polynomials orthonormal under the target, or under a law as wide as the
//     chain's own, and the stationary law is that matrix's left eigenvector.
//
// A Row has the errors at the steps asked for, a bound on the round-off and
// truncation in each, and the order. Orders are statements with evidence: the
// signed errors at several steps are interpolated in powers of the step, in
// coordinates in which the target is N(0, I), so that units do not matter.
// Row.ClosedForm has the term that random orders add to an exact flow, found
// without an engine.
//
// Both engines see a law as a vector on which a step acts linearly. So mini-batch
// schemes are written once for both: the law after one period of a scheme,
// averaged over its orders of the batches, is a linear map T of the law
// before, and the error δ of the stationary law solves (I − T)δ = Tπ − π with
// π the target. Solving for the error rather than the law keeps its relative
// accuracy.
//
// Weak, strong and stationary order are different things; every order here is
// stationary (ergodic) and belongs to a stated observable.
package certify
