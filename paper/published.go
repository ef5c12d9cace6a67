package paper

import (
	"slices"

	"hambench/bench"
)

// The methods of the paper's tables.
const (
	SHMC  = "SHMC"  // the leapfrog integrator
	SGHMC = "SGHMC" // the adaptive scheme of Springenberg et al. 2016, which makes the references
)

// Published is a number of the paper's tables: the mean and standard deviation
// over its five splits. Networks have 4 layers of 50 (regression) or 2 layers of
// 50 (classification); all rows are in one batch.
type Published struct {
	Table   string // id of the study that repeats it: regression, classification, autocorrelation
	Dataset string
	Method  string // SHMC or SGHMC
	Score   string // rmse, accuracy, mnll, lag1
	Mean    float64
	SD      float64 // 0 if the paper states none
}

// published are Tables tab:regression, tab:classification and tab:acf of the
// paper's appendix.
var published = []Published{
	{"regression", "boston", SHMC, "rmse", 2.821, 0.61},
	{"regression", "boston", SHMC, "mnll", 2.600, 0.09},
	{"regression", "boston", SGHMC, "rmse", 2.825, 0.63},
	{"regression", "boston", SGHMC, "mnll", 2.600, 0.09},
	{"regression", "concrete", SHMC, "rmse", 4.907, 0.39},
	{"regression", "concrete", SHMC, "mnll", 2.971, 0.07},
	{"regression", "concrete", SGHMC, "rmse", 4.833, 0.46},
	{"regression", "concrete", SGHMC, "mnll", 2.948, 0.09},
	{"regression", "energy", SHMC, "rmse", 0.501, 0.07},
	{"regression", "energy", SHMC, "mnll", 1.191, 0.07},
	{"regression", "energy", SGHMC, "rmse", 0.489, 0.07},
	{"regression", "energy", SGHMC, "mnll", 1.120, 0.03},
	{"regression", "yacht", SHMC, "rmse", 0.420, 0.12},
	{"regression", "yacht", SHMC, "mnll", 1.180, 0.02},
	{"regression", "yacht", SGHMC, "rmse", 0.436, 0.13},
	{"regression", "yacht", SGHMC, "mnll", 1.176, 0.02},

	{"classification", "ionosphere", SHMC, "accuracy", 0.920, 0.03},
	{"classification", "ionosphere", SHMC, "mnll", 0.294, 0.04},
	{"classification", "ionosphere", SGHMC, "accuracy", 0.916, 0.02},
	{"classification", "ionosphere", SGHMC, "mnll", 0.295, 0.04},
	{"classification", "vehicle", SHMC, "accuracy", 0.777, 0.02},
	{"classification", "vehicle", SHMC, "mnll", 0.588, 0.03},
	{"classification", "vehicle", SGHMC, "accuracy", 0.783, 0.02},
	{"classification", "vehicle", SGHMC, "mnll", 0.588, 0.03},

	{"autocorrelation", "boston", SGHMC, "lag1", 0.09, 0},
	{"autocorrelation", "concrete", SGHMC, "lag1", 0.23, 0},
	{"autocorrelation", "energy", SGHMC, "lag1", 0.05, 0},
	{"autocorrelation", "ionosphere", SGHMC, "lag1", 0.17, 0},
	{"autocorrelation", "vehicle", SGHMC, "lag1", 0.18, 0},
	{"autocorrelation", "yacht", SGHMC, "lag1", 0.05, 0},
}

// PublishedIn returns the numbers of one of the paper's tables, by the id of
// the study that repeats it; none for another id.
func PublishedIn(table string) []Published {
	return slices.DeleteFunc(slices.Clone(published), func(p Published) bool { return p.Table != table })
}

// PublishedFor returns the paper's number for a data set, method and score.
func PublishedFor(dataset, method, score string) (Published, bool) {
	i := slices.IndexFunc(published, func(p Published) bool {
		return p.Dataset == dataset && p.Method == method && p.Score == score
	})
	if i < 0 {
		return Published{}, false
	}
	return published[i], true
}

// MethodOf returns the method of the paper's tables that a study's cell repeats.
func MethodOf(c bench.Cell) string {
	if c.Observe == bench.Reference {
		return SGHMC
	}
	return SHMC
}

// Setup is what the paper states of a data set beside its numbers.
type Setup struct {
	Dataset       string
	Classes       int     // 0 for regression
	Train, Test   int     // rows of a split
	NoiseVariance float64 // of the likelihood on standardised targets; 0 for classification
}

// Setups are the data sets of the paper's tables of scores, in its order.
var Setups = []Setup{
	{"boston", 0, 455, 51, 0.2},
	{"concrete", 0, 927, 103, 0.05},
	{"energy", 0, 691, 77, 0.01},
	{"yacht", 0, 277, 31, 0.005},
	{"ionosphere", 2, 301, 34, 0},
	{"vehicle", 4, 646, 200, 0},
}
