package sweep

import (
	"hambench/bench"
	"hambench/chain"
	"hambench/datasets"
	"hambench/integrators"
	"hambench/models"
	"hambench/oracle"
	"hambench/store"
)

// CostModel estimates what jobs cost. The zero CostModel has the constants of
// an AVX-512 machine and takes every chain to be stable; a Runner measures this
// machine, and the stable steps of the models on their data.
type CostModel struct {
	// Kernels are the measured times of kernels, in seconds of one core. Those
	// that are missing are estimated from the constants.
	Kernels map[Timed]float64
	// Stable are the estimated largest stable steps.
	Stable map[Stiffness]float64
}

// Timed is what the time of a kernel depends on, except under a scheme that
// rearranges the rows, such as repartition. Inner is N_l: 1, or manyInner for
// all that are larger.
type Timed struct {
	Dataset, Model, Precision, Integrator, Estimator string
	Batches, Inner                                   int
}

func timedOf(c bench.Cell) Timed {
	return Timed{c.Dataset, c.Model, c.Precision, c.Integrator, c.Estimator, c.Batches, max(c.Inner, 1)}
}

// Stiffness is what a stable step depends on.
type Stiffness struct {
	Dataset, Model string
	Batches        int
}

func stiffnessOf(c bench.Cell) Stiffness { return Stiffness{c.Dataset, c.Model, c.Batches} }

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
	secondsPerExact  = 0.2    // an exact job, the mean of the built-in ones
)

// size returns the rows and the parameters of a cell's target; of one that
// nobody knows before it is loaded, those of the paper's network on boston.
func size(c bench.Cell) (rows, parameters float64) {
	rows, parameters = 455, 8401
	d, err := datasets.Builtin().Lookup(c.Dataset)
	if err != nil {
		return rows, parameters
	}
	rows = float64(d.TrainRows)
	if model, err := models.Builtin().Lookup(c.Model); err == nil && model.Dim != nil {
		parameters = float64(model.Dim(d.Shape, models.Options{}))
	}
	return rows, parameters
}

// defaultKernel estimates the seconds of a kernel from the constants.
func defaultKernel(c bench.Cell, claims integrators.Claims) float64 {
	rows, n := size(c)
	perFlop := secondsPerFlop
	if c.Precision == "float64" {
		perFlop *= 2 // half as many lanes
	}
	gradients := float64(max(claims.Gradients, 1)) // the exact flow has products of its own
	if claims.Affine {
		gradients = 1
	}
	if e, err := (chain.Registry{}).Estimator(c.Estimator); err == nil && e.Extra != nil {
		gradients += e.Extra(max(c.Batches, 1))
	}
	gradients += productGradients * float64(claims.HessianVectors)
	gradient := secondsPerCall + n*(rows/float64(max(c.Batches, 1))*flopsPerWeight*perFlop+secondsPerNormal/2)
	noise := n * secondsPerNormal * float64(max(claims.Normals, 1)) / float64(max(c.Inner, 1))
	return gradients*gradient + noise
}

// kernel estimates the seconds of one core that a kernel of a cell takes.
func (m CostModel) kernel(c bench.Cell, claims integrators.Claims) float64 {
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
	return defaultKernel(c, claims)
}

// kernelsToDiverge is how long an unstable chain lasts, as seen: between a
// few dozen kernels and a few thousand.
const kernelsToDiverge = 200

// unstable guesses whether a cell's chain will diverge: its step is above the
// stable one, or beyond the explicit friction's own limit, hC = 2.
func (m CostModel) unstable(c bench.Cell, method integrators.Method) bool {
	limit := method.StableStep(m.Stable[stiffnessOf(c)])
	explicit := !method.FullRefreshment && !method.PositionOnly
	return limit > 0 && c.Step > limit || explicit && c.Step*float64(c.Friction) > 2
}

// crossCheckShare is what the cross-check of a reference takes, in chains of
// the reference.
const crossCheckShare = 1.5

// referenceCell is a cell with the kernels of a reference's chains.
func referenceCell(s oracle.Spec) bench.Cell {
	return bench.Cell{
		Dataset: s.Dataset, Split: s.Split, Model: s.Model, Precision: s.Precision,
		Integrator: s.Integrator, Scheme: "full", Batches: 1, Inner: 1,
	}
}

// Job estimates the seconds of one core that a job takes. A cell whose integrator is
// unknown costs nothing.
func (m CostModel) Job(j Job, r chain.Registry) float64 {
	switch j.Kind {
	case store.Reference:
		steps := float64(j.Spec.BurnIn + j.Spec.Samples*j.Spec.Thin)
		return (float64(j.Spec.Chains) + crossCheckShare) * steps * m.kernel(j.Cell, integrators.Claims{})
	case store.Exact:
		return secondsPerExact
	}
	method, err := r.Integrator(j.Cell.Integrator)
	if err != nil {
		return 0
	}
	kernels := float64(j.Cell.Kernels())
	if m.unstable(j.Cell, method) {
		kernels = min(kernels, kernelsToDiverge)
	}
	return kernels * m.kernel(j.Cell, method.Claims)
}

// Estimate is the estimated cost of one study.
type Estimate struct {
	ID      string
	Cells   int                // cells that the study lists; a choice counts as one
	Missing map[store.Kind]int // jobs of each kind that neither the store nor an earlier study has
	Seconds float64            // of one core, for what is missing
}

// Estimates returns what each plan costs in the shard, summed over its jobs: what
// the store has costs nothing, and what two studies share counts in the first. Of a
// choice only the next chain counts.
func (r *Runner) Estimates(plans []bench.Plan) []Estimate {
	jobs := Jobs(plans, r.Shard, r.Store)
	var out []Estimate
	for _, p := range plans {
		study := r.Shard.Slice(p.Study)
		est := Estimate{ID: p.ID, Cells: len(study.Cells) + len(study.Choices), Missing: make(map[store.Kind]int)}
		for _, j := range jobs {
			if j.Study == p.ID && !j.Have {
				est.Missing[j.Kind]++
				est.Seconds += r.Cost.Job(j, r.Chains)
			}
		}
		out = append(out, est)
	}
	return out
}
