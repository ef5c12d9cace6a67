package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

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

// What a figure of exact errors (kind "orders") may have in place of settings and
// observations. X is step or budget, Y one of answers, Lines is scheme, or what is
// to be exchanged with it: integrator or estimator.
const (
	OnError           = "error" // the default
	OnKolmogorov      = "kolmogorov"
	OnWasserstein     = "wasserstein"
	OnAutocorrelation = "autocorrelation"
	OnMSE             = "mse" // against the step, or at the best step against the budget
	OnBudget          = "budget"
)

// answers are the values of Y with the key of [[exact]] that asks for them.
var answers = map[string]string{OnError: "", OnKolmogorov: "distance", OnWasserstein: "distance", OnAutocorrelation: "budget", OnMSE: "budget"}

// checkAnswers refuses what no figure of these exact errors shows, and their axes
// elsewhere; alone says that the study has nothing else.
func (g *FigureSpec) checkAnswers(exact []ExactJob, alone bool) error {
	want, isAnswer := answers[cmp.Or(g.Y, OnError)]
	ofExact := g.Kind == "orders" || g.Kind == "" && alone
	switch {
	case !ofExact && g.X != OnBudget && (g.Y == "" || !isAnswer):
		return nil
	case !ofExact:
		return fmt.Errorf("axes %q and %q are those of exact errors: want kind = \"orders\"", g.X, g.Y)
	case !isAnswer:
		return fmt.Errorf("y = %q of exact errors: want one of %s", g.Y, strings.Join(slices.Sorted(maps.Keys(answers)), ", "))
	case !slices.Contains([]string{"", "step", OnBudget}, g.X):
		return fmt.Errorf("x = %q of exact errors: want step or budget", g.X)
	case g.X == OnBudget && g.Y != OnMSE:
		return fmt.Errorf("x = %q: want y = %q, which is what depends on it", g.X, OnMSE)
	case g.Panels != nil || len(g.Lines) > 1 || len(g.Lines) == 1 && !slices.Contains([]string{"scheme", "integrator", "estimator"}, g.Lines[0]):
		return fmt.Errorf("of exact errors: want lines = scheme, integrator or estimator, and no panels")
	case want != "" && !slices.ContainsFunc(exact, func(j ExactJob) bool {
		return want == "budget" && j.Exact.Budgets != nil || want == "distance" && j.Exact.Distances
	}):
		return fmt.Errorf("y = %q: want %s in [[exact]]", g.Y, want)
	}
	return nil
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
