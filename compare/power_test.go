package compare

import (
	"math"
	"testing"
)

// Of one column and two kinds of tests each has a level of 0.005, on both sides: with standard
// errors that are known, a difference of four of them is outside 2.80703 of them with the
// probability Φ(4 − 2.80703) = 0.88355, and with 0.9 if it is 2.80703 + 1.28155 of them, so with
// (4.08858/4)² times as many draws.
func TestPowerIsThatOfATestOfTwoSides(t *testing.T) {
	const known = 1e9 // degrees of freedom
	side := average{size: 1000, freedom: known}
	p := tests{columns: 1, kinds: 2}.shows("a shift", 0.4, difference{error: 0.1, freedom: known, own: side, ref: side}, 1)
	if math.Abs(p.Power-0.88355) > 1e-5 {
		t.Errorf("power %.5f, want 0.88355", p.Power)
	}
	if want := 1000 * 4.08858 * 4.08858 / 16; p.Needs < want || p.Needs > want*math.Exp(0.02) {
		t.Errorf("needs %.1f draws, want %.1f, up to 2 %% more", p.Needs, want)
	}
}
