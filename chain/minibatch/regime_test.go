package minibatch

import (
	"math"
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
		{"cyclic", 10, 0.0029, 10, 1, OrdersRegime},
		{"repartition", 10, 0.0029, 10, 1, OrdersRegime},
		{"replacement", 10, 1e-9, 10, 1, HeatRegime},
		{"window", 10, 1e-9, 10, 1, HeatRegime},
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
