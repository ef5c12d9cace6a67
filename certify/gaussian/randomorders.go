package gaussian

import (
	"gonum.org/v1/gonum/mat"
)

// RandomOrders is what docs/theory.md says of random orders of the batches, in the frame: the
// coefficients of h² of theta.mean, theta.cov and joint.cov for the potential
// U + ch² E δᵀM⁻¹δ, and the momentum's covariance wh² E δδᵀ more, δ the difference of a batch's
// gradient from the mean.
func (g *Engine) RandomOrders(c, w float64) [][]float64 {
	// E δᵀM⁻¹δ = xᵀAx − 2bᵀx + const, x in the frame: the covariance there, I, becomes
	// I − 2ch²A, the mean 2ch²b.
	d, k := g.frame.d, float64(len(g.differs))
	mean, cov := mat.NewVecDense(d, nil), mat.NewDense(d, d, nil)
	joint := mat.NewDense(2*d, 2*d, nil)
	heat := joint.Slice(d, 2*d, d, 2*d).(*mat.Dense)
	root := mat.NewDiagDense(d, g.frame.root)
	for i, differs := range g.differs {
		var bent, square mat.Dense
		var pull, product mat.VecDense
		bent.Mul(root, differs) // M^−½δ is bent·x − pull
		square.Mul(bent.T(), &bent)
		cov.Add(cov, &square)
		pull.MulVec(root, mat.NewVecDense(d, g.moved[i].Shift))
		product.MulVec(bent.T(), &pull)
		mean.AddVec(mean, &product)
		// The momentum in the frame is M^−½r, and E M^−½δδᵀM^−½ = bent·bentᵀ + pull·pullᵀ.
		square.Mul(&bent, bent.T())
		heat.Add(heat, &square)
		square.Outer(1, &pull, &pull)
		heat.Add(heat, &square)
	}
	mean.ScaleVec(2*c/k, mean)
	cov.Scale(-2*c/k, cov)
	heat.Scale(w/k, heat)
	joint.Slice(0, d, 0, d).(*mat.Dense).Copy(cov)
	return [][]float64{mean.RawVector().Data, cov.RawMatrix().Data, joint.RawMatrix().Data}
}
