package certify

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/combin"

	"hambench/chain/minibatch"
	"hambench/integrators"
)

// listOf is a scheme whose words are listed, with the cap of another.
func listOf(name string, cap minibatch.Cap, length func(k int) int, list func(k int) []minibatch.Word) minibatch.Scheme {
	return minibatch.Scheme{Name: name, Visits: minibatch.Words{Length: length, List: list}, Cap: cap}
}

// The laws that the engines know, written as lists of words: all orders, all
// orders forwards and backwards, one batch, one order. Their errors must be
// those of the built-in laws, which a recursion over subsets finds, up to
// round-off: both engines, N_l above and below K, at period ends and at every
// step.
func TestListedWordsAreTheBuiltInLaws(t *testing.T) {
	orders := func(k int) [][]int { return combin.Permutations(k, k) }
	length := func(k int) int { return k }
	two := minibatch.Cap{Marginal: 2, Joint: 2}
	listed := map[string]minibatch.Scheme{
		"reshuffle": listOf("all orders", two, length, func(k int) []minibatch.Word { return minibatch.EquallyLikely(orders(k)) }),
		"symmetric": listOf("all palindromes", two, func(k int) int { return 2 * k }, func(k int) []minibatch.Word {
			all := orders(k)
			for i, w := range all {
				for j := range k {
					all[i] = append(all[i], w[k-1-j])
				}
			}
			return minibatch.EquallyLikely(all)
		}),
		"replacement": listOf("any batch", minibatch.Cap{Marginal: 1, Joint: 1}, func(int) int { return 1 }, func(k int) []minibatch.Word {
			return minibatch.EquallyLikely(combin.Permutations(k, 1))
		}),
		"cyclic": listOf("one order", minibatch.Cap{Marginal: 2, Joint: 1}, length, func(k int) []minibatch.Word {
			return []minibatch.Word{{Batches: orders(k)[0], Probability: 1}}
		}),
	}
	for name, mine := range listed {
		known, err := minibatch.Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*Problem{gaussianBuiltin(), scalarBuiltin()} {
			for _, inner := range sampled([]int{1, 2 * p.Batches()}, 1) {
				for _, every := range sampled([]bool{false, true}, 1) {
					a, b := errorsUnder(t, p, known, inner, every), errorsUnder(t, p, mine, inner, every)
					for i := range a {
						// Sums of a few hundred terms of order 1 in another order.
						if math.Abs(a[i]-b[i]) > 1e-12 {
							t.Errorf("%s on %s, N_l = %d, every step %v: error %d is %v, want %v", mine.Name, p.Name, inner, every, i, b[i], a[i])
						}
					}
				}
			}
		}
	}
}

// errorsUnder returns the errors of lietrotter at one step.
func errorsUnder(t *testing.T, p *Problem, s minibatch.Scheme, inner int, every bool) []float64 {
	t.Helper()
	m, err := integrators.Builtin().Lookup("lietrotter")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Problem: p, Integrators: []integrators.Integrator{m}, Schemes: []minibatch.Scheme{s}, Steps: []float64{0.02}, Inner: inner, EveryStep: every}
	rows, err := Errors(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var out []float64
	for _, obs := range rows[0].Observables {
		out = append(out, float64(obs.Errors[0]))
	}
	return out
}

// One public code of SMS-UBU numbers the steps of epoch e from e·B, B the batch
// size, where its text has e·K: step i then takes place (e·B + i) mod 2K of the
// sweep forwards and backwards, 0 … K−1, K−1 … 0, through an order that is drawn
// for two epochs. No pair of epochs is a palindrome then, nor does an epoch
// visit each batch once: what is left is order 1, and at small steps a third of the
// error of batches drawn at every step.
func TestSweepsOutOfStepLoseTheOrder(t *testing.T) {
	p := &Problem{Kind: Gaussian, Friction: 1.3, gaussian: gaussianBuiltin().gaussian[:3]}
	sweeps := func(perEpoch int) minibatch.Scheme { // the steps from an epoch's first to the next one's
		pairs := 1
		for pairs*2*perEpoch%(2*p.Batches()) != 0 {
			pairs++
		}
		return listOf("sweeps", minibatch.Cap{Marginal: 2, Joint: 2}, func(k int) int { return 2 * k * pairs }, func(k int) []minibatch.Word {
			orders := combin.Permutations(k, k)
			words := [][]int{nil}
			for pair := range pairs {
				var longer [][]int
				for _, before := range words {
					for _, order := range orders {
						word := before[:len(before):len(before)]
						for epoch := 2 * pair; epoch < 2*pair+2; epoch++ {
							for i := range k {
								at := (epoch*perEpoch + i) % (2 * k)
								word = append(word, order[min(at, 2*k-1-at)])
							}
						}
						longer = append(longer, word)
					}
				}
				words = longer
			}
			return minibatch.EquallyLikely(words)
		})
	}
	find := func(s minibatch.Scheme) Observable {
		m, err := integrators.Builtin().Lookup("ubu")
		if err != nil {
			t.Fatal(err)
		}
		rows, err := Run(t.Context(), Options{Problem: p, Integrators: []integrators.Integrator{m}, Schemes: []minibatch.Scheme{s}, Steps: []float64{0.04, 0.01}})
		if err != nil {
			t.Fatal(err)
		}
		return rows[0].observable(t, "theta.cov")
	}
	builtin := func(name string) minibatch.Scheme {
		s, err := minibatch.Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	inStep, symmetric, outOf, drawn := find(sweeps(p.Batches())), find(builtin("symmetric")), find(sweeps(2)), find(builtin("replacement"))
	for i := range inStep.Errors { // sums of some hundred terms of order 1
		if math.Abs(float64(inStep.Errors[i]-symmetric.Errors[i])) > 1e-12 {
			t.Errorf("sweeps in step: errors %v, the built-in scheme's are %v", inStep.Errors, symmetric.Errors)
		}
	}
	t.Logf("errors in step %v, out of step %v, drawn at every step %v", inStep.Errors, outOf.Errors, drawn.Errors)
	if inStep.AtLeast != 2 && inStep.Order != 2 || inStep.Verdict != Confirmed || outOf.Order != 1 || outOf.Verdict != Refuted {
		t.Errorf("in step: order %v (%s), out of step: order %v (%s): want 2 and 1", inStep.Order, inStep.Verdict, outOf.Order, outOf.Verdict)
	}
	if outOf.Errors[1] < 10*inStep.Errors[1] {
		t.Errorf("errors at h = 0.01: %v out of step, %v in step: want ten times as large", outOf.Errors[1], inStep.Errors[1])
	}
}
