package figures

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"hambench/bench"
	"hambench/integrators"
)

// family says how a sweep figure tells its lines apart.
type family struct {
	name func(bench.Cell) string // identifies and labels a line
	look func(i, n int, name string) look
	// fixed names what all lines share, for the caption.
	fixed func(bench.Cell) string
	logY  bool
	truth string // what distances are to
}

var methodFamily = family{
	name:  func(c bench.Cell) string { return c.Integrator },
	look:  func(_, _ int, name string) look { return integratorLook(name) },
	fixed: func(c bench.Cell) string { return "C = " + frictionText(c) },
	truth: "oracle",
}

var lengthFamily = family{
	name:  func(c bench.Cell) string { return fmt.Sprintf("N_l = %d", c.Inner) },
	look:  func(i, n int, _ string) look { return sequential(i, n) },
	fixed: func(c bench.Cell) string { return c.Integrator + ", C = " + frictionText(c) },
	truth: "oracle",
}

var frictionFamily = family{
	name:  func(c bench.Cell) string { return "C = " + frictionText(c) },
	look:  func(i, n int, _ string) look { return sequential(i, n) },
	fixed: func(c bench.Cell) string { return c.Integrator },
	truth: "oracle",
}

var bottleneckFamily = family{
	name:  func(c bench.Cell) string { return c.Integrator },
	look:  func(_, _ int, name string) look { return integratorLook(name) },
	fixed: func(c bench.Cell) string { return "C = " + frictionText(c) },
	logY:  true,
	truth: "posterior",
}

func frictionText(c bench.Cell) string {
	if c.Friction == 0 {
		return "∞"
	}
	return decimal(c.Friction)
}

// withOrder adds the order that an integrator claims to its name.
func withOrder(name string) string {
	m, err := integrators.Builtin().Lookup(name)
	if err != nil || math.IsInf(m.Claims.ErgodicOrder, 0) {
		return name
	}
	return name + " (order " + decimal(m.Claims.ErgodicOrder) + ")"
}

func (f family) draw(d *drawing) error {
	s := newSweep(d.experiment.Cells, d.get, f.name)
	if err := d.csv(sweepHeader, s.rows()); err != nil {
		return err
	}
	return d.save(f.sheet(d, s))
}

const stepLabel = "step size η (simulation time)"

// edge is the space between the outermost steps and the edges of a panel.
const edge = vg.Length(12)

// size is the size of a panel in a grid of n columns.
func (f family) size(columns int) (width, height vg.Length) {
	switch {
	case columns <= 2:
		return 302, 235
	case columns == 3:
		return 210, 126
	case columns == 4:
		return 170, 122
	}
	return 145, 120
}

func (f family) sheet(d *drawing, s *sweep) *sheet {
	sh := &sheet{
		title:  d.experiment.Title,
		xLabel: stepLabel, yLabels: []string{"mean Kolmogorov distance to the " + f.truth},
	}
	sh.width, sh.height = f.size(len(s.batches))
	data := vg.Point{X: sh.width - panelGap - 8, Y: sh.height - panelTitle - 6} // a panel without title and labels
	x := logRange(s.steps).padded(float64(edge / (data.X - 2*edge)))
	x.ticks = logTicks(x.low, x.high, data.X, across)
	y := f.distances(s, data.Y)
	shown := y
	if s.diverged() {
		shown = withStrip(y, "diverged", data.Y)
	}
	for j, dataset := range s.datasets {
		row := make([]panel, len(s.batches))
		for i, batch := range s.batches {
			if b, ok := s.find(dataset, batch); ok {
				row[i] = panel{title: b.title(), Plot: f.panel(s, b, y, shown)}
				shown.apply(&row[i].Y, i == s.first(dataset))
				x.apply(&row[i].X, j == s.last(batch))
			}
		}
		sh.panels = append(sh.panels, row)
	}
	f.legend(sh, s)
	sh.caption = d.caption(f.notes(d, s)...)
	sh.warning = d.replaced()
	return sh
}

// distances is the vertical axis that all panels share.
func (f family) distances(s *sweep, height vg.Length) axis {
	if !f.logY {
		return axis{low: 0, high: 1, ticks: linearTicks(0, 1, 4)}
	}
	var values []float64
	for _, b := range s.blocks {
		if b.self.known {
			values = append(values, b.self.low)
		}
		for _, l := range b.lines {
			for _, st := range l.stats {
				values = append(values, st.mean)
			}
		}
	}
	a := logRange(append(values, 1)).padded(0.03)
	a.high = 1
	a.ticks = logTicks(a.low, a.high, height, upwards)
	return a
}

