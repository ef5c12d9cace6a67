package minibatch

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// Epochs as long as the bounds, by the frequency or by the friction, whichever the law asks.
func TestRegime(t *testing.T) {
	scheme := func(name string) Scheme {
		m, err := Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		scheme                string
		k                     int
		step, omega, friction float64
		want                  Regime
	}{
		{"reshuffle", 10, 0.0029, 10, 1, OrdersRegime},
		{"reshuffle", 10, 0.0031, 10, 1, BetweenRegime},
		{"reshuffle", 10, 0.0029, 10, 20, BetweenRegime}, // friction moves faster
		{"reshuffle", 10, 0.029, 10, 1, BetweenRegime},
		{"reshuffle", 10, 0.031, 10, 1, HeatRegime},
		{"reshuffle", 10, 0.031, 10, 20, BetweenRegime}, // positions remember for C/ω²
		{"reshuffle", 10, 0.061, 10, 20, HeatRegime},
		{"symmetric", 10, 0.0029, 10, 1, OrdersRegime},
		{"cyclic", 10, 0.0029, 10, 1, ""}, // another law
		{"repartition", 10, 0.0029, 10, 1, OrdersRegime},
		{"replacement", 10, 1e-9, 10, 1, HeatRegime},
		{"window", 10, 1e-9, 10, 1, ""}, // whose gradients are biased
		{"iid", 10, 1e-9, 10, 1, HeatRegime},
		{"full", 1, 0.1, 10, 1, ""},
		{"reshuffle", 1, 0.1, 10, 1, ""},
		{"reshuffle", 10, 0.1, math.NaN(), 1, ""},
		{"replacement", 10, 0.1, 0, 1, ""},
		{"reshuffle", 10, 0.1, 10, math.Inf(1), ""},
	} {
		if got := scheme(c.scheme).Regime(c.k, c.step, c.omega, c.friction); got != c.want {
			t.Errorf("%s, K = %d, η = %g, ω = %g, C = %g: %q, want %q", c.scheme, c.k, c.step,
				c.omega, c.friction, got, c.want)
		}
	}
	if got := (Scheme{Name: "unstated"}).Regime(10, 0.1, 10, 1); got != "" {
		t.Errorf("a scheme without a cap: %q, want none", got)
	}
}

// The share of heat by quadrature over the path's correlation, its limits, and what the bound of
// the law of heat leaves: a third to six tenths.
func TestHeatLeft(t *testing.T) {
	for _, c := range [][2]float64{{0.3, 0.1}, {0.05, 3}, {3, 0.5}, {3, 2}, {20, 1}, {9, 3}, {7, 1.9}} {
		epoch, friction := c[0], c[1]
		const n = 20_000
		sum, du := 0.0, epoch/n
		// θ after a time u from 1 at rest in the mean: its equation, by leapfrog.
		x, v := 1.0, 0.0
		for i := range n {
			sum += (epoch - float64(i)*du - du/2) * du * (x + v*du/2)
			v += (-x - friction*v) * du / 2
			x += v * du
			v = (v - x*du/2) / (1 + friction*du/2)
		}
		want := 1 - 2*sum/(epoch*epoch)
		if got := HeatLeft(epoch, friction); math.Abs(got-want) > 1e-3*want {
			t.Errorf("Kηω = %g, C/ω = %g: %g, want %g", epoch, friction, got, want)
		}
	}
	// With much friction a position follows dθ = −(ω²/C) θ dt: x = Kηω·ω/C is all that counts.
	for _, friction := range []float64{1e6, 1e8, 1e9, 1e12} {
		for _, x := range []float64{0.01, 0.1, 1, 10, 100} {
			want := 1 - 2*(math.Expm1(-x)+x)/(x*x)
			if got := HeatLeft(x*friction, friction); math.Abs(got-want) > 1e-9*want {
				t.Errorf("Kηω = %g C/ω, C/ω = %g: %g, want %g", x, friction, got, want)
			}
		}
	}
	for _, friction := range []float64{0.01, 0.5, 2, 5} {
		if got := HeatLeft(0.01, friction) / (0.01 * 0.01 / 12); math.Abs(got-1) > 0.02 {
			t.Errorf("C/ω = %g: %g times (Kηω)²/12, want 1", friction, got)
		}
		at := heatFrom * max(1, friction)
		if got := HeatLeft(at, friction); got < 1./3 || got > 0.6 {
			t.Errorf("C/ω = %g: %g at the bound of the law of heat", friction, got)
		}
	}
}

// The table of many batches on the page of the theory is what the functions say.
func TestTableOfManyBatches(t *testing.T) {
	page, err := os.ReadFile("../../docs/theory.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []float64{10, 100, 1000, 10_000} {
		line := fmt.Sprintf("| %g | %.3g | %.0f | %.3g |", k, ordersBelow/k, k/ordersBelow, heatFrom/k)
		for _, step := range []float64{0.001, 0.01, 0.1, 0.5} {
			line += fmt.Sprintf(" %.2g |", HeatLeft(k*step, 0.01))
		}
		if !strings.Contains(string(page), "\n"+line+"\n") {
			t.Errorf("docs/theory.md lacks the line %s", line)
		}
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, says := range []string{
		fmt.Sprintf("at ηω = 0.001 the share is %.2g at C = ω, %.2f at C = 10 ω and %.2f at C = 100 ω, and along a direction of frequency ω/100 it is %.1g at C = ω/100.",
			HeatLeft(10, 1), HeatLeft(10, 10), HeatLeft(10, 100), HeatLeft(0.1, 1)),
		fmt.Sprintf("%.2f at C = ω to %.2f at C ≪ ω on the line", HeatLeft(heatFrom, 1), HeatLeft(heatFrom, 0.0001)),
	} {
		if !strings.Contains(text, says) {
			t.Errorf("docs/theory.md does not say %q", says)
		}
	}
}
