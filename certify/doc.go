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
//   - package gaussian, where every batch's force is affine: stationary means and
//     covariances solve linear fixed-point equations;
//   - package spectral, one position and one momentum in a potential that need not be
//     quadratic: the stationary law is the left eigenvector of a matrix in polynomials.
//
// A Row has the errors at the steps asked for, a bound on the round-off and
// truncation in each, and the order. Orders are statements with evidence: the
// signed errors at several steps are interpolated in powers of the step, in
// coordinates in which the target is N(0, I), so that units do not matter.
// Beside a constant stands what the law of orders predicts of it (predict.go).
//
// Both see a law as a vector on which a step acts linearly: package markov has the
// mini-batch schemes, once for both, package probe the steps, and package cost what rows say
// of averages and budgets.
//
// This package itself has what is asked and what is said: problems and their files (problem.go,
// parse.go, builtin.go, bottleneck.go), samplers of other processes (exec.go), options and the
// rows of all combinations (run.go), one row (certification.go, answers.go, trial.go), orders
// from errors (fit.go), claims and verdicts (claims.go), rows as JSON and as tables (row.go,
// table.go, rank.go), and fingerprints of the engines' numbers (fingerprint.go).
//
// Weak, strong and stationary order are different things; every order here is
// stationary (ergodic) and belongs to a stated observable.
package certify
