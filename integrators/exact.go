package integrators

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

var exactIntegrator = Define(Integrator{
	Name:  "exact",
	About: "exact flow of a linear-Gaussian batch",
	Claims: Claims{
		WeakOrder: math.Inf(1), ErgodicOrder: math.Inf(1), PositionOrder: math.Inf(1),
		QuasiSymplectic: true,
		Source:          "Franzese et al. 2022, App. E.2 (toy example, analytical integrators)",
	},
	Needs: Needs{Affine: true, Normals: 2},
}, func(dim int, p Params) (Stepper, Stepper) { return newExact(dim, p), nil })

// exact moves by the exact law of the linear stochastic equation over a step,
//
//	z ← e^{hA}(z − z̄) + z̄ + n,   n ~ N(0, Σ(h)),
//
// for z = (θ, r) and a force ∇U(θ) = Pθ − s, z̄ = (P⁻¹s, 0). What depends on the
// force is worked out once per *Affine and kept.
//
// With M a multiple of I, the eigenvectors of P decouple the equation into one
// of two variables per mode. With any other M, friction CM⁻¹ and stiffness
// need not have eigenvectors in common, and the whole flow is used.
type exact struct {
	dim   int
	p     Params
	flows map[*Affine]affineFlow
	// most bounds the number of flows kept. When it is reached all are dropped: a
	// scheme that changes its batches never asks for the old ones.
	most int

	// xi1 and xi2 hold normals, x the deviation from the mean, y the momentum, u and v
	// the deviation and the momentum along the eigenvectors.
	xi1, xi2, x, y, u, v []float64
}

// affineFlow is the flow of one force: the mean P⁻¹s, and the law of the deviation
// from it over a step.
type affineFlow struct {
	mean []float64
	// A flow of modes has vectors (row-major, an eigenvector per column) and
	// diagonals in flow; a dense flow has no vectors and square matrices.
	vectors []float64
	flow    linearFlow
}

// The flows kept take, with the forces that they are of, about keptNumbers numbers, 256 MB, or
// fewestFlows flows if that is more, which is enough for a small number of batches of any
// dimension. flowOverhead is what slices and the map take for each flow, in numbers.
const (
	keptNumbers  = 1 << 25
	fewestFlows  = 64
	flowOverhead = 100
)

func newExact(dim int, p Params) *exact {
	v := vectors(6, dim)
	s := &exact{
		dim: dim, p: p, flows: make(map[*Affine]affineFlow),
		xi1: v[0], xi2: v[1], x: v[2], y: v[3], u: v[4], v: v[5],
	}
	matrices := 8 // the precision, and the blocks of a dense flow
	if _, modes := s.uniformMass(); modes {
		matrices = 2 // the precision and its eigenvectors
	}
	s.most = max(fewestFlows, keptNumbers/(matrices*dim*dim+9*dim+flowOverhead))
	return s
}

// Step panics if f is no AffineForce, or breaks that interface's contract.
func (s *exact) Step(z *State, f Force, n Noise) {
	a := needAffine(f).Affine()
	flow, ok := s.flows[a]
	if !ok {
		var err error
		if flow, err = s.derive(a); err != nil {
			panic("integrators: affine force: " + err.Error())
		}
		if len(s.flows) >= s.most {
			clear(s.flows)
		}
		s.flows[a] = flow
	}
	n.Normal(s.xi1)
	n.Normal(s.xi2)
	for i, mean := range flow.mean {
		s.x[i] = z.Theta[i] - mean
	}
	// Either way z.Theta gets the deviation from the mean, which is added below.
	if flow.vectors != nil {
		s.stepModes(z, &flow)
	} else {
		s.stepDense(z, &flow)
	}
	for i, mean := range flow.mean {
		z.Theta[i] += mean
	}
}

