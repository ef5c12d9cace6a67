// Package gaussian computes exact errors where the force of every batch is affine.
//
// A step is then affine in state and noise: x⁺ = Mx + c + Nξ. M, c and N are found by probing
// the integrator, and the stationary mean and covariance solve linear fixed-point equations.
// All is done in a frame in which the target is N(0, I) (see frame), so that neither units nor
// the coordinates of the problem count. What round-off may have done to an error is bounded by
// one more solution of the same equations (see stationaryLaw.bound).
//
// In the order of a computation:
//
//   - frame.go: the frame of a target, and the forces moved there;
//   - probe.go: the affine map of a step, found from a few steps of the integrator;
//   - maps.go: affine maps, and how moments of laws evolve under them;
//   - engine.go: the problem and its engine; an integrator as maps (Chain);
//   - stationary.go: the stationary law and the bounds on its round-off;
//   - stein.go: the preconditioner of its equation, and spectral radii of second moments;
//   - amplify.go: the problem by which orders are decided, and the pace of the dynamics.
//
// Apart from these: averages.go (variances of averages, by second and fourth moments),
// distance.go, onestep.go (weak orders) and randomorders.go (what random orders add, without a
// chain).
package gaussian
