package oracle

import (
	"math"

	"hambench/models"
)

// scalarTarget is a density exp(−U) of independent coordinates, each seen as
// an output. A prior draw is prior × a normal.
type scalarTarget struct {
	dim      int
	prior    float64
	u, slope func(i int, x float64) float64
	// gradients counts evaluations; number poison is NaN, and the potential
	// is too large by 100 from number hot on, until gradient hot + 500, and by 1000
	// before number fell.
	gradients, poison, hot, fell int
}

func (t *scalarTarget) Dim() int      { return t.dim }
func (t *scalarTarget) Rows() int     { return 1 }
func (t *scalarTarget) Arrange([]int) {}
func (t *scalarTarget) Potential(theta []float64) float64 {
	var s float64
	if t.hot > 0 && t.gradients >= t.hot && t.gradients < t.hot+500 {
		s = 100
	}
	if t.gradients < t.fell {
		s += 1000
	}
	for i, x := range theta {
		s += t.u(i, x)
	}
	return s
}
func (t *scalarTarget) Gradient(g, theta []float64, _ models.Rows) {
	t.gradients++
	for i, x := range theta {
		g[i] = t.slope(i, x)
	}
	if t.gradients == t.poison {
		g[0] = math.NaN()
	}
}
func (t *scalarTarget) Outputs() int                 { return t.dim }
func (t *scalarTarget) Predict(dst, theta []float64) { copy(dst, theta) }
func (t *scalarTarget) DrawPrior(dst []float64) {
	for i := range dst {
		dst[i] *= t.prior
	}
}

// normals has precision λ_i in coordinate i.
func normals(lambda ...float64) *scalarTarget {
	return &scalarTarget{
		dim: len(lambda), prior: 1,
		u:     func(i int, x float64) float64 { return lambda[i] * x * x / 2 },
		slope: func(i int, x float64) float64 { return lambda[i] * x },
	}
}

// softWell is U = √(1 + (x − 1)²) + x⁴/20: skew and not normal.
func softWell() *scalarTarget {
	return &scalarTarget{
		dim: 1, prior: 1,
		u:     func(_ int, x float64) float64 { return math.Sqrt(1+(x-1)*(x-1)) + x*x*x*x/20 },
		slope: func(_ int, x float64) float64 { return (x-1)/math.Sqrt(1+(x-1)*(x-1)) + x*x*x/5 },
	}
}
