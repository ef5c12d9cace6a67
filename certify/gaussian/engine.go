package gaussian

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/certify/markov"
	"hambench/certify/probe"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/usage"
)

// Problem is a normal target cut into batches, and dynamics that have it for their
// law.
type Problem struct {
	Batches  []*integrators.Affine // the scaled gradient of each
	Friction float64
	InvMass  []float64 // the diagonal of M⁻¹; nil for the identity
	By       probe.Estimation
}

// mapSize is the number of matrices in an affineMap.
const mapSize = 3

// CheckMemory refuses laws that would not fit, before memory is asked for: the chain's maps and
// those of its bounds, the directions of markov.SolveLinear, the powers of its preconditioner,
// and what the schemes hold. maps is how many of the first there are: of every batch or list of
// batches, and of every step that a kernel mixes.
func (p Problem) CheckMemory(schemes []minibatch.Scheme, maps float64) error {
	const (
		powersAndDirections = mapSize*steinPowers + 2*markov.KrylovSize
	)
	d, k := float64(len(p.Batches[0].Shift)), len(p.Batches)
	vectors := float64(2 + p.By.Variables(k)) // of d numbers
	for _, s := range schemes {
		// The maps of the batches and of the refreshment, for the chain and for unit noise.
		matrices := powersAndDirections + 2*mapSize*(maps+1)
		if _, ok := s.Visits.(minibatch.Permutation); ok {
			matrices += float64(markov.Layers(k))
		}
		if need := 8 * matrices * (vectors*d + 1) * (vectors*d + 1); need > maxMemory {
			// The dimension at which 8·matrices·(vectors·d + 1)² is the bound.
			most := (math.Sqrt(maxMemory/(8*matrices)) - 1) / vectors
			return usage.Errorf("d = %g positions and K = %d batches under %s need about "+
				"%.1f GB: want at most %.0f GB, d up to %.0f",
				d, k, s.Name, need/(1<<30), float64(maxMemory)/(1<<30), math.Floor(most))
		}
	}
	return nil
}

// maxMemory bounds the memory of the laws of a problem, in bytes.
const maxMemory = 2 << 30

// Engine solves a Gaussian problem.
type Engine struct {
	problem Problem
	mean    *integrators.Affine // of the batches, rounded
	frame   *frame
	target
	rates markov.Pace // of the batches

	differs  []*mat.Dense // (P_i − P̄)U⁻¹ of each batch, d × d
	variance []float64    // E_θ E_i (∇U_i − ∇U)² under the target, per coordinate of θ
}

// target is a list of forces moved to the frame, and the law of their mean. The frame is
// rounded, so that its own law is not quite N(0, I) there.
type target struct {
	moved []*integrators.Affine // the frame's centre is 0
	law   []float64             // second moments in the frame
	slip  float64               // how far round-off may have the mean of the law
}

// New returns the engine of a problem; a precision that float64 cannot hold is a usage error.
func New(p Problem) (*Engine, error) {
	g := &Engine{problem: p, mean: Mean(p.Batches)}
	var err error
	if g.frame, err = newFrame(g.mean, p.InvMass); err != nil {
		return nil, err
	}
	// The forces are moved to the frame in more than the usual precision.
	if g.target, err = g.frame.target(p.Batches); err != nil {
		return nil, err
	}
	g.variance = make([]float64, g.frame.d)
	// In the frame a batch's gradient differs from the mean's by differs·x − shift, x ~ N(0, I).
	for i, b := range p.Batches {
		var differs mat.Dense
		differs.Sub(matrix(b), matrix(g.mean))
		differs.Mul(&differs, g.frame.colour)
		g.differs = append(g.differs, &differs)
		for j, s := range g.moved[i].Shift {
			row := differs.RawRowView(j)
			g.variance[j] += (floats.Dot(row, row) + s*s) / float64(len(p.Batches))
		}
	}
	g.rates = g.measured()
	return g, nil
}

// Whole is the mean of the batches for a batch of its own, which all estimators
// leave as it is, at the pace of the batches.
func (g *Engine) Whole() (markov.Engine, error) {
	p := g.problem
	p.Batches, p.By = []*integrators.Affine{g.mean}, probe.Estimation{}
	out, err := New(p)
	if err == nil {
		// Steps are in proportion to the batches' pace, with mini-batches or without; the
		// gradient of all data does not vary.
		out.rates = g.rates
		clear(out.variance)
	}
	return out, err
}

// observables are the names of the engine's observables. Errors are
// largest absolute errors over elements, relative ones the lengths (of means)
// and largest stretches (of covariances) in the frame.
var observables = []string{"theta.mean", "theta.cov", "joint.cov"}

// Observables are theta.mean, theta.cov and joint.cov.
func (g *Engine) Observables() []string { return observables }

// Size measures a relative error: of theta.mean as a vector, of the others as
// symmetric matrices, by the largest stretch of a direction.
func (g *Engine) Size(observable int, x []float64) float64 {
	if observable == 0 {
		return floats.Norm(x, 2)
	}
	return markov.Stretch(x)
}

