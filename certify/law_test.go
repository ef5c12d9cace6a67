package certify

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// The draws of each kind have the target's moments: of the Gaussian one P⁻¹s and P⁻¹, of the
// scalar one those of a sum over a grid of its own. Each of the nine numbers is off by more
// than 4.5 standard errors once in 1e5 times.
func TestDrawsAreOfTheTarget(t *testing.T) {
	const n = 100_000
	rng := rand.New(rand.NewPCG(6, 6))
	near := func(what string, got, want, sd float64) {
		if math.Abs(got-want) > 4.5*sd/math.Sqrt(n) {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	draws := func(p *Problem) [][]float64 {
		out, err := p.Draws(n, rng)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	x := draws(gaussianBuiltin())
	// P is [1.325 0.15; 0.15 1.475], s [0.3 0.3].
	det := 1.325*1.475 - 0.15*0.15
	var11, var22, cov := 1.475/det, 1.325/det, -0.15/det
	near("mean 1", stat.Mean(x[0], nil), var11*0.3+cov*0.3, math.Sqrt(var11))
	near("mean 2", stat.Mean(x[1], nil), cov*0.3+var22*0.3, math.Sqrt(var22))
	near("variance 1", stat.Variance(x[0], nil), var11, math.Sqrt2*var11)
	near("variance 2", stat.Variance(x[1], nil), var22, math.Sqrt2*var22)
	near("covariance", stat.Covariance(x[0], x[1], nil), cov, math.Sqrt(var11*var22+cov*cov))
	p := scalarBuiltin()
	var mass, first, second, fourth float64
	for v := -8.0; v < 8; v += 1e-3 {
		w := math.Exp(-(p.scalar[0].Value(v) + p.scalar[1].Value(v)) / 2)
		mass, first, second, fourth = mass+w, first+w*v, second+w*v*v, fourth+w*v*v*v*v
	}
	first, second, fourth = first/mass, second/mass, fourth/mass
	y := draws(p)[0]
	near("scalar mean", stat.Mean(y, nil), first, math.Sqrt(second-first*first))
	for i := range y {
		y[i] *= y[i]
	}
	near("scalar second moment", stat.Mean(y, nil), second, math.Sqrt(fourth-second*second))
	// Of the crossing one, E θ·∇U is the number of positions, and those may change places.
	z := draws(crossingProblem())
	for i, a := range z[0] {
		b := z[1][i]
		y[i] = 2*1000*a*a*b*b + a*a + b*b
	}
	near("crossing, θ·∇U", stat.Mean(y, nil), 2, stat.StdDev(y, nil))
	for i, a := range z[0] {
		y[i] = a*a - z[1][i]*z[1][i]
	}
	near("crossing, a² − b²", stat.Mean(y, nil), 0, stat.StdDev(y, nil))
}
