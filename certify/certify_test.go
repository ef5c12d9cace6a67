package certify

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/usage"

	"gonum.org/v1/gonum/floats"
)

var (
	update = flag.Bool("update", false, "rewrite ../testdata/certify.json; goes with -all")
	all    = flag.Bool("all", false, "test every case, not a sample of each test: some minutes")
)

// onScalar are the chains that are tested on scalar problems without -all: an integrator
// of each family, by splitting, by noise and by what its step takes, each under another
// scheme.
var onScalar = map[string]string{"leapfrog": "full", "mt3": "reshuffle", "lietrotter": "replacement",
	"baoab": "symmetric", "sghmc": "cyclic"}

// rowsOn finds the rows of all integrators under all schemes on a problem, or on a scalar
// one, without -all, those of onScalar.
func rowsOn(t *testing.T, find func(context.Context, Options) ([]Row, error), o Options) []Row {
	t.Helper()
	if *all || o.Problem.Kind == Gaussian {
		rows, err := find(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	var rows []Row
	for _, m := range All(o.Problem) { // in the order of a run of all
		if scheme, chosen := onScalar[m.Name]; chosen {
			rows = append(rows, rowOf(t, find, o, m.Name, scheme))
		}
	}
	return rows
}

// sampled is all of a test's cases with -all, or else those at some places.
func sampled[T any](cases []T, places ...int) []T {
	if *all {
		return cases
	}
	var out []T
	for _, i := range places {
		out = append(out, cases[i])
	}
	return out
}

// constantTolerance is how near a leading constant must be to its committed
// value: a noise scale off by 1 % moves variances by 2 %.
const constantTolerance = 0.01

// TestOrdersMatchClaims certifies integrators under every scheme on the built-in
// problems, all of them on Gaussian ones: every verdict, and orders, constants and
// errors against the committed ones.
func TestOrdersMatchClaims(t *testing.T) {
	var rows []Row
	for _, p := range Builtin() {
		found := rowsOn(t, Run, Options{Problem: p})
		for _, r := range found {
			for _, o := range r.Observables {
				checkOrder(t, r, o)
			}
		}
		rows = append(rows, found...)
	}
	checkBaseline(t, rows)
}

func checkOrder(t *testing.T, r Row, o Observable) {
	t.Helper()
	if o.Verdict != Confirmed && o.Verdict != Exact {
		t.Errorf("%s: %s under %s, %s: %s: order %v ± %v, claim %v, slopes %v",
			r.Problem, r.Integrator, r.Scheme, o.Name, o.Verdict, o.Order, o.Uncertainty, o.Claim, o.Slopes)
	}
}

// checkBaseline compares with the committed run of hambench certify, which make
// gate compares with, too; -update rewrites it.
func checkBaseline(t *testing.T, rows []Row) {
	t.Helper()
	path := filepath.Join("..", "testdata", "certify.json")
	if *update && *all {
		var lines []string // a row each, so that a change shows in what it changed
		for _, r := range rows {
			data, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(data))
		}
		if err := os.WriteFile(path, []byte("[\n"+strings.Join(lines, ",\n")+"\n]\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want []Row
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if !*all {
		want = slices.DeleteFunc(want, func(r Row) bool {
			return r.Engine == Scalar && onScalar[r.Integrator] != r.Scheme
		})
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d: run go test ./certify -all -update", len(rows), len(want))
	}
	for i, r := range rows {
		w := want[i]
		key := fmt.Sprintf("%s/%s/%s", r.Problem, r.Integrator, r.Scheme)
		if other := fmt.Sprintf("%s/%s/%s", w.Problem, w.Integrator, w.Scheme); key != other {
			t.Fatalf("row %d is %s, want %s", i, key, other)
		}
		for j, o := range r.Observables {
			o.checkBaseline(t, key, w.Observables[j])
		}
	}
}

func (o Observable) checkBaseline(t *testing.T, key string, want Observable) {
	t.Helper()
	if o.Verdict != want.Verdict {
		t.Errorf("%s/%s: %s, want %s", key, o.Name, o.Verdict, want.Verdict)
	}
	if math.Abs(float64(o.Constant)/float64(want.Constant)-1) > constantTolerance || math.Abs(float64(o.Order-want.Order)) > 0 {
		t.Errorf("%s/%s: %v h^%v, want %v h^%v", key, o.Name, o.Constant, o.Order, want.Constant, want.Order)
	}
	for i, e := range o.Errors {
		// On other architectures round-off differs; the resolution bounds it.
		if d := math.Abs(float64(e - want.Errors[i])); d > float64(o.Resolution[i]+want.Resolution[i]) {
			t.Errorf("%s/%s: error %v, want %v", key, o.Name, e, want.Errors[i])
		}
	}
}

// TestPaper holds what the paper states, and where it is mistaken.
func TestPaper(t *testing.T) {
	gaussian := gaussianBuiltin()
	for _, c := range []struct {
		problem                  *Problem
		integrator, scheme, name string
		inner                    int
		order                    float64
		reason                   string
	}{
		{gaussian, "mt3", "full", "joint.cov", 1, 3, "the third-order scheme"},
		{gaussian, "mt3", "reshuffle", "joint.cov", 1, 2, "the bottleneck of Theorem 2"},
		{gaussian, "exact", "reshuffle", "joint.cov", 1, 2, "the bottleneck alone"},
		{gaussian, "mt3", "replacement", "theta.cov", 1, 1, "a batch drawn at every step"},
		{gaussian, "rk2", "cyclic", "theta.cov", 1, 2, "one order for ever: the position"},
		{gaussian, "rk2", "cyclic", "joint.cov", 1, 1, "one order for ever: the joint law"},
		{gaussian, "leapfrog", "full", "joint.cov", 1, 1, "leapfrog's momentum"},
		{scalarBuiltin(), "leapfrog", "full", "theta^2", 1, 2, "leapfrog's position"},
		{gaussian, "lietrotter", "reshuffle", "joint.cov", 2, 2, "N_l below K"},
		{gaussian, "lietrotter", "reshuffle", "joint.cov", 4, 2, "N_l = K"},
		{gaussian, "lietrotter", "reshuffle", "joint.cov", 8, 2, "N_l above K"},
		{gaussian, "lietrotter", "replacement", "joint.cov", 4, 1, "N_l with replacement"},
		{gaussian, "lietrotter", "cyclic", "theta.cov", 1, 2, "friction after every batch"},
		{gaussian, "lietrotter", "cyclic", "theta.cov", 2, 1, "friction after every second batch"},
		{gaussian, "lietrotter", "cyclic", "theta.cov", 8, 1, "friction after every second sweep"},
		{Toy(), "exact", "reshuffle", "theta.cov", 1, 3, "equal curvatures hide the bottleneck"},
		{Toy(), "exact", "replacement", "theta.cov", 1, 1, "the toy as the paper draws it"},
	} {
		t.Run(fmt.Sprintf("%s/%s/%s/nl=%d", c.integrator, c.scheme, c.name, c.inner), func(t *testing.T) {
			row := certifyOne(t, Options{Problem: c.problem, Inner: c.inner}, c.integrator, c.scheme)
			if o := row.observable(t, c.name); float64(o.Order) != c.order {
				t.Errorf("%s: order %v, want %v", c.reason, o.Order, c.order)
			} else if o.Verdict == Refuted {
				t.Errorf("%s: the claim of order %v is refuted", c.reason, o.Claim)
			}
		})
	}
}

// TestLeapfrogIsExactInTheta: the θ-covariance of a Gaussian, full batch.
func TestLeapfrogIsExactInTheta(t *testing.T) {
	row := certifyOne(t, Options{Problem: gaussianBuiltin()}, "leapfrog", "full")
	if o := row.observable(t, "theta.cov"); o.Verdict != Exact {
		t.Errorf("verdict %s with errors %v, want exact", o.Verdict, o.Errors)
	}
}

// faulty returns a method with a planted bug.
func faulty(t *testing.T, name string, plant func(s integrators.Stepper, p integrators.Params) integrators.Stepper) integrators.Integrator {
	t.Helper()
	m, err := integrators.Builtin().Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	build := m.New
	m.New = func(dim int, p integrators.Params) (*integrators.Instance, error) {
		in, err := build(dim, p)
		if err == nil {
			in.Kernel = plant(in.Kernel, p)
		}
		return in, err
	}
	return m
}

// scaledNoise multiplies the normal vectors of a step by factors.
type scaledNoise struct {
	integrators.Stepper
	factors []float64
}

type scaling struct {
	integrators.Noise
	factors []float64
	at      int
}

func (s *scaling) Normal(dst []float64) {
	s.Noise.Normal(dst)
	floats.Scale(s.factors[s.at%len(s.factors)], dst)
	s.at++
}

func (s *scaling) Update(u *integrators.Update) {
	xi := make([]float64, len(u.R))
	s.Normal(xi)
	u.Apply(xi)
}

func (s scaledNoise) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	s.Stepper.Step(z, f, &scaling{Noise: n, factors: s.factors})
}

// halfStepOff is leapfrog with the force taken half a step too early, before
// the first drift.
type halfStepOff struct{ h, c float64 }

func (s halfStepOff) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	d := len(z.R)
	g, xi := make([]float64, d), make([]float64, d)
	f.Gradient(g, z.Theta)
	floats.AddScaled(z.Theta, s.h/2, z.R)
	n.Normal(xi)
	for i := range z.R {
		z.R[i] += -s.h*g[i] - s.h*s.c*z.R[i] + math.Sqrt(2*s.c*s.h)*xi[i]
	}
	floats.AddScaled(z.Theta, s.h/2, z.R)
}

// TestPlantedBugsAreRefuted: a certifier that confirms these is worth
// nothing.
func TestPlantedBugsAreRefuted(t *testing.T) {
	mt3 := faulty(t, "mt3", func(s integrators.Stepper, _ integrators.Params) integrators.Stepper {
		return scaledNoise{s, []float64{1, math.Sqrt(12)}} // Var(w₂) = 1
	})
	loud := faulty(t, "leapfrog", func(s integrators.Stepper, _ integrators.Params) integrators.Stepper {
		return scaledNoise{s, []float64{math.Sqrt2}}
	})
	late := faulty(t, "leapfrog", func(_ integrators.Stepper, p integrators.Params) integrators.Stepper {
		return halfStepOff{p.Step, p.Friction}
	})
	for _, c := range []struct {
		name   string
		method integrators.Integrator
		scheme string
		at     map[Kind]string // observables that must be refuted
		order  float64
	}{
		{"mt3 with Var(w2) = 1", mt3, "full", map[Kind]string{Gaussian: "joint.cov", Scalar: "theta^2"}, 2},
		{"leapfrog with loud noise", loud, "full", map[Kind]string{Gaussian: "theta.cov", Scalar: "theta^2"}, 0},
		{"half step in the wrong place", late, "full", map[Kind]string{Gaussian: "theta.cov", Scalar: "theta^2"}, 1},
	} {
		for _, p := range []*Problem{gaussianBuiltin(), scalarBuiltin()} {
			if !*all && p.Kind == Scalar && c.order > 1 {
				continue
			}
			t.Run(c.name+"/"+p.Name, func(t *testing.T) {
				s, err := Schemes(c.scheme)
				if err != nil {
					t.Fatal(err)
				}
				checkRefuted(t, Options{Problem: p, Integrators: []integrators.Integrator{c.method}, Schemes: s}, c.at[p.Kind], c.order)
			})
		}
	}
}

func checkRefuted(t *testing.T, o Options, observable string, order float64) {
	t.Helper()
	rows, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	got := rows[0].observable(t, observable)
	if got.Verdict != Refuted || float64(got.Order) != order {
		t.Errorf("%s: %s of order %v ± %v, want refuted at order %v", observable, got.Verdict, got.Order, got.Uncertainty, order)
	}
}

// TestPlantedSchemesAreRefuted judges schemes under the names, and so the
// claims, of others.
func TestPlantedSchemesAreRefuted(t *testing.T) {
	m, err := integrators.Builtin().Lookup("baoab")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, observable string
		scheme           string // whose claims are judged
		really           minibatch.Visits
	}{
		{"reshuffle drawn with replacement", "joint.cov", "reshuffle", minibatch.Independent{}},
		{"symmetric without its backward sweep, one order", "joint.cov", "symmetric", minibatch.Cycle{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Schemes(c.scheme)
			if err != nil {
				t.Fatal(err)
			}
			s[0].Visits, s[0].Index = c.really, nil // under the name and the cap of another
			o := Options{Problem: gaussianBuiltin(), Integrators: []integrators.Integrator{m}, Schemes: s}
			rows, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if got := rows[0].observable(t, c.observable); got.Verdict != Refuted {
				t.Errorf("%s: order %v, want refuted", got.Verdict, got.Order)
			}
		})
	}
}

// TestSymmetricNeedsItsBackwardSweep: forward sweeps in fresh orders are
// reshuffling, whose joint law is of order 2 as well; they differ in the
// constant, which the golden values hold.
func TestSymmetricNeedsItsBackwardSweep(t *testing.T) {
	o := Options{Problem: gaussianBuiltin()}
	a := certifyOne(t, o, "obabo", "symmetric").observable(t, "theta.cov")
	b := certifyOne(t, o, "obabo", "reshuffle").observable(t, "theta.cov")
	if e, f := float64(a.Errors[0]), float64(b.Errors[0]); math.Abs(e/f-1) < 0.05 {
		t.Errorf("errors %v and %v at h = %v are hardly different", e, f, defaultSteps(Gaussian)[0])
	}
}

// TestMassMatrix: a diagonal mass changes the law of r to N(0, M).
func TestMassMatrix(t *testing.T) {
	o := Options{Problem: threeDimensional(), InvMass: []float64{0.6, 1, 1.4}}
	for name, order := range map[string]float64{"leapfrog": 1, "ubu": 2, "mt3": 3} {
		if got := certifyOne(t, o, name, "full").observable(t, "joint.cov"); float64(got.Order) != order {
			t.Errorf("%s: order %v, want %v", name, got.Order, order)
		}
	}
}

// TestUnstableChains: the radius of leapfrog's period for one frequency is
// known: its map has trace 2 − hC − h²P and determinant 1 − hC.
func TestUnstableChains(t *testing.T) {
	const h, curvature, friction = 1.5, 4.0, 0.5
	p := &Problem{Kind: Gaussian, Friction: friction, gaussian: []*affineForce{newAffineForce([]float64{curvature}, []float64{1})}}
	trace, det := 2-h*friction-h*h*curvature, 1-h*friction
	want := math.Abs(trace)/2 + math.Sqrt(trace*trace/4-det)
	row := errorsOne(t, Options{Problem: p, Steps: []float64{h}}, "leapfrog", "full")
	if o := row.observable(t, "theta.cov"); o.Verdict != Unstable || !math.IsNaN(float64(o.Errors[0])) {
		t.Errorf("%s with error %v, want unstable", o.Verdict, o.Errors[0])
	}
	if got := float64(row.Radii[0]); math.Abs(got-want) > 1e-10 { // an eigenvalue of a 2 × 2 matrix
		t.Errorf("radius %v, want %v", got, want)
	}
}

// TestSecondMomentCanBeUnstableAlone: batches drawn anew make the variance
// grow where the mean still settles.
func TestSecondMomentCanBeUnstableAlone(t *testing.T) {
	p := &Problem{Kind: Gaussian, Friction: 1, gaussian: []*affineForce{
		newAffineForce([]float64{0.05}, []float64{0}), newAffineForce([]float64{8}, []float64{0}),
	}}
	row := certifyOne(t, Options{Problem: p, Steps: []float64{0.7}}, "leapfrog", "replacement")
	if len(row.Radii) == 0 || !(float64(row.Radii[0]) >= 1) {
		t.Errorf("radii %v, want one of at least 1", row.Radii)
	}
	if full := certifyOne(t, Options{Problem: p, Steps: []float64{0.7}}, "leapfrog", "full"); full.Radii != nil {
		t.Errorf("full batch: radii %v, want a stable chain", full.Radii)
	}
}

// TestLargeProblem keeps d = 16 with K = 8 fast and right: exact in θ for
// equal batches.
func TestLargeProblem(t *testing.T) {
	const d, k = 16, 8
	p := &Problem{Kind: Gaussian, Friction: 1.5}
	for i := range k {
		precision, shift := make([]float64, d*d), make([]float64, d)
		for j := range d {
			precision[j*d+j] = 0.5 + float64(j)/d
			shift[j] = float64(i*j) / d
		}
		p.gaussian = append(p.gaussian, newAffineForce(precision, shift))
	}
	// The coordinates are independent: the largest one alone has the error of
	// a problem in one dimension.
	row := errorsOne(t, Options{Problem: p, Steps: []float64{0.05}}, "baoab", "reshuffle")
	worst := 0.0
	for j := range d {
		one := &Problem{Kind: Gaussian, Friction: p.Friction}
		for i := range k {
			f := p.gaussian[i]
			one.gaussian = append(one.gaussian, newAffineForce(f.Precision[j*d+j:j*d+j+1], f.Shift[j:j+1]))
		}
		worst = max(worst, float64(errorsOne(t, Options{Problem: one, Steps: []float64{0.05}}, "baoab", "reshuffle").observable(t, "theta.mean").Errors[0]))
	}
	if got := float64(row.observable(t, "theta.mean").Errors[0]); math.Abs(got-worst) > 1e-12 {
		t.Errorf("theta.mean off by %v, the worst coordinate alone by %v", got, worst)
	}
}

// identityBatches are k batches in d positions, of precision I.
func identityBatches(d, k int) *Problem {
	p := &Problem{Kind: Gaussian, Friction: 1}
	for range k {
		precision := make([]float64, d*d)
		for i := range d {
			precision[i*d+i] = 1
		}
		p.gaussian = append(p.gaussian, newAffineForce(precision, make([]float64, d)))
	}
	return p
}

// Laws that do not fit are refused before memory is asked for, with the largest
// d that does.
func TestLawsThatDoNotFitAreRefused(t *testing.T) {
	schemes, err := Schemes("reshuffle")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), Options{Problem: identityBatches(1500, 4), Schemes: schemes})
	if want := "d = 1500 positions and K = 4 batches under reshuffle need about"; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "d up to") {
		t.Errorf("%v: want an error that says %q, and up to which d it fits", err, want)
	}
}

