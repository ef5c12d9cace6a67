package cost

import (
	"math"
	"slices"

	"hambench/certify/markov"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Accuracy holds what is known of the averages of some observables, the outer steps of a
// stationary chain their samples, as matrices over the observables. The unit is an
// observable's standard deviation under the target.
type Accuracy struct {
	Name       string
	Bias       *mat.SymDense // products of the biases; nil in the zero accuracy
	Spread     *mat.SymDense // the limit of n times the covariances of averages; nil if not known
	Stationary *mat.SymDense // the covariances along the chain; nil if not known
	Normal     bool          // the spread is that of a normal process, which the chain is not
}

// MSE is the largest mean squared error of averages over n outer steps, in any direction;
// +Inf where the spread is not known.
func (w Accuracy) MSE(n float64) float64 {
	if w.Spread == nil {
		return math.Inf(1)
	}
	// Bias and chance add up direction by direction.
	sum := mat.NewSymDense(w.Bias.SymmetricDim(), nil)
	sum.ScaleSym(1/n, w.Spread)
	sum.AddSym(sum, w.Bias)
	return largest(sum)
}

// largest is the largest absolute eigenvalue; +Inf if an element is not finite.
func largest(m *mat.SymDense) float64 {
	full := mat.DenseCopyOf(m).RawMatrix().Data
	if !markov.Finite(full) {
		return math.Inf(1)
	}
	return markov.Stretch(full)
}

// Summary is the largest bias and variance, and the integrated autocorrelation time
// in the worst direction; NaN stands for what is not known.
func (w Accuracy) Summary() (bias, variance, autocorrelation float64) {
	if w.Bias == nil {
		return math.NaN(), math.NaN(), math.NaN()
	}
	bias = math.Sqrt(largest(w.Bias))
	if w.Spread == nil {
		return bias, math.Inf(1), math.NaN()
	}
	variance, autocorrelation = largest(w.Spread), math.NaN()
	// The worst direction of spread over stationary is an eigenvector of their quotient.
	var chol mat.Cholesky
	var ratio mat.Dense
	if chol.Factorize(w.Stationary) && chol.SolveTo(&ratio, w.Spread) == nil {
		if values, ok := markov.Eigenvalues(&ratio); ok {
			autocorrelation = 0
			for _, v := range values {
				autocorrelation = max(autocorrelation, real(v))
			}
		}
	}
	return bias, variance, autocorrelation
}

// Sums follows the sums of observables over the outer steps of a chain. Besides
// the law of the state it needs the law weighted by each sum so far, of which
// fewer moments do.
type Sums struct {
	States   markov.Evolution // of the law
	Weighted markov.Evolution // of the law weighted by a sum
	// Times returns a law times an observable, or, of −1, times 1, as weighted has it.
	Times func(law []float64, observable int) []float64
	// Forms are the observables' expectations as linear forms on weighted laws.
	Forms [][]float64
}

// joint is the evolution of a law, then the laws weighted by every sum, then the
// sums' second moments.
func (s *Sums) joint() markov.Evolution {
	m := len(s.Forms)
	e := markov.Evolution{Size: s.States.Size + m*s.Weighted.Size + m*m, Mass: s.States.Mass,
		Each: s.States.Each, Inner: s.States.Inner}
	// Kernels move the state alone; the sums grow where an outer step ends.
	for i := range s.States.Kernels {
		e.Kernels = append(e.Kernels, &jointSums{s, s.States.Kernels[i], s.Weighted.Kernels[i],
			false})
	}
	e.Refresh = &jointSums{s, s.States.Refresh, s.Weighted.Refresh, true}
	return e
}

// jointSums applies a part of a step to a joint law. The last part of an outer step
// adds the observables to the sums. A nil operator leaves laws as they are.
type jointSums struct {
	*Sums
	state, weighted markov.Operator
	adds            bool // it is the last part
}

// AddTo adds w times the image of a joint law, laid out as in joint.
func (j *jointSums) AddTo(dst []float64, w float64, src []float64) {
	m := len(j.Forms)
	out := make([]float64, len(src))
	act := func(o markov.Operator, from, size int) []float64 {
		if o == nil {
			copy(out[from:from+size], src[from:from+size])
		} else {
			o.AddTo(out[from:from+size], 1, src[from:from+size])
		}
		return out[from : from+size]
	}
	// E S_k S_l, of the sums, gains E S_k f_l + E f_k S_l + E f_k f_l when f is added to S.
	state := act(j.state, 0, j.States.Size)
	squares := act(nil, len(src)-m*m, m*m)
	for k := range m {
		// own is the law weighted by the k-th sum, now the law times the k-th observable.
		own := act(j.weighted, j.States.Size+k*j.Sums.Weighted.Size, j.Sums.Weighted.Size)
		if !j.adds {
			continue
		}
		now := j.Times(state, k)
		for l, form := range j.Forms {
			squares[k*m+l] += floats.Dot(form, own) + floats.Dot(form, now)
			squares[l*m+k] += floats.Dot(form, own)
		}
		floats.Add(own, now)
	}
	floats.AddScaled(dst, w, out)
}

// VarianceGoal is the relative residual of what variances are worked out from.
const VarianceGoal = 1e-9

// Covariances returns the asymptotic covariances of averages over outer steps,
// and the covariances along the chain, from the law at the ends of periods. The
// sum over one period varies with itself, and with all later ones by what its
// end remembers: weighted by the sum, the law there differs from the stationary
// one by b, and Σ T^k b solves (I − T)x = b. Both are nil if no solution is found.
func (s *Sums) Covariances(p *markov.Period, law []float64, precondition markov.Linear) (spread,
	stationary *mat.SymDense) {
	m, size, outer := len(s.Forms), s.Weighted.Size, float64(p.Length()/p.Inner)
	// One period from the stationary law gives the sums' second moments, and the laws that are
	// weighted by them.
	start := make([]float64, s.joint().Size) // no sums yet
	copy(start, law)
	end := p.On(s.joint()).Advance(start, nil)
	squares := end[len(end)-m*m:]
	moments := s.Times(law, -1)
	// later[k][l] is the covariance of the sum of k with all later values of l.
	later, mean := mat.NewDense(m, m, nil), make([]float64, m)
	after := p.On(s.Weighted)
	// One equation for each observable's sum.
	for k := range m {
		b := slices.Clone(end[len(law)+k*size : len(law)+(k+1)*size])
		// b is the law weighted by sum k, and its mass is the mean of that sum. Less the mean times
		// the stationary law it is the covariance of the sum with the state at the period's end.
		mean[k] = b[s.Weighted.Mass]
		floats.AddScaled(b, -mean[k], moments)
		b[s.Weighted.Mass] = 0
		x, left := after.Solve(b, precondition, VarianceGoal)
		if !(left <= 1e3*VarianceGoal*(floats.Norm(b, 2)+floats.Norm(x, 2))) {
			return nil, nil
		}
		// x sums what is left of b where each later period begins: a period from there adds up what
		// the observables have of it in all of them.
		after.Advance(x, func(w float64, at []float64) {
			for l, form := range s.Forms {
				later.Set(k, l, later.At(k, l)+w*floats.Dot(form, at))
			}
		})
	}
	// The covariances along the chain are averages over the ends of outer steps.
	spread, stationary = mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
	p.On(s.States).Advance(law, func(w float64, at []float64) {
		for k := range m {
			now := s.Times(at, k)
			for l := k; l < m; l++ {
				stationary.SetSym(k, l, stationary.At(k, l)+w*floats.Dot(s.Forms[l], now)/outer)
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
