package paper

import (
	_ "embed"
	"math"
	"slices"
	"sync"

	"hambench/bench"
)

// The methods of the paper's tables.
const (
	SHMC  = "SHMC"  // the leapfrog integrator
	SGHMC = "SGHMC" // the adaptive scheme of Springenberg et al. 2016, which makes the references
)

// Published is a number of the paper's tables: the mean and standard deviation
// over its five splits.
type Published struct {
	Table   string // id of the study that repeats it: regression, classification, autocorrelation
	Dataset string
	Method  string // SHMC or SGHMC
	Score   string // rmse, accuracy, mnll, lag1
	Mean    float64
	SD      float64 // 0 if the paper states none
}

// Deviations returns by how many of the published standard deviations a mean is above the
// published one. A deviation is printed to two digits, so that it is taken as rounding larger.
func (p Published) Deviations(mean float64) float64 { return (mean - p.Mean) / (p.SD + rounding) }

//go:embed published.toml
var publishedText string

// published are the numbers of the paper's appendix, read once.
var published = sync.OnceValue(func() (file struct {
	Published []Published
	Setups    []Setup
}) {
	mustParse(publishedText, &file)
	return file
})

// Setups returns what the paper states about the data sets of its tables of scores, in its
// order.
func Setups() []Setup { return slices.Clone(published().Setups) }

// PublishedIn returns the numbers of one of the paper's tables, by the id of
// the study that repeats it; none for another id.
func PublishedIn(table string) []Published {
	other := func(p Published) bool { return p.Table != table }
	return slices.DeleteFunc(slices.Clone(published().Published), other)
}

// PublishedFor returns the paper's number for a data set, method and score; one of NaN if it has
// none.
func PublishedFor(dataset, method, score string) Published {
	for _, p := range published().Published {
		if p.Dataset == dataset && p.Method == method && p.Score == score {
			return p
		}
	}
	return Published{Mean: math.NaN(), SD: math.NaN()}
}

// MethodOf returns the method of the paper's tables that a study's cell repeats: its SGHMC
// is the procedure that makes the references.
func MethodOf(c bench.Cell) string {
	if c.Observe == bench.Reference {
		return SGHMC
	}
	return SHMC
}

// Setup is what the paper states about a data set besides its scores.
type Setup struct {
	Dataset     string
	Classes     int // 0 for regression
	Train, Test int // rows of a split
	// NoiseVariance is that of the likelihood on standardised targets; 0 for classification.
	NoiseVariance float64 `toml:"noise-variance"`
}
