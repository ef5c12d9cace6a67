package certify

import (
	"flag"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"hambench/certify/markov"
	"hambench/certify/spectral"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
)

// A density on a lattice of positions and momenta shares nothing with the
// spectral engine: drifts and kicks are shifts, exact by Fourier series, and
// friction with noise is a Gaussian kernel. Its own error is that of a smooth
// density that has decayed at the borders: round-off.

const (
	latticeGoal  = 1e-10 // change a period, beside the density's mass
	latticeError = 1e-8  // what that leaves, amplified by the mixing time
)

var latticeCount = flag.Int("lattices", 0, "random potentials to compare with lattices, some seconds each, and all schemes and steps of three")

// grid is where the densities of a lattice live: positions around a centre, and momenta.
type grid struct {
	positions, momenta        int // how many there are
	center, reachTheta, reach float64
}

func (g grid) theta(i int) float64 {
	return g.center + g.reachTheta*(2*float64(i)/float64(g.positions)-1)
}
func (g grid) r(j int) float64 { return g.reach * (2*float64(j)/float64(g.momenta) - 1) }

// plainGrid does for potentials about as wide as N(0, 1).
var plainGrid = grid{144, 128, 0, 8, 12}

// wider is a finer grid with borders farther out.
func (g grid) wider() grid {
	return grid{g.positions * 5 / 2, g.momenta * 2, g.center, g.reachTheta * 1.5, g.reach * 1.5}
}

type lattice struct {
	grid
	p              []float64 // [position][momentum]
	byTheta, byR   *fourier.FFT
	thetaCo, rCo   []complex128
	column         []float64
	decay, spread  float64 // of the last friction kernel
	kernel, before []float64
}

// latticeObservables are those of the spectral engine, in its order.
var latticeObservables = []func(theta, r float64) float64{
	func(theta, _ float64) float64 { return theta },
	func(theta, _ float64) float64 { return theta * theta },
	func(theta, _ float64) float64 { return math.Cos(theta) },
	func(theta, _ float64) float64 { return math.Tanh(theta) },
	func(_, r float64) float64 { return r * r },
}

// value is the mean of potentials, and slope that of their derivatives.
func value(m spectral.Mean, theta float64) (sum float64) {
	for _, u := range m {
		sum += u.Value(theta) / float64(len(m))
	}
	return sum
}

func slope(m spectral.Mean, theta float64) (sum float64) {
	for _, u := range m {
		sum += u.Gradient(theta) / float64(len(m))
	}
	return sum
}

func newLattice(g grid) *lattice {
	n, m := g.positions, g.momenta
	return &lattice{
		grid: g, p: make([]float64, n*m), byTheta: fourier.NewFFT(n), byR: fourier.NewFFT(m),
		thetaCo: make([]complex128, n/2+1), rCo: make([]complex128, m/2+1),
		column: make([]float64, n), before: make([]float64, m), kernel: make([]float64, m*m),
	}
}

// shift moves a periodic function by a distance.
func shift(fft *fourier.FFT, x []float64, co []complex128, by, length float64) {
	fft.Coefficients(co, x)
	turn, now := cmplx.Exp(complex(0, -2*math.Pi*by/length)), complex(1/float64(len(x)), 0)
	for k := range co {
		co[k] *= now
		now *= turn
	}
	co[len(co)-1] = complex(real(co[len(co)-1]), 0)
	fft.Sequence(x, co)
}

func (l *lattice) drift(t float64) {
	for j := range l.momenta {
		for i := range l.positions {
			l.column[i] = l.p[i*l.momenta+j]
		}
		shift(l.byTheta, l.column, l.thetaCo, t*l.r(j), 2*l.reachTheta)
		for i := range l.positions {
			l.p[i*l.momenta+j] = l.column[i]
		}
	}
}

func (l *lattice) kick(t float64, u spectral.Mean) {
	for i := range l.positions {
		shift(l.byR, l.p[i*l.momenta:(i+1)*l.momenta], l.rCo, -t*slope(u, l.theta(i)), 2*l.reach)
	}
}

// friction is r ← decay·r + spread·ξ.
func (l *lattice) friction(decay, spread float64) {
	m := l.momenta
	if decay != l.decay || spread != l.spread {
		l.decay, l.spread = decay, spread
		for to := range m {
			for from := range m {
				x := (l.r(to) - decay*l.r(from)) / spread
				l.kernel[to*m+from] = math.Exp(-x*x/2) / (spread * math.Sqrt(2*math.Pi)) * 2 * l.reach / float64(m)
			}
		}
	}
	for i := range l.positions {
		row := l.p[i*m : (i+1)*m]
		copy(l.before, row)
		for j := range row {
			row[j] = floats.Dot(l.kernel[j*m:(j+1)*m], l.before)
		}
	}
}

