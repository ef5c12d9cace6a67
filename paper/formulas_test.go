package paper

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/certify"
	"slices"
)

// A share of 1 counts each replicate once: of R sets of ten chains the low end is (α/2)^(1/R).
func TestAShareOfOneCountsReplicatesOnce(t *testing.T) {
	x := &evaluation{Case: Case{DataClaim: bench.DataClaim{Level: 0.99}}, values: map[string]*replicate{}}
	for i := range 8 {
		x.values[fmt.Sprint(i)] = &replicate{numbers: make([]float64, 10)}
	}
	if low, high := x.binomial(1); math.Abs(low-math.Pow(0.005, 1./8)) > 1e-6 || high != 1 {
		t.Errorf("from %g to %g", low, high)
	}
}

// What is certainly below 0 divides nothing.
func TestARatioToWhatIsBelowZeroIsOpen(t *testing.T) {
	if e := fieller([]float64{1, 1.1, 0.9, 1, 1.05}, []float64{-1, -1.1, -0.9, -1, -0.95}, 0, 0.99); e.open == "" {
		t.Error(e)
	}
}

// Two steps have a slope whatever the law is, and a chain that diverged is no point of one.
func TestSlopesNeedThreeStepsOfFiniteChains(t *testing.T) {
	slopes := bench.DataClaim{Statistic: bench.OrderStatistic, Of: "ks", Between: limits(1.9, 2.1), Level: 0.99}
	for _, steps := range [][]float64{{0.1, 0.2}, {0.1, 0.2, 0.4}, {0.1, 0.2, 0.4, 0.8}} {
		rows := madeUp()
		for i := range 6 {
			for _, h := range steps {
				ks := h * h * (1 + 0.001*float64(i%3))
				if h == 0.8 {
					ks = 1
				}
				chainRow(rows, fmt.Sprint("s", i), 1, "a", h, ks, map[string]any{"diverged": h == 0.8})
			}
		}
		f := decideBy(slopes, rows)
		if want := map[int]Verdict{2: NotDecided, 3: Confirmed, 4: Confirmed}[len(steps)]; f.Verdict != want {
			t.Error(len(steps), f.Verdict, f.Summary)
		}
	}
}

// The floor is the mean of the two middle ones of four chains with N_l = 1, of which each counts
// once, however many studies list it.
func TestAFloorIsTheMedianOfOneInnerStep(t *testing.T) {
	rows := madeUp()
	for i, ks := range []float64{0.1, 0.2, 0.4, 0.9} {
		chainRow(rows, "s", 1, fmt.Sprint(i), 0.001, ks, map[string]any{"K": 1, "nl": 1})
	}
	for _, study := range []string{"friction", "classification"} {
		chainRow(rows, "s", 1, "3", 0.001, 0.9, map[string]any{"K": 1, "nl": 1, "study": study})
	}
	chainRow(rows, "s", 1, "5", 0.0001, 0.8, map[string]any{"K": 1, "nl": 4})
	for _, v := range Floors(rows) {
		if math.Abs(v-0.3) > 1e-12 {
			t.Error(v)
		}
	}
}

// The noise of a difference of means of n and 5 splits, and the sum over sets: worse in RMSE and worse in
// accuracy are one direction.
func TestNoiseOfATable(t *testing.T) {
	e := func(set, score string, d float64, n int) tableEntry {
		return tableEntry{Published: Published{Dataset: set, Score: score, SD: 1}, ours: make([]float64, n), difference: d}
	}
	if s := e("a", "rmse", 0, 20).noise(); math.Abs(s-0.5) > 1e-12 { // √(1/20 + 1/5)
		t.Error("noise", s)
	}
	// Worse in rmse and worse in accuracy (−1) are one direction: z = (1+1)/√(2·¼).
	z, sets, one := lean([]tableEntry{e("a", "rmse", 1, 20), e("b", "accuracy", -1, 20)})
	if math.Abs(z-2/math.Sqrt(0.5)) > 1e-12 || sets != 2 || !one {
		t.Error("lean", z, sets, one)
	}
	rows := madeUp()
	for split, d := range []float64{1, 2, 3, 4} { // sd √(5/3)
		for side, observe := range []string{string(bench.Distance), string(bench.Reference)} {
			for _, seed := range []float64{-1, 1} { // whose mean counts
				rows.Add(nil, map[string]any{"dataset": "boston", "split": split, "observe": observe, "rmse": float64(side)*d + seed})
			}
		}
	}
	if s := chainNoise(rows, "rmse"); math.Abs(s-math.Sqrt(5./3)/2) > 1e-12 {
		t.Error("chain noise", s)
	}
	for _, e := range compareScores([]Published{{Dataset: "boston", Method: SHMC, Score: "rmse", SD: 1}, {Dataset: "boston", Method: SGHMC, Score: "rmse", SD: 1}}, rows) {
		if want := map[string][]float64{SHMC: {0, 0, 0, 0}, SGHMC: {1, 2, 3, 4}}[e.Method]; !slices.Equal(e.ours, want) {
			t.Errorf("%s: %v by split, want %v", e.Method, e.ours, want)
		}
	}
}

