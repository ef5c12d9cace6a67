package draws

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"hambench/models/datasets"
)

// variable is an array of a group: of all draws, with the shape (chain, draw, …), or
// constant. All elements are float64; coordinates, which are not, are no variables.
type variable struct {
	group, name string
	// dims are the dimensions without chain and draw.
	dims []dimension
	// of returns the numbers of a draw, row-major; nil for a constant.
	of func(Draw) []float64
	// data holds the draws that are not yet written, by chain; or the constant.
	data [][]float64
}

// dimension is a dimension of an array, with its coordinate, []int64 or []string; nil if it
// has none. A coordinate is an array of its own, of one dimension with its name, in each group that
// has the dimension: so xarray finds it.
type dimension struct {
	name       string
	length     int
	coordinate any
}

// path is the array's place in the folder, with slashes.
func (v *variable) path() string { return v.group + "/" + v.name }

// variables lists the arrays by the groups in which ArviZ expects them, with their
// dimensions:
//
//	posterior/theta                    chain, draw, theta_dim_0
//	sample_stats/lp, energy            chain, draw
//	predictions/f                      chain, draw, row, and class if there are three or more
//	predictions/y                      chain, draw, row
//	predictions_constant_data/x, y     row, feature; row
//	posterior_predictive/f, y          as predictions, of the training rows
//	log_likelihood/y                   chain, draw, row
//	constant_data/x, observed_data/y   row, feature; row
//
// Without test rows f has the dimension f_dim_0.
func (h Header) variables() []*variable {
	var all []*variable
	// drawn adds an array of all draws, constant one that they share.
	drawn := func(group, name string, of func(Draw) []float64, dims ...dimension) {
		all = append(all, &variable{group, name, dims, of, make([][]float64, h.Chains)})
	}
	constant := func(group, name string, data []float64, dims ...dimension) {
		all = append(all, &variable{group, name, dims, nil, [][]float64{data}})
	}
	drawn("posterior", "theta", func(d Draw) []float64 { return d.Theta },
		dimension{"theta_dim_0", h.Dim, coordinate(h.Parameters)})
	drawn("sample_stats", "lp", func(d Draw) []float64 { return []float64{d.LogDensity} })
	drawn("sample_stats", "energy", func(d Draw) []float64 { return []float64{d.Energy} })
	// Outputs that are no predictions of rows, such as those of the model
	// crossing, have only numbers.
	f := func(d Draw) []float64 { return d.Predictions }
	if !WholeRows(h.Split, h.Outputs) {
		drawn("predictions", "f", f, dimension{"f_dim_0", h.Outputs, nil})
		return all
	}
	test := predicted(h.Split)
	drawn("predictions", "f", f, test...)
	if h.Likelihood {
		drawn("predictions", "y", func(d Draw) []float64 { return d.Targets }, test[0])
	}
	feature := dimension{"feature", h.Split.Features, coordinate(h.Split.FeatureNames)}
	constant("predictions_constant_data", "x", h.Split.TestX, test[0], feature)
	constant("predictions_constant_data", "y", targets(h.Split), test[0])
	if h.InSample {
		in := h.Split.InSample()
		train := predicted(in)
		drawn("posterior_predictive", "f",
			func(d Draw) []float64 { return d.Train.Predictions }, train...)
		drawn("posterior_predictive", "y",
			func(d Draw) []float64 { return d.Train.Targets }, train[0])
		drawn("log_likelihood", "y",
			func(d Draw) []float64 { return d.Train.LogLikelihood }, train[0])
		constant("constant_data", "x", in.TestX, train[0], feature)
		constant("observed_data", "y", targets(in), train[0])
	}
	return all
}

// predicted returns the dimensions of predictions of a split's test rows. Rows have their
// numbers in the data set.
func predicted(s *datasets.Split) []dimension {
	at := make([]int64, s.TestRows())
	for i := range at {
		at[i] = int64(i)
		if s.TestAt != nil {
			at[i] = int64(s.TestAt[i])
		}
	}
	dims := []dimension{{"row", len(at), at}}
	if s.Classes > 2 {
		dims = append(dims, dimension{"class", s.Classes, coordinate(s.ClassNames)})
	}
	return dims
}

// WholeRows reports whether so many outputs are predictions of a split's test rows: one for
// each, or for each of its classes if they are three or more.
func WholeRows(s *datasets.Split, outputs int) bool {
	if s == nil || s.TestRows() == 0 {
		return false
	}
	if s.Classes > 2 {
		return outputs == s.TestRows()*s.Classes
	}
	return outputs == s.TestRows()
}

// coordinate returns names as a coordinate, nil if there are none.
func coordinate(names []string) any {
	if names == nil {
		return nil
	}
	return names
}

// targets returns the targets of a split's test rows, or the numbers of their classes.
func targets(s *datasets.Split) []float64 {
	if s.Task == datasets.Regression {
		return s.TestY
	}
	var all []float64
	for _, label := range s.TestLabels {
		all = append(all, float64(label))
	}
	return all
}

