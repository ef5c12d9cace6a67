package oracle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/chain"
	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/internal/child"
	"hambench/models"
)

// A leapfrog step h on a quadratic well of curvature λ is stable for h√λ < 2.
// A posterior is no quadratic well: a chain with a larger step moves to where
// the curvature is smaller (on the teacher network to a third of it), and one
// with mini-batches meets, rarely, batches of far larger curvature (on energy,
// chains that hold for thousands of steps overflow later). So the curvature
// gives the scale, and trial chains decide.
const (
	// The warm-up: rungs of steps at a fraction of 1/√λ, λ measured anew on
	// each, first so damped that what is stiff falls to thermal energy
	// (rampDamping), then as a chain of the paper.
	dampedRungs, freeRungs = 12, 12
	rungSteps              = 100
	dampedReach, freeReach = 0.2, 0.5 // h√λ
	lanczosSteps           = 6        // the largest eigenvalue to a few percent
	paperFriction          = 5
	// The trials: from stableCap × 2/√λ downwards in steps of 2^¼, until
	// each of a few chains survives. Where the gradient is bounded (a
	// softmax), chains stay finite far above: no step beyond the cap follows
	// the posterior.
	stableCap   = 2.0
	trialChains = 3
	// Steps with the full batch; with K batches K times as many, at the same cost, up
	// to the limit.
	trialSteps   = 500
	trialLongest = 20_000 // these
	trialCheck   = 50     // steps between two looks at the energy
	trialHeat    = 1e4    // times the mean kinetic energy at equilibrium: beyond, a chain has left
)

// stableKey is the first of the keys of the estimate's random numbers.
const stableKey = 1

// Stability estimates largest stable steps on a target, all from one typical position, which
// is most of the work where there are many rows: about 3000 gradients of the full batch, and for
// each estimate about 2000 more, or 60 000 of small batches: a second or two on the paper's sets.
// Machines whose kernels round differently agree to within two notches of 2^¼. Calls must not
// overlap: the chains share the target.
type Stability struct {
	t         models.Target
	z         *integrators.State // a typical position
	curvature float64            // there: λ
}

// NewStability takes over the target and finds the position, as WarmUp does.
func NewStability(ctx context.Context, t models.Target) (*Stability, error) {
	s, err := warmedUp(ctx, t, stableKey)
	if err != nil {
		return nil, fmt.Errorf("largest stable step: %w", err)
	}
	return s, nil
}

// WarmUp goes from a draw of a target's prior to a typical position of its
// posterior, where chains with stable steps stay finite; the key names the random
// streams, and is a digest (noise.KeyOf): of neighbouring numbers, the positions would
// depend on each other. It takes about 2700 gradients of the full batch.
func WarmUp(ctx context.Context, t models.Target, key uint64) ([]float64, error) {
	s, err := warmedUp(ctx, t, key)
	if err != nil {
		return nil, fmt.Errorf("warm-up: %w", err)
	}
	return s.z.Theta, nil
}

// warmedUp goes from a prior draw to a typical position.
func warmedUp(ctx context.Context, t models.Target, key uint64) (_ *Stability, err error) {
	defer child.Catch(&err)
	s := &Stability{t: t, z: chain.StartAtRest(t, noise.New(key, noise.StreamStart))}
	for rung := range dampedRungs + freeRungs {
		if err := s.measure(); err != nil {
			return nil, err
		}
		h := freeReach / math.Sqrt(s.curvature)
		friction := float64(paperFriction)
		if rung < dampedRungs {
			h *= dampedReach / freeReach
			friction = rampDamping / h
		}
		// A rung has random numbers of its own, which are those of the next key's rung before it.
		if err := s.climb(ctx, h, friction, key+uint64(rung)); err != nil {
			return nil, err
		}
	}
	return s, s.measure()
}

// climb runs one rung; where that diverges, again with half the step.
func (s *Stability) climb(ctx context.Context, h, friction float64, key uint64) error {
	var diverged *chain.DivergedError
	for range maxAttempts {
		// Nothing but the curvature limits the step: Lie-Trotter treats friction exactly.
		c, err := chain.Registries{}.New(s.t, chain.Spec{
			Integrator: "lietrotter", Params: integrators.Params{Step: h, Friction: friction},
			Key: key,
		})
		if err != nil {
			return err
		}
		z := &integrators.State{Theta: slices.Clone(s.z.Theta), R: slices.Clone(s.z.R)}
		if err = c.Advance(ctx, z, rungSteps); !errors.As(err, &diverged) {
			s.z = z
			return err
		}
		h, friction = h/2, friction/2
	}
	return diverged
}

