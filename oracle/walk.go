package oracle

import (
	"context"
	"fmt"
	"math"
	"slices"

	"hambench/chain"
	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/models"
)

// The warm-up: from a prior draw the stiffest directions of a posterior hold
// so much energy that the reference's step overflows at once. So the step
// grows on a ladder, and on each rung the friction is so high that what the
// rung can follow is damped to thermal energy before the next rung: with hC =
// rampDamping, a direction of curvature λ relaxes at the rate λ/C, so over the
// rung's n steps by exp(−nλh²/rampDamping): by e⁻²⁰ at λh² = 0.01, while
// the next rungs stay stable up to λh² < 4. The ladder ends at a quarter of
// the reference's step, which leapfrog with unit mass may not bear (on
// yacht it did not); from there the reference's integrator doubles the step
// twice, its mass handed on.
const (
	rampStart   = 0.01 // first step, as a fraction of the reference's
	rampRungs   = 10   // up to rampEnd, each 1.43 times the one before
	rampEnd     = 0.25 // also a fraction
	rampSteps   = 200  // per rung
	rampDamping = 0.1  // hC
	settleSteps = 1000 // at each of ¼ and ½ of the reference's step
)

// A chain is too hot whose potential lies above the end of the ladder, or above its lowest since
// the burn-in, by more than heatLimit standard deviations, which for a normal posterior of
// dimension d are √(d/2), and by more than a share heatShare of its thermal energy, d/2. It has
// not overflowed, but its step is unstable where it is: on yacht such a chain stayed 90
// deviations up, among weights so large that no step of the reference's size is stable there.
// The share rules from d = 10 368 on: a mass that still adapts heats a chain for a while by 10 to
// 13 % of that energy, which is 19 deviations on networks of 200 units, and 32 to 38 on those of
// 400.
const (
	heatLimit = 12
	heatShare = 1. / 6
)

// heatRoom is how far a chain's potential may rise above where it has been. In few
// dimensions the potential has an exponential tail, for which 20 makes room.
func heatRoom(dim int) float64 {
	thermal := float64(dim) / 2
	return 20 + max(heatLimit*math.Sqrt(thermal), heatShare*thermal)
}

// progressSteps is how many steps run between two reports of progress:
// about a tenth of a second.
const progressSteps = 500

// walk is one attempt at one chain of a reference, or at the next part of it.
type walk struct {
	b      *builder
	target models.Target
	noise  integrators.Noise
	z      *integrators.State
	step   float64
	// warmed says that the warm-up is over; it always is when a chain is continued.
	warmed  bool
	invMass []float64 // once warmed; nil means the identity
	halved  int       // how often the step was halved, since the chain's first attempt
	done    int64     // steps
	low     float64   // potential at the end of the ladder, or the lowest since the burn-in
}

// newWalk starts a chain at a prior draw, or goes on where the part before ended.
func newWalk(b *builder, t models.Target, c, level, attempt int, before *Reference) *walk {
	w := &walk{b: b, target: t, low: math.Inf(1), halved: attempt}
	if before == nil {
		key := b.streamKey(fmt.Sprintf("chain/%d/%d", c, attempt))
		w.noise = b.noise(key, noise.StreamNoise)
		w.z = chain.StartAtRest(t, b.noise(key, noise.StreamStart))
	} else {
		// The random stream follows from the part's name. Where no burn-in was dropped, parts have
		// the names that they had before Build could drop any, so that the numbers of those
		// references do not change.
		part := fmt.Sprint(level)
		if b.burned > 0 {
			part = fmt.Sprintf("after-%d/%d", b.burned, level)
		}
		key := b.streamKey(fmt.Sprintf("chain/%d/%s/%d", c, part, attempt))
		w.noise = b.noise(key, noise.StreamNoise)
		w.z = integrators.NewState(t.Dim())
		copy(w.z.Theta, before.Start[0])
		copy(w.z.R, before.momentum)
		w.warmed, w.invMass, w.low = true, before.invMass, before.low
		w.halved += b.halved(before)
	}
	w.step = b.spec.Step / math.Exp2(float64(w.halved))
	return w
}

