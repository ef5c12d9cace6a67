package certify

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"

	"hambench/certify/markov"
	"hambench/certify/spectral"
	"hambench/chain/minibatch"
	"hambench/integrators"
)

// quadratic returns the coefficients of h² of an engine's signed errors.
func quadratic(t *testing.T, at func(h float64) (markov.Point, error),
	largest float64) (out []coefficient) {
	t.Helper()
	var nodes [][]node
	for i := range 8 {
		h := math.Ldexp(largest, -i)
		p, err := at(h)
		if err != nil {
			t.Fatal(err)
		}
		for o, x := range p.Observed {
			if i == 0 {
				nodes = append(nodes, nil)
			}
			nodes[o] = append(nodes[o], node{h, x.Signed, x.RelativeResolution})
		}
	}
	for _, n := range nodes {
		size := func(x []float64) float64 { return floats.Norm(x, 2) }
		out = append(out, expand(n, 1, size)[2])
	}
	return out
}

// TestMiniBatchesActAsDocsTheorySays holds the law of orders of docs/theory.md to the engine,
// for all integrators of which it is proven and some words, under both schemes. Batches of one
// dimension, equal shifts and curvatures Pᵢ add −2c η² E(Pᵢ − P)²/P to the relative error of θ's
// variance. The coefficient of η² is fitted, with mini-batches and with the full batch, whose
// own error is the integrator's; to three digits, on random problems. With K in place of K + 1
// it would be off by 8 % or more.
func TestMiniBatchesActAsDocsTheorySays(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 6))
	schemes, err := Schemes("reshuffle", "symmetric")
	if err != nil {
		t.Fatal(err)
	}
	all := integrators.Builtin()
	for _, word := range []string{"ABABOBABA", "BBAOABA", "OABBA"} {
		in, err := all.Lookup("split:" + word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, in)
	}
	proven := 0
	for _, in := range all {
		response, reason, err := ResponseOf(in, nil, 1.3)
		if err != nil {
			t.Fatal(err)
		}
		if reason != "" {
			continue
		}
		proven++
		for k := 2; k <= 3; k++ {
			p := &Problem{Kind: Gaussian, Friction: 1.3}
			var mean, square float64
			for range k {
				x := 0.5 + 1.5*rng.Float64()
				mean, square = mean+x/float64(k), square+x*x/float64(k)
				p.gaussian = append(p.gaussian, newAffineForce([]float64{x}, []float64{0}))
			}
			whole := &Problem{Kind: Gaussian, Friction: p.Friction,
				gaussian: []*affineForce{newAffineForce([]float64{mean}, []float64{0})}}
			unit := (square - mean*mean) / mean
			for _, scheme := range schemes {
				var fitted [2]float64 // with mini-batches and with all of them as one
				for i, of := range []*Problem{p, whole} {
					o := Options{Problem: of}
					given, err := o.engine()
					if err != nil {
						t.Fatal(err)
					}
					solver := newSolver(&o, given, in)
					found := quadratic(t, func(h float64) (markov.Point, error) {
						return solver.at(context.Background(), scheme, h)
					}, 0.2)
					if v := found[1].value; v != nil { // no error at all has none
						fitted[i] = v[0]
					}
				}
				got, want := fitted[0]-fitted[1], -2*response.Coefficient(k)*unit
				if !(math.Abs(got-want) < 1e-3*max(math.Abs(want), 0.1*unit)) {
					t.Errorf("%s, %s, K = %d: mini-batches add %.6g h² to θ's variance, want %.6g",
						in.Name, scheme.Name, k, got, want)
				}
			}
		}
	}
	if proven < 18 {
		t.Errorf("the law is proven of %d integrators: want 18 or more", proven)
	}
}

