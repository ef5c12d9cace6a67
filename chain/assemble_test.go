package chain

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/usage"
)

// wide is a target of many parameters without data to speak of; its prior is
// N(3, 1).
type wide struct {
	*springs
	dim int
}

func (w wide) Dim() int { return w.dim }
func (w wide) DrawPrior(dst []float64) {
	for i := range dst {
		dst[i] += 3
	}
}

// A chain starts with a momentum from N(0, M), independent of the position,
// whether that is given or drawn from the prior. Each of the ten numbers tested
// has its law under the null exactly or by the central limit theorem, and leaves
// its limits by chance once in a million: a false alarm has the probability
// 1e-5; the seed is pinned.
func TestStartsHaveAMomentumOfTheMass(t *testing.T) {
	const half, falseAlarm = 5000, 1e-6
	mass := make([]float64, 2*half)
	for i := range mass {
		mass[i] = 1
		if i >= half {
			mass[i] = 0.04
		}
	}
	target := wide{newSprings(1), 2 * half}
	given := make([]float64, 2*half)
	for i := range given {
		given[i] = float64(i%2*2 - 1)
	}
	for what, theta := range map[string][]float64{"a given position": given, "a prior draw": nil} {
		s, err := Registries{}.New(target, Spec{Integrator: "leapfrog", Params: integrators.Params{Step: 0.1, Friction: 1, InvMass: mass}})
		if err != nil {
			t.Fatal(err)
		}
		z, shift := s.Start(17, theta), 0.0
		if theta == nil {
			shift = 3
		}
		for i, at := range []int{0, half} {
			var sum, squares, cross float64
			for j := at; j < at+half; j++ {
				x := z.R[j] * math.Sqrt(mass[j])
				sum, squares, cross = sum+x, squares+x*x, cross+x*(z.Theta[j]-shift)
			}
			if p := tails(distuv.UnitNormal.CDF(sum / math.Sqrt(half))); p < falseAlarm {
				t.Errorf("%s, half %d: momenta have the mean %v: p = %.2g", what, i, sum/half, p)
			}
			if p := tails(distuv.ChiSquared{K: half}.CDF(squares)); p < falseAlarm {
				t.Errorf("%s, half %d: w r² has the mean %v, want 1: p = %.2g", what, i, squares/half, p)
			}
			if p := tails(distuv.UnitNormal.CDF(cross / math.Sqrt(half))); p < falseAlarm {
				t.Errorf("%s, half %d: momentum and position have the covariance %v: p = %.2g", what, i, cross/half, p)
			}
		}
	}
}

// tails is the two-sided p-value of a value of the distribution function.
func tails(cdf float64) float64 { return 2 * min(cdf, 1-cdf) }

func TestStartsDifferByTheirKeyAlone(t *testing.T) {
	s, err := Registries{}.New(wide{newSprings(1), 8}, Spec{Integrator: "leapfrog", Params: integrators.Params{Step: 0.1, Friction: 1}})
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := s.Start(1, nil), s.Start(1, nil), s.Start(2, nil)
	if a.Theta[0] != b.Theta[0] || a.R[0] != b.R[0] {
		t.Error("one key gave two starts")
	}
	if a.Theta[0] == c.Theta[0] || a.R[0] == c.R[0] {
		t.Error("two keys gave one start")
	}
	rest := StartAtRest(wide{newSprings(1), 8}, noise.New(1, noise.StreamStart))
	for i := range rest.R {
		if rest.Theta[i] != a.Theta[i] || rest.R[i] != 0 {
			t.Errorf("start at rest: θ = %v, r = %v; want %v, 0", rest.Theta[i], rest.R[i], a.Theta[i])
		}
	}
}

// What the assembler fills in is what a spec may say itself.
func TestDefaultsOfASpec(t *testing.T) {
	run := func(s Spec) float64 {
		s.Integrator, s.Params, s.Key = "leapfrog", integrators.Params{Step: 0.1, Friction: 1}, 5
		c, err := Registries{}.New(newSprings(1, 2, 3, 4), s)
		if err != nil {
			t.Fatal(err)
		}
		z := c.Start(5, nil)
		if err := c.Advance(t.Context(), z, 20); err != nil {
			t.Fatal(err)
		}
		return z.Theta[0]
	}
	for _, tt := range []struct{ left, written Spec }{
		{Spec{}, Spec{Scheme: "full", Batches: 1}},
		{Spec{Batches: 2}, Spec{Scheme: "reshuffle", Batches: 2}},
		{Spec{Batches: 2}, Spec{Batches: 2, Noise: noise.New(5, noise.StreamNoise)}},
	} {
		if a, b := run(tt.left), run(tt.written); a != b {
			t.Errorf("%+v ends at %v, %+v at %v: want the same", tt.left, a, tt.written, b)
		}
	}
	if run(Spec{Batches: 2}) == run(Spec{Batches: 2, Scheme: "replacement"}) {
		t.Error("two schemes gave one chain")
	}
}

