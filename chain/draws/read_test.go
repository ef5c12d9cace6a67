package draws

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"hambench/compare"
	"hambench/usage"
)

// testdata/zarr.zip holds stores that zarr 3.4 of Python wrote: in both versions of the
// format, theta[k] = sin(0.1 i²) + (i mod 2)/4 at the i-th place of 2 chains × 70 draws × 2, and
// n, whole numbers, in chunks of 40 draws.
func TestZarrIsReadWithEachCodec(t *testing.T) {
	folder := t.TempDir()
	z, err := zip.OpenReader("testdata/zarr.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if err := os.CopyFS(folder, z); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"v2-none", "v2-blosc", "v2-zstd", "v3-gzip", "v3-zstd", "v3-blosc"} {
		side, err := Read(t.Context(), []string{filepath.Join(folder, name)}, nil)
		if err != nil || !slices.Equal(side.Names, []string{"n", "theta[1]", "theta[2]"}) || len(side.Chains) != 2 || side.Gradients != 1400 {
			t.Fatalf("%s: %v, %v, %g", name, side.Names, err, side.Gradients)
		}
		for c, chain := range side.Chains {
			for d := range 70 {
				i := float64((c*70 + d) * 2)
				if chain[0][d] != float64((c*70+d)%5) || math.Abs(chain[1][d]-math.Sin(i*i*0.1)) > 1e-9 || math.Abs(chain[2][d]-math.Sin((i+1)*(i+1)*0.1)-0.25) > 1e-9 {
					t.Fatalf("%s: chain %d, draw %d: %v, %v, %v", name, c, d, chain[0][d], chain[1][d], chain[2][d])
				}
			}
		}
	}
	// A chunk that is all false may be left out; dimensions without a name are those of draws.
	bare := filepath.Join(folder, "bare")
	for metadata, want := range map[string]string{
		`{"zarr_format":2,"shape":[2,5],"chunks":[1,5],"dtype":"|b1","compressor":null,"fill_value":false,"order":"C","filters":null}`: "",
		`{"zarr_format":2,"shape":[0,5],"chunks":[1,5],"dtype":"|b1","compressor":null,"fill_value":false,"order":"C","filters":null}`: "no draws",
		`{"zarr_format":2,"shape":[2,0],"chunks":[1,1],"dtype":"|b1","compressor":null,"fill_value":false,"order":"C","filters":null}`: "no draws",
		`{"zarr_format":3,"node_type":"array","shape":[2,5],"data_type":"bool","dimension_names":[null,null],"fill_value":false,"codecs":[{"name":"bytes"}],
			"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[1,5]}},"chunk_key_encoding":{"name":"default"}}`: "",
	} {
		file, group := ".zarray", `{"zarr_format":2}`
		if strings.Contains(metadata, "node_type") {
			file, group = "zarr.json", `{"zarr_format":3,"node_type":"group"}`
		}
		top := map[string]string{".zarray": ".zgroup", "zarr.json": "zarr.json"}[file]
		err := errors.Join(os.RemoveAll(bare), os.MkdirAll(filepath.Join(bare, "b"), 0o700),
			os.WriteFile(filepath.Join(bare, top), []byte(group), 0o600), os.WriteFile(filepath.Join(bare, "b", file), []byte(metadata), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		side, err := Read(t.Context(), []string{bare}, nil)
		if want == "" && (err != nil || len(side.Chains) != 2 || !slices.Equal(side.Chains[1][0], make([]float64, 5))) ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %v, want %q", metadata, side, err, want)
		}
	}
	// The chains that are left of four: their numbers, and what is no number.
	named := filepath.Join(folder, "v2-none", "posterior", "chain")
	for _, c := range []struct{ kind, data, first string }{{"<i2", "\x01\x00\x03\x00", "1"}, {"|S2", "a\x00b\x00", "0"}} {
		metadata := `{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"` + c.kind + `","compressor":null,"fill_value":null,"order":"C","filters":null}`
		err := errors.Join(os.MkdirAll(named, 0o700), os.WriteFile(filepath.Join(named, ".zarray"), []byte(metadata), 0o600), os.WriteFile(filepath.Join(named, "0"), []byte(c.data), 0o600))
		side, failed := Read(t.Context(), []string{filepath.Join(folder, "v2-none")}, nil)
		if err := errors.Join(err, failed); err != nil || !strings.HasPrefix(side.Of[0], "chain "+c.first+" of ") {
			t.Errorf("coordinates of the type %s: %v, %v", c.kind, side.Of, err)
		}
	}
	// An array of draws that is not read would leave its parameter out of a comparison, without a word.
	other := filepath.Join(folder, "v2-none", "posterior", "other")
	for dims, wants := range map[string]map[string]string{
		`"chain","draw"`: {"<f2": "array other: elements of the type f2", "<c16": "array other: elements of the type c16", "<U3": ""},
		`"draw","chain"`: {"<f8": "array other: the dimensions draw, chain: want chain and draw first", "<U3": ""},
	} {
		for kind, want := range wants {
			metadata := `{"zarr_format":2,"shape":[2,70],"chunks":[2,70],"dtype":"` + kind + `","compressor":null,"fill_value":0,"order":"C","filters":null}`
			err := errors.Join(os.MkdirAll(other, 0o700), os.WriteFile(filepath.Join(other, ".zarray"), []byte(metadata), 0o600),
				os.WriteFile(filepath.Join(other, ".zattrs"), []byte(`{"_ARRAY_DIMENSIONS":[`+dims+`]}`), 0o600))
			_, failed := Read(t.Context(), []string{filepath.Join(folder, "v2-none")}, nil)
			if err != nil || (failed == nil) != (want == "") || want != "" && !strings.Contains(failed.Error(), want) {
				t.Errorf("%s of %s: %v, %v: want %q", kind, dims, err, failed, want)
			}
		}
	}
	if err := os.RemoveAll(other); err != nil {
		t.Fatal(err)
	}
	both, err := Read(t.Context(), []string{filepath.Join(folder, "v2-none"), filepath.Join(folder, "v3-gzip")}, nil)
	if err != nil || len(both.Chains) != 4 || both.Gradients != 2800 {
		t.Errorf("two files: %v, %d chains, %g gradients: want 4, 2800", err, len(both.Chains), both.Gradients)
	}
	chunk := filepath.Join(folder, "v2-blosc", "posterior", "theta", "1.0.0")
	whole, err := os.ReadFile(chunk)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func() error{
		"v2-lzma":                      func() error { return nil },
		"v2-blosc: the end is missing": func() error { return os.WriteFile(chunk, whole[:len(whole)/2], 0o600) },
		"v2-blosc: 300 bytes are gone": func() error { return os.WriteFile(chunk, whole[:len(whole)-300], 0o600) },
		"v2-blosc: a byte is missing":  func() error { return os.WriteFile(chunk, whole[:len(whole)-1], 0o600) },
		"v2-blosc: nothing is there":   func() error { return os.WriteFile(chunk, nil, 0o600) },
	} {
		store, _, _ := strings.Cut(name, ":")
		err := damage()
		if err == nil {
			_, err = Read(t.Context(), []string{filepath.Join(folder, store)}, nil)
		}
		if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), "array ") {
			t.Errorf("%s: %v: want a usage error that names the array", name, err)
		}
	}
}

