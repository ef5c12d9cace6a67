package certify

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"hambench/certify/spectral"
	"hambench/integrators"
	"hambench/internal/input"
	"hambench/usage"
)

// problemFile is the JSON form of a problem.
type problemFile struct {
	Kind     Kind              `json:"kind"`
	Friction *float64          `json:"friction"` // nil if it is missing
	Batches  []json.RawMessage `json:"batches"`  // each in the form of its kind
}

// gaussianBatch is one batch of a Gaussian problem: the gradient Pθ − s.
type gaussianBatch struct {
	Precision [][]float64 `json:"precision"` // P by rows, symmetric
	Shift     []float64   `json:"shift"`     // s
}

// LoadProblem reads a problem from a JSON file. A file that is not there is a usage error, too.
func LoadProblem(path string) (*Problem, error) {
	data, err := input.Read(path)
	if err != nil {
		return nil, usage.Errorf("problem: %w", err)
	}
	return ParseProblem(path, data)
}

// ParseProblem reads a problem from JSON, strictly: anything unknown, missing
// or out of range is a usage error that names the file (by the given path)
// and the batch. The problem's name is the file's, without .json. Each batch need not have a
// law of its own, but the mean of all must.
func ParseProblem(path string, data []byte) (*Problem, error) {
	p, err := parseProblem(data)
	if err != nil {
		return nil, usage.Errorf("problem %s: %w", path, err)
	}
	p.Name = strings.TrimSuffix(filepath.Base(path), ".json")
	return p, nil
}

// parseProblem reads a problem without a name. Its errors do not name the file, but the batch,
// counted from 1.
func parseProblem(data []byte) (*Problem, error) {
	// Syntax first, so that what follows reads valid JSON.
	if err := json.Unmarshal(data, new(any)); err != nil {
		return nil, notJSON(err)
	}
	if err := checkNames(json.NewDecoder(bytes.NewReader(data))); err != nil {
		return nil, err
	}
	// Then the names, then the values: each error says the first thing that is wrong.
	var f problemFile
	if err := decodeStrict(data, &f); err != nil {
		return nil, err
	}
	add := map[Kind]func(*Problem, json.RawMessage) error{Gaussian: (*Problem).addGaussian,
		Scalar: (*Problem).addScalar, Crossing: (*Problem).addValley}[f.Kind]
	if add == nil {
		return nil, usage.Errorf("unknown kind %q: want one of gaussian, scalar, crossing", f.Kind)
	}
	// 0 would be refused with another message.
	if f.Friction == nil {
		return nil, usage.Errorf("friction is missing: want a finite number > 0")
	}
	if err := checkProblem(*f.Friction, len(f.Batches)); err != nil {
		return nil, err
	}
	p := &Problem{Kind: f.Kind, Friction: *f.Friction}
	// A batch has the form of the problem's kind.
	for i, raw := range f.Batches {
		if err := add(p, raw); err != nil {
			return nil, usage.Errorf("batch %d: %w", i+1, err)
		}
	}
	return p, p.checkMean()
}

// decodeStrict decodes valid JSON into v; a field that v does not have is an error, since it
// would be a misspelt name whose value is then left at 0.
func decodeStrict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return notJSON(err)
	}
	return nil
}

// notJSON is the error for text that is no JSON, or of other types.
func notJSON(err error) error { return usage.Errorf("not a problem in JSON: %w", err) }

// checkNames refuses a valid JSON value in which an object has a name twice, since
// package json would silently take the last, or which has a null, since json would
// take that for 0. Names that differ only in case are the same name to json. It reads one
// value, with all that is in it.
func checkNames(d *json.Decoder) error {
	token, err := d.Token()
	if err == nil && token == nil {
		return usage.Errorf("null stands for no number: want a value, or the name left out")
	}
	open, ok := token.(json.Delim)
	if !ok {
		return err
	}
	// The values of an object or a list, with the names before them in an object.
	var seen []string
	for d.More() {
		if open == '{' {
			token, _ := d.Token()
			name := token.(string)
			same := func(s string) bool { return strings.EqualFold(s, name) }
			if slices.ContainsFunc(seen, same) {
				return usage.Errorf("%.40q stands twice in one object: want each name once", name)
			}
			seen = append(seen, name)
		}
		// A value, which may be an object or a list of its own.
		if err := checkNames(d); err != nil {
			return err
		}
	}
	_, err = d.Token() // the closing bracket
	return err
}

// addGaussian reads a batch of a Gaussian problem: a symmetric precision with as many rows as
// those of the batches before, and a shift of that length. The precision need not be definite,
// which is asked of the mean alone.
func (p *Problem) addGaussian(raw json.RawMessage) error {
	var b gaussianBatch
	if err := decodeStrict(raw, &b); err != nil {
		return err
	}
	dim := len(b.Precision)
	if dim == 0 {
		return usage.Errorf("precision is missing or empty: want a symmetric matrix")
	}
	// All batches are of the first one's dimension.
	if len(p.gaussian) > 0 && dim != p.Dim() {
		return usage.Errorf("precision has %d rows: want %d, as in the first batch", dim, p.Dim())
	}
	if len(b.Shift) != dim {
		return usage.Errorf("shift has %d elements: want %d, as the precision has "+
			"rows", len(b.Shift), dim)
	}
	// A matrix is square or it is refused: rows of other lengths would be cut wrongly below.
	for i, row := range b.Precision {
		if len(row) != dim {
			return usage.Errorf("row %d of precision has %d elements: want %d", i+1, len(row), dim)
		}
	}
	flat := slices.Concat(b.Precision...) // row-major
	p.gaussian = append(p.gaussian, integrators.NewAffine(flat, b.Shift))
	return checkSymmetric(flat, dim)
}

// addScalar reads a batch of a scalar problem. Numbers that it does not name are 0; a product
// of them that overflows would make derivatives infinite.
func (p *Problem) addScalar(raw json.RawMessage) error {
	var o spectral.Oscillator
	if err := decodeStrict(raw, &o); err != nil {
		return err
	}
	bent, pulled := o.Amplitude*o.Frequency*o.Frequency, o.Stiffness*o.Center*o.Center
	if math.IsInf(bent, 0) || math.IsInf(pulled, 0) {
		return usage.Errorf("amplitude × frequency² or stiffness × center² overflows: want " +
			"finite derivatives")
	}
	p.scalar = append(p.scalar, o)
	return nil
}

// addValley reads a batch of a crossing problem. Numbers that it does not name are 0.
func (p *Problem) addValley(raw json.RawMessage) error {
	var v spectral.Valley
	err := decodeStrict(raw, &v)
	p.valleys = append(p.valleys, v)
	return err
}

// MarshalJSON writes the problem in the form that ParseProblem reads; its name is not part of
// it.
func (p *Problem) MarshalJSON() ([]byte, error) {
	var batches []any
	// Of a problem's kind one of the loops has batches.
	for _, b := range p.gaussian {
		rows := slices.Collect(slices.Chunk(b.Precision, p.Dim()))
		batches = append(batches, gaussianBatch{Precision: rows, Shift: b.Shift})
	}
	for _, o := range p.scalar {
		batches = append(batches, o)
	}
	for _, v := range p.valleys {
		batches = append(batches, v)
	}
	return json.Marshal(struct { // a problemFile whose batches are values
		Kind     Kind    `json:"kind"`
		Friction float64 `json:"friction"`
		Batches  []any   `json:"batches"`
	}{p.Kind, p.Friction, batches})
}
