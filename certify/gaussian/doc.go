// Package gaussian computes exact errors where the force of every batch is affine.
//
// A step is then affine in state and noise: x⁺ = Mx + c + Nξ. M, c and N are found by probing
// the integrator, and the stationary mean and covariance solve linear fixed-point equations.
// All is done in a frame in which the target is N(0, I) (see frame), so that neither units nor
// the coordinates of the problem count. What round-off may have done to an error is bounded by
// one more solution of the same equations (see stationaryLaw.bound).
package gaussian
