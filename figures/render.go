package figures

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"regexp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The renderer draws figures with gonum/plot. What a sheet has besides plots is its own: a
// legend that all panels share, which gonum/plot has inside plots only (gonum/plot#802), titles
// and notes of panels, and the labels of common axes. Coordinates are points from the lower left
// corner of the sheet, y upwards. One drawing serves all formats. A sheet has
//
//	title
//	warning
//	entries of the legend, in lines
//	      title of a panel      title of a panel
//	label ┌────────────────┐    ┌────────────────┐
//	of y  │                │    │                │
//	      └────────────────┘    └────────────────┘
//	…     more rows of panels, with ticks labelled where no neighbour has them
//	                  label of x
//	caption

// The layout, in points. From the top down a sheet has the title, the warning, the legend, the
// panels with the labels of their axes, and the caption.
const (
	margin       = vg.Length(14) // around the sheet
	gap          = vg.Length(9)  // between its parts
	yLabelWidth  = vg.Length(17) // of the shared labels of vertical axes
	xLabelHeight = vg.Length(15)
	panelGap     = 11            // between the columns of panels
	panelTitle   = 15            // space above a panel's data for its title
	swatchWidth  = vg.Length(23) // of the sample of an entry of the legend
	swatchGap    = vg.Length(5)  // between the sample and its label
	entryGap     = vg.Length(13) // between two entries
	leading      = 1.35          // line height over font size
	resolution   = 150           // of PNG files, in dots per inch
)

// layout is a figure with its lines of text broken to the width of its panels.
type layout struct {
	*Figure
	columns             int             // of panels
	innerWidth          vg.Length       // of the sheet, without margins
	title, alert, below []string        // lines of the title, the warning and the caption
	legendLines         [][]legendEntry // by line of the sheet
	total               vg.Point        // the size of the sheet
	tips                *[]tip          // of the points, in the order drawn; nil if none are wanted
}

// layout breaks the texts to the width that the panels fix, and so finds the height of the
// sheet.
func (f *Figure) layout() layout {
	l := layout{Figure: f, columns: len(f.panels[0])}
	// The labels of vertical axes stand left of the panels.
	l.innerWidth = vg.Length(l.columns)*vg.Length(f.width) + yLabelWidth
	if f.Title != "" {
		l.title = wrap(sans(titleSize, ink), f.Title, l.innerWidth)
	}
	if f.Warning != "" {
		l.alert = wrap(sans(labelSize, warning), f.Warning, l.innerWidth)
	}
	if f.Caption != "" {
		l.below = wrap(sans(captionSize, ink), f.Caption, l.innerWidth)
	}
	l.legendLines = flow(f.legend, l.innerWidth)
	// The heights are those of the parts that draw puts below each other.
	height := 2*margin + 2.5*gap
	height += lines(l.title, titleSize) + lines(l.alert, labelSize) + lines(l.below, captionSize)
	height += vg.Length(len(l.legendLines)) * legendSize * leading
	height += vg.Length(len(f.panels))*l.rowHeight() + xLabelHeight
	l.total = vg.Point{X: l.innerWidth + 2*margin, Y: height}
	return l
}

// rowHeight is that of a row of panels: what the figure asks for, or more where the label of the
// vertical axes would not fit beside the rows that it is for.
func (l layout) rowHeight() vg.Length {
	_, ys := l.labels() // one for all rows, or one for each
	height := vg.Length(l.height)
	for _, y := range ys {
		rows := vg.Length(len(l.panels) / len(ys))
		height = max(height, textWidth(sans(labelSize, ink), y)/rows+panelTitle)
	}
	return height
}

// lines is the height of lines of text in a font size, with the space between them.
func lines(l []string, size float64) vg.Length {
	return vg.Length(float64(len(l)) * size * leading)
}

// width is that of the sample and its label, with the gap between them.
func (e legendEntry) width() vg.Length {
	return swatchWidth + swatchGap + textWidth(sans(legendSize, ink), e.Label)
}

