package spectral

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"hambench/certify/probe"
)

// A law φ(x)(1 + ax + b(x² − 1)/√2) has the distribution function Φ(x) − φ(x)(a + bx/√2). That is
// sharpest apart from Φ where its derivative is 0, and a quantile of the law is as far from its
// like as y from Φ⁻¹(F(y)).
func TestDistancesAreThoseOfALawThatIsKnown(t *testing.T) {
	const a, b = 0.2, 0.15
	e, err := New(Mean{{Stiffness: 1}}, 1, probe.Estimation{})
	if err != nil {
		t.Fatal(err)
	}
	basis := e.newBasis(e.narrow, degrees{4, 4})
	law := make([]float64, len(basis.pairs))
	law[1], law[2] = a, b
	ks, ws := e.narrow.theta.distances(basis, law, 1)
	wantKS, squares := 0.0, 0.0
	normal := distuv.UnitNormal
	const step = 1e-3
	for y := -6.0; y < 6; y += step {
		below := normal.CDF(y) - normal.Prob(y)*(a+b*y/math.Sqrt2)
		wantKS = max(wantKS, math.Abs(below-normal.CDF(y)))
		off := y - normal.Quantile(below)
		squares += step * off * off * normal.Prob(y) * (1 + a*y + b*(y*y-1)/math.Sqrt2)
	}
	if want := math.Sqrt(squares); math.Abs(ks/wantKS-1) > 1e-5 || math.Abs(ws/want-1) > 1e-5 {
		t.Errorf("Kolmogorov %.8f, want %.8f; Wasserstein %.8f, want %.8f", ks, wantKS, ws, want)
	}
}
