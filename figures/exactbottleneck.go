package figures

import (
	"fmt"
	"os"
	"slices"

	"gonum.org/v1/plot/vg"

	"hambench/bench"
	"hambench/certify"
	"hambench/usage"
)

// exactObservable is what the exact bottleneck shows: the law of the
// position, which predictions depend on.
const exactObservable = "theta.cov"

// DrawExactBottleneck draws the bottleneck without noise beside the sampled
// one, as figure "bottleneck-exact": above the distances of the experiment
// "bottleneck", below exact errors of the integrators that it has. The rows
// are of one Gaussian problem under one mini-batch scheme and with the full
// batch.
func DrawExactBottleneck(e bench.Experiment, get Getter, rows []certify.Row, o Options) (*Output, error) {
	f := bottleneckFamily
	s := newSweep(e.Cells, get, f.name)
	panels := groupErrors(rows, func(r certify.Row, x certify.Observable) bool {
		return x.Name == exactObservable && slices.Contains(s.names, r.Integrator)
	})
	slices.SortStableFunc(panels, func(a, b exactErrors) int { return fullLast(a) - fullLast(b) })
	if len(panels) == 0 || len(panels) != len(s.batches) {
		return nil, fmt.Errorf("figures: exact bottleneck: certified errors of %d schemes beside %d batch sizes: want as many", len(panels), len(s.batches))
	}
	results, missing := e.Results(get)
	if len(results) == 0 {
		return nil, fmt.Errorf("figures: no results of experiment %s: run it first", e.ID)
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, usage.Errorf("folder for figures cannot be created: %w", err)
	}
	e.ID, e.Title = "bottleneck-exact", "The bottleneck, sampled (above) and exact (below)"
	d := &drawing{experiment: e, get: get, options: o, results: results, out: &Output{Cells: len(results), Of: len(results) + len(missing)}}
	if err := d.csv(exactHeader, exactRows(panels)); err != nil {
		return d.out, err
	}
	return d.out, d.save(exactSheet(d, s, panels))
}

func fullLast(e exactErrors) int {
	if e.scheme == "full" {
		return 1
	}
	return 0
}

// exactSheet puts the exact panels below the sampled ones. Each row has its
// own range of steps: the problems differ in curvature.
func exactSheet(d *drawing, s *sweep, panels []exactErrors) *sheet {
	sh := bottleneckFamily.sheet(d, s)
	sh.yLabels = []string{sh.yLabels[0], "error of " + observableLabels[exactObservable]}
	var steps []float64
	for _, p := range panels {
		for _, l := range p.lines {
			for _, st := range l.stats {
				steps = appendNew(steps, st.h)
			}
		}
	}
	x := stepAxis(steps, sh.width)
	y := errorAxis(panels, func(exactErrors) bool { return true })
	shown, unstable := y, slices.ContainsFunc(panels, exactErrors.unstable)
	if unstable {
		shown = withStrip(y, "unstable", sh.height-panelTitle-vg.Length(6))
	}
	row := make([]panel, len(panels))
	for i, p := range panels {
		row[i] = panel{title: p.problem + ", exact: " + p.scheme, Plot: errorPlot(p, y, unstable)}
		x.apply(&row[i].X, true)
		shown.apply(&row[i].Y, i == 0)
	}
	sh.panels = append(sh.panels, row)
	sh.legend = append(sh.legend, strokeSwatch(slopeStyle, "orders 1, 2, 3"))
	sh.caption += " Below: stationary error computed without Monte Carlo; where an integrator has no line it is exact."
	return sh
}

var exactHeader = []string{"problem", "scheme", "integrator", "h", "error", "unstable"}

func exactRows(panels []exactErrors) [][]string {
	var rows [][]string
	for _, p := range panels {
		for _, l := range p.lines {
			for _, s := range l.stats {
				rows = append(rows, []string{p.problem, p.scheme, l.name, number(s.h), number(s.mean), fmt.Sprint(s.diverged > 0)})
			}
		}
	}
	return rows
}
