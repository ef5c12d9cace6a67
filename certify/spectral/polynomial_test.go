package spectral

import (
	"math"
	"testing"
)

// Round-off of rules with some 40 nodes.
const ruleTolerance = 1e-12

func TestGaussHermiteMoments(t *testing.T) {
	rule := hermite(20).gauss(20)
	want := 1.0 // (2k−1)!!
	for k := range 10 {
		got := 0.0
		for i, x := range rule.nodes {
			got += rule.weights[i] * math.Pow(x, float64(2*k))
		}
		if k > 0 {
			want *= float64(2*k - 1)
		}
		if math.Abs(got/want-1) > ruleTolerance {
			t.Errorf("moment %d is %v, want %v", 2*k, got, want)
		}
	}
}

// TestDensityPolynomials: of a Gaussian far from 0 they are scaled Hermite
// polynomials, a = mean, b_k = σ√k.
func TestDensityPolynomials(t *testing.T) {
	const mean, sigma = 300.0, 0.02
	d, err := newDensity(func(x float64) float64 { return (x - mean) * (x - mean) / (2 * sigma * sigma) }, -1, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := d.orthogonal(40)
	for k := range 40 {
		// The mean is 15 000 deviations from 0.
		if math.Abs(c.a[k]-mean) > 1e-9 || math.Abs(c.b[k+1]/(sigma*math.Sqrt(float64(k+1)))-1) > 1e-9 {
			t.Errorf("k = %d: a = %v, b = %v", k, c.a[k], c.b[k+1])
		}
	}
}

func TestDensityOfTwoWells(t *testing.T) {
	u := Oscillator{Stiffness: 0.2, Center: 5, Amplitude: 3, Frequency: 2}
	d, err := newDensity(u.Value, -1, 1)
	if err != nil {
		t.Fatal(err)
	}
	// ∫ U′ e^{−U} = 0 and ∫ (U″ − U′²) e^{−U} = 0, by parts.
	if got := d.expect(u.Gradient); math.Abs(got) > ruleTolerance {
		t.Errorf("E U' = %v", got)
	}
	if got := d.expect(func(x float64) float64 { return u.Curvature(x) - u.Gradient(x)*u.Gradient(x) }); math.Abs(got) > 100*ruleTolerance {
		t.Errorf("E (U'' - U'^2) = %v", got)
	}
}

func TestDensityRefuses(t *testing.T) {
	for _, c := range []struct {
		reason string
		u      func(float64) float64
	}{
		{"it does not confine", func(x float64) float64 { return math.Atan(x) }},
		{"it is too narrow for float64", func(x float64) float64 { return 1e300 * (x - 0.3) * (x - 0.3) }},
	} {
		if _, err := newDensity(c.u, -1, 1); err == nil {
			t.Errorf("taken although %s", c.reason)
		}
	}
}

// Wells behind a barrier that no tail crosses are found: means are those of a sum
// over a wide grid. Where there are so many that the grid is too coarse for them, the
// target is refused, not cut down to the nearest well.
func TestDensitiesBehindBarriers(t *testing.T) {
	for _, c := range []struct {
		m       Mean
		refused bool
	}{
		{Mean{Oscillator{1, 50, 400, 1, -50}}, false},
		{Mean{Oscillator{2, 9, 400, 0.7, 0}, Oscillator{0.5, 9, 0, 0, 0}}, false},
		{Mean{Oscillator{1, 10, 200, 1, 0}}, true},
		{Mean{Oscillator{1, 100, 1e4, 1, 0}}, true},
	} {
		m := c.m
		d, err := m.density(1)
		if c.refused || err != nil {
			if !c.refused || err == nil {
				t.Errorf("%v: error %v; want one: %v", m, err, c.refused)
			}
			continue
		}
		const points, width = 600_000, 300.0 // steps of 10⁻³ are a tenth of the narrowest well
		least, mass, sum := math.Inf(1), 0.0, 0.0
		at := func(i int) float64 { return width * (2*float64(i)/points - 1) }
		for i := range points {
			least = min(least, m.value(at(i)))
		}
		for i := range points {
			w := math.Exp(least - m.value(at(i)))
			mass, sum = mass+w, sum+w*at(i)
		}
		if got, want := d.expect(func(x float64) float64 { return x }), sum/mass; !(math.Abs(got-want) < 1e-6) {
			t.Errorf("%v: mean %v, want %v", m, got, want)
		}
	}
}