// TestResponsesAreThoseOfTheWords compares what is measured of splittings with the sums over
// their kicks, and the coefficients with those that docs/theory.md states.
func TestResponsesAreThoseOfTheWords(t *testing.T) {
	type kick struct{ weight, time float64 }
	middle, ends := []kick{{1, 0.5}}, []kick{{0.5, 0}, {0.5, 1}}
	for name, kicks := range map[string][]kick{
		"leapfrog": middle, "aboba": middle, "lietrotter": middle, "symmetric": middle, "ubu": middle,
		"baoab": ends, "obabo": ends, "baoa": {{1, 0}}, "split:OAB": {{1, 1}},
		"split:ABABOBABA": {{0.25, 0.25}, {0.5, 0.5}, {0.25, 0.75}},
		"split:BBAOABA":   {{2. / 3, 0}, {1. / 3, 2. / 3}},
	} {
		in, err := integrators.Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		response, reason, err := ResponseOf(in, nil, 2)
		if err != nil || reason != "" {
			t.Fatalf("%s: %s, %v", name, reason, err)
		}
		for _, k := range []int{2, 7, 40} {
			want := float64(k+1) / 12
			for _, a := range kicks {
				for _, b := range kicks {
					want -= a.weight * b.weight * math.Abs(a.time-b.time) / 4
				}
			}
			if got := response.Coefficient(k); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s, K = %d: coefficient %.8g, of the word %.8g", name, k, got, want)
			}
		}
	}
	for name, want := range map[string]float64{ // at K = 10
		"exact": 10. / 12, "mt3": 10. / 12, "quicsort": 10. / 12, "midpoint": 10. / 12, "rk2": 11. / 12, "euler": 8. / 12,
		"leapfrog": 11. / 12, "baoab": 19. / 24,
	} {
		in, err := integrators.Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		response, _, err := ResponseOf(in, nil, 2)
		if got := response.Coefficient(10); err != nil || math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: coefficient %.8g, want %.8g (%v)", name, got, want, err)
		}
	}
}

// part is a part of a step of an independent program: a drift, a kick or exact friction, for a
// share of the step.
type part struct {
	letter rune
	share  float64
}

// enumeration is an independent program for one position of mass m: batches with the force
// Pθ − s, a word of parts, and all orders one by one.
type enumeration struct {
	p, s        []float64
	m, friction float64
	word        []part
}

// law holds second moments of (θ, r, 1).
type law = mat.Dense

// step moves a law by one step under the force Pθ − s.
func (e enumeration) step(x *law, p, s, h float64) *law {
	for _, part := range e.word {
		t := h * part.share
		a, noise := mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}), 0.0
		switch part.letter {
		case 'A':
			a.Set(0, 1, t/e.m)
		case 'B':
			a.Set(1, 0, -t*p)
			a.Set(1, 2, t*s)
		case 'O':
			a.Set(1, 1, math.Exp(-e.friction*t/e.m))
			noise = -e.m * math.Expm1(-2*e.friction*t/e.m)
		}
		var next law
		next.Product(a, x, a.T())
		next.Set(1, 1, next.At(1, 1)+noise)
		x = &next
	}
	return x
}

// epoch returns the laws after 0 … K steps, averaged over all orders.
func (e enumeration) epoch(x *law, h float64) []*law {
	k := len(e.p)
	out := []*law{x}
	for range k {
		out = append(out, mat.NewDense(3, 3, nil))
	}
	orders := combin.Permutations(k, k)
	for _, order := range orders {
		at := x
		for j, i := range order {
			at = e.step(at, e.p[i], e.s[i], h)
			var part law
			part.Scale(1/float64(len(orders)), at)
			out[j+1].Add(out[j+1], &part)
		}
	}
	return out
}

// stationary returns the means of (θ, r) and their covariances after 0 … K steps of the stationary
// epoch: θ's mean, and the variances of θ and r.
func (e enumeration) stationary(t *testing.T, h float64) (mean, theta, r []float64) {
	t.Helper()
	// The moments but the mass are affine in each other.
	index := [][2]int{{0, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}}
	from := func(v []float64) *law {
		x := mat.NewDense(3, 3, nil)
		x.Set(2, 2, 1)
		for n, at := range index {
			x.Set(at[0], at[1], v[n])
			x.Set(at[1], at[0], v[n])
		}
		return x
	}
	to := func(v []float64) []float64 {
		var out []float64
		last := e.epoch(from(v), h)[len(e.p)]
		for _, at := range index {
			out = append(out, last.At(at[0], at[1]))
		}
		return out
	}
	origin := to(make([]float64, 5))
	a := mat.NewDense(5, 5, nil)
	for j := range 5 {
		unit := markov.Unit(5, j)
		a.SetCol(j, floats.SubTo(make([]float64, 5), unit, floats.SubTo(make([]float64, 5), to(unit), origin)))
	}
	var v mat.VecDense
	if err := v.SolveVec(a, mat.NewVecDense(5, origin)); err != nil {
		t.Fatal(err)
	}
	for _, x := range e.epoch(from(v.RawVector().Data), h) {
		mean = append(mean, x.At(0, 2))
		theta = append(theta, x.At(0, 0)-x.At(0, 2)*x.At(0, 2))
		r = append(r, x.At(1, 1)-x.At(1, 2)*x.At(1, 2))
	}
	return mean, theta, r
}

