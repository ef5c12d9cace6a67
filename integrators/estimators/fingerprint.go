package estimators

import (
	"math"

	"hambench/integrators"
	"hambench/internal/fingerprint"
)

// Fingerprint digests the gradients and the variables of an estimator along a
// fixed path over three batches. It is the same on all machines, and changes
// whenever the estimator's numbers do. search has the constants by which the caller searches for a
// mode: they are part of the digest of an estimator that asks for one, since a search on real
// numbers does not end in the same digits everywhere. The error is that of the estimator's New.
//
// The path is not a chain's: θ moves on a sine curve, so that the digest does not depend
// on an integrator. Each batch comes at irregular distances from its last visit.
func Fingerprint(m Estimator, search ...float64) (string, error) {
	const (
		batches = 3
		steps   = 200 // more than an estimator's period
		dim     = 2
	)
	d := fingerprint.New()
	e, err := m.New(Problem{
		Dim: dim, Epoch: batches, Batches: batches, Full: waves{0, 1, 2},
		Part: func(batch int) integrators.Force { return waves{batch} },
		Mode: func() ([]float64, error) {
			d.Add("mode", search...)
			return []float64{0.2, -0.4}, nil
		},
	})
	if err != nil {
		return "", err
	}
	z, g := integrators.NewState(dim), make([]float64, dim)
	e.Begin(z)
	for t := range steps {
		for j := range dim {
			z.Theta[j], z.R[j] = 1.5*math.Sin(1.7*float64(t)+float64(j)), math.Cos(0.9*float64(t+j))
		}
		i := (t*t + t/batches) % batches
		e.Force(Step{Number: int64(t), Batch: i, Force: waves{i}}, z).Gradient(g, z.Theta)
		d.Add("gradient", g...)
		for _, x := range z.Aux {
			d.Add("variable", x...)
		}
	}
	return d.String(), nil
}

// waves is the mean of forces θ_j + sin(θ_j + i + j)/2, by their numbers i.
type waves []int

func (w waves) Gradient(g, theta []float64) {
	for j, x := range theta {
		g[j] = x
		for _, i := range w {
			g[j] += math.Sin(x+float64(i+j)) / 2 / float64(len(w))
		}
	}
}
