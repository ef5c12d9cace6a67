package kernel

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// digest is a hash of the bits of vectors.
func digest(vectors ...[]float64) uint64 {
	h := fnv.New64a()
	for _, x := range vectors {
		for _, v := range x {
			binary.Write(h, binary.LittleEndian, math.Float64bits(v))
		}
	}
	return h.Sum64()
}

// The bits of the assembly's normals, and of updates with them, are a
// promise: stored results depend on them. A change of these numbers is a
// change of every chain that a machine with vector instructions runs.
func TestNormalsKeepTheirBits(t *testing.T) {
	const normals, updates, still = 0xc421c0e597ec3fce, 0x72a8a53519092bb8, 0x96d43c758cf1e2b1
	const steps, drifts = 0x57d401b103d12184, 0x4a3f34f1b1715c30
	for _, s := range assemblySets(t) {
		r := rand.New(rand.NewPCG(3, 4))
		n := newNoise(s, 0x0123456789abcdef, 5)
		n.counter.words[0] = math.MaxUint32 - 1 // a carry follows
		x := make([]float64, dim)
		var all [][]float64
		for range 4 {
			n.Normal(x)
			all = append(all, append([]float64(nil), x...))
		}
		if got := digest(all...); got != normals {
			t.Errorf("%s: normals have the digest %#x, want %#x", s.Name(), got, uint64(normals))
		}
		coef := func() Coef { return Coef{All: r.NormFloat64()} }
		u := &Update{Theta: randoms(r, dim), R: randoms(r, dim), G: randoms(r, dim), P: coef(), A: coef(), B: coef(), Q: coef(), S: coef(), D: coef()}
		for range 3 {
			n.Update(u)
		}
		if got := digest(u.Theta, u.R); got != updates {
			t.Errorf("%s: updates have the digest %#x, want %#x", s.Name(), got, uint64(updates))
		}
		u.Theta, u.G = nil, nil
		for range 3 {
			n.Update(u)
		}
		if got := digest(u.R); got != still {
			t.Errorf("%s: updates of the momentum have the digest %#x, want %#x", s.Name(), got, uint64(still))
		}
		// The pass of a float32 chain's step, and of a drift.
		u = &Update{
			Theta: randoms(r, dim), R: randoms(r, dim), P: coef(), A: coef(), B: coef(), Q: coef(), S: coef(), D: coef(),
			likelihood: Likelihood{Float32: floats(randoms(r, dim)), Next: make([]float32, dim), Drift: coef()},
		}
		for range 3 {
			n.Update(u)
		}
		if got := digest(u.Theta, u.R, widened(u.likelihood.Next)); got != steps {
			t.Errorf("%s: whole steps have the digest %#x, want %#x", s.Name(), got, uint64(steps))
		}
		x, rounded := randoms(r, dim), make([]float32, dim)
		s.Combine(x, rounded, Summand{C: coef(), X: x}, Summand{C: Coef{Each: randoms(r, dim)}, Float32: floats(randoms(r, dim)), Prior: randoms(r, dim)})
		if got := digest(x, widened(rounded)); got != drifts {
			t.Errorf("%s: drifts have the digest %#x, want %#x", s.Name(), got, uint64(drifts))
		}
	}
}