// word carries out the letters of a splitting.
func (l *lattice) word(letters string, u spectral.Mean, h, c float64) {
	for _, letter := range letters {
		t := h / float64(strings.Count(letters, string(letter)))
		switch letter {
		case 'A':
			l.drift(t)
		case 'B':
			l.kick(t, u)
		case 'O':
			e := math.Exp(-c * t)
			l.friction(e, math.Sqrt(1-e*e))
		}
	}
}

// latticeWords are the splittings; leapfrog's kick comes after its friction, of which it is
// independent.
var latticeWords = map[string]string{"leapfrog": "", "obabo": "OBABO", "baoab": "BAOAB", "aboba": "ABOBA", "lietrotter": "ABAO"}

func (l *lattice) step(integrator string, u spectral.Mean, h, c float64) {
	if integrator != "leapfrog" {
		l.word(latticeWords[integrator], u, h, c)
		return
	}
	l.drift(h / 2)
	l.friction(1-h*c, math.Sqrt(2*c*h))
	l.kick(h, u)
	l.drift(h / 2)
}

// latticeErrors are the stationary law's errors, or ok = false if it reaches
// the borders.
func latticeErrors(t *testing.T, g grid, p *Problem, integrator, scheme string, h float64) (errors []float64, ok bool) {
	mean := p.scalar
	target := newLattice(g)
	total := 0.0
	least := math.Inf(1)
	for i := range g.positions {
		least = min(least, value(mean, g.theta(i)))
	}
	for i := range g.positions {
		for j := range g.momenta {
			v := math.Exp(least - value(mean, g.theta(i)) - g.r(j)*g.r(j)/2)
			target.p[i*g.momenta+j] = v
			total += v
		}
	}
	floats.Scale(1/total, target.p)
	words := map[string][][]int{"full": {{-1}}, "replacement": {{0}, {1}}, "reshuffle": {{0, 1}, {1, 0}}, "cyclic": {{0, 1}}}[scheme]
	l := newLattice(g)
	changed := func(law []float64) []float64 { // by a period
		out := make([]float64, len(law))
		floats.AddScaled(out, -1, law)
		for _, word := range words {
			copy(l.p, law)
			for _, b := range word {
				u := mean
				if b >= 0 {
					u = p.scalar[b : b+1]
				}
				l.step(integrator, u, h, p.Friction)
			}
			floats.AddScaled(out, 1/float64(len(words)), l.p)
		}
		return out
	}
	less := func(law []float64) []float64 {
		out := changed(law)
		floats.Scale(-1, out)
		return out
	}
	delta, _ := markov.SolveLinear(t.Context(), less, slices.Clone[[]float64], changed(target.p), latticeGoal)
	now := floats.AddTo(make([]float64, len(delta)), target.p, delta)
	floats.Scale(1/floats.Sum(now), now) // delta is known but for a multiple of the density itself
	border := 0.0
	for i := range g.positions {
		border += math.Abs(now[i*g.momenta])
	}
	for j := range g.momenta {
		border += math.Abs(now[j])
	}
	for _, f := range latticeObservables {
		sum := 0.0
		for i := range g.positions {
			for j := range g.momenta {
				sum += f(g.theta(i), g.r(j)) * (now[i*g.momenta+j] - target.p[i*g.momenta+j])
			}
		}
		errors = append(errors, math.Abs(sum))
	}
	if !(border < 1e-11) || floats.Norm(changed(now), 1) > latticeGoal {
		return nil, false
	}
	return errors, true
}

// randomPotential draws a scalar problem of two batches and a friction, by its number: several
// wells, high frequencies, a wide well with waves, frequencies without a common period, or small
// amplitudes. fast is the root of its largest curvature.
func randomPotential(seed uint64) (p *Problem, fast float64) {
	rng := rand.New(rand.NewPCG(99, seed))
	p = &Problem{Name: "random", Kind: Scalar, Friction: logUniform(rng, -0.1, 0.6)}
	k := logUniform(rng, -0.5, 0.2)
	a, f := logUniform(rng, -0.3, 0.5), logUniform(rng, -0.1, 0.4)
	switch seed % 5 {
	case 1:
		a, f = logUniform(rng, -1.5, -0.5), logUniform(rng, 0.5, 0.9)
	case 2:
		k, a, f = logUniform(rng, -1.7, -0.9), logUniform(rng, -1, 0), logUniform(rng, -0.2, 0.3)
	case 4:
		a = logUniform(rng, -4, -1.5)
	}
	for range 2 {
		o := spectral.Oscillator{Stiffness: k * (1 + 0.8*rng.Float64() - 0.4), Center: 0.6 * rng.NormFloat64(),
			Amplitude: a * (1 + 0.8*rng.Float64() - 0.4), Frequency: f, Phase: 6 * rng.Float64()}
		if seed%5 == 3 {
			o.Frequency *= 0.5 + rng.Float64()
		}
		p.scalar = append(p.scalar, o)
		fast = max(fast, math.Sqrt(o.Stiffness+o.Amplitude*o.Frequency*o.Frequency))
	}
	return p, fast
}

