package models

import (
	"math"
	"math/rand/v2"

	"hambench/models/datasets"
)

// DrawTargets stores in dst a target of each test row of a split, drawn from the
// likelihood at predictions, which are as Target.Predict stores them: a standardised target
// with the split's Gaussian noise, or the number of a class.
func DrawTargets(dst, predictions []float64, p *datasets.Split, rng *rand.Rand) {
	deviation, classes := math.Sqrt(p.NoiseVariance), make([]float64, p.Classes)
	for i := range dst {
		if p.Task == datasets.Regression {
			dst[i] = predictions[i] + deviation*rng.NormFloat64()
			continue
		}
		clear(classes)
		addProbabilities(classes, predictions, i)
		// Classes divide [0, 1] by their probabilities; the last one takes what rounding leaves.
		left, class := rng.Float64(), 0
		for class < p.Classes-1 && left >= classes[class] {
			left -= classes[class]
			class++
		}
		dst[i] = float64(class)
	}
}

// LogLikelihood stores in dst the log-likelihood of each test row of a split at
// predictions: the log-density of its standardised target, or the log-probability of its
// class.
func LogLikelihood(dst, predictions []float64, p *datasets.Split) {
	classes := make([]float64, p.Classes)
	for i := range dst {
		if p.Task == datasets.Regression {
			e := p.TestY[i] - predictions[i]
			dst[i] = -(e*e/p.NoiseVariance + math.Log(2*math.Pi*p.NoiseVariance)) / 2
			continue
		}
		clear(classes) // of the row before
		addProbabilities(classes, predictions, i)
		dst[i] = math.Log(classes[p.TestLabels[i]])
	}
}
