package figures

import (
	"bytes"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// panel is one plot of a sheet with its title. The zero value is an empty
// place.
type panel struct {
	title string
	*plot.Plot
}

// swatch is an entry of the legend: a sample of what is drawn, and its name.
type swatch struct {
	name string
	draw func(c *draw.Canvas, box vg.Rectangle)
}

// middle is the point of a swatch's box that is a fraction of its width from
// the left, half way up.
func middle(b vg.Rectangle, fraction vg.Length) vg.Point {
	return vg.Point{X: b.Min.X + fraction*(b.Max.X-b.Min.X), Y: (b.Min.Y + b.Max.Y) / 2}
}

// bandSwatch is a filled area.
func bandSwatch(col color.Color, name string) swatch {
	return swatch{name, func(c *draw.Canvas, b vg.Rectangle) {
		c.SetColor(col)
		c.Fill(b.Path())
	}}
}

// strokeSwatch is a line without a marker.
func strokeSwatch(style draw.LineStyle, name string) swatch {
	return swatch{name, func(c *draw.Canvas, b vg.Rectangle) { c.StrokeLines(style, []vg.Point{middle(b, 0), middle(b, 1)}) }}
}

// lineSwatch is a line with its marker, as curves are drawn.
func lineSwatch(l look, name string) swatch {
	mark := swatch{name, func(c *draw.Canvas, b vg.Rectangle) { l.marker.draw(c, l.color, middle(b, 0.5)) }}
	return strokeSwatch(l.stroke(), name).under(mark)
}

// selfSwatch is the band of self-distance with its mean.
func selfSwatch(name string) swatch {
	return bandSwatch(bandGrey, name).under(strokeSwatch(selfStyle, name))
}

// divergedSwatch is a mark on the strip.
func divergedSwatch(all bool, name string) swatch {
	mark := swatch{name, func(c *draw.Canvas, b vg.Rectangle) { drawDiverged(c, look{color: ink}, middle(b, 0.5), all) }}
	return bandSwatch(stripGrey, name).under(mark)
}

// under is a swatch with another drawn over it.
func (s swatch) under(top swatch) swatch {
	return swatch{top.name, func(c *draw.Canvas, b vg.Rectangle) {
		s.draw(c, b)
		top.draw(c, b)
	}}
}

// sheet is a figure: a legend and a grid of panels between a title and a
// caption.
type sheet struct {
	title   string
	warning string // what must not be overlooked; may be empty
	legend  []swatch
	panels  [][]panel // rows of equal length
	// width and height are of one panel, with its share of axes and gaps.
	width, height vg.Length
	xLabel        string
	yLabels       []string // one for all rows, or one for each
	caption       string
}

// The layout, in points.
const (
	margin       = vg.Length(14)
	gap          = vg.Length(9)
	yLabelWidth  = vg.Length(17)
	xLabelHeight = vg.Length(15)
	panelGap     = vg.Length(11)
	panelTitle   = vg.Length(15) // space above a panel's data for its title
	swatchWidth  = vg.Length(23)
	swatchGap    = vg.Length(5)
	entryGap     = vg.Length(13)
	leading      = 1.35 // line height over font size
	resolution   = 150  // of PNGs, in dots per inch
)

// layout is a sheet with its lines of text broken.
type layout struct {
	*sheet
	columns             int
	innerWidth          vg.Length
	title, alert, below []string
	legend              [][]swatch
	total               vg.Point
}

// layout breaks the texts to the width that the panels fix, and so finds the
// height.
func (s *sheet) layout() layout {
	l := layout{sheet: s, columns: len(s.panels[0])}
	l.innerWidth = vg.Length(l.columns)*s.width + yLabelWidth
	l.title = wrap(sans(titleSize, ink), s.title, l.innerWidth)
	if s.warning != "" {
		l.alert = wrap(sans(labelSize, warning), s.warning, l.innerWidth)
	}
	l.below = wrap(sans(captionSize, ink), s.caption, l.innerWidth)
	l.legend = flow(s.legend, l.innerWidth)
	height := 2*margin + lines(l.title, titleSize) + lines(l.alert, labelSize) + lines(l.below, captionSize) + 2.5*gap
	height += vg.Length(len(l.legend)) * legendSize * leading
	height += vg.Length(len(s.panels))*s.height + xLabelHeight
	l.total = vg.Point{X: l.innerWidth + 2*margin, Y: height}
	return l
}

// lines is the height of lines of text.
func lines(l []string, size float64) vg.Length { return vg.Length(float64(len(l)) * size * leading) }

// width is that of the sample and its name.
func (s swatch) width() vg.Length {
	return swatchWidth + swatchGap + textWidth(sans(legendSize, ink), s.name)
}

// flow breaks the legend into lines of at most the given width.
func flow(legend []swatch, width vg.Length) [][]swatch {
	var rows [][]swatch
	var used vg.Length
	for _, s := range legend {
		if len(rows) == 0 || used+s.width() > width {
			rows = append(rows, nil)
			used = 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], s)
		used += s.width() + entryGap
	}
	return rows
}