// average is the mean of the numbers.
func average(x []float64) float64 { return floats.Sum(x) / float64(len(x)) }

// TestTheoryByEnumeration holds docs/theory.md to the independent program on random problems: what
// mini-batches add to the mean and the variance of θ is that of U + cη²S at the ends of epochs and
// within them, and to the variance of r η² E δ² j(K − j)/(K − 1) after j steps. Coefficients of η²
// are extrapolated from two steps.
func TestTheoryByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 7))
	words := map[float64][]part{ // by ¼ Σ Σ w w |t − t|
		0:        {{'A', 0.5}, {'B', 1}, {'O', 1}, {'A', 0.5}},
		1. / 8:   {{'O', 0.5}, {'B', 0.5}, {'A', 1}, {'B', 0.5}, {'O', 0.5}},
		3. / 128: {{'A', 0.5}, {'B', 0.25}, {'A', 0.25}, {'O', 1}, {'B', 0.75}, {'A', 0.25}},
	}
	for less, word := range words {
		for k := 2; k <= 4; k++ {
			e := enumeration{m: 0.5 + rng.Float64(), friction: 0.5 + 2*rng.Float64(), word: word}
			for range k {
				e.p, e.s = append(e.p, 0.5+2*rng.Float64()), append(e.s, rng.NormFloat64())
			}
			p, s := average(e.p), average(e.s)
			whole := e
			whole.p, whole.s = []float64{p}, []float64{s}
			// S = E (ΔPθ − Δs)²/m, and E δ² under the target.
			var square, cross, heat float64
			for i := range k {
				dp, ds := e.p[i]-p, e.s[i]-s
				pull := dp*s/p - ds // δ at the target's mean
				square += dp * dp / e.m / float64(k)
				cross += dp * pull / e.m / float64(k)
				heat += (dp*dp/p + pull*pull) / float64(k)
			}
			c := float64(k+1)/12 - less
			added := func(h float64) (mean, theta, r []float64) {
				mean, theta, r = e.stationary(t, h)
				ownMean, ownTheta, ownR := whole.stationary(t, h)
				for j := range mean {
					mean[j] = (mean[j] - ownMean[0]) / (h * h)
					theta[j] = (theta[j] - ownTheta[0]) / (h * h)
					r[j] = (r[j] - ownR[0]) / (h * h)
				}
				return mean, theta, r
			}
			const h = 0x1p-8
			coarse, fine := [3][]float64{}, [3][]float64{}
			coarse[0], coarse[1], coarse[2] = added(h)
			fine[0], fine[1], fine[2] = added(h / 2)
			for j := range k + 1 {
				within := float64(j*(k-j)) / float64(k-1)
				for o, want := range []float64{-2 * c * cross / p, -2 * c * square / (p * p), within * heat} {
					got := 2*fine[o][j] - coarse[o][j]
					if scale := heat + square/(p*p); math.Abs(got-want) > 2e-3*scale {
						t.Errorf("word of %.4g, K = %d, %s after %d steps: %.6g η², want %.6g", less, k,
							[]string{"mean of θ", "variance of θ", "variance of r"}[o], j, got, want)
					}
				}
			}
		}
	}
}

