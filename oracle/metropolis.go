package oracle

import (
	"context"
	"math"
	"math/rand/v2"

	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/models"
)

// CrossCheck compares a reference with draws of a Metropolis-corrected sampler,
// which has no step-size bias.
type CrossCheck struct {
	Distance   float64 `json:"distance"`   // of its draws to the reference
	Acceptance float64 `json:"acceptance"` // mean acceptance probability
	Step       float64 `json:"h"`          // leapfrog step, tuned in its burn-in
	Leapfrogs  int     `json:"leapfrogs"`  // mean number of steps per trajectory
	ESS        Summary `json:"ess"`        // bulk effective sample size, over the outputs
	// Expected is the distance that draws of the reference's law would have with
	// that effective sample size, and its standard deviation.
	Expected   float64 `json:"expected_distance"`
	ExpectedSD float64 `json:"expected_sd"`
}

const (
	targetAcceptance = 0.8  // Betancourt, Byrne, Girolami 2014: 0.6–0.9 is near the optimum
	tuneTrajectories = 60   // in the burn-in
	easilyAccepted   = 0.95 // a step at which a trajectory is so easily accepted is doubled …
	maxClimb         = 16   // … so often
	// Trajectories are up to this fraction longer or shorter, against resonance.
	trajectoryJitter = 0.25
)

// metropolis is Hamiltonian Monte Carlo with full momentum refreshment and a
// Metropolis decision (Neal 2011, figure 2), full batch, diagonal mass. A
// gradient that is rounded to float32 is still a function of θ alone, so the
// leapfrog map stays reversible and keeps volume; with the energies in
// float64 the sampler is exact.
type metropolis struct {
	target  models.Target
	rows    models.Rows
	noise   integrators.Noise
	rng     *rand.Rand
	h       float64
	invMass []float64
	theta   []float64
	u       float64 // potential at theta
	// The trajectory's position and momentum, and the gradient; q and theta swap their arrays
	// where the end is accepted.
	q, r, g []float64
}

// newMetropolis returns a sampler at theta, which it copies, with the diagonal of M⁻¹. The noise
// of momenta is that of the key; so are decisions and jitter.
func newMetropolis(t models.Target, theta, invMass []float64, h float64, key uint64) *metropolis {
	n := t.Dim()
	m := &metropolis{
		target: t, rows: models.Rows{Lo: 0, Hi: t.Rows(), Scale: 1}, h: h, invMass: invMass,
		noise: noise.New(key, noise.StreamNoise), rng: noise.New(key, noise.StreamStart).Rand(),
		theta: make([]float64, n),
		q:     make([]float64, n), r: make([]float64, n), g: make([]float64, n),
	}
	t.Arrange(nil)
	copy(m.theta, theta)
	m.u = t.Potential(m.theta)
	return m
}

// trajectory proposes the end of a leapfrog trajectory, and goes there or
// stays. It returns the acceptance probability.
func (m *metropolis) trajectory(ctx context.Context, leapfrogs int) (float64, error) {
	m.noise.Normal(m.r)
	for i, w := range m.invMass {
		// r ~ N(0, M), w an element of M⁻¹.
		m.r[i] /= math.Sqrt(w)
	}
	before := m.u + m.kinetic()
	copy(m.q, m.theta)
	if err := m.leapfrog(ctx, leapfrogs); err != nil {
		return 0, err
	}
	u := m.target.Potential(m.q)
	p := min(1, math.Exp(before-u-m.kinetic()))
	// A trajectory that overflowed has no energy, and is not accepted.
	if math.IsNaN(p) {
		p = 0
	}
	if m.rng.Float64() < p {
		m.theta, m.q, m.u = m.q, m.theta, u
	}
	return p, nil
}

// leapfrog runs kick-drift-kick steps on (q, r); the inner half kicks are
// joined.
func (m *metropolis) leapfrog(ctx context.Context, steps int) error {
	m.kick(m.h / 2)
	for s := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, w := range m.invMass {
			m.q[i] += m.h * w * m.r[i]
		}
		if s < steps-1 {
			m.kick(m.h)
		}
	}
	m.kick(m.h / 2)
	return nil
}

// kick moves the momentum by −t∇U at the trajectory's position.
func (m *metropolis) kick(t float64) {
	m.target.Gradient(m.g, m.q, m.rows)
	for i, g := range m.g {
		m.r[i] -= t * g
	}
}

// kinetic is the kinetic energy of the trajectory's momentum, rᵀM⁻¹r/2.
func (m *metropolis) kinetic() float64 {
	var k float64
	for i, r := range m.r {
		k += m.invMass[i] * r * r / 2
	}
	return k
}