// An assembler makes chains of parts that are in its registries only.
func TestRegistriesAreAskedForTheParts(t *testing.T) {
	drawn := 0
	mine, err := minibatch.Builtin().Lookup("full")
	if err != nil {
		t.Fatal(err)
	}
	mine.Name = "mine"
	method := integrators.Define(integrators.Integrator{Name: "mine", Needs: integrators.Needs{Gradients: 1, Normals: 1}},
		func(d int, _ integrators.Params) (integrators.Stepper, integrators.Stepper) {
			drawn++
			return &euler{h: 0.1, g: make([]float64, d)}, nil
		})
	r := Registries{Integrators: integrators.Registry{method}, Schemes: minibatch.Registry{mine}}
	params := integrators.Params{Step: 0.1, Friction: 1}
	if _, err := r.New(newSprings(1), Spec{Integrator: "mine", Params: params, Scheme: "mine"}); err != nil || drawn != 2 {
		t.Errorf("error %v, integrator made %d times; want none, once for the chain and once to be counted", err, drawn)
	}
	costly, cyclic := method, mine
	costly.Name, costly.Needs.Gradients, cyclic.Name = "costly", 2, "cyclic, it says"
	cyclic.Visits = minibatch.Cycle{}
	cyclic.Index = minibatch.Builtin()[1].Index // reshuffled
	r.Integrators, r.Schemes = append(r.Integrators, costly), append(r.Schemes, cyclic)
	for _, tt := range []struct {
		spec Spec
		want string
	}{
		{Spec{Integrator: "costly", Params: params, Scheme: "mine"}, `integrator "costly" takes 1 gradients, 0 Hessian-vector products and 1 normal vectors a step: its Needs say 2, 0 and 1`},
		{Spec{Integrator: "mine", Params: params, Scheme: "cyclic, it says", Batches: 3}, `scheme "cyclic, it says" states visits by minibatch.Cycle`},
		{Spec{Integrator: "leapfrog", Params: params}, `unknown integrator "leapfrog": want one of mine, costly`},
		{Spec{Integrator: "mine", Params: params, Scheme: "cyclic"}, `unknown mini-batch scheme "cyclic": want one of mine, cyclic, it says`},
		{Spec{Integrator: "mine", Params: params, Scheme: "mine", Batches: -1}, "K = -1 batches: want at least 1"},
		{Spec{Integrator: "mine"}, "step h = 0: want a finite number > 0"},
	} {
		if _, err := r.New(newSprings(1), tt.spec); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want %q", tt.spec, err, tt.want)
		}
	}
}

// most is maxSteps as an int. Tests are vetted for 32 bits too, where an int does not hold
// the constant: it goes by a variable.
var (
	most64 int64 = maxSteps
	most         = int(most64)
)

func TestPaperTimes(t *testing.T) {
	for _, tt := range []struct {
		step float64
		want Plan
	}{
		{0.005, Plan{BurnIn: 2000, Samples: 7, Thin: 500}}, // as the paper says
		{0.03, Plan{BurnIn: 333, Samples: 7, Thin: 83}},    // 83.3
		{5, Plan{BurnIn: 2, Samples: 7, Thin: 1}},          // at least a step
		{100, Plan{BurnIn: 1, Samples: 7, Thin: 1}},
		{1e-300, Plan{BurnIn: most, Samples: 7, Thin: most}}, // more than an int holds
	} {
		if got := PaperPlan(tt.step, 7); got != tt.want {
			t.Errorf("h = %v: %+v, want %+v", tt.step, got, tt.want)
		}
	}
	for _, tt := range []struct{ rows, size, want int }{{455, 0, 1}, {455, 8, 57}, {455, 128, 4}, {100, 67, 1}, {100, 66, 2}, {2, 1, 2}, {2, 8, 1}} {
		if got := Batches(tt.rows, tt.size); got != tt.want {
			t.Errorf("%d rows in batches of %d: K = %d, want %d", tt.rows, tt.size, got, tt.want)
		}
	}
}

// A plan has samples, steps between them, and an end: its burn-in and its samples count.
func TestBadPlansAreUsageErrors(t *testing.T) {
	const few, long = "want at least 1, 1 and 0", "no chain ends"
	for _, tt := range []struct {
		plan        Plan
		begins, has string // of the error; "" for a good plan
	}{
		{Plan{BurnIn: 0, Samples: 1, Thin: 1}, "", ""},
		{Plan{BurnIn: 0, Samples: 0, Thin: 2}, "0 samples, 2 steps apart, after 0 steps: ", few},
		{Plan{BurnIn: 3, Samples: 1, Thin: 0}, "1 samples, 0 steps apart, after 3 steps: ", few},
		{Plan{BurnIn: -1, Samples: 1, Thin: 1}, "1 samples, 1 steps apart, after -1 steps: ", few},
		{Plan{BurnIn: most - 3, Samples: 2, Thin: 1}, "", ""},
		{Plan{BurnIn: most - 2, Samples: 2, Thin: 1},
			"17592186044414 steps before the first of 2 samples and 1 for each: ", long},
		{PaperPlan(1e-300, 7), "17592186044416 steps before the first of 7 samples and ", long},
	} {
		err := tt.plan.Check()
		switch {
		case tt.has == "" && err != nil:
			t.Errorf("%+v: %v", tt.plan, err)
		case tt.has != "" && (!errors.As(err, new(*usage.Error)) ||
			!strings.HasPrefix(err.Error(), tt.begins) || !strings.Contains(err.Error(), tt.has)):
			t.Errorf("%+v: error %v, want %q … %q", tt.plan, err, tt.begins, tt.has)
		}
	}
}

func TestFingerprintOfTheTimeLoop(t *testing.T) {
	got, err := Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	// The same under every instruction set.
	if want := "8295c0f2e406c439ebe0b5210576003a"; got != want {
		t.Errorf("fingerprint %s, want %s", got, want)
	}
	within, err := InnerFingerprint()
	if want := "d5d1aa54d3972a4a7a7843a6c491243b"; err != nil || within != want {
		t.Errorf("fingerprint %s of samples between refreshments, want %s: %v", within, want, err)
	}
}