// Of 20 numbers, each off by six standard errors, Student's limit at 0.01/20 and 4 degrees of freedom is
// 8.6; and the rounding of printed numbers is no difference.
func TestNumbersOfSameSplitsShareTheLevel(t *testing.T) {
	x := &evaluation{Case: Case{DataClaim: bench.DataClaim{}}}
	var entries []tableEntry
	for i := range 20 {
		entries = append(entries, tableEntry{Published: Published{Dataset: fmt.Sprint(i), Mean: 1, SD: 100}, mean: 1 + 6*0.01,
			ours: make([]float64, 5), chains: 0.01})
	}
	if f := x.sameSplits(entries, 0); f.Verdict != Confirmed {
		t.Error(f.Verdict, f.Summary)
	}
	for i := range entries { // rounding of the printed number alone, noise of 0.0001/4.6
		entries[i].mean, entries[i].chains = 1.0004, 0.00001
	}
	if f := x.sameSplits(entries, 0); f.Verdict != Confirmed {
		t.Error("rounding", f.Verdict, f.Summary)
	}
}

// On points of a known noise the 95 % interval of a power misses in 5 % of 3000, with a standard
// error of 0.4 %: 1.5 % are 3.8 of these, once in 6 000 seeds.
func TestIntervalsOfPowersCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	missed, n := 0, 3000
	for range n {
		rows := table.New(table.Column{Name: "h", Kind: table.Number}, table.Column{Name: "friction", Kind: table.Number}, table.Column{Name: "v", Kind: table.Number})
		for _, p := range [][2]float64{{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}} {
			rows.Add(nil, map[string]any{"h": p[0], "friction": p[1], "v": math.Exp(0.2 * rng.NormFloat64())})
		}
		p, _ := PowersOf(rows, func(r table.Row) float64 { return r.Number("v") }, 0.95)
		missed += int(indicator(math.Abs(p.Step.Value) > p.Step.Half))
	}
	if s := float64(missed) / float64(n); math.Abs(s-0.05) > 0.015 {
		t.Error(s)
	}
}

// A friction within the reference's own error of the best is as good.
func TestAFrictionWithinTheReferencesErrorIsAcceptable(t *testing.T) {
	rows := madeUp()
	for c, ks := range map[float64]float64{1: 0.1, 5: 0.105} {
		chainRow(rows, "s", 1, "a", 0.1, ks, map[string]any{"friction": c, "reference_error": 0.01, "ks_self_sd": 1e-6, "ks_self": 0.1})
	}
	x := newEvaluation(Case{DataClaim: bench.DataClaim{Where: map[string][]any{"integrator": {"a"}}}}, newEvidence(rows))
	for _, of := range x.frictions() {
		for _, a := range of {
			if !a.acceptable {
				t.Error(a.row.Number("friction"))
			}
		}
	}
}

// Distances v + δ of one reference move the slope of their logarithms: of 300 intervals at 99 % more than
// nine miss once in a thousand times.
func TestIntervalsOfSlopesHaveTheReferencesError(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	missed, decided := 0, 0
	for range 300 {
		rows, shift := madeUp(), 0.001*rng.NormFloat64()
		for split := range 5 {
			for _, h := range []float64{0.1, 0.2, 0.4} {
				chainRow(rows, "s", 1, "a", h, h*h*(1+0.001*rng.NormFloat64())+shift, map[string]any{"split": split, "reference_error": 0.001, "oracle": "r"})
			}
		}
		c := bench.DataClaim{Statistic: bench.OrderStatistic, Of: "ks", Between: limits(2, 2), Level: 0.99}
		missed += int(indicator(decideBy(c, rows).Verdict == Refuted))
		c.Between = limits(1, 3)
		decided += int(indicator(decideBy(c, rows).Verdict == Confirmed))
	}
	if missed > 9 || decided < 290 {
		t.Error(missed, decided)
	}
}

// The ratio of distances is stated as one, not as its logarithm.
func TestADistanceBesideAnExcessIsARatio(t *testing.T) {
	f := decidePairs(bench.RatioStatistic, 0.9, 1.1, pairsOf(8, func(i int) (float64, float64) { return 0.3, 0 + 0.3 + 0.0001*float64(i) }))
	if v := float64(f.Distance.Value); math.Abs(v-1) > 0.01 {
		t.Error(f.Distance)
	}
}

