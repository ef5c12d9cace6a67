package markov

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

const (
	// KrylovSize is the number of directions before a restart. With the
	// engines' preconditioners a solution takes about ten.
	KrylovSize = 60
	restarts   = 12
	// cycleGoal ends a cycle: two of them reach round-off, and the second
	// refines what the first lost.
	cycleGoal = 1e-8
	// BoundGoal is enough for a solution that makes a bound.
	BoundGoal = 1e-4
	// ResidualGoal is where a solution's relative residual is round-off.
	ResidualGoal = 1e-15
)

// Linear is a linear map from a vector to a new vector.
type Linear func(x []float64) []float64

// SolveLinear solves Ax = b by generalised conjugate residuals (Eisenstat, Elman
// & Schultz 1983), preconditioned from the right by solve ≈ A⁻¹, until the
// residual is goal times b, or at round-off, or no longer falls. It returns the
// length of b − Ax, too.
func SolveLinear(ctx context.Context, apply, solve Linear, b []float64,
	goal float64) (x []float64, residual float64) {
	x = make([]float64, len(b))
	size := floats.Norm(b, 2)
	if size == 0 {
		return x, 0
	}
	// Where b is not finite nothing is better than 0.
	best, residual, last := x, size, math.Inf(1)
	for range restarts {
		r := floats.SubTo(make([]float64, len(b)), b, apply(x))
		left := floats.Norm(r, 2)
		if left < last {
			best, residual = x, left
		}
		solved := left <= max(goal*size, ResidualGoal*(size+floats.Norm(x, 2)))
		if solved || !(left < last/2) || ctx.Err() != nil {
			return best, residual
		}
		last = left
		// best must stay what it is while x is changed.
		x = slices.Clone(x)
		shorten(ctx, apply, solve, x, r, max(cycleGoal, goal/2)*left)
	}
	return best, residual
}

// shorten adds a combination of at most KrylovSize directions to x, so that the
// residual r becomes as short as they allow, or as goal.
func shorten(ctx context.Context, apply, solve Linear, x, r []float64, goal float64) {
	var directions, images [][]float64
	for len(images) < KrylovSize && floats.Norm(r, 2) > goal && ctx.Err() == nil {
		p := solve(r)
		q := apply(p)
		// q = Ap is made orthogonal to the images so far, and p is changed with it, so that q = Ap
		// still holds.
		for range 2 { // the second time for accuracy
			for i, image := range images {
				c := floats.Dot(q, image)
				floats.AddScaled(q, -c, image)
				floats.AddScaled(p, -c, directions[i])
			}
		}
		length := floats.Norm(q, 2)
		// All of q may be in the span of the images: such a direction shortens nothing.
		if !(length > 0) || math.IsInf(length, 0) {
			return
		}
		floats.Scale(1/length, p)
		floats.Scale(1/length, q)
		// q is orthogonal to the images before it: taking its part from r leaves what they did.
		c := floats.Dot(r, q)
		floats.AddScaled(x, c, p)
		floats.AddScaled(r, -c, q)
		directions, images = append(directions, p), append(images, q)
	}
}
