package certify

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/estimators"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

var predictionCount = flag.Int("predictions", 12, "random problems in TestPredictionsAreTheFits")

// randomWord is a word of at most eight kicks, drifts and frictions.
func randomWord(rng *rand.Rand) string {
	letters := []byte("ABO")
	for range rng.IntN(6) {
		letters = append(letters, "ABO"[rng.IntN(3)])
	}
	rng.Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
	return "split:" + string(letters)
}

// randomBatches is a Gaussian problem of d positions in k batches, with frequencies from 1 to
// 2, and a mass.
func randomBatches(rng *rand.Rand, d, k int) (p *Problem, invMass []float64) {
	p = &Problem{Kind: Gaussian, Friction: logUniform(rng, -0.3, 0.5)}
	for range d {
		invMass = append(invMass, logUniform(rng, -0.3, 0.3))
	}
	spread := logUniform(rng, -0.7, -0.1)
	for range k {
		q, at, shift := orthogonal(rng, d), mat.NewDense(d, d, nil), make([]float64, d)
		for i := range d {
			at.Set(i, i, (1+3*rng.Float64())*(1+spread*(2*rng.Float64()-1)))
			shift[i] = rng.NormFloat64()
		}
		at.Product(q, at, q.T())
		for i := range d {
			for j := range i {
				at.Set(i, j, at.At(j, i))
			}
		}
		p.gaussian = append(p.gaussian, newAffineForce(at.RawMatrix().Data, shift))
	}
	return p, invMass
}

// TestPredictionsAreTheFits compares predictions with what the engine finds as h → 0: of all
// integrators of which the law of orders is proven and of random words, on random problems of
// up to 4 positions and 10 batches, with a mass, at the ends of epochs and averaged over
// them. No prediction may be called another constant than the one found, and those that are known
// to 10⁻³ must agree to 2·10⁻³.
func TestPredictionsAreTheFits(t *testing.T) {
	names := []string{"euler", "rk2", "leapfrog", "symmetric", "lietrotter", "mt3", "sghmc-adaptive",
		"exact", "ubu", "quicsort", "baoab", "aboba", "obabo", "baoa"}
	compared, known, worst := 0, 0, 0.0
	for _, seed := range numbered(*predictionCount) {
		rng := rand.New(rand.NewPCG(2031, seed))
		name, scheme := names[seed%uint64(len(names))], "reshuffle"
		if seed%3 == 0 {
			name = randomWord(rng)
		}
		d, k := 1+rng.IntN(4), 2+rng.IntN(5)
		switch rng.IntN(6) {
		case 0:
			k = 7 + rng.IntN(4)
		case 1, 2:
			scheme, k = "symmetric", min(k, 4)
		}
		o := Options{EveryStep: rng.IntN(2) == 0}
		o.Problem, o.InvMass = randomBatches(rng, d, k)
		if name == "lietrotter" && rng.IntN(2) == 0 {
			o.Inner = k
		}
		row := certifyOne(t, o, name, scheme)
		for _, x := range row.Observables {
			label := fmt.Sprintf("problem %d: %s, %s, N_l = %d, %s, d = %d, K = %d, %s", seed, name,
				scheme, row.Inner, row.Observe, d, k, x.Name)
			if math.IsNaN(float64(x.Predicted)) {
				t.Errorf("%s: nothing is predicted: %s", label, x.Reason)
			}
			if x.Apart {
				t.Errorf("%s: %.8g h^%g (± %.1g) is found, %.8g h^%d predicted", label, x.Constant,
					x.Order, x.Constant*x.Uncertainty, x.Predicted, x.PredictedOrder)
			}
			if row.Amplified != nil {
				continue // the constant is of other batches
			}
			compared++
			if float64(x.Order) != float64(x.PredictedOrder) || x.Uncertainty > 1e-3 {
				continue
			}
			known++
			off := math.Abs(float64(x.Constant/x.Predicted - 1))
			if worst = max(worst, off); off > 2e-3 {
				t.Errorf("%s: %.8g is found, %.8g predicted", label, x.Constant, x.Predicted)
			}
		}
	}
	t.Logf("%d constants, %d known to 10⁻³, largest difference of these %.1e", compared, known, worst)
	if 2*known < compared || !(worst > 0) {
		t.Errorf("%d of %d constants are known: want half", known, compared)
	}
}

