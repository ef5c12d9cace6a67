package oracle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"hambench/internal/atomicfile"
)

// ErrCorrupt is wrapped by the errors of files that are not what was
// written.
var ErrCorrupt = errors.New("damaged oracle file")

// A file is two lines of text (magic with version, JSON header), the arrays
// as little-endian numbers, and the SHA-256 of all that.
const (
	referenceMagic = "hambench oracle 1\n"
	partMagic      = "hambench oracle part 1\n"
)

// shape gives the sizes of the arrays in a file.
type shape struct {
	Chains  int `json:"chains"`
	Samples int `json:"samples"`
	Outputs int `json:"outputs"`
	Dim     int `json:"dim"`
}

// referenceHead is the header of a reference's file.
type referenceHead struct {
	Key         string      `json:"key"`
	Spec        Spec        `json:"spec"`
	Shape       shape       `json:"shape"`
	Versions    Versions    `json:"versions"`
	Seconds     float64     `json:"seconds"`
	ChainStep   []float64   `json:"chain_h"`
	Diagnostics Diagnostics `json:"diagnostics"`
	Self        Band        `json:"self_distance"`
	Opinion     Opinion     `json:"second_opinion"`
	Checks      []Check     `json:"checks"`
}

// part is a finished piece of a build.
type part struct {
	partHead
	draws     [][]float32 // [sample][output]
	end       []float64   // last position
	potential []float64   // [sample]
	curvature []float64   // mean square of the gradient per parameter
}

// partHead is the header of a part's file.
type partHead struct {
	Key      string   `json:"key"`
	Name     string   `json:"name"`
	Shape    shape    `json:"shape"`
	Step     float64  `json:"h"`
	Restarts int      `json:"restarts"`
	Seconds  float64  `json:"seconds"`
	Opinion  *Opinion `json:"second_opinion,omitempty"`
}

// Encode returns the reference as the bytes of a file.
func (r *Reference) Encode() ([]byte, error) {
	h := referenceHead{
		Key: r.Key(), Spec: r.Spec, Versions: r.Versions, Seconds: r.Seconds, ChainStep: r.ChainStep,
		Shape:       shape{len(r.Draws), len(r.Draws[0]), len(r.Draws[0][0]), len(r.Start[0])},
		Diagnostics: r.Diagnostics, Self: r.SelfDistance(), Opinion: r.Opinion, Checks: r.Checks,
	}
	w, err := newWriter(referenceMagic, h)
	if err != nil {
		return nil, err
	}
	for c := range r.Draws {
		w.chain(r.Draws[c], r.Start[c], r.Potential[c])
	}
	return w.sum(), nil
}

// Decode returns the reference that Encode made the bytes of. Bytes that
// differ in anything are an error that wraps ErrCorrupt.
func Decode(data []byte) (*Reference, error) {
	var h referenceHead
	rd, err := newReader(data, referenceMagic, &h)
	if err != nil {
		return nil, err
	}
	if err := rd.check(h.Shape, 1); err != nil {
		return nil, err
	}
	r := &Reference{Spec: h.Spec, Versions: h.Versions, Seconds: h.Seconds, ChainStep: h.ChainStep, Diagnostics: h.Diagnostics, Opinion: h.Opinion, Checks: h.Checks}
	for range h.Shape.Chains {
		r.Draws = append(r.Draws, rd.draws(h.Shape))
		r.Start = append(r.Start, rd.float64s(h.Shape.Dim))
		r.Potential = append(r.Potential, rd.float64s(h.Shape.Samples))
	}
	if h.Key != r.Key() {
		return nil, fmt.Errorf("%w: made by another procedure: its key is %.16s, its settings give %.16s", ErrCorrupt, h.Key, r.Key())
	}
	return r, nil
}

// Save writes the reference to a file, whole or not at all.
func (r *Reference) Save(path string) error {
	data, err := r.Encode()
	if err != nil {
		return err
	}
	return atomicfile.Write(path, data)
}

// Load reads a reference that Save wrote.
func Load(path string) (*Reference, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func (p *part) save(path string) error {
	h := p.partHead
	h.Shape = shape{1, len(p.draws), len(p.draws[0]), len(p.end)}
	w, err := newWriter(partMagic, h)
	if err != nil {
		return err
	}
	w.chain(p.draws, p.end, p.potential)
	w.numbers(p.curvature)
	if err := atomicfile.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	return atomicfile.Write(path, w.sum())
}

func loadPart(path string) (*part, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return decodePart(data)
}

func decodePart(data []byte) (*part, error) {
	p := &part{}
	rd, err := newReader(data, partMagic, &p.partHead)
	if err != nil {
		return nil, err
	}
	if err := rd.check(p.Shape, 2); err != nil {
		return nil, err
	}
	p.draws, p.end, p.potential = rd.draws(p.Shape), rd.float64s(p.Shape.Dim), rd.float64s(p.Shape.Samples)
	p.curvature = rd.float64s(p.Shape.Dim)
	return p, nil
}

// writer builds a file.
type writer struct{ data []byte }

func newWriter(magic string, head any) (*writer, error) {
	line, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("oracle header: %w", err)
	}
	return &writer{append(append([]byte(magic), line...), '\n')}, nil
}

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

func (w *writer) sum() []byte {
	h := sha256.Sum256(w.data)
	return append(w.data, h[:]...)
}

// reader takes a file apart.
type reader struct{ rest []byte }

// newReader verifies the checksum and reads the header into head.
func newReader(data []byte, magic string, head any) (*reader, error) {
	n := len(data) - sha256.Size
	if n < 0 || !bytes.HasPrefix(data, []byte(magic)) {
		return nil, fmt.Errorf("%w: it does not begin with %q", ErrCorrupt, magic)
	}
	if h := sha256.Sum256(data[:n]); !bytes.Equal(h[:], data[n:]) {
		return nil, fmt.Errorf("%w: its checksum does not fit", ErrCorrupt)
	}
	line, rest, _ := bytes.Cut(data[len(magic):n], []byte("\n"))
	if err := json.Unmarshal(line, head); err != nil {
		return nil, fmt.Errorf("%w: header: %v", ErrCorrupt, err)
	}
	return &reader{rest}, nil
}

// check verifies that arrays of the header's sizes, with the given number of
// vectors over the parameters per chain, fill the file. It counts in floating
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
