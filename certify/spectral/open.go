package spectral

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hambench/certify/markov"
	"hambench/certify/probe"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/internal/child"
	"hambench/usage"
)

// normal holds the law of a variable other than the position by which it is expanded: of the
// variable, or of its logarithm. It is the law under the target where that is known, and else one
// about as wide as the chain's own, which settle finds.
type normal struct {
	mean, sd float64
	name     string
	log      bool // of the logarithm of a positive variable
	open     bool // to be found
}

// value is the variable at a coordinate.
func (n normal) value(u float64) float64 {
	if n.log {
		return math.Exp(u)
	}
	return u
}

// coordinate is that of a value, no further from the mean than anything there is. A positive
// variable that is negative ends the run, as a failure of the step's process does.
func (n normal) coordinate(of *integrators.Instance, x float64) float64 {
	if n.log {
		if x < 0 {
			panic(&child.Failure{Err: usage.Errorf("integrator %q: variable %q is %.3g after a "+
				"step: want a number of at least 0, as it is said to be positive",
				of.Integrator.Name, n.name, x)})
		}
		x = math.Log(x)
	}
	if n.open {
		x = min(max(x, n.mean-farOut*n.sd), n.mean+farOut*n.sd)
	}
	return x
}

const (
	// farOut is how many deviations from the mean of its law a variable is followed.
	farOut = 12
	// The law of θ is expanded in that of the target, somewhat wider, or as much wider as its
	// tails are, by fourth over second moments.
	widerWithOpen, tailMargin = 1.1, 1.2
	// openMargin is by how much the law of an expansion is wider than that of the variable.
	openMargin = 1.1
	// mostSettling bounds the coarse solutions by which laws are found.
	mostSettling = 20
	// escaped is how many coarse solutions in a row place a variable far out on one side, of a
	// chain that has no law.
	escaped = 10
	// farthestLog bounds logarithms that are looked for.
	farthestLog = 600
)

// settling is the basis in which laws are found.
var settling = degrees{7, 7}

// settle finds the space in which the law of a chain with open variables is expanded. First the
// centre of each open variable, as if the others had the target's law: where a step moves it
// neither way in the mean. Then its width, and that of θ, by coarse solutions, the batches being
// drawn independently. It returns what a chain without a stationary law, or of which none was
// found, is known by; nil if laws are found.
func (p *Chain) settle() (*markov.Point, error) {
	e, wider := p.engine, widerWithOpen
	p.space = newSpace(e.narrow.theta, slices.Clone(e.narrow.others), e.narrow.still)
	for v, n := range p.space.others {
		if n.open {
			start := n.mean
			if by := p.centre(v); by > 0 && p.decides() {
				return &markov.Point{Radius: by}, nil
			} else if by > 0 {
				p.space.others[v].mean = start
			}
		}
	}
	others, away := p.space.others, 0 // how often in a row a centre was far off on one side
	for range mostSettling {
		theta, err := e.mean.density(wider)
		if err != nil {
			return nil, err
		}
		p.space = newSpace(theta, others, e.narrow.still)
		r := p.newRung(settling)
		law := append([]float64{1}, make([]float64, r.Size-1)...)
		// The law of an outer step whose batches are drawn independently, with the constant
		// function's coefficient 1: the others solve x(I − P) = first.
		r.inverse.AddTo(law[1:], 1, r.first)
		others = slices.Clone(others)
		settled, far := true, 0
		for v, n := range others {
			if !n.open {
				continue
			}
			// Coefficients of the first and second polynomial of the variable alone: Hermite's, so
			// that its mean and variance follow.
			first := law[slices.Index(r.basis.pairs, [2]int{0, r.basis.others.only(v, 1)})]
			second := law[slices.Index(r.basis.pairs, [2]int{0, r.basis.others.only(v, 2)})]
			// The law's own moments, in deviations of the one that it is expanded in.
			spread := openMargin * math.Sqrt(max(0, 1+math.Sqrt2*second-first*first))
			settled = settled && math.Abs(first) < 0.1 && math.Abs(spread-1) < 0.1
			if math.Abs(first) > 1 {
				far = int(math.Copysign(1, first))
			}
			// Moves are bounded: a coarse law that is far from the space's is known badly.
			others[v].mean += n.sd * min(max(first, -1), 1)
			others[v].sd *= min(max(spread, 0.6), 1.6)
		}
		tail := e.tails(r.basis, p.space, law)
		// To a tenth: the law of an expansion need not be the chain's own.
		settled = settled && math.Abs(tail-wider) < 0.1*wider
		wider = min(max(tail, wider/1.5), wider*1.5)
		if settled {
			return nil, nil
		}
		if away += far; far == 0 || far*away < 0 {
			away = far
		}
		// A variable that has moved to one side this often in a row runs away.
		if far*away >= escaped && p.decides() {
			return &markov.Point{Radius: math.Inf(1)}, nil
		}
	}
	lost := markov.LostPoint(len(e.observed))
	return &lost, nil
}

// decides reports whether what coarse laws say of a variable that escapes is believed: beside the
// position there is no other one, whose law it may hang on.
func (p *Chain) decides() bool { return len(p.engine.narrow.others) == 1 }

// lawless is what is known of a chain whose law was not found: that there is none, or nothing. By
// second moments, of the positions and coordinates as they were last, it may be seen to grow.
func (p *Chain) lawless(ctx context.Context, m minibatch.Scheme) (markov.Point, error) {
	if p.without.Unstable() || !p.decides() {
		return *p.without, nil
	}
	r := p.newRung(degrees{2, 2})
	cycle, err := markov.NewPeriod(ctx, r.Evolution, m)
	if err != nil {
		return markov.Point{}, err
	}
	if by := cycle.Growth(slices.Repeat([]float64{1}, r.Size)); by > 1+markov.Still {
		return markov.Point{Radius: by}, nil
	}
	return *p.without, nil
}