// TestPredictionsOnAScalarProblem does the same in a potential that is not quadratic.
func TestPredictionsOnAScalarProblem(t *testing.T) {
	for name, every := range map[string]bool{"leapfrog": false, "obabo": true} {
		known := 0
		o := Options{Problem: scalarBuiltin(), EveryStep: every}
		for _, x := range certifyOne(t, o, name, "reshuffle").Observables {
			off := math.Abs(float64(x.Constant/x.Predicted - 1))
			if float64(x.Order) == float64(x.PredictedOrder) && x.Uncertainty < 1e-2 {
				known++
				if off > 1e-2 {
					t.Errorf("%s, %s: %.6g is found, %.6g predicted", name, x.Name, x.Constant, x.Predicted)
				}
			}
			if x.Reason != "" || x.Apart {
				t.Errorf("%s, %s: %.6g ± %.1g h^%g, predicted %.6g h^%d, %q, apart %t", name, x.Name,
					x.Constant, x.Uncertainty, x.Order, x.Predicted, x.PredictedOrder, x.Reason, x.Apart)
			}
		}
		if known < 3 {
			t.Errorf("%s: %d constants are known, want 3", name, known)
		}
	}
}

// Batches of the same spread, twice and four times as many of them: exact flows have K/12.
func TestBottleneckGrowsLikeTheNumberOfBatches(t *testing.T) {
	for _, k := range []int{2, 4, 8, 40} {
		p := &Problem{Kind: Gaussian, Friction: 1.5}
		for i := range k {
			p.gaussian = append(p.gaussian, newAffineForce([]float64{1 + 0.6*float64(1-2*(i%2))}, []float64{0}))
		}
		row := certifyOne(t, Options{Problem: p}, "exact", "reshuffle").observable(t, "theta.cov")
		if want, got := 0.06*float64(k), float64(row.Predicted); math.Abs(got/want-1) > 1e-8 {
			t.Errorf("K = %d: %v is predicted, want %v", k, got, want)
		}
		if k == 40 { // beyond exact sums
			if row.Verdict != Alone || !math.IsNaN(float64(row.Constant)) {
				t.Errorf("K = 40: verdict %s, constant %v", row.Verdict, row.Constant)
			}
			continue
		}
		// Constants keep their uncertainty, from an epoch of up to 6 times 1/ω, too.
		large := certifyOne(t, Options{Problem: p, Steps: []float64{0.8, 0.4, 0.2, 0.1, 0.05, 0.025, 0.0125}}, "exact", "reshuffle").observable(t, "theta.cov")
		for _, o := range []Observable{row, large} {
			if off := math.Abs(float64(o.Constant)/(0.06*float64(k)) - 1); !(off <= float64(o.Uncertainty)) {
				t.Errorf("K = %d: constant %v is off by %.2g (relative), stated uncertainty %.2g", k, o.Constant, off, o.Uncertainty)
			}
		}
		if want := 0.06 * float64(k); math.Abs(float64(row.Constant)/want-1) > 1e-3 || row.Order != 2 {
			t.Errorf("K = %d: %v h^%v, want %v h²", k, row.Constant, row.Order, want)
		}
	}
}

