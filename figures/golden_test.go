package figures

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"hambench/bench"
)

var update = flag.Bool("update", false, "write the golden files of testdata anew")

// golden returns the golden file's bytes, after writing got to it with
// -update.
func golden(t *testing.T, name string, got []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./figures -update writes it)", err)
	}
	return want
}

// small are experiments of a few cells that show everything a sweep can:
// means over splits, one and all diverged, missing cells.
func small(id string) (bench.Experiment, Getter) {
	e := bench.Experiment{ID: id, Title: "Invented results"}
	for split := range 3 {
		for _, batch := range []int{57, 1} {
			for _, name := range []string{"sghmc", "leapfrog", "mt3"} {
				for _, h := range []float64{0.005, 0.01, 0.02, 0.05} {
					e.Cells = append(e.Cells, bench.Cell{
						Observe: bench.Distance, Dataset: "boston", Split: split, Model: "bnn", Integrator: name, Inner: 1, Friction: 5,
						Scheme: "reshuffle", Batches: batch, Step: h, Samples: 200, Thin: 1, Seed: 1, Precision: "float32",
					})
				}
			}
		}
	}
	results := make(map[string]bench.Result)
	for _, c := range e.Cells {
		r := bench.Result{Cell: c, Key: c.Key(), KSSelf: 0.085, KSSelfLow: 0.05, KSSelfHigh: 0.13}
		r.KS = 0.085 + 30*c.Step*c.Step*(1+0.2*float64(c.Split)) + 0.02*float64(len(c.Integrator)-3)
		if c.Step == 0.05 && (c.Batches == 1 || c.Split == 2) {
			r.KS, r.Diverged = 1, true
		}
		if c.Integrator == "mt3" && c.Step == 0.01 && c.Batches == 1 {
			continue // a gap
		}
		results[r.Key] = r
	}
	return e, func(key string) (bench.Result, bool) { r, ok := results[key]; return r, ok }
}

// sheetOf is the sheet of a sweep.
func sheetOf(f family, e bench.Experiment, get Getter) *sheet {
	results, missing := e.Results(get)
	d := &drawing{experiment: e, get: get, options: Options{Profile: "test"}, results: results, out: &Output{Cells: len(results), Of: len(results) + len(missing)}}
	return f.sheet(d, newSweep(e.Cells, get, f.name))
}

// Golden images are small. Anti-aliased edges may differ by rounding between
// processors: a pixel counts as different from a quarter of the range on, and
// one in two thousand may be. A marker has about 40 pixels of the 200 000.
const (
	goldenDPI      = 72
	pixelTolerance = 0x4000
	shareTolerance = 1.0 / 2000
)

func differingShare(t *testing.T, a, b []byte) float64 {
	t.Helper()
	x, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	y, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if x.Bounds() != y.Bounds() {
		return 1
	}
	return differing(x, y)
}

func differing(x, y image.Image) float64 {
	b := x.Bounds()
	n := 0
	for j := b.Min.Y; j < b.Max.Y; j++ {
		for i := b.Min.X; i < b.Max.X; i++ {
			r1, g1, b1, _ := x.At(i, j).RGBA()
			r2, g2, b2, _ := y.At(i, j).RGBA()
			if apart(r1, r2) || apart(g1, g2) || apart(b1, b2) {
				n++
			}
		}
	}
	return float64(n) / float64(b.Dx()*b.Dy())
}

func apart(a, b uint32) bool { return max(a, b)-min(a, b) > pixelTolerance }

func TestGoldenImages(t *testing.T) {
	e, get := small("methods")
	toy := experiment(t, "quick", "toy")
	toyResults, _ := toy.Results(invent(toy, nil))
	var hs []histogram
	for _, r := range toyResults {
		h, err := newHistogram(r)
		if err != nil {
			t.Fatal(err)
		}
		hs = append(hs, h)
	}
	for name, s := range map[string]*sheet{
		"methods.png":    sheetOf(methodFamily, e, get),
		"bottleneck.png": sheetOf(bottleneckFamily, e, get),
		"toy.png":        toySheet(&drawing{experiment: toy, out: &Output{}}, hs),
	} {
		got, err := rasterise(s.layout(), goldenDPI)
		if err != nil {
			t.Fatal(err)
		}
		want := golden(t, name, got)
		if share := differingShare(t, got, want); share > shareTolerance {
			path := filepath.Join(os.TempDir(), "got-"+name)
			_ = os.WriteFile(path, got, 0o644)
			t.Errorf("%s: %.2g of the pixels differ, want at most %.2g; what was drawn is in %s", name, share, shareTolerance, path)
		}
	}
}

// A negative control: one point moved by a tenth must be seen.
func TestGoldenComparisonSeesAMovedPoint(t *testing.T) {
	e, get := small("methods")
	moved := func(key string) (bench.Result, bool) {
		r, ok := get(key)
		if r.Cell.Integrator == "leapfrog" && r.Cell.Step == 0.02 && r.Cell.Batches == 57 {
			r.KS += 0.1
		}
		return r, ok
	}
	a, err := rasterise(sheetOf(methodFamily, e, get).layout(), goldenDPI)
	if err != nil {
		t.Fatal(err)
	}
	b, err := rasterise(sheetOf(methodFamily, e, moved).layout(), goldenDPI)
	if err != nil {
		t.Fatal(err)
	}
	if share := differingShare(t, a, b); share <= shareTolerance {
		t.Errorf("a moved point changes %.2g of the pixels, which the golden comparison would let pass", share)
	}
}

func TestGoldenTables(t *testing.T) {
	for _, profile := range []string{"quick", "paper"} {
		for _, id := range []string{"regression", "classification", "autocorrelation"} {
			e := experiment(t, profile, id)
			dir := t.TempDir()
			out, err := Draw(e, invent(e, nil), Options{Dir: dir, Profile: profile})
			if err != nil {
				t.Fatal(err)
			}
			name := id + "-" + profile + ".txt"
			if got, want := out.Text, string(golden(t, name, []byte(out.Text))); got != want {
				t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
			}
			written, err := os.ReadFile(filepath.Join(dir, id+".txt"))
			if err != nil || string(written) != out.Text {
				t.Errorf("%s.txt is not the text for the terminal (%v)", id, err)
			}
		}
	}
}
