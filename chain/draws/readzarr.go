package draws

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"gonum.org/v1/gonum/stat/combin"

	"hambench/compare"
)

// A zarr store is a folder. Each folder in it is a group, or an array if its metadata have a shape.
// An array is cut into chunks of one shape, along a grid; a chunk is a file of the array's folder,
// or of a folder below, named by its place in the grid. It holds its elements row-major, after the
// codecs. Two versions of the format say this in different words:
//
//	              version 2                        version 3
//	metadata      .zgroup, .zarray, .zattrs        zarr.json
//	type          "<f8", with the byte order       "float64"; the order is the codec bytes'
//	chunk (0, 1)  0.1                              c/0/1
//	codecs        one compressor                   a list, in the order of encoding
//	dimensions    the attribute of xarray's        dimension_names

// array is what is known of an array of a zarr store, of either version of the format.
type array struct {
	// The lengths of the array and of a chunk, in elements along each dimension.
	shape, chunk []int
	kind         byte // f, i, u or b: how its elements are written
	size         int  // of an element
	order        binary.ByteOrder
	fill         float64
	dims         []string                 // nil if it states none
	encoded      string                   // an attribute by which elements stand for other numbers
	codecs       []codec                  // in the order of decoding
	name         func(place []int) string // of a chunk's file, by its place in the grid of chunks
}

// codec is how the bytes of a chunk were made smaller, by the name that both versions of the
// format have for it.
type codec string

// meta is the metadata of an array or a group: .zarray and .zattrs of version 2, zarr.json of
// version 3 (zarr-specs.readthedocs.io).
type meta struct {
	// Of both versions.
	Shape []int           `json:"shape"`
	Fill  json.RawMessage `json:"fill_value"` // a number, or a string such as "NaN"

	// Of version 2. The type is a string of NumPy's such as "<f8": byte order, kind, bytes.
	Chunks     []int           `json:"chunks"`
	DType      json.RawMessage `json:"dtype"`
	Order      string          `json:"order"`
	Compressor *struct {
		ID string `json:"id"`
	} `json:"compressor"` // nil for none
	Filters   []any  `json:"filters"` // are not undone
	Separator string `json:"dimension_separator"`

	// Of version 3, whose codecs stand in the order of encoding.
	DataType string `json:"data_type"`
	Grid     struct {
		Name          string
		Configuration struct {
			Shape []int `json:"chunk_shape"`
		}
	} `json:"chunk_grid"`
	Keys struct {
		Name          string
		Configuration struct{ Separator string }
	} `json:"chunk_key_encoding"`
	Codecs []struct {
		Name          string
		Configuration struct{ Endian string }
	} `json:"codecs"`
	Dimensions []string `json:"dimension_names"`

	Attributes map[string]any `json:"attributes"` // of version 2 from .zattrs
}

