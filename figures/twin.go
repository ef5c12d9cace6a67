package figures

import (
	"fmt"
	"slices"

	"hambench/certify"
)

// exactObservable is what the exact twin of a sweep shows: the law of the
// position, which predictions depend on.
const exactObservable = "theta.cov"

// drawTwin draws a sweep once more, as figure "ID-exact": above its
// distances, below exact errors of the integrators that it has, a column per
// batch size above and per scheme below. Where these differ in number, the
// exact errors have a figure of their own, as those of a study without cells.
func drawTwin(d *drawing, f family, s *sweep) error {
	have, missing := d.plan.Evidence(d.Results.Rows)
	if len(missing) > 0 {
		d.note(fmt.Sprintf("%d of %d exact jobs are missing", len(missing), len(d.plan.Exact)))
	}
	if len(have) == 0 {
		return nil
	}
	panels := groupErrors(have, func(r certify.Row, x certify.Observable) bool {
		return x.Name == exactObservable && slices.Contains(s.names, r.Integrator)
	})
	slices.SortStableFunc(panels, func(a, b exactErrors) int { return fullLast(a) - fullLast(b) })
	twin := d.named("-exact")
	if len(panels) != len(s.batches) {
		return drawOrders(twin)
	}
	twin.plan.Title = fmt.Sprintf("The %s, sampled (above) and exact (below)", d.plan.ID)
	if err := twin.csv(twinHeader, twinRows(panels)); err != nil {
		return err
	}
	return twin.save(twinSheet(twin, f, s, panels))
}

// fullLast puts schemes in the order of the columns above: mini-batches, then
// the full batch.
func fullLast(e exactErrors) int {
	if e.scheme == "full" {
		return 1
	}
	return 0
}

// twinSheet puts the exact panels below the sampled ones. Each row has its
// own range of steps: the problems differ in curvature.
func twinSheet(d *drawing, f family, s *sweep, panels []exactErrors) *sheet {
	sh := f.sheet(d, s)
	sh.yLabels = []string{sh.yLabels[0], "error of " + observableLabels[exactObservable]}
	sh.panels = append(sh.panels, errorRow(sh, panels, errorRowOptions{
		names: s.names, steps: stepsOf(panels), labelled: true, unstable: unstable(panels),
		title: func(p exactErrors) string { return p.problem + ", exact: " + p.scheme },
	}))
	sh.legend = append(sh.legend, strokeSwatch(slopeStyle, "orders 1, 2, 3"))
	sh.caption += " Below: stationary error computed without Monte Carlo; where an integrator has no line it is exact."
	return sh
}

// twinHeader are the columns of twinRows, which have a row per point.
var twinHeader = []string{"problem", "scheme", "integrator", "h", "error", "unstable"}

func twinRows(panels []exactErrors) [][]string {
	var rows [][]string
	for _, p := range panels {
		for _, l := range p.lines {
			for _, s := range l.points {
				rows = append(rows, fields(p.problem, p.scheme, l.name, s.h, s.mean, s.diverged > 0))
			}
		}
	}
	return rows
}