// run brings a new chain to its stationary law, and takes the samples of a level.
func (w *walk) run(ctx context.Context, level int) (*Reference, error) {
	if !w.warmed {
		if err := w.warmUp(ctx); err != nil {
			return nil, err
		}
	}
	s, err := chain.Registries{}.New(w.target, chain.Spec{
		Integrator: w.b.spec.Integrator, Noise: w.noise,
		Params: integrators.Params{Step: w.step, Friction: w.b.spec.Friction, InvMass: w.invMass},
	})
	if err != nil {
		return nil, err
	}
	// The mass adapts in the warm-up alone: a chain whose mass changes has another law.
	s.Integrator().Freeze()
	thin := w.b.thin(level) << w.halved
	r, err := w.b.sample(w.target, func() ([]float64, error) {
		// The ladder may end far above the posterior: on naval chains fell by much after it, and
		// then rose by 20 to 160 deviations for a while, which a limit counted from the ladder's
		// end did not see.
		if u := w.target.Potential(w.z.Theta); u < w.low { // not NaN
			w.low = u
		}
		return w.z.Theta, w.advance(ctx, s, thin)
	})
	if err == nil {
		r.ChainStep, r.momentum = []float64{w.step}, slices.Clone(w.z.R)
		r.invMass, r.low = w.invMass, w.low
	}
	return r, err
}

// warmUp climbs the ladder of steps, brings the reference's integrator to its step,
// and burns in while it adapts its mass.
func (w *walk) warmUp(ctx context.Context) error {
	for rung := range rampRungs {
		up := float64(rung) / (rampRungs - 1)
		h := w.step * math.Pow(rampStart, 1-up) * math.Pow(rampEnd, up)
		p := integrators.Params{Step: h, Friction: rampDamping / h}
		if _, err := w.phase(ctx, "leapfrog", p, rampSteps); err != nil {
			return err
		}
	}
	w.low = w.target.Potential(w.z.Theta)
	// What heat the ladder left has to go before the reference's friction, which may be
	// low, takes over.
	p := integrators.Params{Friction: max(w.b.spec.Friction, paperFriction)}
	for _, phase := range []struct {
		fraction float64 // of the step
		steps    int
	}{{rampEnd, settleSteps}, {0.5, settleSteps}, {1, w.b.spec.BurnIn << w.halved}} {
		p.Step = phase.fraction * w.step
		s, err := w.phase(ctx, w.b.spec.Integrator, p, phase.steps)
		if err != nil {
			return err
		}
		p.InvMass = s.Integrator().InvMass()
	}
	w.invMass = p.InvMass
	return nil
}

// phase runs steps of a full-batch sampler, which goes on with the walk's noise.
func (w *walk) phase(
	ctx context.Context, integrator string, p integrators.Params, steps int,
) (*chain.Sampler, error) {
	spec := chain.Spec{Integrator: integrator, Params: p, Noise: w.noise}
	s, err := chain.Registries{}.New(w.target, spec)
	if err == nil {
		err = w.advance(ctx, s, steps)
	}
	return s, err
}

// advance runs steps, with reports of progress. A chain that is too hot
// counts as diverged.
func (w *walk) advance(ctx context.Context, s *chain.Sampler, steps int) error {
	for steps > 0 {
		n := min(steps, progressSteps)
		if err := s.Advance(ctx, w.z, n); err != nil {
			return err
		}
		steps -= n
		w.done += int64(n)
		w.b.progress(int64(n), 0)
		// On the ladder low is still +Inf, and no chain too hot.
		if w.target.Potential(w.z.Theta) > w.low+heatRoom(w.target.Dim()) {
			return &chain.DivergedError{Step: s.Counts().Steps}
		}
	}
	return nil
}

// sample returns a chain of a reference: at each of its samples, whose position
// next returns, the predictive outputs, the potential, and the squares of the
// gradient. Their mean is, at stationarity, the mean diagonal of the Hessian (by
// partial integration).
func (b *builder) sample(
	t models.Target, next func() (theta []float64, err error),
) (*Reference, error) {
	var theta, potential []float64
	var draws [][]float32
	outputs := make([]float64, t.Outputs())
	g, curvature := make([]float64, t.Dim()), make([]float64, t.Dim())
	for range b.spec.Samples {
		var err error
		if theta, err = next(); err != nil {
			return nil, err
		}
		t.Predict(outputs, theta)
		draws = append(draws, converted[float32]([][]float64{outputs})...)
		potential = append(potential, t.Potential(theta))
		t.Gradient(g, theta, models.Rows{Lo: 0, Hi: t.Rows(), Scale: 1})
		for i, x := range g {
			curvature[i] += x * x
		}
	}
	for i := range curvature {
		curvature[i] /= float64(b.spec.Samples)
	}
	return &Reference{
		Draws: [][][]float32{draws}, Start: [][]float64{slices.Clone(theta)},
		Potential: [][]float64{potential}, curvature: curvature,
	}, nil
}
