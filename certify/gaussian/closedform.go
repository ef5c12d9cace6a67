package gaussian

import (
	"gonum.org/v1/gonum/mat"
)

// ClosedForm returns the term of order η² that random orders of the batches
// (reshuffle) add to the mean and to the covariance, in the frame, of a chain whose
// steps follow each batch's own dynamics exactly, at the ends of epochs: its
// coefficients of η². To that order the stationary density of θ is proportional to
//
//	exp(−U − (Kη²/12) · E_i (∇U_i − ∇U)ᵀM⁻¹(∇U_i − ∇U)),
//
// ∇U_i the scaled gradient of batch i, K their number: the term does not depend
// on the friction, grows like K, and vanishes where the batches' gradients
// differ by constants.
func (g *Engine) ClosedForm() (mean *mat.VecDense, cov *mat.Dense) {
	// KE_i(…) = xᵀAx + 2bᵀx + const, x in the frame, A and b sums over the batches:
	// the covariance there, I, becomes I − η²A/6, the mean −η²b/6.
	d := g.frame.d
	mean, cov = mat.NewVecDense(d, nil), mat.NewDense(d, d, nil)
	root := mat.NewDiagDense(d, g.frame.root)
	for i, differs := range g.differs {
		var bent, square mat.Dense
		var pull, product mat.VecDense
		bent.Mul(root, differs)
		square.Mul(bent.T(), &bent)
		cov.Add(cov, &square)
		pull.MulVec(root, mat.NewVecDense(d, g.moved[i].Shift))
		product.MulVec(bent.T(), &pull)
		mean.SubVec(mean, &product) // a shift is the negative of a gradient at the centre
	}
	mean.ScaleVec(-1./6, mean)
	cov.Scale(-1./6, cov)
	return mean, cov
}
