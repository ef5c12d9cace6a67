package models

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"hambench/models/datasets"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-14*math.Max(1, math.Abs(b)) }

// One test row with y = 10 + 2·1 = 12 in its own units, draws f = 0 and 2: the
// mean is right, so the error is 0; each draw's density of the target is
// N(12; 10 or 14, 2²·0.25).
func TestRegressionScores(t *testing.T) {
	s := scores{&datasets.Split{
		Task: datasets.Regression, TestY: []float64{1}, TargetMean: 10, TargetScale: 2, NoiseVariance: 0.25,
	}}
	got := s.Scores([][]float64{{0}, {2}})
	want := -math.Log(math.Exp(-2*2/(2*1.0)) / math.Sqrt(2*math.Pi*1.0))
	if !near(got["rmse"], 0) || !near(got["mnll"], want) || got["coverage"] != 1 || len(got) != 3 {
		t.Errorf("scores %v: want rmse 0, mnll %g, coverage 1", got, want)
	}
}

// Two rows and unequal draws: the mixture's density is the mean of
// densities, not the density of the mean, nor the mean of logarithms.
func TestRegressionScoresAreOfTheMixture(t *testing.T) {
	s := scores{&datasets.Split{
		Task: datasets.Regression, TestY: []float64{0, 3}, TargetScale: 5, NoiseVariance: 1,
	}}
	draws := [][]float64{{1, 3}, {2, 5}, {-1, 0}}
	density := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / 5 }
	mnll := -(math.Log((density(1)+density(2)+density(1))/3) + math.Log((density(0)+density(2)+density(3))/3)) / 2
	rmse := 5 * math.Sqrt((4.0/9+1.0/9)/2) // means 2/3 and 8/3
	got := s.Scores(draws)
	if !near(got["rmse"], rmse) || !near(got["mnll"], mnll) {
		t.Errorf("scores %v: want rmse %g, mnll %g", got, rmse, mnll)
	}
	// Far from every draw the densities underflow; their logarithm must not.
	far := scores{&datasets.Split{Task: datasets.Regression, TestY: []float64{100}, TargetScale: 1, NoiseVariance: 0.01}}
	want := 1e4/0.02 + math.Log(2*math.Pi*0.01)/2
	if got := far.Scores([][]float64{{0}})["mnll"]; !near(got, want) {
		t.Errorf("mnll %g at 1000 deviations: want %g", got, want)
	}
}

func TestTwoClassScores(t *testing.T) {
	s := scores{&datasets.Split{Task: datasets.Classification, Classes: 2, TestLabels: []int{1, 0, 0}}}
	got := s.Scores([][]float64{{0.9, 0.2, 0.7}, {0.5, 0.4, 0.9}})
	want := -(math.Log(0.7) + math.Log(0.7) + math.Log(0.2)) / 3
	if !near(got["accuracy"], 2.0/3) || !near(got["mnll"], want) {
		t.Errorf("scores %v: want accuracy 2/3, mnll %g", got, want)
	}
}

func TestThreeClassScores(t *testing.T) {
	s := scores{&datasets.Split{Task: datasets.Classification, Classes: 3, TestLabels: []int{2, 0}}}
	got := s.Scores([][]float64{
		{0.1, 0.2, 0.7, 0.3, 0.6, 0.1},
		{0.6, 0.2, 0.2, 0.5, 0.2, 0.3},
	})
	want := -(math.Log(0.45) + math.Log(0.4)) / 2
	if !near(got["accuracy"], 1) || !near(got["mnll"], want) { // row 1: 0.4, 0.4, 0.2: a tie, the first wins
		t.Errorf("scores %v: want accuracy 1, mnll %g", got, want)
	}
}

// regressed makes draws of predictions at n rows, and targets that are f of a
// draw plus noise of standard deviation sd; the split's noise has 0.5.
func regressed(rng *rand.Rand, n int, sd float64) (*datasets.Split, [][]float64) {
	s := &datasets.Split{Task: datasets.Regression, TestY: make([]float64, n), TargetMean: 3, TargetScale: 7, NoiseVariance: 0.25}
	draws := make([][]float64, 20)
	for k := range draws {
		draws[k] = make([]float64, n)
		for i := range draws[k] {
			draws[k][i] = rng.NormFloat64() * (1 + float64(i%3))
		}
	}
	for i := range s.TestY {
		s.TestY[i] = draws[rng.IntN(len(draws))][i] + sd*rng.NormFloat64()
	}
	return s, draws
}

