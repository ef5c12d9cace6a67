//go:build amd64 || arm64

package kernel

import (
	"math"
	"unsafe"
)

// Each function named Vectors does the whole iterations of its pass in assembly and
// returns the number of elements that these took: 0 in plain Go. The functions named
// Loop, which call the assembly, are in passes_amd64.go and passes_arm64.go.

// wholeIterations returns the number of iterations of a length that n elements fill.
func wholeIterations(s Set, n, length int) int {
	if s == generic {
		return 0
	}
	return n / length
}

// narrowVectors rounds x to float32 in dst.
func narrowVectors(s Set, dst []float32, x []float64) int {
	iterations := wholeIterations(s, len(x), iterationLen(s))
	if iterations > 0 {
		narrowLoop(s, &dst[0], &x[0], iterations)
	}
	return iterations * iterationLen(s)
}

// combineVectors stores a sum of terms in dst and, unless it is nil, in rounded.
func combineVectors(s Set, dst []float64, rounded []float32, terms []Summand) int {
	iterations := wholeIterations(s, len(dst), iterationLen(s))
	if iterations > 0 {
		combineLoop(s, &dst[0], unsafe.SliceData(rounded), unsafe.Pointer(&terms[0]),
			len(terms), iterations)
	}
	return iterations * iterationLen(s)
}

// pass is an update as the assembly reads it: internal/gen has its byte offsets.
type pass struct {
	theta, r, g, xi unsafe.Pointer
	// next is not nil for a whole step, whose g is in float32.
	next unsafe.Pointer
	// addTheta is not 0 if theta is to be added to g.
	addTheta uint64
	// coef are the addresses of the coefficients of the first iteration, step the bytes
	// by which each moves for the next; 0 for a uniform one, which all has repeated.
	coef [coefCount]unsafe.Pointer
	step [coefCount]int
	all  [coefCount*longestIteration + lineDoubles]float64
}

// lineDoubles is the number of doubles of a cache line. A load that straddles two lines
// takes twice as long.
const lineDoubles = 8

// longestIteration is the number of doubles of AVX-512's iterations.
const longestIteration = 32

// spread stores n times the number x for coefficient i, from the start of a cache line
// on, and returns its address.
func (p *pass) spread(i int, x float64, n int) unsafe.Pointer {
	skip := int(-uintptr(unsafe.Pointer(&p.all[0])) % (8 * lineDoubles) / 8)
	repeated := p.all[skip+i*longestIteration:][:n]
	for j := range repeated {
		repeated[j] = x
	}
	return unsafe.Pointer(&repeated[0])
}

// updateVectors carries out an update. A part that the update leaves out is read from r
// and has the coefficient 0, so that the assembly has one form.
func updateVectors(s Set, u *Update, xi []float64) int {
	iterations := wholeIterations(s, len(u.R), iterationLen(s))
	if iterations == 0 {
		return 0
	}
	// theta is not read from r where it is missing: nil tells the assembly to leave positions out.
	r := unsafe.Pointer(&u.R[0])
	p := pass{theta: unsafe.Pointer(unsafe.SliceData(u.Theta)), r: r, g: r, xi: r}
	// In the order of coefs A, which the gradient has, is 1, and S, which the noise has, is 4.
	none := Coef{}
	coefs, part := u.coefs(), &u.likelihood
	g, addTheta := u.force()
	switch {
	case part.Next != nil:
		p.g, p.next = unsafe.Pointer(&part.Float32[0]), unsafe.Pointer(&part.Next[0])
	case g != nil:
		p.g = unsafe.Pointer(&g[0])
	default:
		coefs[1] = &none
	}
	if addTheta {
		p.addTheta = 1
	}
	if xi != nil {
		p.xi = unsafe.Pointer(&xi[0])
	} else {
		coefs[4] = &none
	}
	for i, c := range coefs {
		// Coefficients of coordinates are read where they lie, 8 bytes each. A uniform one is
		// repeated to the length of an iteration, and read again in each.
		if c.Each != nil {
			p.coef[i], p.step[i] = unsafe.Pointer(&c.Each[0]), 8*iterationLen(s)
			continue
		}
		p.coef[i] = p.spread(i, c.All, iterationLen(s))
	}
	updateLoop(s, unsafe.Pointer(&p), iterations)
	return iterations * iterationLen(s)
}

// normalVectors stores normals from the counter's block on.
func normalVectors(s Set, c *counter, dst []float64) int {
	iterations := wholeIterations(s, len(dst), normalsIterationLen(s))
	if iterations > 0 {
		c.share()
		normalsLoop(s, unsafe.Pointer(c), &dst[0], iterations)
	}
	return iterations * normalsIterationLen(s)
}

// coefficients holds the uniform ones of an update with normals, as the assembly reads
// them.
type coefficients struct {
	all [coefCount]float64
	// thetaStep is the number of bytes from one iteration's positions to the next one's;
	// 0 for an update without positions.
	thetaStep int
	// addTheta has all bits set if theta is to be added to g; else 0.
	addTheta uint64
}

// noiseUpdateVectors carries out an update of uniform coefficients with
// normals from the counter's block on.
func noiseUpdateVectors(s Set, c *counter, u *Update) int {
	each := normalsIterationLen(s)
	iterations := wholeIterations(s, len(u.R), each)
	if iterations == 0 {
		return 0
	}
	c.share()
	k := coefficients{thetaStep: 8 * each}
	for i, c := range u.coefs() {
		k.all[i] = c.All
	}
	if part := &u.likelihood; part.Next != nil {
		noiseStepLoop(s, unsafe.Pointer(c), unsafe.Pointer(&k), &u.Theta[0], &u.R[0],
			&part.Float32[0], &part.Next[0], iterations)
		return iterations * each
	}
	// An update without positions moves these, the same ones in every iteration.
	var nowhere [2 * groupLen]float64
	theta := unsafe.SliceData(u.Theta)
	if theta == nil {
		theta, k.thetaStep = &nowhere[0], 0
	}
	g, addTheta := u.force()
	if addTheta {
		k.addTheta = math.MaxUint64
	}
	if g == nil { // read from r, with the coefficient 0
		g, k.all[1] = u.R, 0
	}
	noiseUpdateLoop(s, unsafe.Pointer(c), unsafe.Pointer(&k), theta, &u.R[0], &g[0], iterations)
	return iterations * each
}
