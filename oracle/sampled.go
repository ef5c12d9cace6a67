package oracle

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"hambench/internal/fingerprint"
	"hambench/models"
)

// ExactDraws says which draws of a known posterior take the place of reference chains.
type ExactDraws struct {
	Chains  int    `json:"chains"` // independent sets
	Samples int    `json:"samples"`
	Seed    uint64 `json:"seed"`
}

// Sampled is a known posterior that chains are compared with by its draws, as the paper
// compares samples: the distance is that of a Reference whose chains are exact draws. It
// is safe for concurrent use.
type Sampled struct {
	*Analytic // where chains start
	spec      ExactDraws
	reference *Reference
	self      bands
}

// Sampled returns the truth in the form of exact draws.
func (a *Analytic) Sampled(d ExactDraws) *Sampled {
	s := &Sampled{Analytic: a, spec: d, reference: &Reference{}}
	for c := range d.Chains {
		rng := rand.New(rand.NewPCG(d.Seed, uint64(c)))
		s.reference.Draws = append(s.reference.Draws, converted[float32](a.Draws(d.Samples, rng)))
	}
	return s
}

// Distance returns the two-sample Kolmogorov distance between the draws (draws[sample]
// [output]) and each set of exact draws, averaged over outputs and sets.
func (s *Sampled) Distance(draws [][]float64) float64 { return s.reference.Distance(draws) }

// The distances of independent draws are over 50 sets, which leave their standard deviation
// uncertain by a tenth, or of large sets over as many as take some seconds.
const (
	selfSets  = 50
	selfDraws = 40_000
	selfKey   = 1 << 32 // beyond the numbers of chains
)

// SelfDistanceOf returns the band of Distance for n independent draws of the posterior,
// from one output and one set of the reference's draws to another.
func (s *Sampled) SelfDistanceOf(n int) Band {
	b, _ := SelfDistance(context.Background(), s, n) // which never ends
	return b
}

// selfDistance draws sets of n, in float32 as the reference's are, and compares each with all
// chains. The quantiles are of single distances, the deviation is that of the sets' means.
func (s *Sampled) selfDistance(ctx context.Context, n int) (Band, error) {
	rng := rand.New(rand.NewPCG(s.spec.Seed, selfKey))
	means := make([]float64, max(10, min(selfSets, selfDraws/n)))
	var single []float64
	for k := range means {
		draws := converted[float32](s.Draws(n, rng))
		for o := range draws[0] {
			if err := ctx.Err(); err != nil {
				return Band{}, err
			}
			column, _ := sortedColumn(draws, o)
			for _, chain := range s.reference.columns() {
				single = append(single, Kolmogorov(column, chain[o]))
			}
		}
		// All sets have as many distances: outputs × chains.
		each := len(single) / (k + 1)
		means[k] = mean(single[k*each:])
	}
	b := bandOf(single)
	b.SD = stat.StdDev(means, nil)
	return b, nil
}

// SampledFingerprint digests the distance and the band of a small known posterior in the
// form of exact draws. It changes whenever the numbers of the procedure do.
func SampledFingerprint() (string, error) {
	a, err := NewAnalytic("bell", bell{})
	if err != nil {
		return "", err
	}
	s := a.Sampled(ExactDraws{Chains: 2, Samples: 20, Seed: 1})
	d, b := fingerprint.New(), s.SelfDistanceOf(10)
	d.Add("distance", s.Distance(a.Draws(10, rand.New(rand.NewPCG(1, 1)))))
	d.Add("self-distance", b.Mean, b.Low, b.High, b.SD)
	return d.String(), nil
}

// bell is the target of the fingerprint: two standard normals.
type bell struct{ quartic }

func (bell) PredictiveMarginals() (mean, sd []float64) { return []float64{0, 0}, []float64{1, 1} }
func (bell) DrawPosterior([]float64)                   {}

var _ models.Analytic = bell{}
