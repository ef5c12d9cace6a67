package oracle

import (
	"math"
	"math/rand/v2"
	"sync"

	"gonum.org/v1/gonum/stat"

	"hambench/models"
	"hambench/usage"
)

// Analytic is a truth that is known: the law of each predictive output. It is read-only,
// and safe for concurrent use.
type Analytic struct {
	cdf     func(output int, v float64) float64
	mu      sync.Mutex // of law, which has scratch space
	law     models.Analytic
	scatter func() float64 // of replicateSets, computed once
}

// selfReplicates is how many samples the self-distance is taken over; its
// mean then has a relative standard error of 1 %.
const selfReplicates = 1000

// NewAnalytic returns the truth of a target whose posterior is known. The truth
// takes over the target, which must be a models.Analytic.
func NewAnalytic(name string, t models.Target) (*Analytic, error) {
	law := models.CapabilitiesOf(t).Analytic
	if law == nil {
		return nil, usage.Errorf("the posterior of model %q is not known in closed form", name)
	}
	a := &Analytic{law: law}
	mean, sd := law.PredictiveMarginals()
	// The law of an output is normal unless the model states another.
	a.cdf = func(o int, v float64) float64 {
		return 0.5 * math.Erfc((mean[o]-v)/(sd[o]*math.Sqrt2))
	}
	if m := models.CapabilitiesOf(t).Marginals; m != nil {
		a.cdf = m.CDF
	}
	a.scatter = sync.OnceValue(a.replicates)
	return a, nil
}

// Distance returns the one-sample Kolmogorov distance between the draws
// (draws[sample][output]) and the exact marginals, averaged over the
// outputs.
func (a *Analytic) Distance(draws [][]float64) float64 {
	var sum float64
	for o := range a.law.Outputs() {
		column, ok := sortedColumn(draws, o)
		if !ok {
			sum++
			continue
		}
		sum += KolmogorovCDF(column, func(v float64) float64 { return a.cdf(o, v) })
	}
	return sum / float64(a.law.Outputs())
}

// SelfDistanceOf returns the distances of n independent exact draws, for one
// sample and one output at a time.
func (a *Analytic) SelfDistanceOf(n int) Band {
	b := uniformSelfDistance(n)
	b.SD = a.scatter() * math.Sqrt(replicateDraws/float64(n))
	return b
}

// Sets of exact draws over which the scatter of their distances is taken: it
// then has a relative standard error of 11 %. Distances fall with the square
// root of the number of draws.
const replicateSets, replicateDraws = 40, 100

// replicates returns the standard deviation of Distance over such sets. Outputs are
// correlated, so that it is not that of one output over √(their number).
func (a *Analytic) replicates() float64 {
	rng := rand.New(rand.NewPCG(2, 0)) // pinned: the same in every record
	distances := make([]float64, replicateSets)
	for k := range distances {
		distances[k] = a.Distance(a.Draws(replicateDraws, rng))
	}
	return stat.StdDev(distances, nil)
}

// Draws returns the predictive values of n independent exact draws, [draw][output].
func (a *Analytic) Draws(n int, rng *rand.Rand) [][]float64 {
	theta, draws := make([]float64, a.law.Dim()), make([][]float64, n)
	for i := range draws {
		// DrawStart takes the lock itself; here it is held for Predict alone.
		a.DrawStart(theta, rng)
		draws[i] = make([]float64, a.law.Outputs())
		a.mu.Lock()
		a.law.Predict(draws[i], theta)
		a.mu.Unlock()
	}
	return draws
}

// DrawStart stores an exact draw from the posterior in theta.
func (a *Analytic) DrawStart(theta []float64, rng *rand.Rand) {
	for i := range theta {
		theta[i] = rng.NormFloat64()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.law.DrawPosterior(theta)
}

// asymptotic is the number of draws from which the limit law of √n times the
// Kolmogorov distance serves: its error, O(1/√n) relative, is then below 1 %.
const asymptotic = 10_000

// kolmogorovLaw is the limit law of √n times the distance (Kolmogorov, 1933):
// its mean √(π/2) ln 2 and its 5 and 95 % quantiles.
var kolmogorovLaw = Band{Mean: math.Sqrt(math.Pi/2) * math.Ln2, Low: 0.51961, High: 1.35810}

// scaled is the band of distances that are all larger by a factor.
func (b Band) scaled(by float64) Band {
	return Band{by * b.Mean, by * b.Low, by * b.High, by * b.SD}
}

// uniformSelfDistance returns the one-sample Kolmogorov distances of n
// independent draws to their own law. They do not depend on that law, as
// long as it is continuous, so uniform draws do for all.
func uniformSelfDistance(n int) Band {
	if n > asymptotic {
		return kolmogorovLaw.scaled(1 / math.Sqrt(float64(n)))
	}
	rng := rand.New(rand.NewPCG(uint64(n), 0)) // pinned: the band is part of no cell's key
	d, x := make([]float64, selfReplicates), make([]float64, n)
	for k := range d {
		// Exponential gaps, scaled by their sum, are those of sorted uniform
		// draws (Rényi): there is nothing to sort.
		var at float64
		for i := range x {
			at += rng.ExpFloat64()
			x[i] = at
		}
		total := at + rng.ExpFloat64()
		d[k] = KolmogorovCDF(x, func(v float64) float64 { return v / total })
	}
	return bandOf(d)
}
