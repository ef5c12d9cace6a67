// Package probe takes steps of integrators as black boxes.
//
// A Transition applies one part of an integrator, under one force, to many states with given
// normals. Lists are the forces of a step that takes several batches, and an Estimation makes
// the forces of steps out of those of batches, as package estimators does in a chain.
package probe
