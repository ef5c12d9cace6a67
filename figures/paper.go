package figures

// published is a number of the paper: mean ± standard deviation over its five
// splits.
type published struct{ mean, sd float64 }

// publishedScores is a row of the paper's tables of scores. SHMC is the
// leapfrog integrator, SGHMC the adaptive scheme of Springenberg et al.
type publishedScores struct {
	dataset       string
	classes       int // 0 for regression
	train, test   int
	noiseVariance float64 // 0 for classification
	first, mnll   map[string]published
}

const (
	shmc  = "SHMC"
	sghmc = "SGHMC"
)

// paperRegression is Table tab:regression of the paper's appendix: test RMSE
// and MNLL of networks with 4 layers of 50, full batch.
var paperRegression = []publishedScores{
	{"boston", 0, 455, 51, 0.2, both(2.821, 0.61, 2.825, 0.63), both(2.600, 0.09, 2.600, 0.09)},
	{"concrete", 0, 927, 103, 0.05, both(4.907, 0.39, 4.833, 0.46), both(2.971, 0.07, 2.948, 0.09)},
	{"energy", 0, 691, 77, 0.01, both(0.501, 0.07, 0.489, 0.07), both(1.191, 0.07, 1.120, 0.03)},
	{"yacht", 0, 277, 31, 0.005, both(0.420, 0.12, 0.436, 0.13), both(1.180, 0.02, 1.176, 0.02)},
}

// paperClassification is Table tab:classification: test accuracy and MNLL of
// networks with 2 layers of 50, full batch.
var paperClassification = []publishedScores{
	{"ionosphere", 2, 301, 34, 0, both(0.920, 0.03, 0.916, 0.02), both(0.294, 0.04, 0.295, 0.04)},
	{"vehicle", 4, 646, 200, 0, both(0.777, 0.02, 0.783, 0.02), both(0.588, 0.03, 0.588, 0.03)},
}

func both(m1, s1, m2, s2 float64) map[string]published {
	return map[string]published{shmc: {m1, s1}, sghmc: {m2, s2}}
}

// paperAutocorrelation is Table tab:acf: the lag-1 autocorrelation of the
// oracles. The paper states no deviations.
var paperAutocorrelation = map[string]float64{
	"boston": 0.09, "concrete": 0.23, "energy": 0.05, "yacht": 0.05, "ionosphere": 0.17, "vehicle": 0.18,
}