// Where nothing is proven a row says why.
func TestReasonsForNoPrediction(t *testing.T) {
	saga, err := estimators.Builtin().Lookup("saga")
	if err != nil {
		t.Fatal(err)
	}
	one := &Problem{Kind: Gaussian, Friction: 1, gaussian: gaussianBuiltin().gaussian[:1]}
	for _, c := range []struct {
		integrator, scheme string
		options            Options
		want               string
	}{
		{"leapfrog", "full", Options{Problem: Toy()}, "all of the data"},
		{"leapfrog", "replacement", Options{Problem: Toy()}, "heat"},
		{"leapfrog", "cyclic", Options{Problem: Toy()}, "random order"},
		{"sgld", "reshuffle", Options{Problem: Toy()}, "no momentum"},
		{"sghmc", "reshuffle", Options{Problem: Toy()}, "lessens its noise"},
		{"leapfrog", "reshuffle", Options{Problem: one}, "one batch"},
		{"leapfrog", "reshuffle", Options{Problem: Toy(), OneStep: true}, "one step"},
		{"leapfrog", "reshuffle", Options{Problem: Toy(), Estimator: saga}, "not those of the batches"},
	} {
		for _, x := range certifyOne(t, c.options, c.integrator, c.scheme).Observables {
			if !math.IsNaN(float64(x.Predicted)) || x.PredictedOrder != 0 || !strings.Contains(x.Reason, c.want) {
				t.Errorf("%s, %s, %s: predicted %v, %q: want none, %q", c.integrator, c.scheme, x.Name,
					x.Predicted, x.Reason, c.want)
			}
		}
	}
	thermostat, err := integrators.Builtin().Lookup("sgnht")
	if err != nil {
		t.Fatal(err)
	}
	if _, reason, err := ResponseOf(thermostat, nil, 1); err != nil || !strings.Contains(reason, "auxiliary") {
		t.Errorf("sgnht: %q, %v", reason, err)
	}
	// A step that kicks with half of the gradient is that of another target.
	half := integrators.Define(integrators.Integrator{Name: "half", Claims: integrators.Claims{ErgodicOrder: 1}},
		func(int, integrators.Params) (kernel, refresh integrators.Stepper) { return halfKick{}, nil })
	if _, reason, err := ResponseOf(half, nil, 1); err != nil || !strings.Contains(reason, "small step") {
		t.Errorf("half of the gradient: %q, %v", reason, err)
	}
}

// halfKick drifts by 10⁻⁹ and kicks with half of the gradient.
type halfKick struct{}

func (halfKick) Step(z *integrators.State, f integrators.Force, _ integrators.Noise) {
	g := make([]float64, len(z.R))
	f.Gradient(g, z.Theta)
	z.R[0] -= 1e-9 * g[0] / 2
	z.Theta[0] += 1e-9 * z.R[0]
}

// The predictions of another law are seen: K for K + 1, h for h², and a term where there is none.
func TestAPredictionThatIsOffIsSeen(t *testing.T) {
	found := finding{order: 2, constant: 11. / 12, uncertainty: 1e-3, limits: []float64{1e-9, 1e-9}}
	none := finding{order: 3, constant: 1, uncertainty: 1e-3, limits: []float64{1e-9, 1e-9, 1e-9}}
	for _, c := range []struct {
		f     finding
		order int
		size  float64
		want  bool
	}{
		{found, 2, 11. / 12, false}, {found, 2, 11. / 12 * 1.005, false}, {found, 2, 10. / 12, true},
		{found, 1, 1e-10, false}, {found, 1, 11. / 12, true}, {found, 3, 1, true}, {found, 2, 0, true},
		{none, 2, 0, false}, {none, 2, 1e-3, true}, {unknown(), 2, 1, false},
	} {
		if got := c.f.contradicts(c.order, c.size, 0); got != c.want {
			t.Errorf("%v h^%v is found, %v h^%d predicted: apart %t", c.f.constant, c.f.order, c.size, c.order, got)
		}
	}
}

