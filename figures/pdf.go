package figures

import (
	"fmt"
	"image/color"
	"io"
	"log"
	"strings"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfCanvas repairs two things of the PDF writer. Its fonts hold code page
// 1252 alone, and it takes UTF-8 for that: η would come out as two wrong
// letters. And it takes premultiplied colours for plain ones: what is
// translucent would come out dark.
type pdfCanvas struct{ *vgpdf.Canvas }

// catchFonts makes an error of a font that the PDF writer cannot prepare, for which it needs a
// temporary folder. It is to be called before the writer is, and what it returns is deferred.
func catchFonts(err *error) func() {
	// The writer prints such an error through package log before it panics: the panic is enough.
	was := log.Writer()
	log.SetOutput(io.Discard)
	return func() {
		log.SetOutput(was)
		r := recover()
		said, _ := r.(string)
		if reason, ok := strings.CutPrefix(said, "vgpdf: "); ok {
			*err = fmt.Errorf("%s: want a temporary folder that can be written (TMPDIR)", reason)
		} else if r != nil {
			panic(r)
		}
	}
}

// SetColor sets the colour of lines, areas and text. The writer gets a colour whose
// RGBA are not premultiplied, as it wants them.
func (c pdfCanvas) SetColor(col color.Color) {
	c.Canvas.SetColor(color.RGBA64(color.NRGBA64Model.Convert(col).(color.NRGBA64)))
}

// FillString draws ASCII as text, which stays searchable, and anything else
// as the outlines of its glyphs.
func (c pdfCanvas) FillString(f font.Face, at vg.Point, s string) {
	// η, θ, –, ± and the like are one or two to a label: outlines cost little.
	if strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0 {
		c.Canvas.FillString(f, at, s)
		return
	}
	var buf sfnt.Buffer
	for _, r := range drawable(f, s) {
		c.fillGlyph(&buf, f, at, r)
		at.X += f.Width(string(r))
	}
}

// fillGlyph fills one glyph's outline, with the start of its baseline at a point. A glyph that
// cannot be read is left out.
func (c pdfCanvas) fillGlyph(buf *sfnt.Buffer, f font.Face, at vg.Point, r rune) {
	// Outlines come in 64ths of a pixel, y downwards.
	const unit = 64 // of fixed.Point26_6
	const em = 1000 // pixels in which outlines are loaded, to be scaled down
	index, _ := f.Face.GlyphIndex(buf, r)
	segments, err := f.Face.LoadGlyph(buf, index, fixed.I(em), nil)
	if err != nil {
		return
	}
	// From units of the loaded outline to points at the font's size.
	scale := f.Font.Size / (em * unit)
	point := func(p fixed.Point26_6) vg.Point {
		return at.Add(vg.Point{X: vg.Length(p.X) * scale, Y: -vg.Length(p.Y) * scale})
	}
	var path vg.Path
	for _, s := range segments { // TrueType has no cubic ones
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			path.Move(point(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			path.Line(point(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			path.QuadTo(point(s.Args[0]), point(s.Args[1]))
		}
	}
	if path != nil {
		c.Fill(path)
	}
}
