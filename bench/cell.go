// Package bench holds the experiments as data, the sweep runner, and the
// result store.
//
// An Experiment lists Cells; a Runner computes those that a Store does not
// hold yet; a Result is what one cell gave.
package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"hambench/usage"
)

// Observable says what a cell records of its chain.
type Observable string

const (
	// Distance records the Kolmogorov distance of the predictive marginals
	// to the oracle, and the test scores.
	Distance Observable = "distance"
	// Histogram records the draws of a one-parameter target as counts: the
	// series edges (bins + 1), counts, and the exact posterior's mean and sd
	// (one number each).
	Histogram Observable = "histogram"
	// Path records the positions of a chain that starts at the prior mean,
	// one per sample: the series theta0, theta1, ….
	Path Observable = "path"
	// Density records the log-density of a two-parameter target, less its
	// maximum, on a grid of Samples × Samples points over the box that holds
	// its mass: the series theta0, theta1 (the axes) and logdensity (row
	// after row, a row has one theta1). No chain runs.
	Density Observable = "density"
	// Marginals records the predictive marginals as well as the distance:
	// the series x (test inputs), q05, q25, q50, q75, q95, exact_mean,
	// exact_sd, train_x, train_y.
	Marginals Observable = "marginals"
	// Reference records the oracle itself: scores and diagnostics of its
	// draws. No further chain runs.
	Reference Observable = "reference"
)

var observables = []Observable{Distance, Histogram, Path, Density, Marginals, Reference}

// Precisions are those of a network's gradients; the state is float64 in
// both.
var Precisions = []string{"float32", "float64"}

// Analytic stands in a cell's Oracle for the target's exact posterior.
const Analytic = "analytic"

// Cell is one chain to run: everything that its result depends on. Its
// canonical JSON, hashed, is its key, and its random streams come from the
// key alone, so a result depends on neither the order of cells, nor the
// number of workers, nor the machine.
type Cell struct {
	Observe    Observable `json:"observe"`
	Dataset    string     `json:"dataset"`
	Split      int        `json:"split"`
	Model      string     `json:"model"`
	Integrator string     `json:"integrator"`
	Inner      int        `json:"nl"`                 // N_l; 1 for all but lietrotter
	Friction   float64    `json:"friction,omitempty"` // C; 0 stands for +Inf, which JSON cannot say
	Scheme     string     `json:"scheme"`
	Batches    int        `json:"K"`
	Step       float64    `json:"h"`
	Samples    int        `json:"samples"`
	Thin       int        `json:"thin"`    // outer steps per sample
	BurnIn     int        `json:"burn_in"` // outer steps
	Seed       uint64     `json:"seed"`
	Precision  string     `json:"precision"` // float32 or float64, of the network's gradient
	// Oracle is the key of the oracle.Spec whose reference starts and judges
	// the chain, or Analytic.
	Oracle string `json:"oracle,omitempty"`
	// Revision is that of the integrator (integrators.Method).
	Revision int `json:"revision,omitempty"`
}

// Check refuses, with a usage error, a cell whose numbers no chain can be
// run with. Names are checked where they are looked up.
func (c Cell) Check() error {
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
	switch {
	case !slices.Contains(observables, c.Observe):
		return usage.Errorf("cell observes %q: want one of %s", c.Observe, join(observables))
	case c.Dataset == "" || c.Model == "":
		return usage.Errorf("cell without a data set or a model")
	case c.Split < 0:
		return usage.Errorf("cell with split %d: want 0 or more", c.Split)
	case c.Samples < 1:
		return usage.Errorf("cell with %d samples: want at least 1", c.Samples)
	case !slices.Contains(Precisions, c.Precision):
		return usage.Errorf("cell with precision %q: want one of %s", c.Precision, strings.Join(Precisions, ", "))
	case c.Observe == Density:
		return nil // runs no chain
	case !positive(c.Step):
		return usage.Errorf("cell with step h = %v: want a finite number > 0", c.Step)
	case !positive(c.Friction) && c.Friction != 0:
		return usage.Errorf("cell with friction C = %v: want a finite number > 0, or 0 for full refreshment", c.Friction)
	case c.Inner < 1 || c.Batches < 1 || c.Thin < 1 || c.BurnIn < 0:
		return usage.Errorf("cell with N_l = %d, K = %d, thinning %d, burn-in %d: want at least 1, 1, 1, 0", c.Inner, c.Batches, c.Thin, c.BurnIn)
	}
	return nil
}

func join(obs []Observable) string {
	var s []string
	for _, o := range obs {
		s = append(s, string(o))
	}
	return strings.Join(s, ", ")
}

// friction is the cell's friction as integrators take it.
func (c Cell) friction() float64 {
	if c.Friction == 0 {
		return math.Inf(1)
	}
	return c.Friction
}

// kernels is how many kernels the cell's chain runs, if it does not diverge.
func (c Cell) kernels() int64 {
	if c.Observe == Density || c.Observe == Reference {
		return 0
	}
	return (int64(c.BurnIn) + int64(c.Samples)*int64(c.Thin)) * int64(c.Inner)
}

// String names the cell for people.
func (c Cell) String() string {
	return fmt.Sprintf("%s %s split %d, %s (nl %d, C %v), %s K %d, h %v", c.Observe, c.Dataset, c.Split, c.Integrator, c.Inner, c.friction(), c.Scheme, c.Batches, c.Step)
}

// Key is the cell's content address: the hex SHA-256 of its canonical JSON.
func (c Cell) Key() string {
	b, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("bench: cell is not JSON: %v", err)) // only NaN or Inf fields
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Result is what a cell's chain gave.
type Result struct {
	Cell Cell   `json:"cell"`
	Key  string `json:"key"`

	KS           float64 `json:"ks"`      // mean Kolmogorov distance to the oracle; 1 if diverged
	KSSelf       float64 `json:"ks_self"` // mean self-distance of the oracle, for the cell's number of samples
	KSSelfLow    float64 `json:"ks_self_low"`
	KSSelfHigh   float64 `json:"ks_self_high"` // its 5 and 95 % quantiles
	Diverged     bool    `json:"diverged"`
	DivergedStep int64   `json:"diverged_step,omitempty"` // kernel step at which non-finite numbers were seen

	Steps          int64   `json:"steps"` // kernels run, burn-in included
	Gradients      int64   `json:"gradients"`
	HessianVectors int64   `json:"hessian_vectors"`
	Seconds        float64 `json:"seconds"`

	// Scores are test scores in the target's own units (rmse, mnll;
	// accuracy, mnll), the mean lag-1 autocorrelation of the predictive
	// values (lag1), and for Reference the oracle's diagnostics.
	Scores map[string]float64 `json:"scores,omitempty"`
	// Series are what the observables other than Distance record.
	Series map[string][]float64 `json:"series,omitempty"`

	ISA    string `json:"isa"`
	Go     string `json:"go"`
	Commit string `json:"commit,omitempty"`
}
