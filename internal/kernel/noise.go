package kernel

import "math"

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
	key    [2]uint32
	stream uint32
	vector uint64
}

// groupBlocks Philox blocks make one group of elements.
const (
	groupBlocks = 8
	groupLen    = 4 * groupBlocks
)

// NewNoise returns the sequence of a key and a stream, at its first vector.
func NewNoise(key uint64, stream uint32) *Noise {
	return &Noise{key: [2]uint32{uint32(key), uint32(key >> 32)}, stream: stream}
}

// Normal fills dst with the next vector.
func (n *Noise) Normal(dst []float64) {
	n.normals(dst, 0)
	n.vector++
}

// normals stores the elements of the current vector from element 32·group on.
func (n *Noise) normals(dst []float64, group int) {
	var z [groupLen]float64
	for ; len(dst) > 0; group++ {
		n.group(&z, group)
		dst = dst[copy(dst, z[:]):]
	}
}

// group computes one group of 32 elements of the current vector.
func (n *Noise) group(z *[groupLen]float64, group int) {
	for b := range groupBlocks {
		u := n.block(uint32(groupBlocks*group + b))
		for w := range 2 {
			i := 2*b + w
			z[i], z[i+groupLen/2] = boxMuller(u[w], u[2+w])
		}
	}
}

func (n *Noise) block(i uint32) [4]uint32 {
	return Philox([4]uint32{i, uint32(n.vector), uint32(n.vector >> 32), n.stream}, n.key)
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
