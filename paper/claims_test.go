package paper

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/bench/table"
)

// verdictOf decides one claim.
func verdictOf(t *testing.T, id string, in *invented) Finding {
	t.Helper()
	i := slices.IndexFunc(Claims(), func(c Claim) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("no claim %q", id)
	}
	c := Claims()[i]
	return Decide([]Claim{c}, in.rows(t, c))[0].Finding
}

// unlike are the verdicts where everything is as the paper says, but for confirmed ones: the
// paper contradicts one claim, and a printed law cannot hold if the corrected one does.
// One cannot be decided, whatever is found.
var unlike = map[string]Verdict{
	"chen-2015": Refuted, "stationary-law-mass": Refuted,
	"table-autocorrelation": NotDecided,
}

// Where everything is as the paper says, every claim of the paper is confirmed.
func TestEveryClaimHoldsWhereItShould(t *testing.T) {
	for _, d := range Decide(Claims(), inventedTruth().rows(t, Claims()...)) {
		want := cmp.Or(unlike[d.ID], Confirmed)
		if d.Verdict != want {
			t.Errorf("%s is %s, want %s: %s", d.ID, d.Verdict, want, d.Summary)
		}
		if d.Summary == "" || len(d.Numbers) == 0 {
			t.Errorf("%s: summary %q, %d numbers: want some of both", d.ID, d.Summary, len(d.Numbers))
		}
	}
}

// withOrder changes the orders of an integrator under a scheme; "" stands
// for all.
func withOrder(integrator, scheme string, p float64) func(*invented) {
	return func(in *invented) {
		old := in.order
		in.order = func(problem, m string, inner int, s, observable string) float64 {
			if (integrator == "" || m == integrator) && (scheme == "" || s == scheme) {
				return p
			}
			return old(problem, m, inner, s, observable)
		}
	}
}

// withDistance changes the distances of cells by an amount.
func withDistance(add func(c bench.Cell) float64) func(*invented) {
	return func(in *invented) {
		old := in.ks
		in.ks = func(study string, c bench.Cell) float64 { return old(study, c) + add(c) }
	}
}

func when(condition bool, amount float64) float64 {
	if condition {
		return amount
	}
	return 0
}

// mixed is the amount on seven of nine data sets, and its opposite on the others.
func mixed(c bench.Cell, amount float64) float64 {
	return amount * (1 - 2*float64(len(c.Dataset)%2))
}

// unfitted leaves out the orders for which which is true.
func unfitted(which func(f fitOf) bool) func(*invented) {
	return func(in *invented) { in.missing = which }
}

func unfittedOf(integrator string) func(*invented) {
	return unfitted(func(f fitOf) bool { return f.Integrator == integrator })
}

// absent drops the exact errors of a purpose, fewBatches and fewForms some.
func absent(purpose string) func(*invented) {
	return func(in *invented) { in.drop = func(x exactError) bool { return x.Purpose == purpose } }
}

func fewBatches(in *invented) {
	in.drop = func(x exactError) bool {
		return x.Purpose == "batches" && (x.Problem == "K = 8" || x.Problem == "K = 14")
	}
}

func fewCuts(in *invented) {
	in.drop = func(x exactError) bool { return x.Purpose == "rows" && x.Problem > "3" }
}

func fewForms(in *invented) {
	in.drop = func(x exactError) bool { return x.Purpose == "closed-form" && x.Problem > "random 2" }
}

// withErrors changes the errors of an integrator at the smallest step.
func withErrors(integrator string, factor func(scheme string) float64) func(*invented) {
	return func(in *invented) {
		old := in.errors
		in.errors = func(m, scheme string) float64 {
			if m == integrator {
				return old(m, scheme) * factor(scheme)
			}
			return old(m, scheme)
		}
	}
}

// withBest multiplies mean squared errors at budgets.
func withBest(by func(integrator string, inner int, friction float64, scheme string) float64) func(*invented) {
	return func(in *invented) {
		in.best = func(m string, inner int, c float64, s string, n float64) float64 {
			return trueBest(m, inner, c, s, n) * by(m, inner, c, s)
		}
	}
}

func times(x float64) func(string) float64 { return func(string) float64 { return x } }

// off moves the distances of the cells for which which is true by so many σ on
// every data set; offMixed moves them up on some and down on others.
func off(which func(bench.Cell) bool, sigmas float64) func(*invented) {
	return withDistance(func(c bench.Cell) float64 { return when(which(c), sigmas*sigma) })
}

