package figures

import (
	"cmp"
	"math"
	"slices"
)

// massLevels returns the log-densities whose superlevel sets hold the given
// shares of the mass on the grid (highest-density regions).
func (h *Heat) massLevels(shares []float64) []float64 {
	sorted := slices.Clone(h.Value)
	slices.SortFunc(sorted, func(a, b float64) int { return cmp.Compare(b, a) })
	var total float64
	for _, v := range sorted {
		total += math.Exp(v - sorted[0])
	}
	levels := make([]float64, len(shares))
	for k, share := range shares {
		levels[k] = sorted[len(sorted)-1]
		var sum float64
		for _, v := range sorted {
			if sum += math.Exp(v - sorted[0]); sum >= share*total {
				levels[k] = v
				break
			}
		}
	}
	return levels
}

// segment is a straight piece of a contour, in data units.
type segment [2][2]float64

// contour returns the pieces of the curve on which the value is level. Each
// cell of the grid is cut into two triangles, in which interpolation is
// linear and a contour is one straight piece, so that no saddle is ambiguous.
func (h *Heat) contour(level float64) []segment {
	var out []segment
	n := len(h.X)
	corner := func(i, j int) [3]float64 { return [3]float64{h.X[i], h.Y[j], h.Value[j*n+i] - level} }
	for j := range len(h.Y) - 1 {
		for i := range n - 1 {
			a, b, c, d := corner(i, j), corner(i+1, j), corner(i+1, j+1), corner(i, j+1)
			out = appendCrossing(out, a, b, c)
			out = appendCrossing(out, a, c, d)
		}
	}
	return out
}

// appendCrossing appends the piece on which the linear function on a
// triangle with the corners (x, y, value) is 0, if there is one.
func appendCrossing(out []segment, corners ...[3]float64) []segment {
	var ends [][2]float64
	for k, p := range corners {
		q := corners[(k+1)%3]
		if (p[2] >= 0) != (q[2] >= 0) {
			t := p[2] / (p[2] - q[2])
			ends = append(ends, [2]float64{p[0] + t*(q[0]-p[0]), p[1] + t*(q[1]-p[1])})
		}
	}
	if len(ends) == 2 {
		out = append(out, segment{ends[0], ends[1]})
	}
	return out
}

// outline is the boundary of the region above a level as a line with gaps.
func (h *Heat) outline(level float64, style Style) Series {
	s := Series{Name: "contours", Style: style}
	for _, p := range h.contour(level) {
		s.X = append(s.X, p[0][0], p[1][0], math.NaN())
		s.Y = append(s.Y, p[0][1], p[1][1], math.NaN())
	}
	return s
}
