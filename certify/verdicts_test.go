package certify

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/certify/gaussian"
	"hambench/certify/spectral"
	"hambench/integrators"
	"hambench/integrators/estimators"
)

var (
	verdictCount = flag.Int("verdicts", 4, "random problems in TestNoVerdictIsFalse")
	firstSeed    = flag.Uint64("first", 0, "number of the first random problem of every test of them")
)

// numbered are the numbers of so many random problems, from -first on.
func numbered(count int) (seeds []uint64) {
	for i := range uint64(count) {
		seeds = append(seeds, *firstSeed+i)
	}
	return seeds
}

// trial is a random problem with what is asked of it.
type trial struct {
	refCase
	steps     []float64
	fast      float64
	well      bool // posed: steps from 10⁻³ to 0.4, condition at most 10³
	condition float64
	claims    integrators.Claims
}

// String shows a trial so that it can be repeated.
func (c trial) String() string {
	raw, _ := c.problem.MarshalJSON()
	return fmt.Sprintf("%s under %s, %q, M⁻¹ = %v, N_l = %d, steps %v, claims %v and %v: %s", c.integrator, c.scheme,
		c.estimator, c.invMass, c.inner, c.steps, c.claims.ErgodicOrder, c.claims.PositionOrder, raw)
}

// logUniform draws from 10^lo to 10^hi.
func logUniform(rng *rand.Rand, lo, hi float64) float64 {
	return math.Pow(10, lo+(hi-lo)*rng.Float64())
}

// randomTrial draws the trial of a number.
func randomTrial(t *testing.T, seed uint64) trial {
	return drawTrial(t, rand.New(rand.NewPCG(2026, seed)), func(*trial, *int, *int) {})
}

// drawTrial draws a trial, of which change may change the chain, and the numbers of positions and
// of batches.
func drawTrial(t *testing.T, rng *rand.Rand, change func(c *trial, d, k *int)) trial {
	names := []string{"euler", "rk2", "leapfrog", "symmetric", "lietrotter", "baoab", "obabo", "mt3", "mt3"}
	schemes := []string{"full", "reshuffle", "reshuffle", "replacement", "cyclic", "symmetric"}
	c := trial{refCase: refCase{integrator: names[rng.IntN(len(names))], scheme: schemes[rng.IntN(len(schemes))]}}
	d, k := 1+rng.IntN(3), 1+rng.IntN(6)
	if rng.IntN(50) == 0 && d < 3 {
		k = 7 + rng.IntN(4)
	}
	if c.scheme == "symmetric" {
		k = min(k, 4)
	}
	change(&c, &d, &k)
	c.well = rng.IntN(2) == 0
	spread := 3.0
	if !c.well {
		spread = 6
	}
	condition := logUniform(rng, 0, spread)
	c.condition = condition
	unit := logUniform(rng, -8, 8) // of θ: frequencies are its inverse
	// P̄ = AAᵀ with singular values from √condition down to 1, over unit.
	q := orthogonal(rng, d)
	a := mat.NewDense(d, d, nil)
	for i := range d {
		at := 1.0
		if d > 1 {
			at = float64(i) / float64(d-1)
		}
		for j := range d {
			a.Set(j, i, q.At(j, i)*math.Pow(condition, at/2)/unit)
		}
	}
	c.fast = math.Sqrt(condition) / unit
	curved, apart := logUniform(rng, -6, -0.1), logUniform(rng, -6, 0.5)
	switch rng.IntN(6) {
	case 0:
		curved = 0
	case 1:
		apart = 0
	}
	friction := logUniform(rng, -1, 0.7) / unit * math.Pow(condition, rng.Float64()/2)
	p := &Problem{Kind: Gaussian, Friction: friction}
	mean := make([]float64, d)
	for i := range mean {
		// Equal pulls have a common mean of 0: elsewhere the shifts' rounding
		// would make them differ, by 10⁻¹⁶.
		if apart > 0 {
			mean[i] = 3 * rng.NormFloat64() * unit
		}
	}
	for range k {
		s := mat.NewDense(d, d, nil)
		for i := range d {
			for j := i; j < d; j++ {
				v := curved * (2*rng.Float64() - 1) / float64(d)
				s.Set(i, j, v)
				s.Set(j, i, v)
			}
			s.Set(i, i, 1+s.At(i, i))
		}
		var half, whole mat.Dense
		half.Mul(a, s)
		whole.Mul(&half, a.T())
		precision := make([]float64, 0, d*d)
		for i := range d {
			for j := range d {
				precision = append(precision, whole.At(min(i, j), max(i, j)))
			}
		}
		if curved == 0 && len(p.gaussian) > 0 {
			precision = p.gaussian[0].Precision
		}
		shift := make([]float64, d)
		for i := range d {
			shift[i] = floats.Dot(precision[i*d:(i+1)*d], mean)
			for j := range d {
				shift[i] += apart * rng.NormFloat64() * a.At(i, j)
			}
		}
		p.gaussian = append(p.gaussian, newAffineForce(precision, shift))
	}
	c.problem = p
	lo, hi := -3.0, math.Log10(0.1)
	if !c.well {
		lo, hi = -9, 0.5
	}
	h := logUniform(rng, lo, hi) / max(c.fast, friction)
	c.steps = []float64{4 * h, 2 * h, h}
	m, err := integrators.Builtin().Lookup(c.integrator)
	if err != nil {
		t.Fatal(err)
	}
	c.claims = m.Claims
	if rng.IntN(2) == 0 { // claims that may be wrong
		orders := []float64{1, 2, 3, 4, math.Inf(1)}
		c.claims.ErgodicOrder = orders[rng.IntN(len(orders))]
		c.claims.PositionOrder = max(c.claims.ErgodicOrder, orders[rng.IntN(len(orders))])
	}
	return c
}

