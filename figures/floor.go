package figures

import (
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/paper"
)

// floor is what a panel has of the distance of chains without visible error.
type floor struct {
	self band // of independent draws
	// along says that the x axis tells floors apart, as that of frictions does. Else a line has one
	// floor, and its place is 0.
	along bool
	// lines are, by line and place, the measured floors of its chains (paper.Floors): a number for
	// each split or seed. What a line differs in besides its friction does not count.
	lines []map[float64][]float64
}

// newFloor finds the floors of a panel's lines among those that were measured, along an x axis of
// a setting.
func newFloor(p *facet, ofX bench.Setting, measured map[table.Key]float64) floor {
	f := floor{self: selfBand(p.Table), along: slices.Contains(paper.FloorColumns, ofX.Column)}
	for _, line := range p.lines {
		values := make(map[float64][]float64)
		// Chains at several steps have one floor, which counts once.
		seen := make(map[table.Key]bool)
		for _, at := range line {
			for _, r := range at.Rows() {
				key := r.Key(paper.FloorColumns...)
				if v, ok := measured[key]; ok && !seen[key] {
					values[f.place(at.x)] = append(values[f.place(at.x)], v)
				}
				seen[key] = true
			}
		}
		f.lines = append(f.lines, values)
	}
	return f
}

// place is that of the floor at x.
func (f floor) place(x float64) float64 {
	if f.along {
		return x
	}
	return 0
}

// of is the measured floor of a line at a place on the x axis, the median of the numbers; NaN
// without one.
func (f floor) of(line int, x float64) float64 {
	if f.lines == nil { // no distances are shown
		return math.NaN()
	}
	_, median, _ := spread(f.lines[line][f.place(x)])
	return median
}

// places are those at which a line has a measured floor, ascending.
func (f floor) places(line int) []float64 { return slices.Sorted(maps.Keys(f.lines[line])) }

// medians are the measured floors of the lines, at all their places.
func (f floor) medians() (of []float64) {
	for i := range f.lines {
		for _, x := range f.places(i) {
			of = append(of, f.of(i, x))
		}
	}
	return of
}

// common is a measured floor of the panel, NaN without any, and whether all lines have it.
func (f floor) common() (level float64, all bool) {
	known := f.medians()
	if len(known) == 0 {
		return math.NaN(), false
	}
	return known[0], slices.Min(known) == slices.Max(known)
}

// shared is how many lines have a measured floor.
func (f floor) shared(level float64) (n int) {
	for i := range f.lines {
		if f.of(i, 0) == level {
			n++
		}
	}
	return n
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

// levelStyle is that of a level of a whole panel, such as a measured floor which all lines have:
// solid and without markers, as no line is.
var levelStyle = style{Color: ink, Width: 0.7}

// across is a level of a panel: two points, at both ends of its x axis.
func across(x axis, name string, level float64, look style) curve {
	return curve{Name: name, Style: look, X: []float64{x.Low, x.High}, Y: []float64{level, level}}
}

// curves are the floors across a panel: that of independent draws, and the measured ones, in the
// colour of a line where no other line has it, and grey where several have.
func (f floor) curves(x axis, styleOf func(i int) style) (out []curve) {
	add := func(name string, v float64, look style) {
		if isFinite(v) {
			out = append(out, across(x, name, v, look))
		}
	}
	if f.lines == nil { // no distances are shown
		return nil
	}
	add("self", f.self.mean, dotted(1))
	if v, all := f.common(); all {
		add("floor", v, levelStyle)
		return out
	}
	drawn := make(map[float64]bool)
	for i := range f.lines {
		look, v := levelStyle, f.of(i, 0)
		look.Color = styleOf(i).Color
		if !f.along && f.shared(v) > 1 {
			look.Color = axisGrey
		}
		if !f.along {
			if !drawn[v] {
				add("floor", v, look)
			}
			drawn[v] = true
			continue
		}
		c := curve{Name: "floor", Style: look, X: f.places(i)}
		for _, x := range c.X {
			c.Y = append(c.Y, f.of(i, x))
		}
		if len(c.X) > 0 { // a floor was measured
			out = append(out, c)
		}
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
	label := "measured floor: full batch, smallest η, all integrators"
	if several {
		label += ", in the colour of its line (grey: of several)"
	}
	if measured {
		entries = append(entries, legendEntry{Label: label, Style: levelStyle})
	}
	return entries
}

// leaving says where the lines of a panel leave their measured floors: at the point from which
// on all finite chains are above all that the floor is of. Five chains on the floor are above
// five others once in 252 times; single ones say nothing. It is "" where there is nothing to say.
func (s *sampled) leaving(p *facet) string {
	var stay, leave []string
	for i, line := range p.lines {
		f := s.floors[p]
		_, _, highest := spread(f.lines[i][0]) // where a line has one floor
		finite := slices.DeleteFunc(slices.Clone(line),
			func(at point) bool { return !isFinite(at.y) })
		if len(finite) == 0 || s.most == 1 || math.IsNaN(highest) || f.along {
			continue
		}
		// From the last point back, as long as the lowest chain is above the highest of the floor.
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