// tails is by how much wider than the target a law of θ is far out.
func (e *Engine) tails(b *basis, s *space, law []float64) float64 {
	centre := e.observed[0].mean
	ratio := func(mean func(f func(float64) float64) float64) float64 {
		power := func(k float64) float64 {
			return mean(func(x float64) float64 { return math.Pow(math.Abs(x-centre), k) })
		}
		return power(4) / power(2)
	}
	// Fourth over second moments weigh the tails; of a law that is wider by a factor v, U/v being
	// its potential, the ratio is about v times as large.
	found := ratio(func(f func(float64) float64) float64 {
		return floats.Dot(law, b.coefficients(s, scalarObservable{of: f}))
	})
	wider := found / ratio(e.narrow.theta.expect) / tailMargin
	if !(wider > widerWithOpen) {
		return widerWithOpen
	}
	return wider
}

// centre moves the law of an open variable to where a step moves it neither way, with θ under
// the target's law, without noise. It returns a factor above 0 if there is no such place.
func (p *Chain) centre(v int) (escapes float64) {
	law := &p.space.others[v]
	at, start := []float64{law.mean}, 0 // from the start on, at distances that double
	for by := 1.0; by < farthestLog; by *= 2 {
		at, start = append(append([]float64{law.mean - by}, at...), law.mean+by), start+1
	}
	moved := p.moved(v, at)
	to, i := int(math.Copysign(1, moved[start])), start // where it is moved from the start
	// Go where the step moves the variable, until it is moved the other way. Without such a place
	// it runs away at the pace at which it leaves the start.
	for moved[i]*moved[start] > 0 {
		if i += to; i < 0 || i == len(at) {
			return math.Exp(math.Abs(moved[start]))
		}
	}
	// Between the two places next to the change.
	at = floats.Span(make([]float64, 33), at[max(0, i-to)], at[i])
	moved = p.moved(v, at)
	i = slices.IndexFunc(moved, func(x float64) bool { return x*moved[0] <= 0 })
	law.mean = at[max(0, i)]
	return 0
}

// moved is by how much a step moves a variable in the mean from each of some coordinates.
func (p *Chain) moved(v int, from []float64) []float64 {
	// The nodes are of θ under the target. others shares its elements with the space: a centre that
	// is set moves the law that state and coordinates go by, and is left at the last coordinate.
	nodes, others := p.engine.narrow.theta.orthogonal(12).gauss(12), p.space.others
	steps, weights := probe.Mixture(p.in.Kernel)
	var start [][]float64
	for _, u := range from {
		// state puts every variable at the centre of its law, and so this one at u.
		others[v].mean = u
		for _, x := range nodes.nodes {
			start = append(start, p.space.state(x, nil))
		}
	}
	sum := make([]float64, len(from))
	for _, f := range p.forces {
		for l, of := range steps {
			step := probe.NewTransition(p.in, of, f)
			z := make([][]float64, len(start))
			for i := range z {
				z[i] = slices.Clone(start[i])
			}
			step.Apply(z, slices.Repeat([][]float64{make([]float64, step.Normals)}, len(z)))
			for i := range z {
				// States come by coordinate, and of one by nodes of θ. coordinates keeps its result
				// within farOut deviations of the centre, which must be where this step began.
				at := from[i/len(nodes.nodes)]
				others[v].mean = at
				to := p.space.coordinates(p.in, z[i])[1+v]
				weight := nodes.weights[i%len(nodes.nodes)] * weights[l]
				sum[i/len(nodes.nodes)] += weight * (to - at) / float64(len(p.forces))
			}
		}
	}
	return sum
}

// state is a phase-space vector: θ, the momentum, and the auxiliary variables at coordinates, or
// at the centres of their laws if there are none.
func (s *space) state(theta float64, at []float64) []float64 {
	z := []float64{theta}
	if s.still {
		z = append(z, 0)
	}
	for v, law := range s.others {
		u := law.mean
		if at != nil {
			u = at[v]
		}
		z = append(z, law.value(u))
	}
	return z
}

// coordinates are θ and the coordinates of the other variables, in the place of the vector.
func (s *space) coordinates(of *integrators.Instance, z []float64) []float64 {
	if s.still {
		z = append(z[:1], z[2:]...)
	}
	for v, law := range s.others {
		z[1+v] = law.coordinate(of, z[1+v])
	}
	return z
}

// remembered is the number of small steps that the variables of an integrator remember, by what
// a step leaves of a difference of each from its start; 0 if all is left, or more than that time.
func remembered(in *integrators.Instance, f integrators.Force) (steps float64) {
	step := probe.NewTransition(in, in.Kernel, f)
	from := probe.Start(in)
	for v := 2; v < len(from); v++ {
		const apart = 1e-3
		z := [][]float64{slices.Clone(from), slices.Clone(from)}
		// Two states that differ in the variable alone take the same step without noise.
		z[1][v] += apart
		step.Apply(z, [][]float64{make([]float64, step.Normals), make([]float64, step.Normals)})
		forgotten := 1 - math.Abs(z[1][v]-z[0][v])/apart
		if forgotten > mostRemembered {
			steps = max(steps, 1/forgotten)
		}
	}
	return steps
}

// mostRemembered is the share that a variable forgets in a step above which its memory is one of
// steps, not of time: at the step of With.
const mostRemembered = 1e-5
