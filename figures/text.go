package figures

import (
	"math"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hambench/internal/table"
)

// run is a piece of a line of text, lowered and smaller if it is a subscript.
type run struct {
	text      string
	subscript bool
}

// runs splits at underscores: the character after one is a subscript.
func runs(s string) []run {
	var out []run
	for {
		before, after, found := strings.Cut(s, "_")
		if before != "" {
			out = append(out, run{text: before})
		}
		if !found || after == "" {
			return out
		}
		_, n := utf8.DecodeRuneInString(after)
		out = append(out, run{text: after[:n], subscript: true})
		s = after[n:]
	}
}

const (
	subscriptScale = 0.72
	subscriptDrop  = 0.22 // in units of the font's size
)

// each calls f with every run, its style, and its place relative to the start
// of the line, and returns the line's width.
func each(style text.Style, s string, f func(r run, style text.Style, offset vg.Point)) vg.Length {
	var x vg.Length
	for _, r := range runs(s) {
		sub := style
		var y vg.Length
		if r.subscript {
			sub.Font.Size *= subscriptScale
			y = -subscriptDrop * style.Font.Size
		}
		if f != nil {
			f(r, sub, vg.Point{X: x, Y: y})
		}
		x += sub.Width(r.text)
	}
	return x
}

// textWidth is the width of a line with its subscripts.
func textWidth(style text.Style, s string) vg.Length { return each(style, s, nil) }

// alignment says which part of a line lies at the point it is drawn at.
type alignment float64

const (
	left   alignment = 0
	center alignment = 0.5
	right  alignment = 1
)

// write draws one line of text with its baseline at the point.
func write(c *draw.Canvas, style text.Style, at vg.Point, a alignment, s string) {
	at.X -= vg.Length(a) * textWidth(style, s)
	each(style, s, func(r run, style text.Style, offset vg.Point) {
		face := style.Handler.Cache().Lookup(style.Font, style.Font.Size)
		c.SetColor(style.Color)
		c.FillString(face, at.Add(offset), r.text)
	})
}

// writeUpwards draws one line of text turned by a quarter, its middle at the
// point.
func writeUpwards(c *draw.Canvas, style text.Style, middle vg.Point, s string) {
	c.Push()
	c.Translate(middle)
	c.Rotate(math.Pi / 2)
	write(c, style, vg.Point{}, center, s)
	c.Pop()
}

// wrap breaks a text into lines of at most the given width, at spaces; line
// breaks in the text stay.
func wrap(style text.Style, s string, width vg.Length) []string {
	var lines []string
	for _, paragraph := range strings.Split(s, "\n") {
		lines = append(lines, table.Break(paragraph, func(line string) bool { return textWidth(style, line) <= width })...)
	}
	return lines
}
