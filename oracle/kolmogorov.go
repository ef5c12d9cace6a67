package oracle

import "math"

// Kolmogorov returns the two-sample Kolmogorov distance sup |F_a − F_b|
// between the empirical distribution functions of a and b, which must be
// sorted, not empty, and without NaN. Both functions jump at a value that
// the samples share before they are compared.
func Kolmogorov(a, b []float64) float64 {
	var d float64
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x := min(a[i], b[j])
		for i < len(a) && a[i] <= x {
			i++
		}
		for j < len(b) && b[j] <= x {
			j++
		}
		d = max(d, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return d
}

// KolmogorovCDF returns the one-sample Kolmogorov distance between the
// empirical distribution function of sorted and a continuous one.
func KolmogorovCDF(sorted []float64, cdf func(float64) float64) float64 {
	n := float64(len(sorted))
	var d float64
	for i, x := range sorted {
		f := cdf(x)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	return d
}
