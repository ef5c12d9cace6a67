package figures

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Axes are made by builders and turned into ticks by the renderer.

const (
	// timeUnit is that of the axis of the step, sampled and exact.
	timeUnit = "simulation time"
	// edge is the space, in points, between the outermost steps and the edges of
	// a panel.
	edge = 12
)

// title returns the label with its unit.
func (a axis) title() string {
	if a.Unit == "" {
		return a.Label
	}
	return a.Label + " (" + a.Unit + ")"
}

// at returns the value at a fraction of the axis, from 0 at its low end to 1; beyond these it
// is beyond the axis.
func (a axis) at(fraction float64) float64 {
	if a.Log {
		return a.Low * math.Pow(a.High/a.Low, fraction)
	}
	return a.Low + fraction*(a.High-a.Low)
}

// along is a function of the values of the axis, as a line of n straight pieces.
func (a axis) along(n int, f func(float64) float64) (xs, ys []float64) {
	for i := range n + 1 {
		x := a.at(float64(i) / float64(n))
		xs, ys = append(xs, x), append(ys, f(x))
	}
	return xs, ys
}

// shows reports whether a value has a place on the axis: log axes panic at
// values ≤ 0 (gonum/plot#681).
func (a axis) shows(x float64) bool {
	return isFinite(x) && (!a.Log || x > 0)
}

// clamp returns the value on the axis that is nearest to x.
func (a axis) clamp(x float64) float64 { return min(max(x, a.Low), a.High) }

// padded widens the axis by a fraction of its length on both sides: by a factor if it is
// logarithmic.
func (a axis) padded(fraction float64) axis {
	a.Low, a.High = a.at(-fraction), a.at(1+fraction)
	return a
}

// over makes the axis span the values that it shows. Without any, or with one
// only, it is a decade around it or 1, or two units around it or 0, or its own size if it is large.
func (a axis) over(values ...[]float64) axis {
	hidden := func(v float64) bool { return !a.shows(v) }
	shown := slices.DeleteFunc(slices.Concat(values...), hidden)
	switch {
	case len(shown) > 0:
	case a.Log:
		shown = []float64{1}
	default:
		shown = []float64{0, 1}
	}
	a.Low, a.High = slices.Min(shown), slices.Max(shown)
	// Values that differ in their last digits alone are one: ticks between them would be equal.
	size := max(math.Abs(a.Low), math.Abs(a.High))
	switch {
	case a.High-a.Low > 1e-9*size:
	case a.Log:
		a.Low, a.High = a.Low/math.Sqrt(10), a.High*math.Sqrt(10)
	default:
		a.Low, a.High = a.Low-max(1, size/2), a.High+max(1, size/2)
	}
	return a
}

// roomy pads the axis so that, on a panel of a width, the outermost values have
// some points of room.
func (a axis) roomy(width float64) axis {
	return a.padded(edge / (dataWidth(width) - 2*edge))
}

// dataWidth and dataHeight are what is left for the data of a panel, about, of its width and
// height in points.
func dataWidth(width float64) float64   { return width - panelGap - 8 }
func dataHeight(height float64) float64 { return height - panelTitle - 6 }

// place returns the ticks of an axis with a length in points, labelled and not.
func (a axis) place(length float64, vertical bool) []plot.Tick {
	powers := a.Powers && math.Floor(math.Log10(a.High)) > math.Ceil(math.Log10(a.Low))
	switch {
	case powers || a.Log && a.High/a.Low > manyDecades:
		return decadeTicks(a.Low, a.High)
	case a.Log:
		return logTicks(a.Low, a.High, vg.Length(length), vertical)
	}
	return linearTicks(a.Low, a.High, a.Ticks)
}

// manyDecades is the ratio of the ends of an axis from which on plain decimals are too long for it.
const manyDecades = 1e8

// overhang is how far a label, with the space around it, may stick out of its
// axis, in points.
const overhang = vg.Length(8)

// mantissas of the ticks of a logarithmic axis. The later ones are for axes of less than a decade
// that would have fewer than leastLabels without them.
var mantissas = []float64{1, 2, 5, 3, 7, 1.5}

const leastLabels = 3