// A long certification ends soon after it is told to: within a second where a
// processor is free, for which a busy machine is given ten.
func TestCertifyStopsWhenItIsCancelled(t *testing.T) {
	schemes, err := Schemes("reshuffle", "symmetric")
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"large":  {Problem: identityBatches(60, 10), Schemes: schemes[:1]},
		"K!":     {Problem: identityBatches(20, 9), Schemes: schemes[1:]},
		"scalar": {Problem: &Problem{Kind: Scalar, Friction: 1, scalar: slices.Repeat(scalarBuiltin().scalar, 6)}, Schemes: schemes[:1]},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var onPoint atomic.Int64 // when, in nanoseconds of Unix time
		time.AfterFunc(time.Second/8, func() {
			onPoint.Store(time.Now().UnixNano())
			cancel()
		})
		_, err := Run(ctx, o)
		if took := time.Since(time.Unix(0, onPoint.Load())); !errors.Is(err, context.Canceled) || took > 10*time.Second {
			t.Errorf("%s: %v after %v, want context.Canceled within a second", name, err, took)
		}
	}
}

// bent is a stepper that is not affine.
type bent struct{ integrators.Stepper }

func (b bent) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	b.Stepper.Step(z, f, n)
	z.R[0] += 1e-6 * math.Sin(z.Theta[0])
}

