package chain_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"hambench/chain"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/internal/child"
	"hambench/models"
	"hambench/models/datasets"
)

// importance is a scheme written outside: B = round(N/K) rows drawn with
// probabilities p_i ∝ 1 + i, with weights 1/(N p_i), so that the gradient is
// unbiased.
func importance(weigh bool) minibatch.Scheme {
	return minibatch.Scheme{
		Name: "importance", About: "rows drawn with probabilities that grow with their number",
		Lists: true,
		Stream: func(rows, k int, rng *rand.Rand) minibatch.Stream {
			s := &rising{rng: rng, order: make([]int, rows), list: make([]int, (2*rows+k)/(2*k))}
			for i := range s.order {
				s.order[i] = i
			}
			if weigh {
				s.weights = make([]float64, len(s.list))
			}
			return s
		},
	}
}

type rising struct {
	rng         *rand.Rand
	order, list []int
	weights     []float64
}

func (s *rising) Next() minibatch.Batch {
	n := float64(len(s.order))
	total := n * (n + 1) / 2
	for j := range s.list {
		// The first i with 1 + … + (i + 1) > u is drawn with p_i.
		u := s.rng.Float64() * total
		s.list[j] = min(int((math.Sqrt(8*u+1)-1)/2), len(s.order)-1)
		if s.weights != nil {
			s.weights[j] = total / (n * float64(1+s.list[j]))
		}
	}
	return minibatch.Batch{Index: -1, List: s.list, Weights: s.weights, Scale: n / float64(len(s.list))}
}

func (s *rising) Arrangement() []int { return s.order }