// climb doubles h while trajectories are accepted almost always, so that tune starts
// near the stable step, however small the first was.
func (m *metropolis) climb(ctx context.Context, s Spec) error {
	for range maxClimb {
		p, err := m.trajectory(ctx, m.leapfrogs(s))
		if err != nil || p < easilyAccepted {
			return err
		}
		m.h *= 2
	}
	return nil
}

// tune sets h for the target acceptance: a stochastic approximation on log
// h with steps 1/√k, whose second half is averaged. It should start too large:
// it comes down four times as fast as it goes up.
//
// Trajectories have the length that they will have: where the curvature
// changes along a trajectory, short ones are accepted more often.
func (m *metropolis) tune(ctx context.Context, trajectories int, s Spec) error {
	logH, sum, n := math.Log(m.h), 0.0, 0.0
	for k := 1; k <= trajectories; k++ {
		m.h = math.Exp(logH)
		p, err := m.trajectory(ctx, m.jitter(m.leapfrogs(s)))
		if err != nil {
			return err
		}
		// At an acceptance of 0 it goes down by 0.8/√k, at 1 up by 0.2/√k.
		logH += (p - targetAcceptance) / math.Sqrt(float64(k))
		if k > trajectories/2 {
			sum, n = sum+logH, n+1
		}
	}
	m.h = math.Exp(sum / n)
	return nil
}

// leapfrogs is the number of steps per trajectory: it covers the time between
// two samples of the reference in no more steps than they are apart.
func (m *metropolis) leapfrogs(s Spec) int {
	return min(max(int(s.Step*float64(s.Thin)/m.h), 1), s.Thin)
}

// jitter varies a number of steps.
func (m *metropolis) jitter(steps int) int {
	f := 1 + trajectoryJitter*(2*m.rng.Float64()-1)
	return max(1, int(math.Round(f*float64(steps))))
}

// runCrossCheck samples with the Metropolis-corrected sampler at about the cost of
// one chain: at its first level from the end of the first chain and with the mass that it
// suggests, later from where it was.
func (b *builder) runCrossCheck(
	ctx context.Context, t models.Target, level int,
) (*Reference, error) {
	// A part that follows another goes on with its step and mass: all draws are of one sampler.
	before := b.crossCheck
	key := b.streamKey(partName(crossCheckName, b.burned, level))
	var m *metropolis
	if before == nil {
		first := b.chains[0]
		m = newMetropolis(t, first.Start[0], invMassOf(first.curvature), 4*b.spec.Step, key)
	} else {
		m = newMetropolis(t, before.Start[0], before.invMass, before.CrossCheck.Step, key)
	}
	m.noise = b.noise(key, noise.StreamNoise)
	if before == nil {
		if err := m.climb(ctx, b.spec); err != nil {
			return nil, err
		}
		if err := m.tune(ctx, tuneTrajectories, b.spec); err != nil {
			return nil, err
		}
	}
	// At a higher level samples are more trajectories apart.
	trajectories := b.thin(level) / b.spec.Thin
	leapfrogs, accepted := m.leapfrogs(b.spec), 0.0
	r, err := b.sample(t, func() (theta []float64, err error) {
		for range trajectories {
			var p float64
			if p, err = m.trajectory(ctx, m.jitter(leapfrogs)); err != nil {
				return nil, err
			}
			accepted += p
			b.progress(int64(b.spec.Thin), 0)
		}
		return m.theta, nil
	})
	if err != nil {
		return nil, err
	}
	r.invMass, r.ChainStep = m.invMass, []float64{m.h}
	r.CrossCheck = CrossCheck{
		Acceptance: accepted / float64(b.spec.Samples*trajectories),
		Step:       m.h,
		Leapfrogs:  leapfrogs,
	}
	return r, nil
}

// crossCheckSteps is how many steps the cross-check counts as in the progress.
func (b *builder) crossCheckSteps(level int) int64 {
	return int64(b.spec.Samples) * int64(b.thin(level))
}

// invMassOf returns the diagonal of M⁻¹ = V^{−1/2}, V the mean square of the
// gradient: what the reference's adaptive integrator uses too. On yacht, V^{−1/4}
// and V^{−3/4} gave no more effective samples per gradient.
func invMassOf(v []float64) []float64 {
	invMass := make([]float64, len(v))
	for i := range invMass {
		invMass[i] = 1 / math.Sqrt(v[i])
	}
	return invMass
}