func orthogonal(rng *rand.Rand, d int) *mat.Dense {
	m := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			m.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(m)
	var q mat.Dense
	qr.QTo(&q)
	return &q
}

// row certifies the trial.
func (c trial) row(t *testing.T) Row {
	m, err := integrators.Builtin().Lookup(c.integrator)
	if err != nil {
		t.Fatal(err)
	}
	m.Claims = c.claims
	s, err := Schemes(c.scheme)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Problem: c.problem, Integrators: []integrators.Integrator{m}, Schemes: s, Steps: c.steps,
		InvMass: c.invMass, Inner: c.inner}
	if c.estimator != "" {
		o.Estimator = estimatorOf(t, c.estimator)
	}
	rows, err := Run(context.Background(), o)
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	return rows[0]
}

// once are trials of which something false was said: orders read off steps too
// large to show what an error does at small ones, small terms taken for none, and
// "exact" of errors of an order above the claim that were too small to be seen.
var once = []uint64{404, 911, 1169, 1409, 1478, 2915, 3669, 3670}

// TestNoVerdictIsFalse certifies random problems, with claims of which half are
// drawn at random, and compares with arithmetic of 190 digits: no verdict, no
// order, no constant and no bound may be false, and on well-posed problems at most
// 5 % of the observables may be left open.
func TestNoVerdictIsFalse(t *testing.T) {
	seeds := slices.Clone(sampled(once, 0, 3, 5, 7))
	for _, seed := range numbered(*verdictCount) {
		if !slices.Contains(once, seed) {
			seeds = append(seeds, seed)
		}
	}
	checkTrials(t, seeds, randomTrial, 0.05)
}