// flow breaks the legend into lines of at most the given width. The label of an entry that is
// wider goes on below, as an entry without a sample.
func flow(legend []legendEntry, width vg.Length) [][]legendEntry {
	var rows [][]legendEntry
	var all []legendEntry
	for _, e := range legend {
		for _, line := range wrap(sans(legendSize, ink), e.Label, width-swatchWidth-swatchGap) {
			e.Label = line
			all, e = append(all, e), legendEntry{}
		}
	}
	var used vg.Length
	for _, e := range all { // used is what the line has, with the gap behind its last entry
		if len(rows) == 0 || used+e.width() > width {
			rows = append(rows, nil)
			used = 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += e.width() + entryGap
	}
	return rows
}

// draw draws the sheet from the top down on a white ground.
func (l layout) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	x, y := c.Min.X+margin, c.Max.Y-margin // the upper left corner of what follows
	// put writes lines of text from y down, and leaves y below them.
	put := func(ls []string, size float64, col colour) {
		for _, s := range ls {
			write(&c, sans(size, col), vg.Point{X: x, Y: y - vg.Length(size)}, left, s)
			y -= vg.Length(size * leading)
		}
	}
	put(l.title, titleSize, ink)
	put(l.alert, labelSize, warning)
	y -= gap / 2
	y = l.drawLegend(&c, x, y) - gap/2
	bottom := c.Min.Y + margin + lines(l.below, captionSize) + gap
	l.drawPanels(c, vg.Rectangle{
		Min: vg.Point{X: x, Y: bottom},
		Max: vg.Point{X: x + l.innerWidth, Y: y},
	})
	y = bottom - gap
	put(l.below, captionSize, ink)
}

// drawLegend draws the legend downwards from y, from left0 on, and returns where it ends. Each
// entry is a sample of its style in the middle of its line, and its label.
func (l layout) drawLegend(c *draw.Canvas, left0, y vg.Length) vg.Length {
	style := sans(legendSize, ink)
	for _, row := range l.legendLines {
		// A sample is as high as small letters, and stands in the middle of its line.
		x, middle := left0, y-legendSize*leading/2
		for _, e := range row {
			const half = legendSize * 0.4 // of the sample's height
			e.draw(c, vg.Rectangle{
				Min: vg.Point{X: x, Y: middle - half},
				Max: vg.Point{X: x + swatchWidth, Y: middle + half},
			})
			at := vg.Point{X: x + swatchWidth + swatchGap, Y: middle - legendSize*0.35}
			write(c, style, at, left, e.Label)
			x += e.width() + entryGap
		}
		y -= legendSize * leading
	}
	return y
}

// draw draws a sample of what the entry is of into a box: the band, the line and the marker of
// a series, or the bar of a share of lost chains on the colour of its strip.
func (e legendEntry) draw(c *draw.Canvas, b vg.Rectangle) {
	// at is a point on the middle line of the box.
	at := func(fraction vg.Length) vg.Point {
		return vg.Point{X: b.Min.X + fraction*(b.Max.X-b.Min.X), Y: (b.Min.Y + b.Max.Y) / 2}
	}
	fill := e.Style.Fill
	if e.Lost > 0 {
		fill = stripGrey
	}
	if fill != 0 {
		c.SetColor(fill)
		c.Fill(b.Path())
	}
	if e.Style.Width > 0 && fill != histogramFill { // whose line is its outline
		c.StrokeLines(e.Style.line(), []vg.Point{at(0), at(1)})
	}
	switch {
	case e.Lost > 0:
		drawShare(c, e.Style.Color, at(0.5), 2*barWidth, b.Max.Y-b.Min.Y, e.Lost)
	case e.Style.Marker == dot: // one alone could be dust
		for _, f := range []vg.Length{0.25, 0.5, 0.75} {
			e.Style.mark(c, at(f))
		}
	case e.Style.Marker != "":
		e.Style.mark(c, at(0.5))
	}
}

