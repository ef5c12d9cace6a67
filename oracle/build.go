package oracle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"hambench/chain"
	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/internal/child"
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
	// Load returns a piece that was saved earlier, if it is there.
	Load(name string) (body []byte, ok bool)
	// Save keeps a piece. Its error ends the build.
	Save(name string, body []byte) error
}

// PartNames returns the names under which a build of the spec keeps its pieces.
func (s Spec) PartNames() []string {
	var names []string
	for c := range s.Chains {
		names = append(names, chainPart(c))
	}
	return append(names, crossCheckPart)
}

const crossCheckPart = "cross-check"

func chainPart(c int) string { return fmt.Sprintf("chain-%d", c) }

// maxAttempts is how often a chain is started, each time with half the step,
// before it is given up.
const maxAttempts = 6

// Build runs the chains of a reference, each from a prior draw of its own,
// and a Metropolis-corrected chain that checks them. Each chain's random
// streams come only from the spec's key and the chain's number. Cancelling the
// context ends Build within milliseconds.
func Build(ctx context.Context, newTarget func() (models.Target, error), spec Spec, o Options) (*Reference, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	b := &builder{spec: spec, key: spec.ID(), newTarget: newTarget, options: o}
	b.noise = func(key uint64, stream uint32) integrators.Noise { return noise.New(key, stream) }
	return b.build(ctx)
}