func TestWhatIsNotAffineIsRefused(t *testing.T) {
	m := faulty(t, "leapfrog", func(s integrators.Stepper, _ integrators.Params) integrators.Stepper { return bent{s} })
	if _, err := Run(context.Background(), Options{Problem: gaussianBuiltin(), Integrators: []integrators.Integrator{m}}); err == nil {
		t.Error("a step that is not affine was taken")
	}
	// The batch is named as a problem's own errors name it.
	clipped := faulty(t, "leapfrog", func(s integrators.Stepper, _ integrators.Params) integrators.Stepper { return clipping{s} })
	_, err := Run(context.Background(), Options{Problem: manyAxes(1, 1, 0.9, 0, 1), Integrators: []integrators.Integrator{clipped}})
	if err == nil || !strings.Contains(err.Error(), "batch 1: ") {
		t.Errorf("%v: want the first batch named, whose gradients are clipped", err)
	}
}

// clipping is a stepper that is not affine where the gradient is steep.
type clipping struct{ integrators.Stepper }

func (c clipping) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	c.Stepper.Step(z, f, n)
	if a, ok := f.(*integrators.Affine); ok && math.Abs(a.Precision[0]) > 1.5 {
		z.R[0] += 1e-6 * math.Sin(z.Theta[0])
	}
}

