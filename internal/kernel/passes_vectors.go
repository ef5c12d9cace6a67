//go:build amd64 || arm64

package kernel

import (
	"math"
	"unsafe"
)

// Each function does the whole turns of its pass and returns how many
// elements that were: none in plain Go. What this architecture's assembly
// calls are stands in passes_amd64.go and passes_arm64.go.

// whole is the number of the first n elements that whole turns cover.
func whole(l level, n int) int {
	if l == generic {
		return 0
	}
	return n - n%turnLen(l)
}

func narrowVectors(l level, dst []float32, x []float64) int {
	done := whole(l, len(x))
	if done > 0 {
		narrowTurns(l, &dst[0], &x[0], done/turnLen(l))
	}
	return done
}

// summand is a term as the assembly reads it.
type summand struct {
	x, c      unsafe.Pointer
	each      uint64 // not 0 if c is a vector
	isFloat32 uint64 // not 0 if x is of floats
}

func combineVectors(l level, dst []float64, rounded []float32, terms []Summand) int {
	done := whole(l, len(dst))
	if done == 0 {
		return 0
	}
	var t [maxSummands]summand
	for i := range terms {
		s := &terms[i]
		t[i] = summand{c: unsafe.Pointer(&s.C.All)}
		if s.Float32 != nil {
			t[i].x, t[i].isFloat32 = unsafe.Pointer(&s.Float32[0]), 1
		} else {
			t[i].x = unsafe.Pointer(&s.X[0])
		}
		if s.C.Each != nil {
			t[i].c, t[i].each = unsafe.Pointer(&s.C.Each[0]), 1
		}
	}
	combineTurns(l, &dst[0], unsafe.SliceData(rounded), unsafe.Pointer(&t[0]), len(terms), done/turnLen(l))
	return done
}

// pass is an update as the assembly reads it.
type pass struct {
	theta, r, g, xi unsafe.Pointer
	next            unsafe.Pointer // not nil for a whole step, whose g is of floats
	addTheta        uint64         // not 0 if theta is to be added to g
	coef            [7]unsafe.Pointer
	step            [7]int // bytes by which a coefficient's address moves
	all             [7*longestTurn + lineDoubles]float64
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

func updateVectors(l level, u *Update, xi []float64) int {
	done := whole(l, len(u.R))
	if done == 0 {
		return 0
	}
	// What is left out counts as 0 times r.
	r := unsafe.Pointer(&u.R[0])
	p := pass{theta: unsafe.Pointer(unsafe.SliceData(u.Theta)), r: r, g: r, xi: r}
	none := Coef{}
	coefs, part := u.coefs(), &u.likelihood
	switch {
	case part.Next != nil:
		p.g, p.next = unsafe.Pointer(&part.Float32[0]), unsafe.Pointer(&part.Next[0])
	case part.G != nil:
		p.g, p.addTheta = unsafe.Pointer(&part.G[0]), 1
	case u.G != nil:
		p.g = unsafe.Pointer(&u.G[0])
	default:
		coefs[1] = &none
	}
	if xi != nil {
		p.xi = unsafe.Pointer(&xi[0])
	} else {
		coefs[4] = &none
	}
	for i, c := range coefs {
		if c.Each != nil {
			p.coef[i], p.step[i] = unsafe.Pointer(&c.Each[0]), 8*turnLen(l)
			continue
		}
		p.coef[i] = p.spread(i, c.All, turnLen(l))
	}
	updateTurns(l, unsafe.Pointer(&p), done/turnLen(l))
	return done
}

// normalVectors stores normals from the counter's block on.
func normalVectors(l level, c *counter, dst []float64) int {
	turn := normalsTurn(l)
	turns := len(dst) / turn
	if turns > 0 {
		c.share()
		normalsTurns(l, unsafe.Pointer(c), &dst[0], turns)
	}
	return turns * turn
}

// coefficients are those of an update, in the assembly's order.
type coefficients struct {
	p, a, b, q, s, d, e float64
	thetaStep           int    // bytes from one turn's positions to the next one's
	addTheta            uint64 // all ones if theta is to be added to g, else 0
}

// noiseUpdateVectors carries out an update of uniform coefficients with
// normals from the counter's block on.
func noiseUpdateVectors(l level, c *counter, u *Update) int {
	if l == generic {
		return 0
	}
	turn := normalsTurn(l)
	turns := len(u.R) / turn
	if turns == 0 {
		return 0
	}
	c.share()
	part := &u.likelihood
	k := coefficients{u.P.All, u.A.All, u.B.All, u.Q.All, u.S.All, u.D.All, part.Drift.All, 8 * turn, 0}
	if part.Next != nil {
		noiseStepTurns(l, unsafe.Pointer(c), unsafe.Pointer(&k), &u.Theta[0], &u.R[0], &part.Float32[0], &part.Next[0], turns)
		return turns * turn
	}
	g := &u.R[0]
	var nowhere [2 * groupLen]float64
	theta := &nowhere[0]
	if u.Theta != nil {
		theta = &u.Theta[0]
	} else {
		k.thetaStep = 0
	}
	switch {
	case part.G != nil:
		g, k.addTheta = &part.G[0], math.MaxUint64
	case u.G != nil:
		g = &u.G[0]
	default:
		k.a = 0
	}
	noiseUpdateTurns(l, unsafe.Pointer(c), unsafe.Pointer(&k), theta, &u.R[0], g, turns)
	return turns * turn
}
