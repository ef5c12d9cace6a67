package models

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"hambench/models/datasets"
	"hambench/usage"
)

// Tempering makes of a target ∝ exp(−U(θ)) the target ∝ exp(−U(θ)/T − γ|θ − θ*|²/2), which is
// what local learning coefficients are estimated from (Lau et al. 2023: 1/T is β, and U the loss
// alone; here the prior is divided by T as well, which is little beside the likelihood of many
// rows).
type Tempering struct {
	Temperature  float64   // T ≥ 1e-30
	Localisation float64   // γ ≥ 0
	Centre       []float64 // θ*, of length Dim; not used if γ is 0
}

// LeastTemperature is where forces and precisions that are divided by it are still numbers that can
// be squared and inverted.
const LeastTemperature = 1e-30

// On returns the tempered target, which takes the given one over: that itself if T is 1 and γ
// is 0. Forces are scaled, so that whatever samples it keeps its noise. Numbers out of range,
// and a centre of another length than the target's dimension, are usage errors.
func (m Tempering) On(t Target) (Target, error) {
	switch {
	case !(m.Temperature > 0) || math.IsInf(m.Temperature, 1):
		return nil, usage.Errorf("temperature %v: want a finite number > 0", m.Temperature)
	case m.Temperature < LeastTemperature:
		return nil, usage.Errorf("temperature %v: want %v or more", m.Temperature,
			LeastTemperature)
	case !(m.Localisation >= 0) || math.IsInf(m.Localisation, 1):
		return nil, usage.Errorf("localisation %v: want a finite number, 0 or more",
			m.Localisation)
	case m.Temperature == 1 && m.Localisation == 0:
		return t, nil
	case m.Localisation == 0:
		m.Centre = make([]float64, t.Dim())
	}
	inner := CapabilitiesOf(t)
	if len(m.Centre) != t.Dim() {
		return nil, usage.Errorf("a centre of %d numbers for model %q, which has %d parameters",
			len(m.Centre), inner.Name, t.Dim())
	}
	return &tempered{Target: t, Tempering: m, inner: inner}, nil
}

// Tempered reports whether a target is one that Tempering.On made.
func Tempered(t Target) bool {
	_, is := t.(*tempered)
	return is
}

// tempered is a target with a tempering. It has the methods of all capabilities that a
// tempering keeps; which of them count, is asked of the target within.
type tempered struct {
	Target
	Tempering
	inner Capabilities
	// known is the law of an Analytic target: a crossing's from capabilities on, a linear-Gaussian
	// target's on first use; nil before that and for all others.
	known law
}

// capabilities are those of the target within that survive: fused steps and formulas are of
// other potentials, and a law is known where it is normal.
func (t *tempered) capabilities() Capabilities {
	c := Capabilities{Name: t.inner.Name, Scorer: t.inner.Scorer, Named: t.inner.Named,
		sourced: t.inner.sourced}
	if t.inner.Hessian != nil {
		c.Hessian = t
	}
	if t.inner.Gatherer != nil {
		c.Gatherer = t
	}
	if t.inner.LinearGaussian != nil {
		c.LinearGaussian = t
	}
	if t.inner.Likelihood != nil {
		c.Likelihood = t
	}
	c.Optimal = t.inner.Optimal // of the likelihood, whose optimum a temperature does not move
	if of, ok := t.Target.(tempers); ok && t.known == nil {
		t.known = of.lawOf(t.Tempering)
	}
	normal := t.inner.Analytic != nil && t.inner.LinearGaussian != nil && t.inner.Marginals == nil
	if t.known != nil || normal {
		c.Analytic = t
	}
	if _, ok := t.known.(distributed); ok {
		c.Marginals = t
	}
	return c
}

// Potential returns U(θ)/T + γ|θ − θ*|²/2.
func (t *tempered) Potential(theta []float64) float64 {
	d := floats.Distance(theta, t.Centre, 2)
	return t.Target.Potential(theta)/t.Temperature + t.Localisation*d*d/2
}