// The friction, which sgld ignores, has no part in how its orders are decided.
func TestOrdersWithoutMomentumDoNotDependOnFriction(t *testing.T) {
	for _, friction := range []float64{1e-5, 1, 1e4} {
		p := manyAxes(2, friction, 0.3, 1, 2)
		rows, err := Run(context.Background(), Options{Problem: p, Integrators: []integrators.Integrator{methodOf(t, "sgld")}, Schemes: []minibatch.Scheme{schemeOf(t, "full"), schemeOf(t, "replacement")}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if mean, cov := r.Observables[0].Verdict, r.Observables[1]; mean != Exact || cov.Verdict != Confirmed || cov.Order != 1 {
				t.Errorf("friction %g, %s: the mean is %s, the covariance %s of order %v: want exact, and confirmed of order 1", friction, r.Scheme, mean, cov.Verdict, cov.Order)
			}
		}
	}
}

// A scheme that nobody named and whose batches are too many is left out; one that was named is refused before any work.
func TestSchemesOfTooManyBatches(t *testing.T) {
	o := Options{Problem: identityBatches(1, 4097), Integrators: []integrators.Integrator{methodOf(t, "leapfrog")}, Steps: []float64{0.1}}
	if err := o.Check(); err != nil {
		t.Errorf("no scheme named: %v", err)
	}
	o.Schemes = []minibatch.Scheme{schemeOf(t, "cyclic")}
	if err := o.Check(); err == nil || !strings.Contains(err.Error(), `scheme "cyclic" with K = 4097 batches: exact orders need K at most 4096`) {
		t.Errorf("cyclic: %v", err)
	}
}

// rounded is a stepper whose positions and momenta have the digits of float32.
type rounded struct{ integrators.Stepper }

func (s rounded) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	s.Stepper.Step(z, f, n)
	for i := range z.Theta {
		z.Theta[i], z.R[i] = float64(float32(z.Theta[i])), float64(float32(z.R[i]))
	}
}

