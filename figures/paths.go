package figures

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"hambench/bench"
)

// massShares are the shares of the posterior inside the contours.
var massShares = []float64{0.1, 0.5, 0.9, 0.99}

// walk is a chain's path through two parameters.
type walk struct {
	cell bench.Cell
	x, y []float64
}

var (
	walkStyle  = draw.LineStyle{Color: okabeIto[0], Width: 0.5}
	startColor = okabeIto[1]
)

// Plot draws the path and its start. A path that leaves the finite numbers
// ends there.
func (w walk) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var pts []vg.Point
	for i := range w.x {
		pts = append(pts, vg.Point{X: x(w.x[i]), Y: y(w.y[i])})
	}
	if len(pts) == 0 {
		return
	}
	c.StrokeLines(walkStyle, c.ClipLinesXY(pts)...)
	markers[0].draw(&c, startColor, pts[0])
}

// newGrid checks the series of a density.
func newGrid(r bench.Result) (grid, error) {
	g := grid{x: r.Series["theta0"], y: r.Series["theta1"], value: r.Series["logdensity"]}
	if len(g.x) < 2 || len(g.y) < 2 || len(g.value) != len(g.x)*len(g.y) {
		return g, lacks(r, "the series of a density on a grid")
	}
	return g, nil
}

// newWalk checks the series of a path.
func newWalk(r bench.Result) (walk, error) {
	w := walk{cell: r.Cell, x: r.Series["theta0"], y: r.Series["theta1"]}
	if len(w.x) != len(w.y) {
		return w, fmt.Errorf("figures: result %.12s (%v): series theta0 and theta1 differ in length", r.Key, r.Cell)
	}
	return w, nil
}

// drawPaths draws a two-parameter posterior and paths of chains over it, the
// paper's Figure 2. Without the density the paths stand alone.
func drawPaths(d *drawing) error {
	var g *grid
	var walks []walk
	for _, r := range d.results {
		if r.Cell.Observe == bench.Density {
			found, err := newGrid(r)
			if err != nil {
				return err
			}
			g = &found
			continue
		}
		w, err := newWalk(r)
		if err != nil {
			return err
		}
		walks = append(walks, w)
	}
	if err := d.csv([]string{"kind", "friction", "theta0", "theta1", "logdensity"}, pathRows(g, walks)); err != nil {
		return err
	}
	return d.save(pathSheet(d, g, walks))
}

// pathRows are the grid of the density, then every position of every path.
func pathRows(g *grid, walks []walk) [][]string {
	var rows [][]string
	if g != nil {
		for i, v := range g.value {
			rows = append(rows, fields("density", "", g.x[i%len(g.x)], g.y[i/len(g.x)], v))
		}
	}
	for _, w := range walks {
		for i := range w.x {
			rows = append(rows, fields("path", frictionText(w.cell), w.x[i], w.y[i], ""))
		}
	}
	return rows
}

// pathSheet is one row of panels with common axes: the posterior, then a path
// per friction over its contours.
func pathSheet(d *drawing, g *grid, walks []walk) *sheet {
	x, y := pathAxes(g, walks)
	var row []panel
	var outline []plot.Plotter
	if g != nil {
		levels := g.massLevels(massShares)
		row = append(row, panel{"posterior", plotOf(contours{grid: *g, levels: levels, filled: true})})
		outline = append(outline, contours{grid: *g, levels: levels})
	}
	for _, w := range walks {
		row = append(row, panel{"C = " + frictionText(w.cell), plotOf(append(slices.Clone(outline), w)...)})
	}
	for i := range row {
		x.apply(&row[i].X, true)
		y.apply(&row[i].Y, i == 0)
	}
	sh := &sheet{
		title: d.plan.Title, width: 168, height: 168, xLabel: "parameter θ_1", yLabels: []string{"parameter θ_2"}, panels: [][]panel{row},
		legend: []swatch{
			strokeSwatch(contourStyle, "10, 50, 90, 99 % of the posterior's mass"), strokeSwatch(walkStyle, "path"),
			{"start", func(c *draw.Canvas, b vg.Rectangle) { markers[0].draw(c, startColor, middle(b, 1).Sub(vg.Point{X: 4})) }},
		},
	}
	var note []string
	if len(walks) > 0 {
		c := walks[0].cell
		note = append(note, fmt.Sprintf("%s, %s, η = %s, every step shown: %d steps, %s units of simulation time.",
			capital(c.Integrator), batchText(c), decimal(c.Step), c.Samples*c.Thin, decimal(math.Round(float64(c.Samples*c.Thin)*c.Step*100)/100)))
	}
	sh.caption = d.caption(note...)
	return sh
}

// pathAxes span the density's box and all paths.
func pathAxes(g *grid, walks []walk) (x, y axis) {
	var xs, ys [][]float64
	if g != nil {
		xs, ys = append(xs, g.x), append(ys, g.y)
	}
	for _, w := range walks {
		xs, ys = append(xs, w.x), append(ys, w.y)
	}
	x, y = linearRange(xs...).padded(0.03), linearRange(ys...).padded(0.03)
	x.ticks, y.ticks = linearTicks(x.low, x.high, 4), linearTicks(y.low, y.high, 5)
	return x, y
}
