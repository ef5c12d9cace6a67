// Package chain assembles a chain from a model, an integrator, a gradient
// estimator, a mini-batch scheme and noise, and runs its time loop.
//
// A [Spec] describes a chain by names and numbers, and a [Registries], whose zero
// value holds what is built in, makes a [Sampler] of it on a target. A sampler
// starts at the state that [Sampler.Start] draws, burns in, ends the
// integrator's adaptation, and shows its samples ([Sampler.Run], with a [Plan]),
// or runs step by step ([Sampler.Advance]). At every step it hands the stream's
// next batch to the estimator, and the estimator's force to the integrator. It
// counts the work, watches for numbers that are not finite, and stops when its
// context is cancelled.
//
// All randomness comes from the streams of one key (package noise), so the spec
// and the target alone determine a chain's numbers.
//
// The simulation times of the paper, which every chain of a data set shares
// whatever its step, are [SampleTime] and [BurnInTime]; [PaperPlan] turns them
// into steps.
package chain

import (
	"context"
	"fmt"
	"slices"

	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/internal/child"
	"hambench/models"
	"hambench/usage"
)

// checkKernels is the number of kernels between two checks of the context and of the
// state for numbers that are not finite: about 0.1 s of the most expensive step (mt3,
// full batch, 1000 rows). A check of 8 401 parameters takes less than a step of the
// smallest batch, and what a fused step had prepared is lost, a tenth of such a step.
const checkKernels = 64

// Counts is the work that a Sampler has done.
type Counts struct {
	Steps          int64 // kernels run
	Gradients      int64 // over a batch
	HessianVectors int64 // products over a batch
	FullGradients  int64 // gradients over all data, of an estimator that asks for them
}

// Plus returns the sum of two counts.
func (c Counts) Plus(d Counts) Counts {
	return Counts{
		Steps:          c.Steps + d.Steps,
		Gradients:      c.Gradients + d.Gradients,
		HessianVectors: c.HessianVectors + d.HessianVectors,
		FullGradients:  c.FullGradients + d.FullGradients,
	}
}

// DivergedError reports that the state holds numbers that are not finite: a result of
// the chain, not a mistake of the program.
type DivergedError struct {
	// Step is the number of kernels run when that was noticed; at most 64
	// kernels earlier the numbers were finite.
	Step int64
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("chain diverged: not finite at step %d", e.Step)
}

// Sampler runs one chain. It has a target, an integrator, a stream of batches
// and a source of noise of its own. It is not safe for concurrent use.
type Sampler struct {
	in        *integrators.Instance
	target    models.Target
	stream    minibatch.Stream
	noise     integrators.Noise
	forces    *forces
	estimator estimators.Instance
	// state is the argument of the last Advance: it has the estimator's variables.
	state *integrators.State
	// next is s.nextForce, bound once since binding a method allocates.
	next  func() integrators.Force
	steps int64 // kernels run
}

// newSampler joins the parts of a chain; p has the name of its scheme, K, and whether
// there is a partition. A stream of another number of rows than the target has, and an
// integrator that needs more from its force than the estimator keeps or the model
// offers, are usage errors that name both.
func newSampler(t models.Target, in *integrators.Instance, m estimators.Estimator,
	s minibatch.Stream, p estimators.Problem, n integrators.Noise) (_ *Sampler, err error) {
	defer child.Catch(&err)
	forces := newForces(t)
	model := fmt.Sprintf("model %q", forces.can.Name)
	if order := s.Arrangement(); order != nil && len(order) != t.Rows() {
		return nil, usage.Errorf("mini-batches of %d rows do not fit %s, which has %d",
			len(order), model, t.Rows())
	}
	if err := in.Integrator.Check(m.Keeps, fmt.Sprintf("estimator %q", m.Name)); err != nil {
		return nil, err
	}
	if err := in.Integrator.Check(forces.available(), model); err != nil {
		return nil, err
	}
	c := &Sampler{in: in, target: t, stream: s, noise: n, forces: forces}
	p.Dim, p.Full, p.Mode = t.Dim(), forces.full(), forces.mode
	p.Part = func(batch int) integrators.Force {
		forces.arrange(s.Arrangement())
		return c.force(minibatch.Cut(t.Rows(), p.Batches, batch))
	}
	if c.estimator, err = m.New(p); err != nil {
		return nil, err
	}
	c.next = c.nextForce
	return c, nil
}

// Note returns what the chain's estimator says of itself, if it is an estimators.Noter;
// else "".
func (s *Sampler) Note() string {
	if e, ok := s.estimator.(estimators.Noter); ok {
		return e.Note()
	}
	return ""
}

