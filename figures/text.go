package figures

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hambench/internal/table"
)

// The size of a subscript and how far it is lowered, in units of the font's size.
const (
	subscriptScale = 0.72
	subscriptDrop  = 0.22
)

// subscript finds the character after an underscore behind a single letter, as in
// N_l and θ_1. In longer words, such as red_wine, underscores are part of the name, also where it
// is shortened.
var subscript = regexp.MustCompile(`(?:^|[^\pL\pN_…])\pL_([\pL\pN])(?:[^\pL\pN_…]|$)`)

// macron is the mark of a mean above a letter, as in L̄. Nothing but this places it: fonts alone
// draw it beside the letter.
const macron = "\u0304"

// each calls f with every run of a line of text, its style, and its place relative to
// the start of the line, and returns the line's width. A subscript is a run of its own,
// lowered and smaller.
func each(style text.Style, s string, f func(string, text.Style, vg.Point)) (width vg.Length) {
	put := func(run string, style text.Style, y vg.Length) {
		if run != "" {
			f(run, style, vg.Point{X: width, Y: y})
			width += style.Width(run)
		}
	}
	if before, after, ok := strings.Cut(s, macron); ok {
		width = each(style, before, f)
		_, size := utf8.DecodeLastRuneInString(before)
		letter, line := style.Width(before[len(before)-size:]), style.Width("¯")
		f("¯", style, vg.Point{X: width - (letter+line)/2})
		return width + each(style, after, func(run string, style text.Style, at vg.Point) {
			f(run, style, at.Add(vg.Point{X: width}))
		})
	}
	// What is before a subscript is a run with the letter, without the underscore.
	small := style
	small.Font.Size *= subscriptScale
	for {
		at := subscript.FindStringSubmatchIndex(s) // at[2]:at[3] is the subscript
		if at == nil {
			break
		}
		put(s[:at[2]-len("_")], style, 0)
		put(s[at[2]:at[3]], small, -subscriptDrop*style.Font.Size)
		s = s[at[3]:]
	}
	put(s, style, 0)
	return width
}

// textWidth is the width of a line with its subscripts, in points.
func textWidth(style text.Style, s string) vg.Length {
	return each(style, s, func(string, text.Style, vg.Point) {})
}

// The part of a line that lies at the point it is drawn at.
const left, center, right vg.Length = 0, 0.5, 1

// write draws one line of text with its baseline at the point.
func write(c *draw.Canvas, style text.Style, at vg.Point, part vg.Length, s string) {
	// The part of the line that lies left of the point.
	at.X -= part * textWidth(style, s)
	each(style, s, func(run string, style text.Style, offset vg.Point) {
		face := style.Handler.Cache().Lookup(style.Font, style.Font.Size)
		c.SetColor(style.Color)
		c.FillString(face, at.Add(offset), run)
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

// longName is how many characters of a word are left before others are shortened, too.
const longName = 12

// shortened is a line with dots in the place of the middle of its longest words, as long as these
// are names, then of its own middle, where it would be wider than the width: names differ at either
// end.
func shortened(style text.Style, s string, width vg.Length) string {
	longest := func(a, b string) int { return cmp.Compare(len([]rune(a)), len([]rune(b))) }
	for textWidth(style, s) > width {
		cut := slices.MaxFunc(strings.Fields(s), longest)
		if len([]rune(cut)) <= longName {
			cut = s
		}
		left := []rune(strings.Replace(cut, "…", "", 1))
		if len(left) == 0 {
			break
		}
		half := len(left) / 2
		s = strings.Replace(s, cut, string(left[:half])+"…"+string(left[half+1:]), 1)
	}
	return s
}

// drawable is a text with a box in the place of each character that a font lacks: formats that have
// no other font would leave it out.
func drawable(f font.Face, s string) string {
	var buf sfnt.Buffer
	return strings.Map(func(r rune) rune {
		if index, err := f.Face.GlyphIndex(&buf, r); err != nil || index == 0 {
			return '□'
		}
		return r
	}, s)
}

// wrap breaks a text into lines of at most the given width, at spaces; line
// breaks in the text stay.
func wrap(style text.Style, s string, width vg.Length) []string {
	var lines []string
	fits := func(line string) bool { return textWidth(style, line) <= width }
	for _, paragraph := range strings.Split(s, "\n") {
		lines = append(lines, table.Break(paragraph, fits)...)
	}
	return lines
}
