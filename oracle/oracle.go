// Package oracle holds the truth that a chain's predictive draws are judged
// by: the exact posterior where it is known, and reference chains with their
// diagnostics and checks where it is not.
//
// A Truth gives the Kolmogorov distance between draws and itself, averaged over
// the predictive outputs, and the distance that as many independent draws
// would have. NewAnalytic makes one from a models.Analytic. For any other target
// Build runs the reference chains that a Spec describes, checks them against a
// Metropolis-corrected chain, and returns a Reference. Encode and Decode convert
// it to and from JSON.
//
// A Stability estimates the largest steps at which chains on a target stay
// finite.
package oracle

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// Truth is the law of a target's predictive outputs, known exactly or from
// reference chains.
type Truth interface {
	// Distance returns the Kolmogorov distance between the draws
	// (draws[sample][output]) and the truth, averaged over the outputs (and
	// over the reference's chains): 0 … 1. An output with a NaN is at
	// distance 1.
	Distance(draws [][]float64) float64
	// SelfDistanceOf returns the band of Distance for n draws of the truth itself:
	// independent ones or, of reference chains, as correlated as theirs.
	SelfDistanceOf(n int) Band
	// DrawStart stores a start point for a chain, drawn from the truth, in
	// theta.
	DrawStart(theta []float64, rng *rand.Rand)
}

// ErrUndecided says that draws, or what they are judged by, decide nothing.
var ErrUndecided = errors.New("cannot decide")

// Band is the mean of a distance, with its 5 and 95 % quantiles, over outputs and
// sets of draws, one output at a time. SD is the standard deviation, from one set of
// draws to another, of the mean over the outputs, which is what Distance returns.
type Band struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	SD   float64 `json:"sd"`
}

// Contains reports whether x lies in the band, ends included.
func (b Band) Contains(x float64) bool { return b.Low <= x && x <= b.High }

// bandOf returns the mean and the 5 and 95 % quantiles of x, which it sorts.
func bandOf(x []float64) Band {
	slices.Sort(x)
	return Band{Mean: mean(x), Low: Quantile(x, 0.05), High: Quantile(x, 0.95)}
}

// SelfDistance returns what t's SelfDistanceOf does, or the context's error if that ends before a
// band that takes minutes is found: one of many exact draws.
func SelfDistance(ctx context.Context, t Truth, n int) (Band, error) {
	if s, ok := t.(*Sampled); ok {
		return s.self.of(ctx, n, func() (Band, error) { return s.selfDistance(ctx, n) })
	}
	return t.SelfDistanceOf(n), nil
}

// bands keeps a band for each number of draws, worked out once.
type bands struct{ known sync.Map }

// of is the band of a number of draws. One that was given up is not kept: who waited for it with
// a context of its own finds it anew.
func (b *bands) of(ctx context.Context, n int, find func() (Band, error)) (Band, error) {
	for {
		once := sync.OnceValues(find)
		found, _ := b.known.LoadOrStore(n, &once)
		band, err := (*found.(*func() (Band, error)))()
		if err == nil {
			return band, nil
		}
		b.known.CompareAndDelete(n, found)
		if ctx.Err() != nil {
			return Band{}, ctx.Err()
		}
	}
}

// Quantile returns the p-quantile of sorted by linear interpolation between the
// order statistics (type 7 of Hyndman and Fan, 1996).
func Quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	j := min(i+1, len(sorted)-1)
	return sorted[i] + (at-math.Floor(at))*(sorted[j]-sorted[i])
}

func mean(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v
	}
	return s / float64(len(x))
}