// drawPanels draws the panels into a box, with their titles and notes, and the labels that they
// share. Their data are aligned, whatever room the labels of ticks take up.
func (l layout) drawPanels(c draw.Canvas, box vg.Rectangle) {
	// The grid of panels is what the shared labels leave of the box.
	grid := draw.Canvas{Canvas: c.Canvas, Rectangle: box}
	grid.Min.X += yLabelWidth
	grid.Min.Y += xLabelHeight
	tiles := draw.Tiles{
		Rows: len(l.panels), Cols: l.columns,
		PadX: panelGap, PadY: panelTitle + 3, PadTop: panelTitle, PadRight: 2,
	}
	plots := make([][]*plot.Plot, len(l.panels))
	for j, row := range l.panels { // an empty place is a nil plot, which Align leaves out
		plots[j] = make([]*plot.Plot, len(row))
		for i, p := range row {
			if p != nil {
				plots[j][i] = l.plot(p, !l.repeats(j, i, 1, 0), !l.repeats(j, i, 0, -1))
			}
		}
	}
	// Align gives the data of a row one height and those of a column one width.
	canvases := plot.Align(plots, tiles, grid)
	rows := make([]vg.Rectangle, len(l.panels)) // what the data of each row of panels span
	for j, row := range l.panels {
		rows[j] = vg.Rectangle{Min: grid.Max, Max: grid.Min}
		for i, p := range row {
			if p == nil {
				continue
			}
			plots[j][i].Draw(canvases[j][i])
			d := plots[j][i].DataCanvas(canvases[j][i])
			above := vg.Point{X: (d.Min.X + d.Max.X) / 2, Y: d.Max.Y + 4.5}
			title := shortened(sans(panelSize, ink), p.Title, vg.Length(l.width-panelGap))
			write(&c, sans(panelSize, ink), above, center, title)
			rows[j] = union(rows[j], d.Rectangle)
			// The note stands in the lower right corner, written from its last line up.
			// Paper behind it keeps reference lines out of its letters, and hides no points.
			note := wrap(sans(noteSize, ink), p.Note, d.Max.X-d.Min.X-8)
			slices.Reverse(note)
			for k, line := range note {
				at := vg.Point{X: d.Max.X - 4, Y: d.Min.Y + 4 + lines(note[:k], noteSize)}
				box := vg.Rectangle{Min: at, Max: at}
				box.Min.X -= textWidth(sans(noteSize, ink), line)
				box.Min.Y, box.Max.Y = at.Y-noteSize*0.25, at.Y+noteSize*0.8
				c.SetColor(notePaper)
				c.Fill(box.Path())
				write(&c, sans(noteSize, ink), at, right, line)
			}
		}
	}
	l.drawLabels(&c, box, rows)
}

// repeats reports whether the next panel in a direction, below (1, 0) or to the left (0, -1),
// has the same axis in its place, so that this one needs no labels at its ticks. Empty places
// are skipped.
func (l layout) repeats(j, i, down, across int) bool {
	p := l.panels[j][i]
	for j, i = j+down, i+across; j < len(l.panels) && i >= 0; j, i = j+down, i+across {
		if q := l.panels[j][i]; q != nil { // equal axes have equal ticks
			return down > 0 && q.X == p.X || across < 0 && q.Y == p.Y
		}
	}
	return false
}

// drawLabels writes the labels of the axes in the middle of what they are for: all panels, or
// a row of them.
func (l layout) drawLabels(c *draw.Canvas, box vg.Rectangle, rows []vg.Rectangle) {
	all := rows[0] // what the data of all panels span
	for _, r := range rows {
		all = union(all, r)
	}
	style := sans(labelSize, ink)
	x, ys := l.labels()
	// That of the horizontal axes is below all panels, those of the vertical ones left of theirs.
	write(c, style, vg.Point{X: (all.Min.X + all.Max.X) / 2, Y: box.Min.Y + 2}, center, x)
	for j, label := range ys {
		span := all
		if len(ys) == len(rows) {
			span = rows[j]
		}
		middle := vg.Point{X: box.Min.X + labelSize*0.8, Y: (span.Min.Y + span.Max.Y) / 2}
		writeUpwards(c, style, middle, label)
	}
}