type builder struct {
	spec      Spec
	key       string
	newTarget func() (models.Target, error)
	options   Options
	noise     func(key uint64, stream uint32) integrators.Noise

	chains     []*Reference // of one chain each
	crossCheck *Reference   // draws of the Metropolis-corrected sampler

	mu          sync.Mutex
	done, total int64
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

// build runs the chains, Workers at a time. The first error stops all.
func (b *builder) build(ctx context.Context) (*Reference, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	b.chains = make([]*Reference, b.spec.Chains)
	b.progress(0, int64(b.spec.Chains)*b.chainSteps(0)+b.crossCheckSteps())
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(max(b.options.Workers, 1), b.spec.Chains) {
		workers.Go(func() {
			t, err := b.newTarget()
			for err == nil {
				c := int(next.Add(1)) - 1
				if c >= b.spec.Chains {
					return
				}
				err = b.runUnit(ctx, t, c)
			}
			stop(err)
		})
	}
	workers.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return b.assemble(), nil
}

// runUnit runs a chain and, after the first one, the cross-check, which starts
// at its end.
func (b *builder) runUnit(ctx context.Context, t models.Target, c int) (err error) {
	defer child.Catch(&err)
	b.chains[c], err = b.kept(chainPart(c), b.chainSteps(0), func() (*Reference, error) { return b.runChain(ctx, t, c) })
	if c == 0 && err == nil {
		b.crossCheck, err = b.kept(crossCheckPart, b.crossCheckSteps(), func() (*Reference, error) { return b.runCrossCheck(ctx, t, b.chains[0]) })
	}
	return err
}

// kept returns the named part that an earlier build kept, or runs it, which it
// times, and keeps it. A damaged part is run again.
func (b *builder) kept(name string, steps int64, run func() (*Reference, error)) (*Reference, error) {
	parts := b.options.Parts
	if parts != nil {
		if body, ok := parts.Load(name); ok {
			if p, err := Decode(body); err == nil {
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
	p.Seconds = time.Since(started).Seconds()
	if parts == nil {
		return p, nil
	}
	body, err := p.Encode()
	if err == nil {
		err = parts.Save(name, body)
	}
	return p, err
}

// runChain runs one chain of the reference. A chain that diverges or grows too
// hot, in whatever phase, is started anew from another prior draw with half
// the step and the same simulation time.
func (b *builder) runChain(ctx context.Context, t models.Target, c int) (*Reference, error) {
	for attempt := range maxAttempts {
		w := newWalk(b, t, c, attempt)
		p, err := w.run(ctx)
		var diverged *chain.DivergedError
		if !errors.As(err, &diverged) {
			return p, err
		}
		b.progress(0, b.chainSteps(attempt+1)-(b.chainSteps(attempt)-w.done))
	}
	return nil, fmt.Errorf("oracle of %s, split %d: chain %d diverged %d times, the last with h = %v", b.spec.Dataset, b.spec.Split, c, maxAttempts, b.spec.Step/math.Exp2(maxAttempts-1))
}

// chainSteps is the number of steps that an attempt at a chain takes.
func (b *builder) chainSteps(attempt int) int64 {
	s := b.spec
	return rampRungs*rampSteps + 2*settleSteps + int64(s.BurnIn+s.Samples*s.Thin)<<attempt
}

// streamKey is the key of the random streams of a part of the build.
func (b *builder) streamKey(name string) uint64 {
	h := sha256.Sum256([]byte(b.key + "/" + name))
	return noise.KeyOf(hex.EncodeToString(h[:]))
}

// assemble joins the parts, and verifies the whole.
func (b *builder) assemble() *Reference {
	r := &Reference{Spec: b.spec, Seconds: b.crossCheck.Seconds, CrossCheck: b.crossCheck.CrossCheck}
	restarts := 0.0
	for _, p := range b.chains {
		r.Draws, r.Start, r.Potential = append(r.Draws, p.Draws...), append(r.Start, p.Start...), append(r.Potential, p.Potential...)
		r.ChainStep = append(r.ChainStep, p.ChainStep...)
		r.Seconds += p.Seconds
		restarts += math.Log2(b.spec.Step / p.ChainStep[0])
	}
	r.Diagnostics = diagnose(r.Draws)
	r.CrossCheck.Distance = r.Distance(b.crossCheck.Chain(0))
	r.Checks = r.verify(restarts)
	return r
}

// verify checks a reference against its limits. A chain that was started again
// with half the step is as good as another, but not if that is the rule. The
// limits of split-R̂ are the usual 1.05 and, for the one number that sees every
// parameter, 1.1 (BDA3). A cross-check with an acceptance below 0.6 has too few
// independent draws to decide anything. The self-distance must be what the draws'
// correlation implies (impliedSelfDistance): above it, the chains disagree; below
// it, they are not independent.
func (r *Reference) verify(restarts float64) []Check {
	self := r.SelfDistance()
	implied, cross := impliedSelfDistance(r.Draws), r.crossDistance()
	return []Check{
		newCheck("restarts with half the step", restarts, 0, float64(r.Chains)),
		newCheck("split-R̂ of outputs, 95th percentile", r.Diagnostics.SplitRHat.P95, 0, 1.05),
		newCheck("split-R̂ of the potential", SplitRHat(r.Potential), 0, 1.1),
		newCheck("self-distance, mean", self.Mean, implied.mean-selfSpread*implied.sd, implied.mean+selfSpread*implied.sd),
		newCheck("cross-check, acceptance", r.CrossCheck.Acceptance, 0.6, 0.95),
		newCheck("cross-check, distance", r.CrossCheck.Distance, cross.Mean-selfSpread*cross.SD, cross.Mean+selfSpread*cross.SD),
	}
}

// crossDistance is the distance to the reference that draws of the same law
// have with the cross-check's effective sample size. A distance between samples
// of n and m falls with √(1/n + 1/m).
func (r *Reference) crossDistance() Band {
	perChain := r.Diagnostics.ESS.Mean / float64(len(r.Draws))
	return r.SelfDistance().scaled(math.Sqrt((1 + perChain/r.CrossCheck.ESS.Mean) / 2))
}

// selfSpread is how many standard deviations the self-distance may lie from
// what is implied: references whose chains have one law fail about once in 500,
// so that a grid of 30 of them raises a false alarm about once in 17.
const selfSpread = 3.29
