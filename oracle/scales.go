package oracle

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"hambench/chain/minibatch"
	"hambench/models"
)

// Scales are what the law of a chain's mini-batch error depends on beside the chain's settings
// (minibatch.Scheme.Regime), at one position of a target. The mass is the identity.
type Scales struct {
	// Omega is the largest frequency, the square root of the largest eigenvalue of ∇²U.
	Omega float64 `json:"omega"`
	// Spread is E|δ|²/d, δ = ∇U_i − ∇U, of two random batches of equal size. K batches have
	// K − 1 times as much.
	Spread float64 `json:"spread"`
}

// spreadBatches is into how many batches the rows are cut for the spread: a single cut into two
// would know it to a factor only.
const spreadBatches = 64

// ScalesAt measures the scales of a target at a position, a draw of its posterior. It leaves the
// target's rows in their own order, and takes about 14 gradients of all data. ok is
// false if the numbers are not finite and positive, or if there is a single row.
func ScalesAt(t models.Target, theta []float64) (s Scales, ok bool) {
	n, rng := t.Rows(), rand.New(rand.NewPCG(stableKey, 1))
	all := models.Rows{Lo: 0, Hi: n, Scale: 1}
	// Batches are of rows in random order: files are often sorted.
	t.Arrange(rng.Perm(n))
	defer t.Arrange(nil)
	s.Omega = math.Sqrt(largestEigenvalue(models.Curvature(t, theta, all), t.Dim()))
	mean, g := make([]float64, t.Dim()), make([]float64, t.Dim())
	t.Gradient(mean, theta, all)
	k := min(n, spreadBatches)
	for i := range k {
		b := minibatch.Cut(n, k, i)
		t.Gradient(g, theta, models.Rows{Lo: b.Lo, Hi: b.Hi, Scale: b.Scale})
		floats.Sub(g, mean)
		// E|δ|²/d of k batches, over k − 1: that of two, as Spread states it.
		s.Spread += floats.Dot(g, g) / float64(k*(k-1)*len(g))
	}
	finite := s.Omega > 0 && s.Spread > 0 && !math.IsInf(s.Omega+s.Spread, 0)
	return s, finite && n > 1
}