// TestAnEpochIsThatOfAnotherPotential compares the mean map of an epoch of exact flows, over all
// orders, with the flow of U + (Kη²/12)S, from any state: the remainder is of order η⁴.
func TestAnEpochIsThatOfAnotherPotential(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 8))
	flow := func(p, m, friction, h float64) *mat.Dense {
		var out mat.Dense
		out.Exp(mat.NewDense(2, 2, []float64{0, h / m, -h * p, -h * friction / m}))
		return &out
	}
	for k := 2; k <= 5; k++ {
		m, friction := 0.5+rng.Float64(), 2*rng.Float64()
		var p []float64
		for range k {
			p = append(p, 0.5+2*rng.Float64())
		}
		mean, square := average(p), 0.0
		for _, x := range p {
			square += (x - mean) * (x - mean) / float64(k)
		}
		remainder := func(h float64) float64 {
			sum, orders := mat.NewDense(2, 2, nil), combin.Permutations(k, k)
			for _, order := range orders {
				at := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
				for _, i := range order {
					at.Mul(flow(p[i], m, friction, h), mat.DenseCopyOf(at))
				}
				sum.Add(sum, at)
			}
			sum.Scale(1/float64(len(orders)), sum)
			sum.Sub(sum, flow(mean+float64(k)*h*h/6*square/m, m, friction, h*float64(k)))
			return mat.Norm(sum, 2)
		}
		// Without the potential's change, or with another, it falls as η³, 8-fold.
		if falls := remainder(0x1p-6) / remainder(0x1p-7); falls < 14 || falls > 40 {
			t.Errorf("K = %d: half of the step leaves 1/%.3g of the remainder, want 1/16", k, falls)
		}
	}
}

// TestTheRemainderIsOfOrderThree: of the error of θ's variance, what the law of orders leaves falls
// at least as η³.
func TestTheRemainderIsOfOrderThree(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(31, 100+seed))
		p, _ := randomBatches(rng, 1, 2+rng.IntN(4))
		o := Options{Problem: p, Steps: []float64{0x1p-7, 0x1p-8}}
		row := certifyOne(t, o, "exact", "reshuffle").observable(t, "theta.cov")
		left := func(i int) float64 {
			return math.Abs(float64(row.Relative[i]) - float64(row.Predicted)*o.Steps[i]*o.Steps[i])
		}
		if falls := left(0) / left(1); falls < 7 {
			t.Errorf("problem %d: half of the step leaves 1/%.3g of the remainder, want 1/8", seed, falls)
		}
	}
}

// TestTheRestOfTheHeat holds Theorem 3 of docs/theory.md to the engine: of random orders the
// coefficient of η³ in the relative error of θ's variance is, at small friction,
// K(K + 1)/(24MC) · E(4ΔP² + P pull²), pull the force at the target's mean; of symmetric sweeps
// it does not grow as the friction falls. On random problems of one position and mass, for the
// exact flow and words of both kinds; with K² for K(K + 1) it would be off by a fifth or more.
func TestTheRestOfTheHeat(t *testing.T) {
	schemes, err := Schemes("reshuffle", "symmetric")
	if err != nil {
		t.Fatal(err)
	}
	for k := 2; k <= 4; k++ {
		rng := rand.New(rand.NewPCG(31, 400+uint64(k)))
		p, invMass := randomBatches(rng, 1, k)
		var mean, shift, rest float64
		for _, b := range p.gaussian {
			mean += b.Precision[0] / float64(k)
			shift += b.Shift[0] / float64(k)
		}
		for _, b := range p.gaussian {
			dp := b.Precision[0] - mean
			pull := dp*shift/mean - (b.Shift[0] - shift)
			rest += (4*dp*dp + mean*pull*pull) / float64(k)
		}
		rest *= float64(k*(k+1)) / 24 * invMass[0]
		for _, name := range []string{"exact", "leapfrog", "obabo"} {
			in, err := integrators.Builtin().Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, scheme := range schemes {
				cubic := func(friction float64) float64 { // times C
					p.Friction = friction
					o := Options{Problem: p, InvMass: invMass}
					given, err := o.engine()
					if err != nil {
						t.Fatal(err)
					}
					solver := newSolver(&o, given, in)
					var nodes []node
					for i := range 8 {
						h := math.Ldexp(0x1p-5, -i)
						at, err := solver.at(context.Background(), scheme, h)
						if err != nil {
							t.Fatal(err)
						}
						x := at.Observed[1]
						nodes = append(nodes, node{h, x.Signed, x.RelativeResolution})
					}
					size := func(x []float64) float64 { return floats.Norm(x, 2) }
					return expand(nodes, 1, size)[3].value[0] * friction
				}
				want := rest
				if scheme.Name == "symmetric" {
					want = 0
				}
				// What does not grow as C falls goes with C², relatively.
				if got := (4*cubic(0.1) - cubic(0.2)) / 3; math.Abs(got-want) > 0.01*rest {
					t.Errorf("%s, %s, K = %d: %.5g η³/C is added to θ's variance, want %.5g",
						name, scheme.Name, k, got, want)
				}
			}
		}
	}
}

