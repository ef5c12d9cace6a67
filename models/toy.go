package models

import (
	"math"
	"slices"

	"hambench/models/datasets"
)

// toyPriorVariance is σ_θ² (paper, appendix "Toy example").
const toyPriorVariance = 0.5

// toy is the mean θ of normal observations x_i ~ N(θ, σ_x²) with the prior
// N(0, σ_θ²) (paper, appendix "Toy example"). Its one output is θ. With n
// observations the posterior is N(σ_l² Σx_i/σ_x², σ_l²), where σ_l⁻² =
// σ_θ⁻² + n σ_x⁻². As a glm it has the one feature 1.
type toy struct {
	glm
	variance float64 // σ_x²
}

// newToy takes the targets as the observations; the split has no features.
func newToy(s *datasets.Split, _ Options) (Target, error) {
	one := []float64{1}
	features := slices.Repeat(one, len(s.TrainY))
	return &toy{newGLM(1, features, s.TrainY, one), s.NoiseVariance}, nil
}

func (t *toy) Name() string { return "toy" }

// Potential returns θ²/2σ_θ² + Σ_i (θ − x_i)²/2σ_x².
func (t *toy) Potential(theta []float64) float64 {
	checkLen(1, theta)
	u := theta[0] * theta[0] / (2 * toyPriorVariance)
	for _, x := range t.observed() {
		u += (theta[0] - x) * (theta[0] - x) / (2 * t.variance)
	}
	return u
}

// Gradient stores Pθ − s.
func (t *toy) Gradient(g, theta []float64, rows Rows) {
	checkLen(1, g, theta)
	p, s := t.affine(rows)
	g[0] = p*theta[0] - s
}

// HessianVector stores Pv, at any θ.
func (t *toy) HessianVector(hv, theta, v []float64, rows Rows) {
	checkLen(1, hv, theta, v)
	p, _ := t.affine(rows)
	hv[0] = p * v[0]
}

// Affine returns the 1 × 1 precision and the shift of affine.
func (t *toy) Affine(rows Rows) (precision, shift []float64) {
	p, s := t.affine(rows)
	return []float64{p}, []float64{s}
}

// affine returns the P and the s of the gradient Pθ − s over the rows,
// P = 1/σ_θ² + (Scale/σ_x²) Σ w_i and s = (Scale/σ_x²) Σ w_i x_i.
func (t *toy) affine(rows Rows) (p, s float64) {
	t.check(rows)
	var sum, count float64
	for i := rows.Lo; i < rows.Hi; i++ {
		w := t.weight(i)
		sum += w * t.y.now[i]
		count += w
	}
	w := rows.Scale / t.variance
	return w*count + 1/toyPriorVariance, w * sum
}

// DrawPrior scales the normal by σ_θ.
func (t *toy) DrawPrior(dst []float64) {
	checkLen(1, dst)
	dst[0] *= math.Sqrt(toyPriorVariance)
}

// posterior returns the mean s/P and the deviation 1/√P over all rows.
func (t *toy) posterior() (mean, sd float64) {
	p, s := t.affine(Rows{Lo: 0, Hi: t.Rows(), Scale: 1})
	return s / p, 1 / math.Sqrt(p)
}

// PredictiveMarginals returns the posterior itself: the one output is θ.
func (t *toy) PredictiveMarginals() (mean, sd []float64) {
	m, s := t.posterior()
	return []float64{m}, []float64{s}
}

// DrawPosterior stores m + sz for the standard normal z in dst.
func (t *toy) DrawPosterior(dst []float64) {
	checkLen(1, dst)
	m, s := t.posterior()
	dst[0] = m + s*dst[0]
}