// checkTrials compares trials with the truth, and with the share that may be left open: of a few
// observables three standard deviations more.
func checkTrials(t *testing.T, seeds []uint64, of func(*testing.T, uint64) trial, share float64) {
	var next, asked, open atomic.Int64
	t.Run("trials", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				for i := next.Add(1) - 1; i < int64(len(seeds)); i = next.Add(1) - 1 {
					all, left := of(t, seeds[i]).Check(t, seeds[i])
					asked.Add(all)
					open.Add(left)
				}
			})
		}
	})
	t.Logf("%d trials: %d of %d observables of well-posed problems are left open", len(seeds), open.Load(), asked.Load())
	n := float64(asked.Load())
	if most := share*n + 3*math.Sqrt(share*(1-share)*n); float64(open.Load()) > most {
		t.Errorf("want at most %.1f left open", most)
	}
}

// wideTrial draws the trial of a number with a mass, an estimator or inner steps, or with up to
// 14 batches.
func wideTrial(t *testing.T, seed uint64) trial {
	rng := rand.New(rand.NewPCG(2033, seed))
	c := drawTrial(t, rng, func(c *trial, d, k *int) {
		c.estimator = []string{"", "cv", "svrg", "saga", "saga"}[rng.IntN(5)]
		switch {
		case c.estimator == "" && rng.IntN(4) == 0 && c.scheme != "symmetric":
			*d, *k = 1, 11+rng.IntN(4)
		case c.estimator != "svrg" && rng.IntN(3) == 0:
			c.integrator, c.inner = "lietrotter", 2+rng.IntN(2)
			*k = c.inner
		}
		if c.scheme == "symmetric" {
			*k = min(*k, 3)
			if c.estimator == "svrg" { // whose period is half as long
				c.scheme = "reshuffle"
			}
		}
		if c.estimator == "saga" { // variables of K·d numbers
			*d = min(*d, 2)
			*k = min(*k, 7-2**d)
		}
	})
	d := c.problem.Dim()
	if rng.IntN(2) == 0 {
		return c
	}
	// As many masses as positions, in units of which the problem is the one drawn.
	least := 1.0
	for range d {
		m := logUniform(rng, -1, 1)
		c.invMass, least = append(c.invMass, 1/m), min(least, m)
	}
	for i, b := range c.problem.gaussian {
		precision, shift := slices.Clone(b.Precision), slices.Clone(b.Shift)
		for j := range d {
			shift[j] /= math.Sqrt(c.invMass[j])
			for l := range d {
				precision[j*d+l] /= math.Sqrt(c.invMass[j] * c.invMass[l])
			}
		}
		c.problem.gaussian[i] = newAffineForce(precision, shift)
	}
	floats.Scale(least, c.steps)
	return c
}

// TestNoVerdictIsFalseOfEstimators does the same with estimators, masses, inner steps and more
// batches, on a third as many problems, or on 25, and on one (34) of which a step was once said not
// to be affine. The gradients in saga's table are old: of 452 problems 3 % of the observables were
// left open.
func TestNoVerdictIsFalseOfEstimators(t *testing.T) {
	seeds := numbered(max(min(*verdictCount, 25), *verdictCount/3))
	if !slices.Contains(seeds, 34) {
		seeds = append(seeds, 34)
	}
	checkTrials(t, seeds, wideTrial, 0.1)
}