// size returns the number of elements of a draw, or of a constant; 1 of one without dimensions.
func (v *variable) size() int {
	n := 1
	for _, d := range v.dims {
		n *= d.length
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
	// files holds the metadata by their places in the folder, to be written as JSON.
	files     map[string]any
	gradients float64 // of all draws so far
}

// chunkNumbers is about the number of elements of a chunk: a mebibyte.
const chunkNumbers = 1 << 17

// newZarr writes what does not depend on the draws, constants and coordinates, and
// collects the metadata of each array and group.
func newZarr(to *output, h Header) (form, error) {
	format := map[string]int{"zarr_format": 2}
	files := map[string]any{".zgroup": format}
	z := &zarr{Header: h, to: to, vars: h.variables(), files: files}
	// describe adds the metadata of an array of a type such as <f8. xarray reads the
	// names of the dimensions from the attribute _ARRAY_DIMENSIONS. No chunk is ever missing, so
	// that there is no fill value.
	describe := func(array, kind string, dims []dimension, chunks []int) {
		var names []string
		var shape []int
		for _, d := range dims {
			names, shape = append(names, d.name), append(shape, d.length)
		}
		files[array+"/.zattrs"] = map[string]any{"_ARRAY_DIMENSIONS": names}
		files[array+"/.zarray"] = map[string]any{
			"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": kind, "order": "C",
			"compressor": nil, "filters": nil, "fill_value": nil,
		}
	}
	// constant adds an array whose numbers are known, and writes them as one chunk.
	constant := func(array, kind string, dims []dimension, data any) error {
		var shape []int
		for _, d := range dims {
			shape = append(shape, d.length)
		}
		describe(array, kind, dims, shape)
		return z.chunk(array, data, make([]int, len(shape)))
	}
	for _, v := range z.vars {
		files[v.group+"/.zgroup"] = format
		dims := v.dims
		var err error
		if v.of == nil {
			err = constant(v.path(), "<f8", dims, v.data[0])
		} else {
			// A chunk has whole draws of one chain: chunk (c, k, 0, …) begins with draw k·block of
			// chain c.
			dims = append([]dimension{{"chain", h.Chains, counting(h.Chains)},
				{"draw", h.Draws, counting(h.Draws)}}, dims...)
			chunks := []int{1, z.block(v)}
			for _, d := range v.dims {
				chunks = append(chunks, d.length)
			}
			describe(v.path(), "<f8", dims, chunks)
		}
		// Coordinates are numbers, <i8, unless they are names. Two arrays of a group may share a
		// dimension, such as chain: its coordinate is then written twice, with the same bytes.
		for _, d := range dims {
			kind, data := "<i8", d.coordinate
			if names, ok := data.([]string); ok {
				kind, data = fixedWidth(names)
			}
			if data != nil {
				err = errors.Join(err, constant(v.group+"/"+d.name, kind, []dimension{d}, data))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return z.write, nil
}

// saveMetadata writes it, in files of their own and repeated in one (.zmetadata) so that a
// reader need not open all of them. The attributes state what the draws cost.
func (z *zarr) saveMetadata() error {
	attributes := make(map[string]any)
	maps.Copy(attributes, z.Attributes)
	// Last: a setting of an integrator may have this name, too.
	attributes["gradients"] = z.gradients
	z.files[".zattrs"], z.files["posterior/.zattrs"] = attributes, attributes
	// The copy is made before .zmetadata is one of the files: it does not list itself.
	z.files[".zmetadata"] = map[string]any{
		"zarr_consolidated_format": 1, "metadata": maps.Clone(z.files),
	}
	for name, value := range z.files {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if err := z.to.save(name, text); err != nil {
			return err
		}
	}
	return nil
}

// counting returns the coordinates of n chains or draws: 0, 1 … n − 1.
func counting(n int) (numbers []int64) {
	for i := range n {
		numbers = append(numbers, int64(i))
	}
	return numbers
}

// fixedWidth returns names as numpy writes them, all of one length in UTF-32, and their type, such
// as <U7. Names of their own lengths would need a filter, which not all readers have.
func fixedWidth(names []string) (kind string, data []rune) {
	width := 1
	for _, name := range names {
		width = max(width, len([]rune(name)))
	}
	for _, name := range names {
		// Shorter names end in zero code points, as in NumPy's own arrays.
		padded := make([]rune, width)
		copy(padded, []rune(name))
		data = append(data, padded...)
	}
	return fmt.Sprintf("<U%d", width), data
}

// block returns the number of draws of a chunk, from 1 to all of a chain.
func (z *zarr) block(v *variable) int {
	return min(z.Draws, max(1, chunkNumbers/max(1, v.size())))
}

// write holds a draw back until its chunk is full, or the chain has ended. After the last draw
// it writes the metadata.
func (z *zarr) write(d Draw) error {
	z.gradients += d.Gradients
	for _, v := range z.vars {
		if v.of == nil {
			continue
		}
		block := z.block(v)
		full := block * v.size() // elements of a chunk
		held := append(v.data[d.Chain], v.of(d)...)
		v.data[d.Chain] = held
		if len(held) < full && d.Index < z.Draws-1 {
			continue
		}
		// The last chunk of a chain is as long as the others: readers cut it by the shape.
		held = append(held, make([]float64, full-len(held))...)
		v.data[d.Chain] = held[:0] // its memory serves the next chunk
		// A chunk is as long as a draw along the draw's own dimensions: its place there is 0.
		place := append([]int{d.Chain, d.Index / block}, make([]int, len(v.dims))...)
		if err := z.chunk(v.path(), held, place); err != nil {
			return err
		}
	}
	// Draws come draw by draw, and within a draw chain by chain: this is the last.
	if d.Chain == z.Chains-1 && d.Index == z.Draws-1 {
		return z.saveMetadata()
	}
	return nil
}

// chunk writes numbers, a slice of float64, int64 or runes, as the chunk of an array with the
// given index along each dimension.
func (z *zarr) chunk(array string, numbers any, place []int) error {
	b, err := binary.Append(nil, binary.LittleEndian, numbers)
	if err != nil {
		return err
	}
	name := strings.Trim(strings.ReplaceAll(fmt.Sprint(place), " ", "."), "[]") // such as 0.3.0
	return z.to.save(array+"/"+name, b)
}
