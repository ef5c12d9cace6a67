package claims

import (
	"hambench/bench"
	"hambench/certify"
)

// Verdict is the outcome for a claim.
type Verdict string

const (
	Confirmed  Verdict = "confirmed"
	Refuted    Verdict = "refuted"
	NotDecided Verdict = "not decided"
)

// Who makes a claim.
const (
	ByPaper = "paper"
	ByChen  = "Chen et al. 2015"
	ByUs    = "not in the paper"
)

// Claim is a statement and how it is tested.
type Claim struct {
	ID        string
	By        string // who says so
	Statement string
	Where     string // section, equation, theorem or figure of the paper
	Test      string // how it is decided, with the criterion
	decide    func(e *Evidence) Finding
}

// Finding is what the evidence says of a claim.
type Finding struct {
	Verdict Verdict
	Summary string // the outcome in one line: the number that decides
	Detail  string // what a reader should know beyond it; may be empty
	Numbers []Number
}

// Number is one of the numbers behind a verdict.
type Number struct {
	Name  string         `json:"name"`
	Value certify.Number `json:"value"` // null where the text is not a number
	Text  string         `json:"text"`  // as people read it
}

// Decision is a claim with what was found of it.
type Decision struct {
	Claim
	Finding
}

// Evidence is what claims are decided by.
type Evidence struct {
	// Rows are exact errors: those of Jobs, as far as they are there.
	Rows []certify.Row
	// Results returns the results that there are of an experiment.
	Results func(experiment string) []bench.Result
}

// FromStore returns the results that a store has of a profile's experiments,
// those of the built-in data sets that stand in for missing ones included.
func FromStore(p bench.Profile, get func(key string) (bench.Result, bool)) func(experiment string) []bench.Result {
	return func(experiment string) []bench.Result {
		var out []bench.Result
		seen := make(map[string]bool)
		for _, exps := range [][]bench.Experiment{bench.Experiments(p), bench.Experiments(p, bench.UCI()...)} {
			for _, e := range exps {
				if e.ID != experiment {
					continue
				}
				have, _ := e.Results(get)
				for _, r := range have {
					if key := r.Cell.Key(); !seen[key] {
						seen[key] = true
						out = append(out, r)
					}
				}
			}
		}
		return out
	}
}

// All returns every claim, in the order of the paper.
func All() []Claim {
	return []Claim{
		stationaryLaw(),
		orderLeapfrog(),
		orderSymmetric(),
		orderLieTrotter(),
		orderMT3(),
		mt3Variance(),
		quasiSymplectic(),
		leapfrogPosition(),
		leapfrogCompetes(),
		reshuffleOrder(),
		reshuffleLimit(),
		chenErgodicError(),
		replacementOrder(),
		cyclicOrder(),
		toyLaw(),
		toyOrder(),
		bottleneckExact(),
		bottleneckSampled(),
		innerOrder(),
		innerErrorExact(),
		innerFan(),
		correctionMakesNoDifference(),
		secondOrderAlike(),
		mt3BestFullBatch(),
		batchSize(),
		allConverge(),
		frictionReasonable(),
		frictionRange(),
		tableRegression(),
		tableClassification(),
		tableAutocorrelation(),
		syntheticDistance(),
		singlePrecision(),
	}
}

// Decide decides the claims by the evidence.
func Decide(claims []Claim, e *Evidence) []Decision {
	var out []Decision
	for _, c := range claims {
		out = append(out, Decision{c, c.decide(e)})
	}
	return out
}