func target(t testing.TB, model, dataset, precision string) models.Target {
	t.Helper()
	set, err := (&datasets.Resolver{Offline: true}).Load(context.Background(), dataset)
	if err != nil {
		t.Fatal(err)
	}
	split, err := set.Split(0)
	if err != nil {
		t.Fatal(err)
	}
	out, err := models.Builtin().New(model, split, models.Options{Precision: precision})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The mean of a weighted scheme's gradients is the gradient of all data; without
// its weights, it is not. Of the two coordinates, each is tested at 1e-6: so
// is the probability of a false alarm, twice; the seed is pinned.
func TestWeightsMakeAGradientUnbiased(t *testing.T) {
	const draws, falseAlarm = 20_000, 1e-6
	for _, weigh := range []bool{true, false} {
		model := target(t, "logistic", "logistic", "")
		n, dim := model.Rows(), model.Dim()
		stream, err := importance(weigh).New(n, n/4, rand.New(rand.NewPCG(3, 0)))
		if err != nil {
			t.Fatal(err)
		}
		theta, full, g := []float64{0.4, -0.7}, make([]float64, dim), make([]float64, dim)
		model.Gradient(full, theta, models.Rows{Lo: 0, Hi: n, Scale: 1})
		sum, squares := make([]float64, dim), make([]float64, dim)
		for range draws {
			b := stream.Next()
			model.(models.Gatherer).Gather(b.List, b.Weights)
			model.Gradient(g, theta, models.Rows{Lo: n, Hi: n + len(b.List), Scale: b.Scale})
			for i, v := range g {
				sum[i] += v - full[i]
				squares[i] += (v - full[i]) * (v - full[i])
			}
		}
		biased := false
		for i := range dim {
			z := sum[i] / math.Sqrt(squares[i])
			biased = biased || 2*distuv.UnitNormal.Survival(math.Abs(z)) < falseAlarm
		}
		if biased == weigh {
			t.Errorf("weighted %v: bias found %v: sums of differences %v, deviations √%v", weigh, biased, sum, squares)
		}
	}
}

// Every built-in model runs under schemes of lists, without an allocation per
// step.
func TestListsRunUnderEveryModel(t *testing.T) {
	schemes := append(minibatch.Builtin(), importance(true))
	for _, m := range []struct{ model, dataset, precision string }{
		{"toy", "toy", ""}, {"logistic", "logistic", ""}, {"linear", "linear", ""},
		{"bnn", "teacher-reg", "float32"}, {"bnn", "teacher-reg", "float64"}, {"bnn", "teacher-cls", "float32"}, {"bnn", "teacher-cls", "float64"},
	} {
		for _, scheme := range []string{"iid", "importance"} {
			for _, integrator := range []string{"leapfrog", "mt3"} {
				t.Run(fmt.Sprint(m.model, " ", m.dataset, " ", m.precision, " ", scheme, " ", integrator), func(t *testing.T) {
					model := target(t, m.model, m.dataset, m.precision)
					s, err := chain.Registries{Schemes: schemes}.New(model, chain.Spec{
						Integrator: integrator, Params: integrators.Params{Step: 1e-5, Friction: 5},
						Scheme: scheme, Batches: max(1, model.Rows()/16), Key: 3,
					})
					if err != nil {
						t.Fatal(err)
					}
					z := s.Start(3, nil)
					advance := func() {
						if err := s.Advance(context.Background(), z, 10); err != nil {
							t.Fatal(err)
						}
					}
					advance()
					if n := testing.AllocsPerRun(3, advance); n != 0 {
						t.Errorf("%v allocations in 10 steps, want none", n)
					}
				})
			}
		}
	}
}

// bare is a model that takes no lists.
type bare struct{ models.Target }

func (bare) Name() string { return "bare" }

func TestListsAreRefusedForModelsThatTakeNone(t *testing.T) {
	spec := chain.Spec{Integrator: "leapfrog", Params: integrators.Params{Step: 0.1, Friction: 1}, Scheme: "iid", Batches: 2}
	_, err := chain.Registries{}.New(bare{target(t, "toy", "toy", "")}, spec)
	if want := `scheme "iid" draws lists of rows, which model "bare" does not take`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

// The exact flow under lists, whose affine forces are made anew at every step.
// The toy's batches have equal curvature, so under i.i.d. rows the chain is a
// linear recursion with the posterior's mean. Its estimate is the mean of 100
// blocks, each twenty times as long as the chain remembers; 5 standard errors
// are exceeded by chance (Student's t) three times in a million.
func TestExactFlowFollowsLists(t *testing.T) {
	model := target(t, "toy", "toy", "")
	s, err := chain.Registries{}.New(model, chain.Spec{Integrator: "exact", Params: integrators.Params{Step: 0.4, Friction: 2}, Scheme: "iid", Batches: 2, Key: 11})
	if err != nil {
		t.Fatal(err)
	}
	const blocks, length = 100, 50
	var sum, squares float64
	z := s.Start(11, nil)
	block := 0.0
	err = s.Run(t.Context(), z, chain.Plan{BurnIn: 100, Samples: blocks * length, Thin: 1}, func(i int, z *integrators.State) error {
		block += z.Theta[0] / length
		if i%length == length-1 {
			sum, squares, block = sum+block, squares+block*block, 0
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	mean := sum / blocks
	deviation := math.Sqrt((squares/blocks - mean*mean) / (blocks - 1))
	want, _ := model.(models.Analytic).PredictiveMarginals()
	if math.Abs(mean-want[0]) > 5*deviation {
		t.Errorf("mean of θ is %v ± %v, want %v", mean, deviation, want[0])
	}
}

// misdeclared is a stream whose batch is not what it may be.
type misdeclared struct {
	minibatch.Stream
	batch minibatch.Batch
}

func (s misdeclared) Next() minibatch.Batch { return s.batch }

// What a scheme did not declare ends the chain, rather than being left out.
func TestUndeclaredListsAndWeightsPanic(t *testing.T) {
	for what, tt := range map[string]struct {
		model models.Target
		batch minibatch.Batch
	}{
		"a list for a model that takes none": {bare{target(t, "toy", "toy", "")}, minibatch.Batch{List: []int{1}, Scale: 2}},
		"weights of a range":                 {target(t, "toy", "toy", ""), minibatch.Batch{Lo: 0, Hi: 1, Weights: []float64{2}, Scale: 2}},
	} {
		scheme := minibatch.Scheme{Name: "mine", Stream: func(rows, k int, rng *rand.Rand) minibatch.Stream {
			return misdeclared{minibatch.Builtin()[0].Stream(rows, 1, rng), tt.batch} // full
		}}
		s, err := chain.Registries{Schemes: minibatch.Registry{scheme}}.New(tt.model, chain.Spec{Integrator: "leapfrog", Params: integrators.Params{Step: 0.1, Friction: 1}, Scheme: "mine", Batches: 2})
		if err != nil {
			t.Fatal(err)
		}
		panicked := false
		func() {
			defer func() { panicked = recover() != nil }()
			_ = s.Advance(t.Context(), s.Start(1, nil), 1)
		}()
		if !panicked {
			t.Errorf("%s: no panic", what)
		}
	}
}

// counting counts the evaluations of a target over all rows.
type counting struct {
	models.Target
	evaluations *int64
}

func (c counting) Potential(theta []float64) float64 {
	*c.evaluations++
	return c.Target.Potential(theta)
}

func (c counting) Gradient(g, theta []float64, rows models.Rows) {
	if rows.Hi-rows.Lo == c.Rows() {
		*c.evaluations++
	}
	c.Target.Gradient(g, theta, rows)
}

// The search for cv's mode is counted, potentials too, and does not depend on the order that an
// earlier chain left the rows in, to the last bit.
func TestTheSearchForAModeIsCountedAndAlone(t *testing.T) {
	spec := chain.Spec{
		Integrator: "leapfrog", Params: integrators.Params{Step: 0.05, Friction: 1},
		Estimator: "cv", Batches: 4, Key: 3,
	}
	var ends []float64
	for _, disturbed := range []bool{false, true} {
		model, evaluations := target(t, "logistic", "logistic", ""), int64(0)
		if disturbed {
			model.Arrange(rand.New(rand.NewPCG(1, 1)).Perm(model.Rows()))
		}
		s, err := chain.Registries{}.New(counting{model, &evaluations}, spec)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Counts().FullGradients; got != evaluations || got < 10 {
			t.Errorf("%d gradients of all data are counted, of %d evaluations", got, evaluations)
		}
		z := s.Start(3, nil)
		if err := s.Advance(t.Context(), z, 20); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, z.Theta[0])
	}
	if ends[0] != ends[1] {
		t.Errorf("%v, and %v on a target that was arranged", ends[0], ends[1])
	}
}

// dying is a target whose model, in a process of its own, ends before its last evaluations.
type dying struct {
	models.Target
	left int // evaluations until it ends
}

func (d *dying) evaluate() {
	if d.left--; d.left < 0 {
		panic(&child.Failure{Err: errEnded})
	}
}

func (d *dying) Potential(theta []float64) float64 {
	d.evaluate()
	return d.Target.Potential(theta)
}

func (d *dying) Gradient(g, theta []float64, rows models.Rows) {
	d.evaluate()
	d.Target.Gradient(g, theta, rows)
}

var errEnded = errors.New("the model has ended")

// A model that ends within the search for cv's mode, at whatever evaluation, makes an error and no
// crash: gonum evaluates in goroutines of its own.
func TestTheSearchForAModeReturnsAFailureOfTheModel(t *testing.T) {
	for left := range 12 {
		_, err := chain.Registries{}.New(&dying{target(t, "logistic", "logistic", ""), left}, chain.Spec{
			Integrator: "leapfrog", Params: integrators.Params{Step: 0.05, Friction: 1},
			Estimator: "cv", Batches: 4,
		})
		if !errors.Is(err, errEnded) {
			t.Errorf("after %d evaluations: %v: want %v", left, err, errEnded)
		}
	}
}

// A state that goes on in another chain loses the variables of the first one's estimator.
func TestAStateHasTheVariablesOfItsOwnEstimator(t *testing.T) {
	var z *integrators.State
	for estimator, want := range map[string]int{"saga": 2, "svrg": 1, "plain": 0} {
		s, err := chain.Registries{}.New(target(t, "toy", "toy", ""), chain.Spec{
			Integrator: "leapfrog", Params: integrators.Params{Step: 0.05, Friction: 1},
			Estimator: estimator, Batches: 2,
		})
		if err != nil {
			t.Fatal(err)
		}
		if z == nil {
			z = s.Start(3, nil)
		}
		if err := s.Advance(t.Context(), z, 2); err != nil || len(z.Aux) != want {
			t.Errorf("%s: %d variables, %v: want %d", estimator, len(z.Aux), err, want)
		}
	}
}