// readMeta reads the metadata of an array or a group in a folder, of whichever version. A folder
// with metadata of both versions is taken as of version 3, the newer one.
func readMeta(folder string) (m meta, version int, err error) {
	for _, f := range []struct {
		name    string
		version int
	}{{"zarr.json", 3}, {".zarray", 2}, {".zgroup", 2}} {
		text, err := os.ReadFile(filepath.Join(folder, f.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			return m, 0, fmt.Errorf("%s: %w", f.name, err)
		}
		if f.version == 2 { // whose attributes have a file of their own, which may be missing
			text, err = os.ReadFile(filepath.Join(folder, ".zattrs"))
			if err == nil {
				err = json.Unmarshal(text, &m.Attributes)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return m, 0, fmt.Errorf(".zattrs: %w", err)
			}
		}
		return m, f.version, nil
	}
	return m, 0, errors.New("no zarr store: want .zgroup or zarr.json in it")
}

// openZarr reads the arrays of a group of a store that have the shape (chain, draw, …): of
// the group of predictions if these are wanted, of the posterior, or of the store itself.
func openZarr(folder string, want nameSet) (compare.Side, error) {
	var b builder
	top, _, err := readMeta(folder)
	if err != nil {
		return b.side, err
	}
	// The groups are ArviZ's. Callers that state names want predictive values.
	group := "posterior"
	if want != nil {
		group = "predictions"
	}
	inside := filepath.Join(folder, group)
	if _, err := os.Stat(inside); err != nil {
		inside = folder
	}
	// As this program writes it (zarr.saveMetadata); 0 of stores that do not say it.
	b.side.Gradients, _ = top.Attributes["gradients"].(float64)
	entries, err := os.ReadDir(inside)
	if err != nil {
		return b.side, err
	}
	var names []string
	arrays := make(map[string]array)
	for _, e := range entries {
		// Coordinates (chain, draw) have one dimension; other files and folders are no arrays.
		m, version, err := readMeta(filepath.Join(inside, e.Name()))
		if !e.IsDir() || err != nil || len(m.Shape) < 2 {
			continue
		}
		a, err := m.array(version)
		if err != nil {
			return b.side, fmt.Errorf("array %s: %w", e.Name(), err)
		}
		if a.drawn() {
			names, arrays[e.Name()] = append(names, e.Name()), a
		}
	}
	// All names must be known before the first is used: theta0 is an element of theta, unless there
	// is an array theta besides.
	named := namingOf(names, want)
	for _, name := range names {
		err := b.addArray(filepath.Join(inside, name), name, arrays[name], named, want)
		if err != nil {
			return b.side, fmt.Errorf("array %s: %w", name, err)
		}
	}
	if err := once(b.side.Names); err != nil {
		return b.side, err
	}
	if len(b.side.Names) == 0 {
		return b.side, fmt.Errorf("no array of whole numbers, or of floats of 32 or 64 bits, "+
			"with the dimensions (chain, draw, …) in %s", inside)
	}
	b.side.Of = chainNames(inside, len(b.side.Chains))
	return b.side, nil
}

// chainNames are the coordinates of a group's chains as its own readers show them: the array
// chain, which a group with a part of the chains keeps, or 0, 1 … where that has no numbers.
func chainNames(group string, chains int) (of []string) {
	at := filepath.Join(group, "chain")
	var values []float64
	if m, version, err := readMeta(at); err == nil && slices.Equal(m.Shape, []int{chains}) {
		if a, err := m.array(version); err == nil && a.kind != 0 && a.encoded == "" {
			values, _ = a.read(at)
		}
	}
	for c := range chains {
		name := float64(c)
		if values != nil {
			name = values[c]
		}
		of = append(of, strconv.FormatFloat(name, 'g', -1, 64))
	}
	return of
}

// drawn reports whether an array holds numbers of draws. One that does not name its dimensions
// is taken to do so.
func (a array) drawn() bool {
	return a.kind != 0 && (a.dims == nil || slices.Equal(a.dims[:2], []string{"chain", "draw"}))
}

// addArray adds the columns of an array of the shape (chain, draw, …), one for each element of a
// draw. All arrays must have the chains and draws of the first.
func (b *builder) addArray(folder, name string, a array, named naming, want nameSet) error {
	if slices.Contains(a.shape[2:], 0) { // no elements, and so no columns
		return nil
	}
	if a.encoded != "" {
		return fmt.Errorf("its attribute %s says that its elements stand for other numbers: want "+
			"these", a.encoded)
	}
	values, err := a.read(folder)
	if err != nil {
		return err
	}
	chains, draws := a.shape[0], a.shape[1]
	if chains*draws == 0 {
		return errors.New("no draws")
	}
	if b.side.Chains == nil {
		b.side.Chains = make([][][]float64, chains)
		b.draws = draws
	} else if len(b.side.Chains) != chains || b.draws != draws {
		return fmt.Errorf("%d × %d draws, where another array has %d × %d", chains, draws,
			len(b.side.Chains), b.draws)
	}
	size := max(1, len(values)/max(1, chains*draws)) // elements of a draw
	for e := range size {
		column := named.element(name, named.place(name, a.shape[2:], e))
		if !want.has(column) {
			continue
		}
		b.side.Names = append(b.side.Names, column)
		for c := range chains {
			// Row-major: draws follow each other within a chain, and elements within a draw.
			x := make([]float64, draws)
			for i := range x {
				x[i] = values[(c*draws+i)*size+e]
			}
			b.side.Chains[c] = append(b.side.Chains[c], x)
		}
	}
	return nil
}

// maxElements bounds the elements of an array and of a chunk: 8 GiB of numbers.
const maxElements = 1 << 30

// array interprets the metadata of an array; kind is 0 if its elements are no numbers.
func (m meta) array(version int) (a array, err error) {
	a = array{shape: m.Shape, chunk: m.Chunks, order: binary.LittleEndian}
	// The name of a chunk's file is a prefix and its place. The kind is an element's type as NumPy
	// writes it, without its byte order: f8.
	separator, prefix, kind := ".", "", ""
	_ = json.Unmarshal(m.DType, &kind) // else a structure of several numbers
	if version == 2 {
		// xarray's convention, since version 2 has no names of dimensions.
		if names, ok := m.Attributes["_ARRAY_DIMENSIONS"].([]any); ok {
			for _, n := range names {
				a.dims = append(a.dims, fmt.Sprint(n))
			}
		}
		if m.Separator != "" {
			separator = m.Separator
		}
		if m.Compressor != nil {
			a.codecs = []codec{codec(m.Compressor.ID)}
		}
		if m.Order == "F" || len(m.Filters) > 0 {
			return a, errors.New("columns first, or filters: want order C, and none")
		}
		if strings.HasPrefix(kind, ">") {
			a.order = binary.BigEndian
		}
		kind = strings.TrimLeft(kind, "<>|")
	} else {
		a.dims, a.chunk = m.Dimensions, m.Grid.Configuration.Shape
		// Names may be null, one and all: then none is stated.
		if !slices.ContainsFunc(a.dims, func(name string) bool { return name != "" }) {
			a.dims = nil
		}
		// A chunk is c/0/1, unless the store keeps the names of version 2, 0.1.
		separator, prefix = "/", "c/"
		if m.Keys.Name == "v2" {
			separator, prefix = ".", ""
		}
		if s := m.Keys.Configuration.Separator; s != "" {
			separator, prefix = s, strings.Replace(prefix, "/", s, 1)
		}
		for _, c := range slices.Backward(m.Codecs) {
			if c.Name != "bytes" {
				a.codecs = append(a.codecs, codec(c.Name))
			} else if c.Configuration.Endian == "big" {
				a.order = binary.BigEndian
			}
		}
		kind = map[string]string{"float64": "f8", "float16": "f2", "complex64": "c8",
			"complex128": "c16", "float32": "f4", "int64": "i8", "int32": "i4",
			"int16": "i2", "int8": "i1", "uint64": "u8", "uint32": "u4", "uint16": "u2",
			"uint8": "u1", "bool": "b1"}[m.DataType]
	}
	// What element does not know is an error, not passed over as texts are: a comparison would
	// say nothing of these numbers.
	switch {
	case slices.Contains(strings.Fields("f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1"), kind):
		// A letter for the kind and a digit for the bytes of an element, as in f8.
		a.kind, a.size = kind[0], int(kind[1]-'0')
	case strings.IndexAny(kind, "fc") == 0:
		return a, fmt.Errorf("elements of the type %s: want whole numbers, or floats of 32 or 64 "+
			"bits", kind)
	}
	// CF conventions, section 8.1; of floats the number that stands for a missing one is NaN.
	for _, name := range []string{"scale_factor", "add_offset", "_FillValue"} {
		if m.Attributes[name] != nil && (name != "_FillValue" || a.kind != 'f') {
			a.encoded = name
		}
	}
	for _, c := range a.codecs {
		if !slices.Contains([]codec{"gzip", "zlib", "zstd", "blosc"}, c) {
			return a, fmt.Errorf("codec %s: want none, gzip, zlib, zstd or blosc", c)
		}
	}
	if len(a.chunk) != len(a.shape) || slices.Min(a.chunk) < 1 || slices.Min(a.shape) < 0 ||
		a.dims != nil && len(a.dims) != len(a.shape) {
		return a, fmt.Errorf("chunks %v of the shape %v: want one length each", a.chunk, a.shape)
	}
	if slices.Contains(a.dims, "chain") && slices.Contains(a.dims, "draw") && !a.drawn() &&
		a.kind != 0 {
		return a, fmt.Errorf("the dimensions %s: want chain and draw first",
			strings.Join(a.dims, ", "))
	}
	for _, lengths := range [][]int{a.shape, a.chunk} {
		elements := 1.0 // in floating point, which does not overflow
		for _, n := range lengths {
			elements *= float64(n)
		}
		if elements > maxElements {
			return a, fmt.Errorf("%v has %.3g elements: want at most %d", lengths, elements,
				maxElements)
		}
	}
	// Without a fill value a missing chunk is NaN, which a comparison refuses.
	a.fill = math.NaN()
	_ = json.Unmarshal(m.Fill, &a.fill) // "NaN" is what it is already
	if truth := false; a.kind == 'b' && json.Unmarshal(m.Fill, &truth) == nil {
		a.fill = 0
		if truth {
			a.fill = 1
		}
	}
	a.name = func(place []int) string {
		return prefix + strings.ReplaceAll(strings.Trim(fmt.Sprint(place), "[]"), " ", separator)
	}
	return a, nil
}

// read returns all elements, row-major. All chunks have the full length: those at the upper
// ends reach beyond the array. One without a file holds the fill value.
func (a array) read(folder string) ([]float64, error) {
	grid := make([]int, len(a.shape)) // chunks along each dimension
	for d, n := range a.shape {
		grid[d] = int(math.Ceil(float64(n) / float64(a.chunk[d])))
	}
	out := make([]float64, combin.Card(a.shape))
	inChunk := combin.Card(a.chunk)
	place, at := make([]int, len(a.shape)), make([]int, len(a.shape))
	for chunks := combin.NewCartesianGenerator(grid); chunks.Next(); {
		chunks.Product(place)
		data, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(a.name(place))))
		missing := errors.Is(err, fs.ErrNotExist)
		for i := 0; i < len(a.codecs) && err == nil; i++ {
			data, err = a.codecs[i].decode(data, inChunk*a.size)
		}
		if err == nil && len(data) != inChunk*a.size {
			err = fmt.Errorf("%d bytes: want %d", len(data), inChunk*a.size)
		}
		if err != nil && !missing {
			return nil, fmt.Errorf("chunk %s: %w", a.name(place), err)
		}
		for i := range inChunk {
			combin.SubFor(at, i, a.chunk) // within the chunk
			inside := true
			// The last chunk along a dimension may reach beyond the array: what it holds there is
			// passed over.
			for d := range at {
				at[d] += place[d] * a.chunk[d] // within the array
				inside = inside && at[d] < a.shape[d]
			}
			switch {
			case inside && missing:
				out[combin.IdxFor(at, a.shape)] = a.fill
			case inside:
				out[combin.IdxFor(at, a.shape)] = a.element(data[i*a.size:])
			}
		}
	}
	return out, nil
}

