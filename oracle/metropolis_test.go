package oracle

import (
	"context"
	"errors"
	"math"
	"testing"

	"hambench/models"
)

// moments are the means of x and x² by the trapezium rule on [−12, 12], which
// for a smooth density that vanishes at the ends converges exponentially.
func moments(t *scalarTarget, i int) (m1, m2 float64) {
	var z float64
	for k := range 24001 {
		x := -12 + float64(k)/1000
		w := math.Exp(-t.u(i, x))
		z, m1, m2 = z+w, m1+w*x, m2+w*x*x
	}
	return m1 / z, m2 / z
}

// chainMoments runs the sampler and returns the same means of coordinate i
// with their standard errors, and the acceptance rate.
func chainMoments(t *testing.T, m *metropolis, n, leapfrogs int) (m1, m2, se1, se2, acceptance float64) {
	t.Helper()
	x, xx := make([]float64, n), make([]float64, n)
	for k := range n {
		p, err := m.trajectory(t.Context(), m.jitter(leapfrogs))
		if err != nil {
			t.Fatal(err)
		}
		acceptance += p / float64(n)
		x[k], xx[k] = m.theta[0], m.theta[0]*m.theta[0]
	}
	standardError := func(x []float64) float64 {
		one := [][]float64{x}
		_, within, _ := variances(one)
		return math.Sqrt(within / EffectiveSampleSize(one))
	}
	return mean(x), mean(xx), standardError(x), standardError(xx), acceptance
}

// wrongSlope is a target whose gradient is 25 % too large and rounded
// coarsely: a function of θ all the same.
type wrongSlope struct{ *scalarTarget }

func (t wrongSlope) Gradient(g, theta []float64, rows models.Rows) {
	t.scalarTarget.Gradient(g, theta, rows)
	for i := range g {
		g[i] = math.Round(1.25*g[i]*16) / 16
	}
}

// The law is exact at steps where plain leapfrog is visibly not, whatever the
// mass, and whatever the error of the gradient. Limits of four standard
// errors, two moments: one false alarm in 8 000 per case; seeds pinned.
func TestMetropolisIsExact(t *testing.T) {
	for _, tc := range []struct {
		reason     string
		truth      *scalarTarget
		target     models.Target
		h, invMass float64
	}{
		{"normal", normals(4), normals(4), 0.6, 1},
		{"normal with a mass", normals(4), normals(4), 1.2, 0.25},
		{"soft well", softWell(), softWell(), 0.9, 1},
		{"soft well, wrong gradient", softWell(), wrongSlope{softWell()}, 0.9, 1},
	} {
		m := newMetropolis(tc.target, []float64{0.5}, []float64{tc.invMass}, tc.h, 7)
		w1, w2 := moments(tc.truth, 0)
		m1, m2, se1, se2, acceptance := chainMoments(t, m, 40_000, 3)
		if math.Abs(m1-w1) > 4*se1 || math.Abs(m2-w2) > 4*se2 {
			t.Errorf("%s: moments %.4f ± %.4f, %.4f ± %.4f; want %.4f, %.4f", tc.reason, m1, se1, m2, se2, w1, w2)
		}
		if se1 > 0.02 || se2 > 0.03 {
			t.Errorf("%s: standard errors %v, %v are too large to decide anything", tc.reason, se1, se2)
		}
		if acceptance > 0.99 {
			t.Errorf("%s: acceptance %v: the decision was not put to the test", tc.reason, acceptance)
		}
	}
}

// Negative control: energies that are 20 % too large must spoil the second
// moment, by far more than the limit above: by 16 standard errors over seeds,
// give or take 1.4, so that fewer than one in a million are within 8.
func TestMetropolisDecidesByThePotential(t *testing.T) {
	steep := normals(4)
	steep.u = func(_ int, x float64) float64 { return 1.2 * 2 * x * x }
	m := newMetropolis(steep, []float64{0.5}, []float64{1}, 0.6, 7)
	_, w2 := moments(normals(4), 0)
	if _, m2, _, se2, _ := chainMoments(t, m, 40_000, 3); math.Abs(m2-w2) < 8*se2 {
		t.Errorf("second moment %v ± %v of the wrong sampler passes for %v", m2, se2, w2)
	}
}

func TestTuneReachesTheTargetAcceptance(t *testing.T) {
	lambda := make([]float64, 50)
	for i := range lambda {
		lambda[i] = float64(1 + i)
	}
	for _, h := range []float64{0.05, 3} { // far too small, far beyond stability
		target := normals(lambda...)
		m := newMetropolis(target, make([]float64, 50), constant(50, 1), h, 3)
		if err := m.tune(t.Context(), tuneTrajectories, Spec{Step: 0.1, Thin: 20}); err != nil {
			t.Fatal(err)
		}
		_, _, _, _, acceptance := chainMoments(t, m, 500, 20)
		// The approximation ends 0.014 above, with a standard deviation of
		// 0.025 over seeds, the 500 trajectories' 0.01 included: 0.12 is
		// more than four of these, which one of two exceeds once in 50 000.
		if math.Abs(acceptance-targetAcceptance) > 0.12 {
			t.Errorf("from h = %v: h = %v with acceptance %v, want %v", h, m.h, acceptance, targetAcceptance)
		}
	}
}

func constant(n int, v float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}

func TestMetropolisStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := newMetropolis(normals(1), []float64{0}, []float64{1}, 0.1, 1)
	if _, err := m.trajectory(ctx, 1_000_000_000); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A proposal that overflows is refused, and the chain stays where it was.
func TestMetropolisRefusesOverflow(t *testing.T) {
	m := newMetropolis(normals(1), []float64{0.5}, []float64{1}, 1e10, 1)
	for range 10 {
		if p, err := m.trajectory(t.Context(), 100); err != nil || p != 0 || m.theta[0] != 0.5 {
			t.Fatalf("acceptance %v (%v), now at %v", p, err, m.theta[0])
		}
	}
}
