package sweep

import (
	"slices"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/integrators"
	"hambench/internal/kernel"
	"hambench/models"
)

// What jobs cost is estimated for the order of jobs, the time left and a dry run, from the
// sizes of problems and the speed of the instruction set. What else this machine does is not
// known: an estimate may be wrong by a factor of two. For the order of jobs only ratios matter.
//
// Machine constants, seconds per unit, measured with AVX-512 and float32
// (docs/performance.md).
const (
	secondsPerFlop   = 1e-11
	secondsPerNormal = 1.0e-9
	secondsPerCall   = 0.1e-6 // of a gradient, besides its arithmetic
	secondsPerOwn    = 0.7e-6 // of a gradient of a model with data of its own: psgld on linear-net
	flopsPerWeight   = 6      // per row: forward, two products backward
	productGradients = 3      // a Hessian-vector product in gradients
	secondsPerExact  = 0.2    // an exact job, the mean of the built-in ones
)

// slowness holds how many times longer a step takes with an instruction set than with
// AVX-512 (docs/performance.md, steps of the paper's networks).
var slowness = map[string]float64{"avx512": 1, "avx2": 1.6, "neon": 6, "generic": 16}

// Slowness returns how many times longer chains take with this machine's kernels than
// with AVX-512.
func Slowness() float64 { return max(slowness[kernel.ISA()], 1) }

// size returns the rows and the parameters of a cell's target; of one that nobody
// knows before it is loaded, those of the paper's network on boston.
// A wrong size makes a wrong estimate, never a wrong result.
func (r *Runner) size(c bench.Cell) (rows, parameters float64) {
	rows, parameters = 455, 8401
	parts := r.Parts.Filled()
	d, err := parts.Data.Lookup(c.Dataset)
	if err != nil {
		return rows, parameters
	}
	rows = float64(d.TrainRows)
	if model, err := parts.Models.Lookup(c.Model); err == nil && model.Dim != nil {
		parameters = float64(model.Dim(d.Shape, models.Options{}))
	}
	return rows, parameters
}

// kernelCost estimates the seconds of one core that a kernel of a cell takes.
// It adds arithmetic, a constant for each call, and the normals of the noise, which are drawn
// once in N_l kernels.
func (r *Runner) kernelCost(c bench.Cell, needs integrators.Needs) float64 {
	rows, n := r.size(c)
	perFlop := secondsPerFlop
	if c.Precision == "float64" {
		perFlop *= 2 // half as many lanes
	}
	gradients := float64(max(needs.Gradients, 1)) // the exact flow has products of its own
	if needs.Affine {
		gradients = 1
	}
	if e, err := r.Chains.Estimator(c.Estimator); err == nil && e.Extra != nil {
		gradients += e.Extra(max(c.Batches, 1))
	}
	gradients += productGradients * float64(needs.HessianVectors)
	batch := rows / float64(max(c.Batches, 1))
	// A model with data of its own has no rows, so that its arithmetic is in the constant.
	call := secondsPerCall
	if rows == 0 {
		call = secondsPerOwn
	}
	gradient := call + n*(batch*flopsPerWeight*perFlop+secondsPerNormal/2)
	noise := n * secondsPerNormal * float64(max(needs.Normals, 1)) / float64(max(c.Inner, 1))
	return Slowness() * (gradients*gradient + noise)
}

// kernelsToDiverge is how long an unstable chain lasts, as seen: between a
// few dozen kernels and a few thousand.
const kernelsToDiverge = 200

// unstable reports whether a cell's chain will diverge, since its step is beyond the
// limit of an explicit friction, hC = 2, which others than these do not have.
// Only friction is looked at: the limit of the potential is not known before a chain runs.
func unstable(c bench.Cell, method integrators.Integrator) bool {
	explicit := []string{"euler", "leapfrog", "rk2", "sghmc", "sghmc-adaptive", "sgnht"}
	return slices.Contains(explicit, method.Name) && c.Step*float64(c.Friction) > 2
}

// crossCheckShare is what the cross-check of a reference takes, in chains of
// the reference.
const crossCheckShare = 1.5

// cost estimates the seconds of one core that a job takes. A cell whose integrator is
// unknown costs nothing.
// A chain that will diverge is taken to end after a few hundred kernels.
func (r *Runner) cost(j Job) float64 {
	switch j.Kind {
	case store.Reference:
		// Without doublings, of which nobody knows how many a reference needs.
		steps := float64(j.Spec.BurnIn + j.Spec.Samples*j.Spec.Thin)
		chains := float64(j.Spec.Chains) + crossCheckShare
		return chains * steps * r.kernelCost(j.Cell, integrators.Needs{})
	case store.Exact:
		return secondsPerExact
	}
	method, err := r.Chains.Integrator(j.Cell.Integrator)
	if err != nil {
		return 0
	}
	kernels := float64(j.Cell.Kernels())
	if unstable(j.Cell, method) {
		kernels = min(kernels, kernelsToDiverge)
	}
	return kernels * r.kernelCost(j.Cell, method.Needs)
}

// Estimate is the estimated cost of one study.
// Seconds are the sum over the missing jobs, as on one core without pauses.
type Estimate struct {
	ID      string
	Cells   int                // cells that the study lists
	Missing map[store.Kind]int // jobs of each kind that neither the store nor an earlier study has
	Seconds float64            // of one core, for what is missing
	Longest float64            // seconds of the longest of its chains, which is not divided
}

// On returns the seconds that it takes on a number of workers.
func (e Estimate) On(workers int) float64 { return max(e.Seconds/float64(workers), e.Longest) }

// longest is the part of a job's cost that its longest chain takes: of a reference, which keeps
// finished chains, one chain or the cross-check.
func (j Job) longest(cost float64) float64 {
	if j.Kind != store.Reference {
		return cost
	}
	return cost * max(1, crossCheckShare) / (float64(j.Spec.Chains) + crossCheckShare)
}

// Estimates returns what each plan costs, summed over its jobs: what the store has
// costs nothing, and what two studies share counts in the first.
// The order is that of the plans.
func (r *Runner) Estimates(plans []bench.Plan) []Estimate {
	jobs := Jobs(plans, r.Store)
	var out []Estimate
	for _, p := range plans {
		cells := len(p.Cells)
		est := Estimate{ID: p.ID, Cells: cells, Missing: make(map[store.Kind]int)}
		for _, j := range jobs {
			if j.Study == p.ID && !j.Have {
				est.Missing[j.Kind]++
				cost := r.cost(j)
				est.Seconds, est.Longest = est.Seconds+cost, max(est.Longest, j.longest(cost))
			}
		}
		out = append(out, est)
	}
	return out
}