// Integrator returns the chain's integrator.
func (s *Sampler) Integrator() *integrators.Instance { return s.in }

// Counts returns the work done so far.
func (s *Sampler) Counts() Counts {
	n := s.forces.counts
	n.Steps = s.steps
	return n
}

// Advance runs steps, that is kernels, of the integrator on z, and refreshes the momentum
// after every N_l-th of the chain. It returns a *DivergedError when numbers in z are not
// finite, at the latest after the last step. When the context is cancelled it returns the
// context's error; z is then valid, and the chain may go on. Advance allocates nothing.
func (s *Sampler) Advance(ctx context.Context, z *integrators.State, steps int) (err error) {
	defer child.Catch(&err)
	s.adopt(z)
	for left := steps; left > 0; left -= checkKernels {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.in.Steps(z, s.next, s.noise, s.steps, min(left, checkKernels))
		if !finiteState(z) {
			return &DivergedError{Step: s.steps}
		}
	}
	return nil
}

// adopt makes z the state of the chain. One that is new to it gets the
// integrator's variables, if it lacks them, and the estimator's behind them.
func (s *Sampler) adopt(z *integrators.State) {
	if s.state == z {
		return
	}
	s.state = z
	own := s.in.NewState().Aux
	if len(z.Aux) < len(own) {
		z.Aux = own
	}
	// The estimator's variables of an earlier chain are cut off, and Begin appends its own.
	z.Aux = z.Aux[:len(own):len(own)]
	s.estimator.Begin(z)
}

// Plan is the length of a run, in steps. Samples may lie between two refreshments of
// the momentum: the posterior is stationary under the exact flow of each of the steps.
type Plan struct {
	BurnIn  int // steps before the first sample, adaptation included
	Samples int
	Thin    int // steps per sample
}

// Run burns in, ends the integrator's adaptation, and then calls observe
// Samples times, each time after Thin steps. An error from observe ends
// the run; the others are those of Advance.
func (s *Sampler) Run(ctx context.Context, z *integrators.State, p Plan,
	observe func(sample int, z *integrators.State) error) (err error) {
	defer child.Catch(&err)
	if err := s.Advance(ctx, z, p.BurnIn); err != nil {
		return err
	}
	s.in.Freeze()
	for i := range p.Samples {
		if err := s.Advance(ctx, z, p.Thin); err != nil {
			return err
		}
		if err := observe(i, z); err != nil {
			return err
		}
	}
	return nil
}

// nextForce returns the estimator's force for the stream's next batch, and counts a
// kernel.
func (s *Sampler) nextForce() integrators.Force {
	b := s.stream.Next()
	if b.Rearranged {
		s.forces.arrange(s.stream.Arrangement())
	}
	if s.steps == 0 {
		s.setNoiseFree(b)
	}
	f := s.force(b)
	s.steps++
	step := estimators.Step{Number: s.steps - 1, Batch: b.Index, Force: f}
	return s.estimator.Force(step, s.state)
}

// force returns the force of a batch. It panics for weights without a list, which a
// Stream must not return.
func (s *Sampler) force(b minibatch.Batch) integrators.Force {
	if b.List != nil {
		return s.forces.list(b.List, b.Weights, b.Scale)
	}
	if b.Weights != nil {
		panic("chain: mini-batch with weights, but without a list of rows")
	}
	return s.forces.batch(models.Rows{Lo: b.Lo, Hi: b.Hi, Scale: b.Scale})
}

// setNoiseFree informs a variance-corrected integrator of a first batch that
// is all of the data: then gradients have no variance, and an estimate from
// the chain would count its own motion as noise.
func (s *Sampler) setNoiseFree(b minibatch.Batch) {
	v, ok := s.in.Kernel.(integrators.VarianceCorrected)
	if ok && b.Lo == 0 && b.Hi == s.target.Rows() {
		v.SetGradientVariance(make([]float64, s.target.Dim()))
	}
}

// finiteState reports whether all of z's numbers are finite.
func finiteState(z *integrators.State) bool {
	infinite := func(x []float64) bool { return !finite(x) }
	return finite(z.Theta) && finite(z.R) && !slices.ContainsFunc(z.Aux, infinite)
}

// finite reports whether all of x are finite. x−x is 0 for a finite x and
// NaN otherwise; four sums break the chain of dependent additions.
func finite(x []float64) bool {
	var a, b, c, d float64
	for len(x) >= 4 {
		a += x[0] - x[0]
		b += x[1] - x[1]
		c += x[2] - x[2]
		d += x[3] - x[3]
		x = x[4:]
	}
	for _, v := range x {
		a += v - v
	}
	return a+b+c+d == 0
}
