//go:build amd64 || arm64

package kernel

import (
	"math"
	"unsafe"
)

// Each function does the whole turns of its pass and returns how many
// elements that were: none in plain Go. What this architecture's assembly
// calls are stands in passes_amd64.go and passes_arm64.go.

// wholeTurns is how many turns of a length n elements have.
func wholeTurns(s Set, n, turn int) int {
	if s == generic {
		return 0
	}
	return n / turn
}

func narrowVectors(s Set, dst []float32, x []float64) int {
	turns := wholeTurns(s, len(x), turnLen(s))
	if turns > 0 {
		narrowTurns(s, &dst[0], &x[0], turns)
	}
	return turns * turnLen(s)
}

func combineVectors(s Set, dst []float64, rounded []float32, terms []Summand) int {
	turns := wholeTurns(s, len(dst), turnLen(s))
	if turns > 0 {
		combineTurns(s, &dst[0], unsafe.SliceData(rounded), unsafe.Pointer(&terms[0]), len(terms), turns)
	}
	return turns * turnLen(s)
}

// pass is an update as the assembly reads it.
type pass struct {
	theta, r, g, xi unsafe.Pointer
	next            unsafe.Pointer // not nil for a whole step, whose g is of floats
	addTheta        uint64         // not 0 if theta is to be added to g
	coef            [coefCount]unsafe.Pointer
	step            [coefCount]int // bytes by which a coefficient's address moves
	all             [coefCount*longestTurn + lineDoubles]float64
}

// lineDoubles fill a cache line. Numbers that straddle two take twice as long.
const lineDoubles = 8

// longestTurn is AVX-512's number of doubles.
const longestTurn = 32

// spread returns a turn of n times the number x, for coefficient i.
func (p *pass) spread(i int, x float64, n int) unsafe.Pointer {
	skip := int(-uintptr(unsafe.Pointer(&p.all[0])) % (8 * lineDoubles) / 8)
	turn := p.all[skip+i*longestTurn:][:n]
	for j := range turn {
		turn[j] = x
	}
	return unsafe.Pointer(&turn[0])
}

func updateVectors(s Set, u *Update, xi []float64) int {
	turns := wholeTurns(s, len(u.R), turnLen(s))
	if turns == 0 {
		return 0
	}
	// What is left out counts as 0 times r.
	r := unsafe.Pointer(&u.R[0])
	p := pass{theta: unsafe.Pointer(unsafe.SliceData(u.Theta)), r: r, g: r, xi: r}
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
		if c.Each != nil {
			p.coef[i], p.step[i] = unsafe.Pointer(&c.Each[0]), 8*turnLen(s)
			continue
		}
		p.coef[i] = p.spread(i, c.All, turnLen(s))
	}
	updateTurns(s, unsafe.Pointer(&p), turns)
	return turns * turnLen(s)
}

// normalVectors stores normals from the counter's block on.
func normalVectors(s Set, c *counter, dst []float64) int {
	turns := wholeTurns(s, len(dst), normalsTurn(s))
	if turns > 0 {
		c.share()
		normalsTurns(s, unsafe.Pointer(c), &dst[0], turns)
	}
	return turns * normalsTurn(s)
}

// coefficients are those of an update with normals.
type coefficients struct {
	all       [coefCount]float64
	thetaStep int    // bytes from one turn's positions to the next one's
	addTheta  uint64 // all ones if theta is to be added to g, else 0
}

// noiseUpdateVectors carries out an update of uniform coefficients with
// normals from the counter's block on.
func noiseUpdateVectors(s Set, c *counter, u *Update) int {
	turn := normalsTurn(s)
	turns := wholeTurns(s, len(u.R), turn)
	if turns == 0 {
		return 0
	}
	c.share()
	k := coefficients{thetaStep: 8 * turn}
	for i, c := range u.coefs() {
		k.all[i] = c.All
	}
	if part := &u.likelihood; part.Next != nil {
		noiseStepTurns(s, unsafe.Pointer(c), unsafe.Pointer(&k), &u.Theta[0], &u.R[0], &part.Float32[0], &part.Next[0], turns)
		return turns * turn
	}
	var nowhere [2 * groupLen]float64
	theta := unsafe.SliceData(u.Theta)
	if theta == nil {
		theta, k.thetaStep = &nowhere[0], 0
	}
	g, addTheta := u.force()
	if addTheta {
		k.addTheta = math.MaxUint64
	}
	if g == nil { // what is left out counts as 0 times r
		g, k.all[1] = u.R, 0
	}
	noiseUpdateTurns(s, unsafe.Pointer(c), unsafe.Pointer(&k), theta, &u.R[0], &g[0], turns)
	return turns * turn
}
