package models

import "hambench/models/datasets"

// Formula states what a target computes, for programs in any language: formulas in
// numpy's notation, and the numbers that they name. `data export` writes it.
type Formula struct {
	// LogDensity is −U(theta) up to a constant, over the training rows x, y.
	LogDensity string `json:"log_density"`
	// Predictor is the f of LogDensity and Outputs, for a row x.
	Predictor string `json:"predictor"`
	// Outputs are the predictive values of a draw, at the test rows in order:
	// what Target.Predict stores.
	Outputs string `json:"outputs"`
	// Numbers holds the constants that the formulas name: numbers, or lists.
	Numbers map[string]any `json:"numbers"`
}

// Log-densities with the prior N(0, I): of a regression with Gaussian noise on the
// standardised target, of classes by softmax, and of two classes by the logit of
// the second. The predictor is that of a generalised linear model.
const (
	gaussianDensity = "-sum((y - f(x))**2) / (2 * noise_variance) - sum(theta**2) / 2"
	softmaxDensity  = "sum(f(x)[y] - log(sum(exp(f(x))))) - sum(theta**2) / 2"
	binaryDensity   = "sum(y * f(x) - log(1 + exp(f(x)))) - sum(theta**2) / 2"

	affinePredictor = "theta[0] + theta[1:] @ x"
)

// Formula implements Described.
func (t *bnn) Formula() Formula {
	// The network's potential includes the constant of the normal density: with the constant the
	// formula's value is minus the potential, as in the example of a problem that is exported.
	out := Formula{
		LogDensity: gaussianDensity + " - len(y) / 2 * log(2 * pi * noise_variance)",
		Outputs:    "f(x)",
		Predictor: "h = x; for each layer l: " +
			"h = (h if l == 0 else maximum(h, 0)) @ W_l / sqrt(widths[l]) + b_l; the last h. " +
			"theta holds W_l, of shape [widths[l], widths[l+1]], row after row, then b_l, " +
			"layer after layer",
		Numbers: map[string]any{"widths": t.widths},
	}
	switch {
	case t.split.Task == datasets.Regression:
		out.Numbers["noise_variance"] = t.split.NoiseVariance
	case t.split.Classes == 2:
		out.LogDensity, out.Outputs = softmaxDensity, "exp(f(x)[1]) / sum(exp(f(x)))"
	default:
		out.LogDensity = softmaxDensity
		out.Outputs = "exp(f(x)) / sum(exp(f(x))), class after class"
	}
	return out
}

// Formula implements Described.
func (t *logistic) Formula() Formula {
	return Formula{
		LogDensity: binaryDensity, Predictor: affinePredictor, Outputs: "1 / (1 + exp(-f(x)))",
		Numbers: map[string]any{},
	}
}

// Formula implements Described.
func (t *linear) Formula() Formula {
	out := Formula{
		LogDensity: gaussianDensity, Predictor: affinePredictor, Outputs: "f(x)",
		Numbers: map[string]any{"noise_variance": t.variance},
	}
	if t.split.Features == 1 {
		out.Predictor = "sqrt(2 / 256) * sum(theta * cos(frequencies * x - pi / 4))"
		out.Numbers["frequencies"] = frequencies()
	}
	return out
}

// Formula implements Described.
func (t *toy) Formula() Formula {
	return Formula{
		LogDensity: "-sum((y - f(x))**2) / (2 * noise_variance) - " +
			"sum(theta**2) / (2 * prior_variance)",
		Predictor: "theta[0]", Outputs: "f(x)",
		Numbers: map[string]any{
			"noise_variance": t.variance, "prior_variance": toyPriorVariance,
		},
	}
}
