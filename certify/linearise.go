package certify

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/estimators"
	"hambench/integrators"
	"hambench/internal/child"
	"hambench/minibatch"
	"hambench/models"
	"hambench/noise"
	"hambench/usage"
)

const (
	// mostParameters bounds the models that are linearised: their Hessian is held in
	// full.
	mostParameters = 500
	// nearMode is how far the point that is taken for the mode may be from it, in
	// standard deviations of the linearised posterior.
	nearMode = 1e-3
)

// Linearise returns the Gaussian problem that approximates a posterior near its
// mode θ̂. Its K batches are those of a chain with the given seed; batch i has the
// gradient G_i(θ̂) + H_i(θ − θ̂), H_i the Hessian of its scaled potential at θ̂. A
// normal posterior is its own linearisation. Linearise takes over the target; too
// many parameters, or no mode that is found, are usage errors.
func Linearise(name string, t models.Target, batches int, friction float64, seed uint64) (p *Problem, err error) {
	defer child.Catch(&err)
	if d := t.Dim(); d > mostParameters {
		return nil, usage.Errorf("%s has %d parameters: want at most %d", name, d, mostParameters)
	}
	if err := checkProblem(friction, batches); err != nil {
		return nil, err
	}
	mode, err := modeOf(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p = &Problem{Name: name, Kind: Gaussian, Friction: friction}
	if _, normal := t.(models.LinearGaussian); !normal {
		p.assumed = "the posterior and its batches are their linearisation at the mode"
	}
	visit := func(int, *rand.Rand) minibatch.Index { return nil } // only the arrangement counts
	t.Arrange(minibatch.Partition(t.Rows(), batches, noise.New(seed, noise.StreamBatches).Rand(), visit).Arrangement())
	for i := range batches {
		b := minibatch.Cut(t.Rows(), batches, i)
		p.gaussian = append(p.gaussian, tangent(t, mode, models.Rows{Lo: b.Lo, Hi: b.Hi, Scale: b.Scale}))
	}
	return p, p.checkMean()
}

// modeOf returns the mode that estimators find, if Newton's method would not move it.
func modeOf(t models.Target) ([]float64, error) {
	forces, err := estimators.NewForces(t, integrators.Method{})
	if err != nil {
		return nil, err
	}
	mode, err := forces.Mode()
	if err != nil {
		return nil, err
	}
	at, d := tangent(t, mode, models.Rows{Lo: 0, Hi: t.Rows(), Scale: 1}), len(mode)
	g, step := mat.NewVecDense(d, gradient(at, mode)), mat.NewVecDense(d, nil)
	var chol mat.Cholesky
	if !chol.Factorize(mat.NewSymDense(d, at.Precision)) || chol.SolveVecTo(step, g) != nil || !(math.Sqrt(mat.Dot(g, step)) <= nearMode) {
		return nil, usage.Errorf("no mode was found: the potential is not smooth and convex where the search ended: networks have none")
	}
	return mode, nil
}

// tangent is the force of rows linearised at a position.
func tangent(t models.Target, at []float64, rows models.Rows) *affineForce {
	d := len(at)
	f := newAffineForce(make([]float64, d*d), make([]float64, d))
	product, unit, column := models.Curvature(t, at, rows), make([]float64, d), make([]float64, d)
	for j := range d {
		unit[j] = 1
		product(column, unit)
		unit[j] = 0
		for i, v := range column { // differences of gradients are not symmetric to the bit
			f.Precision[i*d+j] += v / 2
			f.Precision[j*d+i] += v / 2
		}
	}
	t.Gradient(column, at, rows)
	f.HessianVector(f.Shift, nil, at)
	floats.Sub(f.Shift, column)
	return f
}

// directions is how many of a problem's principal directions stand for all where
// these are too many.
const directions = 4

// projected is a Gaussian problem along a few of its principal directions, evenly
// from the softest to the stiffest. The mean force has no part across them; what the
// batches' have is left out.
func (p *Problem) projected() (*Problem, error) {
	mean := meanAffine(p.gaussian)
	f, err := newFrame(mean, nil)
	if err != nil {
		return nil, err
	}
	var eig mat.EigenSym
	if !eig.Factorize(mat.NewSymDense(f.d, mean.Precision), true) {
		return nil, illConditioned()
	}
	var all mat.Dense
	eig.VectorsTo(&all)
	some := mat.NewDense(f.d, directions, nil)
	for j := range directions {
		some.SetCol(j, mat.Col(nil, j*(f.d-1)/(directions-1), &all))
	}
	out := &Problem{Name: p.Name, Kind: Gaussian, Friction: p.Friction}
	for _, b := range p.gaussian {
		var precision, turned mat.Dense
		precision.Product(some.T(), matrix(b), some)
		turned.Add(&precision, precision.T())
		turned.Scale(0.5, &turned)
		var pull mat.VecDense
		pull.MulVec(some.T(), mat.NewVecDense(f.d, gradient(b, f.centre)))
		pull.ScaleVec(-1, &pull)
		out.gaussian = append(out.gaussian, newAffineForce(turned.RawMatrix().Data, pull.RawVector().Data))
	}
	return out, nil
}
