package certify

import (
	"encoding/json"
	"slices"
)

// MarshalJSON writes the problem in the form that ParseProblem reads; its
// name is not part of it.
func (p *Problem) MarshalJSON() ([]byte, error) {
	var batches []any
	for _, b := range p.gaussian {
		rows := slices.Collect(slices.Chunk(b.Precision, p.Dim()))
		batches = append(batches, gaussianBatch{Precision: rows, Shift: b.Shift})
	}
	for _, o := range p.scalar {
		batches = append(batches, o)
	}
	return json.Marshal(struct {
		Kind     Kind    `json:"kind"`
		Friction float64 `json:"friction"`
		Batches  []any   `json:"batches"`
	}{p.Kind, p.Friction, batches})
}
