// Package estimators holds the ways to get a gradient from a mini-batch: an
// estimator makes the force of a step from the current batch and the state.
//
// An [Estimator] describes an estimator and makes an [Instance] for a [Problem].
// At every step the time loop hands it the [Step], with the force of the
// batch, and takes the force that it returns. An estimator is orthogonal to
// the integrator, which uses that force, and to the mini-batch scheme, which
// chose the batch. It knows neither data nor models, so that the same code
// runs in chains and under package certify.
//
// What an estimator remembers of the chain (an anchor, a table of gradients)
// is part of the Markov chain's state. It is kept in State.Aux, after the
// integrator's own variables, so that the certifier sees it and the time loop
// watches it. What is kept only to save work may stay in the estimator.
package estimators

import (
	"strconv"
	"strings"

	"hambench/integrators"
	"hambench/usage"
)

// Problem holds the facts and forces that an estimator is made for.
type Problem struct {
	Dim    int
	Scheme string // of the mini-batches, for errors
	// Epoch is K, the number of steps that see as many rows as there are.
	Epoch int
	// Batches is K, the number of batches of a fixed partition. Without one it
	// is 0, and Step.Batch is −1.
	Batches int
	// Part is the force of a batch of the partition, valid until the next call
	// and before the first step.
	Part func(batch int) integrators.Force
	// Full is the force of all data, ∇U. Its gradients are counted apart.
	Full integrators.Force
	// Mode returns a point near a mode of the posterior; it may be nil if no
	// estimator asks for one.
	Mode func() ([]float64, error)
	// Probed says that any state may come at any step, as under package certify:
	// then an estimator must not keep what it can work out from the state.
	Probed bool
}

// Step is a step's batch as an estimator sees it.
type Step struct {
	Number int64 // of the step (kernel) in the chain, from 0
	Batch  int   // 0 … K−1, or −1 for rows of no partition
	// Force has the scaled gradient of the batch, G_i = K∇U_i, whose mean over
	// the batches is ∇U, and what else the model can do. It is valid during
	// the step.
	Force integrators.Force
}

// Instance makes the forces of one chain. Force allocates nothing.
type Instance interface {
	// Begin appends the estimator's variables to z.Aux, with their values for a
	// chain that starts at z. Before, z.Aux holds only the integrator's own.
	Begin(z *integrators.State)
	// Force returns the force of a step from z, valid during the step. It may
	// change the estimator's variables in z, and evaluate the batch's force.
	Force(s Step, z *integrators.State) integrators.Force
}

// Noter is an Instance that says something about itself once it is made.
type Noter interface {
	Instance
	// Note returns a sentence for the user, such as how near to a mode an anchor is.
	Note() string
}

// Estimator describes an estimator and makes it.
type Estimator struct {
	Name  string
	About string // one line for lists
	// Keeps states what the estimator's force offers if those of the batches do.
	Keeps integrators.Available
	// Extra is the number of gradients of a batch that a step costs on average, the
	// integrator's own not counted, with K steps an epoch; nil means none. The one more that
	// cv takes where it keeps no gradients is not counted.
	Extra func(epoch int) float64
	// Period is the number of steps after which an estimator restarts, with K
	// steps an epoch: at steps whose number is a multiple of it, Force changes
	// the variables in z in another way than at others; nil means no period.
	Period func(epoch int) int
	// Caps are tested by package certify.
	Caps Caps
	// New returns a usage error for a problem that the estimator cannot take,
	// such as one without a partition.
	New func(p Problem) (Instance, error)
}

// Caps are the highest ergodic orders that integrators of any order keep under an
// estimator with two or more batches of unequal curvature; 0 means the cap of
// the mini-batch scheme.
type Caps struct {
	Independent float64 // batches drawn independently at every step
	Shuffled    float64 // in random orders, forwards or there and back
	Fixed       float64 // in any other order
}

// Registry is a list of estimators that can be looked up by name.
type Registry []Estimator

// Builtin returns the estimators of this package. A program with estimators
// of its own appends them.
func Builtin() Registry { return Registry{Plain, ControlVariates, VarianceReduced(0), SAGA} }

// Lookup returns the estimator with a name. Besides those of the registry there
// is svrg:M for every number of steps M. An unknown name is a usage error that
// lists the known ones.
func (r Registry) Lookup(name string) (Estimator, error) {
	nameOf := func(m Estimator) string { return m.Name }
	m, err := usage.Lookup("gradient estimator", name, r, nameOf)
	digits, typed := strings.CutPrefix(name, periodPrefix)
	if err == nil || !typed {
		return m, err
	}
	period, err := strconv.Atoi(digits)
	if err != nil || period < 1 {
		return m, usage.Errorf(
			"gradient estimator %q: want svrg:M with a number of steps M from 1", name)
	}
	return VarianceReduced(period), nil
}
