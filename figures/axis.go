package figures

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// overhang is how far a label, with the space around it, may stick out of its
// axis, in points.
const overhang = vg.Length(8)

// logTicks returns ticks at 1, 2 and 5 times the powers of ten within [min,
// max], labelled by plain decimals as far as the labels, with their extent
// along the axis, fit on its length: powers of ten first. plot.LogTicks
// labels in exponents and loses ticks below 1 (gonum/plot#747).
func logTicks(low, high float64, length vg.Length, extent func(label string) vg.Length) []plot.Tick {
	var ticks []plot.Tick
	var extents [][2]vg.Length
	place := func(x float64) [2]vg.Length {
		middle := length * vg.Length(math.Log(x/low)/math.Log(high/low))
		half := extent(decimal(x))/2 + 3
		return [2]vg.Length{middle - half, middle + half}
	}
	fits := func(e [2]vg.Length) bool {
		if e[0] < -overhang || e[1] > length+overhang {
			return false
		}
		for _, o := range extents {
			if e[0] < o[1] && o[0] < e[1] {
				return false
			}
		}
		return true
	}
	for _, mantissa := range []float64{1, 2, 5} {
		for k := math.Floor(math.Log10(low)); k <= math.Ceil(math.Log10(high)); k++ {
			x := power(mantissa, int(k))
			if x < low || x > high {
				continue
			}
			t := plot.Tick{Value: x}
			if e := place(x); fits(e) {
				t.Label = decimal(x)
				extents = append(extents, e)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// across and upwards are the extents of labels along a horizontal and a
// vertical axis.
func across(label string) vg.Length { return sans(tickSize, ink).Width(label) }

// Labels are written upright, so along a vertical axis each takes its height.
func upwards(string) vg.Length { return tickSize }

// power returns mantissa·10^k as the float64 that the decimal denotes.
func power(mantissa float64, k int) float64 {
	x, err := strconv.ParseFloat(fmt.Sprintf("%ge%d", mantissa, k), 64)
	if err != nil {
		panic("figures: " + err.Error()) // k out of any float's range
	}
	return x
}

// linearTicks returns ticks at round values within [min, max], about n of
// them.
func linearTicks(low, high float64, n int) []plot.Tick {
	if !(high > low) {
		return nil
	}
	raw := (high - low) / float64(n)
	k := int(math.Floor(math.Log10(raw)))
	step := power(1, k)
	for _, m := range []float64{2, 5, 10} {
		if step < raw*0.75 {
			step = power(m, k)
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high*(1+1e-12); i++ {
		label := strconv.FormatFloat(i*step, 'f', max(0, -k), 64)
		if strings.Contains(label, ".") {
			label = strings.TrimRight(strings.TrimRight(label, "0"), ".")
		}
		if label == "-0" {
			label = "0"
		}
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strings.Replace(label, "-", "−", 1)})
	}
	return ticks
}

// axis is one axis of a panel: its range, its ticks, and whether it is
// logarithmic.
type axis struct {
	low, high float64
	log       bool
	ticks     []plot.Tick
}

// apply sets a panel's axis. Labels are left out where a neighbour has them.
func (a axis) apply(to *plot.Axis, labels bool) {
	to.Min, to.Max = a.low, a.high
	if a.log {
		to.Scale = plot.LogScale{}
	}
	ticks := slices.Clone(a.ticks)
	for i := range ticks {
		if !labels {
			ticks[i].Label = ""
		}
	}
	to.Tick.Marker = plot.ConstantTicks(ticks)
}

// at returns the value at a fraction of the axis.
func (a axis) at(fraction float64) float64 {
	if a.log {
		return a.low * math.Pow(a.high/a.low, fraction)
	}
	return a.low + fraction*(a.high-a.low)
}

// shows reports whether a value has a place on the axis: log axes panic at
// values ≤ 0 (gonum/plot#681).
func (a axis) shows(x float64) bool {
	return !math.IsNaN(x) && !math.IsInf(x, 0) && (!a.log || x > 0)
}

// clamp returns the value of the axis that is nearest to x.
func (a axis) clamp(x float64) float64 { return min(max(x, a.low), a.high) }

// padded widens the axis by a fraction of its length on both sides.
func (a axis) padded(fraction float64) axis {
	a.low, a.high = a.at(-fraction), a.at(1+fraction)
	return a
}

// logRange is the logarithmic axis over the values > 0. Without any, or with
// one only, it is a decade around it, or around 1.
func logRange(values []float64) axis {
	a := axis{log: true}.over(values, 1, 1)
	if a.low == a.high {
		a.low, a.high = a.low/math.Sqrt(10), a.high*math.Sqrt(10)
	}
	return a
}

// linearRange is the axis over the values that are numbers.
func linearRange(values ...[]float64) axis {
	a := axis{}.over(slices.Concat(values...), 0, 1)
	if a.low == a.high {
		a.low, a.high = a.low-1, a.high+1
	}
	return a
}

// over spans the values that the axis shows; without any, low to high.
func (a axis) over(values []float64, low, high float64) axis {
	shown := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !a.shows(v) })
	a.low, a.high = low, high
	if len(shown) > 0 {
		a.low, a.high = slices.Min(shown), slices.Max(shown)
	}
	return a
}

// gridLines draws faint horizontal lines at the labelled ticks of the
// vertical axis.
type gridLines struct{ ticks []plot.Tick }

func (g gridLines) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	style := draw.LineStyle{Color: gridGrey, Width: 0.5}
	for _, t := range g.ticks {
		if t.Label != "" && t.Value > p.Y.Min && t.Value <= p.Y.Max {
			c.StrokeLine2(style, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
}