func offMixed(which func(bench.Cell) bool, sigmas float64) func(*invented) {
	return withDistance(func(c bench.Cell) float64 { return when(which(c), mixed(c, sigmas*sigma)) })
}

func ofMethod(name string) func(bench.Cell) bool {
	return func(c bench.Cell) bool { return c.Integrator == name }
}

func allOff(by float64) func(*invented) {
	return func(in *invented) { in.scores = func(p Published) float64 { return p.Mean + by } }
}

// Each claim is refuted by evidence against it, and left open by evidence that
// does not decide.
func TestEveryClaimCanBeRefutedAndLeftOpen(t *testing.T) {
	double := func(c bench.Cell) bool { return c.Precision == "float64" }
	smallest := func(c bench.Cell) bool { return c.Step == smallStep }
	manyLetters := func(c bench.Cell) bool { return len(c.Dataset) > 6 } // three of seven
	cases := []struct {
		id, reason string
		change     func(*invented)
		want       Verdict // "" means refuted
	}{
		{"stationary-law", "an error that stays", withOrder("mt3", "full", 0), ""},
		{"stationary-law", "an order that is not known", unfitted(func(f fitOf) bool { return f.Problem == "scalar, C = 2" }), NotDecided},
		{"stationary-law-mass", "an error against the corrected law that stays", withOrder("mt3", "full", 0), Confirmed},
		{"stationary-law-corrected", "an error that stays", withOrder("mt3", "full", 0), ""},
		{"stationary-law-corrected", "an order that is not known", unfitted(func(f fitOf) bool { return strings.Contains(f.Problem, "M ≠ I") }), NotDecided},
		{"stationary-law-mass", "an order that is not known", unfitted(func(f fitOf) bool { return strings.Contains(f.Problem, "M ≠ I") }), NotDecided},
		{"order-leapfrog", "order 2", withOrder("leapfrog", "full", 2), ""},
		{"order-leapfrog", "an order that is not known", unfittedOf("leapfrog"), NotDecided},
		{"order-symmetric", "order 1", withOrder("symmetric", "full", 1), ""},
		{"order-symmetric", "an order that is not known", unfittedOf("symmetric"), NotDecided},
		{"order-lietrotter", "order 1", withOrder("lietrotter", "full", 1), ""},
		{"order-lietrotter", "an order that is not known", unfittedOf("lietrotter"), NotDecided},
		{"order-mt3", "order 2", withOrder("mt3", "full", 2), ""},
		{"order-mt3", "an order that is not known", unfittedOf("mt3"), NotDecided},
		{"weak-orders", "lietrotter of weak order 1", func(in *invented) { in.weak["lietrotter"] = 1 }, ""},
		{"weak-orders", "no one-step laws", absent("weak"), NotDecided},
		{"weak-orders", "none of lietrotter", func(in *invented) { delete(in.weak, "lietrotter") }, NotDecided},
		{"mt3-variance", "order 3 with either variance", withOrder(reading, "full", 3), ""},
		{"mt3-variance", "no row of the variant", absent("variance"), NotDecided},
		{"quasi-symplectic", "a step that is not symplectic as C → 0", func(in *invented) { in.symplectic = false }, ""},
		{"quasi-symplectic", "no probes", func(in *invented) { in.noMethods = true }, NotDecided},
		{"quasi-symplectic-better", "euler and rk2 better than all", func(in *invented) {
			for _, name := range []string{"leapfrog", "symmetric", "lietrotter"} {
				withErrors(name, times(70))(in)
			}
		}, ""},
		{"quasi-symplectic-better", "rk2 better than symmetric alone", withErrors("symmetric", times(7)), NotDecided},
		{"quasi-symplectic-better", "euler worse than leapfrog, and rk2 better than both of order 2", func(in *invented) {
			withErrors("symmetric", times(7))(in)
			withErrors("lietrotter", times(7))(in)
		}, ""},
		{"quasi-symplectic-better", "no exact errors", absent(bench.OfOrders), NotDecided},
		{"higher-order-better", "leapfrog exact", withErrors("leapfrog", times(0)), ""},
		{"higher-order-better", "mt3 gains nothing", func(in *invented) { in.ratio = func(string, float64) float64 { return 1 } }, ""},
		{"higher-order-better", "no exact errors", absent("bottleneck"), NotDecided},
		{"leapfrog-position", "order 1 in θ", withOrder("leapfrog", "full", 1), ""},
		{"leapfrog-position", "an order that is not known", unfitted(func(f fitOf) bool { return f.observable == "theta.cov" }), NotDecided},
		{"leapfrog-competes", "15 σ worse", off(ofMethod("leapfrog"), 15), ""},
		{"leapfrog-competes", "worse on some data sets", offMixed(ofMethod("leapfrog"), 6), NotDecided},
		{"reshuffle-order", "a second-order scheme falls to 1", withOrder("symmetric", "reshuffle", 1), ""},
		{"reshuffle-order", "an order that is not known", unfittedOf("mt3"), NotDecided},
		{"reshuffle-limit", "mt3 keeps order 3", withOrder("mt3", "reshuffle", 3), ""},
		{"reshuffle-limit", "an order that is not known", unfitted(func(f fitOf) bool { return f.Scheme == "reshuffle" && f.Integrator == "mt3" }), NotDecided},
		{"k-dependence", "a constant that does not depend on K", func(in *invented) { in.constant = func(int) float64 { return 0.1 } }, ""},
		{"k-dependence", "one that grows like K²", func(in *invented) { in.constant = func(k int) float64 { return 0.01 * float64(k*k) } }, ""},
		{"k-rows", "one that grows like K", func(in *invented) { in.constant = func(x int) float64 { return math.Sqrt(float64(x)) } }, ""},
		{"k-rows", "two numbers of batches", fewCuts, NotDecided},
		{"k-dependence", "two numbers of batches", fewBatches, NotDecided},
		{"long-epochs", "random orders always help", func(in *invented) { in.epoch = times0(0.1) }, ""},
		{"long-epochs", "random orders never help", func(in *invented) { in.epoch = times0(1) }, ""},
		{"long-epochs", "short epochs alone", fewBatches, NotDecided},
		{"closed-form", "constants that are 1 % off", func(in *invented) { in.predicted = 0.505 }, ""},
		{"closed-form", "constants that are 0.15 % off", func(in *invented) { in.predicted = 0.50075 }, ""},
		{"closed-form", "constants that are 1 % off, known to 0.5 %", func(in *invented) { in.predicted, in.formUnsure = 0.505, 0.005 }, ""},
		{"closed-form", "constants that are 1 % off, known to 2 %", func(in *invented) { in.predicted, in.formUnsure = 0.505, 0.02 }, NotDecided},
		{"closed-form", "errors of order 1", func(in *invented) { in.formOrder = 1 }, ""},
		{"closed-form", "a term on the toy", func(in *invented) { in.toyForm = 0.1 }, ""},
		{"closed-form", "an error of order 2 on the toy", withOrder("exact", "reshuffle", 2), ""},
		{"closed-form", "constants of two problems", fewForms, NotDecided},
		{"chen-2015", "no scheme changes an order", withOrderOfFullBatch, Confirmed},
		{"chen-2015", "no exact errors", absent(bench.OfOrders), NotDecided},
		{"replacement-order", "order 2 with replacement", withOrder("mt3", "replacement", 2), ""},
		{"replacement-order", "an order that is not known", unfitted(func(f fitOf) bool { return f.Scheme == "replacement" }), NotDecided},
		{"cyclic-order", "order 2 of the joint law", withOrder("mt3", "cyclic", 2), ""},
		{"cyclic-order", "an order that is not known", unfitted(func(f fitOf) bool { return f.Scheme == "cyclic" }), NotDecided},
		{"toy-law", "a right law under mini-batches", func(in *invented) { in.toy["replacement"] = 0 }, ""},
		{"toy-law", "a wrong law with the full batch", func(in *invented) { in.toy["full"] = 0.1 }, ""},
		{"toy-law", "no exact errors", absent("large-steps"), NotDecided},
		{"toy-order", "order 2 in random orders", withOrder("exact", "reshuffle", 2), ""},
		{"toy-order", "an order that is not known", unfitted(func(f fitOf) bool { return f.Problem == "toy" }), NotDecided},
		{"bottleneck-exact", "mt3 gains with mini-batches", func(in *invented) { in.ratio = func(_ string, h float64) float64 { return h } }, ""},
		{"bottleneck-exact", "mt3 gains nothing with the full batch", func(in *invented) { in.ratio = func(string, float64) float64 { return 1 } }, ""},
		{"bottleneck-exact", "no exact errors", absent("bottleneck"), NotDecided},
		{"bottleneck-sampled", "mt3 is better with mini-batches", withDistance(func(c bench.Cell) float64 {
			return when(c.Integrator == "mt3" && c.Batches > 1 && c.Step == largeStep, -0.18)
		}), ""},
		{"bottleneck-sampled", "mt3 is no better with the full batch", withDistance(func(c bench.Cell) float64 { return when(c.Integrator == "mt3" && c.Step == largeStep, 0.1) }), ""},
		{"bottleneck-sampled", "no chains with the full batch", func(in *invented) {
			in.ks = func(_ string, c bench.Cell) float64 { return when(c.Batches == 1, 2) + 0.2 } // beyond 1 is diverged
		}, NotDecided},
		{"bottleneck-sampled", "every chain is where right ones are", func(in *invented) { in.ks = func(string, bench.Cell) float64 { return selfMean } }, NotDecided},
		{"bottleneck-networks", "mt3 is better with mini-batches", withDistance(func(c bench.Cell) float64 {
			return when(c.Integrator == "mt3" && c.Batches > 1 && c.Step == largeStep, -0.18)
		}), ""},
		{"bottleneck-networks", "nothing to gain with the full batch", func(in *invented) {
			in.ks = func(_ string, c bench.Cell) float64 {
				return selfMean + when(c.Batches > 1 && c.Step == largeStep, 0.2)
			}
		}, NotDecided},
		{"inner-order", "order 1 for N_l = 8", func(in *invented) {
			in.order = func(problem, m string, inner int, s, observable string) float64 {
				return trueOrder(problem, m, inner, s, observable) - when(inner == 8, 1)
			}
		}, ""},
		{"inner-order", "an order that is not known", unfitted(func(f fitOf) bool { return f.Inner == 4 }), NotDecided},
		{"inner-error-exact", "the same error for all N_l", func(in *invented) { in.large = func(int, string) float64 { return 0.04 } }, ""},
		{"inner-error-exact", "no exact errors", absent("large-steps"), NotDecided},
		{"inner-error-exact", "no stationary law for the largest N_l", func(in *invented) {
			in.large = func(inner int, scheme string) float64 {
				if inner == 8 && scheme == "reshuffle" {
					return math.NaN()
				}
				return 0.04
			}
		}, Confirmed},
		{"inner-error-exact", "none of N_l = 1", func(in *invented) {
			in.drop = func(x exactError) bool {
				return x.Purpose == "large-steps" && x.Inner == 1 && x.Scheme == "reshuffle"
			}
		}, NotDecided},
		{"inner-fan", "smaller errors for large N_l", withDistance(func(c bench.Cell) float64 { return -0.0025 * float64(c.Inner) }), ""},
		{"inner-fan", "larger on some data sets, smaller on others", withDistance(func(c bench.Cell) float64 {
			return when(c.Inner == 100, mixed(c, 0.25))
		}), NotDecided},
		{"inner-sensible", "a third of the error for N_l = 4", withBest(func(_ string, inner int, _ float64, _ string) float64 { return 1 - when(inner == 4, 0.7) }), ""},
		{"inner-sensible", "with the full batch alone", withBest(func(_ string, inner int, _ float64, s string) float64 {
			return 1 - when(inner == 4 && s == "full", 0.7)
		}), NotDecided},
		{"inner-sensible", "N_l = 1 alone", func(in *invented) {
			in.drop = func(x exactError) bool { return x.Purpose == "efficiency" && x.Inner > 1 }
		}, NotDecided},
		{"mt3-cost", "a tenth of the error", withBest(func(m string, _ int, _ float64, _ string) float64 { return 1 - when(m == "mt3", 0.9) }), ""},
		{"mt3-cost", "a tenth of it with the full batch", withBest(func(m string, _ int, _ float64, s string) float64 { return 1 - when(m == "mt3" && s == "full", 0.9) }), NotDecided},
		{"mt3-cost", "errors that are not known", withBest(func(m string, _ int, _ float64, _ string) float64 {
			if m == "mt3" {
				return math.NaN()
			}
			return 1
		}), NotDecided},
		{"friction-efficient", "C = 1 is best everywhere", withBest(func(_ string, _ int, c float64, _ string) float64 { return 1 - when(c == 1, 0.99) }), ""},
		{"friction-efficient", "C = 10 is bad", withBest(func(_ string, _ int, c float64, _ string) float64 { return 1 + when(c == 10, 3) }), NotDecided},
		{"friction-efficient", "no exact errors", absent("efficiency"), NotDecided},
		{"noise-injection", "order 1 in random orders", withOrder("mt3", "reshuffle", 1), ""},
		{"noise-injection", "no exact errors", absent(bench.OfOrders), NotDecided},
		{"sghmc-irrelevant", "order 1 in random orders", withOrder("sghmc", "reshuffle", 1), ""},
		{"sghmc-irrelevant", "no exact errors", absent(bench.OfOrders), NotDecided},
		{"sghmc-correction", "half of the excess on networks", withDistance(func(c bench.Cell) float64 {
			return when(c.Integrator == "sghmc" && c.Step == largeStep && c.Batches > 1, -0.1)
		}), ""},
		{"sghmc-correction", "better on some data sets, worse on others", offMixed(ofMethod("sghmc"), 6), NotDecided},
		{"second-order-alike", "symmetric 10 σ worse", off(ofMethod("symmetric"), 10), ""},
		{"second-order-alike", "worse on some data sets, better on others", offMixed(ofMethod("symmetric"), 6), NotDecided},
		{"mt3-full-batch", "mt3 is worst", withDistance(func(c bench.Cell) float64 { return when(c.Integrator == "mt3", 0.3) }), ""},
		{"mt3-full-batch", "worst on some data sets", withDistance(func(c bench.Cell) float64 { return when(c.Integrator == "mt3", 0.1+mixed(c, 0.1)) }), NotDecided},
		{"batch-size", "the full batch is worst", withDistance(func(c bench.Cell) float64 { return when(c.Batches == 1, 0.5) }), ""},
		{"batch-size", "worst on some data sets", withDistance(func(c bench.Cell) float64 { return when(c.Batches == 1, 0.2+mixed(c, 0.2)) }), NotDecided},
		{"all-converge", "an error that stays", withOrder("lietrotter", "reshuffle", 0), ""},
		{"all-converge", "chains of the full batch far off", withDistance(func(c bench.Cell) float64 { return when(smallest(c) && c.Batches == 1, 0.4) }), NotDecided},
		{"all-converge", "chains with mini-batches off", off(func(c bench.Cell) bool { return smallest(c) && c.Batches > 1 }, 10), NotDecided},
		{"all-converge", "chains of small batches that diverge", withDistance(func(c bench.Cell) float64 { return when(smallest(c) && c.Batches == 16, 2) }), NotDecided},
		{"all-converge", "one chain of small batches that diverges", withDistance(func(c bench.Cell) float64 {
			return when(smallest(c) && c.Batches == 16 && c.Dataset == "boston" && c.Split == 0 && c.Integrator == "mt3", 2)
		}), NotDecided},
		{"friction-reasonable", "C = 5 is bad", withDistance(func(c bench.Cell) float64 { return when(c.Friction == 5, 0.3) }), ""},
		{"friction-reasonable", "bad on three data sets", withDistance(func(c bench.Cell) float64 { return when(c.Friction == 5 && manyLetters(c), 0.3) }), NotDecided},
		{"friction-range", "only C = 5 is good", withDistance(func(c bench.Cell) float64 { return when(c.Friction != 5, 0.3) }), ""},
		{"friction-range", "only C = 1 is good", withDistance(func(c bench.Cell) float64 { return when(c.Friction != 1, 0.3) }), ""},
		{"friction-range", "only C = 5 on three data sets", withDistance(func(c bench.Cell) float64 { return when(c.Friction != 5 && manyLetters(c), 0.3) }), NotDecided},
		{"friction-range", "only the end of the grid is good", func(in *invented) {
			in.frictions = []float64{0.5, 5, 50}
			withDistance(func(c bench.Cell) float64 { return when(c.Friction != 50, 0.3) })(in)
		}, NotDecided},
		{"friction-range", "a grid of less than a decade", func(in *invented) { in.frictions = []float64{0.5, 1, 2, 4} }, NotDecided},
		{"table-regression", "two numbers fifteen standard deviations off", withScore("boston", 15), ""},
		{"table-regression", "one split", func(in *invented) { in.splits = 1 }, NotDecided},
		{"table-classification", "one number ten standard deviations off", withScore("vehicle", 10), ""},
		{"table-classification", "one number three standard deviations off", withScore("vehicle", 3), NotDecided},
		{"table-autocorrelation", "0.2 off, of what is not comparable", allOff(0.2), NotDecided},
		{"table-autocorrelation", "all 0.06 lower", allOff(-0.06), NotDecided},
		{"table-autocorrelation", "all 0.04 lower", allOff(-0.04), NotDecided},
		{"table-autocorrelation", "all 0.01 lower", allOff(-0.01), NotDecided},
		{"synthetic", "a distance of 0.17", withDistance(func(bench.Cell) float64 { return 0.1 }), ""},
		{"synthetic", "seeds that differ by more than the limit is off", withDistance(func(c bench.Cell) float64 { return 0.06 * float64(c.Seed%2) }), NotDecided},
		{"synthetic", "compared with the exact law", func(in *invented) { in.exactLaw = true }, NotDecided},
		{"synthetic", "not run", func(in *invented) { in.without = "synthetic" }, NotDecided},
		{"float32-enough", "float64 15 σ better", off(double, -15), ""},
		{"float32-enough", "better on some data sets, worse on others", offMixed(double, 6), NotDecided},
	}
	seen := make(map[string]map[Verdict]bool)
	for _, c := range cases {
		in := inventedTruth()
		c.change(in)
		want := c.want
		if want == "" {
			want = Refuted
		}
		if f := verdictOf(t, c.id, in); f.Verdict != want || strings.Contains(f.Summary, "NaN") {
			t.Errorf("%s, %s: %s (%s), want %s", c.id, c.reason, f.Verdict, f.Summary, want)
		}
		if seen[c.id] == nil {
			seen[c.id] = make(map[Verdict]bool)
		}
		seen[c.id][want] = true
	}
	for _, c := range Claims() {
		against := Refuted
		if unlike[c.ID] == Refuted {
			against = Confirmed
		}
		if c.Undecided != "" {
			against = NotDecided
		}
		if !seen[c.ID][against] || !seen[c.ID][NotDecided] {
			t.Errorf("claim %s: cases want %v: want one against it and one that leaves it open", c.ID, seen[c.ID])
		}
	}
}

