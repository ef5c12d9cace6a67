package figures

import (
	"iter"
	"slices"

	"gonum.org/v1/gonum/stat"

	"hambench/bench/table"
)

// chart says which columns of a table make a figure. What rows differ in besides these
// columns is averaged. Groups are told apart by their values, never by what they are called.
type chart struct {
	rows, columns []string // which panels they stand in
	lines         []string // which line of a panel they belong to
	x             []string // which point of a line they belong to
	// at is the place on the x axis of the rows of a point; NaN if they have none.
	at func(*table.Table) float64
	// y is the value of a row; NaN leaves it out of the mean.
	y func(table.Row) float64
	// name is that of a line, by any row of it.
	name func(table.Row) string
	// bounded says that y lies between 0 and 1, beyond which no band goes.
	bounded bool
}

// point holds the rows at one place of a line, and the mean of their values.
type point struct {
	*table.Table
	line      int // index of the line in the legend
	x         float64
	mean, sd  float64 // NaN without values; sd is for fewer than two
	low, high float64 // edges of the band: a deviation to both sides
	lost      float64 // share of the results that diverged or have no stationary law
}

// panel holds the rows of a panel and their points by line, ascending in x. A line that
// the panel lacks has none.
type facet struct {
	*table.Table
	lines [][]point
}

// grid is a table arranged by a chart, with what axes and captions need to know of all its
// points.
type grid struct {
	chart
	lines  []table.Group // in the order of the legend
	names  []string      // of the lines
	facets [][]*facet    // by rows and columns; nil where there is nothing

	most             int       // rows of a point at most
	anyLost          bool      // any point has a mark of lost chains
	xs, means, edges []float64 // places, means and edges of the bands of all points
}

// arrange puts the rows of a table into panels, lines and points. Rows and columns of panels
// ascend, texts in the order in which they occur. Lines are the given ones, or all there
// are in their order.
func (c chart) arrange(t *table.Table, lines []table.Group) *grid {
	if lines == nil {
		lines = t.GroupBy(c.lines...)
	}
	g := &grid{chart: c, lines: lines}
	for _, l := range lines {
		g.names = append(g.names, c.name(l.Rows()[0]))
	}
	columns := t.Sort(c.columns...).GroupBy(c.columns...)
	for _, r := range t.Sort(c.rows...).GroupBy(c.rows...) {
		of := byKey(r.GroupBy(c.columns...))
		row := make([]*facet, len(columns))
		for i, column := range columns {
			if t := of[column.Key]; t != nil {
				row[i] = g.facet(t)
			}
		}
		g.facets = append(g.facets, row)
	}
	for _, at := range g.points() {
		g.most, g.anyLost = max(g.most, at.Len()), g.anyLost || at.lost > 0
		g.xs, g.means = append(g.xs, at.x), append(g.means, at.mean)
		g.edges = append(g.edges, at.low, at.high)
	}
	return g
}

// byKey are groups by their keys.
func byKey(groups []table.Group) map[table.Key]*table.Table {
	of := make(map[table.Key]*table.Table)
	for _, g := range groups {
		of[g.Key] = g.Table
	}
	return of
}

// panel arranges the rows of one panel.
func (g *grid) facet(t *table.Table) *facet {
	p := &facet{t, make([][]point, len(g.lines))}
	of := byKey(t.GroupBy(g.chart.lines...))
	for i, line := range g.lines {
		if t := of[line.Key]; t != nil {
			for _, at := range t.Sort(g.x...).GroupBy(g.x...) {
				p.lines[i] = append(p.lines[i], g.point(at.Table, i))
			}
		}
	}
	return p
}

// point takes the mean over rows.
func (g *grid) point(t *table.Table, line int) point {
	p := point{Table: t, line: line, x: g.at(t)}
	var values []float64
	for _, r := range t.Rows() {
		if y := g.y(r); y == y {
			values = append(values, y)
		}
	}
	p.mean, p.sd = stat.MeanStdDev(values, nil)
	if p.low, p.high = p.mean, p.mean; isFinite(p.sd) {
		p.low, p.high = p.mean-p.sd, p.mean+p.sd
	}
	if g.bounded {
		p.low, p.high = max(p.low, 0), min(p.high, 1)
	}
	there := present(t)
	p.lost = float64(lost(there)) / float64(max(1, there.Len()))
	return p
}

// present are the rows that have a result.
func present(t *table.Table) *table.Table { return t.Where("missing", false, nil) }

// lost counts the chains that diverged and the exact rows without a stationary law.
func lost(t *table.Table) int {
	return t.Filter(func(r table.Row) bool {
		return r.Get("diverged").Truth() || r.Number("radius") >= 1
	}).Len()
}

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

// series is a line of a panel, with a band where values deviate.
func lineOf(line []point, name string, style style) curve {
	s := curve{Name: name, Style: style}
	for _, at := range line {
		s.X, s.Y = append(s.X, at.x), append(s.Y, at.mean)
		s.Low, s.High = append(s.Low, at.low), append(s.High, at.high)
		s.Lost = append(s.Lost, at.lost)
	}
	return s
}

// draw makes a panel of its lines, in front of other series; a panel of nothing has these
// alone.
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

// legend has the lines, with a label for each.
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
