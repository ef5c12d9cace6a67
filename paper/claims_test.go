package paper

import (
	"slices"
	"strings"
	"testing"

	"hambench/bench"
)

// verdictOf decides one claim.
func verdictOf(t *testing.T, id string, e *Evidence) Finding {
	t.Helper()
	i := slices.IndexFunc(Claims(), func(c Claim) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("no claim %q", id)
	}
	return Claims()[i].Decide(e)
}

// Where everything is as the paper says, every claim of the paper is
// confirmed, and the claim that it contradicts is refuted.
func TestEveryClaimHoldsWhereItShould(t *testing.T) {
	for _, d := range Decide(Claims(), inventedTruth().evidence()) {
		want := Confirmed
		if d.By == ByChen {
			want = Refuted
		}
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

// Each claim is refuted by evidence against it.
func TestEveryClaimCanBeRefuted(t *testing.T) {
	cases := []struct {
		id, reason string
		change     func(*invented)
		want       Verdict // "" means refuted
	}{
		{"stationary-law", "an error that stays", withOrder("mt3", "full", 0), ""},
		{"order-leapfrog", "order 2", withOrder("leapfrog", "full", 2), ""},
		{"order-symmetric", "order 1", withOrder("symmetric", "full", 1), ""},
		{"order-lietrotter", "order 1", withOrder("lietrotter", "full", 1), ""},
		{"order-mt3", "order 2", withOrder("mt3", "full", 2), ""},
		{"mt3-variance", "order 3 with either variance", withOrder(reading, "full", 3), ""},
		{"quasi-symplectic", "a step that is not symplectic as C → 0", func(in *invented) { in.symplectic = false }, ""},
		{"leapfrog-position", "order 1 in θ", withOrder("leapfrog", "full", 1), ""},
		{"leapfrog-competes", "three spreads worse", withDistance(func(c bench.Cell) float64 { return when(c.Integrator == "leapfrog", 3*selfSD) }), ""},
		{"reshuffle-order", "a second-order scheme falls to 1", withOrder("symmetric", "reshuffle", 1), ""},
		{"reshuffle-limit", "mt3 keeps order 3", withOrder("mt3", "reshuffle", 3), ""},
		{"chen-2015", "no scheme changes an order", withOrderOfFullBatch, Confirmed},
		{"replacement-order", "order 2 with replacement", withOrder("mt3", "replacement", 2), ""},
		{"cyclic-order", "order 2 of the joint law", withOrder("mt3", "cyclic", 2), ""},
		{"toy-law", "a right law under mini-batches", func(in *invented) { in.toy["replacement"] = 0 }, ""},
		{"toy-law", "a wrong law with the full batch", func(in *invented) { in.toy["full"] = 0.1 }, ""},
		{"toy-order", "order 2 in random orders", withOrder("exact", "reshuffle", 2), ""},
		{"bottleneck-exact", "mt3 gains with mini-batches", func(in *invented) { in.ratio = func(_ string, h float64) float64 { return h } }, ""},
		{"bottleneck-exact", "mt3 gains nothing with the full batch", func(in *invented) { in.ratio = func(string, float64) float64 { return 1 } }, ""},
		{"bottleneck-sampled", "mt3 is better with mini-batches", withDistance(func(c bench.Cell) float64 { return when(c.Integrator == "mt3" && c.Batches > 1, -0.1) }), ""},
		{"bottleneck-sampled", "mt3 is no better with the full batch", withDistance(func(c bench.Cell) float64 { return when(c.Integrator == "mt3" && c.Step == largeStep, 0.1) }), ""},
		{"bottleneck-sampled", "nothing is above the band", func(in *invented) { in.ks = func(string, bench.Cell) float64 { return selfMean } }, NotDecided},
		{"inner-order", "order 1 for N_l = 8", func(in *invented) {
			in.order = func(problem, m string, inner int, s, observable string) float64 {
				return trueOrder(problem, m, inner, s, observable) - when(inner == 8, 1)
			}
		}, ""},
		{"inner-error-exact", "the same error for all N_l", func(in *invented) { in.large = func(int, string) float64 { return 0.04 } }, ""},
		{"inner-fan", "smaller errors for large N_l", withDistance(func(c bench.Cell) float64 { return -0.005 * float64(c.Inner) }), ""},
		{"sghmc-correction", "sghmc two spreads better", withDistance(func(c bench.Cell) float64 { return when(c.Integrator == "sghmc", -2*selfSD) }), ""},
		{"sghmc-correction", "half of the cells two spreads better", withDistance(func(c bench.Cell) float64 { return when(c.Integrator == "sghmc" && c.Split == 0, -2*selfSD) }), NotDecided},
		{"second-order-alike", "symmetric two spreads worse", withDistance(func(c bench.Cell) float64 { return when(c.Integrator == "symmetric", 2*selfSD) }), ""},
		{"mt3-full-batch", "mt3 is worst", withDistance(func(c bench.Cell) float64 { return when(c.Integrator == "mt3", 0.3) }), ""},
		{"batch-size", "the full batch is worst", withDistance(func(c bench.Cell) float64 { return when(c.Batches == 1, 0.5) }), ""},
		{"all-converge", "an error that stays", withOrder("lietrotter", "reshuffle", 0), ""},
		{"friction-reasonable", "C = 5 is bad", withDistance(func(c bench.Cell) float64 { return when(c.Friction == 5, 0.3) }), ""},
		{"friction-range", "only C = 5 is good", withDistance(func(c bench.Cell) float64 { return when(c.Friction != 5, 0.3) }), NotDecided}, // 1 and 50 leave room for a factor of 50
		{"friction-range", "only C = 1 is good", withDistance(func(c bench.Cell) float64 { return when(c.Friction != 1, 0.3) }), NotDecided}, // 0.1 and 5 do, too
		{"friction-range", "only C = 1 is good of a finer grid", func(in *invented) {
			in.frictions = []float64{0.5, 1, 2, 4}
			withDistance(func(c bench.Cell) float64 { return when(c.Friction != 1, 0.3) })(in)
		}, ""},
		{"table-regression", "two numbers fifteen standard deviations off", withScore("boston", 15), ""},
		{"table-regression", "one number three standard deviations off", withScore("boston", 3), NotDecided},
		{"table-classification", "one number ten standard deviations off", withScore("vehicle", 10), ""},
		{"table-autocorrelation", "0.2 off", func(in *invented) { in.scores = func(p Published) float64 { return p.Mean + 0.2 } }, ""},
		{"table-autocorrelation", "0.11 off", func(in *invented) { in.scores = func(p Published) float64 { return p.Mean + 0.11 } }, NotDecided},
		{"synthetic", "a distance of 0.2", withDistance(func(bench.Cell) float64 { return 0.1 }), ""},
		{"float32-enough", "float64 three spreads better", withDistance(func(c bench.Cell) float64 { return when(c.Precision == "float64", -3*selfSD) }), ""},
		{"float32-enough", "half of the cells two spreads better", withDistance(func(c bench.Cell) float64 { return when(c.Precision == "float64" && c.Split == 0, -2*selfSD) }), NotDecided},
	}
	tested := make(map[string]bool)
	for _, c := range cases {
		in := inventedTruth()
		c.change(in)
		want := c.want
		if want == "" {
			want = Refuted
		}
		if f := verdictOf(t, c.id, in.evidence()); f.Verdict != want {
			t.Errorf("%s, %s: %s (%s), want %s", c.id, c.reason, f.Verdict, f.Summary, want)
		}
		tested[c.id] = true
	}
	for _, c := range Claims() {
		if !tested[c.ID] {
			t.Errorf("claim %s has no case against it", c.ID)
		}
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
	for _, d := range Decide(Claims(), &Evidence{}) {
		if d.Verdict != NotDecided || !strings.Contains(d.Summary, "run hambench reproduce --only ") {
			t.Errorf("%s: %s (%s), want not decided with the command to run", d.ID, d.Verdict, d.Summary)
		}
	}
}

// An order that could not be fitted leaves a claim open; one that is wrong
// beside it refutes it all the same.
func TestUnknownOrdersLeaveClaimsOpen(t *testing.T) {
	in := inventedTruth()
	in.missing = func(f fitted) bool { return f.integrator == "mt3" && f.problem == "scalar" && f.scheme == "full" }
	if f := verdictOf(t, "order-mt3", in.evidence()); f.Verdict != NotDecided {
		t.Errorf("order-mt3 without the scalar fits: %s (%s)", f.Verdict, f.Summary)
	}
	withOrder("mt3", "full", 2)(in)
	if f := verdictOf(t, "order-mt3", in.evidence()); f.Verdict != Refuted {
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
		if c.By == "" || c.Statement == "" || c.Where == "" || c.Test == "" {
			t.Errorf("%s: %+v: want every text", c.ID, c)
		}
	}
}