// latticeCase is a chain to be compared.
type latticeCase struct {
	problem, integrator, scheme string
	h                           float64
}

// wrongOnce are cases whose stated resolution was too small once: large steps
// with batches drawn at every step, and chains whose law is so much wider than the
// target that it has no expansion relative to it.
var wrongOnce = []latticeCase{
	{"built in", "leapfrog", "replacement", 0.4},
	{"built in", "obabo", "replacement", 0.4},
	{"built in", "lietrotter", "replacement", 0.4},
	{"two wells of different curvature", "leapfrog", "replacement", 0.4},
	{"two wells of different curvature", "obabo", "replacement", 0.4},
	{"two wells of different curvature", "lietrotter", "replacement", 0.4},
	{"two wells of different curvature", "obabo", "replacement", 0.6},
	{"little friction, batches that pull apart", "leapfrog", "full", 1},
	{"a change that is small by chance", "leapfrog", "replacement", 0.3318709624518862},
}

// TestSpectralResolutionBoundsTheError compares with densities on a lattice up
// to steps near the limit of stability: where a resolution is stated, the error
// is not further off.
func TestSpectralResolutionBoundsTheError(t *testing.T) {
	problems := map[string]*Problem{
		"built in": scalarBuiltin(),
		"two wells of different curvature": {Kind: Scalar, Friction: 1.2, scalar: spectral.Mean{
			spectral.Oscillator{Stiffness: 0.8, Center: 0.3, Amplitude: 1.1, Frequency: 1.6, Phase: 0.4},
			spectral.Oscillator{Stiffness: 1.9, Center: -0.2, Amplitude: 0.9, Frequency: 1.2, Phase: -0.5},
		}},
		"little friction, batches that pull apart": {Kind: Scalar, Friction: 0.5, scalar: spectral.Mean{
			spectral.Oscillator{Stiffness: 1.5, Center: 0.6, Amplitude: 0.4, Frequency: 2, Phase: 1},
			spectral.Oscillator{Stiffness: 1.1, Center: -0.6, Amplitude: 0.8, Frequency: 0.9, Phase: -0.3},
		}},
	}
	problems["a change that is small by chance"] = &Problem{Kind: Scalar, Friction: 1.9050414549919263, scalar: spectral.Mean{
		spectral.Oscillator{Stiffness: 2.165559822112948, Center: -1.231405957361337, Amplitude: 1.448524571867062, Frequency: 0.8237718421611432, Phase: 3.9844988502283183},
		spectral.Oscillator{Stiffness: 1.03208780008734, Center: 0.6788538145697056, Amplitude: 2.346982889886847, Frequency: 0.8237718421611432, Phase: 1.9196005716861502},
	}}
	cases := sampled(wrongOnce, 0, 7, 8)
	if *latticeCount > 0 {
		cases = nil
		for name := range problems {
			for _, integrator := range []string{"leapfrog", "obabo", "lietrotter"} {
				for _, scheme := range []string{"full", "reshuffle", "replacement"} {
					for _, h := range []float64{0.1, 0.2, 0.4, 0.6, 0.8, 1} {
						cases = append(cases, latticeCase{name, integrator, scheme, h})
					}
				}
			}
		}
	}
	var counts sync.Mutex
	stated, compared, worst := 0, 0, 0.0
	t.Run("cases", func(t *testing.T) {
		for _, c := range cases {
			t.Run(fmt.Sprintf("%s: %s under %s, h = %v", c.problem, c.integrator, c.scheme, c.h), func(t *testing.T) {
				t.Parallel()
				p := problems[c.problem]
				n, ratio, ok := againstLattice(t, plainGrid, p, c)
				counts.Lock()
				defer counts.Unlock()
				if ok {
					compared, stated, worst = compared+1, stated+n, max(worst, ratio)
				}
			})
		}
	})
	t.Logf("%d cases: %d bounds in %d that were compared, the largest error %.2g times its bound", len(cases), stated, compared, worst)
	if stated < compared {
		t.Errorf("only %d bounds are stated in %d cases", stated, compared)
	}
}