func TestStepsInFloat32AreRefused(t *testing.T) {
	m := faulty(t, "leapfrog", func(s integrators.Stepper, _ integrators.Params) integrators.Stepper { return rounded{s} })
	for _, name := range []string{"plain", "svrg", "saga"} {
		o := Options{Problem: gaussianBuiltin(), Integrators: []integrators.Integrator{m}, Estimator: estimatorOf(t, name)}
		if _, err := Run(t.Context(), o); err == nil || !strings.HasSuffix(err.Error(), ": does it compute in float32?") {
			t.Errorf("%s: error %v: want the question whether it computes in float32", name, err)
		}
	}
}

// A friction, or a curvature, that float64 cannot add to the rest is refused: steps
// would seem not to depend on their noise.
func TestRatesThatAreTooFarApartAreRefused(t *testing.T) {
	for _, far := range []float64{1e-150, 1e-17, 1e17, 1e150} {
		for _, problem := range []string{
			fmt.Sprintf(`{"kind": "gaussian", "friction": %g, "batches": [{"precision": [[1.5]], "shift": [1]}]}`, far),
			fmt.Sprintf(`{"kind": "scalar", "friction": %g, "batches": [{"stiffness": 1.5}]}`, far),
		} {
			p, err := ParseProblem("far", []byte(problem))
			if err != nil {
				t.Fatal(err)
			}
			var bad *usage.Error
			if err := (Options{Problem: p}).Check(); !errors.As(err, &bad) || !strings.Contains(err.Error(), "rates from") {
				t.Errorf("%s: error %v: want one of its rates", problem, err)
			}
		}
	}
}

