package figures

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"hambench/internal/distinct"
)

// tip holds what a page says of one point, and where the point is drawn.
type tip struct {
	at   vg.Point // from the lower left corner of the sheet
	text string
}

// fontStyle matches the font of a text, which a page's style sheet sets once.
var fontStyle = regexp.MustCompile(
	`font-family:[^;]*;font-variant:normal;font-weight:normal;font-style:normal;`)

// In SVG, pathData matches the data of a path, step one command of it with its numbers, and
// number one of those.
var (
	pathData = regexp.MustCompile(` d="[^"]*"`)
	step     = regexp.MustCompile(`[A-Z][^A-Z"]*`)
	number   = regexp.MustCompile(`-?[0-9.]+(?:e-?[0-9]+)?`)
)

// Inline returns the figure as an SVG element for an HTML page, drawn as its file is. Title,
// warning and caption are left to the page, and so are font and background: what is white in
// the file is not filled, and the element's class, chart, and its style's --width, which is its
// width in points, are for the page's style sheet. Every point lies under a circle whose title
// states its numbers, in a group of class tips.
func (f *Figure) Inline() (template.HTML, error) {
	bare := *f // whose layout has room for what is drawn alone
	bare.Title, bare.Warning, bare.Caption = "", "", ""
	l := bare.layout()
	l.tips = new([]tip) // which drawing fills
	svg, err := l.svg()
	if err != nil {
		return "", fmt.Errorf("figures: %s: %w", f.ID, err)
	}
	// What is before the drawing's group is the head of an SVG file.
	_, svg, _ = bytes.Cut(svg, []byte("<g "))
	// The end tag of the file's element goes too: the page's element has tips behind the group.
	svg = bytes.TrimSuffix(bytes.TrimSpace(svg), []byte("</svg>"))
	// Fonts and the ground are the page's, in light and in dark.
	svg = fontStyle.ReplaceAll(svg, nil)
	svg = bytes.ReplaceAll(svg, []byte("fill:#FFFFFF"), []byte("fill:none"))
	svg = pathData.ReplaceAllFunc(svg, shorten)
	width, height := float64(l.total.X), float64(l.total.Y)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart" viewBox="0 0 %.5g %.5g" style="--width:%.0f" `+
		`role="img" aria-label="%s">`,
		width, height, width, html.EscapeString(f.Title+": "+f.axisTitles()))
	b.WriteString("<g ")
	b.Write(svg)
	b.WriteString(`<g class="tips">`)
	for _, t := range *l.tips {
		// SVG counts from the top.
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="4"><title>%s</title></circle>`,
			float64(t.at.X), height-float64(t.at.Y), html.EscapeString(t.text))
	}
	b.WriteString("</g></svg>")
	return template.HTML(b.String()), nil
}

// shorten rounds a path's data to tenths of a point, which is less than a pixel shows, and
// counts each step from where the pen is: a page has a hundred thousand numbers.
func shorten(d []byte) []byte {
	var pen, start [2]int // in tenths; where the pen is, and where its subpath began
	return step.ReplaceAllFunc(d, func(s []byte) []byte {
		var tenths []int
		for _, n := range number.FindAll(s, -1) {
			x, _ := strconv.ParseFloat(string(n), 64) // which the expression matches
			tenths = append(tenths, int(math.Round(10*x)))
		}
		places := tenths // pairs of coordinates, of which the last is the step's end
		switch {
		case s[0] == 'Z':
			pen = start
			return []byte{'z'}
		case s[0] == 'A' && len(tenths) == 7:
			places = tenths[5:] // what is before them are radii, an angle and flags
		case len(tenths) < 2:
			return s // no command that draws
		}
		end := [2]int(places[len(places)-2:])
		for i := range places {
			places[i] -= pen[i%2]
		}
		pen = end
		if s[0] == 'M' {
			start = end
		}
		switch command := s[0] + 'a' - 'A'; {
		case command == 'l' && places[1] == 0:
			return inPoints('h', places[:1])
		case command == 'l' && places[0] == 0:
			return inPoints('v', places[1:])
		default:
			return inPoints(command, tenths)
		}
	})
}

// inPoints writes a command of a path's data and its numbers, which are tenths of a point.
func inPoints(command byte, tenths []int) []byte {
	out := []byte{command}
	for i, n := range tenths {
		if i > 0 && n >= 0 { // a sign parts numbers as well
			out = append(out, ' ')
		}
		out = strconv.AppendFloat(out, float64(n)/10, 'f', -1, 64)
	}
	return out
}

// axisTitles says what the panels show against what, for readers who hear the page.
func (f *Figure) axisTitles() string {
	var titles []string
	for _, p := range slices.Concat(f.panels...) {
		if p != nil {
			titles = distinct.Append(titles, p.Y.title()+" against "+p.X.title())
		}
	}
	return strings.Join(titles, "; ")
}

// tip keeps the place of a point with its numbers, if a page wants them. Points of data, of
// which there are many, and lines without markers, such as slopes, have none.
func (k canvas) tip(s curve, i int, at vg.Point) {
	if k.tips != nil && s.Style.Marker != "" && s.Style.Marker != dot {
		*k.tips = append(*k.tips, tip{at, k.reading(s, i)})
	}
}

// reading states the numbers of the i-th point of a series, to four digits: its values with the
// units of the axes' labels, its band, the share that was lost and, where axes are logarithmic,
// the slope from the point before it, which is a local order. Of a point of which all chains
// are lost there is nothing else to say.
func (k canvas) reading(s curve, i int) string {
	// Parts are read in this order: which line, where, what was lost, what is there.
	parts := []string{k.labelOf(s.Name), fmt.Sprintf("%s = %.4g", k.X.Label, s.X[i])}
	// A share of 1 is exact: counts of chains are divided by themselves.
	if s.Lost != nil && s.Lost[i] == 1 {
		return strings.Join(append(parts, k.Y.Lost), ", ")
	}
	if s.Lost != nil && s.Lost[i] > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %% %s", 100*s.Lost[i], k.Y.Lost))
	}
	value := fmt.Sprintf("%s = %.4g", k.Y.Label, s.Y[i])
	if s.Low != nil && s.High[i] > s.Low[i] {
		value += fmt.Sprintf(" (%.3g to %.3g)", s.Low[i], s.High[i])
	}
	parts = append(parts, value)
	if s.left(i) {
		parts = append(parts, "half or more of the finite chains left the posterior")
	}
	// Over a gap, or from 0, there is no slope, nor where no line joins the points.
	// Points without a place on the axes make gaps, too.
	shown := i > 0 && s.Style.Width > 0 && !s.left(i-1) && !s.left(i) &&
		k.shown(s, i-1) && k.shown(s, i) && s.Y[i] > 0 && s.Y[i-1] > 0
	if shown && k.X.Log && s.X[i] != s.X[i-1] {
		slope := math.Log(s.Y[i]/s.Y[i-1]) / math.Log(s.X[i]/s.X[i-1])
		parts = append(parts, fmt.Sprintf("local slope %.2f", slope))
	}
	return strings.Join(parts, ", ")
}

// labelOf is the legend's label of a line, or the line's own name if the legend lacks it.
func (k canvas) labelOf(name string) string {
	for _, e := range k.legend {
		if e.Name == name && e.Label != "" {
			return e.Label
		}
	}
	return name
}
