package models

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"hambench/models/datasets"
)

// scores is embedded by targets that are judged at the test rows of a split.
type scores struct{ split *datasets.Split }

// Scores implements Scorer.
func (s scores) Scores(draws [][]float64) map[string]float64 { return Score(s.split, draws) }

// affineParameters returns the names of the parameters of θᵀ(1, x).
func (s scores) affineParameters() []string {
	names := []string{"intercept"}
	for i := range s.split.Features {
		name := fmt.Sprintf("x%d", i)
		if s.split.FeatureNames != nil {
			name = s.split.FeatureNames[i]
		}
		names = append(names, name)
	}
	return names
}

// Score returns what Scorer.Scores should for a regression with the split's
// Gaussian noise, or for class probabilities; draws[sample][output] are as
// Target.Predict stores them. The map is empty without test targets or draws.
func Score(p *datasets.Split, draws [][]float64) map[string]float64 {
	if p.TestRows() == 0 || len(draws) == 0 {
		return nil
	}
	if p.Task == datasets.Classification {
		return classificationScores(p, draws)
	}
	return regressionScores(p, draws)
}

// outside is the probability that a central 90 % predictive interval leaves on
// either side.
const outside = 0.05

// regressionScores judges the mixture of the draws' normal laws
// N(f_s(x*), σ²) in the target's own units: the root mean square error of its
// mean, the mean of −log (1/S) Σ_s N(y*; f_s(x*), σ²), and the share of targets
// within its central 90 % interval, which is where its distribution function
// (1/S) Σ_s Φ((y* − f_s(x*))/σ) is from 5 to 95 % (Dawid, 1984; Gneiting,
// Balabdaoui and Raftery, 2007).
func regressionScores(p *datasets.Split, draws [][]float64) map[string]float64 {
	var squares, nll, inside float64
	width := math.Sqrt(2 * p.NoiseVariance)
	logs := make([]float64, len(draws))
	for i, y := range p.TestY {
		var mean, below float64
		for k, d := range draws {
			mean += d[i] / float64(len(draws))
			logs[k] = -(y - d[i]) * (y - d[i]) / (2 * p.NoiseVariance)
			below += math.Erfc((d[i]-y)/width) / (2 * float64(len(draws)))
		}
		if outside <= below && below <= 1-outside {
			inside++
		}
		squares += (y - mean) * (y - mean)
		nll -= logMeanExp(logs)
	}
	n := float64(len(p.TestY))
	// A density of standardised targets is TargetScale times one of targets: the logarithm of that
	// is in mnll, with the constant of the normal density that logs leave out.
	constant := math.Log(2*math.Pi*p.NoiseVariance)/2 + math.Log(p.TargetScale)
	return map[string]float64{
		"rmse":     p.TargetScale * math.Sqrt(squares/n),
		"mnll":     nll/n + constant,
		"coverage": inside / n,
	}
}

// confidenceBins is the number of bins of equal width of the expected calibration
// error, as in Guo et al., 2017, table 1.
const confidenceBins = 15

// classificationScores judges the mean of the draws' class probabilities: the share
// of test rows whose class is the most probable one, the mean of the
// negative log-probability of their class, and the expected calibration error
// Σ_m n_m/n |accuracy − mean confidence of bin m|, where the confidence is the
// probability of the most probable class, and bin m of M has those in
// ((m−1)/M, m/M] (Naeini et al., 2015; Guo et al., 2017, equation 3).
func classificationScores(p *datasets.Split, draws [][]float64) map[string]float64 {
	var hits, nll float64
	var gaps [confidenceBins]float64 // hits less confidences
	mean := make([]float64, p.Classes)
	for i, c := range p.TestLabels {
		clear(mean)
		for _, d := range draws {
			addProbabilities(mean, d, i)
		}
		top := floats.MaxIdx(mean)
		confidence := mean[top] / float64(len(draws))
		// The bounds also catch a NaN, of a draw that diverged.
		bin := min(max(int(math.Ceil(confidence*confidenceBins))-1, 0), confidenceBins-1)
		gaps[bin] -= confidence
		if top == c {
			hits++
			gaps[bin]++
		}
		nll -= math.Log(mean[c] / float64(len(draws)))
	}
	n := float64(len(p.TestLabels))
	ece := floats.Norm(gaps[:], 1) / n
	return map[string]float64{"accuracy": hits / n, "mnll": nll / n, "ece": ece}
}

// addProbabilities adds the class probabilities at test row i to sum. Of two
// classes, draws hold the second's only.
func addProbabilities(sum, draw []float64, i int) {
	if len(sum) == 2 {
		sum[0] += 1 - draw[i]
		sum[1] += draw[i]
		return
	}
	floats.AddScaled(sum, 1, draw[i*len(sum):(i+1)*len(sum)])
}

// logMeanExp is log (1/n) Σ e^{x_i}, with the largest x_i taken out of the sum, so
// that it does not overflow; −∞ if all x_i are.
func logMeanExp(x []float64) float64 {
	top := slices.Max(x)
	if math.IsInf(top, -1) {
		return top
	}
	var sum float64
	for _, v := range x {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum/float64(len(x)))
}