// TestTheRestOfTheHeatRunsAway: where what differences of curvature add is not small, it grows with
// the temperature, and at less friction there is no stationary law.
func TestTheRestOfTheHeatRunsAway(t *testing.T) {
	page, err := os.ReadFile("../docs/theory.md")
	if err != nil {
		t.Fatal(err)
	}
	const h = 0.05
	p := &Problem{Kind: Gaussian}
	for _, precision := range []float64{0.5, 1.5} {
		p.gaussian = append(p.gaussian, newAffineForce([]float64{precision}, []float64{0}))
	}
	added := func(friction float64) float64 {
		p.Friction = friction
		o := Options{Problem: p, Steps: []float64{h}}
		return float64(errorsOne(t, o, "exact", "reshuffle").Observables[1].Relative[0])
	}
	predicted := func(friction float64) float64 { // K = 2, E ΔP² = ¼
		return 6*h*h*h/(24*friction) - 2*2./12*h*h/4
	}
	if got := added(0.01); math.Abs(got/predicted(0.01)-1) > 0.01 {
		t.Errorf("C = 0.01: the variance is larger by %.4g, want %.4g", got, predicted(0.01))
	}
	want := fmt.Sprintf("the variance is larger by %.2f at C = 10⁻⁴, where the laws say %.2f, and "+
		"at C = 3 · 10⁻⁵ the second moments grow without end", added(1e-4), predicted(1e-4))
	if !strings.Contains(string(page), want) {
		t.Errorf("docs/theory.md does not say %q", want)
	}
	if got := added(3e-5); got == got {
		t.Errorf("C = 3e-5: the variance is larger by %g, want no stationary law", got)
	}
}

// TestSpreadOfCutRows cuts rows into K random batches in all ways: E |δ|² is K − 1 times that of two.
func TestSpreadOfCutRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 9))
	rows := make([]float64, 6) // gradients
	for i := range rows {
		rows[i] = rng.NormFloat64()
	}
	spread := func(k int) (sum float64) {
		subsets := combin.Combinations(len(rows), len(rows)/k)
		for _, batch := range subsets { // each is one of a partition as often as another
			g := -floats.Sum(rows)
			for _, i := range batch {
				g += float64(k) * rows[i]
			}
			sum += g * g / float64(len(subsets))
		}
		return sum
	}
	for _, k := range []int{3, 6} {
		if got := spread(k) / spread(2); math.Abs(got-float64(k-1)) > 1e-12 {
			t.Errorf("K = %d: E|δ|² is %v times that of two batches, want %d", k, got, k-1)
		}
	}
}