func times0(x float64) func(float64) float64 { return func(float64) float64 { return x } }

// Chains on one data set are no replicates of one another: with three data sets
// nothing is decided, however many chains there are.
func TestDataSetsAreTheReplicates(t *testing.T) {
	in := inventedTruth()
	in.only = []string{"boston", "concrete", "energy"}
	for _, id := range []string{"leapfrog-competes", "second-order-alike", "mt3-full-batch", "batch-size", "inner-fan", "friction-range", "float32-enough"} {
		if f := verdictOf(t, id, in); f.Verdict != NotDecided || !strings.Contains(f.Summary, "3 data sets: want 4 or more") {
			t.Errorf("%s on three data sets: %s (%s)", id, f.Verdict, f.Summary)
		}
	}
}

// While chains of a batch size are still to be run, that all converge is not known of it.
func TestAllConvergeWaitsForEveryBatchSize(t *testing.T) {
	c := Claims()[slices.IndexFunc(Claims(), func(c Claim) bool { return c.ID == "all-converge" })]
	rows := inventedTruth().rows(t, c)
	if f := Decide([]Claim{c}, rows)[0].Finding; f.Verdict != Confirmed {
		t.Fatalf("%s: %s, want confirmed, or the test sees nothing", f.Verdict, f.Summary)
	}
	small := func(r table.Row) bool { return r.Text("study") == "methods" && r.Number("batch") == 8 }
	dropped := rows.Filter(small).Len()
	rows = rows.Filter(func(r table.Row) bool { return !small(r) })
	for range dropped {
		rows.Add(nil, map[string]any{"record": bench.CellRecord, "study": "methods", "missing": true})
	}
	f := Decide([]Claim{c}, rows)[0].Finding
	if f.Verdict != NotDecided || !strings.Contains(f.Summary, fmt.Sprintf("; %d cells are still to be run", dropped)) || dropped == 0 {
		t.Errorf("without the %d cells of B = 8: %s (%s)", dropped, f.Verdict, f.Summary)
	}
}

