package integrators

import (
	"math"
	"regexp"
	"strings"

	"hambench/usage"
)

// maxWord bounds a splitting word, in letters.
const maxWord = 64

// splitPrefix marks a word that the user types.
const splitPrefix = "split:"

// splittings lists the splittings with a name of their own.
var splittings = []Integrator{
	splitIntegrator("baoab", "BAOAB",
		"splitting BAOAB: exact in the θ covariance of a Gaussian",
		"Leimkuhler & Matthews 2013"),
	splitIntegrator("aboba", "ABOBA",
		"splitting ABOBA",
		"Leimkuhler & Matthews 2013"),
	splitIntegrator("obabo", "OBABO",
		"splitting OBABO",
		"Bussi & Parrinello 2007; Leimkuhler, Matthews & Stoltz 2016"),
	splitIntegrator("baoa", "BAOA",
		"splitting BAOA: with all data the positions of baoab, with one gradient a step",
		"Leimkuhler & Matthews 2015; Leimkuhler, Matthews & Stoltz 2016"),
}

// parseSplit returns the scheme of the name split:WORD, in either case. A word that is too
// long, has another letter than A, B and O, or lacks one of them is a usage error.
func parseSplit(name string) (Integrator, error) {
	typed := strings.TrimPrefix(name, splitPrefix)
	word := strings.ToUpper(typed)
	const want = "want letters A (drift), B (kick), O (friction and noise), each at least once"
	if len(word) > maxWord {
		return Integrator{}, usage.Errorf("splitting word of %d letters: want at most %d",
			len(word), maxWord)
	}
	unknown := func(c rune) bool { return !strings.ContainsRune("ABOabo", c) }
	if i := strings.IndexFunc(typed, unknown); i >= 0 {
		return Integrator{}, usage.Errorf("splitting word %q: unknown letter %q: %s",
			typed, []rune(typed[i:])[0], want)
	}
	for _, letter := range []string{"A", "B", "O"} {
		if !strings.Contains(word, letter) {
			return Integrator{}, usage.Errorf("splitting word %q: %s is missing: %s",
				typed, letter, want)
		}
	}
	const source = "orders derived from the word"
	return splitIntegrator(splitPrefix+word, word, "splitting "+word, source), nil
}

// splitIntegrator describes the splitting of a valid word in capitals.
func splitIntegrator(name, word, about, source string) Integrator {
	segs := segments(word)
	claims := wordOrders(word)
	// A and B are symplectic; O scales volume by a constant, which tends to 1 as C → 0.
	claims.QuasiSymplectic = true
	claims.Source = source
	var needs Needs
	for _, s := range segs {
		if s.kicks() {
			needs.Gradients++
		}
		if s.noisy() {
			needs.Normals++
		}
	}
	m := Integrator{
		Name: name, About: about, Claims: claims, Needs: needs, FullRefreshment: balanced(word),
	}
	return Define(m, func(dim int, p Params) (Stepper, Stepper) {
		return newSplitting(dim, p, word, segs), nil
	})
}

// balanced reports whether a word samples the target at C = +Inf, too. There each O draws r
// anew, which forgets a kick with no A before the next O. Between two O's, with A's of the
// length a in all, θ moves by aξ, of variance a², and by the force of each B times the A's
// after it. The law is right for small steps if the a² add up to twice the latter.
func balanced(word string) bool {
	a, b := strings.Count(word, "A"), strings.Count(word, "B")
	first := strings.IndexByte(word, 'O')
	squares, ways, drifts, kicks := 0, 0, 0, 0
	for _, letter := range word[first+1:] + word[:first+1] {
		switch letter {
		case 'A':
			drifts, ways = drifts+1, ways+kicks
		case 'B':
			kicks++
		default:
			squares, drifts, kicks = squares+drifts*drifts, 0, 0
		}
	}
	return b*squares == 2*a*ways // shares are 1/a of a step and 1/b
}