// TestNewPartitionsActAsOne certifies a scheme that cuts rows anew for every epoch: the law is that
// of a fixed partition, with S averaged over all partitions.
func TestNewPartitionsActAsOne(t *testing.T) {
	const rows, size = 4, 2
	rng := rand.New(rand.NewPCG(31, 10))
	batches := combin.Combinations(rows, size)
	precision, shift := make([]float64, rows), make([]float64, rows)
	for i := range rows {
		precision[i], shift[i] = 0.2+rng.Float64(), rng.NormFloat64()
	}
	p := &Problem{Kind: Gaussian, Friction: 1.4}
	for _, b := range batches {
		f := newAffineForce([]float64{0}, []float64{0})
		for _, i := range b {
			f.Precision[0] += precision[i] * rows / size
			f.Shift[0] += shift[i] * rows / size
		}
		p.gaussian = append(p.gaussian, f)
	}
	anew := minibatch.Scheme{Name: "anew", Cap: minibatch.Cap{Marginal: 2, Joint: 2},
		Visits: minibatch.Words{
			Length: func(int) int { return rows / size },
			List: func(int) []minibatch.Word {
				var words [][]int // a batch, and the one of the other rows
				for i := range batches {
					words = append(words, []int{i, len(batches) - 1 - i})
				}
				return minibatch.EquallyLikely(words)
			},
		}}
	o := Options{Problem: p}
	given, err := o.engine()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"aboba", "baoab"} {
		in, err := integrators.Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		response, _, err := ResponseOf(in, nil, p.Friction)
		if err != nil {
			t.Fatal(err)
		}
		want := given.RandomOrders(response.Coefficient(rows/size), 0)
		solver := newSolver(&o, given, in)
		found := quadratic(t, func(h float64) (markov.Point, error) {
			return solver.at(context.Background(), anew, h)
		}, 0.2)
		for i, observable := range []string{"mean", "variance"} { // of which both are exact with all rows
			if math.Abs(found[i].value[0]/want[i][0]-1) > 1e-3 {
				t.Errorf("%s, %s: %.6g h², want %.6g", name, observable, found[i].value[0], want[i][0])
			}
		}
	}
}

// TestIndependentBatchesHeat holds the law of heat to the engine, on random problems of one
// position and mass: batches drawn independently raise the variance of θ by η E δ²/(2C), and r's
// as much, relatively, beside the integrator's own error of order 1.
func TestIndependentBatchesHeat(t *testing.T) {
	for seed, name := range []string{"exact", "leapfrog", "obabo", "mt3", "euler", "baoa"} {
		rng := rand.New(rand.NewPCG(31, 200+uint64(seed)))
		p, invMass := randomBatches(rng, 1, 2+rng.IntN(4))
		var mean, shift, heat float64
		for _, b := range p.gaussian {
			mean += b.Precision[0] / float64(p.Batches())
			shift += b.Shift[0] / float64(p.Batches())
		}
		for _, b := range p.gaussian {
			dp := b.Precision[0] - mean
			pull := dp*shift/mean - (b.Shift[0] - shift)
			heat += (dp*dp/mean + pull*pull) / float64(p.Batches())
		}
		signed := func(scheme string, h float64) float64 {
			return float64(errorsOne(t, Options{Problem: p, InvMass: invMass, Steps: []float64{h}}, name, scheme).Observables[1].Relative[0])
		}
		// Errors are sizes: both are positive.
		const h = 0x1p-9
		at := func(h float64) float64 { return (signed("replacement", h) - signed("full", h)) / h }
		got, want := 2*at(h/2)-at(h), heat/(2*p.Friction)
		if math.Abs(got/want-1) > 3e-3 {
			t.Errorf("%s: independent batches add %.6g h to the variance of θ, want %.6g", name, got, want)
		}
	}
}

// TestConstantForcesHeatAnyPotential holds the law of heat to the engine where U has two wells:
// batches that differ by constant forces change the temperature alone, which moves the mean of θ²
// by a fifth of what the factor of quadratic potentials would.
func TestConstantForcesHeatAnyPotential(t *testing.T) {
	p := &Problem{Kind: Scalar, Friction: 1}
	heat := 0.0
	for _, center := range []float64{-0.5, -0.2, 0.3, 0.4} {
		p.scalar = append(p.scalar, spectral.Oscillator{Stiffness: 1, Center: center,
			Amplitude: 1.5, Frequency: 1.2})
		heat += center * center / (4 * 2 * p.Friction)
	}
	q := targetOf(p)
	u := func(x float64) (sum float64) {
		for _, b := range p.scalar {
			sum += b.Value(x) / float64(len(p.scalar))
		}
		return sum
	}
	square, fourth := q.expect(squared), q.expect(func(x float64) float64 { return x * x * x * x })
	moved := q.expect(func(x float64) float64 { return x * x * u(x) }) - square*q.expect(u)
	want := heat * moved / math.Sqrt(fourth-square*square)
	o := certifyOne(t, Options{Problem: p}, "baoab", "replacement").observable(t, "theta^2")
	if o.Order != 1 || math.Abs(float64(o.Constant)/want-1) > 1e-5 || moved > square/3 {
		t.Errorf("order %v, constant %v: want 1, %v", o.Order, o.Constant, want)
	}
}