// Of batches with equal curvature the law predicts nothing, not the square of a rounding error.
func TestEqualBatchesPredictNothing(t *testing.T) {
	p := &Problem{Kind: Gaussian, Friction: 0.3}
	for _, shift := range []float64{0.7, -0.4, 0.31, -0.93, 1.1, -0.78} {
		p.gaussian = append(p.gaussian, newAffineForce([]float64{0.997, 0.0943, 0.0943, 0.013}, []float64{shift, -0.3 * shift}))
	}
	row := certifyOne(t, Options{Problem: p, Steps: []float64{0.02, 0.01}}, "exact", "reshuffle")
	for _, o := range row.Observables {
		if o.PredictedOrder != 2 || float64(o.Predicted) != 0 {
			t.Errorf("%s: predicted %v h^%d (%s), want 0 h^2", o.Name, o.Predicted, o.PredictedOrder, o.Reason)
		}
	}
}

// The note of the claim regime-line: along a slow direction an epoch is still short, and where it
// has most of the error, random orders remove most of the error of both.
func TestRegimesAreThoseOfDirections(t *testing.T) {
	p := &Problem{Kind: Gaussian, Friction: 0.3}
	for _, shift := range []float64{1.1, -0.6, 0.4, -1.3, 0.9, -0.5} {
		p.gaussian = append(p.gaussian, newAffineForce([]float64{1, 0, 0, 0.01}, []float64{shift, 1.3 - shift}))
	}
	variance := func(scheme string) []Number {
		o := Options{Problem: p, Steps: []float64{1}, EveryStep: true}
		return errorsOne(t, o, "exact", scheme).Observables[1].Errors
	}
	if left := float64(variance("reshuffle")[0] / variance("replacement")[0]); left < 0.02 || left > 0.03 {
		t.Errorf("random orders leave %.4f of the error of cov θ, the note says 0.025", left)
	}
	p.gaussian = nil
	for _, shift := range []float64{1.1, -0.6, 0.4, -1.3, 0.9, -0.5} {
		p.gaussian = append(p.gaussian, newAffineForce([]float64{1}, []float64{shift}))
	}
	if left := float64(variance("reshuffle")[0] / variance("replacement")[0]); left < 0.95 {
		t.Errorf("along the fast direction %.4f, the note says all", left)
	}
}