// The interval's ends by bisection of the mixture's distribution function give
// the same share, target by target.
func TestCoverageIsThatOfTheMixturesQuantiles(t *testing.T) {
	s, draws := regressed(rand.New(rand.NewPCG(1, 13)), 300, 0.8)
	var inside float64
	for i, y := range s.TestY {
		end := func(p float64) float64 {
			low, high := -50.0, 50.0
			for range 200 {
				x, below := (low+high)/2, 0.0
				for _, d := range draws {
					below += distuv.Normal{Mu: d[i], Sigma: 0.5}.CDF(x)
				}
				if below < p*float64(len(draws)) {
					low = x
				} else {
					high = x
				}
			}
			return low
		}
		if end(0.05) <= y && y <= end(0.95) {
			inside++
		}
	}
	if got, want := Score(s, draws)["coverage"], inside/300; !near(got, want) || want > 0.95 {
		t.Errorf("coverage %g: want %g", got, want)
	}
}

// Targets of the predictive law itself lie within its intervals nine times of
// ten: 20 000 of them within four standard errors, which a right score leaves
// once in 16 000 seeds. Less noise than the law says covers more, more noise less.
func TestCoverageOfACalibratedModel(t *testing.T) {
	const n = 20000
	error4 := 4 * math.Sqrt(0.9*0.1/n)
	of := func(sd float64) float64 {
		s, draws := regressed(rand.New(rand.NewPCG(2, 13)), n, sd)
		return Score(s, draws)["coverage"]
	}
	if got := of(0.5); math.Abs(got-0.9) > error4 {
		t.Errorf("coverage %.4f of a calibrated model: want 0.9 ± %.4f", got, error4)
	}
	if low, high := of(1), of(0.1); low > 0.9-error4 || high < 0.9+error4 {
		t.Errorf("coverage %.4f with twice the noise, %.4f with a fifth of it: want less and more than 0.9", low, high)
	}
}

// classified makes three draws of the probabilities of four classes at n rows,
// and labels that are drawn from the mean probabilities to the power of
// sharpness: 1 is calibrated.
func classified(rng *rand.Rand, n int, sharpness float64) (*datasets.Split, [][]float64) {
	s := &datasets.Split{Task: datasets.Classification, Classes: 4}
	draws := make([][]float64, 3)
	for range n {
		weights := make([]float64, 4)
		row := make([][]float64, len(draws))
		for k := range draws {
			var sum float64
			row[k] = make([]float64, 4)
			for c := range row[k] {
				row[k][c] = rng.ExpFloat64() * rng.ExpFloat64()
				sum += row[k][c]
			}
			for c := range row[k] {
				row[k][c] /= sum
				weights[c] += row[k][c] / float64(len(draws))
			}
			draws[k] = append(draws[k], row[k]...)
		}
		for c := range weights {
			weights[c] = math.Pow(weights[c], sharpness)
		}
		s.TestLabels = append(s.TestLabels, int(distuv.NewCategorical(weights, rng).Rand()))
	}
	return s, draws
}

// calibrationError is the expected calibration error as a sum over sorted
// confidences, by the bins' edges.
func calibrationError(s *datasets.Split, draws [][]float64) float64 {
	type prediction struct{ confidence, hit float64 }
	var all []prediction
	for i, label := range s.TestLabels {
		var p prediction
		for c := range s.Classes {
			var mean float64
			for _, d := range draws {
				mean += d[i*s.Classes+c] / float64(len(draws))
			}
			if mean > p.confidence {
				p = prediction{confidence: mean}
				if c == label {
					p.hit = 1
				}
			}
		}
		all = append(all, p)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].confidence < all[j].confidence })
	var ece float64
	for m := 1; m <= 15; m++ {
		var count, accuracy, confidence float64
		for len(all) > 0 && all[0].confidence <= float64(m)/15 {
			count, accuracy, confidence = count+1, accuracy+all[0].hit, confidence+all[0].confidence
			all = all[1:]
		}
		if count > 0 {
			ece += count / float64(len(s.TestLabels)) * math.Abs(accuracy/count-confidence/count)
		}
	}
	return ece
}