// Only the mean of the batches is a target: one batch may pull away from it, and
// no verdict, order or bound is false for that.
func TestBatchesNeedNotBeDefiniteOneByOne(t *testing.T) {
	var asked, open int64
	want, seed := int64(12), uint64(6) // observables, and the first problem
	if *all {
		want, seed = 60, 0
	}
	for ; asked < want; seed++ {
		c := randomTrial(t, seed)
		if c.scheme == "full" || c.problem.Batches() < 2 || !c.well {
			continue
		}
		a, b := c.problem.gaussian[0].Precision, c.problem.gaussian[1].Precision
		extra := floats.ScaleTo(make([]float64, len(a)), 2, b)
		up, down := floats.AddTo(make([]float64, len(a)), a, extra), floats.SubTo(make([]float64, len(a)), b, extra)
		c.problem.gaussian[0], c.problem.gaussian[1] = newAffineForce(up, c.problem.gaussian[0].Shift), newAffineForce(down, c.problem.gaussian[1].Shift)
		if gaussian.IsDefinite(c.problem.gaussian[1]) || !gaussian.IsDefinite(gaussian.Mean(c.problem.gaussian)) {
			t.Fatalf("trial %d: want a mean that is definite and a batch that is not", seed)
		}
		c.fast *= math.Sqrt(3)
		all, left := c.Check(t, seed)
		asked, open = asked+all, open+left
	}
	t.Logf("%d of %d observables are left open", open, asked)
	if float64(open) > 0.1*float64(asked) {
		t.Error("want at most 10 % left open")
	}
	for _, kind := range []*Problem{
		{Name: "p", Kind: Gaussian, Friction: 1, gaussian: []*affineForce{newAffineForce([]float64{3}, []float64{0}), newAffineForce([]float64{-1}, []float64{0})}},
		{Name: "p", Kind: Scalar, Friction: 1, scalar: spectral.Mean{spectral.Oscillator{Stiffness: 3}, spectral.Oscillator{Stiffness: -1}}},
	} {
		m, err := integrators.Builtin().Lookup("exact")
		if err != nil {
			t.Fatal(err)
		}
		if err := kind.Takes(m); err == nil || !strings.Contains(err.Error(), "each positive definite") {
			t.Errorf("kind %s: error %v: want exact refused, whose flow has no law", kind.Kind, err)
		}
		// Far above the limit of stability of batches of curvature 3 and −1.
		if o := errorsOne(t, Options{Problem: kind, Steps: []float64{3}}, "leapfrog", "reshuffle").Observables[0]; o.Verdict != Unstable {
			t.Errorf("kind %s: %s, want unstable", kind.Kind, o.Verdict)
		}
	}
}

// Check compares a trial with the truth, and counts, if it is well posed, its observables and
// those that are left open.
func (c trial) Check(t *testing.T, seed uint64) (asked, open int64) {
	row := c.row(t)
	truth, err := c.refCase.trueTerms(c.fast)
	if err != nil {
		t.Errorf("trial %d: the reference does not know: %v: %v", seed, err, c)
		return 0, 0
	}
	finest := len(c.steps) - 1
	if seed%2 == 0 {
		finest = 0
	}
	at := c.at(newNum(c.steps[finest]))
	var errors [3]float64
	if at.ok {
		errors = at.sizes()
	}
	for i, o := range row.Observables {
		if err := falseVerdict(o, truth[i].order); err != nil {
			t.Errorf("trial %d: %s: %v (claim %v; true order %v): %v", seed, o.Name, err, o.Claim, truth[i].order, c)
		}
		if wrong := math.Abs(truth[i].constant/float64(o.Constant) - 1); float64(o.Order) == truth[i].order && wrong > float64(o.Uncertainty) {
			t.Errorf("trial %d: %s: constant %v is off by %.3g (relative), stated uncertainty %.3g: %v", seed, o.Name, o.Constant, wrong, o.Uncertainty, c)
		}
		off := math.Abs(float64(o.Relative[finest]) - errors[i])
		switch {
		case row.Radii != nil && float64(row.Radii[finest]) >= 1:
			if at.ok {
				t.Errorf("trial %d: unstable at step %v, radius %v, but there is a stationary law: %v", seed, c.steps[finest], row.Radii[finest], c)
			}
		case math.IsInf(float64(o.RelativeResolution[finest]), 1): // nothing is said
		case !at.ok:
			t.Errorf("trial %d: error %v at step %v, but there is no stationary law: %v", seed, o.Relative[finest], c.steps[finest], c)
		case !(off <= float64(o.RelativeResolution[finest])):
			t.Errorf("trial %d: %s at step %v: relative error %.6g is off by %.3g, stated resolution %.3g: %v", seed, o.Name, c.steps[finest], o.Relative[finest], off, o.RelativeResolution[finest], c)
		}
		if c.well {
			asked++
			if o.Verdict == Inconclusive {
				open++
			}
		}
		if o.Verdict == Inconclusive {
			t.Logf("trial %d: %s is left open (claim %v; true order %v; well posed %v; condition %.1g)", seed, o.Name, o.Claim, truth[i].order, c.well, c.condition)
		}
	}
	return asked, open
}