// Prepare probes the integrator's parts under every list of batches that a kernel
// takes. A part that is not affine, or that knows where the origin is, is a usage error that
// names the integrator and the batch.
func (g *Engine) Prepare(in *integrators.Instance) (markov.Chain, error) {
	own := probe.Auxiliary(in)
	forces, _ := probe.Lists(g.moved, 1) // as many as batches: never too many
	// All of the data is the mean of what was moved: where the frame's centre is far from the
	// origin, the rounding of the problem's own mean would pull it elsewhere.
	in, err := g.problem.By.Wrap(in, forces, Mean(g.moved), make([]float64, g.frame.d))
	if err != nil {
		return nil, err
	}
	probe.Correct(in, g.variance)
	// θ, r and auxiliary variables, those of an estimator behind the integrator's own.
	dim := 2*g.frame.d + probe.Auxiliary(in)
	steps, weights := probe.Mixture(in.Kernel)
	p := &Chain{g, moments{n: dim + 1, weights: weights, each: probe.BatchesTaken(in.Kernel),
		inner: in.Batches}}
	// A kernel that takes several batches is probed under every list of them.
	original, _ := probe.Lists(g.problem.Batches, p.each)
	moved, err := probe.Lists(g.moved, p.each)
	if err != nil {
		return nil, err
	}
	var parts []*probe.Transition // list by list, then the refreshment
	for _, f := range moved {
		for _, step := range steps {
			parts = append(parts, probe.NewTransition(in, step, f))
		}
	}
	if in.Refresh != nil {
		parts = append(parts, probe.NewTransition(in, in.Refresh, nil))
	}
	// All parts are probed in the same units, since their maps are multiplied by one another.
	frame := g.frame.withUnits(dim, own, parts)
	if in.Refresh != nil {
		if p.refresh, err = frame.probe(parts[len(parts)-1], dim); err != nil {
			return nil, fmt.Errorf("%s: refreshment: %w", in.Integrator.Name, err)
		}
	}
	for i, f := range moved {
		for range steps {
			// Parts are in the order in which kernels are appended: this is the next one's.
			m, err := frame.probe(parts[len(p.kernels)], dim)
			// An estimator was made for the moved forces, and does not know the original one.
			if err == nil && g.problem.By.Plain() {
				err = frame.checkMoved(in, original[i], f)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", in.Integrator.Name, p.batchesOf(i), err)
			}
			// A step may reckon with the mean of the batch itself, which is not at the origin.
			for _, f := range probe.Members(f) {
				m.far = max(m.far, frame.distance(f))
				// What is more than rounding over the waves in a step is an error of the flow.
				if in.Integrator.Needs.Affine && g.problem.By.Plain() {
					waves := in.Params.Step * g.rates.Fast
					m.off = max(m.off, min(frame.strayed(m, f), safety*markov.Epsilon*(1+waves)))
				}
			}
			p.kernels = append(p.kernels, m)
		}
	}
	return p, nil
}

// batchesOf names what a kernel takes under the i-th list of batches, counted from 1.
func (e *moments) batchesOf(i int) string {
	if e.each > 1 {
		return fmt.Sprintf("list %d of %d batches", i+1, e.each)
	}
	return fmt.Sprintf("batch %d", i+1)
}

// Chain is an integrator at one step size, as affine maps in the frame.
type Chain struct {
	engine *Engine
	moments
}

// Bytes is the size of the chain's maps.
func (p *Chain) Bytes() int { return 8 * mapSize * len(p.kernels) * p.n * p.n }

// Solve returns the errors of the stationary law under a scheme.
func (p *Chain) Solve(ctx context.Context, m minibatch.Scheme, everyStep bool) (markov.Point,
	error) {
	cycle, err := markov.NewPeriod(ctx, p.evolution(asOperator), m)
	if err != nil {
		return markov.Point{}, err
	}
	// Auxiliary variables of integrators or estimators are part of the law that is solved
	// for, and are left out of the errors.
	truth := p.truth()
	s, radius := p.stationary(cycle, truth)
	if err := ctx.Err(); err != nil || s == nil {
		return markov.Point{Radius: radius}, err
	}
	// Round-off hides whether there is a law.
	if s.delta == nil {
		// How fast the mean contracts is known all the same: Point.Lawless judges by it.
		lost := markov.LostPoint(len(observables))
		lost.Slowest = s.contraction
		return lost, nil
	}
	// The law where periods end becomes the average over outer steps.
	if everyStep {
		s.delta = cycle.Occupation(truth, s.delta)
	}
	if !p.engine.problem.By.Plain() {
		// Steps that batches do not move say nothing of how round-off adds up.
		s.mean = max(s.mean, p.engine.slip)
	}
	return p.engine.frame.observe(truth, s), ctx.Err()
}

// truth is the target's law, with auxiliary variables that are 0 for certain: any
// law of theirs will do, since what is judged is how (θ, r) ends up.
func (p *Chain) truth() []float64 {
	law, n := p.engine.law, p.n
	from := markov.Rank(law)
	out := mat.NewDense(n, n, nil)
	out.Slice(0, from-1, 0, from-1).(*mat.Dense).Copy(mat.NewDense(from, from, law))
	// The last row and column are the means.
	for i, v := range law[(from-1)*from : from*from-1] {
		out.Set(i, n-1, v)
		out.Set(n-1, i, v)
	}
	out.Set(n-1, n-1, law[len(law)-1])
	return out.RawMatrix().Data
}
