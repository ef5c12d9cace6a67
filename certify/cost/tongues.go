package cost

import "math"

// Where friction is low and the batches come in an order that repeats, a chain is unstable in
// tongues: narrow intervals of the step around a parametric resonance, where the phases of two
// modes over a period of L kernels add up to a multiple of 2π. In a tongue the modes'
// multipliers, of size e^−f elsewhere with f = ½CLh, part by factors up to e^w, w half the
// tongue's range of phases. It is unstable if w > f: a grid whose phases ωLh are f apart sees
// every tongue that is, and its steps have the ratio 1 + C/(2ω), whatever L is. Phases whose
// sum is below 2π meet nowhere.
const (
	// perTongue is how many steps are tried where phases differ by f.
	perTongue = 2
	// narrowest is the ratio of friction and fastest rate below which tongues may be missed, if
	// they are narrower than its half, relative to the step.
	narrowest = 1e-4
	// perPhase is the largest phase of the fastest rate between steps that are tried.
	perPhase = 0.4
	// perLook is that phase between steps at which second moments are looked at.
	perLook = 0.2
	// farthest is the largest step, over the fastest rate's time, at which tongues are looked
	// for: integrators that are stable beyond are exact flows.
	farthest = 16
	// tongueNodes interpolate a step's maps over an octave of steps, or twice the fastest
	// rate's time: a wave of that length to 10⁻¹².
	tongueNodes = 12
)

// Where the batches come in random orders, or are drawn independently, second moments may grow
// where the mean does not: in wide intervals of the step, where the spectrum of the differences
// has its peaks at twice a mode's frequency. A peak of the spectrum of L batches is about 1/L
// wide, and the friction need not be low. What repeats in the orders makes narrower ones, where
// the mean has a peak, too, however low that is.

// radiusAt is the spectral radius of a period at a step.
type radiusAt struct{ h, radius float64 }

// belowTongues returns the largest step below which all are stable, where some above the limit
// are not. It looks for tongues on chains whose maps are interpolated.
func (s *Search) belowTongues(limit float64) (float64, error) {
	c, err := s.at(min(limit, 1/s.pace.Fast), true)
	if err != nil {
		return limit, err
	}
	g, err := c.Radius(s.ctx, s.scheme, true)
	if err != nil {
		return limit, err
	}
	unit, length := 1/s.pace.Fast, float64(g.Kernels)
	// From a step h to h(1 + ratio) the phase ωLh grows by f/perTongue.
	ratio := max(s.pace.Damping/s.pace.Fast, narrowest) / (2 * perTongue)
	top := min(limit, farthest*unit)
	var mean, square [3]radiusAt // of steps that were tried, in their order, and of looks
	look := 0.0                  // the step of the next look
	// At this step a phase ωLh is 2, so that the sum of two is still below 2π.
	first := 2 * unit / length
	start := first
	if g.Random {
		start /= 4
	}
	for from, to := start, 0.0; from < top; from = to {
		to = min(2*from, from+2*unit, top)
		between, err := s.between(from, to)
		if err != nil {
			return limit, err
		}
		stride := func(h float64) float64 {
			if h < first { // phases meet nowhere
				return perLook * unit / length
			}
			return min(h*ratio, perPhase*unit/length, h/stepsPerOctave)
		}
		for h := from; h < to; h += stride(h) {
			g, err := between(h).Radius(s.ctx, s.scheme, true)
			if err != nil {
				return limit, err
			}
			mean = [3]radiusAt{mean[1], mean[2], {h, g.Radius}}
			// friction is f = ½CLh. From an unstable step the edge of its tongue is looked for by
			// distances that begin with that to the first step of last.
			last, friction := mean, s.pace.Damping*length*h/2
			found, ok, err := s.unstable(mean, between, friction)
			if err == nil && !ok && g.Random && h >= look {
				if g, err = between(h).Radius(s.ctx, s.scheme, false); err != nil {
					return limit, err
				}
				square = [3]radiusAt{square[1], square[2], {h, g.Radius}}
				look = h + perLook*unit/length
				last = square
				if found, ok = h, g.Radius > 1; !ok && square[0].h > 0 {
					found, ok, err = s.highest(square, between, friction)
				}
			}
			if err != nil {
				return limit, err
			}
			if !ok {
				continue
			}
			// Interpolation may be off where a step is not smooth.
			if stable, _, err := s.stable(found); err != nil || !stable {
				return s.edge(found, found-last[0].h, err)
			}
		}
	}
	return limit, s.ctx.Err()
}

