// Package slurm runs arrays of tasks on a Slurm cluster until all their results
// are there.
//
// A scheduler that reports a task as done may be wrong, and one that has forgotten
// an array does not say so. Therefore tasks are submitted again if their results
// are missing (Follower.Look) and they are not queued. A task may thus run twice,
// even at the same time; its results must allow that.
//
// A Run has a name of its own, which its jobs carry. Slurm's job numbers do not
// serve as names: a controller that lost its state reuses them.
package slurm
