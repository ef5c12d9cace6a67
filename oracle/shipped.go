package oracle

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// shipped holds a file for each data set whose reference of split 0 travels with the
// program.
//
//go:embed shipped/*.json.gz
var shipped embed.FS

// shippedBody is a reference in a compact form: each predictive value as one of 2¹⁶
// levels between the least and the greatest of its output, so that a Kolmogorov
// distance is off by less than the share of draws within one level.
type shippedBody struct {
	// Key is that of the reference's record: of its spec, and of what makes its
	// numbers, the data among them.
	Key       string        `json:"key"`
	Seconds   float64       `json:"seconds"`
	Reference referenceBody `json:"reference"` // without arrays
	Low       []float32     `json:"low"`       // by output
	High      []float32     `json:"high"`
	Levels    []byte        `json:"levels"` // uint16, little-endian: [chain][sample][output]
	Start     []byte        `json:"start"`  // float32, little-endian: [chain][parameter]
}

const topLevel = math.MaxUint16

// Shipped returns the reference of a data set that travels with the program, if it is
// the one that a record with that key would hold. It has no potentials, which its
// checks have already been made of.
func Shipped(dataset, key string) (*Reference, bool) {
	file, err := shipped.ReadFile("shipped/" + dataset + ".json.gz")
	if err != nil {
		return nil, false
	}
	r, of, err := unship(file)
	return r, err == nil && of == key
}

// shippedBytes is what a file may have.
const shippedBytes = 600_000

// Ship returns the file of Shipped for a reference with a key: of all its draws or, where
// these do not fit, of every second, third … of them.
func (r *Reference) Ship(key string) ([]byte, error) {
	// The size falls with the number of draws: the first that fits has the most.
	for every := 1; ; every++ {
		file, err := r.thinned(every).ship(key)
		if err != nil || len(file) <= shippedBytes || r.length()/(every+1) < 2 {
			return file, err
		}
	}
}

// thinned keeps the last of each so many draws, without the potentials. Diagnostics and checks
// remain those of all draws.
func (r *Reference) thinned(every int) *Reference {
	t := r.body().reference()
	t.Start, t.Seconds = r.Start, r.Seconds
	for _, draws := range r.Draws {
		t.Draws = append(t.Draws, lastOfEach(every, draws))
	}
	return t
}

// ship returns the file of the reference as it is. The self-distance that it states is that
// of the draws in it.
func (r *Reference) ship(key string) ([]byte, error) {
	chains, outputs := r.columns(), len(r.Draws[0][0])
	b := shippedBody{Key: key, Seconds: r.Seconds, Reference: *r.body()}
	b.Reference.Self = r.SelfDistance()
	b.Low, b.High = make([]float32, outputs), make([]float32, outputs)
	for o := range outputs {
		b.Low[o], b.High[o] = float32(math.Inf(1)), float32(math.Inf(-1))
		for _, c := range chains {
			// The columns are sorted, and finite in a finished reference.
			b.Low[o] = min(b.Low[o], float32(c[o][0]))
			b.High[o] = max(b.High[o], float32(c[o][len(c[o])-1]))
		}
	}
	for c, draws := range r.Draws {
		for _, d := range draws {
			for o, x := range d {
				// A constant output has the level 0 alone, which is Low exactly.
				var level float64
				if b.High[o] > b.Low[o] {
					level = math.Round(float64((x-b.Low[o])/(b.High[o]-b.Low[o])) * topLevel)
				}
				b.Levels = binary.LittleEndian.AppendUint16(b.Levels, uint16(level))
			}
		}
		for _, x := range r.Start[c] {
			b.Start = binary.LittleEndian.AppendUint32(b.Start, math.Float32bits(float32(x)))
		}
	}
	text, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// unship returns the reference of a file, and its key.
func unship(file []byte) (*Reference, string, error) {
	var b shippedBody
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err == nil {
		var text []byte
		if text, err = io.ReadAll(z); err == nil {
			err = json.Unmarshal(text, &b)
		}
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: %v", ErrCorrupt, err)
	}
	// The sizes come first, since what follows cuts the arrays without looking at their ends.
	r, s := b.Reference.reference(), b.Reference.Shape
	if len(b.Levels) != 2*s.Chains*s.Samples*s.Outputs || len(b.Start) != 4*s.Chains*s.Dim ||
		len(b.Low) != s.Outputs || len(b.High) != s.Outputs {
		return nil, "", fmt.Errorf("%w: its arrays do not have the sizes of %+v", ErrCorrupt, s)
	}
	r.Seconds = b.Seconds
	for range s.Chains {
		draws, end := make([][]float32, s.Samples), make([]float64, s.Dim)
		for i := range draws {
			draws[i] = make([]float32, s.Outputs)
			for o := range draws[i] {
				// The inverse of what ship does, off by about half a level. Both arrays are read
				// from the front, in the order in which ship appended to them.
				at := float32(binary.LittleEndian.Uint16(b.Levels)) / topLevel
				draws[i][o] = b.Low[o] + at*(b.High[o]-b.Low[o])
				b.Levels = b.Levels[2:]
			}
		}
		for i := range end {
			end[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b.Start)))
			b.Start = b.Start[4:]
		}
		r.Draws, r.Start = append(r.Draws, draws), append(r.Start, end)
	}
	return r, b.Key, nil
}
