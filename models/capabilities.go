package models

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"hambench/internal/kernel"
	"hambench/internal/mlp"
)

// Capabilities holds what a target can do beyond Target. Each field is the target
// under that interface, or nil if it does not implement it.
type Capabilities struct {
	Hessian        Hessian
	Fused          Fused
	Gatherer       Gatherer
	LinearGaussian LinearGaussian
	Analytic       Analytic
	Marginals      Marginals
	Likelihood     Likelihood
	Optimal        Optimal
	Scorer         Scorer
	Described      Described
	Named          Named
	// Name stands for the target's model in messages: the result of its method
	// Name, or its Go type if it has none.
	Name string

	sourced sourced
}

// sourced is a target whose numbers depend on files that no evaluation shows.
type sourced interface {
	// sources returns a digest of the files' contents.
	sources() (string, error)
}

// CapabilitiesOf returns what a target can do. It is the one place that asks.
func CapabilitiesOf(t Target) Capabilities {
	// A tempered target has methods that the one within may lack: it must be asked.
	if m, ok := t.(*tempered); ok {
		return m.capabilities()
	}
	c := Capabilities{Name: fmt.Sprintf("%T", t)}
	// An assertion that fails leaves nil, which stands for what the target cannot do.
	c.Hessian, _ = t.(Hessian)
	c.Fused, _ = t.(Fused)
	c.Gatherer, _ = t.(Gatherer)
	c.LinearGaussian, _ = t.(LinearGaussian)
	c.Analytic, _ = t.(Analytic)
	c.Marginals, _ = t.(Marginals)
	c.Likelihood, _ = t.(Likelihood)
	c.Optimal, _ = t.(Optimal)
	c.Scorer, _ = t.(Scorer)
	c.Described, _ = t.(Described)
	c.Named, _ = t.(Named)
	c.sourced, _ = t.(sourced)
	if named, ok := t.(interface{ Name() string }); ok {
		c.Name = named.Name()
	}
	return c
}

// Hessian is a Target with exact Hessian-vector products.
type Hessian interface {
	Target
	// HessianVector stores H(θ)v in hv, with H the Jacobian of what Gradient
	// stores for these rows. All three vectors have length Dim.
	HessianVector(hv, theta, v []float64, rows Rows)
}

// Curvature returns a function that stores H(θ)v in dst, with H the Jacobian of
// what Gradient stores for the rows: by the target's own product if it has one,
// else by the central difference
//
//	H(θ)v ≈ (g(θ + εv) − g(θ − εv))/2ε,   ε = 10⁻³(1 + |θ|/√d),
//
// a step that leaves half the digits of a float32 gradient.
func Curvature(t Target, theta []float64, rows Rows) func(dst, v []float64) {
	if h := CapabilitiesOf(t).Hessian; h != nil {
		return func(dst, v []float64) { h.HessianVector(dst, theta, v, rows) }
	}
	n := float64(len(theta))
	e := 1e-3 * (1 + floats.Norm(theta, 2)/math.Sqrt(n))
	at, back := make([]float64, len(theta)), make([]float64, len(theta))
	return func(dst, v []float64) {
		t.Gradient(dst, floats.AddScaledTo(at, theta, e, v), rows)
		t.Gradient(back, floats.AddScaledTo(at, theta, -e, v), rows)
		floats.Sub(dst, back)
		floats.Scale(1/(2*e), dst)
	}
}

// Fused is a Target that carries out parts of a step over given rows itself, in
// fewer passes over the state than a Gradient and an update take.
type Fused interface {
	Hessian
	// Kick is integrators.FusedForce.Kick on the given rows.
	Kick(drift kernel.Coef, u *kernel.Update, n mlp.Noise, ahead any, rows Rows) any
	// At is integrators.FusedForce.At on the given rows.
	At(x []float64, xs []kernel.Summand, v []float64, vs []kernel.Summand,
		rows Rows) (gradient, product kernel.Summand)
}

// Gatherer is a Target that takes lists of rows: in any order, perhaps repeated,
// each with a weight. It copies the rows of a list, not all data.
type Gatherer interface {
	Target
	// Gather makes rows index[0], index[1], … of the data, as they were
	// given, the target's rows N, N+1, …, where N = Rows(), until the next
	// call. The arrangement of the others stays. weights, nil for 1 each,
	// multiply their negative log-likelihoods. A list has at most N rows. It
	// allocates nothing after the first list of its length.
	Gather(index []int, weights []float64)
}

// LinearGaussian is a Target whose gradient is affine in θ.
type LinearGaussian interface {
	Target
	// Affine returns P (row-major, Dim × Dim, symmetric positive definite)
	// and s (length Dim) such that Gradient stores Pθ − s for these rows.
	Affine(rows Rows) (precision, shift []float64)
}

// Analytic is a Target whose posterior is known.
type Analytic interface {
	Target
	// PredictiveMarginals returns the mean and the standard deviation of the
	// posterior law of each output, which is normal unless the target is a Marginals;
	// both have length Outputs. The caller must not change them.
	PredictiveMarginals() (mean, sd []float64)
	// DrawPosterior turns dst, Dim independent standard normals, into a draw
	// from the posterior, in place.
	DrawPosterior(dst []float64)
}

// Marginals is an Analytic target whose outputs are not normal.
type Marginals interface {
	Analytic
	// CDF is the distribution function of an output. It is safe for concurrent use.
	CDF(output int, v float64) float64
}

// Likelihood is a Target whose potential falls into a likelihood and a prior.
type Likelihood interface {
	Target
	// Loss returns the negative log-likelihood of all rows, up to a constant.
	Loss(theta []float64) float64
}

// Optimal is a Target that knows where its likelihood is largest, and its learning coefficient
// λ there with the multiplicity m: the volume where the loss is at most ε above its least is
// as ε^λ (log 1/ε)^(m−1) for small ε.
type Optimal interface {
	Target
	Optimum() []float64
	LearningCoefficient() (lambda float64, multiplicity int)
}

// Scorer is a Target that judges its predictions by the test targets.
type Scorer interface {
	Target
	// Scores returns the test scores of posterior draws, draws[sample][output]
	// as Predict stores them: rmse and mnll in the target's own units, and the
	// coverage of 90 % intervals, for regression; accuracy, mnll and the expected
	// calibration error (ece) for classification. The map is empty without test
	// targets or without draws.
	Scores(draws [][]float64) map[string]float64
}

// Named is a Target whose parameters have names, nil on data where they have none.
type Named interface {
	Target
	Parameters() []string
}

// Described is a Target that says what it computes, for programs in other languages.
type Described interface {
	Target
	Formula() Formula
}
