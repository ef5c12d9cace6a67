package oracle

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrCorrupt is wrapped by the errors of bytes that are no reference.
var ErrCorrupt = errors.New("damaged reference")

// shape gives the sizes of the arrays.
type shape struct {
	Chains  int `json:"chains"`
	Samples int `json:"samples"`
	Outputs int `json:"outputs"`
	Dim     int `json:"dim"`
}

// referenceBody is a reference as JSON. The arrays are little-endian numbers.
type referenceBody struct {
	Spec        Spec        `json:"spec"`
	Shape       shape       `json:"shape"`
	ChainStep   []float64   `json:"chain_h"`
	Diagnostics Diagnostics `json:"diagnostics"`
	Self        Band        `json:"self_distance"`
	CrossCheck  CrossCheck  `json:"cross_check"`
	Checks      []Check     `json:"checks"`
	Arrays      []byte      `json:"arrays"`
}

// part is a finished piece of a build.
type part struct {
	partHead
	draws     [][]float32 // [sample][output]
	end       []float64   // last position
	potential []float64   // [sample]
	curvature []float64   // mean square of the gradient per parameter
}

// partHead is a part as JSON; the arrays of one that is under way are empty.
type partHead struct {
	Shape      shape       `json:"shape"`
	Step       float64     `json:"h"`
	Restarts   int         `json:"restarts"`
	Seconds    float64     `json:"seconds"`
	CrossCheck *CrossCheck `json:"cross_check,omitempty"`
	Arrays     []byte      `json:"arrays"`
}

// Encode returns the reference as JSON.
func (r *Reference) Encode() ([]byte, error) {
	var w writer
	for c := range r.Draws {
		w.chain(r.Draws[c], r.Start[c], r.Potential[c])
	}
	return json.Marshal(referenceBody{
		Spec: r.Spec, ChainStep: r.ChainStep,
		Shape:       shape{len(r.Draws), len(r.Draws[0]), len(r.Draws[0][0]), len(r.Start[0])},
		Diagnostics: r.Diagnostics, Self: r.SelfDistance(), CrossCheck: r.CrossCheck, Checks: r.Checks, Arrays: w.data,
	})
}

// Decode returns the reference that Encode made the JSON of, or an error that
// wraps ErrCorrupt.
func Decode(data []byte) (*Reference, error) {
	var b referenceBody
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	rd := reader{b.Arrays}
	if err := rd.check(b.Shape, 1); err != nil {
		return nil, err
	}
	r := &Reference{Spec: b.Spec, ChainStep: b.ChainStep, Diagnostics: b.Diagnostics, CrossCheck: b.CrossCheck, Checks: b.Checks}
	for range b.Shape.Chains {
		r.Draws = append(r.Draws, rd.draws(b.Shape))
		r.Start = append(r.Start, rd.float64s(b.Shape.Dim))
		r.Potential = append(r.Potential, rd.float64s(b.Shape.Samples))
	}
	return r, nil
}

func (p *part) encode() ([]byte, error) {
	var w writer
	w.chain(p.draws, p.end, p.potential)
	w.numbers(p.curvature)
	head := p.partHead
	head.Arrays, head.Shape = w.data, shape{1, len(p.draws), len(p.draws[0]), len(p.end)}
	return json.Marshal(head)
}

func decodePart(data []byte) (*part, error) {
	var p part
	if err := json.Unmarshal(data, &p.partHead); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	rd := reader{p.Arrays}
	if err := rd.check(p.Shape, 2); err != nil {
		return nil, err
	}
	p.Arrays = nil
	p.draws, p.end, p.potential = rd.draws(p.Shape), rd.float64s(p.Shape.Dim), rd.float64s(p.Shape.Samples)
	p.curvature = rd.float64s(p.Shape.Dim)
	return &p, nil
}

// writer joins arrays.
type writer struct{ data []byte }

func (w *writer) chain(draws [][]float32, end, potential []float64) {
	for _, d := range draws {
		w.numbers(d)
	}
	w.numbers(end)
	w.numbers(potential)
}

// numbers appends a slice of floats.
func (w *writer) numbers(x any) {
	w.data, _ = binary.Append(w.data, binary.LittleEndian, x) // fails for other types only
}

// reader takes arrays apart.
type reader struct{ rest []byte }

// check verifies that arrays of the header's sizes, with the given number of
// vectors over the parameters per chain, fill the bytes. It counts in floating
// point, where absurd sizes do not wrap around.
func (r *reader) check(s shape, vectors int) error {
	if min(s.Chains, s.Samples, s.Outputs, s.Dim) >= 1 {
		perChain := float64(s.Samples)*(4*float64(s.Outputs)+8) + 8*float64(vectors)*float64(s.Dim)
		if float64(s.Chains)*perChain == float64(len(r.rest)) {
			return nil
		}
	}
	return fmt.Errorf("%w: its arrays do not have the sizes of its header, %+v", ErrCorrupt, s)
}

func (r *reader) draws(s shape) [][]float32 {
	out := make([][]float32, s.Samples)
	for i := range out {
		out[i] = make([]float32, s.Outputs)
		r.take(out[i])
	}
	return out
}

func (r *reader) float64s(n int) []float64 {
	out := make([]float64, n)
	r.take(out)
	return out
}

// take fills a slice of floats; check has made sure that they are there.
func (r *reader) take(x any) {
	n, err := binary.Decode(r.rest, binary.LittleEndian, x)
	if err != nil {
		panic(fmt.Sprintf("oracle: %v", err))
	}
	r.rest = r.rest[n:]
}
