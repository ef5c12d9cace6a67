package gaussian

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The closed forms against the largest difference over a fine grid, and against
// quantiles at the midpoints of 200 000 cells of probability.
func TestNormalDistancesAreThoseOfQuadrature(t *testing.T) {
	axes := [][]float64{{1}}
	for _, c := range []struct{ mean, change float64 }{{0, 0.3}, {0, -0.4}, {0.2, 0}, {-0.3, 0.5}, {0.01, -0.002}, {1e-5, 3e-5}} {
		k, w := normalDistances(axes, []float64{c.mean}, []float64{c.change})
		law := distuv.Normal{Mu: c.mean, Sigma: math.Sqrt(1 + c.change)}
		grid, squares := 0.0, 0.0
		const cells = 200_000
		for i := range cells {
			x := distuv.UnitNormal.Quantile((float64(i) + 0.5) / cells)
			grid = max(grid, math.Abs(distuv.UnitNormal.CDF(x)-law.CDF(x)))
			squares += math.Pow(law.Mu+law.Sigma*x-x, 2) / cells
		}
		// The outermost cells, of 5e-6, hold squares that vary by about 10; the grid
		// misses the maximum, where the difference is flat, by 1e-5 at most.
		if !(math.Abs(k-grid) <= 1e-7*grid+1e-12) || !(math.Abs(w-math.Sqrt(squares)) <= 3e-4*w) {
			t.Errorf("N(%g, 1 + %g): distances %.9g and %.6g, quadrature says %.9g and %.6g", c.mean, c.change, k, w, grid, math.Sqrt(squares))
		}
	}
	// In two dimensions along turned axes: of covariances that commute with I, the
	// squares add up.
	if _, w := normalDistances([][]float64{{1, 0}, {0, 1}}, []float64{0.1, 0}, []float64{0, 0.2, 0.2, 0}); !(math.Abs(w-math.Sqrt(0.01+math.Pow(math.Sqrt(1.2)-1, 2)+math.Pow(math.Sqrt(0.8)-1, 2))) < 1e-12) {
		t.Errorf("Wasserstein distance %v of a turned covariance", w)
	}
}