func TestExpectedCalibrationError(t *testing.T) {
	for _, sharpness := range []float64{0.3, 1, 3} {
		s, draws := classified(rand.New(rand.NewPCG(3, 13)), 500, sharpness)
		if got, want := Score(s, draws)["ece"], calibrationError(s, draws); math.Abs(got-want) > 1e-12 {
			t.Errorf("labels of sharpness %g: expected calibration error %g: want %g", sharpness, got, want)
		}
	}
	// By hand: row 0 is right with 0.7 and row 3 wrong with 0.68, in one bin; row 1
	// is right with 0.6, the upper end of its bin, row 2 wrong with 0.65 in the next;
	// row 4 is right and certain.
	s := &datasets.Split{Task: datasets.Classification, Classes: 2, TestLabels: []int{1, 0, 0, 0, 1}}
	want := (math.Abs(0.3-0.68) + 0.4 + 0.65 + 0) / 5
	if got := Score(s, [][]float64{{0.7, 0.4, 0.65, 0.68, 1}})["ece"]; !near(got, want) {
		t.Errorf("expected calibration error %g: want %g", got, want)
	}
	if got := Score(s, [][]float64{{math.NaN(), 0.4, 0.65, 0.68, 1}})["ece"]; !math.IsNaN(got) {
		t.Errorf("expected calibration error %g of a prediction that is no number", got)
	}
}

// With labels of the predicted law the error is chance alone: in a bin of n_m of
// n rows its standard deviation is at most √n_m/(2n), so that its mean over all
// bins is at most √(15/n)/2 (Cauchy and Schwarz); it exceeds twice that once in
// 1800 seeds at most (McDiarmid: a label moves it by 1/n). Labels that are
// flatter or sharper than the law have more.
func TestExpectedCalibrationErrorOfACalibratedModel(t *testing.T) {
	const n = 20000
	chance := math.Sqrt(15.0/n) / 2
	of := func(sharpness float64) float64 {
		s, draws := classified(rand.New(rand.NewPCG(4, 13)), n, sharpness)
		return Score(s, draws)["ece"]
	}
	if got := of(1); got > 2*chance {
		t.Errorf("expected calibration error %.4f of a calibrated model: want at most %.4f", got, 2*chance)
	}
	for _, sharpness := range []float64{0.5, 2} {
		if got := of(sharpness); got < 4*chance {
			t.Errorf("expected calibration error %.4f with labels of sharpness %g: want more than %.4f", got, sharpness, 4*chance)
		}
	}
}

func TestScoresOfNothing(t *testing.T) {
	s := scores{&datasets.Split{Task: datasets.Regression, TestY: []float64{1}, NoiseVariance: 1, TargetScale: 1}}
	if got := s.Scores(nil); len(got) != 0 {
		t.Errorf("scores without draws: %v", got)
	}
	if got := (scores{&datasets.Split{Task: datasets.Regression}}).Scores([][]float64{{}}); len(got) != 0 {
		t.Errorf("scores without test rows: %v", got)
	}
}

// Draws from the exact posterior must predict as well as the noise allows:
// the targets' deviation around the function is √0.1, and 200 test rows
// estimate it to 5 % (one standard error), of which the lower limit is three
// below: once in 900 data sets, and this one is fixed. The upper limit leaves
// room for the posterior's spread, in the gap and beyond the data.
func TestLinearPredictsItsData(t *testing.T) {
	target, err := Builtin().New("linear", builtin(t, "linear"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	mean, _ := target.(Analytic).PredictiveMarginals()
	got := target.(Scorer).Scores([][]float64{mean})["rmse"]
	if noise := math.Sqrt(0.1); got < 0.85*noise || got > 1.6*noise {
		t.Errorf("rmse of the posterior mean is %.3f: want about %.3f", got, noise)
	}
}
