package certify

// dot is the inner product. Four sums break the chain of dependent additions.
func dot(x, y []float64) float64 {
	y = y[:len(x)]
	var a, b, c, d float64
	for len(x) >= 4 && len(y) >= 4 {
		a += x[0] * y[0]
		b += x[1] * y[1]
		c += x[2] * y[2]
		d += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	for i := range x {
		a += x[i] * y[i]
	}
	return (a + b) + (c + d)
}

// addScaled adds w·x to y.
func addScaled(y []float64, w float64, x []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += w * v
	}
}

func scale(x []float64, w float64) {
	for i := range x {
		x[i] *= w
	}
}

// evolution is how laws evolve: a law is a vector on which a kernel under a
// batch, and a refreshment, act linearly.
type evolution interface {
	// size is the length of a law.
	size() int
	// batches is the number K of batches.
	batches() int
	// kernel adds w times the law after one kernel under batch i to dst.
	kernel(dst []float64, w float64, src []float64, i int)
	// refresh replaces the law by the one after the refreshment, if the
	// integrator has one.
	refresh(law []float64)
}
