package bench

import (
	"slices"

	"hambench/integrators"
	"hambench/oracle"
)

// CostModel estimates what a cell costs. The zero CostModel has the
// constants of an AVX-512 machine; Calibrate measures this one.
type CostModel struct {
	// Kernels are the seconds of one core that kernels were measured to
	// take. What is not there is estimated from the constants.
	Kernels map[Timed]float64
}

// Timed is what the time of a kernel depends on, but for a scheme that
// rearranges the rows, as repartition does. Inner is N_l: 1, or, for all that
// are larger, manyInner.
type Timed struct {
	Dataset, Precision, Integrator string
	Batches, Inner                 int
}

func timedOf(c Cell) Timed {
	return Timed{c.Dataset, c.Precision, c.Integrator, c.Batches, max(c.Inner, 1)}
}

// manyInner is the N_l at which kernels without their share of a refreshment
// are timed.
const manyInner = 10

// Machine constants of the default model, seconds per unit, from the
// prototypes' measurements with AVX-512 and float32.
const (
	secondsPerFlop   = 1e-11
	secondsPerNormal = 1.0e-9
	secondsPerCall   = 0.1e-6 // of a gradient, beside its arithmetic
	flopsPerWeight   = 6      // per row: forward, two products backward
	productGradients = 3      // a Hessian-vector product in gradients
)

// defaultKernel estimates the seconds of a kernel from the constants.
func defaultKernel(p Problem, precision string, rows float64, inner int, claims integrators.Claims) float64 {
	n, perFlop := float64(p.parameters()), secondsPerFlop
	if precision == "float64" {
		perFlop *= 2 // half as many lanes
	}
	gradients := float64(max(claims.Gradients, 1)) // the exact flow has products of its own
	if claims.Affine {
		gradients = 1
	}
	gradients += productGradients * float64(claims.HessianVectors)
	gradient := secondsPerCall + n*(rows*flopsPerWeight*perFlop+secondsPerNormal/2)
	noise := n * secondsPerNormal * float64(max(claims.Normals, 1)) / float64(inner)
	return gradients*gradient + noise
}

// kernel estimates the seconds of one core that a kernel of a cell takes.
func (m CostModel) kernel(p Problem, c Cell, claims integrators.Claims) float64 {
	inner := max(c.Inner, 1)
	at := timedOf(c)
	at.Inner = 1
	one, ok := m.Kernels[at]
	at.Inner = manyInner
	many, okMany := m.Kernels[at]
	switch {
	case inner == 1 && ok:
		return one
	case ok && okMany: // a kernel, and its share of the refreshment
		refresh := (one - many) / (1 - 1./manyInner)
		return one - refresh*(1-1/float64(inner))
	}
	return defaultKernel(p, c.Precision, float64(p.Rows)/float64(max(c.Batches, 1)), inner, claims)
}

// costProblem is the problem of a data set. A user's own is taken for a
// middling one.
func costProblem(dataset string) Problem {
	p, ok := LookupProblem(dataset)
	if !ok {
		p, _ = LookupProblem("boston")
	}
	return p
}

// Cell estimates the seconds of one core that a cell takes. claims are those
// of its integrator.
func (m CostModel) Cell(c Cell, claims integrators.Claims) float64 {
	p := costProblem(c.Dataset)
	kernels := float64(c.kernels())
	if p.unstable(c) {
		kernels = min(kernels, kernelsToDiverge)
	}
	return kernels * m.kernel(p, c, claims)
}

// kernelsToDiverge is how long an unstable chain lasts, as seen: between a
// few dozen kernels and a few thousand.
const kernelsToDiverge = 200

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

// oracleCell is a cell with the kernels of a reference's chains.
func oracleCell(s oracle.Spec) Cell {
	return Cell{
		Dataset: s.Dataset, Split: s.Split, Model: s.Model, Precision: s.Precision,
		Integrator: s.Integrator, Scheme: "full", Batches: 1, Inner: 1,
	}
}

// Oracle estimates the seconds of one core that a reference takes.
func (m CostModel) Oracle(s oracle.Spec) float64 {
	steps := float64(s.BurnIn + s.Samples*s.Thin)
	return (float64(s.Chains) + opinionShare) * steps * m.kernel(costProblem(s.Dataset), oracleCell(s), integrators.Claims{})
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
		lookup = integrators.Builtin().Lookup
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