// TestRandomOrdersGainWhatAnEpochRemembers holds the share of heat that random orders leave to the
// engine: batches of one curvature and random forces, epochs of a fixed length in 3, 6, 9 and
// 12 steps, from which the limit of many steps follows but for terms of order 1/K⁴: in the mean over
// the steps of an epoch and at its ends, where certify looks.
func TestRandomOrdersGainWhatAnEpochRemembers(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 300))
	for _, c := range [][2]float64{{0.5, 0.3}, {2.8, 0.05}, {2.8, 1}, {3.5, 0.5}, {1, 3}, {2, 2}} {
		epoch, friction := c[0], c[1]
		const omega = 1.7
		share := func(k int, every bool) float64 {
			p := &Problem{Kind: Gaussian, Friction: friction * omega}
			for range k {
				b := newAffineForce([]float64{omega * omega}, []float64{rng.NormFloat64()})
				p.gaussian = append(p.gaussian, b)
			}
			variance := func(scheme string) float64 {
				o := Options{Problem: p, EveryStep: every, Steps: []float64{epoch / omega / float64(k)}}
				return float64(errorsOne(t, o, "exact", scheme).Observables[1].Relative[0])
			}
			return variance("reshuffle") / variance("replacement")
		}
		for every, want := range map[bool]float64{true: minibatch.HeatLeft(epoch, friction), false: heatLeftAtEnds(epoch, friction)} {
			got := -share(3, every)/6 + 4*share(6, every) - 13.5*share(9, every) + 32./3*share(12, every)
			if math.Abs(got/want-1) > 0.01 {
				t.Errorf("Kηω = %g, C/ω = %g, every step: %t: random orders leave %.4f of the heat, want %.4f", epoch, friction, every, got, want)
			}
		}
	}
}

// The shares of the heat on the problems of the study regimes are as docs/theory.md has them: of
// the largest element of the error of θ's covariance, and of its largest relative error.
func TestSharesOnTheProblemsOfRegimes(t *testing.T) {
	page, err := os.ReadFile("../docs/theory.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../bench/studies/regimes.json")
	if err != nil {
		t.Fatal(err)
	}
	var problems map[string]json.RawMessage
	if err := json.Unmarshal(text, &problems); err != nil {
		t.Fatal(err)
	}
	o := Options{EveryStep: true}
	for h := 6.4; h > 0.012; h /= 2 {
		o.Steps = append(o.Steps, h)
	}
	var shares [2][]float64 // absolute, relative
	for name, problem := range problems {
		for _, friction := range []float64{0.3, 1, 3, 10} {
			if o.Problem, err = ParseProblem(name, problem); err != nil {
				t.Fatal(err)
			}
			o.Problem.Friction = friction
			row := errorsOne(t, o, "exact", "reshuffle")
			a := row.observable(t, "theta.cov")
			b := errorsOne(t, o, "exact", "replacement").observable(t, "theta.cov")
			for i, regime := range row.Regimes {
				x, y := a.Errors[i]/b.Errors[i], a.Relative[i]/b.Relative[i]
				if regime == minibatch.HeatRegime && x == x && y == y {
					shares[0] = append(shares[0], float64(x))
					shares[1] = append(shares[1], float64(y))
				}
			}
		}
	}
	// At the ends of epochs, beside the mean over them: two fifths or less in those of about half a
	// period, a tenth or so more in longer ones.
	for _, friction := range []float64{0.3, 0.5, 0.7, 1, 1.5, 3, 5, 10} {
		for epoch, most := range map[float64]float64{3: 0.43, 6: 1.12, 10: 1.01} {
			if r := heatLeftAtEnds(epoch, friction) / minibatch.HeatLeft(epoch, friction); r > most {
				t.Errorf("C/ω = %g, Kηω = %g: %.2f of the mean's share at the ends, want at most %g", friction, epoch, r, most)
			}
		}
	}
	ends := fmt.Sprintf("at Kηω = π a share of %.2f is left at the ends, and %.2f in the mean",
		heatLeftAtEnds(math.Pi, 0.001), minibatch.HeatLeft(math.Pi, 0.001))
	if !strings.Contains(string(page), ends) {
		t.Errorf("docs/theory.md does not say %q", ends)
	}
	want := fmt.Sprintf("%.2f to %.2f under heat, are those of the largest element of the "+
		"error of θ's covariance; of its largest relative error, in coordinates in which the "+
		"target is N(0, I), they are %.2f to %.2f.", slices.Min(shares[0]),
		slices.Max(shares[0]), slices.Min(shares[1]), slices.Max(shares[1]))
	if !strings.Contains(string(page), want) {
		t.Errorf("docs/theory.md does not say %q", want)
	}
}

