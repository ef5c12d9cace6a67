// Package slurm runs arrays of tasks on a Slurm cluster until what they should
// leave behind is there.
//
// A scheduler that says that a task is done may be wrong, and one that has
// forgotten an array does not say so: the tasks that are submitted again are
// those whose results are missing (Look) and that are not queued. A task may
// therefore run twice, also at the same time; its results must allow that.
//
// A Run has a name of its own, which its jobs carry. Slurm's job numbers are
// no names: a controller that lost its state uses them again.
package slurm
