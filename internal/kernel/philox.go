package kernel

import "math/bits"

// Philox returns the block of random bits that Philox4x32-10 assigns to a
// counter under a key. The same counter and key always give the same block.
//
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011; known answers from its Random123 library.
func Philox(ctr [4]uint32, key [2]uint32) [4]uint32 {
	for range philoxRounds {
		hi0, lo0 := bits.Mul32(philoxM0, ctr[0])
		hi1, lo1 := bits.Mul32(philoxM1, ctr[2])
		ctr = [4]uint32{hi1 ^ ctr[1] ^ key[0], lo1, hi0 ^ ctr[3] ^ key[1], lo0}
		key[0] += philoxW0
		key[1] += philoxW1
	}
	return ctr
}

// Philox4x32's multipliers, the Weyl increments of its key, and its number
// of rounds (Salmon et al. 2011, table 2).
const (
	philoxM0     = 0xD2511F53
	philoxM1     = 0xCD9E8D57
	philoxW0     = 0x9E3779B9
	philoxW1     = 0xBB67AE85
	philoxRounds = 10
)

// counter is a Philox counter and the keys of all rounds, in the assembly's
// layout: a 64-bit word holds one of 32 bits.
type counter struct {
	block uint64
	words [3]uint64 // low and high word of the vector's number, stream
	keys  [2 * philoxRounds]uint64
	start [4]uint64 // see share
}

// newCounter returns the counter of a stream's first vector. The key of round i is the first
// round's plus i Weyl increments, each half by itself.
func newCounter(key uint64, stream uint32) (c counter) {
	c.words[2] = uint64(stream)
	k0, k1 := uint32(key), uint32(key>>32)
	for i := 0; i < len(c.keys); i += 2 {
		c.keys[i], c.keys[i+1] = uint64(k0), uint64(k1)
		k0 += philoxW0
		k1 += philoxW1
	}
	return c
}

func (c *counter) key() [2]uint32 { return [2]uint32{uint32(c.keys[0]), uint32(c.keys[1])} }

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

// draw returns a block's words, as Philox does. It needs what share derives.
func (c *counter) draw(block uint32) (x0, x1, x2, x3 uint32) {
	// p0 is the first round's product of the block, p1 the second round's of the word that the high
	// half of p0 becomes; start has their other operands.
	p0 := uint64(philoxM0) * uint64(block)
	p1 := uint64(philoxM1) * uint64(uint32(p0>>32)^uint32(c.start[0]))
	x0, x1, x2 = uint32(p1>>32)^uint32(c.start[1]), uint32(p1), uint32(p0)^uint32(c.start[2])
	// start[3] has a key of the third round in it already, which the loop adds itself.
	x3 = uint32(c.start[3] ^ c.keys[5])
	for i := 4; i < len(c.keys); i += 2 {
		p0, p1 := uint64(philoxM0)*uint64(x0), uint64(philoxM1)*uint64(x2)
		x0, x2 = uint32(p1>>32)^x1^uint32(c.keys[i]), uint32(p0>>32)^x3^uint32(c.keys[i+1])
		x1, x3 = uint32(p1), uint32(p0)
	}
	return x0, x1, x2, x3
}
