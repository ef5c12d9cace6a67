package figures

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"hambench/bench/table"
	"hambench/paper"
)

// floor is what a panel has of the distance of chains without visible error.
type floor struct {
	self band // of independent draws
	// lines are, by line, the measured floors of its chains (paper.Floors): a number for each
	// split or seed. What a line differs in besides its friction does not count.
	lines [][]float64
}

// newFloor finds the floors of a panel's lines among those that were measured.
func newFloor(p *facet, measured map[table.Key]float64) floor {
	f := floor{self: selfBand(p.Table), lines: make([][]float64, len(p.lines))}
	for i, line := range p.lines {
		seen := make(map[table.Key]bool)
		for _, at := range line {
			for _, r := range at.Rows() {
				key := r.Key(paper.FloorColumns...)
				if v, ok := measured[key]; ok && !seen[key] {
					f.lines[i] = append(f.lines[i], v)
				}
				seen[key] = true
			}
		}
	}
	return f
}

// of is the measured floor of a line; NaN without one.
func (f floor) of(line int) float64 {
	if f.lines == nil {
		return math.NaN()
	}
	_, median, _ := spread(f.lines[line])
	return median
}

// medians are the measured floors of the lines.
func (f floor) medians() (of []float64) {
	for i := range f.lines {
		of = append(of, f.of(i))
	}
	return of
}

// common is a measured floor of the panel, NaN without any, and whether all lines have it.
func (f floor) common() (any float64, all bool) {
	known := slices.DeleteFunc(f.medians(), math.IsNaN)
	if len(known) == 0 {
		return math.NaN(), false
	}
	return known[0], slices.Min(known) == slices.Max(known)
}

// band is the self-distance, from 0 to 1: its mean, and its 5 and 95 % quantiles over
// predicted values. All are NaN without results.
type band struct{ mean, low, high float64 }

// selfBand is the mean self-distance over the splits: what the draws of a right chain have. All
// results of a split (or seed) that are judged by one truth carry the same one, which depends on
// the number of draws alone: each counts once, however many chains were judged by it.
func selfBand(t *table.Table) band {
	var of [3][]float64
	truths := present(t).GroupBy("dataset", "model", "oracle", "samples", "split", "seed")
	for _, truth := range truths {
		for i, column := range []string{"ks_self", "ks_self_low", "ks_self_high"} {
			of[i] = append(of[i], truth.Get(column).Number())
		}
	}
	return band{stat.Mean(of[0], nil), stat.Mean(of[1], nil), stat.Mean(of[2], nil)}
}

// floorStyle is that of a measured floor which all lines have: solid and without markers, as
// no line is.
var floorStyle = style{Color: ink, Width: 0.7}

// curves are the floors across a panel: that of independent draws, and the measured one or, if
// lines have several, those in the colours of the lines.
func (f floor) curves(x axis, styleOf func(i int) style) (out []curve) {
	across := func(name string, v float64, look style) {
		if isFinite(v) { // two points, at both ends of the axis
			ends := []float64{x.Low, x.High}
			out = append(out, curve{Name: name, Style: look, X: ends, Y: []float64{v, v}})
		}
	}
	if f.lines == nil { // no distances are shown
		return nil
	}
	across("self", f.self.mean, dotted(1))
	if v, all := f.common(); all {
		across("floor", v, floorStyle)
		return out
	}
	for i, v := range f.medians() {
		look := floorStyle
		look.Color = styleOf(i).Color
		across("floor", v, look)
	}
	return out
}

// floorEntries are the legend's of the floors that any panel has.
func (s *sampled) floorEntries() (entries []legendEntry) {
	var self, measured, several bool
	for _, f := range s.floors {
		v, all := f.common()
		self, measured = self || isFinite(f.self.mean), measured || isFinite(v)
		several = several || isFinite(v) && !all
	}
	if self {
		entries = append(entries,
			legendEntry{Label: "floor of independent draws", Style: dotted(1)})
	}
	label := "measured floor: full batch, smallest η"
	if several {
		label += ", in the colour of its line"
	}
	if measured {
		entries = append(entries, legendEntry{Label: label, Style: floorStyle})
	}
	return entries
}

// leaving says where the lines of a panel leave their measured floors: at the point from which
// on all finite chains are above all that the floor is of. Five chains on the floor are above
// five others once in 252 times; single ones say nothing. It is "" where there is nothing to say.
func (s *sampled) leaving(p *facet) string {
	var stay, leave []string
	for i, line := range p.lines {
		_, _, highest := spread(s.floors[p].lines[i])
		finite := slices.DeleteFunc(slices.Clone(line),
			func(at point) bool { return !isFinite(at.y) })
		if len(finite) == 0 || s.most == 1 || math.IsNaN(highest) {
			continue
		}
		from := len(finite)
		for from > 0 && finite[from-1].low > highest {
			from--
		}
		if from == len(finite) {
			stay = append(stay, s.names[i])
		} else {
			leave = append(leave, s.names[i]+" from "+s.ofX.Symbol+decimal(finite[from].x))
		}
	}
	var parts []string
	if len(stay) > 0 {
		parts = append(parts, strings.Join(stay, ", ")+" on the floor wherever finite")
	}
	if len(leave) > 0 {
		parts = append(parts,
			"every chain above every one of the floor's: "+strings.Join(leave, ", ")+" on")
	}
	if len(parts) == 0 {
		return ""
	}
	return capital(s.title(p)) + ": " + strings.Join(parts, "; ") + "."
}
