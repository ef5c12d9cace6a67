package paper

import "hambench/certify"

// StudyID is the id of the study that decides the claims.
const StudyID = "claims"

// Verdict is the outcome for a claim.
type Verdict string

// The verdicts.
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
	// Decide reads the evidence. Where there is too little of it, the verdict
	// is NotDecided and the summary says what to run.
	Decide func(e *Evidence) Finding
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

// Claims returns every claim, in the order of the paper.
func Claims() []Claim {
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
		float32Enough(),
	}
}

// Decide decides the claims by the evidence, in their order.
func Decide(claims []Claim, e *Evidence) []Decision {
	var out []Decision
	for _, c := range claims {
		out = append(out, Decision{c, c.Decide(e)})
	}
	return out
}
