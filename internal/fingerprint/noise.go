package fingerprint

import (
	"math"

	"hambench/internal/kernel"
)

// Noise hands out the equidistributed sequence of Weyl, n/φ mod 1, with mean 0
// and variance 1, instead of normals. It is exact in binary, and so the same
// everywhere; the normals of package noise depend on the instruction set. It
// implements integrators.Noise.
type Noise struct{ n uint64 }

// Normal fills dst with the next numbers.
func (w *Noise) Normal(dst []float64) {
	const overPhi = 0x9e3779b97f4a7c15 // 2⁶⁴/φ
	for i := range dst {
		w.n++
		dst[i] = (float64(w.n*overPhi>>40)/(1<<24) - 0.5) * math.Sqrt(12)
	}
}

// Update carries out u by the plain formulas.
func (w *Noise) Update(u *kernel.Update) {
	xi := make([]float64, len(u.R))
	w.Normal(xi)
	u.Apply(xi)
}
