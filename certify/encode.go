package certify

import (
	"encoding/json"
	"fmt"
)

// MarshalJSON writes the problem in the form that ParseProblem reads; its
// name is not part of it. A scalar problem whose potentials are not
// Oscillators has no such form.
func (p *Problem) MarshalJSON() ([]byte, error) {
	f := problemFile{Kind: p.Kind, Friction: &p.Friction}
	for _, b := range p.gaussian {
		d := len(b.affine.Shift)
		batch := gaussianBatch{Shift: b.affine.Shift}
		for i := range d {
			batch.Precision = append(batch.Precision, b.affine.Precision[i*d:(i+1)*d])
		}
		if err := f.add(batch); err != nil {
			return nil, err
		}
	}
	for i, b := range p.scalar {
		if _, ok := b.(Oscillator); !ok {
			return nil, fmt.Errorf("certify: batch %d of problem %q has no JSON form: its potential is a %T", i+1, p.Name, b)
		}
		if err := f.add(b); err != nil {
			return nil, err
		}
	}
	return json.Marshal(f)
}

func (f *problemFile) add(batch any) error {
	raw, err := json.Marshal(batch)
	f.Batches = append(f.Batches, raw)
	return err
}
