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
	var arrays []byte
	for c := range r.Draws {
		arrays = pack(arrays, r.Draws[c], r.Start[c], r.Potential[c])
	}
	return json.Marshal(referenceBody{
		Spec: r.Spec, ChainStep: r.ChainStep,
		Shape:       shape{len(r.Draws), len(r.Draws[0]), len(r.Draws[0][0]), len(r.Start[0])},
		Diagnostics: r.Diagnostics, Self: r.SelfDistance(), CrossCheck: r.CrossCheck, Checks: r.Checks, Arrays: arrays,
	})
}

// Decode returns the reference that Encode made the JSON of, or an error that
// wraps ErrCorrupt.
func Decode(data []byte) (*Reference, error) {
	var b referenceBody
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	parts, err := unpack(b.Arrays, b.Shape, false)
	if err != nil {
		return nil, err
	}
	r := &Reference{Spec: b.Spec, ChainStep: b.ChainStep, Diagnostics: b.Diagnostics, CrossCheck: b.CrossCheck, Checks: b.Checks}
	r.take(parts)
	return r, nil
}

// take appends the arrays of chains.
func (r *Reference) take(chains []*part) {
	for _, p := range chains {
		r.Draws = append(r.Draws, p.draws)
		r.Start = append(r.Start, p.end)
		r.Potential = append(r.Potential, p.potential)
	}
}

func (p *part) encode() ([]byte, error) {
	head := p.partHead
	head.Arrays = pack(nil, p.draws, p.end, p.potential, p.curvature)
	head.Shape = shape{1, len(p.draws), len(p.draws[0]), len(p.end)}
	return json.Marshal(head)
}

func decodePart(data []byte) (*part, error) {
	var head partHead
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	parts, err := unpack(head.Arrays, head.Shape, true)
	if err != nil {
		return nil, err
	}
	parts[0].partHead, parts[0].Arrays = head, nil
	return parts[0], nil
}

// pack appends the arrays of a chain to data.
func pack(data []byte, draws [][]float32, vectors ...[]float64) []byte {
	for _, d := range draws {
		data, _ = binary.Append(data, binary.LittleEndian, d) // fails for other types only
	}
	for _, v := range vectors {
		data, _ = binary.Append(data, binary.LittleEndian, v)
	}
	return data
}

// unpack takes apart the arrays of a shape's chains: of each the draws, the
// end, the potential, and perhaps the curvature. It refuses arrays that do not
// fill the bytes, counting in floating point, where absurd sizes do not wrap
// around.
func unpack(data []byte, s shape, curvature bool) ([]*part, error) {
	curvatures := 0
	if curvature {
		curvatures = s.Dim
	}
	perChain := float64(s.Samples)*(4*float64(s.Outputs)+8) + 8*(float64(s.Dim)+float64(curvatures))
	if min(s.Chains, s.Samples, s.Outputs, s.Dim) < 1 || float64(s.Chains)*perChain != float64(len(data)) {
		return nil, fmt.Errorf("%w: its arrays do not have the sizes of its header, %+v", ErrCorrupt, s)
	}
	take := func(x any) {
		n, err := binary.Decode(data, binary.LittleEndian, x)
		if err != nil {
			panic(fmt.Sprintf("oracle: %v", err)) // they are there
		}
		data = data[n:]
	}
	parts := make([]*part, s.Chains)
	for c := range parts {
		p := &part{draws: make([][]float32, s.Samples), end: make([]float64, s.Dim), potential: make([]float64, s.Samples), curvature: make([]float64, curvatures)}
		for i := range p.draws {
			p.draws[i] = make([]float32, s.Outputs)
			take(p.draws[i])
		}
		take(p.end)
		take(p.potential)
		take(p.curvature)
		parts[c] = p
	}
	return parts, nil
}