// A reference that failed a check of its own judges nothing, and the page says
// so.
func TestFailedReferencesDoNotJudge(t *testing.T) {
	in := inventedTruth()
	off(func(c bench.Cell) bool { return c.Integrator == "symmetric" && c.Dataset == "concrete" }, 40)(in)
	if f := verdictOf(t, "second-order-alike", in); f.Verdict != NotDecided {
		t.Fatalf("with concrete 40 σ off: %s (%s), want not decided, or the test sees nothing", f.Verdict, f.Summary)
	}
	in.failed = []string{"concrete"}
	f := verdictOf(t, "second-order-alike", in)
	if f.Verdict != Confirmed || !strings.Contains(f.Detail, "concrete") || !strings.Contains(f.Summary, "8 data sets") {
		t.Errorf("with concrete's reference failed: %s (%s; %s)", f.Verdict, f.Summary, f.Detail)
	}
}

// Where no study recorded the checks of a reference, the page says so. Chains that record its own
// error record the checks that it failed, too.
func TestUnknownChecksAreNamed(t *testing.T) {
	in := inventedTruth()
	in.judgedBy = "a reference"
	if f := verdictOf(t, "second-order-alike", in); f.Verdict != Confirmed || !strings.Contains(f.Detail, "not known") || !strings.Contains(f.Detail, ": boston (splits 0, 1).") {
		t.Errorf("%s (%s; %s)", f.Verdict, f.Summary, f.Detail)
	}
	in.ownError = 1e-6
	if f := verdictOf(t, "second-order-alike", in); f.Verdict != Confirmed || strings.Contains(f.Detail, "not known") {
		t.Errorf("with its own error: %s (%s; %s)", f.Verdict, f.Summary, f.Detail)
	}
}