func TestEveryStepWithOnePositionIsThePeriod(t *testing.T) {
	for _, c := range []struct {
		scheme string
		inner  int
	}{{"replacement", 1}, {"full", 1}, {"reshuffle", 4}, {"symmetric", 8}} {
		o := Options{Problem: gaussianBuiltin(), Steps: []float64{0.1}, Inner: c.inner}
		a := errorsOne(t, o, "lietrotter", c.scheme)
		o.EveryStep = true
		b := errorsOne(t, o, "lietrotter", c.scheme)
		for i := range a.Observables {
			if d := math.Abs(float64(a.Observables[i].Errors[0] - b.Observables[i].Errors[0])); !(d < 1e-13) {
				t.Errorf("%s, N_l = %d: %s differs by %v", c.scheme, c.inner, a.Observables[i].Name, d)
			}
		}
	}
}

// What hardly differs where the target is has errors of rounding alone: it is left out, and takes
// nothing from the others, whose resolutions are those of the same problem about another place.
func TestFunctionsThatAreConstantAreLeftOut(t *testing.T) {
	for center, want := range map[float64]string{1: "theta^1 theta^2 cos(theta) tanh(theta) r^2", 30: "theta^1 theta^2 cos(theta) r^2"} {
		p, err := ParseProblem("p", fmt.Appendf(nil, `{"kind": "scalar", "friction": 1, "batches": [{"stiffness": 1, "center": %g}]}`, center))
		if err != nil {
			t.Fatal(err)
		}
		m, err := integrators.Builtin().Lookup("lietrotter")
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, o := range rowsOf(t, p, m, 1, 0.2, 0.1)[0].Observables {
			names = append(names, o.Name)
			if o.Resolution[0] > 1e-9 {
				t.Errorf("about %g, %s: resolution %g", center, o.Name, o.Resolution[0])
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("about %g: %s, want %s", center, got, want)
		}
	}
}
