package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"hambench/bench"
	"hambench/bench/table"
)

// massShares are the shares of the posterior's mass inside the contours, from the inmost; the
// legend names them.
var massShares = []float64{0.1, 0.5, 0.9, 0.99}

// contourStyle is that of contours over the heat map; behind paths they are grey.
var contourStyle = style{Color: okabeIto[6], Width: 0.45}

// isPath reports whether a result has the series of a path, theta0 and theta1 of equal length,
// or those of a density on a grid: the grid's θ_1, its θ_2, and the log-density at each pair.
func isPath(r bench.Result) bool {
	x, y := len(r.Series["theta0"]), len(r.Series["theta1"])
	if r.Cell.Observe == bench.Density {
		return x > 1 && y > 1 && len(r.Series["logdensity"]) == x*y
	}
	return x == y
}

// drawPaths makes the figure of a two-parameter posterior and paths of chains over it, the
// paper's Figure 2: the posterior, then a path per friction over its contours, on common axes.
// Without the density the paths stand alone. The caption states the settings of the first path:
// bench sees to it that the others have the same, but for their friction.
func drawPaths(d *drawing) error {
	rows, err := d.finite(isPath)
	if err != nil {
		return err
	}
	var h *density        // of the posterior; nil if no cell recorded it
	var walks []table.Row // of the paths
	var xs, ys [][]float64
	for _, row := range rows {
		// Series count parameters from 0, labels of axes from 1.
		r := resultOf(row)
		x, y := r.Series["theta0"], r.Series["theta1"]
		xs, ys = append(xs, x), append(ys, y)
		if r.Cell.Observe == bench.Density {
			h = &density{X: x, Y: y, Value: r.Series["logdensity"]}
		} else {
			walks = append(walks, row)
		}
	}
	// Paths at one friction are told apart by what else they differ in.
	titles, stated := titlesOf(walks, setting("friction").Text)
	// All panels have the axes that the density and the longest path need.
	x := axis{Label: "parameter θ_1", Ticks: 4}.over(xs...).padded(0.03)
	y := axis{Label: "parameter θ_2", Ticks: 5}.over(ys...).padded(0.03)
	var row []*panel
	var behind []curve // the contours, grey, of the panels of paths
	if h != nil {
		// The heat map shows the density, the contours how much of the mass is where.
		posterior := &panel{Title: "posterior", X: x, Y: y, Heat: h}
		for _, level := range h.massLevels(massShares) {
			s := h.contour(level, contourStyle)
			posterior.Series = append(posterior.Series, s)
			s.Style.Color = selfGrey // a path must stand out
			behind = append(behind, s)
		}
		row = append(row, posterior)
	}
	// A path of thousands of steps is thin, and the first position that was recorded, a step or
	// more behind its start, a marker of another colour.
	path := style{Color: okabeIto[0], Width: 0.5}
	first := style{Color: okabeIto[1], Marker: markers[0]}
	for i, r := range walks { // each over the same contours
		series := resultOf(r).Series
		xs, ys := series["theta0"], series["theta1"]
		n := min(1, len(xs)) // a path may have no step
		lines := append(slices.Clip(behind), curve{Name: "path", Style: path, X: xs, Y: ys},
			curve{Name: "first", Style: first, X: xs[:n], Y: ys[:n]})
		row = append(row, &panel{Title: titles[i], X: x, Y: y, Series: lines})
	}
	// Panels are square, in one row, in points.
	f := &Figure{ID: d.plan.ID, Title: d.plan.Title, width: 168, height: 168,
		panels: [][]*panel{row}, Data: pathRecords(h, walks, stated)}
	// The heat map needs no entry: the contours say what it is.
	f.legend = []legendEntry{
		{Name: "contours", Label: "10, 50, 90, 99 % of the posterior's mass", Style: contourStyle},
		{Name: "path", Label: "path", Style: path},
		{Name: "first", Label: "first position shown", Style: first},
	}
	var note []string
	// A caption states what the paths have in common, and how long they are.
	if len(walks) > 0 { // of a density alone there is nothing to state
		c := resultOf(walks[0]).Cell
		steps, shown, behind := c.Samples*c.Thin, "every step shown", ""
		if c.Thin > 1 {
			shown = fmt.Sprintf("one step of %d shown", c.Thin)
		}
		if c.BurnIn > 0 {
			behind = fmt.Sprintf(", behind a burn-in of %d steps", c.BurnIn)
		}
		note = append(note, fmt.Sprintf(
			"%s, %s, η = %s%s, %s: %d steps, %s units of simulation time%s.",
			capital(c.Integrator), batchText(c), decimal(c.Step), unusual(walks[0]), shown, steps,
			decimal(math.Round(float64(steps)*c.Step*100)/100), behind))
	}
	f.Caption = d.caption(note...)
	d.out.Figures = append(d.out.Figures, f)
	return nil
}

// pathRecords are the grid of the density, then every position of every path, with the settings
// that its title states: rows of two kinds, which the column kind tells apart. Those of a path
// have no log-density, and positions in the order of time; those of the density no friction,
// and θ_1 changing fastest. Log-densities lack a constant, as the posterior's does.
func pathRecords(h *density, walks []table.Row, stated []bench.Setting) Records {
	columns := []string{"kind", "friction", "theta0", "theta1", "logdensity"}
	out := Records{Columns: append(columns, bench.ColumnsOf(stated...)...)}
	if h != nil {
		for i, v := range h.Value {
			row := []any{"density", nil, h.X[i%len(h.X)], h.Y[i/len(h.X)], v}
			out.add(append(row, make([]any, len(stated))...)...)
		}
	}
	for _, r := range walks {
		series, friction := resultOf(r).Series, setting("friction").Plain(r)
		for i, x := range series["theta0"] {
			row := []any{"path", friction, x, series["theta1"][i], nil}
			out.add(append(row, fieldsOf(stated, r)...)...)
		}
	}
	return out
}

// batchText is a cell's mini-batches as captions of one chain state them: their size, and the
// scheme that chooses them.
func batchText(c bench.Cell) string {
	if c.Batches == 1 {
		return "full batch"
	}
	return fmt.Sprintf("B = %d, %s", c.BatchSize, c.Scheme)
}

// capital makes the first letter of a name a capital, as captions begin with names of integrators.
// Symbols, such as η, stay as they are.
func capital(name string) string {
	if name != "" && 'a' <= name[0] && name[0] <= 'z' {
		return strings.ToUpper(name[:1]) + name[1:]
	}
	return name
}
