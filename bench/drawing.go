package bench

// FigureSpec says how a study's cells are drawn, by names of a cell's settings
// (data, split, model, precision, integrator, a parameter of its own, estimator,
// scheme, batch, K, step, friction, nl, samples, thin, burn, seed) and of what is
// observed (distance, rmse, mnll, accuracy, ece, coverage, lag1, ess, coupled, gradients, seconds). What
// varies and is no axis is averaged, with a band. What is left empty has the
// default that its comment states.
type FigureSpec struct {
	// Kind is one of the figures that package figures has by name; "" is the one
	// that the rest describes.
	Kind   string   `json:"kind,omitempty"`
	Panels []string `json:"panels,omitempty"` // rows, then columns; data, batch
	X      string   `json:"x,omitempty"`      // a setting or an observation; step
	Lines  []string `json:"lines,omitempty"`  // all settings beside that vary
	Y      string   `json:"y,omitempty"`      // an observation; distance
	// XScale and YScale are log or linear: x is logarithmic, y is not, but for a
	// study with exact errors.
	XScale string `json:"x_scale,omitempty"`
	YScale string `json:"y_scale,omitempty"`
}

// TableSpec says how a study's cells are tabulated, by the names of FigureSpec.
type TableSpec struct {
	Rows    []string `json:"rows,omitempty"`    // settings; those of the figure's panels, lines and x
	Columns []string `json:"columns,omitempty"` // settings each of whose values has a column of each value; none
	Values  []string `json:"values,omitempty"`  // observations; the distance, all scores that there are, gradients
	Note    string   `json:"note,omitempty"`    // stands below the table
}

// axes are the settings that may be a figure's or a table's axis, observations
// what may be shown.
var (
	axes = []string{
		"data", "split", "model", "precision", "integrator", "estimator", "scheme", "batch", "K", "step", "friction", "nl", "samples", "thin", "burn", "seed",
	}
	observations = []string{"distance", "rmse", "mnll", "accuracy", "ece", "coverage", "lag1", "ess", "coupled", "gradients", "steps", "seconds"}
	// figureKinds are the figures that package figures has by name.
	figureKinds = []string{"paths", "toy", "synthetic", "exact-bottleneck", "orders", "scores", "autocorrelation", "precision", "claims"}
)
