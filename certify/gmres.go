package certify

import (
	"context"
	"math"
)

const (
	// krylovSize is the number of directions before a restart. With the
	// engines' preconditioners a solution takes about ten.
	krylovSize = 60
	restarts   = 12
	// cycleGoal ends a cycle: two of them reach round-off, and the second
	// refines what the first lost.
	cycleGoal = 1e-8
	// residualGoal is where a solution's relative residual is round-off.
	residualGoal = 1e-15
)

// linear is a linear map from a vector to a new vector.
type linear func(x []float64) []float64

// gmres solves Ax = b, preconditioned from the right by solve ≈ A⁻¹ (Saad &
// Schultz 1986; Saad 2003, alg. 9.5), until the residual is goal times b, or at
// round-off, or no longer falls. It returns the length of b − Ax, too.
func gmres(ctx context.Context, apply, solve linear, b []float64, goal float64) (x []float64, residual float64) {
	x = make([]float64, len(b))
	size := norm(b)
	if size == 0 {
		return x, 0
	}
	best, last := x, math.Inf(1)
	for range restarts {
		r := append([]float64(nil), b...)
		addScaled(r, -1, apply(x))
		left := norm(r)
		if left < last {
			best, residual = x, left
		}
		if left <= max(goal*size, residualGoal*(size+norm(x))) || !(left < last/2) || ctx.Err() != nil {
			return best, residual
		}
		last = left
		x = append([]float64(nil), x...)
		addScaled(x, 1, solve(arnoldi(ctx, apply, solve, r, left, max(cycleGoal, goal/2))))
	}
	return best, residual
}

// arnoldi builds one Krylov space on r, of norm beta, and returns the
// combination u of its vectors that makes r − A·solve(u) smallest, or as small
// as goal times beta.
func arnoldi(ctx context.Context, apply, solve linear, r []float64, beta, goal float64) []float64 {
	v := [][]float64{append([]float64(nil), r...)}
	scale(v[0], 1/beta)
	h := make([][]float64, 0, krylovSize) // columns of the triangle after rotation
	rot := make([][2]float64, 0, krylovSize)
	g := []float64{beta}
	for j := range krylovSize {
		w := apply(solve(v[j]))
		col := orthogonalise(w, v)
		next := norm(w)
		for i, cs := range rot {
			col[i], col[i+1] = cs[0]*col[i]+cs[1]*col[i+1], -cs[1]*col[i]+cs[0]*col[i+1]
		}
		length := math.Hypot(col[j], next)
		if length == 0 || math.IsNaN(length) {
			break
		}
		c, s := col[j]/length, next/length
		col[j] = length
		h, rot = append(h, col), append(rot, [2]float64{c, s})
		g = append(g, -s*g[j])
		g[j] *= c
		if math.Abs(g[j+1]) <= goal*beta || next == 0 || ctx.Err() != nil {
			break
		}
		scale(w, 1/next)
		v = append(v, w)
	}
	return combine(h, g, v)
}

// orthogonalise takes the components along v out of w, twice for accuracy,
// and returns them, with a zero appended.
func orthogonalise(w []float64, v [][]float64) []float64 {
	col := make([]float64, len(v)+1)
	for range 2 {
		for i, vi := range v {
			c := dot(w, vi)
			col[i] += c
			addScaled(w, -c, vi)
		}
	}
	return col
}

// combine solves the triangle h·y = g and returns Σ y_j v_j.
func combine(h [][]float64, g []float64, v [][]float64) []float64 {
	y := append([]float64(nil), g[:len(h)]...)
	u := make([]float64, len(v[0]))
	for j := len(h) - 1; j >= 0; j-- {
		y[j] /= h[j][j]
		for i := range j {
			y[i] -= h[j][i] * y[j]
		}
		addScaled(u, y[j], v[j])
	}
	return u
}

func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }
