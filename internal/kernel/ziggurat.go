package kernel

import "math"

// A ziggurat is a cover of the upper half of the normal density exp(−x²/2) by
// layers of equal area, all but the lowest of them rectangles from 0 to their
// width. A point of a layer, drawn uniformly, is under the density at once in
// 99 of 100 draws, as it lies within the next layer's width: one product and
// one comparison make a normal. Else it is compared with the density itself,
// or, in the lowest layer, drawn from the tail, so that the law is exact up to
// the resolution of a draw: 24 bits, as in float32.
//
// Source: Marsaglia and Tsang, "The ziggurat method for generating random
// variables", Journal of Statistical Software 5 (2000), with the layer and the
// position taken from different bits (Doornik, "An improved ziggurat method to
// generate normal random samples", 2005).
type ziggurat struct {
	// layers have their width / 2²⁴, and the width of the next layer.
	layers [zigguratLayers]struct{ unit, inner float64 }
	// height is the density at each layer's width.
	height [zigguratLayers + 1]float64
}

const (
	zigguratLayers = 256 // a word's lowest 8 bits
	zigguratTail   = 3.6541528853610088
	zigguratBits   = 0x1p-24
)

// theZiggurat has the layers from the lowest up, and the density's top at the
// end.
var theZiggurat = newZiggurat()

// newZiggurat computes the layers, from the lowest up, of the density f(x) = exp(−x²/2). With r the
// zigguratTail each has the area v = r f(r) + ∫_r^∞ f, and above a layer of width x the next one
// has the width x' with f(x') = f(x) + v/x.
func newZiggurat() *ziggurat {
	density := func(x float64) float64 { return math.Exp(-x * x / 2) }
	area := zigguratTail*density(zigguratTail) +
		math.Sqrt(math.Pi/2)*math.Erfc(zigguratTail/math.Sqrt2)
	z := &ziggurat{}
	// The lowest layer, with the tail, has the width of a rectangle of its area.
	width, next := area/density(zigguratTail), zigguratTail
	for i := range z.layers {
		z.layers[i].unit, z.layers[i].inner = width*zigguratBits, next
		z.height[i] = density(width)
		width = next
		// Rounding may take the density just above 1 at the top, where the width is 0.
		next = math.Sqrt(max(0, -2*math.Log(area/width+density(width))))
	}
	z.layers[zigguratLayers-1].inner = 0
	z.height[zigguratLayers] = 1
	return z
}

// draw makes a candidate of a word: the layer is its lowest 8 bits, the
// position is an odd number of 24 bits and a sign that the others are.
func (z *ziggurat) draw(word uint32) (layer uint8, x float64) {
	layer = uint8(word)
	return layer, float64(int32(word)>>7|1) * z.layers[layer].unit
}

// ziggurat fills dst with elements from, from+1, … of the current vector, the
// first of which starts a block: element 4b+w is made of word w of block b.
func (n *Noise) ziggurat(dst []float64, from int) {
	n.counter.share()
	for len(dst) > 0 {
		w0, w1, w2, w3 := n.counter.draw(uint32(from / 4))
		x := [4]float64{
			n.normal(from, w0), n.normal(from+1, w1), n.normal(from+2, w2), n.normal(from+3, w3),
		}
		done := copy(dst, x[:])
		dst, from = dst[done:], from+done
	}
}

// normal is element i, of the word given.
func (n *Noise) normal(i int, word uint32) float64 {
	layer, x := theZiggurat.draw(word)
	if math.Abs(x) < theZiggurat.layers[layer].inner {
		return x
	}
	return n.edge(i, layer, x)
}

// edge decides on a candidate that is not under the density for certain. Its
// random bits are those of attempt 1, 2, … for the element: the attempt is in
// the counter's bits that numbers of vectors do not reach.
func (n *Noise) edge(i int, layer uint8, x float64) float64 {
	const attemptBit = 16 // of the high word: vectors are fewer than 2⁴⁸
	c, z := &n.counter, theZiggurat
	for attempt := uint32(1); ; attempt++ {
		word1 := uint32(c.words[1]) | attempt<<attemptBit
		u := Philox([4]uint32{uint32(i), uint32(c.words[0]), word1, uint32(c.words[2])}, c.key())
		if layer == 0 { // the tail: Marsaglia (1964), as in the source
			t := -math.Log(uniform(u[0])) / zigguratTail
			if -2*math.Log(uniform(u[1])) > t*t {
				return math.Copysign(zigguratTail+t, x)
			}
			continue
		}
		// A height drawn uniformly within the layer: x counts if the point is under the density.
		low, high := z.height[layer], z.height[int(layer)+1]
		if low+(high-low)*uniform(u[0]) < math.Exp(-x*x/2) {
			return x
		}
		// Rejected: a new candidate, which the next attempt decides on unless it counts at once.
		if layer, x = z.draw(u[1]); math.Abs(x) < z.layers[layer].inner {
			return x
		}
	}
}

// uniform is a number in (0, 1).
func uniform(word uint32) float64 { return (float64(word) + 0.5) * 0x1p-32 }
