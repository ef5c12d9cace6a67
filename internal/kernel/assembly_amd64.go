package kernel

// What normals_amd64.s and passes_amd64.s hold, for AVX-512 and for AVX2. All
// of it works on whole turns of its loops, and flushes denormal numbers.

//go:noescape
func normals_avx512(c *counter, dst *float64, turns int)

//go:noescape
func normals_avx2(c *counter, dst *float64, turns int)

//go:noescape
func noiseUpdate_avx512(c *counter, coefficients *coefficients, theta, r, grad *float64, turns int)

//go:noescape
func noiseUpdate_avx2(c *counter, coefficients *coefficients, theta, r, grad *float64, turns int)

//go:noescape
func noiseStep_avx512(c *counter, coefficients *coefficients, theta, r *float64, grad, lead *float32, turns int)

//go:noescape
func noiseStep_avx2(c *counter, coefficients *coefficients, theta, r *float64, grad, lead *float32, turns int)

//go:noescape
func narrow_avx512(dst *float32, x *float64, turns int)

//go:noescape
func narrow_avx2(dst *float32, x *float64, turns int)

//go:noescape
func combine_avx512(dst *float64, rounded *float32, terms *summand, n, turns int)

//go:noescape
func combine_avx2(dst *float64, rounded *float32, terms *summand, n, turns int)

//go:noescape
func update_avx512(p *pass, turns int)

//go:noescape
func update_avx2(p *pass, turns int)
