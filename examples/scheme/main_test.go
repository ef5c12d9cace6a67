package main

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hambench/certify"
)

func TestCoinKeepsItsCap(t *testing.T) {
	var out strings.Builder
	rows, err := decide(t.Context(), &out)
	if err != nil {
		t.Fatal(err)
	}
	joint := make(map[string]float64)
	for _, r := range rows {
		for _, o := range r.Observables {
			if o.Verdict != certify.Confirmed {
				t.Errorf("%s under %s, %s: %s: want confirmed", r.Integrator, r.Scheme, o.Name, o.Verdict)
			}
			if o.Name == "joint.cov" {
				joint[r.Scheme] = math.Round(float64(o.Order))
			}
		}
	}
	if joint["cyclic"] != 1 || joint["coin"] != 2 {
		t.Errorf("orders of the joint law %v: want 1 for ever the same order, 2 with the coin", joint)
	}
}

// The batch numbers that run are those of the law that is certified.
func TestCoinDrawsTheWordsOfItsLaw(t *testing.T) {
	const k, epochs = 4, 1000
	next := coin.Index(k, rand.New(rand.NewPCG(1, 1)))
	count := make(map[[k]int]int)
	for range epochs {
		var word [k]int
		for i := range word {
			word[i] = next.Next()
		}
		count[word]++
	}
	// Binomial(1000, 1/2) is within 100 of its mean but for 3 in 10¹⁰ cases.
	if n := count[[k]int{0, 1, 2, 3}]; len(count) != 2 || n < 400 || n > 600 {
		t.Errorf("words %v: want 0123 and 3210, about 500 of each", count)
	}
}

// The weighted sum over a batch, scaled, is on average the sum over all rows.
func TestImportanceIsUnbiased(t *testing.T) {
	const rows, k, draws = 40, 8, 100_000
	value := func(i int) float64 { return float64(i * i) }
	s, err := importance(func(i int) float64 { return 1 + float64(i) }).New(rows, k, rand.New(rand.NewPCG(2, 2)))
	if err != nil {
		t.Fatal(err)
	}
	want, sum, squares := 0.0, 0.0, 0.0
	for i := range rows {
		want += value(i)
	}
	for range draws {
		b, x := s.Next(), 0.0
		for j, i := range b.List {
			x += b.Scale * b.Weights[j] * value(i)
		}
		sum, squares = sum+x, squares+x*x
	}
	mean := sum / draws
	deviation := math.Sqrt((squares/draws - mean*mean) / draws)
	// Six standard errors: a false alarm in 5 of 10⁸ cases.
	if math.Abs(mean-want) > 6*deviation {
		t.Errorf("mean %.1f ± %.1f: want %.1f", mean, deviation, want)
	}
}

func TestSchemesRunInASweep(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	if err := compare(t.Context(), &out, dir); err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"reshuffle", "coin", "iid", "importance"} {
		if n := strings.Count(out.String(), "| "+scheme+" "); n != 3 {
			t.Errorf("%d rows of %s: want 3, one a step:\n%s", n, scheme, out.String())
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "schemes.png")); err != nil {
		t.Error(err)
	}
}
