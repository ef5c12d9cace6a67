package oracle

import (
	"context"

	"hambench/integrators"
	"hambench/internal/fingerprint"
	"hambench/models"
)

// Fingerprint digests what Build makes of a small fixed problem: the warm-up,
// the burn-in, the chains, the cross-check and the diagnostics, in float64 and
// under a noise that is the same on all machines. It changes whenever the numbers
// of the procedure do, but for those of chains that start again or have not mixed, and the standard
// error of the own error of more than two chains: it has none.
func Fingerprint() (string, error) {
	b := &builder{
		spec: Spec{
			Dataset: "quartic", Model: "quartic", Precision: "float64", Seed: 1,
			Integrator: "sghmc-adaptive", Step: 0.1, Friction: 2, Chains: 2, Samples: 20, Thin: 5,
			BurnIn: 200,
		},
		key:       "fingerprint", // of the random streams
		newTarget: func() (models.Target, error) { return quartic{}, nil },
		noise:     func(uint64, uint32) integrators.Noise { return &fingerprint.Noise{} },
	}
	r, err := b.build(context.Background())
	if err != nil {
		return "", err
	}
	d := fingerprint.New()
	for c := range r.Draws {
		d.Add("potential", r.Potential[c]...)
		d.Add("start", r.Start[c]...)
		for _, draw := range r.Draws[c] {
			d.Add("draw", float64(draw[0]), float64(draw[1]))
		}
	}
	d.Add("steps", r.ChainStep...)
	d.Add("cross-check", r.CrossCheck.Step, r.CrossCheck.Acceptance, r.CrossCheck.Distance,
		float64(r.CrossCheck.Leapfrogs))
	for _, x := range []Summary{r.Diagnostics.Lag1, r.Diagnostics.ESS, r.Diagnostics.SplitRHat} {
		d.Add("diagnostic", x.Mean, x.Median, x.P05, x.P95)
	}
	for _, x := range r.Checks {
		d.Add(x.Name, x.Value, x.Low, x.High)
	}
	return d.String(), nil
}

// quartic is the target of the fingerprint, U = Σ θ_d⁴/4 + θ_d²/2 in two
// dimensions, by plain formulas. Its outputs are its parameters.
type quartic struct{}

func (quartic) Dim() int              { return 2 }
func (quartic) Rows() int             { return 1 }
func (quartic) Arrange([]int)         {}
func (quartic) Outputs() int          { return 2 }
func (quartic) DrawPrior(_ []float64) {}

func (quartic) Potential(theta []float64) float64 {
	var u float64
	for _, x := range theta {
		u += x*x*x*x/4 + x*x/2
	}
	return u
}

func (quartic) Gradient(g, theta []float64, _ models.Rows) {
	for d, x := range theta {
		g[d] = x*x*x + x
	}
}

func (quartic) Predict(dst, theta []float64) { copy(dst, theta) }
