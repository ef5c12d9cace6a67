package kernel

// Each function does the whole vectors of its pass and returns how many
// elements that were; plain Go does none.

// turn512 and turn2 are the numbers of doubles in a turn of the assembly's
// loops (of update's: a quarter).
const (
	turn512 = 32
	turn2   = 16
)

func narrowVectors(l level, dst []float32, x []float64) int {
	switch {
	case l == avx512 && len(x) >= turn512:
		narrow_avx512(&dst[0], &x[0], len(x)/turn512)
	case l == avx2 && len(x) >= turn2:
		narrow_avx2(&dst[0], &x[0], len(x)/turn2)
	}
	return whole(l, len(x), 1)
}

// whole is the number of the first n elements that whole turns cover.
func whole(l level, n, perTurn int) int {
	switch l {
	case avx512:
		return n &^ (turn512/perTurn - 1)
	case avx2:
		return n &^ (turn2/perTurn - 1)
	}
	return 0
}

// summand is a term as the assembly reads it.
type summand struct {
	x, c *float64
	each uint64 // not 0 if c is a vector
}

func combineVectors(l level, dst []float64, terms []Summand) int {
	done := whole(l, len(dst), 1)
	if done == 0 {
		return 0
	}
	var t [maxSummands]summand
	for i := range terms {
		s := &terms[i]
		t[i] = summand{x: &s.X[0], c: &s.C.All}
		if s.C.Each != nil {
			t[i].c, t[i].each = &s.C.Each[0], 1
		}
	}
	if l == avx512 {
		combine_avx512(&dst[0], &t[0], len(terms), done/turn512)
	} else {
		combine_avx2(&dst[0], &t[0], len(terms), done/turn2)
	}
	return done
}

// pass is an update as the assembly reads it.
type pass struct {
	theta, r, g, xi *float64
	coef            [6]*float64
	step            [6]int // bytes by which a coefficient's address moves
	all             [6][8]float64
}

func updateVectors(l level, u *Update, xi []float64) int {
	const perTurn = 4
	done := whole(l, len(u.R), perTurn)
	if done == 0 {
		return 0
	}
	// What is left out counts as 0 times r.
	p := pass{r: &u.R[0], g: &u.R[0], xi: &u.R[0]}
	a, s := &u.A, &u.S
	if u.Theta != nil {
		p.theta = &u.Theta[0]
	}
	if u.G != nil {
		p.g = &u.G[0]
	} else {
		a = &Coef{}
	}
	if xi != nil {
		p.xi = &xi[0]
	} else {
		s = &Coef{}
	}
	for i, c := range [...]*Coef{&u.P, a, &u.B, &u.Q, s, &u.D} {
		if c.Each != nil {
			p.coef[i], p.step[i] = &c.Each[0], 64
			if l == avx2 {
				p.step[i] = 32
			}
			continue
		}
		p.coef[i] = &p.all[i][0]
		for j := range p.all[i] {
			p.all[i][j] = c.All
		}
	}
	if l == avx512 {
		update_avx512(&p, done/(turn512/perTurn))
	} else {
		update_avx2(&p, done/(turn2/perTurn))
	}
	return done
}

// normalVectors stores normals from the counter's block on.
func normalVectors(l level, c *counter, dst []float64) int {
	c.share()
	switch {
	case l == avx512 && len(dst) >= 2*groupLen:
		normals_avx512(c, &dst[0], len(dst)/(2*groupLen))
		return len(dst) &^ (2*groupLen - 1)
	case l == avx2 && len(dst) >= groupLen:
		normals_avx2(c, &dst[0], len(dst)/groupLen)
		return len(dst) &^ (groupLen - 1)
	}
	return 0
}

// coefficients are those of an update, in the assembly's order.
type coefficients struct {
	p, a, b, q, s, d float64
	thetaStep        int // bytes from one turn's positions to the next one's
}

// noiseUpdateVectors carries out an update of uniform coefficients with
// normals from the counter's block on.
func noiseUpdateVectors(l level, c *counter, u *Update) int {
	turn := groupLen
	if l == avx512 {
		turn = 2 * groupLen
	}
	turns := len(u.R) / turn
	if l == generic || turns == 0 {
		return 0
	}
	c.share()
	k := coefficients{u.P.All, u.A.All, u.B.All, u.Q.All, u.S.All, u.D.All, 8 * turn}
	g := &u.R[0]
	var nowhere [2 * groupLen]float64
	theta := &nowhere[0]
	if u.Theta != nil {
		theta = &u.Theta[0]
	} else {
		k.thetaStep = 0
	}
	if u.G != nil {
		g = &u.G[0]
	} else {
		k.a = 0
	}
	if l == avx512 {
		noiseUpdate_avx512(c, &k, theta, &u.R[0], g, turns)
	} else {
		noiseUpdate_avx2(c, &k, theta, &u.R[0], g, turns)
	}
	return turns * turn
}

// multiplyAdds runs a register loop and returns its number of multiply-adds.
func multiplyAdds[T Float](l level, turns int) int {
	lanes := Lanes[T]()
	switch single := lanes == 16; {
	case l == avx512 && single:
		multiplyAdds_avx512_f32(turns)
	case l == avx512:
		multiplyAdds_avx512_f64(turns)
	case single:
		multiplyAdds_avx2_f32(turns)
	default:
		multiplyAdds_avx2_f64(turns)
	}
	if l == avx512 {
		return turns * 24 * lanes
	}
	return turns * 12 * lanes / 2
}
