package paper

import (
	"fmt"
	"math"

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

// Who makes a claim.
const (
	ByPaper = "paper"
	ByChen  = "Chen et al. 2015"
	ByUs    = "not in the paper"
)

// Claim is a statement and how it is tested.
type Claim struct {
	ID        string `json:"id"`
	By        string `json:"by"` // who says so
	Statement string `json:"statement"`
	Where     string `json:"where"` // section, equation, theorem or figure of the paper
	Test      string `json:"test"`  // how it is decided, with the criterion
	// Decide reads the evidence. Where there is too little of it, the verdict
	// is NotDecided and the summary says what to run.
	Decide func(e *Evidence) Finding `json:"-"`
}

// Finding is what the evidence says of a claim.
type Finding struct {
	Verdict Verdict  `json:"verdict"`
	Summary string   `json:"summary"`          // the outcome in one line: the number that decides
	Detail  string   `json:"detail,omitempty"` // what a reader should know beyond it; may be empty
	Numbers []Number `json:"numbers"`
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
		// Theorem 1 is tested with mt3, whose errors vanish at order 3: were the law
		// of the SDE another one, the difference would remain.
		{ID: "stationary-law", By: ByPaper,
			Statement: "The stationary law of the SDE is the posterior times a normal law of the momentum, whatever the friction C > 0.",
			Where:     "Theorem 1 (th:stationary)",
			Test:      exactly + "For several C, mt3 with the full batch, which does not know the law it should reach: as the step goes to 0 all its errors vanish, at its own order 3. " + withinOf,
			Decide: func(e *Evidence) Finding {
				return between(smallestBy(e.fits(bench.OfFriction, func(f fitted) bool { return !ofMass(f) }), byProblem), 3, math.Inf(1))
			}},
		{ID: "stationary-law-mass", By: ByPaper,
			Statement: "The same holds for any mass M: the momentum's law is normal with covariance M, and that of θ does not depend on M.",
			Where:     "Theorem 1 (th:stationary); appendix, Proof of Theorem 1",
			Test:      "The test of stationary-law with unequal masses, on the Gaussian problem. " + withinOf,
			Decide: func(e *Evidence) Finding {
				return between(smallestBy(e.fits(bench.OfFriction, ofMass), byProblem), 3, math.Inf(1))
			}},
		fullBatchOrder("leapfrog", 1, "Section 2.2; appendix, leapfrog (eq:stoleap)"),
		fullBatchOrder("symmetric", 2, "Section 2.2; Section 5, Comparison of integrators"),
		fullBatchOrder("lietrotter", 2, "Section 4 (eq:lietr)"),
		fullBatchOrder("mt3", 3, "Section 2.2; appendix, mt3 (mt3scheme)"),
		{ID: "weak-orders", By: ByPaper,
			Statement: "leapfrog is of weak order 1, lietrotter of 2, mt3 of 3.",
			Where:     "Section 2.2; appendix, Numerical integrators (sec:numint)",
			Test:      "The law after one step, mean and covariance as functions of the start, beside that of the exact flow, on the Gaussian problem: the difference over η has the weak order. " + withinOf,
			Decide:    weakOrders},
		{ID: "mt3-variance", By: ByUs,
			Statement: "mt3 is of order 3 only if w₂ has variance 1/12. The paper does not state the variance; with variance 1 the scheme is of order 2.",
			Where:     "appendix, mt3 (mt3scheme); Milstein & Tretyakov 2003, Section 2.3",
			Test:      exactly + worstOf + "Confirmed if it is 3 with variance 1/12 and 2 with variance 1. " + withinOf,
			Decide:    mt3Variance},
		{ID: "quasi-symplectic", By: ByPaper,
			Statement: "leapfrog, lietrotter and mt3 are quasi-symplectic.",
			Where:     "Section 2.2; appendix, Quasi-symplectic integrators (definition:qsintegrator)",
			Test:      "Jacobians of one step of a non-linear potential, by differences good to 1e-8: the determinant does not depend on the state, and the step is symplectic as C → 0.",
			Decide:    quasiSymplectic},
		{ID: "quasi-symplectic-better", By: ByPaper,
			Statement: "Quasi-symplectic integrators outperform those that are not.",
			Where:     "Section 2.2; appendix, Quasi-symplectic integrators (sec:proofquasi)",
			Test:      exactly + "Full batch, schemes of one order of the law of (θ, r), at every step and observable: the quasi-symplectic one has the smaller error. Confirmed if it always has, refuted if an observable of some scheme has the larger error at every step.",
			Decide:    quasiSymplecticBetter},
		{ID: "higher-order-better", By: ByPaper,
			Statement: "With the full batch schemes of higher order are consistently better, everywhere in the range of steps.",
			Where:     "Section 5, On the convergence bottleneck, Figure 1 (fig:minibottle)",
			Test:      "Figure 1 without noise, full batch: exact errors of the covariance of θ under leapfrog, lietrotter and mt3, of order 1, 2 and 3. Confirmed if at every step the scheme of higher order has the smaller error, refuted otherwise.",
			Decide:    higherOrderBetter},
		{ID: "leapfrog-position", By: ByUs,
			Statement: "leapfrog competes with schemes of order 2 because its error of order 1 is in the momentum alone: every average over θ is of order 2.",
			Where:     "explains Section 2.2 and Section 5, Comparison of integrators; the paper gives no reason",
			Test:      exactly + "Full batch: confirmed if every observable of θ is of order 2 or exact. " + withinOf,
			Decide:    leapfrogPosition},
		{ID: "leapfrog-competes", By: ByPaper,
			Statement: "leapfrog, though of order 1, is mostly competitive with the second-order schemes.",
			Where:     "Section 2.2; Section 5, Comparison of integrators, Figure 4 (fig:methods)",
			Test:      "Cells of the study methods: leapfrog's distance over those of symmetric and lietrotter. " + inRatios + finite + bySets + "Confirmed if the interval lies below 1.1, refuted if above.",
			Decide: func(e *Evidence) Finding {
				return compare(e, "methods", always, integratorOf, "leapfrog", "symmetric", "lietrotter").decide(0, margin)
			}},
		{ID: "reshuffle-order", By: ByPaper,
			Statement: "With mini-batches in a fresh random order every epoch, an integrator of order p has ergodic order min(p, 2).",
			Where:     "Theorems 2 and 3 (randomorderop:specialcase, genericintegratorerdogic)",
			Test:      exactly + "Every integrator that there is, p its measured order with the full batch. " + worstOf + "Confirmed if each is at least min(p, 2), less 0.3.",
			Decide:    func(e *Evidence) Finding { return atLeast(e.capped("reshuffle", 2)) }},
		{ID: "reshuffle-limit", By: ByPaper,
			Statement: "With mini-batches no integrator does better than order 2, however high its own order: the bottleneck.",
			Where:     "Abstract; Section 3, after Theorem 3",
			Test:      exactly + "Integrators whose order with the full batch is above 2: under random orders their order is 2. " + worstOf + withinOf,
			Decide:    reshuffleLimit},
		{ID: "k-dependence", By: ByUs,
			Statement: "The bottleneck grows like the number of batches: its error is of order Kη², where Theorem 3 says η² alone.",
			Where:     "Theorems 2 and 3 (randomorderop:specialcase, genericintegratorerdogic)",
			Test:      "The exact flow of each batch in random orders on a target N(0, 1), K batches of precision 1.6 and 0.4 in turn: the constant of η² in the covariance of θ against K, three values of K or more. Confirmed if it grows like K to a power within 0.1 of 1, refuted otherwise.",
			Decide:    growth},
		{ID: "long-epochs", By: ByUs,
			Statement: "Random orders help only while an epoch is short beside the target's own time: at Kηω of 6 and more, ω the target's frequency, they take away less than half of the error of batches drawn at every step.",
			Where:     "limits Theorem 3 to Kη small; Section 3, Details on the constants",
			Test:      fmt.Sprintf("The problems of k-dependence (ω = 1), from short epochs to long ones: the error in random orders over that with batches drawn at every step. Confirmed if the ratio is at least 0.5 wherever Kηω ≥ %d, and at most 0.25 wherever Kηω ≤ %d.", longEpoch, shortEpoch),
			Decide:    longEpochs},
		{ID: "closed-form", By: ByUs,
			Statement: "The bottleneck in closed form: with exact flows in random orders the stationary law of θ is, to order η², proportional to exp(−U − (Kη²/12) E‖∇U_i − ∇U‖²), ∇U_i the scaled gradient of batch i. It does not depend on C, grows like K, and vanishes for the paper's toy.",
			Where:     "explains Theorem 3 and the toy example (sec:toyexapp); the paper gives no constant",
			Test:      "Constants of η² in mean and covariance of θ on random Gaussian problems with 1 to 3 positions and 2 to 6 batches, as certify finds them and as the closed form predicts. Confirmed if those known to three digits, five or more, agree to three digits, the others within their uncertainty, and the toy's vanishes; refuted if one does not.",
			Decide:    closedForm},
		{ID: "chen-2015", By: ByChen,
			Statement: "Mini-batches do not affect the order of the ergodic error; the integrator's order alone decides. (The paper contradicts this.)",
			Where:     "Section 3; appendix, Toy example (sec:toyexapp), on Theorem 4 of Chen et al. 2015",
			Test:      exactly + "Integrators whose order with the full batch is above 2: confirmed if they keep it under random orders and with batches drawn at every step. " + worstOf + withinOf,
			Decide:    chenErgodicError},
		{ID: "replacement-order", By: ByUs,
			Statement: "With a batch drawn anew at every step, as in the paper's toy example, every integrator has order 1: Theorem 3 needs random orders of a partition.",
			Where:     "outside Theorem 3; used in the appendix, Toy example (minib, transminib)",
			Test:      exactly + "Every integrator that there is. " + worstOf + withinOf,
			Decide:    func(e *Evidence) Finding { return between(ordersOf(e.capped("replacement", 1)), 1, 1) }},
		{ID: "cyclic-order", By: ByUs,
			Statement: "With one order of the batches for ever, averages over θ keep order 2, but the joint law of θ and r is of order 1.",
			Where:     "outside Theorem 3, which draws a fresh order every epoch",
			Test:      exactly + "Every integrator whose θ-averages have order 2 or more with the full batch. " + withinOf,
			Decide:    cyclicOrder},
		{ID: "toy-law", By: ByPaper,
			Statement: "With mini-batches even an exact integrator has a wrong stationary law; with the full batch it is right (toy example, η = 0.4, C = 2).",
			Where:     "Section 3, Figure 3 (fig:toyminibach); appendix, Toy example",
			Test:      "Exact variance of θ under the exact flow of each batch, drawn at every step (as in the paper) and in random orders. Confirmed if the error is 0 with the full batch and above 1 % of the variance with mini-batches.",
			Decide:    toyLaw},
		{ID: "toy-order", By: ByUs,
			Statement: "The toy example does not show the bottleneck of order 2. Its batches have equal curvature: in random orders its error is of order 3; drawn at every step, as the paper does, it is of order 1.",
			Where:     "Section 3, Figure 3 (fig:toyminibach); appendix, Toy example (eq:potmb, minib)",
			Test:      "Exact errors of the exact flow on the toy over a grid of steps. Worst observable of (θ, r). " + withinOf,
			Decide:    toyOrder},
		{ID: "bottleneck-exact", By: ByPaper,
			Statement: "With mini-batches a third-order integrator gains nothing over a second-order one at small steps; with the full batch it does.",
			Where:     "Section 1, Figure 1 (fig:minibottle); Section 5, On the convergence bottleneck",
			Test:      "Figure 1 without noise: exact errors of the covariance of θ on a small Bayesian linear model with 8 batches. The ratio of mt3's error to that of lietrotter at the smallest step: confirmed if it lies in [0.5, 2] with mini-batches in random orders, and below 0.1 with the full batch.",
			Decide:    bottleneckExact},
		{ID: "bottleneck-sampled", By: ByPaper,
			Statement: "Figure 1 as sampled: at batch size 8 there is a zone of steps in which mt3 is no better than a second-order scheme; with the full batch there is none.",
			Where:     "Section 1, Figure 1 (fig:minibottle); Section 5, On the convergence bottleneck",
			Test:      "Cells of the study bottleneck. A step counts if both chains stay finite and lietrotter's distance is more than 3.09 σ above the mean self-distance. There mt3 is better if its chain is, or is lower by 2√2 σ (a gap that chance gives to two equal chains in less than 3 % of steps). " + atRight + "Confirmed if mt3 is no better at one step or more with batch size 8 and better at all of them with the full batch; refuted if one of the two fails.",
			Decide:    bottleneckSampled},
		{ID: "inner-order", By: ByPaper,
			Statement: "The order of lietrotter, and so of HMC with partial momentum refreshment, does not depend on N_l: it is 2, with the full batch and with mini-batches.",
			Where:     "Section 4 (eq:hmc1, eq:hmc2); appendix, Proof of HMC convergence rate",
			Test:      "Exact errors on the Gaussian problem (4 batches), N_l from 1 up, a new batch at every inner step; full batch and random orders. " + worstOf + withinOf,
			Decide:    innerOrder},
		{ID: "inner-error-exact", By: ByPaper,
			Statement: "At large η the error of lietrotter grows with N_l, and more so with mini-batches.",
			Where:     "Section 4, last paragraph; Section 5, Exploring the connection with HMC",
			Test:      "Exact errors of the covariance of θ on the Gaussian problem at steps up to that of the toy. Confirmed if with mini-batches the largest N_l at the largest step has more than twice the error of N_l = 1, refuted otherwise.",
			Decide:    innerErrorExact},
		{ID: "inner-fan", By: ByPaper,
			Statement: "On networks the error of lietrotter grows as η grows and N_l approaches 100.",
			Where:     "Section 5, Exploring the connection with HMC, Figure 5 (fig:generalizedLT)",
			Test:      "Cells of the study integration-length: for each data set, split and batch size the distance with the largest N_l over that with N_l = 1, at the largest step where both stay finite. " + inRatios + finite + bySets + "Confirmed if the interval lies above 1, refuted if below.",
			Decide:    innerFan},
		{ID: "sghmc-correction", By: ByPaper,
			Statement: "Counterbalancing the gradient noise, as SGHMC does, makes no significant difference to leapfrog without it.",
			Where:     "Section 5, Comparing with SGHMC, Figure 4 (fig:methods); Section 3",
			Test:      exactly + "The correction by the true variance of the gradient, at the smallest step: refuted if it makes the error of any observable of θ more than twice as large or less than half, in random orders or with batches drawn at every step. Beside it mini-batch cells of the study methods: an interval of their ratio that leaves out 1 refutes, too. " + inRatios + finite + bySets,
			Decide:    sghmcCorrection},
		{ID: "second-order-alike", By: ByPaper,
			Statement: "symmetric and lietrotter, both of second order, respond alike to step size and batch size.",
			Where:     "Section 5, Comparison of integrators, Figure 4 (fig:methods)",
			Test:      "Cells of the study methods: symmetric's distance over lietrotter's. " + inRatios + finite + bySets + withinMargin,
			Decide: func(e *Evidence) Finding {
				return compare(e, "methods", always, integratorOf, "symmetric", "lietrotter").decide(1/margin, margin)
			}},
		{ID: "mt3-full-batch", By: ByPaper,
			Statement: "mt3 outperforms the other integrators with the full batch, above all at larger steps.",
			Where:     "Section 5, Comparison of integrators, Figure 4 (fig:methods)",
			Test:      "Full-batch cells of the study methods where some chain is not where right ones are: mt3's distance over those of the others. " + inRatios + atRight + finite + bySets + "Confirmed if the interval lies below 1, refuted if above.",
			Decide:    mt3BestFullBatch},
		{ID: "batch-size", By: ByPaper,
			Statement: "Larger mini-batches admit larger steps: at the same step a smaller batch has the larger error.",
			Where:     "Section 5, On the convergence bottleneck, Figure 4 (fig:methods)",
			Test:      "Cells of the study methods: for each data set, split and integrator the distance with the smallest batch over that with the full batch, at the largest step where both stay finite. " + inRatios + finite + bySets + "Confirmed if the interval lies above 1, refuted if below.",
			Decide:    batchSize},
		{ID: "all-converge", By: ByPaper,
			Statement: "All integrators converge to the posterior at small enough steps, whatever the batch size.",
			Where:     "Section 5, Comparison of integrators",
			Test:      exactly + "The error of each of the five methods vanishes at order 1 or more with the full batch and in random orders. And the chains of the study methods at the smallest step of their data set, split, batch size and method: confirmed if the share that is not where right ones are lies below 0.2, refuted if it lies above and their distances grow as the step falls; between, the steps are too large to say. " + atRight + bySets,
			Decide:    allConverge},
		{ID: "friction-reasonable", By: ByPaper,
			Statement: "A friction C between 5 and 10 gives reasonable results in most cases.",
			Where:     "Section 5; appendix, Exploration of the friction constant (ssec:explore_C, fig:friction_all)",
			Test:      casesOfFriction + "Each tested C from 5 to 10 counts by itself. Confirmed if the interval of the share that is acceptable lies above one half, refuted if below. " + bySets,
			Decide:    frictionReasonable},
		{ID: "friction-range", By: ByPaper,
			Statement: "A wide range of frictions is acceptable.",
			Where:     "appendix, Exploration of the friction constant (ssec:explore_C, fig:friction_all)",
			Test:      casesOfFriction + "On the axis of log₁₀ C a tested value stands for what is nearer to it than to its neighbours, within the grid. Confirmed if the interval of the width that is acceptable lies above one decade, refuted if below. " + bySets,
			Decide:    frictionRange},
		scoreTable("regression", "Test RMSE and MNLL of the regression networks", "appendix, Table tab:regression"),
		scoreTable("classification", "Test accuracy and MNLL of the classification networks", "appendix, Table tab:classification"),
		{ID: "table-autocorrelation", By: ByPaper,
			Statement: "The lag-1 autocorrelations of the oracles are those of the paper's table.",
			Where:     "appendix, Table tab:acf",
			Test: "Differences from the paper, which states no deviations: the standard error of each number is at most 0.032, of a difference 0.045. " +
				"Refuted if one exceeds 3.1 of them (0.14; 1 % in all for six sets). " + together + "Confirmed if every difference is within 2 such errors (0.09).",
			Decide: func(e *Evidence) Finding { return e.decideTable("autocorrelation", inLags) }},
		{ID: "synthetic", By: ByPaper,
			Statement: "On the synthetic regression the average distance to the exact predictive posterior is below 0.1.",
			Where:     "appendix, Comparing predictive distributions (fig:synthetic)",
			Test:      "The cell of the study synthetic: leapfrog, full batch, 200 samples. Independent draws of the posterior have a distance of 0.061 on average, so chance does not lift a right sampler to 0.1.",
			Decide:    syntheticDistance},
		{ID: "float32-enough", By: ByUs,
			Statement: "Gradients in float32, the state in float64, give the same distances as gradients in float64, at steps near the limit of stability.",
			Where:     "not in the paper, which does not state its precision",
			Test:      "Cells of the study precision (leapfrog, batches of 8 and the full batch): the distance in float64 over that in float32. " + inRatios + finite + bySets + withinMargin,
			Decide: func(e *Evidence) Finding {
				return compare(e, "precision", always, func(c bench.Cell) string { return c.Precision }, "float64", "float32").decide(1/margin, margin)
			}},
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