// A diverged chain has no accuracy, and is evidence: a side that diverges on one data set
// alone leaves a claim open whose ratios say yes, and on all of them refutes it.
func TestDivergedChainsAreEvidence(t *testing.T) {
	for sets, want := range map[string]Verdict{"boston": NotDecided, "": Refuted} {
		in := inventedTruth()
		withDistance(func(c bench.Cell) float64 {
			return when(c.Integrator == "symmetric" && c.Step == largeStep && strings.HasPrefix(c.Dataset, sets), 2)
		})(in)
		f := verdictOf(t, "second-order-alike", in)
		i := slices.IndexFunc(f.Numbers, func(n Number) bool { return n.Name == "share diverged, symmetric" })
		if f.Verdict != want || i < 0 || !(f.Numbers[i].Value > 0) {
			t.Errorf("%q: %s (%s), numbers %v: want %s and the share that diverged", sets, f.Verdict, f.Summary, f.Numbers, want)
		}
	}
}

// {0.5, 50} does not score as {5, 10} does because it has two chances.
func TestFrictionsAreJudgedOneByOne(t *testing.T) {
	in := inventedTruth()
	in.frictions = []float64{0.5, 5, 10, 50}
	withDistance(func(c bench.Cell) float64 {
		return when(c.Friction == 0.5 && c.Split == 0 || c.Friction == 50 && c.Split == 1, 0.3)
	})(in)
	f := verdictOf(t, "friction-reasonable", in)
	for name, want := range map[string]float64{"0.5": 0.5, "50": 0.5, "5": 1, "10": 1} {
		i := slices.IndexFunc(f.Numbers, func(n Number) bool { return n.Name == "share of cases where C = "+name+" is acceptable" })
		if i < 0 || float64(f.Numbers[i].Value) != want {
			t.Errorf("C = %s: numbers %v, want a share of %g", name, f.Numbers, want)
		}
	}
	if f.Verdict != Confirmed {
		t.Errorf("%s (%s)", f.Verdict, f.Summary)
	}
	// One of 5 and 10 is bad in every case: half of these chains are.
	in = inventedTruth()
	in.frictions = []float64{0.5, 5, 10, 50}
	withDistance(func(c bench.Cell) float64 {
		return when(c.Friction == 5 && c.Split == 0 || c.Friction == 10 && c.Split == 1, 0.3)
	})(in)
	if f := verdictOf(t, "friction-reasonable", in); f.Verdict != NotDecided || !strings.HasPrefix(f.Summary, "0.50 of the chains") {
		t.Errorf("the better of two is good: %s (%s), want half, and not decided", f.Verdict, f.Summary)
	}
}