// What random orders leave of the error of independent batches at the end of the regime of orders,
// as docs/theory.md has it, where batches couple two directions or are two.
func TestSharesAtTheEndOfOrders(t *testing.T) {
	page, err := os.ReadFile("../docs/theory.md")
	if err != nil {
		t.Fatal(err)
	}
	shares := func(integrator, text string) (absolute, relative float64) {
		p, err := ParseProblem("coupled", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		// No ω here is above C: Kη·max(ω, C) is 0.29, a little below the line.
		step := 0.29 / float64(len(p.gaussian)) / p.Friction
		o := Options{Problem: p, EveryStep: true, Steps: []float64{step}}
		row := errorsOne(t, o, integrator, "reshuffle")
		a := row.observable(t, "theta.cov")
		b := errorsOne(t, o, integrator, "replacement").observable(t, "theta.cov")
		if row.Regimes[0] != minibatch.OrdersRegime {
			t.Errorf("%s: the regime is %v, want orders", text, row.Regimes)
		}
		return float64(a.Errors[0] / b.Errors[0]), float64(a.Relative[0] / b.Relative[0])
	}
	const coupled = `{"kind": "gaussian", "friction": %g, "batches": [
		{"precision": [[1, %[2]g], [%[2]g, %[3]g]], "shift": [0, 0]}, {"precision": [[1, %[2]g], [%[2]g, %[3]g]], "shift": [0, 0]},
		{"precision": [[1, -%[2]g], [-%[2]g, %[3]g]], "shift": [0, 0]}, {"precision": [[1, -%[2]g], [-%[2]g, %[3]g]], "shift": [0, 0]}]}`
	largest, relative := shares("exact", fmt.Sprintf(coupled, 3.2, 0.5, 2.56))
	wide, of := shares("exact", fmt.Sprintf(coupled, 10., 2., 100.))
	_, two := shares("leapfrog", `{"kind": "gaussian", "friction": 3, "batches": [{"precision": [[1.5]], "shift": [0]}, {"precision": [[0.5]], "shift": [0]}]}`)
	t.Logf("largest element %.3f, relative %.3f; of other scales %.3f, %.3f; two batches %.3f", largest, relative, wide, of, two)
	if relative > 0.1 || of > 0.1 || wide < 1 {
		t.Errorf("shares of the relative error %.3f and %.3f, of the largest element %.3f", relative, of, wide)
	}
	want := fmt.Sprintf("(%.2f with leapfrog and two batches). The largest element of the error of cov θ itself may keep more: %.2f where batches couple directions of ω = 1 and 1.6, and where", two, largest)
	if !strings.Contains(string(page), want) {
		t.Errorf("docs/theory.md does not say %q", want)
	}
}

// heatLeftAtEnds is the share that random orders leave at the ends of epochs: one less the part of
// the response h of a position to a kick that is constant over an epoch, 1 - Σ_j (∫ h)²/(T ∫ h²),
// the integrals over the j-th epoch before.
func heatLeftAtEnds(epoch, friction float64) float64 {
	if friction == 2 { // two equal rates, near which nothing changes
		friction += 1e-4
	}
	root := cmplx.Sqrt(complex(friction*friction/4-1, 0))
	a, b := complex(-friction/2, 0)+root, complex(-friction/2, 0)-root
	integral := func(u float64) float64 {
		x := complex(u, 0)
		return real((cmplx.Exp(a*x)/a - cmplx.Exp(b*x)/b) / (a - b))
	}
	left := 1.0
	for j := range 100_000 {
		part := integral(float64(j+1)*epoch) - integral(float64(j)*epoch)
		left -= part * part * 2 * friction / epoch // ∫ h² = 1/(2C) at ω = 1
	}
	return left
}
