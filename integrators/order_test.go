package integrators

import (
	"math"
	"testing"
)

// The order test's tolerance: at h = 0.02 the next term of the error's
// expansion is about h times the leading one.
const slopeTolerance = 0.05

func TestErgodicOrderMatchesClaim(t *testing.T) {
	for _, m := range everyMethod(t) {
		for _, p := range targets() {
			t.Run(m.Name+"/"+p.name, func(t *testing.T) {
				joint, theta := p.ergodicOrders(t, func(h float64) *Integrator { return p.newAt(t, m, h, 1) })
				if !(math.Abs(joint-m.Claims.ErgodicOrder) < slopeTolerance) && joint != m.Claims.ErgodicOrder {
					t.Errorf("joint covariance is of order %.3f, claim %v", joint, m.Claims.ErgodicOrder)
				}
				if !(math.Abs(theta-m.Claims.PositionOrder) < slopeTolerance) && !math.IsInf(theta, 1) {
					t.Errorf("θ covariance is of order %.3f, claim %v", theta, m.Claims.PositionOrder)
				}
			})
		}
	}
}

// everyMethod returns the table and splitting words of several kinds.
func everyMethod(t *testing.T) []Method {
	t.Helper()
	methods := Methods()
	for _, word := range []string{"ABO", "OBA", "BAO", "ABOA", "OBAB", "ABAO", "BAOABO", "OBOA", "ABBOOABAB", "bABOABb"} {
		m, err := Lookup("split:" + word)
		if err != nil {
			t.Fatal(err)
		}
		methods = append(methods, m)
	}
	return methods
}