// What this program writes is read back, with what it cost: the types of zarr are written with
// escapes. Lines of parameters have no predictions.
func TestOwnDrawsAreReadBack(t *testing.T) {
	for _, format := range []string{"zarr", "jsonl"} {
		text, file := written(t, format, header)
		if format == "jsonl" {
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		side, err := Read(t.Context(), []string{file}, nil)
		if err != nil || len(side.Chains) != header.Chains || side.Names[0] != "theta[1]" || side.Gradients != 2.5*14 {
			t.Fatalf("%s: %v, %v, %g", format, side.Names, err, side.Gradients)
		}
		for c := range header.Chains {
			if want := fmt.Sprintf("chain %d of %s", c, file); side.Of[c] != want {
				t.Errorf("a chain is called %s: want %s", side.Of[c], want)
			}
			for i := range header.Draws {
				for j, v := range made(c, i).Theta {
					if side.Chains[c][j][i] != v {
						t.Fatalf("%s: chain %d, draw %d: %v: want %v", format, c, i, side.Chains[c][j][i], v)
					}
				}
			}
		}
	}
}

// zipped returns a zip with one file.
func zipped(t *testing.T, text string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	f, err := z.Create("draws.json")
	if err == nil {
		_, err = f.Write([]byte(text))
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// One file of each format has the same two chains of two columns.
func TestFormatsHoldTheSameDraws(t *testing.T) {
	dir := t.TempDir()
	want := compare.Side{Names: []string{"mu", "theta[1]"}, Chains: [][][]float64{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}}
	list := `[{"mu":[1,2],"theta[1]":[3,4]},{"theta[1]":[7,8],"mu":[5,6]}]`
	for file, text := range map[string]string{
		"own.csv":       "chain,draw,mu,theta0\n0,0,1,3\n1,0,5,7\n0,1,2,4\n1,1,6,8\n",
		"pandas.csv":    ",chain,mu,theta0\n0,0,1,3\n1,0,2,4\n2,1,5,7\n3,1,6,8\n",
		"cmdstanpy.csv": ",chain__,mu,theta0\n0,1.0,1,3\n1,1.0,2,4\n2,2.0,5,7\n3,2.0,6,8\n",
		"stan.csv":      "# model = m\nmu,theta.1,chain\n# Adaptation\n1,3,1\n2,4,1\n5,7,2\n6,8,2\n# Elapsed\n",
		"d.jsonl":       "{\"chain\":0,\"mu\":1,\"theta\":[3]}\n{\"chain\":0,\"mu\":2,\"theta\":[4]}\n{\"chain\":1,\"mu\":5,\"theta\":[7]}\n{\"chain\":1,\"theta\":[8],\"mu\":6}\n",
		"d.json":        list,
		"p/d.json.zip":  zipped(t, list),
	} {
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		got, err := Read(t.Context(), []string{path}, nil)
		if err != nil || !slices.Equal(got.Names, want.Names) {
			t.Fatalf("%s: %v, %v", file, got.Names, err)
		}
		for c := range want.Chains {
			for j := range want.Names {
				if !slices.Equal(got.Chains[c][j], want.Chains[c][j]) {
					t.Errorf("%s: chain %d, column %s: %v", file, c, want.Names[j], got.Chains[c][j])
				}
			}
		}
	}
	both := []string{filepath.Join(dir, "own.csv"), filepath.Join(dir, "stan.csv")}
	if got, err := Read(t.Context(), both, nil); err != nil || len(got.Chains) != 4 {
		t.Errorf("two files: %d chains, %v", len(got.Chains), err)
	}
	for want, text := range map[string]string{
		"d.json: JSON, where":         "",
		"cost.csv: no column mu":      "x,theta0\n1,2\n",
		"extra.csv: a column b":       "mu,theta0,b\n1,2,3\n",
		"words.jsonl: JSONL, where ":  "",
		"empty.csv: no header":        "",
		"text.csv: line 2, column mu": "mu,theta0\none,2\n",
	} {
		file, _, _ := strings.Cut(want, ":")
		path := filepath.Join(dir, file)
		if text != "" || file == "empty.csv" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Read(t.Context(), []string{both[0], path}, nil); !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
	for want, text := range map[string]string{
		"no draws": "", "draw 2 has 1 numbers, the first one 2": "{\"a\":1,\"b\":2}\n{\"a\":1}\n", "draw 1: a: x: want a number": "{\"a\":\"x\"}\n",
		"draw 2: two columns a: want one": "{\"a\":1,\"b\":2}\n{\"a\":1,\"b\":2,\"a\":3}\n", "draw 1: want an object": "[1,2]\n",
	} {
		path := filepath.Join(dir, "bad.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), []string{path}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "db", "posterior_database", "posteriors"), 0o755),
		os.WriteFile(filepath.Join(dir, "db", "posterior_database", "posteriors", "m.json"), []byte(`{"reference_posterior_name":"r"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	if file, err := PosteriorDB(filepath.Join(dir, "db"), "m"); err != nil || !strings.HasSuffix(filepath.ToSlash(file), "/db/posterior_database/reference_posteriors/draws/draws/r.json.zip") {
		t.Errorf("posteriordb: %s, %v", file, err)
	}
	if _, err := PosteriorDB(dir, "none"); !errors.As(err, new(*usage.Error)) {
		t.Errorf("posteriordb without the posterior: %v", err)
	}
}

// A first file without columns is not passed over for the next one.
func TestAFileWithoutColumnsIsNoFile(t *testing.T) {
	dir := t.TempDir()
	none, x := filepath.Join(dir, "none.csv"), filepath.Join(dir, "x.csv")
	if err := errors.Join(os.WriteFile(none, []byte("sample\n0\n"), 0o600), os.WriteFile(x, []byte("x\n1\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for want, files := range map[string][]string{
		"x.csv: a column x, which the first file has not": {none, x},
		"none.csv: no column x, which the first file has": {x, none},
	} {
		if _, err := Read(t.Context(), files, nil); !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}

// Metadata that describe no array are bad input, which names the array.
func TestMetadataOfNoArrayAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ array, attributes string }{
		"fewer names than dimensions": {`"shape":[2,3],"chunks":[2,3],"dtype":"<f8"`, `{"_ARRAY_DIMENSIONS":["chain"]}`},
		"a length below zero":         {`"shape":[-1,3],"chunks":[1,3],"dtype":"<f8"`, `{}`},
		"a chunk of length zero":      {`"shape":[2,3],"chunks":[2,0],"dtype":"<f8"`, `{}`},
		"a chunk below zero":          {`"shape":[2,3],"chunks":[2,-3],"dtype":"<f8"`, `{}`},
		"too many elements":           {`"shape":[1000000000000,1000000000000],"chunks":[1,1],"dtype":"<f8"`, `{}`},
		"too many in a chunk":         {`"shape":[2,3],"chunks":[1000000000000,1000000000000],"dtype":"<f8"`, `{}`},
		"elements of three bytes":     {`"shape":[2,3],"chunks":[2,3],"dtype":"<i3"`, `{}`},
		"draws of no elements":        {`"shape":[2,3,0],"chunks":[2,3,1],"dtype":"<f8"`, `{}`},
	} {
		folder := t.TempDir()
		array := filepath.Join(folder, "posterior", "theta")
		if err := errors.Join(os.MkdirAll(array, 0o755),
			os.WriteFile(filepath.Join(folder, ".zgroup"), []byte(`{"zarr_format":2}`), 0o600),
			os.WriteFile(filepath.Join(array, ".zarray"), []byte(`{"zarr_format":2,"order":"C",`+c.array+`}`), 0o600),
			os.WriteFile(filepath.Join(array, ".zattrs"), []byte(c.attributes), 0o600),
			os.WriteFile(filepath.Join(array, "0.0"), make([]byte, 18), 0o600)); err != nil {
			t.Fatal(err)
		}
		want := "array theta: "
		if name == "elements of three bytes" || name == "draws of no elements" {
			want = "no array of whole numbers" // they are passed over, like texts
		}
		if _, err := Read(t.Context(), []string{folder}, nil); !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want %q", name, err, want)
		}
	}
}

// storeOf makes a store of version 2 whose arrays of floats have one chunk each, of zeros.
func storeOf(t *testing.T, compressor string, chunk []byte, shapes map[string][]int) string {
	t.Helper()
	folder := t.TempDir()
	for name, shape := range shapes {
		array := filepath.Join(folder, filepath.FromSlash(name))
		lengths := strings.ReplaceAll(fmt.Sprint(shape), " ", ",")
		text := fmt.Sprintf(`{"zarr_format":2,"order":"C","dtype":"<f8","compressor":%s,"shape":%s,"chunks":%s}`,
			compressor, lengths, strings.Replace(lengths, "[0,", "[1,", 1))
		place := strings.Trim(strings.Repeat("0.", len(shape)), ".")
		if err := errors.Join(os.MkdirAll(array, 0o755),
			os.WriteFile(filepath.Join(folder, ".zgroup"), []byte(`{"zarr_format":2}`), 0o600),
			os.WriteFile(filepath.Join(array, ".zarray"), []byte(text), 0o600),
			os.WriteFile(filepath.Join(array, place), chunk, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// Arrays that add no column come before one that does, or stand alone.
func TestArraysWithoutColumnsAreNoTrouble(t *testing.T) {
	shapes := map[string][]int{"predictions/a": {2, 5}, "predictions/f": {2, 5}}
	wanted := storeOf(t, "null", make([]byte, 80), shapes)
	if side, err := Read(t.Context(), []string{wanted}, []string{"f"}); err != nil || !slices.Equal(side.Names, []string{"f"}) {
		t.Errorf("columns %v, %v", side.Names, err)
	}
	empty := storeOf(t, "null", nil, map[string][]int{"a": {0, 3}, "b": {0, 3}})
	if side, err := Read(t.Context(), []string{empty}, nil); err == nil && len(side.Chains) > 0 {
		t.Errorf("%d chains are read of none", len(side.Chains))
	}
}

// A chunk that would be far longer than its numbers is refused before it fills the memory.
func TestAChunkIsNoLongerThanItsNumbers(t *testing.T) {
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	for range 64 {
		w.Write(make([]byte, 1<<20))
	}
	w.Close()
	folder := storeOf(t, `{"id":"gzip"}`, bomb.Bytes(), map[string][]int{"a": {1, 30}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Read(t.Context(), []string{folder}, nil)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; err == nil || used > 8<<20 {
		t.Errorf("%v, after %d bytes of memory", err, used)
	}
}

// Whole numbers keep their signs, and a chunk without a file holds the fill value.
func TestWholeNumbersAndFillValuesAreRead(t *testing.T) {
	for kind, chunk := range map[string]string{
		"<i1": "\xff\x02", "<i2": "\xff\xff\x02\x00", ">i2": "\xff\xff\x00\x02",
		"<i4": "\xff\xff\xff\xff\x02\x00\x00\x00", "<i8": "\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x00\x00\x00",
	} {
		folder := t.TempDir()
		array := filepath.Join(folder, "n")
		text := `{"zarr_format":2,"order":"C","dtype":"` + kind + `","compressor":null,"shape":[1,4],"chunks":[1,2],"fill_value":7}`
		if err := errors.Join(os.MkdirAll(array, 0o755),
			os.WriteFile(filepath.Join(folder, ".zgroup"), []byte(`{"zarr_format":2}`), 0o600),
			os.WriteFile(filepath.Join(array, ".zarray"), []byte(text), 0o600),
			os.WriteFile(filepath.Join(array, "0.0"), []byte(chunk), 0o600)); err != nil {
			t.Fatal(err)
		}
		side, err := Read(t.Context(), []string{folder}, nil)
		if err != nil || !slices.Equal(side.Chains[0][0], []float64{-1, 2, 7, 7}) {
			t.Errorf("%s: %v, %v", kind, side.Chains, err)
		}
	}
}

// bigEndian are the bytes of 1.5 and −2 as float64, the highest one first.
const bigEndian = "\x3f\xf8\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x00"

// Types without a sign, floats of 32 bits, both orders of bytes and the names of chunks are those
// that the metadata of either version state; columns first, and filters, are refused.
func TestMetadataOfEitherVersionAreObeyed(t *testing.T) {
	two := func(kind, more string) string {
		return `{"zarr_format":2,"shape":[1,2],"chunks":[1,2],"compressor":null,"fill_value":0,` +
			`"dtype":"` + kind + `"` + more + `}`
	}
	three := func(kind, endian, keys string) string {
		return `{"zarr_format":3,"node_type":"array","shape":[1,2],"data_type":"` + kind + `",` +
			`"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[1,2]}},` +
			`"chunk_key_encoding":` + keys + `,"fill_value":0,` +
			`"codecs":[{"name":"bytes","configuration":{"endian":"` + endian + `"}}]}`
	}
	const single = "\x00\x00\xc0\x3f\x00\x00\x00\xc0" // 1.5 and −2
	for what, c := range map[string]struct {
		metadata, chunk, data string
		want                  []float64 // nil if it is refused
	}{
		"u1":         {two("|u1", ""), "0.0", "\xff\x02", []float64{255, 2}},
		"u2":         {two("<u2", ""), "0.0", "\xff\xff\x02\x00", []float64{65535, 2}},
		"f4":         {two("<f4", ""), "0.0", single, []float64{1.5, -2}},
		"big endian": {two(">f8", ""), "0.0", bigEndian, []float64{1.5, -2}},
		"a slash": {two("<f4", `,"dimension_separator":"/"`), "0/0", single,
			[]float64{1.5, -2}},
		"order C": {two("<f4", `,"order":"C","filters":null`), "0.0", single,
			[]float64{1.5, -2}},
		"columns first": {two("<f4", `,"order":"F"`), "0.0", single, nil},
		"a filter":      {two("<f4", `,"filters":[{"id":"delta"}]`), "0.0", single, nil},
		"version 3": {three("float32", "little", `{"name":"default"}`), "c/0/0", single,
			[]float64{1.5, -2}},
		"version 3, big endian": {three("float64", "big", `{"name":"default"}`), "c/0/0", bigEndian,
			[]float64{1.5, -2}},
		"version 3, points": {three("float32", "little",
			`{"name":"default","configuration":{"separator":"."}}`), "c.0.0", single,
			[]float64{1.5, -2}},
		"version 3, names of version 2": {three("float32", "little", `{"name":"v2"}`), "0.0",
			single, []float64{1.5, -2}},
		"version 3, u1": {three("uint8", "little", `{"name":"default"}`), "c/0/0", "\xff\x02",
			[]float64{255, 2}},
	} {
		files := map[string]string{".zgroup": `{"zarr_format":2}`, "x/.zarray": c.metadata}
		if strings.HasPrefix(what, "version 3") {
			files = map[string]string{
				"zarr.json": `{"zarr_format":3,"node_type":"group"}`, "x/zarr.json": c.metadata,
			}
		}
		files["x/"+c.chunk] = c.data
		folder := t.TempDir()
		for name, text := range files {
			path := filepath.Join(folder, filepath.FromSlash(name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
				os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		side, err := Read(t.Context(), []string{folder}, nil)
		switch {
		case c.want == nil:
			const want = "array x: columns first, or filters: want order C, and none"
			if !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", what, err, want)
			}
		case err != nil || !slices.Equal(side.Chains[0][0], c.want):
			t.Errorf("%s: %v, %v: want %v", what, side.Chains, err, c.want)
		}
	}
}

// Elements are named by their places from 1; predictions, where they are wanted, by their place in
// one list from 0.
func TestElementsAreNamedByTheirPlaces(t *testing.T) {
	for _, c := range []struct {
		name  string
		shape []int
		e     int
		want  string
		asF   string // where predictions are wanted
	}{
		{"mu", nil, 0, "mu", "mu"}, {"theta3", nil, 0, "theta[4]", "theta3"}, {"f3", nil, 0, "f[4]", "f3"},
		{"x", []int{5}, 2, "x[3]", "x[3]"}, {"x", []int{2, 3}, 4, "x[2,2]", "x[2,2]"},
		{"f", []int{5}, 2, "f[3]", "f2"}, {"f", []int{2, 3}, 4, "f[2,2]", "f4"},
	} {
		for _, n := range []naming{{}, {predictions: true}} {
			want := c.want
			if n.predictions {
				want = c.asF
			}
			if got := n.element(c.name, n.place(c.name, c.shape, c.e)); got != want {
				t.Errorf("element %d of %s %v is %s, want %s", c.e, c.name, c.shape, got, want)
			}
		}
	}
}

// A vector theta or f has the same names in each format, of this program's CSV, too; a number theta0
// beside a vector theta, say its mean in a hierarchical model, is another parameter, and so is f0
// beside f. Two columns of one name are refused in each format.
func TestEachFormatHasTheSameNames(t *testing.T) {
	float := func(of ...float64) string {
		var b bytes.Buffer
		if err := binary.Write(&b, binary.LittleEndian, of); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	// store is a store of version 2 of one chain, of two draws of each array.
	store := func(arrays map[string]string) string {
		folder := t.TempDir()
		err := os.WriteFile(filepath.Join(folder, ".zgroup"), []byte(`{"zarr_format":2}`), 0o600)
		for name, data := range arrays {
			shape, place := "[1,2]", "0.0"
			if len(data) > 16 {
				shape, place = "[1,2,2]", "0.0.0"
			}
			array := filepath.Join(folder, name)
			err = errors.Join(err, os.MkdirAll(array, 0o755), os.WriteFile(filepath.Join(array, place), []byte(data), 0o600),
				os.WriteFile(filepath.Join(array, ".zarray"), []byte(`{"zarr_format":2,"shape":`+shape+`,"chunks":`+shape+`,"dtype":"<f8"}`), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
		return folder
	}
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, v := range []string{"theta", "f"} {
		named := func(text string) string { return strings.ReplaceAll(text, "V", v) }
		for _, c := range []struct {
			files []string
			want  string
		}{
			{[]string{
				file("own.csv", named("V0,V1\n1,2\n3,4\n")), file("stan.csv", named("V.1,V.2\n1,2\n3,4\n")),
				file("d.jsonl", named("{\"V\":[1,2]}\n{\"V\":[3,4]}\n")), file("d.json", named(`[{"V[1]":[1,3],"V[2]":[2,4]}]`)),
				store(map[string]string{v: float(1, 2, 3, 4)}),
			}, named("V[1] V[2]")},
			{[]string{
				file("both.csv", named("V0,V.1,V.2\n5,1,2\n6,3,4\n")), file("posteriordb.csv", named("V0,\"V[1]\",\"V[2]\"\n5,1,2\n6,3,4\n")),
				file("both.jsonl", named("{\"V\":[1,2],\"V0\":5}\n{\"V\":[3,4],\"V0\":6}\n")),
				file("both.json", named(`[{"V0":[5,6],"V[1]":[1,3],"V[2]":[2,4]}]`)),
				store(map[string]string{v: float(1, 2, 3, 4), v + "0": float(5, 6)}),
			}, named("V0 V[1] V[2]")},
		} {
			for _, path := range c.files {
				side, err := Read(t.Context(), []string{path}, nil)
				if err != nil {
					t.Errorf("%s: %v", path, err)
					continue
				}
				names := slices.Sorted(slices.Values(side.Names))
				side = side.Ordered(names)
				if got := strings.Join(names, " "); got != c.want || !slices.Equal(side.Chains[0][len(names)-1], []float64{2, 4}) {
					t.Errorf("%s: %s of %v: want %s", path, got, side.Chains, c.want)
				}
			}
		}
	}
	for what, path := range map[string]string{
		"":         file("twice.csv", "x.1,\"x[1]\"\n1,2\n3,4\n"),
		"draw 1: ": file("twice.jsonl", "{\"x\":[1,2],\"x[1]\":5}\n{\"x\":[3,4],\"x[1]\":6}\n"),
		"draw 2: ": file("later.jsonl", "{\"x\":[1,2]}\n{\"x\":[3,4],\"x[1]\":6}\n"),
		"zarr":     store(map[string]string{"x": float(1, 2, 3, 4), "x[1]": float(5, 6)}),
		"want a list of chains with a list of numbers a column: ": file("same.json", `[{"x[1]":[1,2],"x[1]":[3,4]}]`),
	} {
		want := strings.TrimPrefix(what, "zarr") + "two columns x[1]: want one"
		if _, err := Read(t.Context(), []string{path}, nil); !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v: want %q", path, err, want)
		}
	}
}

// Readers join columns by their names, add warm-up rows, and invent no numbers.
func TestReadersKeepColumnsAndGaps(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		p := filepath.Join(dir, name)
		os.MkdirAll(filepath.Dir(p), 0o755)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	// Two files of Stan in another order of columns.
	a := put("a.csv", "x,y\n# w\n9,9\n# Adaptation terminated\n1,2\n")
	b := put("b.csv", "y,x\n8,8\n# Adaptation terminated\n4,3\n")
	s, err := Read(t.Context(), []string{a, b}, nil)
	if err != nil || s.Chains[1][0][0] != 3 || s.Chains[1][1][0] != 4 || s.WarmUp != 2 {
		t.Errorf("%+v %v", s, err)
	}
	// Arrays of different lengths are no draws.
	j := put("c.json", `[{"x":[1,2],"y":[1]}]`)
	if s, err := Read(t.Context(), []string{j}, nil); err == nil {
		t.Errorf("ragged JSON: %+v", s)
	}
	// A chunk that is not there is its fill value.
	for _, fill := range []string{`"NaN"`, "null"} {
		z := filepath.Join(dir, "z"+fill[1:2])
		put(filepath.Base(z)+"/.zgroup", `{"zarr_format":2}`)
		put(filepath.Base(z)+"/x/.zarray", `{"zarr_format":2,"shape":[1,2],"chunks":[1,2],"dtype":"<f8","compressor":null,"fill_value":`+fill+`,"order":"C","filters":null}`)
		if s, err := Read(t.Context(), []string{z}, nil); err != nil || !math.IsNaN(s.Chains[0][0][0]) {
			t.Errorf("fill %s: %+v %v", fill, s, err)
		}
		put(filepath.Base(z)+"/y/.zarray", `{"zarr_format":2,"shape":[1,3],"chunks":[1,3],"dtype":"<f8","compressor":null,"fill_value":1,"order":"C","filters":null}`)
		if s, err := Read(t.Context(), []string{z}, nil); err == nil {
			t.Errorf("ragged zarr: %+v", s)
		}
	}
}

// Other separators than commas are named.
func TestOtherSeparatorsAreNamed(t *testing.T) {
	for _, text := range []string{"a;b\n1;2\n", "a\tb\n1\t2\n"} {
		file := filepath.Join(t.TempDir(), "draws.csv")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), []string{file}, nil); !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), "want commas between columns") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A device may have no end, and this one has no draws.
func TestADeviceIsRefused(t *testing.T) {
	if _, err := Read(t.Context(), []string{os.DevNull}, nil); !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), os.DevNull+": is a device: want a file or a pipe") {
		t.Errorf("%v: want a usage error that says so", err)
	}
}

// Thousands of columns are read by their names. One by one the look-up of 8000 in each of 20 draws took ten
// seconds: where this test is slow, that is back.
func TestThousandsOfColumnsAreWanted(t *testing.T) {
	var names []string
	for i := range 8000 {
		names = append(names, fmt.Sprintf("theta[%d]", i+1))
	}
	file := filepath.Join(t.TempDir(), "draws.jsonl")
	line := `{"theta":[` + strings.Repeat("1,", len(names)-1) + "1]}\n"
	if err := os.WriteFile(file, []byte(strings.Repeat(line, 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	side, err := Read(t.Context(), []string{file}, names)
	if err != nil || len(side.Names) != len(names) {
		t.Errorf("%d columns, %v", len(side.Names), err)
	}
}

// What some of the draws cost is not what all do.
func TestCostsOfSomeDrawsAreNotThoseOfAll(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	known, unknown := write("known.jsonl", `{"a":1,"gradients":5}{"a":2,"gradients":5}`), write("unknown.jsonl", `{"a":3}{"a":4}`)
	some := write("some.jsonl", `{"a":1,"gradients":5}{"a":2}`)
	for _, c := range []struct {
		files []string
		want  float64
	}{{[]string{known}, 10}, {[]string{some}, 0}, {[]string{known, unknown}, 0}, {[]string{unknown, known}, 0}, {[]string{known, write("other.jsonl", `{"a":7,"gradients":5}`)}, 15}} {
		if side, err := Read(t.Context(), c.files, nil); err != nil || side.Gradients != c.want {
			t.Errorf("%v: %g gradients, %v, want %g", c.files, side.Gradients, err, c.want)
		}
	}
}
