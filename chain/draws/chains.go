package draws

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"hambench/certify"
	"hambench/chain"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/models"
)

// Chains describes chains that differ in their random streams only: chain c, from 0, has
// the key Spec.Key + c, and is the same as a single chain with that key.
type Chains struct {
	// Parts holds what Spec names; the zero value has what is built in.
	Parts chain.Registries
	// Target makes a target for each chain; calls may be concurrent.
	Target func(context.Context) (models.Target, error)
	// InSample makes one that predicts at the training rows (datasets.Split.InSample);
	// nil if the likelihood of the model is not known.
	InSample func(context.Context) (models.Target, error)
	Spec     chain.Spec
	Plan     chain.Plan
	// Start returns the position at which the chain with a key starts, nil for a draw from the
	// prior. It must be set; oracle.StartAt finds such positions.
	Start func(ctx context.Context, t models.Target, key uint64) ([]float64, error)
	// Note, if not nil, is called with what the first chain's estimator says of itself.
	Note func(string)
	// Progress, if not nil, is called after each draw, with the numbers of draws written and of
	// all: of many chains already the first draws take their time.
	Progress func(done, total int)
}

// Run runs as many chains as the writer's header says, all at once, and writes
// their draws. It returns how many draws were written and the work done for them.
// The first failure, in the order of the draws, ends the run; of several chains the
// error says which failed. Chains wait for the writer, so the memory that draws take
// does not grow with their number.
func (c Chains) Run(ctx context.Context, w *Writer) (written int, done chain.Counts, err error) {
	ctx, cancel := context.WithCancel(ctx)
	n := w.Header.Chains
	// By chain: a chain's goroutine alone writes its count and its error, which are read once its
	// queue is closed.
	queues, counts, errs := make([]chan Draw, n), make([]chain.Counts, n), make([]error, n)
	var running sync.WaitGroup
	places := make(chan struct{}, mostAtOnce)
	for i := range n {
		// One draw in the queue and one in a chain's hand keep all chains busy.
		queues[i] = make(chan Draw, 1)
		running.Go(func() {
			defer close(queues[i])
			own := turn{places: places}
			defer own.give()
			if errs[i] = own.take(ctx); errs[i] != nil {
				return
			}
			counts[i], errs[i] = c.run(ctx, i, w, func(d Draw) error {
				select {
				case queues[i] <- d:
					return nil
				default: // the writer waits for others, which may need the turn
				}
				// If ctx ends, the draw may be dropped: take then returns the error of ctx, and the
				// chain ends with it.
				own.give()
				select {
				case queues[i] <- d:
				case <-ctx.Done():
				}
				return own.take(ctx)
			})
		})
	}
	// Draw by draw and chain by chain: the order does not depend on which chain is faster.
	err = func() error {
		for range c.Plan.Samples {
			for i, queue := range queues {
				d, ok := <-queue
				// A queue ends early only where its chain failed: errs has the reason by then.
				if !ok && n > 1 {
					return fmt.Errorf("chain %d: %w", i, errs[i])
				}
				if !ok {
					return errs[i]
				}
				if err := w.Write(d); err != nil {
					return err
				}
				written++
				if c.Progress != nil {
					c.Progress(written, n*c.Plan.Samples)
				}
			}
		}
		return nil
	}()
	cancel() // of the chains that still wait for the writer
	running.Wait()
	for _, k := range counts {
		done = done.Plus(k)
	}
	return written, done, err
}

// mostAtOnce is how many chains compute at the same time. With thousands, whatever else the program
// has to do, such as to end at a signal, would wait until each of them has had its share of a core.
const mostAtOnce = 64

// turn is a chain's place among those that compute: what has room in places counts them.
type turn struct {
	places chan struct{}
	taken  bool
}

// take waits for a place. If ctx ends before there is one, or has ended, the error is that of ctx.
func (t *turn) take(ctx context.Context) error {
	select {
	case t.places <- struct{}{}:
		t.taken = true
	case <-ctx.Done():
	}
	return ctx.Err()
}

// give gives the place back, if there is one.
func (t *turn) give() {
	if t.taken {
		<-t.places
	}
	t.taken = false
}