// element reads one number, from the bytes that begin with it. Whole numbers of more than 53
// bits are rounded.
func (a array) element(b []byte) float64 {
	var bits uint64
	switch a.size {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(a.order.Uint16(b))
	case 4:
		bits = uint64(a.order.Uint32(b))
	default:
		bits = a.order.Uint64(b)
	}
	switch {
	case a.kind == 'f' && a.size == 4:
		return float64(math.Float32frombits(uint32(bits)))
	case a.kind == 'f':
		return math.Float64frombits(bits)
	case a.kind == 'i': // the shift back repeats the sign
		shift := 64 - 8*a.size
		return float64(int64(bits<<shift) >> shift)
	}
	return float64(bits)
}

// decode undoes a codec. The codecs are those that meta.array lets through. Of a chunk that has
// more than `most` bytes, which is wrong, no more than a little is decompressed.
func (c codec) decode(data []byte, most int) ([]byte, error) {
	var r io.Reader
	var err error
	switch c {
	case "gzip":
		r, err = gzip.NewReader(bytes.NewReader(data))
	case "zlib":
		r, err = zlib.NewReader(bytes.NewReader(data))
	case "zstd":
		return unzstd(data, most)
	default:
		return unblosc(data, most)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, int64(most)+slack))
}

// slack is what a chunk may have beyond its numbers: the frames of codecs that follow each other.
const slack = 1 << 16