// A chain under another name is no evidence of its own; one whose errors differ
// is.
func TestDuplicatesAreNoEvidence(t *testing.T) {
	listed := func(in *invented) (corrected, full bool) {
		for _, e := range orders(in.rows(t, Claim{}).Where("purpose", bench.OfOrders)) {
			if e.row.Text("integrator") == "sghmc" {
				corrected = corrected || e.row.Text("scheme") == "reshuffle"
				full = full || e.row.Text("scheme") == "full"
			}
		}
		return corrected, full
	}
	in := inventedTruth()
	if corrected, full := listed(in); !corrected || full {
		t.Errorf("sghmc with its correction listed: %t, with the full batch, where it is leapfrog: %t; want true and false", corrected, full)
	}
	withErrors("sghmc", func(scheme string) float64 { return 1 / trueError("sghmc", scheme) })(in)
	if corrected, _ := listed(in); corrected {
		t.Error("sghmc with leapfrog's errors in random orders is listed")
	}
}

// A table says that it rests on one split.
func TestTablesSayOneSplit(t *testing.T) {
	in := inventedTruth()
	in.splits = 1
	if f := verdictOf(t, "table-classification", in); !strings.HasSuffix(f.Summary, "; one split") {
		t.Errorf("summary %q", f.Summary)
	}
	if f := verdictOf(t, "table-regression", in); f.Verdict != NotDecided || !strings.Contains(f.Summary, "; one split") {
		t.Errorf("%s: summary %q", f.Verdict, f.Summary)
	}
}

