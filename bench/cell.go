package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strings"

	"hambench/chain"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/integrators/noise"
	"hambench/internal/fingerprint"
	"hambench/internal/input"
	"hambench/oracle"
	"hambench/usage"
)

// Precisions are the precisions that a network's gradients may have; the state
// is float64 in both.
var Precisions = []string{"float32", "float64"}

// Analytic, as a cell's Oracle, is the target's exact posterior.
const Analytic = "analytic"

// AtTruth is where chains start unless their cell says otherwise.
const AtTruth = oracle.AtTruth

// Real is a number that JSON writes as a text where it is infinite, since it has no
// infinity: "inf", "-inf".
type Real float64

// MarshalJSON writes the number.
func (x Real) MarshalJSON() ([]byte, error) {
	switch {
	case math.IsInf(float64(x), 1):
		return []byte(`"inf"`), nil
	case math.IsInf(float64(x), -1):
		return []byte(`"-inf"`), nil
	}
	return json.Marshal(float64(x))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (x *Real) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"inf"`, `"+Inf"`: // the latter in claims of earlier versions
		*x = Real(math.Inf(1))
	case `"-inf"`, `"-Inf"`:
		*x = Real(math.Inf(-1))
	default:
		return json.Unmarshal(b, (*float64)(x))
	}
	return nil
}

// Cell is one chain to run: everything its result depends on except the code
// and the data behind its names. Fields that were added later are omitted from
// its JSON when they have their default.
// The JSON names are part of the format of stores: an old record must be read by all later
// versions.
type Cell struct {
	Observe    Observable `json:"observe"`
	Dataset    string     `json:"dataset"`
	Split      int        `json:"split"`
	Model      string     `json:"model"`
	Integrator string     `json:"integrator"`
	// the integrator's own parameters that differ from its defaults
	Values    map[string]float64 `json:"values,omitempty"`
	Estimator string             `json:"estimator,omitempty"`
	Inner     int                `json:"nl"`                 // N_l; 1 for all but lietrotter
	Friction  Real               `json:"friction,omitempty"` // C; absent where no chain runs
	Scheme    string             `json:"scheme"`
	Batches   int                `json:"K"`
	BatchSize int                `json:"batch"` // B as requested; Full for one batch
	Step      float64            `json:"h"`
	Samples   int                `json:"samples"`
	Thin      int                `json:"thin"`    // steps per sample
	BurnIn    int                `json:"burn_in"` // steps
	Seed      uint64             `json:"seed"`
	// float32 or float64, of the network's gradient
	Precision string `json:"precision"`
	// Oracle is the ID of the oracle.Spec whose reference starts and judges
	// the chain, or Analytic; "" for a chain that is not judged.
	Oracle string `json:"oracle,omitempty"`
	// ExactDraws are those of an Analytic oracle that judge the chain; without them its
	// exact law does.
	ExactDraws *oracle.ExactDraws `json:"exact_draws,omitempty"`
	// More holds the settings without a field of their own that differ from their
	// defaults, by name: float64 or string. They come last in the JSON.
	More map[string]any `json:"-"`
}

// Schedule says how the chain is thinned and burnt in, "" as usual: by the paper's times, from
// which both follow at any step.
func (c Cell) Schedule() string {
	var parts []string
	usual := chain.PaperPlan(c.Step, c.Samples)
	if c.Thin != usual.Thin {
		parts = append(parts, fmt.Sprint("thinning ", c.Thin))
	}
	if c.BurnIn != usual.BurnIn {
		parts = append(parts, fmt.Sprint("burn-in ", c.BurnIn))
	}
	return strings.Join(parts, ", ")
}

// omitPlain is the name of an estimator in canonical JSON, which leaves plain out.
func omitPlain(name string) string {
	if name == estimators.Plain.Name {
		return ""
	}
	return name
}

// plainCell is a Cell without its methods.
type plainCell Cell

// MarshalJSON writes the canonical JSON of the cell: the fields, then More, sorted by
// name.
// Its bytes make the cell's key, so that a field may be added only with its default left out.
func (c Cell) MarshalJSON() ([]byte, error) {
	c.Estimator = omitPlain(c.Estimator)
	fields, err := json.Marshal(plainCell(c))
	if err != nil || len(c.More) == 0 {
		return fields, err
	}
	more, err := json.Marshal(c.More)
	if err != nil {
		return nil, err
	}
	// Both texts are objects: the first loses its brace at the end, the second that before it.
	return append(append(fields[:len(fields)-1], ','), more[1:]...), nil
}

// UnmarshalJSON reads what MarshalJSON writes. Names that are no setting's are left
// out, as those of settings that a later version has.
func (c *Cell) UnmarshalJSON(b []byte) error {
	var all map[string]any
	if err := cmp.Or(json.Unmarshal(b, (*plainCell)(c)), json.Unmarshal(b, &all)); err != nil {
		return err
	}
	c.Estimator = cmp.Or(c.Estimator, estimators.Plain.Name)
	for _, s := range declared {
		v, ok := all[s.Name]
		if s.field != nil || !ok {
			continue
		}
		// The key's reader checks the value; the value itself is kept as JSON has it, since the
		// reader would leave a default out and make another key.
		if err := s.key(&draft{Cell: *c}, Parts{stored: true}).set(v); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if c.More == nil {
			c.More = make(map[string]any)
		}
		c.More[s.Name] = v
	}
	return nil
}

// Check returns a usage error if no chain can run with the cell's numbers.
// It looks at what goes together: each number by itself is checked where its key is read,
// and names where they are looked up.
func (c Cell) Check() error {
	switch {
	// Of a density, samples are the grid's points on each side: samples² values are stored.
	case c.Observe == Density && (c.Samples < 2 || c.Samples > 2000):
		return usage.Errorf("cell observes %s on %d points a side: want samples from 2 to 2000",
			c.Observe, c.Samples)
	case c.Observe == Density:
		return nil // runs no chain
	case !(c.Step > 0 && c.Step <= math.MaxFloat64): // as where no key states one
		return usage.Errorf("cell with step h = %v: want a finite number > 0", c.Step)
	}
	if c.Observe == Coupled && c.Start() != AtTruth {
		return usage.Errorf("cell observes %s with start %q: coupled chains start at a typical "+
			"position", c.Observe, c.Start())
	}
	if c.Observe == Learning && !chain.IsFixed(c.Start()) {
		return usage.Errorf("cell observes %s with start %q: want %q or a file, where L₀ is",
			c.Observe, c.Start(), oracle.AtOptimum)
	}
	for _, s := range declared {
		if s.check != nil {
			if err := s.check(c); err != nil {
				return err
			}
		}
	}
	return chain.Plan{BurnIn: c.BurnIn, Samples: c.Samples, Thin: c.Thin}.Check()
}

// Kernels returns how many kernels the cell's chain runs if it does not diverge, and 0 if
// the cell runs no chain. Coupled chains count three times: one at h, and one of twice as
// many kernels at h/2.
func (c Cell) Kernels() int64 {
	return (int64(c.BurnIn) + int64(c.Samples)*int64(c.Thin)) * c.Observe.recording().chains
}

// String names the cell for people.
// It is for messages: cells that differ in other settings have the same text.
func (c Cell) String() string {
	return fmt.Sprintf("%s %s split %d, %s (nl %d, C %v), %s K %d, h %v", c.Observe, c.Dataset,
		c.Split, c.Integrator, c.Inner, float64(c.Friction), c.Scheme, c.Batches, c.Step)
}

// Chain describes the cell's chain.
// The key of its random streams follows from the cell, so that equal cells have equal numbers
// in every study.
func (c Cell) Chain() chain.Spec {
	return chain.Spec{
		Integrator: c.Integrator, Estimator: c.Estimator, Scheme: c.Scheme, Batches: c.Batches,
		Params: integrators.Params{
			Step: c.Step, Friction: float64(c.Friction), Inner: c.Inner, Values: c.Values,
		},
		More: c.More, Key: noise.KeyOf(c.Stream()),
	}
}

// Start is where the cell's chain starts.
func (c Cell) Start() string {
	if where, ok := c.More["start"].(string); ok {
		return where
	}
	return AtTruth
}

// tempered reports whether the cell's target has a temperature or a localisation.
func (c Cell) tempered() bool {
	return c.More["temperature"] != nil || c.More["localisation"] != nil
}

// Stream names the cell's random streams: the hex SHA-256 of its canonical
// JSON. No fingerprint enters it, so changed code computes its numbers from the
// same random bits.
func (c Cell) Stream() string {
	of, _ := c.Anywhere() // a chain of a file that cannot be read has no start, and says so
	return digest(of)
}

// Anywhere is the cell with the digest of a file's contents in the place of its name, which
// depends on the folder that the file is seen from: as keys, random streams and records have it.
func (c Cell) Anywhere() (Cell, error) {
	for _, s := range declared {
		name, ok := c.More[s.Name].(string)
		if !s.file || !ok || !chain.IsFile(name) {
			continue
		}
		text, err := input.ReadRegular(name) // chains read it again
		if err != nil {
			return c, usage.Errorf("%s: %w", s.Name, err)
		}
		c.More = maps.Clone(c.More)
		c.More[s.Name] = "sha256/" + fingerprint.Bytes(text)
	}
	return c, nil
}

// digest is the hex SHA-256 of a value's JSON, which must have one.
func digest(v any) string { return fingerprint.JSON(v) }
