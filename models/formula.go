package models

import "hambench/models/datasets"

// Formula says what a target computes, for programs in any language: formulas in
// numpy's notation, and the numbers that they name.
type Formula struct {
	// LogDensity is that of the parameters theta, up to a constant, over the
	// training rows x, y; Predictor is the f in it, for a row x.
	LogDensity string `json:"log_density"`
	Predictor  string `json:"predictor"`
	// Outputs are the predictive values of a draw, at the test rows in order.
	Outputs string         `json:"outputs"`
	Numbers map[string]any `json:"numbers"`
}

// Described is a Target that says what it computes.
type Described interface {
	Target
	Formula() Formula
}

// The likelihoods, with the prior N(0, I).
const (
	gaussianDensity = "-sum((y - f(x))**2) / (2 * noise_variance) - sum(theta**2) / 2"
	softmaxDensity  = "sum(f(x)[y] - log(sum(exp(f(x))))) - sum(theta**2) / 2"
	binaryDensity   = "sum(y * f(x) - log(1 + exp(f(x)))) - sum(theta**2) / 2"

	affinePredictor = "theta[0] + theta[1:] @ x"
)

// Formula implements Described.
func (t *bnn) Formula() Formula {
	out := Formula{
		LogDensity: gaussianDensity + " - len(y) / 2 * log(2 * pi * noise_variance)", Outputs: "f(x)",
		Predictor: "h = x; for each layer l: h = (h if l == 0 else maximum(h, 0)) @ W_l / sqrt(widths[l]) + b_l; the last h. theta holds W_l, of shape [widths[l], widths[l+1]], row after row, then b_l, layer after layer",
		Numbers:   map[string]any{"widths": t.widths},
	}
	switch {
	case t.split.Task == datasets.Regression:
		out.Numbers["noise_variance"] = t.split.NoiseVariance
	case t.split.Classes == 2:
		out.LogDensity, out.Outputs = softmaxDensity, "exp(f(x)[1]) / sum(exp(f(x)))"
	default:
		out.LogDensity, out.Outputs = softmaxDensity, "exp(f(x)) / sum(exp(f(x))), class after class"
	}
	return out
}

// Formula implements Described.
func (t *logistic) Formula() Formula {
	return Formula{LogDensity: binaryDensity, Predictor: affinePredictor, Outputs: "1 / (1 + exp(-f(x)))", Numbers: map[string]any{}}
}

// Formula implements Described.
func (t *linear) Formula() Formula {
	out := Formula{LogDensity: gaussianDensity, Predictor: affinePredictor, Outputs: "f(x)", Numbers: map[string]any{"noise_variance": t.variance}}
	if t.split.Features == 1 {
		out.Predictor, out.Numbers["frequencies"] = "sqrt(2 / 256) * sum(theta * cos(frequencies * x - pi / 4))", frequencies()
	}
	return out
}

// Formula implements Described.
func (t *toy) Formula() Formula {
	return Formula{
		LogDensity: "-sum((y - f(x))**2) / (2 * noise_variance) - sum(theta**2) / (2 * prior_variance)", Predictor: "theta[0]", Outputs: "f(x)",
		Numbers: map[string]any{"noise_variance": t.variance, "prior_variance": toyPriorVariance},
	}
}