// Frequencies and lengths of epochs are in units of M^−½ ∇²U M^−½.
func TestSettings(t *testing.T) {
	p := &Problem{Kind: Gaussian, Friction: 3, gaussian: []*affineForce{
		newAffineForce([]float64{8, 0, 0, 2}, []float64{0, 0}), newAffineForce([]float64{4, 0, 0, 0}, []float64{0, 0})}}
	o := Options{Problem: p, InvMass: []float64{1.5, 0.25}, Steps: []float64{0.2, 0.1}}
	row := certifyOne(t, o, "leapfrog", "reshuffle")
	// ω² is 6 · 1.5 and 1 · 0.25.
	near := func(x, y Number) bool { return math.Abs(float64(x-y)) < 1e-12 }
	if !near(row.Low, 0.5) || !near(row.High, 3) || !slices.EqualFunc(row.Epochs, []Number{1.2, 0.6}, near) || !near(row.Damping, 1.5) {
		t.Errorf("ω from %v to %v, Kηω %v, C/ω %v", row.Low, row.High, row.Epochs, row.Damping)
	}
	// The friction's fastest rate is 4.5: at the smaller step Kη·4.5 is 0.9, at a fifth of it 0.18.
	both := []minibatch.Regime{minibatch.BetweenRegime, minibatch.BetweenRegime}
	if !slices.Equal(row.Regimes, both) || !slices.Equal(row.Slowest, both) {
		t.Errorf("regimes %v, at the lowest frequency %v", row.Regimes, row.Slowest)
	}
	// Longer epochs are under heat at ω = 3, and not at 0.5.
	o.Steps = []float64{2}
	if row := certifyOne(t, o, "leapfrog", "reshuffle"); !slices.Equal(row.Regimes, []minibatch.Regime{minibatch.HeatRegime}) || !slices.Equal(row.Slowest, both[:1]) {
		t.Errorf("regimes %v, at the lowest frequency %v", row.Regimes, row.Slowest)
	}
	// No law is proven of these.
	o.Steps = []float64{0.02, 0.01}
	if row := certifyOne(t, o, "sghmc", "replacement"); row.Regimes != nil || row.Epochs == nil {
		t.Errorf("sghmc: regimes %v, Kηω %v", row.Regimes, row.Epochs)
	}
	if row := certifyOne(t, o, "leapfrog", "cyclic"); row.Regimes != nil || row.Slowest != nil {
		t.Errorf("one order for ever: regimes %v", row.Regimes)
	}
	o.Estimator = estimatorOf(t, "svrg")
	if row := certifyOne(t, o, "leapfrog", "replacement"); row.Regimes != nil || row.Epochs == nil {
		t.Errorf("svrg: regimes %v, Kηω %v", row.Regimes, row.Epochs)
	}
	o.Estimator = estimators.Estimator{}
	o.Steps = []float64{0.2, 0.02}
	var lines strings.Builder
	if err := WriteTable(&lines, []Row{certifyOne(t, o, "leapfrog", "reshuffle")}); err != nil ||
		!strings.Contains(lines.String(), "K·h·ω from 1.2 (between) to 0.12 (orders), C/ω = 1.5, with frequencies from 0.5 to ω = 3.") {
		t.Errorf("%v\n%s", err, lines.String())
	}
	old := certifyOne(t, o, "leapfrog", "reshuffle")
	old.Slowest = nil
	cyclic := old
	cyclic.Scheme = "cyclic"
	if err := WriteTable(&lines, []Row{old, cyclic}); err != nil || strings.Count(lines.String(), "reshuffle: K·h·ω") != 2 || strings.Contains(lines.String(), "cyclic:") {
		t.Errorf("%v, rows of an earlier version:\n%s", err, lines.String())
	}
	if row := certifyOne(t, o, "leapfrog", "full"); !near(row.Epochs[0], 0.6) || row.Regimes != nil {
		t.Errorf("with all of the data Kηω is %v, %v", row.Epochs, row.Regimes)
	}
	if row := certifyOne(t, Options{Problem: Toy()}, "sgld", "full"); row.High != 0 {
		t.Errorf("sgld: ω %v", row.High)
	}
	// Of a scalar problem ω² is the mean curvature.
	scalar, q := scalarBuiltin(), targetOf(scalarBuiltin())
	mean := q.expect(func(x float64) (sum float64) {
		for _, b := range scalar.scalar {
			sum += b.Curvature(x) / float64(len(scalar.scalar))
		}
		return sum
	})
	if low, high := scalar.Frequencies(nil); math.Abs(high*high/mean-1) > 1e-9 || low != high {
		t.Errorf("scalar: ω from %v to %v, mean curvature %v", low, high, mean)
	}
}

// A record of before predictions had the law's constant at the row.
func TestOldRecordsHaveTheirPredictions(t *testing.T) {
	var r Row
	if err := r.UnmarshalJSON([]byte(`{"steps": [0.1], "closed_form": {"theta.cov": 0.25},
		"observables": [{"name": "theta.cov"}, {"name": "joint.cov"}]}`)); err != nil {
		t.Fatal(err)
	}
	if x := r.Observables[0]; x.Predicted != 0.25 || x.PredictedOrder != 2 {
		t.Errorf("predicted %v h^%d, want 0.25 h²", x.Predicted, x.PredictedOrder)
	}
	if x := r.Observables[1]; !math.IsNaN(float64(x.Predicted)) {
		t.Errorf("predicted %v where nothing was", x.Predicted)
	}
}

// heated adds noise to another step, of a variance that depends on the curvature P of the batch.
type heated struct {
	integrators.Stepper
	variance func(p float64) float64
}

func (s heated) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	s.Stepper.Step(z, f, n)
	xi := make([]float64, len(z.R))
	n.Normal(xi)
	p := f.(integrators.AffineForce).Affine().Precision[0]
	floats.AddScaled(z.R, math.Sqrt(s.variance(p)), xi)
}

