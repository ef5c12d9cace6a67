package draws

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// variable is an array of a group: of all draws, with the shape (chain, draw, …), or
// constant.
type variable struct {
	group, name string
	// dims and shape are the names and the lengths of the dimensions, without chain and
	// draw.
	dims  []string
	shape []int
	// of returns the numbers of a draw, row-major; nil for a constant.
	of func(Draw) []float64
	// data holds the draws that are not yet written, by chain; or the constant.
	data [][]float64
}

// path is the array's place in the folder, with slashes.
func (v *variable) path() string { return v.group + "/" + v.name }

// variables lists the arrays by the groups in which ArviZ expects them, with their
// dimensions:
//
//	posterior/theta          chain, draw, theta_dim_0
//	posterior_predictive/f   chain, draw, row, and class if there are three or more
//	sample_stats/lp, energy  chain, draw
//	observed_data/y          row
//	constant_data/x          row, feature
//
// The last two are there if the header has test rows; without them f has the dimension
// f_dim_0.
func (h Header) variables() []*variable {
	rows := len(h.TestY)
	// Outputs that are not whole rows of predictions have a dimension without a meaning.
	f, fShape := []string{"f_dim_0"}, []int{h.Outputs}
	switch {
	case rows > 0 && h.Outputs == rows:
		f = []string{"row"}
	case rows > 0 && h.Outputs%rows == 0:
		f, fShape = []string{"row", "class"}, []int{rows, h.Outputs / rows}
	}
	var all []*variable
	// drawn adds an array of all draws, constant one that they share.
	drawn := func(group, name string, dims []string, shape []int, of func(Draw) []float64) {
		v := &variable{group: group, name: name, dims: dims, shape: shape, of: of}
		v.data = make([][]float64, h.Chains)
		all = append(all, v)
	}
	constant := func(group, name string, dims []string, shape []int, data []float64) {
		v := &variable{group: group, name: name, dims: dims, shape: shape}
		v.data = [][]float64{data}
		all = append(all, v)
	}
	drawn("posterior", "theta", []string{"theta_dim_0"}, []int{h.Dim},
		func(d Draw) []float64 { return d.Theta })
	drawn("posterior_predictive", "f", f, fShape,
		func(d Draw) []float64 { return d.Predictions })
	drawn("sample_stats", "lp", nil, nil,
		func(d Draw) []float64 { return []float64{d.LogDensity} })
	drawn("sample_stats", "energy", nil, nil,
		func(d Draw) []float64 { return []float64{d.Energy} })
	if rows > 0 {
		constant("observed_data", "y", []string{"row"}, []int{rows}, h.TestY)
		constant("constant_data", "x", []string{"row", "feature"},
			[]int{rows, len(h.TestX) / rows}, h.TestX)
	}
	return all
}

// size returns the number of elements of a draw, or of a constant.
func (v *variable) size() int {
	n := 1
	for _, k := range v.shape {
		n *= k
	}
	return n
}

// zarr is a store of the Zarr format, version 2, which all readers know
// (zarr-specs.readthedocs.io, v2.0): arrays in little-endian chunks without
// compression, which would save a twentieth of random digits. A chunk holds some draws
// of one chain and is written when it is full.
type zarr struct {
	Header // of the draws: it has the lengths of all dimensions
	to     *output
	vars   []*variable
}

// chunkNumbers is about the number of elements of a chunk: a mebibyte.
const chunkNumbers = 1 << 17

// newZarr writes what does not depend on the draws: constants, coordinates, and the
// metadata of each array and group, repeated in one file (.zmetadata) so that a reader
// need not open all of them.
func newZarr(to *output, h Header) (form, error) {
	z := &zarr{h, to, h.variables()}
	format := map[string]int{"zarr_format": 2}
	// files holds the metadata by their places in the folder, to be written as JSON.
	files := map[string]any{".zgroup": format}
	if h.Attributes != nil {
		files[".zattrs"], files["posterior/.zattrs"] = h.Attributes, h.Attributes
	}
	// describe adds the metadata of an array of a type such as <f8. xarray reads the
	// names of the dimensions from the attribute _ARRAY_DIMENSIONS.
	describe := func(array, kind string, dims []string, shape, chunks []int) {
		files[array+"/.zattrs"] = map[string]any{"_ARRAY_DIMENSIONS": dims}
		files[array+"/.zarray"] = map[string]any{
			"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": kind, "order": "C",
			"compressor": nil, "filters": nil, "fill_value": nil,
		}
	}
	// constant adds an array whose numbers are known, and writes them as one chunk.
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
			dims := append([]string{"chain", "draw"}, v.dims...)
			shape := append([]int{h.Chains, h.Draws}, v.shape...)
			describe(v.path(), "<f8", dims, shape, append([]int{1, z.block(v)}, v.shape...))
			for i, name := range dims[:2] {
				coordinate := v.group + "/" + name
				err = errors.Join(err,
					constant(coordinate, "<i8", dims[i:i+1], shape[i:i+1], counting(shape[i])))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	files[".zmetadata"] = map[string]any{
		"zarr_consolidated_format": 1, "metadata": maps.Clone(files),
	}
	for name, value := range files {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		if err := to.save(name, text); err != nil {
			return nil, err
		}
	}
	return z.write, nil
}

// counting returns the coordinates of n chains or draws: 0, 1 … n − 1.
func counting(n int) (numbers []int64) {
	for i := range n {
		numbers = append(numbers, int64(i))
	}
	return numbers
}

// block returns the number of draws of a chunk, from 1 to all of a chain.
func (z *zarr) block(v *variable) int {
	return min(z.Draws, max(1, chunkNumbers/max(1, v.size())))
}

// write holds a draw back until its chunk is full, or the chain has ended.
func (z *zarr) write(d Draw) error {
	for _, v := range z.vars {
		if v.of == nil {
			continue
		}
		block := z.block(v)
		full := block * v.size()
		held := append(v.data[d.Chain], v.of(d)...)
		v.data[d.Chain] = held
		if len(held) < full && d.Index < z.Draws-1 {
			continue
		}
		// The last chunk of a chain is as long as the others: readers cut it by the shape.
		held = append(held, make([]float64, full-len(held))...)
		v.data[d.Chain] = held[:0]
		place := append([]int{d.Chain, d.Index / block}, make([]int, len(v.shape))...)
		if err := z.chunk(v.path(), held, place); err != nil {
			return err
		}
	}
	return nil
}

// chunk writes numbers, a slice of float64 or int64, as the chunk of an array with the
// given index along each dimension.
func (z *zarr) chunk(array string, numbers any, place []int) error {
	b, err := binary.Append(nil, binary.LittleEndian, numbers)
	if err != nil {
		return err
	}
	name := strings.Trim(strings.ReplaceAll(fmt.Sprint(place), " ", "."), "[]")
	return z.to.save(array+"/"+name, b)
}
