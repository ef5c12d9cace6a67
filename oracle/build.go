package oracle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hambench/chain"
	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/internal/child"
	"hambench/internal/fingerprint"
	"hambench/models"
)

// Options say how a reference is computed. Its numbers do not depend on them.
type Options struct {
	// Workers is how many chains run at once; 0 means 1.
	Workers int
	// Parts keeps each chain once it is finished, so that an interrupted Build
	// can be continued; nil keeps nothing.
	Parts Parts
	// Progress receives the number of integrator steps done, and in all. The
	// total grows when a chain must be started again.
	Progress func(done, total int64)
}

// Parts keeps the finished pieces of a build by name.
type Parts interface {
	// Load returns a piece that was saved earlier, and how long it took, if it is there.
	Load(name string) (body []byte, seconds float64, ok bool)
	// Save keeps a piece: two processes that compute it have the same body, not the same time.
	// Its error ends the build.
	Save(name string, body []byte, seconds float64) error
}

// PartNames returns the names under which a build of the spec keeps its pieces.
func (s Spec) PartNames() []string {
	var names []string
	for burned := range maxBurned + 1 {
		for level := range maxDoublings + 1 {
			for c := range s.Chains {
				names = append(names, partName(chainName(c), burned, level))
			}
			names = append(names, partName(crossCheckName, burned, level))
		}
	}
	return names
}

const crossCheckName = "cross-check"

func chainName(c int) string { return fmt.Sprintf("chain-%d", c) }

// partName is the name of what a chain does at a level, after as many parts of burn-in: its
// first samples at level 0, and as much simulation time again as in all levels before at each
// further one.
func partName(chain string, burned, level int) string {
	if burned > 0 {
		chain += fmt.Sprintf("-after-%d", burned)
	}
	if level == 0 {
		return chain
	}
	return fmt.Sprintf("%s-%d", chain, level)
}

// maxAttempts is how often a chain is started, each time with half the step,
// before it is given up.
const maxAttempts = 6

// Build runs the chains of a reference, each from a prior draw of its own,
// and a Metropolis-corrected chain that checks them. If the potential has not mixed over their
// first samples, these are dropped as burn-in and the chains sample anew from where they are, at
// most maxBurned times. Then, while their own error is above the spec's MaxError, or they have not
// mixed, all of them go on for as long again, and every second sample is dropped; the corrected
// chain does so until it has enough effective samples to check something.
// Each chain's random streams come only from the spec's key and the chain's number.
// Cancelling the context ends Build within milliseconds.
func Build(
	ctx context.Context, newTarget func() (models.Target, error), spec Spec, o Options,
) (*Reference, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	b := &builder{spec: spec, key: spec.ID(), newTarget: newTarget, options: o}
	b.noise = func(key uint64, stream uint32) integrators.Noise { return noise.New(key, stream) }
	return b.build(ctx)
}

// builder is one call of Build, or of Fingerprint, which has a key and a noise of its own.
type builder struct {
	spec      Spec
	key       string // from which all random streams follow (streamKey)
	newTarget func() (models.Target, error)
	options   Options
	noise     func(key uint64, stream uint32) integrators.Noise

	chains     []*Reference // of one chain each, by their last parts
	crossCheck *Reference   // of the Metropolis-corrected sampler
	// burned is how many parts of the chains were burn-in, beyond the spec's, and wasted the
	// seconds of the cross-checks that began after them.
	burned int
	wasted float64

	mu          sync.Mutex // guards done and total
	done, total int64      // integrator steps
}

// progress adds to the steps done and to do, and reports them.
func (b *builder) progress(done, more int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done += done
	b.total += more
	if b.options.Progress != nil {
		b.options.Progress(b.done, b.total)
	}
}