// unzstd decompresses one frame of Zstandard or several, whose number of bytes need not be known.
func unzstd(data []byte, most int) ([]byte, error) {
	// A frame's window may be larger than what is in it: 128 MiB at the highest level.
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(uint64(most)+1<<27))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(data, nil)
}

// Blosc's header (github.com/Blosc/c-blosc, README_CHUNK_FORMAT), little-endian:
//
//	bytes 0, 1    versions
//	byte 2        flags
//	byte 3        bytes of an element
//	bytes 4–7     bytes of all data, decompressed
//	bytes 8–11    bytes of a block, decompressed
//	bytes 12–15   bytes of all data, compressed
//	from 16 on    the place of each block, four bytes each
const (
	bloscHeader                   = 16
	bloscShuffled, bloscCopied    = 0x1, 0x2
	bloscBits, bloscWhole         = 0x4, 0x10 // bits shuffled; blocks not cut into streams
	bloscLZ4, bloscZlib, bloscZst = 1, 3, 4   // the upper three bits of the flags
	bloscStream                   = 128       // shortest of a block's streams, one for each byte
)

var errBlosc = errors.New("blosc: the chunk ends early, or is none")

// unblosc undoes Blosc 1 with lz4, zlib or zstd. Blosc cuts the data into blocks, and most blocks
// into streams, one for each byte of an element after the shuffle; each stream is compressed on its
// own. Lengths are read from the data: one that leads beyond them panics, here and in unlz4, and
// is recovered as an error, in place of a check at each access. Go lets slices reach beyond a
// slice's length, up to its capacity: so the data must have none to spare.
func unblosc(data []byte, most int) (out []byte, err error) {
	defer func() {
		if recover() != nil { // a length beyond the data
			err = errBlosc
		}
	}()
	data = slices.Clip(data)
	flags, element := data[2], int(data[3])
	word := func(at int) int { return int(binary.LittleEndian.Uint32(data[at:])) }
	total, block := word(4), word(8)
	if total > most+slack {
		return nil, errBlosc
	}
	if flags&bloscCopied != 0 {
		return data[bloscHeader : bloscHeader+total], nil
	}
	if flags&bloscBits != 0 {
		return nil, errors.New("blosc with shuffled bits: want bytes, or none")
	}
	// With blocks of 0 bytes i*block never reaches the total: the loop ends when it looks for a
	// place beyond the data, which panics.
	for i := 0; i*block < total; i++ {
		length := min(block, total-i*block)
		// c-blosc's own rule, which the header does not state; the last, shorter block is never
		// cut.
		streams := 1
		if flags&bloscWhole == 0 && element <= bloscHeader && length == block &&
			block/element >= bloscStream {
			streams = element
		}
		// A stream is its length and its bytes, which are stored as they are where they would not
		// become fewer.
		// The block's place is counted from the beginning of the chunk, header included.
		at := word(bloscHeader + 4*i)
		var part []byte
		for range streams {
			n := word(at)
			body := data[at+4 : at+4+n]
			at += 4 + n
			if n < length/streams {
				switch flags >> 5 {
				case bloscLZ4:
					body = unlz4(body, length/streams)
				case bloscZlib:
					body, err = codec("zlib").decode(body, length)
				case bloscZst:
					body, err = unzstd(body, length)
				default:
					err = errors.New("blosc with blosclz or snappy: want lz4, zlib or zstd")
				}
				if err != nil {
					return nil, err
				}
			}
			part = append(part, body...)
		}
		if len(part) != length {
			return nil, errBlosc
		}
		if flags&bloscShuffled != 0 && element > 1 {
			part = unshuffle(part, element)
		}
		out = append(out, part...)
	}
	return out, nil
}

