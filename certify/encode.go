package certify

import (
	"encoding/json"
	"fmt"
	"slices"
)

// MarshalJSON writes the problem in the form that ParseProblem reads; its
// name is not part of it. A scalar problem whose potentials are not Oscillators
// has no such form.
func (p *Problem) MarshalJSON() ([]byte, error) {
	var batches []any
	for _, b := range p.gaussian {
		rows := slices.Collect(slices.Chunk(b.Precision, p.Dim()))
		batches = append(batches, gaussianBatch{Precision: rows, Shift: b.Shift})
	}
	for i, u := range p.scalar {
		if _, ok := u.(Oscillator); !ok {
			return nil, fmt.Errorf("certify: batch %d of problem %q has no JSON form: its potential is a %T", i+1, p.Name, u)
		}
		batches = append(batches, u)
	}
	return json.Marshal(struct {
		Kind     Kind    `json:"kind"`
		Friction float64 `json:"friction"`
		Batches  []any   `json:"batches"`
	}{p.Kind, p.Friction, batches})
}
