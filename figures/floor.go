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
	self band // of the truth's own draws
	// along says that the x axis tells floors apart, as that of frictions does. Else a line has one
	// floor, and its place is 0.
	along bool
	// lines are, by line and place, the measured floors of its chains (paper.Floors): a number for
	// each split or seed. What a line differs in besides its friction does not count.
	lines []map[float64][]float64
	// highest are, by line, the largest distances of single chains that these numbers are of.
	highest []float64
}

// newFloor finds the floors of a panel's lines among the chains that measure them, along an x axis
// of a setting.
func newFloor(p *facet, ofX bench.Setting, measured map[table.Key][]float64) floor {
	f := floor{self: selfBand(p.Table), along: slices.Contains(paper.FloorColumns, ofX.Column)}
	for _, line := range p.lines {
		values, highest := make(map[float64][]float64), math.NaN()
		// Chains at several steps have one floor, which counts once.
		seen := make(map[table.Key]bool)
		for _, at := range line {
			for _, r := range at.Rows() {
				key := r.Key(paper.FloorColumns...)
				if chains := measured[key]; len(chains) > 0 && !seen[key] {
					_, median, most := spread(chains)
					values[f.place(at.x)] = append(values[f.place(at.x)], median)
					if !(highest >= most) {
						highest = most
					}
				}
				seen[key] = true
			}
		}
		f.lines, f.highest = append(f.lines, values), append(f.highest, highest)
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

// band is the self-distance, from 0 to 1: its mean, and its 5 and 95 % quantiles over
// predicted values. All are NaN without results.
type band struct{ mean, low, high float64 }

// selfBand is the mean self-distance over the splits: what the draws of a right chain have. All
// results of a split (or seed) that are judged by one truth carry the same one, which depends on
// the number of draws alone: each counts once, however many chains were judged by it. Chains that
// no truth judges have none.
func selfBand(t *table.Table) band {
	var of [3][]float64
	judged := present(t).Filter(func(r table.Row) bool { return !r.Get("ks_self").IsNone() })
	truths := judged.GroupBy("dataset", "model", "oracle", "samples", "split", "seed")
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

// curves are the floors across a panel: that of the truth's own draws, and the measured ones.
func (f floor) curves(x axis, styleOf func(i int) style) []curve {
	if f.lines == nil { // no distances are shown
		return nil
	}
	measured := f.measured(x, styleOf)
	if !isFinite(f.self.mean) {
		return measured
	}
	return append([]curve{across(x, "self", f.self.mean, dotted(1))}, measured...)
}

// measured are the different measured floors of a panel's lines: one in ink, several each in the
// colour of the first line that has it.
func (f floor) measured(x axis, styleOf func(i int) style) (out []curve) {
	for i := range f.lines {
		c := across(x, "floor", f.of(i, 0), levelStyle)
		if f.along {
			c.X, c.Y = f.places(i), nil
			for _, at := range c.X {
				c.Y = append(c.Y, f.of(i, at))
			}
		}
		same := func(o curve) bool { return slices.Equal(o.X, c.X) && slices.Equal(o.Y, c.Y) }
		if len(f.lines[i]) > 0 && !slices.ContainsFunc(out, same) {
			c.Style.Color = styleOf(i).Color
			out = append(out, c)
		}
	}
	if len(out) == 1 {
		out[0].Style = levelStyle
	}
	return out
}

// floorEntries are the legend's of the floors that any panel of some cells has.
func (s *sampled) floorEntries(cells *table.Table) (entries []legendEntry) {
	var self bool
	most := 0 // measured floors of a panel
	// Any x axis will do for a count, an empty one too: floors differ in their levels.
	for _, f := range s.floors {
		self, most = self || isFinite(f.self.mean), max(most, len(f.measured(axis{}, s.style)))
	}
	if self {
		entries = append(entries, legendEntry{Label: s.selfLabel(), Style: dotted(1)})
	}
	label := "measured floor: full batch"
	if cells.Varies("nl") {
		label += ", N_l = 1"
	}
	label += ", smallest η"
	if cells.Varies("integrator") {
		label += " of any integrator"
	}
	if most > 1 {
		label += "; of several, each in the colour of the first line that has it"
	}
	if most > 0 {
		entries = append(entries, legendEntry{Label: label, Style: levelStyle})
	}
	return entries
}

// selfLabel says what the dotted line is. Draws of a known posterior are independent, those of
// reference chains as correlated as they are: other chains have another floor, which is lower
// where they are less correlated.
func (s *sampled) selfLabel() string {
	if s.posterior {
		return "floor of independent draws"
	}
	return "self-distance of the truth's draws"
}

// leastReplicates is how many splits or seeds it takes to tell chains from their floor: four are
// above four others once in 70 times by chance, two above two once in six.
const leastReplicates = 4

// alongStep reports whether the x axis is the step, or the step relative to the largest stable one:
// along it errors grow.
func (s *sampled) alongStep() bool {
	return s.ofX.Name == "step" && (s.xObserved == nil || s.xObserved.Name == bench.OnRelative)
}

// leaving says where the lines of a panel leave their measured floors as the step grows: at the
// point from which on all finite chains are above all that the floor is of. It is "" where there is
// nothing to say.
func (s *sampled) leaving(p *facet) string {
	if !s.alongStep() {
		return ""
	}
	var stay, leave []string
	f := s.floors[p]
	few := func(at point) bool { return present(at.Table).Len() < leastReplicates }
	for i, line := range p.lines {
		finite := slices.DeleteFunc(slices.Clone(line),
			func(at point) bool { return !isFinite(at.y) })
		// A single point of the full batch may be what the floor is of.
		alone := len(finite) == 1 && finite[0].Where("K", 1).Len() > 0
		if len(finite) == 0 || alone || len(f.lines[i][0]) < leastReplicates ||
			slices.ContainsFunc(finite, few) {
			continue
		}
		// From the last point back, as long as the lowest chain is above the highest of the floor.
		from := len(finite)
		for from > 0 && finite[from-1].low > f.highest[i] {
			from--
		}
		if from == len(finite) {
			stay = append(stay, s.names[i])
		} else {
			leave = append(leave, s.names[i]+" from "+s.placeText(finite[from]))
		}
	}
	text := capital(s.title(p)) + ": "
	const is = "clear of the floor (every chain above every one of the floor's): "
	switch {
	case len(leave) > 0 && len(stay) > 0:
		return text + is + strings.Join(leave, ", ") + " on; nowhere: " +
			strings.Join(stay, ", ") + "."
	case len(leave) > 0:
		return text + is + strings.Join(leave, ", ") + " on."
	case len(stay) > 0:
		return text + "nowhere " + is + strings.Join(stay, ", ") + "."
	}
	return ""
}

// placeText names the place of a point on the x axis.
func (s *sampled) placeText(at point) string {
	if s.xObserved != nil {
		return s.xObserved.Label + " = " + decimal(at.x)
	}
	return s.ofX.Symbol + decimal(at.x)
}
