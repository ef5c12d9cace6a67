package models

import (
	"math"
	"strings"
	"testing"

	"hambench/models/datasets"
)

// curve is a target with the potential Σ scale·(θ−1)²/2 + cos(sharp·θ)/sharp of its rows and a
// standard normal prior, in the precision that it is told, and with planted mistakes.
type curve struct {
	Target              // predictions are not asked for
	scale, sharp        float64
	gradient, prior     float64 // factors that should be 1
	priorOfRows, single bool
	wall                bool // no potential anywhere, but a gradient
}

func (c curve) Dim() int  { return 3 }
func (c curve) Rows() int { return 7 }

func (c curve) Potential(theta []float64) float64 {
	u := 0.0
	for _, x := range theta {
		u += 7*(c.scale*(x-1)*(x-1)/2+math.Cos(c.sharp*x)/c.sharp) + x*x/2
	}
	switch {
	case c.wall:
		return math.Inf(1)
	case c.single:
		return float64(float32(u))
	}
	return u
}

func (c curve) Gradient(g, theta []float64, rows Rows) {
	n := float64(rows.Hi-rows.Lo) * rows.Scale
	for i, x := range theta {
		prior := c.prior * x
		if c.priorOfRows {
			prior *= rows.Scale
		}
		g[i] = c.gradient * (n*(c.scale*(x-1)-math.Sin(c.sharp*x)) + prior)
		if c.single {
			g[i] = float64(float32(g[i]))
		}
	}
}

// A model whose gradient is not that of its potential samples another law than it predicts:
// no target is made of it. Targets in float32 and stiff ones are.
func TestAGradientIsThatOfItsPotential(t *testing.T) {
	right := curve{scale: 1, sharp: 1, gradient: 1, prior: 1}
	for _, c := range []struct {
		reason string
		change func(c *curve)
		want   string // "" if it is right
	}{
		{"right", func(*curve) {}, ""},
		{"in float32", func(c *curve) { c.single = true }, ""},
		{"stiff, in float32", func(c *curve) { c.single, c.scale = true, 1e6 }, ""},
		{"stiff", func(c *curve) { c.scale = 1e9 }, ""},
		{"of waves of 10⁻⁴", func(c *curve) { c.sharp = 6e4 }, ""},
		{"flat", func(c *curve) { c.scale = 1e-9 }, ""},
		{"0.08 % too long", func(c *curve) { c.gradient = 1.0008 }, ""},
		{"0.2 % too long", func(c *curve) { c.gradient = 1.002 }, "not that of the potential"},
		{"2 % too long", func(c *curve) { c.gradient = 1.02 }, "not that of the potential"},
		{"2 % too short, in float32", func(c *curve) { c.gradient, c.single = 0.98, true }, "not that of the potential"},
		{"of the other sign", func(c *curve) { c.gradient = -1 }, "not that of the potential"},
		{"with half of its prior", func(c *curve) { c.prior = 0.5 }, "not that of the potential"},
		{"with the prior scaled with the rows", func(c *curve) { c.priorOfRows = true }, "halves of the rows"},
		{"of an infinite potential", func(c *curve) { c.wall = true }, "not finite"},
		{"infinite", func(c *curve) { c.gradient = math.Inf(1) }, "not finite"},
		{"NaN", func(c *curve) { c.gradient = math.NaN() }, "not finite"},
	} {
		target := right
		c.change(&target)
		m := Model{Name: "curve", New: func(*datasets.Split, Options) (Target, error) { return target, nil }}
		_, err := m.On(&datasets.Split{Name: "none"}, Options{})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.reason, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `model "curve"`)):
			t.Errorf("%s: error %v, want one of %q that names the model", c.reason, err, c.want)
		}
	}
}
