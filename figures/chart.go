package figures

import (
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"hambench/bench/table"
)

// A figure of many numbers is made in four steps. Rows of the table are selected: cells with
// their results, or exact errors. A chart, which names columns, arranges them as a grid of
// facets, lines and points. A grid is drawn as panels on common axes, with styles, titles and
// notes that its maker knows (sampled.go, exact.go). The renderer, which knows no table, lays
// the panels out and draws them (render.go, panel.go).

// chart says which columns of a table make a figure, sampled or exact: panels stand in rows and
// columns, each has lines, and these have points. Of built-in studies, for example,
//
//	methods     rows: dataset              columns: batch
//	            lines: integrator, parameters
//	            x: h                       y: ks, over split and seed
//	orders      rows: integrator, parameters
//	            columns: problem, friction, mass, observable
//	            lines: scheme              x: h              y: error
//	efficiency  rows: scheme               columns: problem, friction, mass
//	            lines: integrator, parameters
//	            x: budget                  y: mse
//
// Of rows that differ in other columns alone a point shows the median. Groups are told apart by
// their values, never by what they are called: two lines may have one name, and are two lines.
type chart struct {
	rows, columns []string // which panels a row of the table belongs to
	lines         []string // which line of a panel
	x             []string // which point of a line
	// at is the place on the x axis of the rows of a point; NaN if they have none.
	at func(*table.Table) float64
	// y is the value of a row; NaN leaves it out of the median, and a point of no values out
	// of the line, which then has a gap.
	y func(table.Row) float64
	// err is the standard error of a row's value, which makes the band where points have one row;
	// nil for values without, and where points have several.
	err func(table.Row) float64
	// left tells the rows of chains that left the posterior; nil where nothing shows it.
	left func(table.Row) bool
	// name is that of a line in the legend, by any row of it.
	name func(table.Row) string
}

// point holds the rows at one place of a line, and what is drawn of their values. Rows of cells
// without a result are among them: they count as expected, and have no value.
type point struct {
	*table.Table
	line int // its place in grid.lines
	x    float64
	// y is the median of the values of the chains that stayed finite, low and high the smallest
	// and the largest of them; NaN without any.
	y, low, high float64
	lost         float64 // share of the results that diverged or have no stationary law, 0 to 1
	left         bool    // half or more of the values are of chains that left the posterior
	// mean and sd are of all values, those of chains that diverged among them; NaN without
	// values, and sd for fewer than two.
	mean, sd float64
}

// facet holds the rows of one panel, and its points by line.
type facet struct {
	*table.Table
	// lines are as many as the grid has; points ascend in x. A line without any row in the
	// facet is nil: nothing was asked for, which is not the same as no value.
	lines [][]point
}

// grid is a table arranged by a chart, with what axes and captions need to know of all its
// points: panels have common axes, so that they can be compared.
type grid struct {
	chart
	lines  []table.Group // in the order of the legend
	names  []string      // of the lines
	facets [][]*facet    // by rows and columns of panels; nil where there is nothing
	// rowsOf and columnsOf are a row of the table from each row and each column of panels,
	// which name it.
	rowsOf, columnsOf []table.Row

	most          int       // rows of a point at most: 1 without replicates
	anyLost       bool      // any point has lost chains
	xs, ys, edges []float64 // places, medians and edges of the bands of all points
}

// arrange puts the rows of a table into facets, lines and points. Rows and columns of panels
// ascend by their values, texts in the order in which they first occur in the table, so that
// a study's own order shows. Lines are the given ones, groups of this table or of another one
// with the same columns, or all there are in their order.
func (c chart) arrange(t *table.Table, lines []table.Group) *grid {
	// With the lines of another table two grids have one legend: places of lines are the same.
	if lines == nil {
		lines = t.GroupBy(c.lines...)
	}
	g := &grid{chart: c, lines: lines}
	for _, l := range lines {
		g.names = append(g.names, c.name(l.Rows()[0]))
	}
	// Columns are those of all rows: a row that lacks one has an empty place there.
	columns := t.Sort(c.columns...).GroupBy(c.columns...)
	for _, column := range columns {
		g.columnsOf = append(g.columnsOf, column.Rows()[0])
	}
	for _, r := range t.Sort(c.rows...).GroupBy(c.rows...) {
		of := table.ByKey(r.GroupBy(c.columns...))
		row := make([]*facet, len(columns))
		for i, column := range columns {
			if t := of[column.Key]; t != nil {
				row[i] = g.facet(t)
			}
		}
		g.facets, g.rowsOf = append(g.facets, row), append(g.rowsOf, r.Rows()[0])
	}
	for _, at := range g.points() {
		g.most, g.anyLost = max(g.most, at.Len()), g.anyLost || at.lost > 0
		g.xs, g.ys = append(g.xs, at.x), append(g.ys, at.y)
		g.edges = append(g.edges, at.low, at.high)
	}
	return g
}