// unshuffle puts the bytes of elements together again: shuffled, all first bytes stand before
// all second ones. What is left of a part of an element at the end stays as it is.
func unshuffle(b []byte, size int) []byte {
	out, n := slices.Clone(b), len(b)/size
	for i := range n {
		for k := range size {
			out[i*size+k] = b[k*n+i]
		}
	}
	return out
}

// unlz4 decodes a block of LZ4 (github.com/lz4/lz4, lz4_Block_format): a token, whose halves
// are a number of literal bytes and the length of a copy less 4; the literals; and from how far
// back to copy. The last has literals alone.
func unlz4(in []byte, length int) []byte {
	out := make([]byte, 0, length)
	// long returns a length whose half of the token is n. If n is 15, the bytes at the start of in
	// are added to it, up to and including the first that is below 255, and are taken off in.
	long := func(n int) int {
		for more := n == 15; more; in = in[1:] {
			n += int(in[0])
			more = in[0] == 255
		}
		return n
	}
	for len(in) > 0 {
		token := in[0]
		in = in[1:]
		n := long(int(token >> 4))
		out, in = append(out, in[:n]...), in[n:]
		if len(in) == 0 {
			break
		}
		// The copy: from how far back in what is written, and of how many bytes.
		back := int(binary.LittleEndian.Uint16(in))
		in = in[2:]
		for range long(int(token&15)) + 4 { // byte by byte: a copy may overlap what it writes
			out = append(out, out[len(out)-back])
		}
	}
	return out
}