// againstLattice compares the errors of a chain with those on a lattice, if the law lives on it,
// and returns how many bounds are stated, and the largest error over its bound. Large steps may
// throw a few chains out of the lattice, which enter on the other side: an error that is outside
// its bound has to be so on a wider lattice, too.
func againstLattice(t *testing.T, g grid, p *Problem, c latticeCase) (n int, worst float64, ok bool) {
	want, ok := latticeErrors(t, g, p, c.integrator, c.scheme, c.h)
	if !ok {
		t.Log("the law reaches the borders of the lattice, or forgets too slowly")
		return 0, 0, false
	}
	row := errorsOne(t, Options{Problem: p, Steps: []float64{c.h}}, c.integrator, c.scheme)
	var outside []string
	compare := func() {
		n, worst, outside = 0, 0, nil
		for i, o := range row.Observables {
			bound, off := float64(o.Resolution[0]), math.Abs(float64(o.Errors[0])-want[i])
			if math.IsInf(bound, 1) || math.IsNaN(bound) {
				continue
			}
			n++
			// The sum over the lattice is relatively good to 10⁻⁷.
			allowed := bound + latticeError + 1e-7*want[i]
			if worst = max(worst, off/allowed); !(off <= allowed) {
				outside = append(outside, fmt.Sprintf("%s is %.6g ± %.2g, true %.6g", o.Name, o.Errors[0], bound, want[i]))
			}
		}
	}
	compare()
	if outside != nil {
		if wider, ok := latticeErrors(t, g.wider(), p, c.integrator, c.scheme, c.h); ok {
			want = wider
			compare()
		}
	}
	for _, text := range outside {
		raw, _ := p.MarshalJSON()
		t.Errorf("%s under %s, h = %v: %s: %s", c.integrator, c.scheme, c.h, text, raw)
	}
	return n, worst, true
}

// falseOnce are random chains of which a resolution was false once: waves that no basis of low
// degree sees (76, and 2022 in a wide well), a law whose moments converge slowly (2048), one that
// needs a higher degree in r than the last bases have (100), and one of which the bases below those
// that the target's space is spared agreed by chance (7001190).
var falseOnce = []uint64{76, 100, 2022, 2048, 7001190}

// TestSpectralResolutionOfRandomPotentials compares chains in random potentials, at steps of up
// to nine tenths of the limit of stability, with densities on a lattice.
func TestSpectralResolutionOfRandomPotentials(t *testing.T) {
	seeds := slices.Clone(falseOnce[:1])
	if *all || *latticeCount > 0 {
		seeds = slices.Clone(falseOnce)
	}
	seeds = append(seeds, numbered(*latticeCount)...)
	var counts sync.Mutex
	stated, compared := 0, 0
	t.Run("cases", func(t *testing.T) {
		for _, seed := range seeds {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				p, fast := randomPotential(seed)
				rng := rand.New(rand.NewPCG(5, seed))
				name := []string{"leapfrog", "obabo", "baoab", "aboba", "lietrotter"}[rng.IntN(5)]
				scheme := []string{"full", "reshuffle", "replacement", "full"}[rng.IntN(4)]
				h := (0.3 + 1.5*rng.Float64()) / fast
				center, deviation := spreadOf(p)
				g := grid{180, 144, center, 9 * deviation, 12}
				n, _, ok := againstLattice(t, g, p, latticeCase{"", name, scheme, h})
				counts.Lock()
				defer counts.Unlock()
				if ok {
					compared, stated = compared+1, stated+n
				}
			})
		}
	})
	t.Logf("%d chains, %d compared, %d bounds are stated", len(seeds), compared, stated)
	if compared == 0 {
		t.Error("none was compared")
	}
}

// spreadOf is the mean of θ under the target, and its standard deviation.
func spreadOf(p *Problem) (mean, deviation float64) {
	const points, reach = 20_000, 60.
	at := func(i int) float64 { return reach * (2*float64(i)/points - 1) }
	least, mass, square := math.Inf(1), 0.0, 0.0
	for i := range points {
		least = min(least, value(p.scalar, at(i)))
	}
	for i := range points {
		w := math.Exp(least - value(p.scalar, at(i)))
		mass, mean, square = mass+w, mean+w*at(i), square+w*at(i)*at(i)
	}
	mean /= mass
	return mean, math.Sqrt(square/mass - mean*mean)
}