// edge returns where the tongue of an unstable step begins. Second moments may grow before the mean
// does: a stable step is looked for downwards, by distances that double.
func (s *Search) edge(high, by float64, err error) (float64, error) {
	low, ok := high-by, false
	for ; err == nil && low > 0; low -= by {
		if ok, _, err = s.stable(low); ok {
			break
		}
		high, by = low, 2*by
	}
	if err != nil {
		return low, err
	}
	return s.halved(max(low, 0), high)
}

// unstable looks for a step without a law at the last of three steps, or where the mean of the
// middle one has the largest radius: there it looks closer, or at second moments, if these may
// grow faster.
func (s *Search) unstable(last [3]radiusAt, between func(h float64) Chain,
	friction float64) (h float64, ok bool, err error) {
	if last[2].radius > 1 {
		return last[2].h, true, nil
	}
	if !(last[0].h > 0 && last[1].radius > last[0].radius && last[1].radius >= last[2].radius) {
		return 0, false, nil
	}
	g, err := between(last[1].h).Radius(s.ctx, s.scheme, false)
	if err != nil || g.Radius > 1 {
		return last[1].h, err == nil, err
	}
	if g.Random {
		for i := range last {
			if i != 1 {
				side, err := between(last[i].h).Radius(s.ctx, s.scheme, false)
				if err != nil {
					return 0, false, err
				}
				last[i].radius = side.Radius
			}
		}
		last[1].radius = g.Radius
	}
	return s.highest(last, between, friction)
}

// highest looks for a step without a law about the middle one of three, where that has the largest
// radius and what is missing from 1 is a small part of what friction takes away in a period.
func (s *Search) highest(last [3]radiusAt, between func(h float64) Chain,
	friction float64) (h float64, ok bool, err error) {
	low, at, high, most := last[0].h, last[1].h, last[2].h, last[1].radius
	if !(most > last[0].radius && most >= last[2].radius) || most < 1-friction/2 {
		return 0, false, nil
	}
	// A maximum, by golden sections; radii are known to 10⁻¹⁴ at best.
	const golden = 0.3819660112501051
	for high-low > 1e-7*high {
		next := at + golden*(high-at)
		if at-low > high-at {
			next = at - golden*(at-low)
		}
		g, err := between(next).Radius(s.ctx, s.scheme, false)
		if err != nil || g.Radius > 1 {
			return next, err == nil, err
		}
		switch better := g.Radius > most; {
		case better && next > at:
			low, at, most = at, next, g.Radius
		case better:
			high, at, most = at, next, g.Radius
		case next > at:
			high = next
		default:
			low = next
		}
	}
	return 0, false, nil
}

// between returns the chains at steps in an interval, interpolated between Chebyshev's points.
func (s *Search) between(from, to float64) (func(h float64) Chain, error) {
	// The barycentric formula (Berrut & Trefethen 2004), with weights (−1)^j sin of the
	// points' angles for Chebyshev's points of the first kind.
	var chains [tongueNodes]Chain
	var nodes, weights [tongueNodes]float64
	for j := range nodes {
		angle := math.Pi * (float64(j) + 0.5) / tongueNodes
		nodes[j] = (from+to)/2 + (to-from)/2*math.Cos(angle)
		weights[j] = math.Sin(angle) * float64(1-2*(j%2))
		var err error
		if chains[j], err = s.at(nodes[j], false); err != nil {
			return nil, err
		}
	}
	return func(h float64) Chain {
		w, sum := make([]float64, tongueNodes), 0.0
		for j, x := range nodes {
			// At a point itself the formula divides by 0.
			if x == h {
				return chains[j]
			}
			w[j] = weights[j] / (h - x)
			sum += w[j]
		}
		for j := range w {
			w[j] /= sum
		}
		return chains[0].Between(chains[:], w)
	}, nil
}
