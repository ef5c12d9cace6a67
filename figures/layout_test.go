package figures

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"testing"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hambench/bench"
	"hambench/internal/long"
)

// reader is a canvas that notes the texts written on it. Turned text is not
// placed.
type reader struct {
	w, h   vg.Length
	turned int
	depth  []int
	texts  []placed
	images int
}

type placed struct {
	text    string
	face    font.Face
	box     vg.Rectangle
	upright bool
}

func (r *reader) Size() (x, y vg.Length)              { return r.w, r.h }
func (r *reader) SetLineWidth(vg.Length)              {}
func (r *reader) SetLineDash([]vg.Length, vg.Length)  {}
func (r *reader) SetColor(color.Color)                {}
func (r *reader) Rotate(float64)                      { r.turned++ }
func (r *reader) Translate(vg.Point)                  {}
func (r *reader) Scale(float64, float64)              {}
func (r *reader) Push()                               { r.depth = append(r.depth, r.turned) }
func (r *reader) Pop()                                { r.turned, r.depth = r.depth[len(r.depth)-1], r.depth[:len(r.depth)-1] }
func (r *reader) Stroke(vg.Path)                      {}
func (r *reader) Fill(vg.Path)                        {}
func (r *reader) DrawImage(vg.Rectangle, image.Image) { r.images++ }

func (r *reader) FillString(f font.Face, at vg.Point, s string) {
	// Half the ascent: a small overlap of line boxes is no overlap of ink.
	box := vg.Rectangle{Min: at, Max: at.Add(vg.Point{X: f.Width(s), Y: f.Extents().Ascent * 0.7})}
	r.texts = append(r.texts, placed{text: s, face: f, box: box, upright: r.turned == 0})
}

// everyFigure calls f with all figures of all profiles, or with a sample of them: the profile with
// the fewest panels, without the sets that may be missing, and the one with the most.
func everyFigure(t *testing.T, all bool, f func(name string, s *Figure)) {
	t.Helper()
	for _, profile := range []string{"quick", "standard", "paper"} {
		for _, unavailable := range [][]string{nil, uci} {
			if sampled := profile == "quick" && unavailable != nil || profile == "paper" && unavailable == nil; !all && !sampled {
				continue
			}
			for _, id := range []string{"methods", "integration-length", "friction", "bottleneck"} {
				p := plan(t, profile, id, unavailable...)
				f(fmt.Sprintf("%s %s, %d sets away", profile, id, len(unavailable)), figureOf(t, p, invent(p, nil)))
			}
		}
	}
	for _, id := range []string{"toy", "synthetic", "paths"} {
		p := plan(t, "quick", id)
		f(id, figureOf(t, p, invent(p, nil)))
	}
	p, m := exactPlan(t, bench.Study{ID: "orders", Title: "orders"})
	f("orders", figureOf(t, p, m))
	p, m = exactPlan(t, plan(t, "quick", "bottleneck").Study)
	f("bottleneck-exact", made(t, p, m).Figures[1])
}

// clashes lists the texts of a figure that lie over another or go beyond the
// page.
func clashes(s *Figure) (texts []placed, found []string) {
	l := s.layout()
	r := &reader{w: l.total.X, h: l.total.Y}
	l.draw(draw.New(r))
	for _, p := range slices.Concat(s.panels...) { // which would clash as they are
		if p != nil && shortened(sans(panelSize, ink), p.Title, vg.Length(s.width-panelGap)) != p.Title {
			found = append(found, fmt.Sprintf("%q is shortened", p.Title))
		}
	}
	for i, a := range r.texts {
		if !a.upright {
			continue
		}
		if a.box.Min.X < 0 || a.box.Min.Y < 0 || a.box.Max.X > l.total.X || a.box.Max.Y > l.total.Y {
			found = append(found, fmt.Sprintf("%q goes beyond the page", a.text))
		}
		for _, b := range r.texts[:i] {
			if b.upright && overlap(a.box, b.box) {
				found = append(found, fmt.Sprintf("%q lies over %q", a.text, b.text))
			}
		}
	}
	return r.texts, found
}

// No text lies over another or beyond the page, and the font has every
// character.
func TestTextHasRoom(t *testing.T) { checkRoom(t, false) }

func TestLongTextOfEveryProfileHasRoom(t *testing.T) {
	long.Test(t)
	checkRoom(t, true)
}

func checkRoom(t *testing.T, all bool) {
	t.Helper()
	everyFigure(t, all, func(name string, s *Figure) {
		texts, found := clashes(s)
		for _, f := range found {
			t.Errorf("%s: %s", name, f)
		}
		for _, p := range texts {
			checkGlyphs(t, name, p)
		}
		l := s.layout()
		_, labels := l.labels()
		for _, label := range labels { // turned, so not among what clashes looks at
			if w, h := textWidth(sans(labelSize, ink), label), vg.Length(len(s.panels)/len(labels))*l.rowHeight(); w > h {
				t.Errorf("%s: label %q is %.0f points long on %.0f points of panels", name, label, w, h)
			}
		}
	})
}

// A row of panels is as tall as the label beside it is long.
func TestRowsAreAsTallAsTheirLabel(t *testing.T) {
	flat := func(label string, rows int) vg.Length {
		f := &Figure{width: 170, height: 60}
		for range rows {
			f.panels = append(f.panels, []*panel{{Y: axis{Label: label}}})
		}
		return f.layout().rowHeight()
	}
	const label = "mean Kolmogorov distance to the reference"
	long := textWidth(sans(labelSize, ink), label)
	if got := flat(label, 1); got < long {
		t.Errorf("one row of %v points beside a label of %v", got, long)
	}
	if one, five := flat("C", 1), flat(label, 5); one != 60 || five != 60 {
		t.Errorf("rows of %v and %v points, want the 60 asked for", one, five)
	}
}

// A negative control: too narrow panels must be found out.
func TestClashesAreFound(t *testing.T) {
	p := plan(t, "paper", "methods")
	s := figureOf(t, p, invent(p, nil))
	s.width = 80
	if _, found := clashes(s); len(found) == 0 {
		t.Error("panel titles of 100 points on panels of 80 are not found to clash")
	}
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

func checkGlyphs(t *testing.T, name string, p placed) {
	t.Helper()
	var buf sfnt.Buffer
	for _, r := range p.text {
		if i, err := p.face.Face.GlyphIndex(&buf, r); err != nil || i == 0 {
			t.Errorf("%s: the font lacks %q of %q", name, r, p.text)
		}
	}
	if p.face.Font.Size < 8*subscriptScale || (p.face.Font.Size < 8 && len([]rune(p.text)) > 1) {
		t.Errorf("%s: %q is written at %.1f points: want at least 8", name, p.text, p.face.Font.Size)
	}
}