// A law that is unstable at a step at which the other is not is another.
func TestALawThatIsUnstableElsewhereIsAnother(t *testing.T) {
	rows := madeUp()
	for _, n := range []string{"a", "b"} {
		for _, h := range []float64{0.1, 0.2} {
			e := h * h
			if n == "b" && h == 0.2 {
				e = math.NaN()
			}
			row := certify.Row{Problem: "p", Integrator: n, Inner: 1, Scheme: "full"}
			rows.Add(row, map[string]any{"record": bench.ErrorRecord, "problem": "p", "integrator": n, "scheme": "full", "observable": "theta.cov",
				"h": h, "error": e, "resolution": 1e-12, "key": n, "order": 2, "at_least": math.NaN(), "verdict": string(certify.Confirmed)})
		}
	}
	if n := len(independent(rows.GroupBy(law...))); n != 2 {
		t.Error(n)
	}
}

// A grid of frictions of less than a decade says nothing of a range.
func TestAGridOfLessThanADecadeIsNoRange(t *testing.T) {
	rows := madeUp()
	for i := range 6 {
		for _, c := range []float64{1, 2, 4} {
			chainRow(rows, fmt.Sprint("s", i), 1, "a", 0.1, 0.1, map[string]any{"friction": c})
		}
	}
	c := Case{DataClaim: bench.DataClaim{Statistic: bench.MeanStatistic, Of: "ks", Between: limits(1, 9), Where: map[string][]any{"integrator": {"a"}}}, Replicates: "dataset"}
	e := newEvidence(rows)
	f := frictionRange([]*evaluation{newEvaluation(c, e)})
	if f.Verdict != NotDecided {
		t.Error(f.Verdict, f.Summary)
	}
	for _, n := range f.Numbers {
		t.Log(n)
	}
	if len(f.Numbers) > 2 {
		t.Error("a grid of less than a decade counts")
	}
}

// Seeds are replicates as splits are: six of them decide what six splits decide.
func TestSeedsAreReplicatesOfSlopesAndPowers(t *testing.T) {
	for _, by := range []string{"seed", "split"} {
		rows := madeUp()
		for i := range 6 {
			for _, h := range []float64{0.1, 0.2, 0.4} {
				for _, friction := range []float64{1, 5} {
					ks := h * h * (1 + 0.001*float64(i%3))
					chainRow(rows, "s", 1, "a", h, ks, map[string]any{by: i, "friction": friction})
				}
			}
		}
		for _, statistic := range []string{bench.OrderStatistic, stepPowerStatistic} {
			f := decideBy(bench.DataClaim{Statistic: statistic, Of: "ks", Between: limits(1.9, 2.1), Level: 0.99}, rows)
			if f.Verdict != Confirmed || !strings.Contains(f.Summary, "6 "+by+"s") {
				t.Errorf("%s over %ss: %s, %s", statistic, by, f.Verdict, f.Summary)
			}
		}
	}
}

// Statistics that compare the same rows twice count them once.
func TestComparedRowsAreCountedOnce(t *testing.T) {
	rows := pairsOf(6, func(int) (left, right float64) { return 0.3, 0.2 })
	chainRow(rows, "set0", 1, "right", 0.3, math.NaN(), map[string]any{"missing": true})
	f := decidePairs(bench.RatioStatistic, 0.9, 1.1, rows)
	for _, statistic := range []string{worseStatistic, divergedStatistic} {
		got := decidePairs(statistic, 0, 1, rows)
		if got.Read != f.Read || strings.Contains(got.Detail, "2 cells") {
			t.Errorf("%s reads %d rows, %q; the ratio %d", statistic, got.Read, got.Detail, f.Read)
		}
	}
}

// Failed checks are those of a data set, split and model, in any order of the rows; an exact
// posterior of the same data set has none.
func TestFailedChecksAreOfAModel(t *testing.T) {
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		for model, want := range map[string]Verdict{"a": NotDecided, "b": Confirmed} {
			rows := madeUp()
			for _, m := range order {
				chainRow(rows, "s", 1, "reference", 0.1, math.NaN(), map[string]any{"model": m, "checks_failed": indicator(m == "a"), "observe": string(bench.Reference)})
			}
			chainRow(rows, "s", 1, "fast", 0.1, 0.2, map[string]any{"model": model, "oracle": model})
			e := newEvidence(rows)
			x := newEvaluation(Case{DataClaim: bench.DataClaim{Of: "ks", Where: map[string][]any{"integrator": {"fast"}}}}, e)
			if left := x.selected.Len() == 0; left != (want == NotDecided) {
				t.Errorf("%v: chains of %s left out: %v", order, model, left)
			}
		}
	}
}