// TestListedVerdicts holds what the first edition got wrong, one case each.
func TestListedVerdicts(t *testing.T) {
	builtin := gaussianBuiltin()
	small := &Problem{Kind: Gaussian, Friction: builtin.Friction * 1e4} // in units of 10⁻⁴
	for _, b := range builtin.gaussian {
		p, s := append([]float64(nil), b.Precision...), append([]float64(nil), b.Shift...)
		floats.Scale(1e8, p)
		floats.Scale(1e4, s)
		small.gaussian = append(small.gaussian, newAffineForce(p, s))
	}
	problem := func(friction float64, batches ...*affineForce) *Problem {
		return &Problem{Kind: Gaussian, Friction: friction, gaussian: batches}
	}
	stiff := problem(2, newAffineForce([]float64{1e5, 0, 0, 1}, []float64{10, 1}), newAffineForce([]float64{6e4, 0, 0, 1.5}, []float64{-3, 0.2}))
	soft := problem(1, newAffineForce([]float64{1e-6}, []float64{0}))
	heavy := problem(50, newAffineForce([]float64{1500}, []float64{40}), newAffineForce([]float64{500}, []float64{-10}))
	similar := problem(1.3,
		newAffineForce([]float64{2, 0.3, 0.3, 1.5}, []float64{1, -0.5}), newAffineForce([]float64{2.02, 0.3, 0.3, 1.49}, []float64{1.01, -0.5}))
	// At a condition number of 10⁵ an order may be left open.
	for _, o := range certifyOne(t, Options{Problem: stiff}, "exact", "reshuffle").Observables {
		if o.Verdict == Refuted || float64(o.Order) < 2 || float64(o.Order) > 2 {
			t.Errorf("stiff and soft together: %s is %s of order %v, want 2 or open", o.Name, o.Verdict, o.Order)
		}
	}
	// It is exact, but with rates 1 and 10⁻³ an error of order 3 would hardly be one.
	if o := certifyOne(t, Options{Problem: soft}, "baoab", "full").observable(t, "theta.cov"); o.Verdict != Confirmed || o.AtLeast != 2 {
		t.Errorf("soft: theta.cov is %s of order at least %v, want 2, which the first edition called unstable", o.Verdict, o.AtLeast)
	}
	for _, c := range []struct {
		problem                        *Problem
		integrator, scheme, observable string
		steps                          []float64
		order                          float64 // +Inf: exact
		was                            string
	}{
		{small, "lietrotter", "full", "theta.cov", []float64{4e-6, 2e-6, 1e-6, 5e-7, 2.5e-7}, 2, "exact"},
		{builtin, "mt3", "full", "joint.cov", []float64{1e-4, 5e-5, 2.5e-5}, 3, "exact"},
		{builtin, "leapfrog", "full", "theta.cov", []float64{1e-4, 5e-5, 2.5e-5}, math.Inf(1), "refuted"},
		{builtin, "leapfrog", "reshuffle", "theta.cov", []float64{1e-4, 5e-5, 2.5e-5}, 2, "refuted"},
		{soft, "leapfrog", "full", "joint.cov", nil, 1, "unstable"},
		{heavy, "lietrotter", "reshuffle", "joint.cov", nil, 2, "3.000 ± 0.000"},
		{similar, "mt3", "reshuffle", "joint.cov", nil, 2, "2.995 ± 0.003"},
		{similar, "lietrotter", "replacement", "theta.cov", nil, 1, "2.00"},
	} {
		o := certifyOne(t, Options{Problem: c.problem, Steps: c.steps}, c.integrator, c.scheme).observable(t, c.observable)
		if math.IsInf(c.order, 1) {
			if o.Verdict != Exact {
				t.Errorf("%s under %s: %s is %s, want exact, which the first edition called %s", c.integrator, c.scheme, c.observable, o.Verdict, c.was)
			}
		} else if o.Verdict != Confirmed || float64(o.Order) != c.order {
			t.Errorf("%s under %s: %s is %s of order %v, want %v, which the first edition called %s", c.integrator, c.scheme, c.observable, o.Verdict, o.Order, c.order, c.was)
		}
	}
}