func withOrderOfFullBatch(in *invented) {
	in.order = func(problem, m string, inner int, _, observable string) float64 {
		return trueOrder(problem, m, inner, "full", observable)
	}
}

func withScore(dataset string, sds float64) func(*invented) {
	return func(in *invented) {
		in.scores = func(p Published) float64 {
			return p.Mean + when(p.Dataset == dataset && p.Method == "SHMC", sds*(p.SD+rounding))
		}
	}
}

// Without evidence nothing is decided, and it is said what to run.
func TestNothingIsDecidedWithoutEvidence(t *testing.T) {
	for _, d := range Decide(Claims(), memory{}.of()) {
		if d.Verdict != NotDecided || !strings.Contains(d.Summary, "run hambench reproduce --only ") {
			t.Errorf("%s: %s (%s), want not decided with the command to run", d.ID, d.Verdict, d.Summary)
		}
	}
}

// The same profile again would compute nothing: what is to be run is a larger
// one.
func TestTooFewDataSetsNameALargerProfile(t *testing.T) {
	in := inventedTruth()
	in.only = []string{"boston"}
	f := verdictOf(t, "second-order-alike", in)
	if f.Verdict != NotDecided || !strings.HasSuffix(f.Summary, "run hambench reproduce --profile paper --only methods") {
		t.Errorf("one data set: %s (%s)", f.Verdict, f.Summary)
	}
}

