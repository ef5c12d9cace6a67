package draws

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// variable is an array of a group: of all draws, shape (chain, draw, …), or
// constant.
type variable struct {
	group, name string
	dims        []string // without chain and draw
	shape       []int    // likewise
	of          func(Draw) []float64
	data        [][]float64 // of draws: what is held of each chain; of a constant, all of it
}

func (v *variable) path() string { return v.group + "/" + v.name }

// variables are those that ArviZ's groups have.
func (h Header) variables() []*variable {
	rows := len(h.TestY)
	f, fShape := []string{"f_dim_0"}, []int{h.Outputs}
	switch {
	case rows > 0 && h.Outputs == rows:
		f = []string{"row"}
	case rows > 0 && h.Outputs%rows == 0:
		f, fShape = []string{"row", "class"}, []int{rows, h.Outputs / rows}
	}
	all := []*variable{
		{group: "posterior", name: "theta", dims: []string{"theta_dim_0"}, shape: []int{h.Dim}, of: func(d Draw) []float64 { return d.Theta }},
		{group: "posterior_predictive", name: "f", dims: f, shape: fShape, of: func(d Draw) []float64 { return d.Predictions }},
		{group: "sample_stats", name: "lp", of: func(d Draw) []float64 { return []float64{d.LogDensity} }},
		{group: "sample_stats", name: "energy", of: func(d Draw) []float64 { return []float64{d.Energy} }},
	}
	if rows > 0 {
		all = append(all,
			&variable{group: "observed_data", name: "y", dims: []string{"row"}, shape: []int{rows}, data: [][]float64{h.TestY}},
			&variable{group: "constant_data", name: "x", dims: []string{"row", "feature"}, shape: []int{rows, len(h.TestX) / rows}, data: [][]float64{h.TestX}})
	}
	for _, v := range all {
		if v.of != nil {
			v.data = make([][]float64, h.Chains)
		}
	}
	return all
}

// take holds a draw.
func (v *variable) take(d Draw) {
	if v.of != nil {
		v.data[d.Chain] = append(v.data[d.Chain], v.of(d)...)
	}
}

// size is how many numbers a draw, or a constant, has.
func (v *variable) size() int {
	n := 1
	for _, k := range v.shape {
		n *= k
	}
	return n
}

// jsonGroups holds all draws until it is closed.
type jsonGroups struct {
	Header
	to   *output
	vars []*variable
}

func newJSON(to *output, h Header) (form, error) { return &jsonGroups{h, to, h.variables()}, nil }

func (g *jsonGroups) write(d Draw) error {
	for _, v := range g.vars {
		v.take(d)
	}
	return nil
}

// close writes the arguments of from_dict: data by group, dims, attrs.
func (g *jsonGroups) close() error {
	w := g.to.stream
	dims := make(map[string][]string)
	w.WriteString(`{"data":`)
	before := `{`
	for i, v := range g.vars {
		switch {
		case i > 0 && g.vars[i-1].group == v.group:
			w.WriteByte(',')
		default:
			fmt.Fprintf(w, "%s%q:{", before, v.group)
			before = "},"
		}
		fmt.Fprintf(w, "%q:", v.name)
		data, shape := v.data[0], v.shape
		if v.of != nil {
			data, shape = slices.Concat(v.data...), append([]int{g.Chains, g.Draws}, shape...)
		}
		w.Write(appendArray(nil, data, shape))
		if len(v.dims) > 0 {
			dims[v.name] = v.dims
		}
	}
	rest, err := json.Marshal(struct {
		Dims  map[string][]string       `json:"dims"`
		Attrs map[string]map[string]any `json:"attrs"`
	}{dims, map[string]map[string]any{"/": g.Attributes, "posterior": g.Attributes}})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "}},%s\n", rest[1:])
	return nil
}