// logTicks returns ticks at 1, 2 and 5 times the powers of ten within [low, high], and at others
// where these are few, labelled (tickText) as far as the labels fit on the axis's length:
// powers of ten first. Labels are upright, so along a vertical axis each takes up
// its height. A single label would not tell the scale: an axis between two of them has ticks
// as a linear one. plot.LogTicks labels in exponents and loses ticks below 1
// (gonum/plot#747).
func logTicks(low, high float64, length vg.Length, vertical bool) []plot.Tick {
	var ticks []plot.Tick
	var taken [][2]vg.Length // by labels
	// One pass over the decades for each mantissa: labels of powers of ten get their places first,
	// and those of later mantissas what is left.
	for i, mantissa := range mantissas {
		if i >= 3 && (len(taken) >= leastLabels || high >= 10*low) {
			break
		}
		for k := math.Floor(math.Log10(low)); k <= math.Ceil(math.Log10(high)); k++ {
			x := power(mantissa, int(k))
			if x < low || x > high {
				continue
			}
			t := plot.Tick{Value: x}
			extent := vg.Length(tickSize) // of the label along the axis
			if !vertical {
				extent = sans(tickSize, ink).Width(tickText(x))
			}
			middle, half := length*vg.Length(math.Log(x/low)/math.Log(high/low)), extent/2+3
			from, to := middle-half, middle+half // with 3 points of space at both ends
			overlaps := func(o [2]vg.Length) bool { return from < o[1] && o[0] < to }
			if from >= -overhang && to <= length+overhang && !slices.ContainsFunc(taken, overlaps) {
				t.Label = tickText(x)
				taken = append(taken, [2]vg.Length{from, to})
			}
			ticks = append(ticks, t)
		}
	}
	if len(taken) < 2 {
		return linearTicks(low, high, leastLabels)
	}
	return ticks
}

// mostDecades is how many labels an axis of powers of ten has at most.
const mostDecades = 6

// decadeTicks returns ticks at the powers of ten, every second, third …
// labelled if they are many.
func decadeTicks(low, high float64) []plot.Tick {
	first, last := int(math.Ceil(math.Log10(low))), int(math.Floor(math.Log10(high)))
	every := 1 + (last-first)/mostDecades
	var ticks []plot.Tick
	for k := first; k <= last; k++ {
		t := plot.Tick{Value: power(1, k)}
		if (k-first)%every == 0 {
			t.Label = fmt.Sprintf("1e%d", k)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// power returns mantissa·10^k as the float64 that the decimal denotes: ±Inf or 0
// beyond their range.
func power(mantissa float64, k int) float64 {
	x, _ := strconv.ParseFloat(fmt.Sprintf("%ge%d", mantissa, k), 64)
	return x
}

// linearTicks returns ticks at round values within [low, high], about n of them: at multiples
// of 1, 2 or 5 times a power of ten.
func linearTicks(low, high float64, n int) []plot.Tick {
	// The step is the smallest of the round ones that is not below three quarters of what n ticks
	// would have, so that there may be a third more of them.
	raw := (high - low) / float64(n)
	k := int(math.Floor(math.Log10(raw)))
	step := power(1, k)
	for _, m := range []float64{2, 5, 10} {
		if step < raw*0.75 {
			step = power(m, k)
		}
	}
	var ticks []plot.Tick
	// Products do not accumulate rounding errors as sums would. Labels are rounded to the digits of
	// the step, and the tolerance keeps a tick that lies at high.
	for i := math.Ceil(low / step); i*step <= high*(1+1e-12); i++ {
		label := tickText(scalar.Round(i*step, max(0, -k)))
		ticks = append(ticks, plot.Tick{Value: i * step, Label: label})
	}
	return ticks
}

// tickText writes a number at a tick: as a plain decimal where that is short, else as powers of
// ten are labelled, 1e6.
func tickText(x float64) string {
	text := decimal(math.Abs(x))
	if size := math.Abs(x); size >= 1e5 || 0 < size && size < 1e-4 {
		mantissa, power, _ := strings.Cut(strconv.FormatFloat(size, 'e', -1, 64), "e")
		k, _ := strconv.Atoi(power) // a number with a sign, as FormatFloat writes it
		text = fmt.Sprintf("%se%d", mantissa, k)
	}
	if x < 0 {
		return "−" + text
	}
	return text
}
