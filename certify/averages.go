package certify

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// accuracy holds what is known of the averages of some observables, the outer steps of a
// stationary chain their samples, as matrices over the observables. The unit is an
// observable's standard deviation under the target.
type accuracy struct {
	name       string
	bias       *mat.SymDense // products of the biases; nil in the zero accuracy
	spread     *mat.SymDense // the limit of n times the covariances of averages; nil if not known
	stationary *mat.SymDense // the covariances along the chain; nil if not known
	normal     bool          // the spread is that of a normal process with the same moments
}

// mse is the largest mean squared error of n outer steps, in any direction.
func (w accuracy) mse(n float64) float64 {
	if w.spread == nil {
		return math.Inf(1)
	}
	sum := mat.NewSymDense(w.bias.SymmetricDim(), nil)
	sum.ScaleSym(1/n, w.spread)
	sum.AddSym(sum, w.bias)
	return largestOf(sum)
}

// summary is the largest bias and variance, and the integrated autocorrelation time
// in the worst direction; NaN stands for what is not known.
func (w accuracy) summary() (bias, variance, autocorrelation float64) {
	if w.bias == nil {
		return math.NaN(), math.NaN(), math.NaN()
	}
	bias = math.Sqrt(largestOf(w.bias))
	if w.spread == nil {
		return bias, math.Inf(1), math.NaN()
	}
	variance, autocorrelation = largestOf(w.spread), math.NaN()
	var chol mat.Cholesky
	var ratio mat.Dense
	if chol.Factorize(w.stationary) && chol.SolveTo(&ratio, w.spread) == nil {
		if values, ok := eigenvalues(&ratio); ok {
			autocorrelation = 0
			for _, v := range values {
				autocorrelation = max(autocorrelation, real(v))
			}
		}
	}
	return bias, variance, autocorrelation
}

// sums follows the sums of observables over the outer steps of a chain. Besides
// the law of the state it needs the law weighted by each sum so far, of which
// fewer moments do.
type sums struct {
	states, weighted evolution
	// times returns a law times an observable, or, of −1, times 1, as weighted has it.
	times func(law []float64, observable int) []float64
	// forms are the observables' expectations as linear forms on weighted laws.
	forms [][]float64
}

// ofMoments is times where laws are matrices of moments, whose last row and column are
// those of 1: a law's product with the observable's form.
func (s *sums) ofMoments(law []float64, observable int) []float64 {
	form := unit(s.weighted.size, s.weighted.mass)
	if observable >= 0 {
		form = s.forms[observable]
	}
	out := mat.NewVecDense(len(form), nil)
	out.MulVec(mat.NewDense(len(form), len(form), law), mat.NewVecDense(len(form), form))
	return out.RawVector().Data
}

// joint is the evolution of a law, then the laws weighted by every sum, then the
// sums' second moments.
func (s *sums) joint() evolution {
	m := len(s.forms)
	e := evolution{size: s.states.size + m*s.weighted.size + m*m, mass: s.states.mass,
		each: s.states.each, inner: s.states.inner}
	for i := range s.states.kernels {
		e.kernels = append(e.kernels, &jointSums{s, s.states.kernels[i], s.weighted.kernels[i],
			false})
	}
	e.refresh = &jointSums{s, s.states.refresh, s.weighted.refresh, true}
	return e
}

// jointSums applies a part of a step to a joint law. The last part of an outer step
// adds the observables to the sums. A nil operator leaves laws as they are.
type jointSums struct {
	*sums
	state, weighted operator
	adds            bool
}

func (j *jointSums) addTo(dst []float64, w float64, src []float64) {
	m := len(j.forms)
	out := make([]float64, len(src))
	act := func(o operator, from, size int) []float64 {
		if o == nil {
			copy(out[from:from+size], src[from:from+size])
		} else {
			o.addTo(out[from:from+size], 1, src[from:from+size])
		}
		return out[from : from+size]
	}
	state := act(j.state, 0, j.states.size)
	squares := act(nil, len(src)-m*m, m*m)
	for k := range m {
		own := act(j.weighted, j.states.size+k*j.sums.weighted.size, j.sums.weighted.size)
		if !j.adds {
			continue
		}
		now := j.times(state, k)
		for l, form := range j.forms {
			squares[k*m+l] += floats.Dot(form, own) + floats.Dot(form, now)
			squares[l*m+k] += floats.Dot(form, own)
		}
		floats.Add(own, now)
	}
	floats.AddScaled(dst, w, out)
}

// varianceGoal is the relative residual of what variances are worked out from.
const varianceGoal = 1e-9

// covariances returns the asymptotic covariances of averages over outer steps,
// and the covariances along the chain, from the law at the ends of periods. The
// sum over one period varies with itself, and with all later ones by what its
// end remembers: weighted by the sum, the law there differs from the stationary
// one by b, and Σ T^k b solves (I − T)x = b. Both are nil if no solution is found.
func (s *sums) covariances(p *period, law []float64, precondition linear) (spread,
	stationary *mat.SymDense) {
	m, size, outer := len(s.forms), s.weighted.size, float64(p.length()/p.inner)
	start := make([]float64, s.joint().size)
	copy(start, law)
	end := p.on(s.joint()).advance(start, nil)
	squares := end[len(end)-m*m:]
	moments := s.times(law, -1)
	later, mean := mat.NewDense(m, m, nil), make([]float64, m)
	after := p.on(s.weighted)
	for k := range m {
		b := slices.Clone(end[len(law)+k*size : len(law)+(k+1)*size])
		mean[k] = b[s.weighted.mass]
		floats.AddScaled(b, -mean[k], moments)
		b[s.weighted.mass] = 0
		x, left := after.solve(b, precondition, varianceGoal)
		if !(left <= 1e3*varianceGoal*(floats.Norm(b, 2)+floats.Norm(x, 2))) {
			return nil, nil
		}
		after.advance(x, func(w float64, at []float64) {
			for l, form := range s.forms {
				later.Set(k, l, later.At(k, l)+w*floats.Dot(form, at))
			}
		})
	}
	spread, stationary = mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
	p.on(s.states).advance(law, func(w float64, at []float64) {
		for k := range m {
			now := s.times(at, k)
			for l := k; l < m; l++ {
				stationary.SetSym(k, l, stationary.At(k, l)+w*floats.Dot(s.forms[l], now)/outer)
			}
		}
	})
	for k := range m {
		for l := k; l < m; l++ {
			stationary.SetSym(k, l, stationary.At(k, l)-mean[k]*mean[l]/(outer*outer))
			spread.SetSym(k, l, (squares[k*m+l]-mean[k]*mean[l]+later.At(k, l)+later.At(l,
				k))/outer)
		}
	}
	return spread, stationary
}

// halfDiagonal keeps half of the variances alone: without covariances the worst of
// the coordinates is the worst direction.
func halfDiagonal(m *mat.SymDense) {
	var d mat.DiagDense
	d.DiagFrom(m)
	m.ScaleSym(0.5, &d)
}