// build runs the chains and the cross-check until they are long enough.
func (b *builder) build(ctx context.Context) (*Reference, error) {
	b.chains = make([]*Reference, b.spec.Chains)
	level, crossLevel := 0, 0
	for chains, cross := true, true; ; {
		if err := b.run(ctx, b.units(chains, level, cross, crossLevel)); err != nil {
			return nil, err
		}
		// Burn-in is dropped before the first doubling only: from then on every part is kept.
		r := b.assemble(level)
		if level == 0 && b.burned < maxBurned && !r.mixed() {
			b.burned++
			b.wasted += b.crossCheck.Seconds
			// The cross-check started from a chain that was still in its burn-in, so it is run
			// again as well.
			level, crossLevel, b.crossCheck, chains, cross = 0, 0, nil, true, true
			continue
		}
		chains = r.tooShort() && level < maxDoublings
		cross = r.CrossCheck.ESS.Mean < r.minCrossCheckESS() && crossLevel < maxDoublings
		if !chains && !cross {
			r.Checks = r.verify()
			return r, nil
		}
		if chains {
			level++
		}
		if cross {
			crossLevel++
		}
	}
}

// thin is the number of steps between two samples at a level.
func (b *builder) thin(level int) int { return b.spec.Thin << max(level-1, 0) }

// unit is what one worker does in one piece.
type unit func(ctx context.Context, t models.Target) error

// units lists what there is to do: the parts of all chains at their level, if they are
// not long enough, and that of the cross-check at its own, which starts at the end of
// the first chain's first part after all burn-in.
func (b *builder) units(chains bool, level int, cross bool, crossLevel int) []unit {
	var all []unit
	var total int64
	if chains {
		for c := range b.spec.Chains {
			steps := b.chainSteps(level, b.halved(b.chains[c]))
			total += steps
			all = append(all, b.part(&b.chains[c], chainName(c), level, steps,
				func(ctx context.Context, t models.Target) (*Reference, error) {
					return b.runChain(ctx, t, c, level)
				}))
		}
	}
	if cross {
		steps := b.crossCheckSteps(crossLevel)
		total += steps
		check := b.part(&b.crossCheck, crossCheckName, crossLevel, steps,
			func(ctx context.Context, t models.Target) (*Reference, error) {
				return b.runCrossCheck(ctx, t, crossLevel)
			})
		if crossLevel > 0 {
			all = append(all, check)
		} else {
			// Its start, and the mass that it is tuned with, are the first chain's: it follows
			// that in one unit, while other workers run the other chains.
			first := all[0]
			all[0] = func(ctx context.Context, t models.Target) error {
				if err := first(ctx, t); err != nil {
					return err
				}
				return check(ctx, t)
			}
		}
	}
	b.progress(0, total)
	return all
}

// part is the unit that runs a chain's next part, or takes it from an earlier build,
// and adds it to the chain.
func (b *builder) part(
	to **Reference, chain string, level int, steps int64,
	run func(ctx context.Context, t models.Target) (*Reference, error),
) unit {
	return func(ctx context.Context, t models.Target) (err error) {
		defer child.Catch(&err)
		name := partName(chain, b.burned, level)
		p, err := b.kept(name, steps, func() (*Reference, error) { return run(ctx, t) })
		if err == nil {
			*to = extended(*to, p, level)
		}
		return err
	}
}