// appendArray appends nested lists. Numbers that are not finite, which JSON
// cannot express, are spelled as Python reads them.
func appendArray(b []byte, data []float64, shape []int) []byte {
	if len(shape) == 0 {
		switch v := data[0]; {
		case math.IsNaN(v):
			return append(b, "NaN"...)
		case math.IsInf(v, 0):
			return append(b, strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "+")+"inity"...)
		default:
			return strconv.AppendFloat(b, v, 'g', -1, 64)
		}
	}
	b = append(b, '[')
	part := len(data) / max(1, shape[0])
	for i := range shape[0] {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendArray(b, data[i*part:(i+1)*part], shape[1:])
	}
	return append(b, ']')
}

// zarr is a store of the Zarr format, version 2, which all readers know: arrays in
// little-endian chunks without compression, which would save a twentieth of random
// digits. A chunk holds some draws of one chain and is written when it is full.
type zarr struct {
	Header
	to   *output
	vars []*variable
}

// chunkNumbers is about how many numbers a chunk holds: a mebibyte.
const chunkNumbers = 1 << 17

// newZarr writes what does not depend on the draws: constants, coordinates, and the
// metadata of each array and group, repeated in one file where readers find it at once.
func newZarr(to *output, h Header) (form, error) {
	z := &zarr{h, to, h.variables()}
	format := map[string]int{"zarr_format": 2}
	files := map[string]any{".zgroup": format}
	if h.Attributes != nil {
		files[".zattrs"], files["posterior/.zattrs"] = h.Attributes, h.Attributes
	}
	// An array has the names of its dimensions where xarray wants them.
	describe := func(array, kind string, dims []string, shape, chunks []int) {
		files[array+"/.zattrs"] = map[string]any{"_ARRAY_DIMENSIONS": dims}
		files[array+"/.zarray"] = map[string]any{
			"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": kind, "order": "C", "compressor": nil, "filters": nil, "fill_value": nil,
		}
	}
	constant := func(array, kind string, dims []string, shape []int, data any) error {
		describe(array, kind, dims, shape, shape)
		return z.chunk(array, data, make([]int, len(shape)))
	}
	for _, v := range z.vars {
		var err error
		files[v.group+"/.zgroup"] = format
		if v.of == nil {
			err = constant(v.path(), "<f8", v.dims, v.shape, v.data[0])
		} else {
			dims, shape := append([]string{"chain", "draw"}, v.dims...), append([]int{h.Chains, h.Draws}, v.shape...)
			describe(v.path(), "<f8", dims, shape, append([]int{1, z.block(v)}, v.shape...))
			for i, name := range dims[:2] {
				err = errors.Join(err, constant(v.group+"/"+name, "<i8", []string{name}, shape[i:i+1], counting(shape[i])))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	files[".zmetadata"] = map[string]any{"zarr_consolidated_format": 1, "metadata": maps.Clone(files)}
	for name, value := range files {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		if err := to.save(name, text); err != nil {
			return nil, err
		}
	}
	return z, nil
}

func (*zarr) close() error { return nil }

// counting are the numbers of n chains or draws: 0, 1 …
func counting(n int) (numbers []int64) {
	for i := range n {
		numbers = append(numbers, int64(i))
	}
	return numbers
}

// block is how many draws a chunk holds.
func (z *zarr) block(v *variable) int { return min(z.Draws, max(1, chunkNumbers/max(1, v.size()))) }

func (z *zarr) write(d Draw) error {
	for _, v := range z.vars {
		v.take(d)
		if full := z.block(v) * v.size(); v.of != nil && (len(v.data[d.Chain]) == full || d.Index == z.Draws-1) {
			// The last chunk of a chain has the length of the others.
			held := append(v.data[d.Chain], make([]float64, full-len(v.data[d.Chain]))...)
			v.data[d.Chain] = held[:0]
			if err := z.chunk(v.path(), held, append([]int{d.Chain, d.Index / z.block(v)}, make([]int, len(v.shape))...)); err != nil {
				return err
			}
		}
	}
	return nil
}

// chunk writes numbers as the chunk of an array at a place.
func (z *zarr) chunk(array string, numbers any, place []int) error {
	b, err := binary.Append(nil, binary.LittleEndian, numbers)
	if err != nil {
		return err
	}
	return z.to.save(array+"/"+strings.Trim(strings.ReplaceAll(fmt.Sprint(place), " ", "."), "[]"), b)
}