// wordOrders derives the orders of a splitting from its word.
//
// One step is exp(x₁X₁)exp(x₂X₂)…, X_i ∈ {hA, hB, hO}, whose logarithm is, by
// Baker, Campbell and Hausdorff, h(A+B+O) + h²Σ α_XY [X, Y] + O(h³) over the
// pairs AB, AO, BO, with α_XY = (the shares of X before Y − those of Y before
// X)/2. Weak order 2 needs all α = 0. For the stationary density
// π(1 + hρ + O(h²)), inserting O†π = 0, (A+B)†π = 0 and
// O†(r·∇U π) = −C r·∇U π (M = I; M changes no sign) gives
//
//	ρ = −α_AB r·∇U + C(α_AB + α_BO + α_OA)(U − E U).
//
// So the law of (θ, r) is of order 2 when α_AB = 0 and α_BO = −α_OA, and the
// law of θ already when α_AB + α_BO + α_OA = 0. This sum is the same for all
// rotations of a word: a word conjugate to a palindrome, as BAOA is to BAOAB,
// has order 2 in θ.
func wordOrders(word string) Claims {
	a, b, o := strings.Count(word, "A"), strings.Count(word, "B"), strings.Count(word, "O")
	// Multiplied by 2·a·b·o all is integer.
	ab, bo, oa := o*ahead(word, 'A', 'B'), a*ahead(word, 'B', 'O'), b*ahead(word, 'O', 'A')
	pick := func(second bool) float64 {
		if second {
			return 2
		}
		return 1
	}
	return Claims{
		WeakOrder:     pick(ab == 0 && bo == 0 && oa == 0),
		ErgodicOrder:  pick(ab == 0 && bo+oa == 0),
		PositionOrder: pick(ab+bo+oa == 0),
	}
}

// ahead counts the pairs of letters in which x comes before y, less those in
// which it comes after.
func ahead(word string, x, y rune) int {
	sum, xs, ys := 0, 0, 0
	for _, c := range word {
		switch c {
		case x:
			xs++
			sum -= ys
		case y:
			ys++
			sum += xs
		}
	}
	return sum
}

// segment is a run of B and O, at one position θ, and the A that follow it.
type segment struct {
	run    string
	drifts int
}

// kicks and noisy report whether the segment takes a gradient and a normal vector: one of each,
// however many letters ask for it.
func (s segment) kicks() bool { return strings.Contains(s.run, "B") }
func (s segment) noisy() bool { return strings.Contains(s.run, "O") }

// segments cuts a word after its runs of A.
func segments(word string) (segs []segment) {
	for _, part := range regexp.MustCompile("([BO]*)(A*)").FindAllStringSubmatch(word, -1) {
		segs = append(segs, segment{part[1], len(part[2])})
	}
	return segs
}

// newSplitting returns the composition of drifts A, kicks B, and exact friction
// and noise O, in the order of the word. Letters that repeat share the step
// evenly. The kicks at one position use one gradient, and the noises between
// two drifts, which are Gaussian, one normal vector of their joint variance.
func newSplitting(dim int, p Params, word string, segs []segment) Stepper {
	w := wordStep{p,
		p.Step / float64(strings.Count(word, "A")),
		p.Step / float64(strings.Count(word, "B")),
		p.Step / float64(strings.Count(word, "O"))}
	var s sequence
	for len(segs) > 0 {
		var u Update
		kicks := segs[0].kicks()
		u, segs = w.pack(segs)
		if kicks {
			s = append(s, NewKick(dim, Coef{}, u))
		} else {
			s = append(s, &flow{u})
		}
	}
	return s
}

// wordStep holds the time that each letter A, B and O of a word stands for: h divided by
// the number of such letters.
type wordStep struct {
	p                     Params
	drift, kick, friction float64
}

// pack makes one Update of the first segments and returns the others. A noisy
// segment takes it for itself, unless it has no kick and follows one without
// noise: then it is the second half of that one's.
func (w wordStep) pack(segs []segment) (Update, []segment) {
	first, u := segs[0], Update{Q: one}
	decay, kick, noise, drift := w.coefs(first)
	u.P, u.A = decay, kick
	if first.noisy() {
		u.S, u.D = noise, drift
	} else {
		u.B = drift
	}
	segs = segs[1:]
	if !first.noisy() && len(segs) > 0 && !segs[0].kicks() {
		u.Q, _, u.S, u.D = w.coefs(segs[0])
		segs = segs[1:]
	}
	return u, segs
}

// coefs returns the coefficients of a segment: r ← decay r + kick ∇U + noise ξ, θ ← θ + drift r.
func (w wordStep) coefs(s segment) (decay, kick, noise, drift Coef) {
	coef := func(part int) Coef {
		return w.p.Coef(func(m float64) float64 { return w.run(s.run, m)[part] })
	}
	return coef(0), coef(1), coef(2), w.p.Drift(float64(s.drifts) * w.drift)
}

// run returns the decay, the kick and the noise's deviation of a run of B and O at one
// position, for a coordinate of inverse mass m. A later O also damps the kicks and the
// noise of the letters before it.
func (w wordStep) run(run string, m float64) [3]float64 {
	x := w.p.Friction * m * w.friction
	e, variance := math.Exp(-x), -math.Expm1(-2*x)/m
	decay, kick, v := 1.0, 0.0, 0.0
	for _, letter := range run {
		if letter == 'B' {
			kick -= w.kick
			continue
		}
		decay, kick, v = decay*e, kick*e, e*e*v+variance
	}
	return [3]float64{decay, kick, math.Sqrt(v)}
}