// run runs units, Workers at a time. The first error stops all.
func (b *builder) run(ctx context.Context, units []unit) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	// next is the number of units that workers have taken. Each worker has a target of its own,
	// which one chain at a time may use.
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(max(b.options.Workers, 1), len(units)) {
		workers.Go(func() {
			t, err := b.newTarget()
			for err == nil {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					return
				}
				err = units[i](ctx, t)
			}
			stop(err)
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// extended returns a chain that is continued by a part of as many samples and as
// much simulation time, without every second sample. At level 0 what came before is burn-in.
func extended(before, part *Reference, level int) *Reference {
	if before == nil {
		return part
	}
	part.Seconds += before.Seconds
	if level > 0 {
		// Both parts have the same number of samples at the same spacing, so that keeping every
		// second one of the two together leaves that number at twice the spacing.
		part.Draws[0] = lastOfEach(2, slices.Concat(before.Draws[0], part.Draws[0]))
		part.Potential[0] = lastOfEach(2, slices.Concat(before.Potential[0], part.Potential[0]))
	}
	return part
}

// lastOfEach keeps the last of each n entries, so that a chain ends where it ended.
func lastOfEach[T any](n int, x []T) []T {
	var kept []T
	for i := n - 1; i < len(x); i += n {
		kept = append(kept, x[i])
	}
	return kept
}

// kept returns the named part that an earlier build kept, or runs it, which it
// times, and keeps it. A damaged part is run again.
func (b *builder) kept(
	name string, steps int64, run func() (*Reference, error),
) (*Reference, error) {
	parts := b.options.Parts
	if parts != nil {
		if body, seconds, ok := parts.Load(name); ok {
			if p, err := Decode(body); err == nil {
				p.Seconds = seconds
				// units has counted its steps among those to do: they are done.
				b.progress(steps, 0)
				return p, nil
			}
		}
	}
	started := time.Now()
	p, err := run()
	if err != nil {
		return nil, err
	}
	// The time is kept with the part, so that a build that is continued knows that of all parts.
	p.Seconds = time.Since(started).Seconds()
	if parts == nil {
		return p, nil
	}
	body, err := p.Encode()
	if err == nil {
		err = parts.Save(name, body, p.Seconds)
	}
	return p, err
}

// runChain runs a chain's part. A chain that diverges or grows too hot, in
// whatever phase, is started again with half the step and the same simulation time:
// at the first level from another prior draw, later from where its part began.
func (b *builder) runChain(ctx context.Context, t models.Target, c, level int) (*Reference, error) {
	for attempt := range maxAttempts {
		w := newWalk(b, t, c, level, attempt, b.chains[c])
		p, err := w.run(ctx, level)
		var diverged *chain.DivergedError
		if !errors.As(err, &diverged) {
			return p, err
		}
		// Steps of the failed attempt stay counted as done. The total grows by the steps of the
		// next attempt, less those that the failed one did not get to.
		b.progress(0, b.chainSteps(level, w.halved+1)-(b.chainSteps(level, w.halved)-w.done))
	}
	return nil, fmt.Errorf(
		"oracle of %s, split %d: chain %d diverged %d times, the last with h = %v",
		b.spec.Dataset, b.spec.Split, c, maxAttempts, b.spec.Step/math.Exp2(maxAttempts-1),
	)
}

// halved is how often the step of a chain was halved so far; 0 before it began.
func (b *builder) halved(chain *Reference) int {
	if chain == nil {
		return 0
	}
	return int(math.Round(math.Log2(b.spec.Step / chain.ChainStep[0])))
}

// chainSteps is the number of steps that a part of a chain takes whose step was
// halved as often.
func (b *builder) chainSteps(level, halved int) int64 {
	// Half the step takes twice as many of them for the same simulation time; those of the ladder
	// and of settling stay as many.
	steps := int64(b.spec.Samples*b.thin(level)) << halved
	if level == 0 && b.burned == 0 {
		steps += rampRungs*rampSteps + 2*settleSteps + int64(b.spec.BurnIn)<<halved
	}
	return steps
}

// streamKey is the key of the random streams of a part of the build.
func (b *builder) streamKey(name string) uint64 {
	return noise.KeyOf(fingerprint.Bytes([]byte(b.key + "/" + name)))
}

// assemble joins the chains to a reference, with what can be said of it.
func (b *builder) assemble(level int) *Reference {
	r := &Reference{Spec: b.spec, Seconds: b.crossCheck.Seconds + b.wasted,
		CrossCheck: b.crossCheck.CrossCheck, Burned: b.burned, Doublings: level}
	for _, p := range b.chains {
		r.Draws, r.Start = append(r.Draws, p.Draws...), append(r.Start, p.Start...)
		r.Potential = append(r.Potential, p.Potential...)
		r.ChainStep = append(r.ChainStep, p.ChainStep...)
		r.Seconds += p.Seconds
	}
	r.Diagnostics, r.OwnError = diagnose(r.Draws), ownError(r.Draws)
	r.compare(b.crossCheck.Draws)
	return r
}
