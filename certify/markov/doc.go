// Package markov advances the laws of Markov chains by the steps of a mini-batch scheme.
//
// A law is a vector on which every part of a step acts linearly (Operator): a matrix of second
// moments in package gaussian, coefficients in a basis in package spectral. So mini-batch
// schemes are written once for both. A Period is the linear map T of a law over one period of
// a scheme, averaged over its orders of the batches; the error δ of the stationary law solves
// (I − T)δ = Tπ − π with π the target, which Period.Solve does.
//
// The package also holds what both engines look like from outside: Engine, Chain, Point.
package markov
