package kernel

import (
	"math"
	"math/bits"
)

// Noise is an endless sequence of standard-normal vectors of float32
// resolution, widened to float64. Element i of vector n depends on the key,
// the stream, n and i only: not on the lengths of the vectors, nor on what
// was drawn before.
//
// The counter of Philox is (block, low and high word of n, stream). Eight
// blocks make 32 elements: lane 2b+w, 0 ≤ w < 2, takes word w of block b for
// the radius of a Box-Muller pair and word 2+w for its angle; the pair is
// elements 2b+w and 16+2b+w. So a vector register of any width finds its
// blocks side by side.
type Noise struct {
	set     *Set
	counter counter
	turn    [2 * groupLen]float64 // normals for the last part of a vector
	xi      []float64             // for updates that the assembly cannot fuse
}

// groupBlocks Philox blocks make one group of elements.
const (
	groupBlocks = 8
	groupLen    = 4 * groupBlocks
)

// counter is a Philox counter and the keys of all rounds, in the assembly's
// layout: a 64-bit word holds one of 32 bits.
type counter struct {
	block uint64
	words [3]uint64 // low and high word of the vector's number, stream
	keys  [2 * philoxRounds]uint64
	start [4]uint64 // see share
}

// share derives what the first rounds of all blocks have in common. They
// differ in the first word only, so that one of the first round's two
// products is the same for all, and the other one of the second round: words
// 0 and 1 after the first round, word 3 after the second. Keys are added
// where they can be.
func (c *counter) share() {
	hi1, lo1 := bits.Mul32(philoxM1, uint32(c.words[1]))
	hi0, lo0 := bits.Mul32(philoxM0, hi1^uint32(c.words[0]^c.keys[0]))
	c.start = [4]uint64{
		c.words[2] ^ c.keys[1],
		uint64(lo1) ^ c.keys[2],
		uint64(hi0) ^ c.keys[3],
		uint64(lo0) ^ c.keys[5],
	}
}

// NewNoise returns the sequence of a key and a stream, at its first vector.
func NewNoise(key uint64, stream uint32) *Noise { return newNoise(chosen, key, stream) }

func newNoise(s *Set, key uint64, stream uint32) *Noise {
	n := &Noise{set: s}
	n.counter.words[2] = uint64(stream)
	k0, k1 := uint32(key), uint32(key>>32)
	for i := 0; i < len(n.counter.keys); i += 2 {
		n.counter.keys[i], n.counter.keys[i+1] = uint64(k0), uint64(k1)
		k0 += philoxW0
		k1 += philoxW1
	}
	return n
}

// Normal fills dst with the next vector.
func (n *Noise) Normal(dst []float64) {
	n.counter.block = 0
	n.rest(dst, normalVectors(n.set.level, &n.counter, dst))
	n.advance()
}

// Update carries out u with the next vector as ξ.
func (n *Noise) Update(u *Update) {
	if !u.uniform() {
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
	for i := noiseUpdateVectors(n.set.level, &n.counter, u); i < len(u.R); {
		for _, xi := range n.from(i, len(u.R)) {
			u.coordinate(i, xi)
			i++
		}
	}
	n.advance()
}

// advance goes on to the next vector.
func (n *Noise) advance() {
	v := (n.counter.words[0] | n.counter.words[1]<<32) + 1
	n.counter.words[0], n.counter.words[1] = v&math.MaxUint32, v>>32
}

// rest fills dst from element i on, which starts a group.
func (n *Noise) rest(dst []float64, i int) {
	for i < len(dst) {
		i += copy(dst[i:], n.from(i, len(dst)))
	}
}

// from returns elements i, i+1, … of the current vector, as many as are at
// hand but none from end on. Element i starts a group.
func (n *Noise) from(i, end int) []float64 {
	n.counter.block = uint64(i / 4)
	done := normalVectors(n.set.level, &n.counter, n.turn[:])
	if done == 0 {
		done = groupLen
		n.group()
	}
	return n.turn[:min(done, end-i)]
}

// group computes the group of elements that starts at the counter's block.
func (n *Noise) group() {
	c := &n.counter
	key := [2]uint32{uint32(c.keys[0]), uint32(c.keys[1])}
	for b := range groupBlocks {
		u := Philox([4]uint32{uint32(c.block) + uint32(b), uint32(c.words[0]), uint32(c.words[1]), uint32(c.words[2])}, key)
		for w := range 2 {
			i := 2*b + w
			n.turn[i], n.turn[i+groupLen/2] = boxMuller(u[w], u[2+w])
		}
	}
}

// boxMuller turns random bits into two independent standard normals, rounded
// to float32: radius √(−2 ln u) with u = max(u1, 1)/2³² rounded to float32
// (so at most 6.7), and an angle whose quadrant is the top two bits of u2
// and whose position in the quadrant is the rest.
func boxMuller(u1, u2 uint32) (x, y float64) {
	u := float64(float32(max(u1, 1))) * 0x1p-32
	r := math.Sqrt(-2 * math.Log(u))
	quarter := float64(float32(int32(u2<<2))) * 0x1p-32 // −½ … ½ of a quarter turn
	y, x = math.Sincos(math.Pi / 2 * quarter)
	if u2&(1<<31) != 0 {
		x = -x
	}
	if u2&(1<<30) != 0 {
		x, y = y, x
	}
	return float64(float32(r * x)), float64(float32(r * y))
}
