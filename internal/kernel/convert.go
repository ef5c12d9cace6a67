package kernel

// Narrow stores x, rounded to float32, in dst, of the same length.
func Narrow(dst []float32, x []float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = float32(v)
	}
}

// WidenAdd stores x + y in dst; all are of the same length, and dst may be y.
func WidenAdd(dst []float64, x []float32, y []float64) {
	dst, x = dst[:len(y)], x[:len(y)]
	for i, v := range y {
		dst[i] = float64(x[i]) + v
	}
}
