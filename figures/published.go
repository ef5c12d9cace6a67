package figures

import "slices"

// Published is a number of the paper's tables: the mean and standard
// deviation over its five splits.
type Published struct {
	Dataset string
	Method  string // SHMC (leapfrog) or SGHMC (the oracle)
	Score   string // rmse, accuracy, mnll, lag1
	Mean    float64
	SD      float64 // 0 if the paper states none
}

// PublishedNumbers returns the numbers of one of the paper's tables:
// regression, classification or autocorrelation; none for another id.
func PublishedNumbers(table string) []Published {
	var out []Published
	switch table {
	case "regression":
		return publishedOf(paperRegression, "rmse")
	case "classification":
		return publishedOf(paperClassification, "accuracy")
	case "autocorrelation":
		for set, lag := range paperAutocorrelation {
			out = append(out, Published{Dataset: set, Method: sghmc, Score: "lag1", Mean: lag})
		}
		slices.SortFunc(out, func(a, b Published) int {
			if a.Dataset < b.Dataset {
				return -1
			}
			return 1
		})
	}
	return out
}

func publishedOf(rows []publishedScores, first string) []Published {
	var out []Published
	for _, r := range rows {
		for _, method := range []string{shmc, sghmc} {
			a, b := r.first[method], r.mnll[method]
			out = append(out,
				Published{r.dataset, method, first, a.mean, a.sd},
				Published{r.dataset, method, "mnll", b.mean, b.sd})
		}
	}
	return out
}
