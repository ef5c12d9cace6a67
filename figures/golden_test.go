package figures

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

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

// small are studies of a few cells that show everything a sweep can: means
// over splits, one and all diverged, missing cells. "bottleneck" has
// exact errors.
func small(t testing.TB, id string) (bench.Plan, memory) {
	t.Helper()
	s := bench.Study{ID: id, Title: "Invented results"}
	oracle := "a reference"
	if id == "bottleneck" {
		oracle, s.Exact = bench.Analytic, make([]bench.ExactJob, 1)
		s.Exact[0].Exact.Integrator = "mt3"
	}
	for split := range 3 {
		for _, batch := range []int{8, bench.Full} {
			for _, name := range []string{"sghmc", "leapfrog", "mt3"} {
				for _, h := range []float64{0.005, 0.01, 0.02, 0.05} {
					c := cell(name, split, batch, h)
					c.Oracle = oracle
					s.Cells = append(s.Cells, bench.Job{Cell: c})
				}
			}
		}
	}
	p := planOf(t, s)
	p.Profile = "test"
	m := invent(p, func(c bench.Cell) bool { return c.Integrator != "mt3" || c.Step != 0.01 || c.Batches != 1 }) // a gap
	return p, m.changed(func(r *bench.Result) {
		c := r.Cell
		r.KS, r.Diverged = 0.085+30*c.Step*c.Step*(1+0.2*float64(c.Split))+0.02*float64(len(c.Integrator)-3), false
		if c.Step == 0.05 && (c.Batches == 1 || c.Split == 2) {
			r.KS, r.Diverged = 1, true
		}
	})
}

// made is what a study shows.
func made(t testing.TB, p bench.Plan, m memory) *Output {
	t.Helper()
	out, err := m.drawer("").Make(p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// figureOf is a study's first figure.
func figureOf(t testing.TB, p bench.Plan, m memory) *Figure {
	t.Helper()
	return made(t, p, m).Figures[0]
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
	toy := plan(t, "quick", "toy")
	methods, results := small(t, "methods")
	bottleneck, more := small(t, "bottleneck")
	for name, s := range map[string]*Figure{
		"methods.png":    figureOf(t, methods, results),
		"bottleneck.png": figureOf(t, bottleneck, more),
		"toy.png":        figureOf(t, toy, invent(toy, nil)),
	} {
		got, err := s.layout().png(goldenDPI)
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
	p, m := small(t, "methods")
	moved := m.changed(func(r *bench.Result) {
		if r.Cell.Integrator == "leapfrog" && r.Cell.Step == 0.02 && r.Cell.Batches == 57 {
			r.KS += 0.1
		}
	})
	a, err := figureOf(t, p, m).layout().png(goldenDPI)
	if err != nil {
		t.Fatal(err)
	}
	b, err := figureOf(t, p, moved).layout().png(goldenDPI)
	if err != nil {
		t.Fatal(err)
	}
	if share := differingShare(t, a, b); share <= shareTolerance {
		t.Errorf("a moved point changes %.2g of the pixels, which the golden comparison would let pass", share)
	}
}

// The file of a table has all columns; what the terminal gets is as wide as it,
// and says what is left out.
func TestGoldenTables(t *testing.T) {
	for _, profile := range []string{"quick", "paper"} {
		for _, id := range []string{"regression", "classification", "autocorrelation"} {
			p := plan(t, profile, id)
			p.Profile = profile
			dir := t.TempDir()
			out, err := invent(p, nil).drawer(dir).Draw(p)
			if err != nil {
				t.Fatal(err)
			}
			name := id + "-" + profile + ".txt"
			written := read(t, filepath.Join(dir, id+".txt"))
			if want := golden(t, name, written); string(written) != string(want) {
				t.Errorf("%s: got\n%s\nwant\n%s", name, written, want)
			}
			if text, err := out.Tables[0].text(100); err != nil || text != out.Text {
				t.Errorf("%s: the terminal gets\n%s\nwant\n%s (%v)", name, out.Text, text, err)
			}
			for _, width := range []int{80, 100, 200} {
				text, err := out.Tables[0].text(width)
				if err != nil {
					t.Fatal(err)
				}
				if n := widest(text); n > width {
					t.Errorf("%s: %d characters wide on %d:\n%s", name, n, width, text)
				}
				if missing := strings.Contains(text, "Left out for want of room"); missing != (len(strings.Split(strings.Split(text, "\n")[1], "+"))-2 < len(out.Tables[0].Columns)) {
					t.Errorf("%s at %d: columns are left out without a word:\n%s", name, width, text)
				}
			}
		}
	}
}

// widest is the length of the longest line.
func widest(text string) int {
	n := 0
	for _, line := range strings.Split(text, "\n") {
		n = max(n, utf8.RuneCountInString(line))
	}
	return n
}