// heatedRow is that of baoab with more noise.
func heatedRow(t *testing.T, p *Problem, claim float64, scheme string, variance func(h, p float64) float64) Row {
	t.Helper()
	baoab, err := integrators.Builtin().Lookup("baoab")
	if err != nil {
		t.Fatal(err)
	}
	needs := baoab.Needs
	needs.Affine, needs.Normals = true, needs.Normals+1
	m := integrators.Define(integrators.Integrator{Name: "heated",
		Claims: integrators.Claims{ErgodicOrder: claim, PositionOrder: claim}, Needs: needs},
		func(dim int, p integrators.Params) (kernel, refresh integrators.Stepper) {
			in, err := baoab.New(dim, p)
			if err != nil {
				t.Fatal(err)
			}
			return heated{in.Kernel, func(curvature float64) float64 { return variance(p.Step, curvature) }}, nil
		})
	schemes, err := Schemes(scheme)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Run(t.Context(), Options{Problem: p, Integrators: []integrators.Integrator{m}, Schemes: schemes})
	if err != nil {
		t.Fatal(err)
	}
	return rows[0]
}

// A step that does more with its batch than to follow the gradient is not as the law of orders
// takes it: rows say so.
func TestAStepThatTheLawDoesNotKnowIsApart(t *testing.T) {
	p := &Problem{Kind: Gaussian, Friction: 1, gaussian: []*affineForce{
		newAffineForce([]float64{0.5}, []float64{0}), newAffineForce([]float64{2}, []float64{0})}}
	row := heatedRow(t, p, 1, "reshuffle", func(h, p float64) float64 { return math.Pow(h*h*p, 1.5) })
	if o := row.observable(t, "theta.cov"); !o.Apart {
		t.Errorf("%v h^%v is found, %v h^%d predicted, and not told apart", o.Constant, o.Order, o.Predicted, o.PredictedOrder)
	}
	var table strings.Builder
	if err := WriteTable(&table, []Row{row}); err != nil || !strings.Contains(table.String(), "(apart)") {
		t.Errorf("the table does not say it: %v\n%s", err, table.String())
	}
}

// What is certain of an integrator with all of the data is in the error under random orders, too,
// where it may be too small to be told from none beside what the batches add: no higher order is
// then confirmed.
func TestSmallTermsOfTheIntegratorAreNotForgotten(t *testing.T) {
	for order, extra := range []func(h, p float64) float64{
		func(h, _ float64) float64 { return 1e-9 * h },
		func(h, _ float64) float64 { return 1e-5 * h * h },
	} {
		p := gaussianBuiltin()
		if x := heatedRow(t, p, 2, "full", extra).observable(t, "theta.cov"); float64(x.Order) != float64(order) {
			t.Fatalf("order %v, %s: want a term of order %d that is certain", x.Order, x.Verdict, order)
		}
		x := heatedRow(t, p, 2, "symmetric", extra).observable(t, "theta.cov")
		if x.Verdict != Inconclusive || !math.IsNaN(float64(x.Order)) || order > 0 && float64(x.AtLeast) != 1 {
			t.Errorf("with a term of order %d: %s, order %v, at least %v", order, x.Verdict, x.Order, x.AtLeast)
		}
	}
}

// Where an order is found, the row bounds the lower terms that are taken for absent.
func TestLowerTermsAreBounded(t *testing.T) {
	const added = 1e-10 // what a noise of this times h adds to the variance, to order 0, is half of it
	x := heatedRow(t, gaussianBuiltin(), 2, "replacement", func(h, _ float64) float64 { return added * h }).observable(t, "theta.cov")
	if float64(x.Order) != 1 || !(float64(x.Bound) >= added/4) {
		t.Errorf("order %v, bound %v of lower terms: want 1 and %v or more", x.Order, x.Bound, added/4)
	}
}
