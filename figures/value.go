package figures

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
)

// Figure is a figure as plain data, from which files and pages are drawn. Lengths
// are in points.
type Figure struct {
	ID      string // names its files
	Title   string
	Warning string        // what must not be overlooked
	panels  [][]*panel    // of equal length; nil is an empty place
	legend  []legendEntry // in the order in which it is read
	Caption string
	// width and height are those of one panel, with its share of axes and gaps.
	width, height float64
	Data          Records // the numbers drawn
}

// panel is one plot of a figure.
type panel struct {
	Title  string
	Note   string // in the lower right corner
	Words  []word // names of regions, over all else
	X, Y   axis
	Heat   *density // behind all series
	Series []curve  // from the back to the front; all bands lie behind all lines
}

// inRows puts panels into rows of the given number of columns, or of as many as there
// are panels if these are fewer. Empty places fill up the last row.
func inRows(panels []*panel, columns int) [][]*panel {
	columns = min(columns, len(panels))
	for len(panels)%columns > 0 {
		panels = append(panels, nil)
	}
	return slices.Collect(slices.Chunk(panels, columns))
}

// axis is an axis of a panel. It is compared by ==: panels with equal axes share the labels of
// their ticks.
type axis struct {
	// Unit stands behind the label, in parentheses; "" for a number without one.
	Label, Unit string
	// Low and High are the values at the ends, in the unit of the data, above 0 if Log is set.
	Low, High float64
	Log       bool
	// Ticks is about how many ticks a linear axis has; Powers labels a
	// logarithmic one at powers of ten.
	Ticks  int
	Powers bool
	Grid   bool // faint lines at the labelled ticks
	// Lost names the place beyond the axis for points without a value; "" if no
	// panel of the figure has any.
	Lost string
}

// curve is a line, with a band or without, or points alone. A NaN value leaves
// a gap.
type curve struct {
	Name  string // of its entry in the legend
	Style style
	// X and Y are of one length, in the units of the axes. Lines are drawn in their order, which
	// need not ascend: contours and paths have any.
	X, Y []float64
	// Low and High are the edges of a band; nil without one.
	Low, High []float64
	// Lost are the shares of the chains at each point that diverged or have no
	// stationary law; nil where that cannot be.
	Lost []float64
	// Left are the points of chains that left the posterior: hollow, and joined to no other. Nil
	// where that cannot be.
	Left []bool
}

// left reports whether the i-th point is of chains that left the posterior.
func (s curve) left(i int) bool { return s.Left != nil && s.Left[i] }

// word is a text at a place of a panel.
type word struct {
	X, Y float64 // the middle of its baseline, in the units of the axes
	Text string
}

// style is how a series is drawn.
type style struct {
	Color  colour
	Fill   colour  // of the band; 0 without one
	Width  float64 // of the line; 0 without one
	Dashes []float64
	Marker marker // "" without one
}

// legendEntry is an entry of the legend.
type legendEntry struct {
	Name  string // of the series that it stands for
	Label string
	Style style
	Lost  float64 // a bar for this share of lost chains
}

// density is a log-density on a rectangular grid, Value[j*len(X)+i] at (X[i], Y[j]), up to a
// constant. X and Y ascend in equal steps.
type density struct {
	X, Y, Value []float64
}

// colour is a colour as 0xRRGGBBAA, not premultiplied.
type colour uint32

// RGBA implements color.Color.
func (c colour) RGBA() (r, g, b, a uint32) {
	return color.NRGBA{R: uint8(c >> 24), G: uint8(c >> 16), B: uint8(c >> 8), A: uint8(c)}.RGBA()
}

// String writes the colour as CSS does.
func (c colour) String() string { return fmt.Sprintf("#%08x", uint32(c)) }

// Table is a table as plain data.
type Table struct {
	ID      string
	Title   string
	Warning string
	Columns []Column
	Rows    [][]string // for people
	Notes   []string
	Data    Records // for programs
}

// Column is a column of a table for people.
type Column struct {
	Label string
	// Minor columns, those not 0, are left out if there is no room, highest first.
	Minor int
}

// Records are rows of numbers and words under named columns. A field is a
// string, an int, a bool, a float64, or nil for nothing.
type Records struct {
	Columns []string
	Rows    [][]any
}

// add appends a row; a float64 that is no number becomes nothing.
func (r *Records) add(fields ...any) {
	for i, f := range fields {
		if x, ok := f.(float64); ok && !isFinite(x) {
			fields[i] = nil
		}
	}
	r.Rows = append(r.Rows, fields)
}

// CSV returns a header line and a line for each row; numbers have eight digits.
func (r Records) CSV() ([]byte, error) {
	lines := [][]string{r.Columns}
	for _, row := range r.Rows {
		line := make([]string, len(row))
		for i, f := range row {
			line[i] = fieldText(f)
		}
		lines = append(lines, line)
	}
	var b bytes.Buffer
	err := csv.NewWriter(&b).WriteAll(lines)
	return b.Bytes(), err
}

// fieldText is a field as CSV has it.
func fieldText(f any) string {
	switch f := f.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(f, 'g', 8, 64)
	}
	return fmt.Sprint(f)
}

// json returns an array with an object for each row.
func (r Records) json() ([]byte, error) {
	// A map's keys are written in alphabetical order, whatever the order of the columns is.
	objects := make([]map[string]any, len(r.Rows))
	for i, row := range r.Rows {
		objects[i] = make(map[string]any)
		for k, f := range row {
			objects[i][r.Columns[k]] = f
		}
	}
	b, err := json.MarshalIndent(objects, "", "  ")
	return append(b, '\n'), err
}

// isFinite reports whether x is a number: without scores there is no mean, and
// with one there is no deviation.
func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