// stepModes moves the deviation s.x in the basis of the eigenvectors, where the normals
// are drawn, too: an orthogonal map leaves their law as it is.
func (s *exact) stepModes(z *State, a *affineFlow) {
	clear(s.u)
	clear(s.v)
	addProduct(blas.Trans, s.u, a.vectors, s.x)
	addProduct(blas.Trans, s.v, a.vectors, z.R)
	l := &a.flow
	for i, u := range s.u {
		v := s.v[i]
		s.u[i] = l.tt[i]*u + l.tr[i]*v + l.ntr[i]*s.xi1[i] + l.ntt[i]*s.xi2[i]
		s.v[i] = l.rt[i]*u + l.rr[i]*v + l.nrr[i]*s.xi1[i]
	}
	clear(z.Theta)
	clear(z.R)
	addProduct(blas.NoTrans, z.Theta, a.vectors, s.u)
	addProduct(blas.NoTrans, z.R, a.vectors, s.v)
}

// stepDense moves the deviation s.x by the blocks of the flow.
func (s *exact) stepDense(z *State, a *affineFlow) {
	// r goes into both lines, so that the old one is kept; the old θ is in x.
	copy(s.y, z.R)
	clear(z.Theta)
	clear(z.R)
	l := &a.flow
	addProduct(blas.NoTrans, z.Theta, l.tt, s.x)
	addProduct(blas.NoTrans, z.Theta, l.tr, s.y)
	addProduct(blas.NoTrans, z.Theta, l.ntr, s.xi1)
	addProduct(blas.NoTrans, z.Theta, l.ntt, s.xi2)
	addProduct(blas.NoTrans, z.R, l.rt, s.x)
	addProduct(blas.NoTrans, z.R, l.rr, s.y)
	addProduct(blas.NoTrans, z.R, l.nrr, s.xi1)
}

// derive works out the flow of a force. It returns an error for an Affine of other sizes
// than dim, and for a precision that is not positive definite.
func (s *exact) derive(a *Affine) (affineFlow, error) {
	d := s.dim
	if len(a.Precision) != d*d || len(a.Shift) != d {
		return affineFlow{}, fmt.Errorf("precision of %d and shift of %d numbers in %d dimensions",
			len(a.Precision), len(a.Shift), d)
	}
	precision := mat.NewSymDense(d, slices.Clone(a.Precision))
	var chol mat.Cholesky
	if !chol.Factorize(precision) {
		return affineFlow{}, errors.New("its precision is not positive definite")
	}
	mean := mat.NewVecDense(d, nil)
	// An error where P is singular to working precision, too: its mean would be round-off.
	if err := chol.SolveVecTo(mean, mat.NewVecDense(d, a.Shift)); err != nil {
		return affineFlow{}, err
	}
	out := affineFlow{mean: mean.RawVector().Data}
	var err error
	if m, ok := s.uniformMass(); ok {
		out.vectors, out.flow, err = modeFlows(precision, m, s.p.Friction, s.p.Step)
	} else {
		out.flow, err = newLinearFlow(precision, s.p.InvMass, s.p.Friction, s.p.Step)
	}
	return out, err
}

// uniformMass returns the inverse mass if it is the same for all coordinates.
func (s *exact) uniformMass() (float64, bool) {
	if s.p.InvMass == nil {
		return 1, true
	}
	least, most := slices.Min(s.p.InvMass), slices.Max(s.p.InvMass)
	return least, least == most
}

// modeFlows returns the eigenvectors of a precision and the flows of its
// modes, whose elements are diagonals.
func modeFlows(precision *mat.SymDense, m, friction, h float64) ([]float64, linearFlow, error) {
	var all linearFlow
	var eigen mat.EigenSym
	if !eigen.Factorize(precision, true) {
		return nil, all, errors.New("no eigenvalues of its precision were found")
	}
	for _, k := range eigen.Values(nil) {
		mode, err := newLinearFlow(mat.NewSymDense(1, []float64{k}), []float64{m}, friction, h)
		if err != nil {
			return nil, all, err
		}
		all.append(mode)
	}
	var v mat.Dense
	eigen.VectorsTo(&v)
	return v.RawMatrix().Data, all, nil
}

// addProduct adds the product of a square row-major matrix, or of its
// transpose, with x to dst, which must not be x.
func addProduct(t blas.Transpose, dst, a, x []float64) {
	n := len(x)
	blas64.Gemv(t, 1, blas64.General{Rows: n, Cols: n, Stride: n, Data: a},
		blas64.Vector{N: n, Inc: 1, Data: x}, 1, blas64.Vector{N: n, Inc: 1, Data: dst})
}