// An order that is not known is the worst of its group.
func TestAnUnknownOrderIsTheWorst(t *testing.T) {
	rows := madeUp()
	chainRow(rows, "s", 1, "a", 0.1, 0.2, nil)
	of := func(v float64) estimate { return estimate{row: rows.Rows()[0], value: v} }
	for _, found := range [][]estimate{{of(2), of(math.NaN())}, {of(math.NaN()), of(2)}} {
		if w := worst(found, "dataset"); len(w) != 1 || !math.IsNaN(w[0].value) {
			t.Errorf("%+v", w)
		}
	}
}

// With the slopes 1 and 1.6 between the steps 4, 2 and 1, which stand at √8 and √2, the slope is 1.5
// at 5/6 of the way, in log h, from the one to the other.
func TestTheCriticalStepIsInterpolated(t *testing.T) {
	rows := madeUp()
	e := 1.0
	for i, h := range []float64{4, 2, 1} {
		e /= []float64{1, 2, math.Pow(2, 1.6)}[i]
		rows.Add(nil, map[string]any{"record": bench.ErrorRecord, "dataset": "a", "h": h, "error": e, "resolution": 1e-12})
	}
	step, slope := critical(rows.GroupBy("dataset")[0])
	if want := math.Sqrt(8) * math.Pow(0.5, 5./6); math.Abs(step-want) > 1e-9 || math.Abs(slope-1) > 1e-9 {
		t.Errorf("critical step %g with the slope %g, want %g and 1", step, slope, want)
	}
}

// The error of a reference is one of distances: it makes no tie of scores.
func TestScoresHaveNoReferenceError(t *testing.T) {
	rows := pairsOf(6, func(int) (left, right float64) { return 0.3, 0.2 })
	scored := madeUp()
	for _, r := range rows.Rows() {
		rmse := 1 + 0.005*indicator(r.Text("integrator") == "left")
		chainRow(scored, r.Text("dataset"), 1, r.Text("integrator"), r.Number("h"), r.Number("ks"), map[string]any{"rmse": rmse, "reference_error": 0.01})
	}
	c := bench.DataClaim{Statistic: worseStatistic, Of: "rmse", Between: limits(0.9, 1), Level: 0.99,
		Where: map[string][]any{"integrator": {"left"}}, Over: map[string][]any{"integrator": {"right"}}}
	if f := decideBy(c, scored); !strings.HasPrefix(f.Summary, "1, in") { // a tie counts a half
		t.Errorf("%s: %s", f.Verdict, f.Summary)
	}
}

// The paper's six lag-1 autocorrelations, each off by some of its standard deviations. All together
// refute beyond 2.576 of those of their sum, on either side; beyond 1.96, or if all six lie on one
// side, they leave it open.
func TestATableIsJudgedTogether(t *testing.T) {
	published := PublishedIn("autocorrelation")
	noise := lagError * math.Sqrt2
	for _, c := range []struct {
		off  [6]float64
		want Verdict
	}{
		{[6]float64{0.1, 0.1, 0.1, 0.1, 0.1, -0.1}, Confirmed},
		{[6]float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, NotDecided},
		{[6]float64{-1.1, -1.1, -1.1, -1.1, -1.1, 0.1}, NotDecided}, // −2.2
		{[6]float64{1.1, 1.1, 1.1, 1.1, 1.1, -0.1}, NotDecided},
		{[6]float64{-1.2, -1.2, -1.2, -1.2, -1.2, -1.2}, Refuted}, // −2.9
		{[6]float64{1.2, 1.2, 1.2, 1.2, 1.2, 1.2}, Refuted},
	} {
		rows := madeUp()
		for i, p := range published {
			observe := bench.Distance
			if p.Method == SGHMC {
				observe = bench.Reference
			}
			chainRow(rows, p.Dataset, 1, "a", 0.1, 0.1, map[string]any{"study": "autocorrelation", "observe": string(observe), p.Score: p.Mean + c.off[i]*noise})
		}
		x := newEvaluation(Case{DataClaim: bench.DataClaim{Where: map[string][]any{"study": {"autocorrelation"}}}}, newEvidence(rows))
		if f := x.published(); f.Verdict != c.want {
			t.Errorf("off by %v: %s, %s; want %s", c.off, f.Verdict, f.Summary, c.want)
		}
	}
}

// A constant that refutes a closed form is among those whose largest difference is stated, however well it is known.
func TestTheDifferenceThatRefutesAClosedFormIsStated(t *testing.T) {
	for _, unsure := range []float64{1e-4, 0.005} {
		in := inventedTruth()
		in.predicted, in.formUnsure = 0.505, unsure // 1 % off
		if f := verdictOf(t, "closed-form", in); f.Verdict != Refuted || !strings.Contains(f.Summary, "differ by up to 0.01;") {
			t.Errorf("known to %g: %s, %s", unsure, f.Verdict, f.Summary)
		}
	}
}