// Gradient stores g/T + γ(θ − θ*), with g the gradient of the target within.
func (t *tempered) Gradient(g, theta []float64, rows Rows) {
	t.Target.Gradient(g, theta, rows)
	for i, x := range theta {
		g[i] = g[i]/t.Temperature + t.Localisation*(x-t.Centre[i])
	}
}

// HessianVector stores Hv/T + γv.
func (t *tempered) HessianVector(hv, theta, v []float64, rows Rows) {
	t.inner.Hessian.HessianVector(hv, theta, v, rows)
	for i, x := range v {
		hv[i] = hv[i]/t.Temperature + t.Localisation*x
	}
}

func (t *tempered) Gather(index []int, weights []float64) {
	t.inner.Gatherer.Gather(index, weights)
}

// Affine returns P/T + γI and s/T + γθ*.
func (t *tempered) Affine(rows Rows) (precision, shift []float64) {
	precision, shift = t.inner.LinearGaussian.Affine(rows)
	floats.Scale(1/t.Temperature, precision)
	floats.Scale(1/t.Temperature, shift)
	floats.AddScaled(shift, t.Localisation, t.Centre)
	for i := range shift {
		precision[i*len(shift)+i] += t.Localisation
	}
	return precision, shift
}

// law is what an Analytic target knows of its posterior.
type law interface {
	PredictiveMarginals() (mean, sd []float64)
	DrawPosterior(dst []float64)
}

// distributed is a law whose outputs are not normal.
type distributed interface {
	CDF(output int, v float64) float64
}

// tempers is an Analytic target that is not linear-Gaussian, and knows its law under a
// tempering; nil if it does not.
type tempers interface{ lawOf(m Tempering) law }

// posterior returns the law, of a linear-Gaussian target, whose outputs are affine in θ, the
// normal one.
func (t *tempered) posterior() law {
	if t.known != nil {
		return t.known
	}
	// Column d of the features is what the unit vector d predicts beyond the constant, which 0
	// predicts.
	dim, outputs := t.Dim(), t.Outputs()
	features, unit, column, constant := make([]float64, outputs*dim), make([]float64, dim),
		make([]float64, outputs), make([]float64, outputs)
	t.Predict(constant, unit)
	for d := range dim {
		clear(unit)
		unit[d] = 1
		t.Predict(column, unit)
		for o, v := range column {
			features[o*dim+d] = v - constant[o]
		}
	}
	precision, shift := t.Affine(Rows{Lo: 0, Hi: t.Rows(), Scale: 1})
	normal, ok := newLinearLaw(precision, shift, features)
	if !ok {
		panic("models: the precision of a tempered posterior has no accurate inverse")
	}
	floats.Add(normal.outputs, constant)
	t.known = normal
	return normal
}

// PredictiveMarginals implements Analytic.
func (t *tempered) PredictiveMarginals() (mean, sd []float64) {
	return t.posterior().PredictiveMarginals()
}

// DrawPosterior implements Analytic.
func (t *tempered) DrawPosterior(dst []float64) {
	checkLen(t.Dim(), dst)
	t.posterior().DrawPosterior(dst)
}

// CDF implements Marginals.
func (t *tempered) CDF(output int, v float64) float64 {
	return t.known.(distributed).CDF(output, v)
}

// Loss returns the negative log-likelihood over T.
func (t *tempered) Loss(theta []float64) float64 {
	return t.inner.Likelihood.Loss(theta) / t.Temperature
}

// TemperedFingerprint digests what a tempering makes of a small linear model. It changes
// whenever the numbers of tempered targets do.
func TemperedFingerprint() (string, error) {
	split := &datasets.Split{Task: datasets.Regression, Features: 2, NoiseVariance: 0.5,
		TrainX: []float64{1, 0.5, -1, 2}, TrainY: []float64{1, -0.5}, TestX: []float64{0.3, 1}}
	t, err := Builtin().New("linear", split, Options{Plain: true})
	if err != nil {
		return "", err
	}
	m := Tempering{Temperature: 2, Localisation: 3, Centre: []float64{1, -1, 0.5}}
	if t, err = m.On(t); err != nil {
		return "", err
	}
	p := newProbe()
	p.target(t)
	return p.String(), nil
}
