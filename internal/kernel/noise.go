package kernel

import "math"

// Noise is an endless sequence of standard-normal vectors of float32
// resolution, widened to float64. Element i of vector n depends on the key,
// the stream, n and i only: not on the lengths of the vectors, nor on what
// was drawn before.
//
// The counter of Philox is (block, low and high word of n, stream). In
// assembly, whose sets all make the same normals, eight blocks make 32
// elements: lane 2b+w, 0 ≤ w < 2, takes word w of block b for the radius of a
// Box-Muller pair and word 2+w for its angle; the pair is elements 2b+w and
// 16+2b+w. So a vector register of any width finds its blocks side by side.
// Plain Go makes other normals: there a ziggurat is several times as fast.
type Noise struct {
	set     Set
	counter counter
	tail    [2 * groupLen]float64 // normals for the last part of a vector
	xi      []float64             // for updates that the assembly cannot fuse
}

// A group of elements is made of groupBlocks Philox blocks, of four words each.
const (
	groupBlocks = 8
	groupLen    = 4 * groupBlocks
)

// NewNoise returns the sequence of a key and a stream, at its first vector.
func NewNoise(key uint64, stream uint32) *Noise { return newNoise(chosen, key, stream) }

// newNoise is NewNoise on a given set.
func newNoise(s Set, key uint64, stream uint32) *Noise {
	return &Noise{set: s, counter: newCounter(key, stream)}
}

// Normal fills dst with the next vector.
func (n *Noise) Normal(dst []float64) {
	n.counter.block = 0
	i := normalVectors(n.set, &n.counter, dst)
	if n.set == generic {
		n.ziggurat(dst, 0)
		i = len(dst)
	}
	// What whole iterations leave, a group or two at a time.
	for i < len(dst) {
		i += copy(dst[i:], n.from(i, len(dst)))
	}
	n.advance()
}

// Update carries out u with the next vector as ξ.
func (n *Noise) Update(u *Update) {
	if !u.uniform() {
		// The fused loops take uniform coefficients alone: here normals go through memory, in room
		// that is kept between calls.
		if len(n.xi) < len(u.R) {
			n.xi = make([]float64, len(u.R))
		}
		xi := n.xi[:len(u.R)]
		n.Normal(xi)
		n.set.apply(u, xi)
		return
	}
	u.check(nil)
	n.counter.block = 0
	for i := noiseUpdateVectors(n.set, &n.counter, u); i < len(u.R); {
		xi := n.from(i, len(u.R))
		u.span(i, xi)
		i += len(xi)
	}
	n.advance()
}

// advance goes on to the next vector.
func (n *Noise) advance() {
	v := (n.counter.words[0] | n.counter.words[1]<<32) + 1
	n.counter.words[0], n.counter.words[1] = v&math.MaxUint32, v>>32
}

// from returns elements i, i+1, … of the current vector: at most those of tail, and
// none from end on. Element i starts a group.
func (n *Noise) from(i, end int) []float64 {
	n.counter.block = uint64(i / 4)
	// tail is as long as the longest iteration of any set, so that plain Go alone makes none.
	if normalVectors(n.set, &n.counter, n.tail[:]) == 0 {
		n.ziggurat(n.tail[:], i)
	}
	return n.tail[:min(len(n.tail), end-i)]
}
