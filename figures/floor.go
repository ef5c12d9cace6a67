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
	// lines are, by line, the measured floors of its chains (paper.Floors): a number for each
	// split or seed. What a line differs in besides its friction does not count.
	lines [][]float64
	// along are, by line, the medians of these at its points, where the x axis tells floors
	// apart, as that of frictions does; nil where a line has one floor.
	along []map[float64]float64
}

// newFloor finds the floors of a panel's lines among those that were measured, along an x axis of
// a setting.
func newFloor(p *facet, ofX bench.Setting, measured map[table.Key]float64) floor {
	f := floor{self: selfBand(p.Table), lines: make([][]float64, len(p.lines))}
	if slices.Contains(paper.FloorColumns, ofX.Column) {
		f.along = make([]map[float64]float64, len(p.lines))
	}
	for i, line := range p.lines {
		// Chains at several steps have one floor, which counts once.
		seen := make(map[table.Key]bool)
		for _, at := range line {
			before := len(f.lines[i]) // what follows is of this point
			for _, r := range at.Rows() {
				key := r.Key(paper.FloorColumns...)
				if v, ok := measured[key]; ok && !seen[key] {
					f.lines[i] = append(f.lines[i], v)
				}
				seen[key] = true
			}
			if _, v, _ := spread(f.lines[i][before:]); f.along != nil && isFinite(v) {
				if f.along[i] == nil {
					f.along[i] = make(map[float64]float64)
				}
				f.along[i][at.x] = v
			}
		}
	}
	return f
}

// of is the measured floor of a line at a place on the x axis; NaN without one.
func (f floor) of(line int, x float64) float64 {
	if f.lines == nil {
		return math.NaN()
	}
	if f.along != nil {
		if v, ok := f.along[line][x]; ok {
			return v
		}
		return math.NaN()
	}
	_, median, _ := spread(f.lines[line])
	return median
}

// medians are the measured floors of the lines, at all their places.
func (f floor) medians() (of []float64) {
	for i := range f.lines {
		if f.along == nil {
			of = append(of, f.of(i, math.NaN()))
			continue
		}
		for _, x := range slices.Sorted(maps.Keys(f.along[i])) {
			of = append(of, f.along[i][x])
		}
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

// levelStyle is that of a level of a whole panel, such as a measured floor which all lines have:
// solid and without markers, as no line is.
var levelStyle = style{Color: ink, Width: 0.7}

// across is a level of a panel: two points, at both ends of its x axis.
func across(x axis, name string, level float64, look style) curve {
	return curve{Name: name, Style: look, X: []float64{x.Low, x.High}, Y: []float64{level, level}}
}

// curves are the floors across a panel: that of independent draws, and the measured one or, if
// lines have several, those in the colours of the lines.
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
	for i := range f.lines {
		look := levelStyle
		look.Color = styleOf(i).Color
		if f.along == nil {
			add("floor", f.of(i, math.NaN()), look)
		} else if xs := slices.Sorted(maps.Keys(f.along[i])); len(xs) > 0 {
			c := curve{Name: "floor", Style: look, X: xs}
			for _, x := range xs {
				c.Y = append(c.Y, f.along[i][x])
			}
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
	label := "measured floor: full batch, smallest η"
	if several {
		label += ", in the colour of its line"
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
		_, _, highest := spread(s.floors[p].lines[i])
		finite := slices.DeleteFunc(slices.Clone(line),
			func(at point) bool { return !isFinite(at.y) })
		if len(finite) == 0 || s.most == 1 || math.IsNaN(highest) || s.floors[p].along != nil {
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
