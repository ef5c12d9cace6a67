package cost

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hambench/certify/markov"
	"hambench/chain/minibatch"
)

// power is a chain of step h whose moments grow by h/0.7 a period, whose averages have the bias
// h² and the asymptotic variance 2/h.
type power struct {
	h     float64
	known bool
}

func (p power) Radius(context.Context, minibatch.Scheme, bool) (Growth, error) {
	return Growth{Known: p.known, Radius: p.h / 0.7, Slack: 1e-12, Kernels: 1}, nil
}

func (p power) Between(chains []Chain, weights []float64) Chain {
	p.h = 0
	for i, c := range chains {
		p.h += weights[i] * c.(power).h
	}
	return p
}

func (p power) Accuracies(context.Context, minibatch.Scheme, bool) ([]Accuracy, bool, error) {
	one := func(x float64) *mat.SymDense { return mat.NewSymDense(1, []float64{x}) }
	return []Accuracy{{Name: "theta", Bias: one(math.Pow(p.h, 4)), Spread: one(2 / p.h),
		Stationary: one(0.5)}}, false, nil
}

func searchOf(t *testing.T, known bool) *Search {
	return NewSearch(t.Context(), minibatch.Scheme{}, 1, markov.Pace{Fast: 5, Slow: 1, Largest: 1},
		func(h float64, _ bool) (Chain, error) { return power{h, known}, nil })
}

// The largest stable step is 0.7, or where it is not known four times the fastest rate's time.
func TestLargestStableStepIsFound(t *testing.T) {
	for known, want := range map[bool]float64{true: 0.7, false: 0.8} {
		limit, told, err := searchOf(t, known).StableStep()
		if err != nil || told != known || !(math.Abs(limit-want) <= 1e-5*want) {
			t.Errorf("limit %v, known %v, %v: want %v, %v", limit, told, err, want, known)
		}
	}
}

// level is a chain that is stable at all steps, by less and less: round-off tells until 0.5.
type level struct{ power }

func (l level) Radius(context.Context, minibatch.Scheme, bool) (Growth, error) {
	return Growth{Known: true, Radius: max(1-math.Exp(-60*l.h), 0.5), Slack: 1e-13, Kernels: 1}, nil
}

// Where rounding hides whether a chain is stable, the largest stable step is not known.
func TestAStepThatRoundOffHidesIsNoLimit(t *testing.T) {
	s := NewSearch(t.Context(), minibatch.Scheme{}, 1, markov.Pace{Fast: 5, Slow: 1, Damping: math.Inf(1)},
		func(h float64, _ bool) (Chain, error) { return level{power{h, true}}, nil })
	if limit, known, err := s.StableStep(); known || err != nil {
		t.Errorf("limit %v, known %v, %v: want none that is known", limit, known, err)
	}
}

// h⁴ + 2/(nh) is smallest at h⁵ = 1/(2n); steps of the grid are 9 % apart, which costs little.
func TestBestStepIsThatOfTheSmallestError(t *testing.T) {
	for _, n := range []float64{10, 1e3, 1e5} {
		s := searchOf(t, true)
		if _, _, err := s.StableStep(); err != nil {
			t.Fatal(err)
		}
		got, err := s.Best(n)
		if err != nil {
			t.Fatal(err)
		}
		h := math.Pow(1/(2*n), 0.2)
		least := math.Pow(h, 4) + 2/(n*h)
		if !(math.Abs(math.Log2(got.Step/h)) <= 1./stepsPerOctave) || !(got.MSE <= 1.02*least) {
			t.Errorf("%g outer steps: step %v, error %v: want %v, %v", n, got.Step, got.MSE, h, least)
		}
		bias, time := got.Step*got.Step, 2/got.Step/0.5
		if math.Abs(got.Bias/bias-1) > 1e-12 || math.Abs(got.Autocorrelation/time-1) > 1e-12 {
			t.Errorf("%g outer steps: bias %v, autocorrelation time %v: want %v, %v", n, got.Bias,
				got.Autocorrelation, bias, time)
		}
	}
	if got, err := searchOf(t, true).Best(0.5); err != nil || !math.IsNaN(got.MSE) {
		t.Errorf("half an outer step has the error %v, %v: want NaN", got.MSE, err)
	}
}

// resonant is a chain of kernels whose radius is e^−f, f = ½CLh, but for a tongue around 0.31 in
// which it is e^(√(w²−x²)−f), x the phase from there and w somewhat above f.
type resonant struct{ power }

func (r resonant) Radius(context.Context, minibatch.Scheme, bool) (Growth, error) {
	const center, kernels = 0.31, 4
	f := resonantPace.Damping * kernels * r.h / 2
	x, w := resonantPace.Fast*kernels*(r.h-center), 1.01*resonantPace.Damping*kernels*center/2
	if r.h >= 0.7 {
		f = -1
	}
	return Growth{Known: true, Radius: math.Exp(math.Sqrt(max(0, w*w-x*x)) - f), Kernels: kernels}, nil
}

func (r resonant) Between(chains []Chain, weights []float64) Chain {
	var inner []Chain
	for _, c := range chains {
		inner = append(inner, c.(resonant).power)
	}
	return resonant{r.power.Between(inner, weights).(power)}
}

var resonantPace = markov.Pace{Fast: 5, Slow: 1, Damping: 0.01, Largest: 1}

// failing is a chain with a peak of the radius at 0.31, whose second moments cannot be had where it
// is interpolated.
type failing struct {
	power
	interpolated bool
}

var errFailing = errors.New("no second moments")

func (f failing) Radius(_ context.Context, _ minibatch.Scheme, mean bool) (Growth, error) {
	if f.interpolated && !mean {
		return Growth{}, errFailing
	}
	radius := 0.9 + 0.05/(1+math.Pow((f.h-0.31)/0.05, 2))
	if f.h >= 0.7 {
		radius = 2
	}
	return Growth{Known: true, Radius: radius, Kernels: 4}, nil
}

func (f failing) Between(chains []Chain, weights []float64) Chain {
	var inner []Chain
	for _, c := range chains {
		inner = append(inner, c.(failing).power)
	}
	return failing{f.power.Between(inner, weights).(power), true}
}

// A closer look that fails is an error of the search, and no stable step.
func TestAFailedLookAtATongueIsAnError(t *testing.T) {
	s := NewSearch(t.Context(), minibatch.Scheme{}, 1, resonantPace,
		func(h float64, _ bool) (Chain, error) { return failing{power{h, true}, false}, nil })
	if limit, _, err := s.StableStep(); !errors.Is(err, errFailing) {
		t.Errorf("limit %v, %v: want the chain's error", limit, err)
	}
}

// A tongue that is a thousandth of its step wide, and unstable in a seventh of that, ends the
// stable steps.
func TestTongueBelowTheLimitIsFound(t *testing.T) {
	s := NewSearch(t.Context(), minibatch.Scheme{}, 1, resonantPace,
		func(h float64, _ bool) (Chain, error) { return resonant{power{h, true}}, nil })
	limit, known, err := s.StableStep()
	if err != nil || !known || !(math.Abs(limit-0.31) < 1e-3*0.31) {
		t.Errorf("limit %v, known %v, %v: want one near 0.31", limit, known, err)
	}
	for h := 0.01; h < limit; h *= 1.00001 {
		if g, _ := (resonant{power{h, true}}).Radius(t.Context(), minibatch.Scheme{}, true); g.Radius >= 1 {
			t.Fatalf("radius %v at %v below the limit %v", g.Radius, h, limit)
		}
	}
}