// falseVerdict says what is false of an observable whose order is known.
func falseVerdict(o Observable, truth float64) error {
	claim, order := float64(o.Claim), float64(o.Order)
	switch {
	case o.Verdict == Confirmed && truth < claim, o.Verdict == Refuted && truth >= claim, o.Verdict == Exact && !math.IsInf(truth, 1):
		return fmt.Errorf("false verdict %s, order %v ± %v, at least %v", o.Verdict, o.Order, o.Uncertainty, o.AtLeast)
	case !math.IsNaN(order) && order != truth:
		return fmt.Errorf("false order %v ± %v", o.Order, o.Uncertainty)
	case o.Apart:
		return fmt.Errorf("false prediction %v h^%d of %v ± %v", o.Predicted, o.PredictedOrder, o.Constant, o.Uncertainty)
	case float64(o.AtLeast) > truth:
		return fmt.Errorf("false bound: order at least %v", o.AtLeast)
	}
	return nil
}

// Batches of opposite curvature leave a mean that is small beside them: errors of
// order 2 reach a plateau long before the batches' own frequencies are too fast for a
// step. Without the rate at which they differ, order 0 or 1 was certain there.
func TestIndefiniteBatchesDoNotRefuteTheCap(t *testing.T) {
	for _, soft := range []float64{1e-2, 1e-3, 2e-4} {
		p := &Problem{Kind: Gaussian, Friction: 2}
		for _, v := range []float64{3, soft - 3} {
			p.gaussian = append(p.gaussian, newAffineForce([]float64{v}, []float64{1}))
		}
		for _, scheme := range []string{"reshuffle", "symmetric"} {
			for _, o := range certifyOne(t, Options{Problem: p, Steps: []float64{1e-4}}, "symmetric", scheme).Observables {
				if o.Verdict != Confirmed && o.Verdict != Inconclusive {
					t.Errorf("mean precision %g, %s: %s is %s, order %v", soft/2, scheme, o.Name, o.Verdict, o.Order)
				}
			}
		}
	}
}

// Under control variates the mean is exact, and batches do not move the chain: what
// is left is round-off of the target's own mean, which is no error of order 0.
func TestRoundOffUnderControlVariatesIsNoError(t *testing.T) {
	by, err := estimators.Builtin().Lookup("cv")
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParseProblem("mild", []byte(`{"kind": "gaussian", "friction": 2.8482537145348017, "batches": [
		{"precision": [[1.065221499808919, -0.2224195068931022], [-0.2224195068931022, -0.5970904698673423]], "shift": [-0.47663581119700016, 0.37135914921238533]},
		{"precision": [[-0.06238862985500715, 0.2224195068931022], [0.2224195068931022, 0.9462833904740222]], "shift": [0.5668711222525565, -0.7410629678464722]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if o := certifyOne(t, Options{Problem: p, Estimator: by, Steps: []float64{0.1}}, "baoab", "reshuffle").Observables[0]; o.Verdict != Exact {
		t.Errorf("error %v ± %v of the mean is %s, order %v; want exact", o.Relative[0], o.RelativeResolution[0], o.Verdict, o.Order)
	}
}