// facet arranges the rows of one panel. Rows of lines that the grid does not have are in the
// facet's table, but at none of its points.
func (g *grid) facet(t *table.Table) *facet {
	p := &facet{t, make([][]point, len(g.lines))}
	of := table.ByKey(t.GroupBy(g.chart.lines...))
	for i, line := range g.lines {
		if t := of[line.Key]; t != nil {
			for _, at := range t.Sort(g.x...).GroupBy(g.x...) {
				p.lines[i] = append(p.lines[i], g.point(at.Table, i))
			}
		}
	}
	return p
}

// point makes a point of rows, which are those of a line at one place. A chain that diverged has
// no part in its mean and median: one of {0.2, 1, 1} would describe no chain.
func (g *grid) point(t *table.Table, line int) point {
	p := point{Table: t, line: line, x: g.at(t)}
	var finite []float64
	left := 0
	for _, r := range t.Rows() {
		// NaN, which is not equal to itself, has no part either: the row has no such value.
		if y := g.y(r); y == y && !r.Get("diverged").Truth() {
			finite = append(finite, y)
			if g.left != nil && g.left(r) {
				left++
			}
		}
	}
	p.left = left > 0 && 2*left >= len(finite)
	p.mean, p.sd = stat.MeanStdDev(finite, nil)
	p.low, p.y, p.high = spread(finite)
	if g.err != nil { // points then have one row
		e := g.err(t.Rows()[0])
		p.low, p.high = p.y-e, p.y+e
	}
	there := present(t)
	p.lost = float64(lost(there)) / float64(max(1, there.Len()))
	return p
}

// spread returns the smallest of some values, their median and the largest; NaN of none.
func spread(values []float64) (low, median, high float64) {
	n := len(values)
	if n == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	x := slices.Sorted(slices.Values(values))
	// The two middle ones are the same for an odd number.
	return x[0], (x[(n-1)/2] + x[n/2]) / 2, x[n-1]
}

// present are the rows that have a result: cells that were run, and all exact rows, which have
// no column that says so.
func present(t *table.Table) *table.Table { return t.Where("missing", false, nil) }

// finite are the rows of chains that did not diverge, and exact rows with a stationary law: those
// whose spectral radius is not 1 or more. Rows of cells have no radius, which is NaN here.
func finite(t *table.Table) *table.Table {
	return t.Filter(func(r table.Row) bool {
		return !r.Get("diverged").Truth() && !(r.Number("radius") >= 1)
	})
}

// lost counts the chains that diverged and the exact rows without a stationary law.
func lost(t *table.Table) int { return t.Len() - finite(t).Len() }

// points are all points with their panels: row by row, line by line, by ascending x.
func (g *grid) points() iter.Seq2[*facet, point] {
	return func(yield func(*facet, point) bool) {
		for _, p := range g.all() {
			for _, at := range slices.Concat(p.lines...) {
				if !yield(p, at) {
					return
				}
			}
		}
	}
}

// lineOf is a line of a panel, with a band where values deviate.
func lineOf(line []point, name string, style style) curve {
	s := curve{Name: name, Style: style}
	for _, at := range line {
		s.X, s.Y = append(s.X, at.x), append(s.Y, at.y)
		s.Low, s.High = append(s.Low, at.low), append(s.High, at.high)
		s.Lost, s.Left = append(s.Lost, at.lost), append(s.Left, at.left)
	}
	return s
}

// draw makes the panel of a facet: its lines, in styles by their places in the legend, in
// front of the series behind them. A facet that is nil has these alone.
func (g *grid) draw(p *facet, x, y axis, style func(i int) style, behind ...curve) *panel {
	out := &panel{X: x, Y: y, Series: behind}
	if p == nil {
		return out
	}
	for i, line := range p.lines {
		if line != nil {
			style := style(i)
			style.Fill = translucent(style.Color, len(g.names))
			out.Series = append(out.Series, lineOf(line, g.names[i], style))
		}
	}
	return out
}

// legend has an entry for each line, with a label and a style by its place. Labels are for
// readers; the names tie entries to the lines of panels.
func (g *grid) legend(label func(i int) string, style func(i int) style) (entries []legendEntry) {
	for i, name := range g.names {
		entries = append(entries, legendEntry{Name: name, Label: label(i), Style: style(i)})
	}
	return entries
}

// all are the panels that there are, row by row.
func (g *grid) all() (panels []*facet) {
	for _, row := range g.facets {
		for _, p := range row {
			if p != nil {
				panels = append(panels, p)
			}
		}
	}
	return panels
}
