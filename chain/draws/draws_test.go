package draws

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hambench/models/datasets"
)

var header = Header{
	Chains: 2, Draws: 7, Numbered: true, Dim: 5, Outputs: 6,
	Split: &datasets.Split{
		Task: datasets.Classification, Classes: 3, Features: 2, ClassNames: []string{"ape", "bird", "Ärger"},
		TestX: []float64{1, 2, 3, 4}, TestLabels: []int{0, 1}, TestAt: []int{7, 3},
		TrainX: []float64{5, 6}, TrainLabels: []int{2}, TrainAt: []int{1},
	},
	Likelihood: true, InSample: true, Parameters: []string{"a", "b", "c", "d", "e"},
	Attributes: map[string]any{"model": "made", "h": 0.1},
}

// made is a draw whose every number tells where it belongs.
func made(c, i int) Draw {
	d := Draw{Chain: c, Index: i, LogDensity: -float64(10*c + i), Energy: float64(10*c+i) + 0.5, Gradients: 2.5}
	for k := range header.Dim {
		d.Theta = append(d.Theta, float64(c)+float64(i)/10+float64(k)*math.Pi*1e-5)
	}
	for k := range header.Outputs {
		d.Predictions = append(d.Predictions, float64(100*c+10*i+k)/3)
	}
	d.Targets = []float64{float64(i % 3), float64(c)}
	d.Train.Predictions = []float64{float64(i), float64(c), 0.5}
	d.Train.Targets, d.Train.LogLikelihood = []float64{float64(i % 2)}, []float64{-float64(10*i + c)}
	return d
}

// written writes all draws in a format and returns what it is read back from.
func written(t *testing.T, name string, h Header) (text []byte, folder string) {
	t.Helper()
	f, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	folder = filepath.Join(t.TempDir(), "out."+name)
	w, err := New(f, &b, folder, h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range h.Draws {
		for c := range h.Chains {
			d := made(c, i)
			d.Predictions = append(d.Predictions, make([]float64, h.Outputs-header.Outputs)...)
			if err := w.Write(d); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := os.Stat(folder); err == nil {
		t.Errorf("%s: the folder has its name before it is complete", name)
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(folder), ".*")); len(left) > 0 {
		t.Errorf("%s: %v is left behind", name, left)
	}
	return b.Bytes(), folder
}

// wanted are the numbers of a variable in the order of chains, then of draws.
func wanted(of func(Draw) []float64) (all []float64) {
	for c := range header.Chains {
		for i := range header.Draws {
			all = append(all, of(made(c, i))...)
		}
	}
	return all
}

func theta(d Draw) []float64  { return d.Theta }
func f(d Draw) []float64      { return d.Predictions }
func lp(d Draw) []float64     { return []float64{d.LogDensity} }
func energy(d Draw) []float64 { return []float64{d.Energy} }

func TestLinesSayWhichDrawOfWhichChainTheyAre(t *testing.T) {
	for _, predictive := range []bool{false, true} {
		h, of := header, theta
		if h.Predictive = predictive; predictive {
			of = f
		}
		text, _ := written(t, "csv", h)
		records, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(first(written(t, "jsonl", h)))), "\n")
		if len(records) != 15 || len(lines) != 14 || !slices.Equal(records[0][:2], []string{"chain", "draw"}) {
			t.Fatalf("%d and %d lines, header %v", len(records), len(lines), records[0][:2])
		}
		for n, record := range records[1:] {
			var line struct {
				Chain, Draw int
				Theta, F    []float64
				Gradients   float64
			}
			if err := json.Unmarshal([]byte(lines[n]), &line); err != nil {
				t.Fatal(err)
			}
			i, c := n/2, n%2 // draw by draw
			if line.Chain != c || line.Draw != i || record[0] != strconv.Itoa(c) || record[1] != strconv.Itoa(i) {
				t.Fatalf("line %d is %v of csv, %d %d of jsonl, want draw %d of chain %d", n, record[:2], line.Chain, line.Draw, i, c)
			}
			if want := of(made(c, i)); !slices.Equal(append(line.Theta, line.F...), want) || predictive != (line.F != nil) || line.Gradients != 2.5 || !slices.Equal(numbers(t, record[2:]), want) {
				t.Fatalf("line %d has other numbers", n)
			}
		}
	}
}

