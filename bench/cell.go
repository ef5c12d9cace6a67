// Package bench holds the experiments as data, the sweep runner, and the
// result store.
package bench

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Observable says what a cell records of its chain.
type Observable string

const (
	// Distance records the Kolmogorov distance of the predictive marginals
	// to the oracle, and the test scores.
	Distance Observable = "distance"
	// Histogram records the draws of a one-parameter target as counts.
	Histogram Observable = "histogram"
	// Path records the positions of the chain, every step.
	Path Observable = "path"
	// Marginals records quantiles of the predictive marginals as well as
	// the distance.
	Marginals Observable = "marginals"
)

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
	Precision  string     `json:"precision"`        // float32 or float64, of the network's gradient
	Oracle     string     `json:"oracle,omitempty"` // key of the oracle that starts and judges the chain
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
	KSSelf       float64 `json:"ks_self"` // mean self-distance of the oracle
	KSSelfLow    float64 `json:"ks_self_low"`
	KSSelfHigh   float64 `json:"ks_self_high"` // its 5 and 95 % quantiles
	Diverged     bool    `json:"diverged"`
	DivergedStep int64   `json:"diverged_step,omitempty"` // kernel step at which non-finite numbers were seen

	Steps          int64   `json:"steps"` // kernels run, burn-in included
	Gradients      int64   `json:"gradients"`
	HessianVectors int64   `json:"hessian_vectors"`
	Seconds        float64 `json:"seconds"`

	Scores map[string]float64   `json:"scores,omitempty"` // rmse, mnll, accuracy, lag1 …
	Series map[string][]float64 `json:"series,omitempty"` // what Histogram, Path and Marginals record

	ISA    string `json:"isa"`
	Go     string `json:"go"`
	Commit string `json:"commit,omitempty"`
}