// withStrip lengthens an axis by the strip for diverged cells, with its label,
// on a panel of the given height.
func withStrip(y axis, label string, height vg.Length) axis {
	without := height - stripHeight
	tick := plot.Tick{Value: y.at(float64((without + stripMiddle) / without)), Label: label}
	y.high = y.at(float64(height / without))
	y.ticks = append(slices.Clone(y.ticks), tick)
	return y
}

func (f family) panel(s *sweep, b block, y, shown axis) *plot.Plot {
	p := newPlot()
	hasStrip := shown.high > y.high
	if hasStrip {
		p.Add(strip{})
	}
	p.Add(gridLines{y.ticks}, selfDistance{band: b.self, axis: y})
	var curves []plot.Plotter
	for _, l := range b.lines {
		lane := slices.Index(s.names, l.name)
		k := curve{look: f.look(lane, len(s.names), l.name), stats: l.stats, axis: y, lane: lane, lanes: len(s.names), strip: hasStrip}
		p.Add(errorBand{k})
		curves = append(curves, k)
	}
	p.Add(curves...)
	return p
}

func (b block) title() string {
	if b.batch == bench.Full {
		return b.dataset + ", full batch"
	}
	return fmt.Sprintf("%s, B = %d (K = %d)", b.dataset, b.batch, b.k)
}

// first is the column of the leftmost panel of a row, and last the row of
// the lowest panel of a column: they carry the labels.
func (s *sweep) first(dataset string) int {
	for i, batch := range s.batches {
		if _, ok := s.find(dataset, batch); ok {
			return i
		}
	}
	return -1
}

func (s *sweep) last(batch int) int {
	for j := len(s.datasets) - 1; j >= 0; j-- {
		if _, ok := s.find(s.datasets[j], batch); ok {
			return j
		}
	}
	return -1
}

func (f family) legend(sh *sheet, s *sweep) {
	for i, name := range s.names {
		label := name
		if f.logY {
			label = withOrder(name)
		}
		sh.legend = append(sh.legend, lineSwatch(f.look(i, len(s.names), name), label))
	}
	sh.legend = append(sh.legend, selfSwatch("self-distance (5–95 %)"))
	if s.diverged() {
		sh.legend = append(sh.legend, divergedSwatch(true, "diverged"))
		if s.splits() > 1 {
			sh.legend = append(sh.legend, divergedSwatch(false, "diverged in some splits"))
		}
	}
}

// notes are the sentences of the caption that a sweep needs.
func (f family) notes(d *drawing, s *sweep) []string {
	var fixed []string
	for _, c := range d.experiment.Cells {
		fixed = appendNew(fixed, f.fixed(c))
	}
	notes := []string{
		strings.Join(fixed, " or ") + ".",
		"B: rows per mini-batch, K: mini-batches per epoch" + schemeText(d.experiment.Cells) + ".",
	}
	if n := s.splits(); n > 1 {
		notes = append(notes, fmt.Sprintf("Lines: mean over %d splits (seeds where a set has no splits); bands: one standard deviation to both sides.", n))
	} else {
		notes = append(notes, "One split: no error bands.")
	}
	if s.diverged() {
		notes = append(notes, "A chain that diverged counts as distance 1.")
	}
	if n := s.hidden(f); n > 0 {
		notes = append(notes, fmt.Sprintf("%d points at distance 0 have no place on a logarithmic axis.", n))
	}
	return notes
}

// hidden counts the points that the axis cannot show.
func (s *sweep) hidden(f family) int {
	n := 0
	for _, b := range s.blocks {
		for _, l := range b.lines {
			for _, st := range l.stats {
				if f.logY && st.known() && !(st.mean > 0) {
					n++
				}
			}
		}
	}
	return n
}

// schemeText names the mini-batch schemes of the cells.
func schemeText(cells []bench.Cell) string {
	var names []string
	for _, c := range cells {
		if c.Batches > 1 {
			names = appendNew(names, c.Scheme)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

var sweepHeader = []string{
	"dataset", "batch", "K", "scheme", "integrator", "nl", "friction", "h", "cells", "cells_expected", "cells_diverged",
	"ks_mean", "ks_sd", "self_mean", "self_p05", "self_p95",
}

// rows are the numbers drawn, a row per point.
func (s *sweep) rows() [][]string {
	var out [][]string
	for _, b := range s.blocks {
		for _, l := range b.lines {
			for _, st := range l.stats {
				c := l.cell
				friction := decimal(c.Friction)
				if c.Friction == 0 {
					friction = "inf"
				}
				out = append(out, []string{
					b.dataset, strconv.Itoa(b.batch), strconv.Itoa(b.k), c.Scheme, c.Integrator, strconv.Itoa(c.Inner), friction, number(st.h),
					strconv.Itoa(st.have), strconv.Itoa(st.expected), strconv.Itoa(st.diverged),
					number(st.mean), number(st.sd), number(b.self.mean), number(b.self.low), number(b.self.high),
				})
			}
		}
	}
	return out
}