// run runs chain i, and calls put with each of its draws. It returns the work of the chain
// without that of finding its start.
func (c Chains) run(ctx context.Context, i int, w *Writer, put func(Draw) error) (
	chain.Counts, error) {
	target, err := c.Target(ctx)
	if err != nil {
		return chain.Counts{}, err
	}
	spec := c.Spec
	spec.Key += uint64(i)
	sampler, err := c.Parts.New(target, spec)
	if err != nil {
		return chain.Counts{}, err
	}
	start, err := c.Start(ctx, target, spec.Key)
	if err != nil {
		return chain.Counts{}, err
	}
	// The estimators of all chains are alike: one note is enough.
	if note := sampler.Note(); i == 0 && note != "" && c.Note != nil {
		c.Note(note)
	}
	// Only the values that the output has are computed.
	begin := sampler.Start(spec.Key, start)
	var fitted models.Target
	if w.Format.Folder && w.Header.InSample {
		if fitted, err = c.InSample(ctx); err != nil {
			return chain.Counts{}, err
		}
	}
	// Targets have a random stream of their own: drawing them does not change the chain.
	rng := noise.New(spec.Key, noise.StreamTargets).Rand()
	var before float64 // what the chain had cost at the draw before
	err = sampler.Run(ctx, begin, c.Plan, func(index int, z *integrators.State) error {
		// The work since the sampler was made: the first draw bears the burn-in, and what the
		// estimator took to prepare itself.
		cost := fullGradients(sampler.Counts(), spec.Batches)
		// The sampler goes on in the same state: the draw has a copy of the position.
		d := Draw{Chain: i, Index: index, Theta: slices.Clone(z.Theta), Gradients: cost - before}
		before = cost
		if w.Format.Folder || w.Header.Predictive {
			d.Predictions = make([]float64, target.Outputs())
			target.Predict(d.Predictions, z.Theta)
		}
		if w.Format.Folder && w.Header.Likelihood {
			split := w.Header.Split
			d.Targets = make([]float64, split.TestRows())
			models.DrawTargets(d.Targets, d.Predictions, split, rng)
		}
		if fitted != nil { // a target that predicts the training rows: in's test rows
			in := w.Header.Split.InSample()
			d.Train.Predictions = make([]float64, fitted.Outputs())
			fitted.Predict(d.Train.Predictions, z.Theta)
			d.Train.Targets = make([]float64, in.TestRows())
			models.DrawTargets(d.Train.Targets, d.Train.Predictions, in, rng)
			d.Train.LogLikelihood = make([]float64, in.TestRows())
			models.LogLikelihood(d.Train.LogLikelihood, d.Train.Predictions, in)
		}
		if w.Format.Folder {
			d.LogDensity = -target.Potential(z.Theta)
			d.Energy = withKinetic(-d.LogDensity, sampler.Integrator(), z)
		}
		return put(d)
	})
	return sampler.Counts(), err
}

// fullGradients is work in gradients of all data, of which a batch's is a share; a product
// with the Hessian costs as much as two.
func fullGradients(n chain.Counts, batches int) float64 {
	ofBatch := n.Gradients + integrators.ProductGradients*n.HessianVectors
	return float64(ofBatch)/float64(max(1, batches)) + float64(n.FullGradients)
}

// withKinetic returns u + ½ rᵀM⁻¹r with the mass in use, which the integrator may have
// adapted; u for an integrator without a momentum.
func withKinetic(u float64, in *integrators.Instance, z *integrators.State) float64 {
	if in.Integrator.PositionOnly {
		return u
	}
	weight := in.InvMass() // nil for the identity
	for i, r := range z.R {
		if weight != nil {
			r *= math.Sqrt(weight[i])
		}
		u += r * r / 2
	}
	return u
}

// Attributes returns what the attributes of a folder say of the chains beside their settings: the
// integrator's own parameters and the chains' accuracy. That is the orders of the stationary law of
// θ and of (θ, r) that certify finds for their parts on its Gaussian problem, or else why they
// cannot be certified there.
func (c Chains) Attributes(ctx context.Context) map[string]any {
	s := c.Spec
	s.Batches = max(1, s.Batches) // 0 means one batch of all data
	if s.Scheme == "" {
		s.Scheme = chain.DefaultScheme(s.Batches)
	}
	a := map[string]any{"inference_library": "hambench"}
	for name, v := range s.Params.Values {
		a[name] = v
	}
	// A chain that certify does not take is described all the same: this is no reason to fail.
	row, err := certified(ctx, c.Parts, s)
	if err != nil {
		a["not_certified"] = err.Error()
		return a
	}
	a["certified_problem"] = row.Problem
	theta, joint := row.Orders()
	for name, order := range map[string]string{"theta": theta, "joint": joint} {
		if order != "–" { // of a step without momenta, which has no joint law
			a["certified_order_"+name] = numeric(order)
		}
	}
	return a
}

// numeric returns the number that a text is, or else the text, such as "exact".
func numeric(text string) any {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v
	}
	return text
}

// certified returns the result of certify for a chain's parts on the Gaussian problem.
// It returns an error for parts that certify does not take, such as a scheme without a
// fixed partition.
func certified(ctx context.Context, parts chain.Registries, s chain.Spec) (certify.Row, error) {
	in, unknown := parts.Integrator(s.Integrator)
	estimator, unknownEstimator := parts.Estimator(s.Estimator)
	scheme, unknownScheme := parts.Scheme(s.Scheme)
	if err := cmp.Or(unknown, unknownEstimator, unknownScheme); err != nil {
		return certify.Row{}, err
	}
	// The Gaussian problem is the first of the built-in ones.
	rows, err := certify.Run(ctx, certify.Options{
		Problem: certify.Builtin()[0], Integrators: []integrators.Integrator{in},
		Schemes: []minibatch.Scheme{scheme}, Estimator: estimator,
		Inner: max(1, s.Params.Inner), Values: s.Params.Values,
	})
	if err != nil || len(rows) == 0 {
		return certify.Row{}, err
	}
	return rows[0], nil
}
