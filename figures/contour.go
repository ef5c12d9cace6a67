package figures

import (
	"math"
	"slices"
	"sort"
)

// massLevels returns the log-densities whose superlevel sets hold the given shares of the mass
// on the grid, 0 to 1 (highest-density regions). All cells of the grid have one size.
func (h *density) massLevels(shares []float64) (levels []float64) {
	// Cells are taken from the densest on until they hold a share.
	sorted := slices.Sorted(slices.Values(h.Value))
	slices.Reverse(sorted)
	mass := make([]float64, len(sorted)) // of the points up to each
	var total float64                    // relative to that of the mode's cell
	for i, v := range sorted {
		total += math.Exp(v - sorted[0])
		mass[i] = total
	}
	for _, share := range shares {
		// Rounding may leave the last share beyond the sum.
		levels = append(levels, sorted[min(sort.SearchFloat64s(mass, share*total), len(sorted)-1)])
	}
	return levels
}

// contour is the curve on which the log-density is level, as pieces with gaps (NaN) between
// them. Each cell of the grid is cut into two triangles, in which interpolation is
// linear and a contour is one straight piece, so that no saddle is ambiguous.
func (h *density) contour(level float64, style style) curve {
	// Values are relative to the level: the contour is where they are 0.
	s := curve{Name: "contours", Style: style}
	corner := func(i, j int) [3]float64 {
		return [3]float64{h.X[i], h.Y[j], h.Value[j*len(h.X)+i] - level}
	}
	// Triangles of a cell: lower right (a, b, c), upper left (a, c, d).
	for j := range len(h.Y) - 1 {
		for i := range len(h.X) - 1 {
			a, b, c, d := corner(i, j), corner(i+1, j), corner(i+1, j+1), corner(i, j+1)
			s.addCrossing(a, b, c)
			s.addCrossing(a, c, d)
		}
	}
	return s
}

// addCrossing adds the piece on which the linear function on a triangle with the
// corners (x, y, value) is 0, if there is one: it then crosses two of its sides.
func (s *curve) addCrossing(corners ...[3]float64) {
	crossed := false
	for k, p := range corners {
		q := corners[(k+1)%3]
		// A corner at 0 counts as positive, so that a contour through it crosses two sides, not
		// one or three.
		if (p[2] >= 0) != (q[2] >= 0) { // the side is crossed at a fraction t of its length
			t := p[2] / (p[2] - q[2]) // 0 at p, 1 at q
			s.X, s.Y = append(s.X, p[0]+t*(q[0]-p[0])), append(s.Y, p[1]+t*(q[1]-p[1]))
			crossed = true
		}
	}
	// Pieces are apart: a gap follows each.
	if crossed {
		s.X, s.Y = append(s.X, math.NaN()), append(s.Y, math.NaN())
	}
}