// A prediction may be no number: a line of either form says so, and is read back as NaN.
func TestNumbersThatAreNotFiniteAreWrittenAndReadBack(t *testing.T) {
	for name, want := range map[string]string{
		"csv":   "sample,theta0,theta1,theta2\n0,0.1,NaN,+Inf\n",
		"jsonl": `{"sample":0,"theta":[0.1,null,null]}` + "\n",
	} {
		format, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "draws."+name)
		var text bytes.Buffer
		w, err := New(format, &text, "", Header{Chains: 1, Draws: 1, Dim: 3})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(w.Write(Draw{Theta: []float64{0.1, math.NaN(), math.Inf(1)}})); err != nil {
			t.Fatal(err)
		}
		if text.String() != want {
			t.Errorf("%s: %q, want %q", name, text.String(), want)
		}
		if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		side, err := Read(t.Context(), []string{file}, nil)
		if err != nil || side.Chains[0][0][0] != 0.1 || !math.IsNaN(side.Chains[0][1][0]) {
			t.Errorf("%s: read as %v, %v", name, side.Chains, err)
		}
	}
}

func first(text []byte, _ string) []byte { return text }

func numbers(t *testing.T, texts []string) (out []float64) {
	for _, s := range texts {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// readZarr reads an array of a store by the format's specification.
func readZarr(folder, name string) ([]float64, error) {
	var all struct {
		Metadata map[string]json.RawMessage
	}
	var array struct {
		Shape, Chunks []int
		Dtype         string
	}
	text, err := os.ReadFile(filepath.Join(folder, ".zmetadata"))
	err = errors.Join(err, json.Unmarshal(text, &all))
	own, err2 := os.ReadFile(filepath.Join(folder, name, ".zarray"))
	if err = errors.Join(err, err2); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(own, &array); err != nil || !bytes.Equal(own, all.Metadata[name+"/.zarray"]) {
		return nil, fmt.Errorf("metadata of %s: %v, %s", name, err, own)
	}
	size := func(shape []int) int {
		n := 1
		for _, k := range shape {
			n *= k
		}
		return n
	}
	out, at := make([]float64, size(array.Shape)), make([]int, len(array.Shape))
	chunks := make(map[string][]byte)
	for i := range out {
		left, inside := i, 0
		place := make([]string, len(at))
		for k := len(at) - 1; k >= 0; k-- {
			at[k], left = left%array.Shape[k], left/array.Shape[k]
			place[k] = strconv.Itoa(at[k] / array.Chunks[k])
		}
		for k := range at {
			inside = inside*array.Chunks[k] + at[k]%array.Chunks[k]
		}
		file := filepath.Join(folder, name, strings.Join(place, "."))
		chunk, err := chunks[file], error(nil)
		if chunk == nil {
			chunk, err = os.ReadFile(file)
			chunks[file] = chunk
		}
		if err != nil || len(chunk) != 8*size(array.Chunks) {
			return nil, fmt.Errorf("chunk %v of %s: %v, %d bytes", place, name, err, len(chunk))
		}
		bits := binary.LittleEndian.Uint64(chunk[8*inside:])
		if out[i] = math.Float64frombits(bits); array.Dtype == "<i8" {
			out[i] = float64(bits)
		}
	}
	return out, nil
}

func TestZarrIsReadByItsSpecification(t *testing.T) {
	_, folder := written(t, "zarr", header)
	for name, want := range map[string][]float64{
		"posterior/theta": wanted(theta), "sample_stats/lp": wanted(lp), "sample_stats/energy": wanted(energy),
		"posterior/chain": {0, 1}, "sample_stats/draw": {0, 1, 2, 3, 4, 5, 6},
		"predictions/f": wanted(f), "predictions/y": wanted(func(d Draw) []float64 { return d.Targets }),
		"predictions_constant_data/x": {1, 2, 3, 4}, "predictions_constant_data/y": {0, 1}, "predictions/row": {7, 3},
		"posterior_predictive/f": wanted(func(d Draw) []float64 { return d.Train.Predictions }),
		"posterior_predictive/y": wanted(func(d Draw) []float64 { return d.Train.Targets }),
		"log_likelihood/y":       wanted(func(d Draw) []float64 { return d.Train.LogLikelihood }),
		"constant_data/x":        {5, 6}, "observed_data/y": {2}, "observed_data/row": {1},
	} {
		if got, err := readZarr(folder, name); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v %v, want %v", name, err, got, want)
		}
	}
	for name, want := range map[string]string{"predictions/class": "ape  bird Ärger", "posterior/theta_dim_0": "abcde"} {
		text, err := os.ReadFile(filepath.Join(folder, name, "0"))
		var got strings.Builder
		for i := 0; i+4 <= len(text); i += 4 {
			got.WriteRune(max(' ', rune(binary.LittleEndian.Uint32(text[i:]))))
		}
		if err != nil || got.String() != want {
			t.Errorf("%s is %q, %v, want %q", name, got.String(), err, want)
		}
	}
	h := header
	h.Attributes = map[string]any{"gradients": -1} // an integrator may have a setting of this name
	_, folder = written(t, "zarr", h)
	if side, err := Read(t.Context(), []string{folder}, nil); err != nil || side.Gradients < 0 {
		t.Errorf("the draws cost %v gradients (%v): want what the chains counted", side.Gradients, err)
	}
	h = header
	h.Outputs = chunkNumbers/3 - 1 // a chunk holds three draws of the seven; they are no whole rows
	_, folder = written(t, "zarr", h)
	if left, err := os.ReadDir(folder); err != nil || len(left) != 6 { // three groups, three files
		t.Errorf("the folder has %v, %v", left, err)
	}
	long, err := readZarr(folder, "predictions/f")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 14 {
		if got := long[n*h.Outputs:][:header.Outputs]; !slices.Equal(got, f(made(n/7, n%7))) {
			t.Errorf("draw %d of chain %d begins with %v", n%7, n/7, got)
		}
	}
}

// Outputs are predictions of rows if there is one for each, or for each of three classes or more.
func TestWholeRows(t *testing.T) {
	of := func(classes int) *datasets.Split {
		s := &datasets.Split{
			Task: datasets.Classification, Classes: classes, TestLabels: []int{0, 1},
		}
		if classes == 0 {
			s = &datasets.Split{TestY: []float64{1, 2}}
		}
		return s
	}
	for _, c := range []struct {
		split   *datasets.Split
		outputs int
		want    bool
	}{
		{nil, 0, false}, {&datasets.Split{}, 0, false}, {of(0), 2, true}, {of(0), 4, false},
		{of(2), 2, true}, {of(2), 4, false}, {of(3), 6, true}, {of(3), 2, false}, {of(3), 4, false},
	} {
		if got := WholeRows(c.split, c.outputs); got != c.want {
			t.Errorf("%d outputs of %+v: %v, want %v", c.outputs, c.split, got, c.want)
		}
	}
}

func TestDamageOfChunksIsSeen(t *testing.T) {
	_, folder := written(t, "zarr", header)
	got, err := readZarr(folder, "posterior/theta")
	if err != nil || !slices.Equal(got, wanted(theta)) {
		t.Fatalf("theta: %v %v", err, got)
	}
	chunk := filepath.Join(folder, "posterior/theta/1.0.0")
	text, err := os.ReadFile(chunk)
	if err != nil {
		t.Fatal(err)
	}
	text[8*7] ^= 1
	if err := os.WriteFile(chunk, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := readZarr(folder, "posterior/theta"); err != nil || slices.Equal(got, wanted(theta)) {
		t.Errorf("a flipped bit is not seen: %v", err)
	}
	if err := os.WriteFile(chunk, text[:8], 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readZarr(folder, "posterior/theta"); err == nil {
		t.Error("a chunk that was cut is not seen")
	}
}