// draw draws the sheet from the top down.
func (l layout) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	x, y := c.Min.X+margin, c.Max.Y-margin
	put := func(ls []string, size float64, col color.Color) {
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
	l.drawPanels(c, vg.Rectangle{Min: vg.Point{X: x, Y: bottom}, Max: vg.Point{X: x + l.innerWidth, Y: y}})
	y = bottom - gap
	put(l.below, captionSize, ink)
}

// drawLegend draws the legend downwards from y, and returns where it ends.
func (l layout) drawLegend(c *draw.Canvas, left0, y vg.Length) vg.Length {
	style := sans(legendSize, ink)
	for _, row := range l.legend {
		x, middle := left0, y-legendSize*leading/2
		for _, s := range row {
			const half = legendSize * 0.4
			s.draw(c, vg.Rectangle{Min: vg.Point{X: x, Y: middle - half}, Max: vg.Point{X: x + swatchWidth, Y: middle + half}})
			write(c, style, vg.Point{X: x + swatchWidth + swatchGap, Y: middle - legendSize*0.35}, left, s.name)
			x += s.width() + entryGap
		}
		y -= legendSize * leading
	}
	return y
}

// drawPanels draws the grid of panels with the labels that they share.
func (l layout) drawPanels(c draw.Canvas, box vg.Rectangle) {
	grid := draw.Canvas{Canvas: c.Canvas, Rectangle: box}
	grid.Min.X += yLabelWidth
	grid.Min.Y += xLabelHeight
	tiles := draw.Tiles{Rows: len(l.panels), Cols: l.columns, PadX: panelGap, PadY: panelTitle + 3, PadTop: panelTitle, PadRight: 2}
	plots := make([][]*plot.Plot, len(l.panels))
	for j, row := range l.panels {
		for _, p := range row {
			plots[j] = append(plots[j], p.Plot)
		}
	}
	canvases := plot.Align(plots, tiles, grid)
	rows := make([]vg.Rectangle, len(l.panels)) // what the data of each row span
	for j, row := range l.panels {
		rows[j] = vg.Rectangle{Min: grid.Max, Max: grid.Min}
		for i, p := range row {
			if p.Plot == nil {
				continue
			}
			p.Draw(canvases[j][i])
			d := p.DataCanvas(canvases[j][i])
			write(&c, sans(panelSize, ink), vg.Point{X: (d.Min.X + d.Max.X) / 2, Y: d.Max.Y + 4.5}, center, p.title)
			rows[j] = union(rows[j], d.Rectangle)
		}
	}
	l.drawLabels(&c, box, rows)
}

// drawLabels writes the labels of the axes in the middle of what they are
// for.
func (l layout) drawLabels(c *draw.Canvas, box vg.Rectangle, rows []vg.Rectangle) {
	all := rows[0]
	for _, r := range rows {
		all = union(all, r)
	}
	style := sans(labelSize, ink)
	write(c, style, vg.Point{X: (all.Min.X + all.Max.X) / 2, Y: box.Min.Y + 2}, center, l.xLabel)
	for j, label := range l.yLabels {
		span := all
		if len(l.yLabels) == len(rows) {
			span = rows[j]
		}
		writeUpwards(c, style, vg.Point{X: box.Min.X + labelSize*0.8, Y: (span.Min.Y + span.Max.Y) / 2}, label)
	}
}

// union is the smallest rectangle around both.
func union(a, b vg.Rectangle) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: min(a.Min.X, b.Min.X), Y: min(a.Min.Y, b.Min.Y)},
		Max: vg.Point{X: max(a.Max.X, b.Max.X), Y: max(a.Max.Y, b.Max.Y)},
	}
}

// encodePNG renders for screens.
func encodePNG(l layout) ([]byte, error) { return rasterise(l, resolution) }

// rasterise renders at a given resolution; golden files are small.
func rasterise(l layout, dpi int) ([]byte, error) {
	return l.render(vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(l.total.X, l.total.Y), vgimg.UseDPI(dpi))})
}

// render draws on a canvas and returns its bytes.
func (l layout) render(c interface {
	vg.CanvasSizer
	io.WriterTo
}) ([]byte, error) {
	l.draw(draw.New(c))
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return b.Bytes(), err
}

// fallbackFonts have the metrics of Liberation Sans, or nearly: a viewer
// that lacks it takes one of them, not its serif default.
const fallbackFonts = "font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;"

// encodeSVG keeps text as text, which browsers search and select.
func encodeSVG(l layout) ([]byte, error) {
	svg, err := l.render(vgsvg.New(l.total.X, l.total.Y))
	svg = bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), []byte(fallbackFonts))
	// vgsvg writes images as PNG and says that they are JPEG.
	return bytes.ReplaceAll(svg, []byte("data:image/jpg;"), []byte("data:image/png;")), err
}

// encodePDF goes through pdfCanvas, which repairs the writer's text and colours.
func encodePDF(l layout) ([]byte, error) {
	return l.render(pdfCanvas{vgpdf.New(l.total.X, l.total.Y)})
}
