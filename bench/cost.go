package bench

import (
	"slices"

	"hambench/integrators"
	"hambench/oracle"
)

// CostModel estimates what a cell costs. The zero CostModel has the
// constants of an AVX-512 machine; Calibrate measures this one.
type CostModel struct {
	// Problems holds the measured times.
	Problems map[Timed]KernelTimes
}

// Timed is what kernel times are of.
type Timed struct{ Dataset, Precision string }

// KernelTimes are the seconds of one core that the parts of a step take.
type KernelTimes struct {
	Rows     []float64 // batch sizes at which was measured, ascending
	Gradient []float64 // a gradient and the update of the state, without noise
	Product  []float64 // a Hessian-vector product
	Noise    float64   // one normal per parameter
}

// at interpolates linearly in the rows, and beyond the ends extrapolates.
func (k KernelTimes) at(times []float64, rows float64) float64 {
	if len(k.Rows) == 1 {
		return times[0]
	}
	i := 1
	for i < len(k.Rows)-1 && rows > k.Rows[i] {
		i++
	}
	slope := (times[i] - times[i-1]) / (k.Rows[i] - k.Rows[i-1])
	return max(times[i-1]+slope*(rows-k.Rows[i-1]), 0)
}

// Machine constants of the default model, seconds per unit, from the
// prototypes' measurements with AVX-512 and float32.
const (
	secondsPerFlop   = 1e-11
	secondsPerNormal = 1.0e-9
	secondsPerCall   = 0.1e-6 // of a gradient, beside its arithmetic
	flopsPerWeight   = 6      // per row: forward, two products backward
	productGradients = 3      // a Hessian-vector product in gradients
)

// defaultTimes are those of the constants.
func defaultTimes(p Problem, precision string) KernelTimes {
	n, perFlop := float64(p.parameters()), secondsPerFlop
	if precision == "float64" {
		perFlop *= 2 // half as many lanes
	}
	gradient := func(rows float64) float64 {
		return secondsPerCall + n*(rows*flopsPerWeight*perFlop+secondsPerNormal/2)
	}
	k := KernelTimes{Rows: []float64{1, float64(p.Rows)}, Noise: n * secondsPerNormal}
	for _, r := range k.Rows {
		k.Gradient = append(k.Gradient, gradient(r))
		k.Product = append(k.Product, productGradients*gradient(r))
	}
	return k
}

func (m CostModel) times(t Timed) (KernelTimes, Problem) {
	p, ok := LookupProblem(t.Dataset)
	if !ok { // a user's own: take it for a middling one
		p, _ = LookupProblem("boston")
	}
	if k, ok := m.Problems[t]; ok {
		return k, p
	}
	return defaultTimes(p, t.Precision), p
}

// Cell estimates the seconds of one core that a cell takes. claims are those
// of its integrator.
func (m CostModel) Cell(c Cell, claims integrators.Claims) float64 {
	k, p := m.times(Timed{c.Dataset, c.Precision})
	rows := float64(p.Rows) / float64(max(c.Batches, 1))
	gradients := float64(max(claims.Gradients, 1))
	if claims.Affine {
		gradients = 1 // the flow's own products
	}
	kernel := gradients*k.at(k.Gradient, rows) + float64(claims.HessianVectors)*k.at(k.Product, rows)
	noise := k.Noise * float64(max(claims.Normals, 1)) / float64(max(c.Inner, 1))
	kernels := float64(c.kernels())
	if p.unstable(c) {
		kernels = min(kernels, kernelsToDiverge)
	}
	return kernels * (kernel + noise)
}

// kernelsToDiverge is how long an unstable chain lasts, as seen: between a
// few dozen kernels and a few thousand.
const kernelsToDiverge = 1000

// smallBatch is the number of rows below which batches are less stable than
// the full batch: batches of 128 were seen to be as stable.
const smallBatch = 64

// unstable guesses whether a cell's chain will diverge: its step is above
// what was seen to be stable, or beyond the explicit friction's own limit,
// hC = 2.
func (p Problem) unstable(c Cell) bool {
	limit := p.Stable
	if p.Rows/max(c.Batches, 1) < smallBatch {
		limit = p.StableSmall
	}
	explicit := c.Integrator == "leapfrog" || c.Integrator == "sghmc" || c.Integrator == "euler"
	return limit > 0 && c.Step > limit || explicit && c.Step*c.Friction > 2
}

// opinionShare is what the second opinion on a reference takes, in chains of
// the reference.
const opinionShare = 1.5

// Oracle estimates the seconds of one core that a reference takes.
func (m CostModel) Oracle(s oracle.Spec) float64 {
	k, p := m.times(Timed{s.Dataset, s.Precision})
	steps := float64(s.BurnIn + s.Samples*s.Thin)
	return (float64(s.Chains) + opinionShare) * steps * (k.at(k.Gradient, float64(p.Rows)) + k.Noise)
}

// Estimate is what one experiment costs.
type Estimate struct {
	ID      string
	Cells   int // that the experiment lists; of a choice, one
	Missing int // of these, not in the store and in no experiment before
	Oracles int // missing, and in no experiment before
	Seconds float64
}

// Estimates returns what the experiments cost, cell by cell: what the store
// has costs nothing, and what two experiments share counts in the first. Of
// a choice only the next chain is counted.
func (m CostModel) Estimates(exps []Experiment, shard Shard, s *Store, lookup func(string) (integrators.Method, error)) ([]Estimate, error) {
	if lookup == nil {
		lookup = integrators.Lookup
	}
	seen := make(map[string]bool)
	var out []Estimate
	for _, e := range exps {
		e = shard.Slice(e)
		have, missing := e.Results(s.Get)
		est := Estimate{ID: e.ID, Cells: len(have) + len(missing)}
		for _, c := range missing {
			if seen[c.Key()] {
				continue
			}
			seen[c.Key()] = true
			est.Missing++
			if i := specIndex(e.Oracles, c.Oracle); i >= 0 && !seen[c.Oracle] && !s.HasReference(c.Oracle) {
				seen[c.Oracle] = true
				est.Oracles++
				est.Seconds += m.Oracle(e.Oracles[i])
			}
			if c.kernels() == 0 {
				continue
			}
			method, err := lookup(c.Integrator)
			if err != nil {
				return nil, err
			}
			est.Seconds += m.Cell(c, method.Claims)
		}
		out = append(out, est)
	}
	return out, nil
}

// specIndex finds the spec with the given key, -1 if there is none.
func specIndex(specs []oracle.Spec, key string) int {
	return slices.IndexFunc(specs, func(s oracle.Spec) bool { return s.Key() == key })
}
