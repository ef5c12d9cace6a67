package paper

import (
	_ "embed"
	"math"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"hambench/bench"
	"hambench/certify"
)

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

// Claim is a statement and how it is tested.
type Claim struct {
	ID        string `json:"id"`
	Study     string `json:"study,omitempty"` // the study of a later paper that decides it
	By        string `json:"by"`              // who says so
	Statement string `json:"statement"`
	Where     string `json:"where"` // section, equation, theorem or figure of the paper
	Test      string `json:"test"`  // how it is decided, with the criterion
	Own       bool   `json:"-"`     // of a user's study, which states it
	// Decide reads the evidence. If there is too little of it, the verdict is
	// NotDecided and the summary says what to run.
	Decide func(e *Evidence) Finding `json:"-" toml:"-"`
}

// Finding is what the evidence says about a claim.
type Finding struct {
	Verdict Verdict  `json:"verdict"`
	Summary string   `json:"summary"`          // the outcome in one line: the number that decides
	Detail  string   `json:"detail,omitempty"` // what a reader should know beyond it; may be empty
	Numbers []Number `json:"numbers"`
}

// Number is one of the numbers behind a verdict.
type Number struct {
	Name  string         `json:"name"`
	Value certify.Number `json:"value"` // null if the text is not a number
	Text  string         `json:"text"`  // for people
}

// Decision is a claim with what was found about it.
type Decision struct {
	Claim
	Finding
}

//go:embed claims.toml
var claimsText string

// Claims returns every claim, in the order of the paper: claims.toml's texts,
// which may name its phrases, with their deciders.
func Claims() []Claim { return withDeciders(claimsText, deciders) }

// withDeciders returns the claims of a file with their deciders, and with phrases
// filled in.
func withDeciders(text string, deciders map[string]func(e *Evidence) Finding) []Claim {
	var file struct {
		Phrase map[string]string
		Claim  []Claim
	}
	mustParse(text, &file)
	for i, c := range file.Claim {
		file.Claim[i].Test = os.Expand(c.Test, func(phrase string) string { return file.Phrase[phrase] })
		file.Claim[i].Decide = deciders[c.ID]
	}
	return file.Claim
}

// mustParse reads an embedded file, which has no key that its form lacks.
func mustParse(text string, into any) {
	if err := toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields().Decode(into); err != nil {
		panic("paper: " + err.Error()) // tests read it
	}
}

// deciders decide the claims, by their ids.
var deciders = map[string]func(e *Evidence) Finding{
	// Theorem 1 is tested with mt3, whose errors vanish at order 3: were the law
	// of the SDE another one, the difference would remain.
	"stationary-law": func(e *Evidence) Finding {
		return between(smallestBy(e.fits(bench.OfFriction, func(f fitted) bool { return !ofMass(f) }), byProblem), 3, math.Inf(1))
	},
	"stationary-law-mass": func(e *Evidence) Finding {
		return between(smallestBy(e.fits(bench.OfFriction, ofMass), byProblem), 3, math.Inf(1))
	},
	"order-leapfrog":          func(e *Evidence) Finding { return e.worstUnder(bench.OfOrders, "full", 1, 1, "leapfrog") },
	"order-symmetric":         func(e *Evidence) Finding { return e.worstUnder(bench.OfOrders, "full", 2, 2, "symmetric") },
	"order-lietrotter":        func(e *Evidence) Finding { return e.worstUnder(bench.OfOrders, "full", 2, 2, "lietrotter") },
	"order-mt3":               func(e *Evidence) Finding { return e.worstUnder(bench.OfOrders, "full", 3, 3, "mt3") },
	"weak-orders":             weakOrders,
	"mt3-variance":            mt3Variance,
	"quasi-symplectic":        quasiSymplectic,
	"quasi-symplectic-better": quasiSymplecticBetter,
	"higher-order-better":     higherOrderBetter,
	"leapfrog-position":       leapfrogPosition,
	"leapfrog-competes": func(e *Evidence) Finding {
		return compare(e, "methods", always, integratorOf, "leapfrog", "symmetric", "lietrotter").decide(0, margin)
	},
	"reshuffle-order":    func(e *Evidence) Finding { return atLeast(e.capped("reshuffle", 2)) },
	"reshuffle-limit":    reshuffleLimit,
	"k-dependence":       growth,
	"long-epochs":        longEpochs,
	"closed-form":        closedForm,
	"chen-2015":          chenErgodicError,
	"replacement-order":  func(e *Evidence) Finding { return between(e.capped("replacement", 1), 1, 1) },
	"cyclic-order":       cyclicOrder,
	"toy-law":            toyLaw,
	"toy-order":          toyOrder,
	"bottleneck-exact":   bottleneckExact,
	"bottleneck-sampled": bottleneckSampled,
	"inner-order":        innerOrder,
	"inner-error-exact":  innerErrorExact,
	"inner-fan":          innerFan,
	"inner-sensible":     innerSensible,
	"sghmc-correction":   sghmcCorrection,
	"second-order-alike": func(e *Evidence) Finding {
		return compare(e, "methods", always, integratorOf, "symmetric", "lietrotter").decide(1/margin, margin)
	},
	"mt3-full-batch":        mt3BestFullBatch,
	"mt3-cost":              mt3Cost,
	"batch-size":            batchSize,
	"all-converge":          allConverge,
	"friction-reasonable":   frictionReasonable,
	"friction-range":        frictionRange,
	"friction-efficient":    frictionEfficient,
	"table-regression":      func(e *Evidence) Finding { return e.decideTable("regression") },
	"table-classification":  func(e *Evidence) Finding { return e.decideTable("classification") },
	"table-autocorrelation": func(e *Evidence) Finding { return e.decideTable("autocorrelation") },
	"synthetic":             syntheticDistance,
	"float32-enough": func(e *Evidence) Finding {
		return compare(e, "precision", always, func(c bench.Cell) string { return c.Precision }, "float64", "float32").decide(1/margin, margin)
	},
}

// Decide returns the decisions on the claims by the evidence, in their order.
func Decide(claims []Claim, e *Evidence) []Decision {
	var out []Decision
	for _, c := range claims {
		out = append(out, Decision{c, c.Decide(e)})
	}
	return out
}
