package spectral

import (
	"math"
	"math/rand/v2"
	"slices"

	"hambench/certify/markov"
	"hambench/integrators"
	"hambench/usage"
)

// Valley is the scaled potential ½s(ab)² − p·ab + ½γ(a² + b²) of one batch of a problem of two
// positions, θ = (a, b). Where the mean of p is 0 the minima of ½s(ab)² are both axes.
type Valley struct {
	Slope     float64 `json:"slope"`     // s, whose mean over the batches is > 0
	Pull      float64 `json:"pull"`      // p, whose mean is 0
	Precision float64 `json:"precision"` // γ, whose mean is > 0
}

// gradient is ∇U(a, b).
func (v Valley) gradient(a, b float64) (ga, gb float64) {
	x := v.Slope*a*b - v.Pull
	return x*b + v.Precision*a, x*a + v.Precision*b
}

// Crossing is a problem of two valleys that cross, of which the target is known, by quadrature,
// and no chain's law: what batches add is known by the law of orders alone.
type Crossing struct {
	batches []Valley
	mean    Valley
	// The target is the law of a, and of b given a. By symmetry a and b may change places.
	law      *density  // of t, a = √(γ/s) sinh t
	given    gaussRule // of b given a, over its deviation
	friction float64
	numbers
	valued []func(a, b float64) float64 // the observables of θ; nil for that of r
}

// NewCrossing returns the problem of some batches; a mean that is no target is a usage error.
func NewCrossing(batches []Valley, friction float64) (*Crossing, error) {
	e := &Crossing{batches: batches, friction: friction,
		given: hermite(valleyNodes).gauss(valleyNodes)}
	pulls, k := 0.0, float64(len(batches))
	for _, v := range batches {
		e.mean.Slope += v.Slope / k
		e.mean.Pull += v.Pull / k
		e.mean.Precision += v.Precision / k
		pulls += math.Abs(v.Pull) / k
	}
	s, gamma := e.mean.Slope, e.mean.Precision
	if !(s > 0) || !(gamma > 0) || !(math.Abs(e.mean.Pull) <= 1e-12*pulls) {
		return nil, usage.Errorf("means of slope, precision and pull are %v, %v and %v: want "+
			"the first two > 0 and the last 0", s, gamma, e.mean.Pull)
	}
	// b given a is normal of the variance 1/(sa² + γ).
	// The density of a is ∝ exp(−½γa²)/√(sa² + γ). With a = √(γ/s) sinh t the root is √γ cosh t,
	// which da/dt cancels: the height of a potential of t is left.
	height := func(t float64) float64 { x := gamma * math.Sinh(t); return x * x / (2 * s) }
	var err error
	if e.law, err = newDensity(height, -1, 1); err != nil {
		return nil, err
	}
	add := func(name string, f func(a, b float64) float64) {
		o := scalarObservable{name: name, mean: 1, sd: math.Sqrt2} // of r²
		if f != nil {
			o.mean = e.expect(f)
			o.sd = math.Sqrt(e.expect(func(a, b float64) float64 {
				return (f(a, b) - o.mean) * (f(a, b) - o.mean)
			}))
		}
		e.observed, e.valued = append(e.observed, o), append(e.valued, f)
	}
	// The positions may change places, so one of them is enough.
	add("theta1^2", func(a, _ float64) float64 { return a * a })
	add("theta1^2*theta2^2", func(a, b float64) float64 { return a * a * b * b })
	add("cos(theta1)", func(a, _ float64) float64 { return math.Cos(a) })
	add("r1^2", nil)
	return e, nil
}

// valleyNodes are exact for the powers of b that occur: those of (ab)² times δ² are below 8.
const valleyNodes = 8

// expect returns the mean of f under the target.
func (e *Crossing) expect(f func(a, b float64) float64) float64 {
	s, gamma := e.mean.Slope, e.mean.Precision
	return e.law.expect(func(t float64) (sum float64) {
		a := math.Sqrt(gamma/s) * math.Sinh(t)
		sd := 1 / math.Sqrt(s*a*a+gamma)
		for i, x := range e.given.nodes {
			sum += e.given.weights[i] * f(a, sd*x)
		}
		return sum
	})
}

// Draws returns n independent draws of the target, by position: [position][draw].
func (e *Crossing) Draws(n int, rng *rand.Rand) [][]float64 {
	out, draw := [][]float64{make([]float64, n), make([]float64, n)}, e.law.draws(rng)
	s, gamma := e.mean.Slope, e.mean.Precision
	for i := range n {
		a := math.Sqrt(gamma/s) * math.Sinh(draw())
		out[0][i], out[1][i] = a, rng.NormFloat64()/math.Sqrt(s*a*a+gamma)
	}
	return out
}

// spread is E|δ|² at a position, δ the difference of a batch's gradient from the mean.
func (e *Crossing) spread(a, b float64) (sum float64) {
	ga, gb := e.mean.gradient(a, b)
	for _, v := range e.batches {
		da, db := v.gradient(a, b)
		sum += ((da-ga)*(da-ga) + (db-gb)*(db-gb)) / float64(len(e.batches))
	}
	return sum
}

// Frequency is the square root of the mean curvature along an axis.
func (e *Crossing) Frequency() float64 {
	return math.Sqrt(e.expect(func(a, _ float64) float64 {
		return e.mean.Slope*a*a + e.mean.Precision
	}))
}

// Pace has the frequency across a valley as far out as a chain comes.
func (e *Crossing) Pace() markov.Pace {
	out, most := 0.0, slices.Max(e.law.w)
	for i, w := range e.law.w {
		// Points ascend and the law of t is even, so that the last such point is the farthest out.
		if w > relevantDensity*most {
			out = e.law.x[i]
		}
	}
	// Across the valley the curvature is sa² + γ = γ cosh² t.
	low := math.Sqrt(e.mean.Precision)
	high := low * math.Cosh(out)
	fast := max(high, e.friction)
	return markov.Pace{Fast: fast, Slow: min(low, e.friction), High: high, Low: low,
		Damping: e.friction, Largest: 0.5, Settled: fast}
}

// RandomOrders are those of Engine, of two positions; a momentum has half of E|δ|².
func (e *Crossing) RandomOrders(c, w float64) (out [][]float64) {
	for i, o := range e.observed {
		// Target and batches are symmetric in the positions, so that each has half of E|δ|².
		change := w * e.expect(e.spread) / 2
		if f := e.valued[i]; f != nil {
			change = -c * e.expect(func(a, b float64) float64 {
				return e.spread(a, b) * (f(a, b) - o.mean)
			})
		}
		out = append(out, []float64{change / o.sd})
	}
	return out
}

// Whole is the problem itself: nothing is solved for all of the data either.
func (e *Crossing) Whole() (markov.Engine, error) { return e, nil }

// Judging is the problem itself.
func (e *Crossing) Judging() (markov.Engine, []float64, error) { return e, nil, nil }

// Prepare refuses: no chain's law is known.
func (e *Crossing) Prepare(in *integrators.Instance) (markov.Chain, error) {
	return nil, usage.Errorf("integrator %q: two positions in a potential that is not quadratic "+
		"have no exact errors", in.Integrator.Name)
}