// An order that could not be fitted leaves a claim open; one that is wrong
// beside it refutes it all the same.
func TestUnknownOrdersLeaveClaimsOpen(t *testing.T) {
	in := inventedTruth()
	in.missing = func(f fitOf) bool { return f.Integrator == "mt3" && f.Problem == "scalar" && f.Scheme == "full" }
	if f := verdictOf(t, "order-mt3", in); f.Verdict != NotDecided {
		t.Errorf("order-mt3 without the scalar fits: %s (%s)", f.Verdict, f.Summary)
	}
	withOrder("mt3", "full", 2)(in)
	if f := verdictOf(t, "order-mt3", in); f.Verdict != Refuted {
		t.Errorf("order-mt3 of order 2 on the Gaussian problem, unknown on the other: %s (%s)", f.Verdict, f.Summary)
	}
}

func TestIDsAreUniqueAndTextsComplete(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range Claims() {
		if seen[c.ID] {
			t.Errorf("%s appears twice", c.ID)
		}
		seen[c.ID] = true
		if c.By == "" || c.Statement == "" || c.Where == "" || c.Test == "" || len(c.Cases) == 0 {
			t.Errorf("%s: %+v: want every text, and a decider", c.ID, c)
		}
		if ours := c.By == "not in the paper"; ours != (c.Paper == "") || (c.By == "paper") != (c.Quote != "") {
			t.Errorf("%s: paper %q, quote %q: want those of a claim by %s", c.ID, c.Paper, c.Quote, c.By)
		}
	}
	for _, c := range append(Claims(), readClaims(laterText)...) {
		for _, text := range append(slices.Collect(maps.Values(c.Notes)), c.Statement, c.Where, c.Quote, c.Test, c.Undecided) {
			if strings.Contains(text, "${") {
				t.Errorf("%s prints the name of a phrase: %s", c.ID, text)
			}
		}
	}
}