// measure sets the curvature at the position.
func (s *Stability) measure() error {
	// A chain may have left the rows in another order.
	s.t.Arrange(nil)
	all := models.Rows{Lo: 0, Hi: s.t.Rows(), Scale: 1}
	s.curvature = largestEigenvalue(models.Curvature(s.t, s.z.Theta, all), s.t.Dim())
	if !(s.curvature > 0) || math.IsInf(s.curvature, 1) {
		return fmt.Errorf("the curvature of the potential is %g: want a finite, positive number",
			s.curvature)
	}
	return nil
}

// Largest estimates the largest step, of the powers of 2^¼, at which chains of a spec stay
// finite; the spec's own step is ignored. A step of that size need not be accurate.
func (s *Stability) Largest(
	ctx context.Context, r chain.Registries, spec chain.Spec,
) (_ float64, err error) {
	defer child.Catch(&err)
	in, err := r.Integrator(spec.Integrator)
	if err != nil {
		return 0, err
	}
	// Powers of 2^¼ hide differences between machines in the last digits of the curvature.
	top := math.Floor(4 * math.Log2(in.StableStep(stableCap*2/math.Sqrt(s.curvature))))
	for j := range maxNotches {
		h := math.Exp2((top - float64(j)) / 4)
		spec.Params.Step = h
		ok, err := s.survive(ctx, r, spec, in.PositionOnly)
		if ok || err != nil {
			return h, err
		}
	}
	return 0, fmt.Errorf("largest stable step, K = %d, tried with %s: %w %g",
		cmp.Or(spec.Batches, 1), spec.Integrator, ErrUnstable, math.Exp2((top-maxNotches+1)/4))
}

// ErrUnstable is the error of Largest for chains that no step keeps finite.
var ErrUnstable = errors.New("chains diverge at every step down to")

// maxNotches ends a search at a thousandth of its start.
const maxNotches = 41

// survive reports whether all trial chains of a spec stay finite and cool. Where a step moves no
// momenta it is the potential that shows whether a chain has left: what grows fourfold a step is
// finite for a whole trial.
func (s *Stability) survive(
	ctx context.Context, r chain.Registries, spec chain.Spec, positionOnly bool,
) (bool, error) {
	k := max(spec.Batches, 1)
	start := s.t.Potential(s.z.Theta)
	energy := func(z *integrators.State) float64 {
		if positionOnly {
			return s.t.Potential(z.Theta) - start
		}
		return floats.Dot(z.R, z.R) / 2
	}
	for key := range uint64(trialChains) {
		spec.Key = stableKey + key
		c, err := r.New(s.t, spec)
		if err != nil {
			return false, err
		}
		// All trials start at one position, with momenta of their own.
		z := c.Start(spec.Key, s.z.Theta)
		for left := min(trialSteps*k, trialLongest); left > 0; left -= trialCheck {
			err := c.Advance(ctx, z, trialCheck)
			var diverged *chain.DivergedError
			switch hot := trialHeat * float64(s.t.Dim()) / 2; {
			case errors.As(err, &diverged):
				return false, nil
			case err != nil:
				return false, err
			case !(energy(z) <= hot): // or not a number
				return false, nil
			}
		}
	}
	return true, nil
}

// largestEigenvalue returns the largest absolute eigenvalue of a symmetric
// operator on n numbers, by Lanczos' method with full orthogonalisation; NaN if
// the operator gives numbers that are not finite.
func largestEigenvalue(apply func(dst, v []float64), n int) float64 {
	steps := min(lanczosSteps, n)
	v := noise.Normals(rand.New(rand.NewPCG(stableKey, 0)), n)
	tridiagonal := mat.NewSymDense(steps, nil)
	var basis [][]float64
	for k := range steps {
		floats.Scale(1/floats.Norm(v, 2), v)
		basis = append(basis, v)
		w := make([]float64, n)
		apply(w, v)
		tridiagonal.SetSym(k, k, floats.Dot(w, v))
		for range 2 { // once leaves round-off that grows
			for _, b := range basis {
				floats.AddScaled(w, -floats.Dot(w, b), b)
			}
		}
		beta := floats.Norm(w, 2)
		if math.IsNaN(beta) || math.IsInf(beta, 0) {
			return math.NaN()
		}
		if k+1 == steps || beta <= 1e-10*math.Abs(tridiagonal.At(k, k)) {
			break // what is left is round-off: the rest of the matrix stays 0
		}
		tridiagonal.SetSym(k, k+1, beta)
		v = w
	}
	var e mat.EigenSym
	if !e.Factorize(tridiagonal, false) {
		return math.NaN()
	}
	values := e.Values(nil)
	return max(math.Abs(values[0]), math.Abs(values[len(values)-1]))
}