// labels are that of the horizontal axes, which all panels have in common, and those of the
// vertical ones: one for all rows, or one for each.
func (l layout) labels() (x string, ys []string) {
	// Panels of a row have one vertical axis, all panels one horizontal one.
	for _, row := range l.panels {
		i := slices.IndexFunc(row, func(p *panel) bool { return p != nil })
		x = row[i].X.title()
		ys = append(ys, row[i].Y.title())
	}
	if len(slices.Compact(slices.Clone(ys))) == 1 {
		ys = ys[:1]
	}
	return x, ys
}

// union is the smallest rectangle around both. An inverted one, with Min beyond Max, adds nothing.
func union(a, b vg.Rectangle) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: min(a.Min.X, b.Min.X), Y: min(a.Min.Y, b.Min.Y)},
		Max: vg.Point{X: max(a.Max.X, b.Max.X), Y: max(a.Max.Y, b.Max.Y)},
	}
}

// png renders at a resolution in dots per inch; a point is a 72nd of an inch.
func (l layout) png(dpi int) ([]byte, error) {
	size := vgimg.UseWH(l.total.X, l.total.Y)
	return l.render(pngCanvas{vgimg.NewWith(size, vgimg.UseDPI(dpi))})
}

// render draws the sheet on a canvas of any format and returns its bytes. Some writers keep an
// error until they write.
func (l layout) render(c interface {
	vg.CanvasSizer
	io.WriterTo
}) ([]byte, error) {
	l.draw(draw.New(c)) // from the origin, over the canvas's own size
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}

// fallbackFonts have the metrics of Liberation Sans, or nearly, in which texts were measured: a
// viewer that lacks it takes one of them, not its serif default. Many systems have DejaVu Sans
// alone, whose texts are so wide that entries of a legend overlap; its condensed cut fits.
const fallbackFonts = "font-family:'Liberation Sans',Arimo,Arial,Helvetica,'Nimbus Sans','DejaVu Sans Condensed',sans-serif;"

// svg renders an SVG file, which Inline makes part of a page. Text stays text, which browsers
// search and select, in a font that the viewer must have.
func (l layout) svg() ([]byte, error) {
	out, err := l.render(vgsvg.New(l.total.X, l.total.Y))
	// vgsvg names the one font that it was given.
	out = bytes.ReplaceAll(out, []byte("font-family:Liberation Sans;"), []byte(fallbackFonts))
	// vgsvg writes images as PNG and says that they are JPEG.
	out = bytes.ReplaceAll(out, []byte("data:image/jpg;"), []byte("data:image/png;"))
	return joinPaths(out), err
}

// svgPath matches a path as vgsvg writes it: where it goes, and its style.
var svgPath = regexp.MustCompile(`<path d="([^"]*)" (style="[^"]*") />\n`)

// joinPaths makes paths of one style that follow each other parts of one path, which looks the
// same: markers and ticks are such runs, and their styles were a sixth of a page. Where paths
// let what is below shine through, two that overlap are darker than one, so those stay.
func joinPaths(svg []byte) []byte {
	var out bytes.Buffer
	var style []byte // of the path that is still open
	end, closePath := 0, func() {
		if style != nil {
			fmt.Fprintf(&out, "\" %s />\n", style)
		}
		style = nil
	}
	// A match is m[0]:m[1], its data m[2]:m[3], its style m[4]:m[5]; end is where the last one
	// ended.
	for _, m := range svgPath.FindAllSubmatchIndex(svg, -1) {
		next := svg[m[4]:m[5]]
		if m[0] != end || !bytes.Equal(next, style) || bytes.Contains(next, []byte("opacity")) {
			closePath()
			out.Write(svg[end:m[0]])
			out.WriteString(`<path d="`)
			style = next
		}
		out.Write(svg[m[2]:m[3]])
		end = m[1]
	}
	closePath()
	out.Write(svg[end:])
	return out.Bytes()
}

// pdf renders a PDF file, with the font in it. It goes through pdfCanvas, which repairs the
// writer's text and colours.
func (l layout) pdf() (_ []byte, err error) {
	defer catchFonts(&err)()
	return l.render(pdfCanvas{vgpdf.New(l.total.X, l.total.Y)})
}
