package certify

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/minibatch"
	"hambench/usage"
)

// ClosedForm is the term of order η² that random orders of the batches
// (reshuffle) add to the errors of a chain whose steps follow each batch's own
// dynamics exactly, at the ends of epochs. To that order the stationary density
// of θ is proportional to
//
//	exp(−U − (Kη²/12) · E_i (∇U_i − ∇U)ᵀM⁻¹(∇U_i − ∇U)),
//
// ∇U_i the scaled gradient of batch i, K their number: the term does not depend
// on the friction, grows like K, and vanishes where the batches' gradients
// differ by constants.
type ClosedForm struct {
	Mean []float64 // Gaussian problems: of the mean
	Cov  []float64 // Gaussian problems: of the covariance, row-major
	// Scalar problems: of the expectations of functions of θ, by the names of
	// the spectral engine's observables.
	Expectations map[string]float64
}

// ClosedForm returns the errors' coefficients of η². invMass is the diagonal of
// M⁻¹; nil is the identity. A problem without a density, and a mass for a scalar
// problem, are usage errors.
func (p *Problem) ClosedForm(invMass []float64) (ClosedForm, error) {
	if p.Kind == Scalar {
		return p.scalarForm(invMass)
	}
	f, err := newFrame(meanAffine(p.gaussian), invMass)
	if err != nil {
		return ClosedForm{}, err
	}
	// E (∇U_i − ∇U)ᵀM⁻¹(∇U_i − ∇U) = xᵀAx + 2bᵀx + const, x = θ − μ.
	d := f.d
	inverse := mat.NewDiagDense(d, floats.MulTo(make([]float64, d), f.root, f.root))
	whole := mat.NewDense(d, d, meanAffine(p.gaussian).affine.Precision)
	a, b, cov := mat.NewDense(d, d, nil), mat.NewVecDense(d, nil), mat.NewDense(d, d, nil)
	for _, batch := range p.gaussian {
		var square, differs, weighed mat.Dense
		var pulled mat.VecDense
		differs.Sub(mat.NewDense(d, d, batch.affine.Precision), whole)
		weighed.Mul(&differs, inverse)
		square.Mul(&weighed, &differs)
		pulled.MulVec(&weighed, mat.NewVecDense(d, gradient(batch, f.centre)))
		a.Add(a, &square)
		b.AddVec(b, &pulled)
	}
	// The sums are K times the means: −(Kη²/6) times the mean is −(η²/6) times
	// the sum.
	cov.Mul(f.colour, f.colour.T())
	out := ClosedForm{Mean: make([]float64, d), Cov: make([]float64, d*d)}
	mean, spread := mat.NewVecDense(d, out.Mean), mat.NewDense(d, d, out.Cov)
	mean.MulVec(cov, b)
	mean.ScaleVec(-1.0/6, mean)
	var half mat.Dense
	half.Mul(cov, a)
	spread.Mul(&half, cov)
	spread.Scale(-1.0/6, spread)
	return out, nil
}

// closedForm returns the sizes of the closed form's errors, as the row's
// observables measure them, of a chain that it is the expansion of.
func (c *certification) closedForm() (map[string]Number, error) {
	e, ok := c.asked.engine.(*gaussianEngine)
	_, random := c.scheme.Visits.(minibatch.Permutation)
	if o := c.options; !ok || !random || !c.asked.method.Claims.Affine || o.EveryStep || c.amplified != nil {
		return nil, nil
	}
	form, err := c.options.Problem.ClosedForm(c.options.InvMass)
	if err != nil {
		return nil, err
	}
	white, d := e.frame.white, e.frame.d
	var cov mat.Dense
	cov.Product(white, mat.NewDense(d, d, form.Cov), white.T())
	return map[string]Number{
		"theta.mean": Number(floats.Norm(e.frame.toWhite(form.Mean), 2)), "theta.cov": Number(stretch(cov.RawMatrix().Data)),
	}, nil
}

// scalarForm is −(K/12) times the covariance of an observable with
// E(U_i′ − U′)².
func (p *Problem) scalarForm(invMass []float64) (ClosedForm, error) {
	if invMass != nil {
		return ClosedForm{}, usage.Errorf("closed form of problem %q: inverse mass for a scalar problem: want a Gaussian one", p.Name)
	}
	target, err := scalarMean(p.scalar).density()
	if err != nil {
		return ClosedForm{}, err
	}
	spread, average := gradientSpread(p.scalar, target)
	out := ClosedForm{Expectations: make(map[string]float64)}
	for _, o := range scalarObservables {
		if o.of == nil {
			continue
		}
		sum := 0.0
		for j, x := range target.x {
			sum += target.w[j] * (spread[j] - average) * o.of(x)
		}
		out.Expectations[o.name] = -float64(len(p.scalar)) / 12 * sum
	}
	return out, nil
}
