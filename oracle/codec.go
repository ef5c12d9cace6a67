package oracle

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrCorrupt is wrapped by errors for bytes that are not a reference.
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
	OwnError    OwnError    `json:"own_error"`
	Burned      int         `json:"burned,omitempty"`
	Doublings   int         `json:"doublings"`
	// Of a part of a chain whose reference is under way.
	Curvature []float64 `json:"curvature,omitempty"`
	Momentum  []float64 `json:"momentum,omitempty"`
	InvMass   []float64 `json:"inv_mass,omitempty"`
	Low       float64   `json:"warm,omitempty"` // its first name
}

// body returns the reference as JSON has it, but for its arrays, the self-distance and the
// time.
func (r *Reference) body() *referenceBody {
	return &referenceBody{
		Spec: r.Spec, Shape: shape{len(r.Draws), len(r.Draws[0]), len(r.Draws[0][0]),
			len(r.Start[0])},
		ChainStep: r.ChainStep, Diagnostics: r.Diagnostics, OwnError: r.OwnError,
		CrossCheck: r.CrossCheck, Checks: r.Checks, Burned: r.Burned, Doublings: r.Doublings,
		Curvature: r.curvature, Momentum: r.momentum, InvMass: r.invMass, Low: r.low,
	}
}

// Encode returns the reference as JSON.
func (r *Reference) Encode() ([]byte, error) {
	b := r.body()
	if r.curvature == nil {
		b.Self = r.SelfDistance()
	}
	// By chain: its draws, sample by sample, its last position, its potentials (unpack).
	for c := range r.Draws {
		for _, d := range r.Draws[c] {
			// fails for other types only
			b.Arrays, _ = binary.Append(b.Arrays, binary.LittleEndian, d)
		}
		b.Arrays, _ = binary.Append(b.Arrays, binary.LittleEndian, r.Start[c])
		b.Arrays, _ = binary.Append(b.Arrays, binary.LittleEndian, r.Potential[c])
	}
	return json.Marshal(b)
}

// Decode returns the reference from the JSON that Encode made, or an error that
// wraps ErrCorrupt.
func Decode(data []byte) (*Reference, error) {
	var b referenceBody
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	r := b.reference()
	return r, r.unpack(b.Arrays, b.Shape)
}

// reference returns the reference without its arrays.
func (b *referenceBody) reference() *Reference {
	return &Reference{
		Spec: b.Spec, ChainStep: b.ChainStep, Diagnostics: b.Diagnostics, OwnError: b.OwnError,
		CrossCheck: b.CrossCheck, Checks: b.Checks, Burned: b.Burned, Doublings: b.Doublings,
		curvature: b.Curvature, momentum: b.Momentum, invMass: b.InvMass, low: b.Low,
	}
}

// unpack takes apart the arrays of a shape's chains: of each the draws, the end
// and the potential. It refuses arrays that do not fill the bytes, counting in
// floating point, where absurd sizes do not wrap around.
func (r *Reference) unpack(data []byte, s shape) error {
	perChain := float64(s.Samples)*(4*float64(s.Outputs)+8) + 8*float64(s.Dim)
	if min(s.Chains, s.Samples, s.Outputs, s.Dim) < 1 ||
		float64(s.Chains)*perChain != float64(len(data)) {
		return fmt.Errorf("%w: its arrays do not have the sizes of its header, %+v", ErrCorrupt, s)
	}
	take := func(x any) {
		n, err := binary.Decode(data, binary.LittleEndian, x)
		if err != nil {
			panic(fmt.Sprintf("oracle: %v", err)) // they are there
		}
		data = data[n:]
	}
	for range s.Chains {
		draws := make([][]float32, s.Samples)
		end, potential := make([]float64, s.Dim), make([]float64, s.Samples)
		for i := range draws {
			draws[i] = make([]float32, s.Outputs)
			take(draws[i])
		}
		take(end)
		take(potential)
		r.Draws, r.Start = append(r.Draws, draws), append(r.Start, end)
		r.Potential = append(r.Potential, potential)
	}
	return nil
}
