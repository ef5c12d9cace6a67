package chain

import (
	"context"

	"hambench/integrators"
	"hambench/internal/fingerprint"
	"hambench/models"
)

// Fingerprint digests what the time loop makes of a small fixed problem: the
// start, the batches, the burn-in with its end of the adaptation, and the
// thinning, in float64 by the plain formulas. It is the same on all machines,
// and changes with any change of the loop that changes the numbers of chains.
//
// The three chains cover an integrator that adapts, the variance that full batches set
// to 0, and inner steps with a mass and a scheme that rearranges, in samples of whole
// outer steps.
func Fingerprint() (string, error) {
	return digest(true, Spec{
		Integrator: "sghmc-adaptive", Scheme: "reshuffle", Batches: 2, Key: 1,
		Params: integrators.Params{Step: 0.1, Friction: 1.5},
	}, Spec{
		Integrator: "sghmc", Key: 2,
		Params: integrators.Params{Step: 0.1, Friction: 1.5},
	}, inner)
}

// InnerFingerprint digests a chain with inner steps whose samples lie between two
// refreshments. Such chains have it in their keys besides Fingerprint.
func InnerFingerprint() (string, error) { return digest(false, inner) }

// inner is the chain of the fingerprints that has inner steps.
var inner = Spec{
	Integrator: "lietrotter", Scheme: "repartition", Batches: 3, Key: 3,
	Params: integrators.Params{
		Step: 0.2, Friction: 0.7, Inner: 3, InvMass: []float64{0.8, 1.3},
	},
}

// digest digests the chains of the specs under one noise, with their samples at the ends
// of whole outer steps or where the paper's plan has them.
func digest(whole bool, specs ...Spec) (string, error) {
	d := fingerprint.New()
	noise := &fingerprint.Noise{}
	for _, spec := range specs {
		spec.Noise = noise
		s, err := Registries{}.New(&quartic{}, spec)
		if err != nil {
			return "", err
		}
		add := func(_ int, z *integrators.State) error {
			d.Add("θ", z.Theta...)
			d.Add("r", z.R...)
			return nil
		}
		z := s.start(nil, noise)
		// The start counts, too: add returns no error.
		_ = add(0, z)
		unit := 1 // steps in which the plan counts
		if whole {
			unit = s.Integrator().Batches
		}
		plan := PaperPlan(spec.Params.Step*float64(unit), 3)
		d.Add("plan", float64(plan.BurnIn), float64(plan.Samples), float64(plan.Thin))
		plan.BurnIn, plan.Thin = plan.BurnIn*unit, plan.Thin*unit
		if err := s.Run(context.Background(), z, plan, add); err != nil {
			return "", err
		}
		n := s.Counts()
		d.Add("counts", float64(n.Steps), float64(n.Gradients), float64(n.HessianVectors))
	}
	return d.String(), nil
}

// quartic is the target of the fingerprint: five rows, row i with the negative
// log-likelihood Σ_d (θ_d − i/5)²/4, and the prior exp(−Σ_d θ_d⁴/4). It has no
// more than a gradient, so it runs by the plain formulas.
type quartic struct {
	models.Target // nil: a chain calls none of its other methods
	order         []int
}

const quarticRows = 5

func (t *quartic) Dim() int            { return 2 }
func (t *quartic) Rows() int           { return quarticRows }
func (t *quartic) Arrange(order []int) { t.order = append(t.order[:0], order...) }

// Gradient stores θ_d³ + Scale Σ_i (θ_d − i/5)/2, over the numbers i of the rows as given.
func (t *quartic) Gradient(g, theta []float64, rows models.Rows) {
	for d, x := range theta {
		g[d] = x * x * x
		for i := rows.Lo; i < rows.Hi; i++ {
			g[d] += rows.Scale * (x - float64(t.order[i])/quarticRows) / 2
		}
	}
}

// DrawPrior leaves the normals as they are: the fingerprint needs a start, not a draw
// from the prior.
func (t *quartic) DrawPrior([]float64) {}
