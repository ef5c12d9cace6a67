package oracle

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// Against 5 sets of exact draws the distance of exact draws has the mean of two samples,
// √(1/n + 1/m) times Kolmogorov's 0.8687 less what the steps of the samples take away (up
// to 1/(2√n) of it), and not that of one sample, √(1/n). The mean over 100 independent
// outputs is off by 0.003 once in 1000 seeds. Distances of right draws are within four of the
// band's deviations, which 40 sets tell to 11 %: one of four cases is not at 5 seeds in 10 000.
// Seeds are pinned.
func TestSampledTruthComparesSamples(t *testing.T) {
	const outputs = 100
	law := newKnown(t, outputs)
	for _, m := range []int{100, 400} {
		s := law.Sampled(ExactDraws{Chains: 5, Samples: m, Seed: 1})
		for _, n := range []int{40, 100} {
			band, want := s.SelfDistanceOf(n), 0.8687*math.Sqrt(1/float64(n)+1/float64(m))
			if band.Mean > want || band.Mean < 0.94*want || !(band.Low < 0.7*want && band.High > 1.3*want) {
				t.Errorf("%d draws against %d: %+v, want a mean of nearly %.4f", n, m, band, want)
			}
			if again := law.Sampled(ExactDraws{Chains: 5, Samples: m, Seed: 1}).SelfDistanceOf(n); again != band {
				t.Errorf("the band changes from %+v to %+v", band, again)
			}
			draws := law.Draws(n, rand.New(rand.NewPCG(21, 0)))
			d := s.Distance(draws)
			if math.Abs(d-band.Mean) > 4*band.SD {
				t.Errorf("%d exact draws against %d: distance %.4f, band %+v", n, m, d, band)
			}
			if other := law.Sampled(ExactDraws{Chains: 5, Samples: m, Seed: 2}).Distance(draws); other == d {
				t.Errorf("distance %v to the draws of two seeds", d)
			}
			for _, x := range draws {
				for o := range x {
					x[o]++
				}
			}
			if d := s.Distance(draws); d < band.Mean+4*band.SD {
				t.Errorf("distance %v of draws that are half a deviation off, band %+v", d, band)
			}
		}
	}
}

// The draws that judge are not those that chains start at, nor those of the band.
func TestSampledTruthStartsAtExactDraws(t *testing.T) {
	s := newKnown(t, 2).Sampled(ExactDraws{Chains: 2, Samples: 50, Seed: 3})
	var mean, square float64
	theta, rng := make([]float64, 2), rand.New(rand.NewPCG(3, 0))
	const starts = 400
	for range starts {
		s.DrawStart(theta, rng)
		mean, square = mean+theta[1]/starts, square+(theta[1]-1)*(theta[1]-1)/starts
	}
	// N(1, 2²): four standard errors, of which one of two is exceeded once in 8 000 seeds.
	if math.Abs(mean-1) > 4*2/math.Sqrt(starts) || math.Abs(square-4) > 4*4*math.Sqrt(2./starts) {
		t.Errorf("starts have mean %v and mean square deviation %v, want 1 and 4", mean, square)
	}
}

func TestFingerprintOfExactDraws(t *testing.T) {
	got, err := SampledFingerprint()
	// The same under every instruction set.
	if want := "205966507b7d70770f4b64759e1ecf7d"; err != nil || got != want {
		t.Errorf("fingerprint %s, want %s: %v", got, want, err)
	}
}

// A run that ends does not wait for the band of many exact draws, and what it gave up is found by
// the next one, also where that waited for it.
func TestABandIsGivenUpWithTheRun(t *testing.T) {
	law := newKnown(t, 3)
	spec := ExactDraws{Chains: 2, Samples: 20, Seed: 1}
	want, s := law.Sampled(spec).SelfDistanceOf(10), law.Sampled(spec)
	ended, end := context.WithCancel(t.Context())
	end()
	if b, err := SelfDistance(ended, s, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v; want none", b, err)
	}
	if b, err := SelfDistance(t.Context(), s, 10); b != want || err != nil {
		t.Errorf("%+v, %v after one was given up; want %+v", b, err, want)
	}
	tries := 0
	if b, err := new(bands).of(t.Context(), 1, func() (Band, error) {
		if tries++; tries == 1 {
			return Band{}, context.Canceled // of who asked first
		}
		return want, nil
	}); b != want || err != nil || tries != 2 {
		t.Errorf("%+v, %v after %d tries", b, err, tries)
	}
}
