package integrators

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// gaussian is the force ∇U = Pθ − s with everything that a scheme may ask for.
type gaussian struct{ affine *Affine }

func newGaussian(precision, shift []float64) gaussian {
	return gaussian{&Affine{Precision: precision, Shift: shift}}
}

func (f gaussian) Gradient(g, theta []float64) {
	f.HessianVector(g, theta, theta)
	for i := range g {
		g[i] -= f.affine.Shift[i]
	}
}

func (f gaussian) HessianVector(hv, _, v []float64) {
	d := len(v)
	for i := range hv {
		sum := 0.0
		for j := range v {
			sum += f.affine.Precision[i*d+j] * v[j]
		}
		hv[i] = sum
	}
}

func (f gaussian) Affine() *Affine { return f.affine }

// target is a Gaussian problem with its mass matrix.
type target struct {
	name    string
	force   gaussian
	invMass []float64
	c       float64
}

// targets have unequal precisions, off-diagonal elements, and a mass matrix
// that commutes with neither.
func targets() []target {
	return []target{
		{"1-D", newGaussian([]float64{1.7}, []float64{0.6}), []float64{0.8}, 1.3},
		{"3-D", newGaussian(
			[]float64{2, 0.3, -0.2, 0.3, 1.5, 0.1, -0.2, 0.1, 0.7},
			[]float64{1, -0.5, 0.2}), []float64{0.6, 1, 1.4}, 1.1},
		{"3-D identity mass", newGaussian(
			[]float64{2, 0.3, -0.2, 0.3, 1.5, 0.1, -0.2, 0.1, 0.7},
			[]float64{1, -0.5, 0.2}), nil, 1.1},
	}
}

// affineMap is z⁺ = M z + c + N ξ on z = (θ, r).
type affineMap struct {
	m, n *mat.Dense
	c    *mat.VecDense
}

// probe finds the affine map of one outer step by unit states and noises.
func probe(in *Instance, f Force, dim int) affineMap {
	normals := in.Integrator.Needs.Normals
	step := func(z, xi []float64) *mat.VecDense {
		s := &State{Theta: append([]float64(nil), z[:dim]...), R: append([]float64(nil), z[dim:]...)}
		noise := &replay{xi: xi}
		in.OuterSteps(s, func() Force { return f }, noise, 1)
		if noise.at != len(xi) {
			panic("probe: the step did not use the normals that it claims")
		}
		if in.Integrator.PositionOnly {
			clear(s.R) // no part of the state: it must not matter where it was
		}
		return mat.NewVecDense(2*dim, append(append([]float64(nil), s.Theta...), s.R...))
	}
	z, xi := make([]float64, 2*dim), make([]float64, normals*dim)
	a := affineMap{m: mat.NewDense(2*dim, 2*dim, nil), n: mat.NewDense(2*dim, len(xi), nil), c: step(z, xi)}
	column := func(dst *mat.Dense, v []float64) {
		for j := range v {
			v[j] = 1
			out := step(z, xi)
			v[j] = 0
			out.SubVec(out, a.c)
			dst.SetCol(j, out.RawVector().Data)
		}
	}
	column(a.m, z)
	column(a.n, xi)
	return a
}

// stationary solves the mean's fixed point and Σ = MΣMᵀ + NNᵀ, by doubling.
func (a affineMap) stationary(t *testing.T) (mean *mat.VecDense, cov *mat.Dense) {
	t.Helper()
	n, _ := a.m.Dims()
	var id mat.Dense
	id.CloneFrom(a.m)
	id.Scale(-1, &id)
	for i := range n {
		id.Set(i, i, 1+id.At(i, i))
	}
	mean = new(mat.VecDense)
	if err := mean.SolveVec(&id, a.c); err != nil {
		t.Fatalf("mean: %v", err)
	}
	cov, pow := new(mat.Dense), mat.DenseCopyOf(a.m)
	cov.Mul(a.n, a.n.T())
	for range 40 { // 2⁴⁰ steps
		var half, next mat.Dense
		half.Mul(pow, cov)
		next.Mul(&half, pow.T())
		cov.Add(cov, &next)
		next.Mul(pow, pow)
		pow.Copy(&next)
	}
	return mean, cov
}

// lawErrors are the largest absolute errors of a stationary law.
type lawErrors struct{ mean, theta, joint float64 }

func (p target) errors(t *testing.T, in *Instance) lawErrors {
	t.Helper()
	d := len(p.force.affine.Shift)
	mean, cov := probe(in, p.force, d).stationary(t)
	trueMean, trueCov := p.law(t)
	var e lawErrors
	for i := range 2 * d {
		e.mean = max(e.mean, math.Abs(mean.AtVec(i)-trueMean.AtVec(i)))
		for j := range 2 * d {
			err := math.Abs(cov.At(i, j) - trueCov.At(i, j))
			if i < d && j < d {
				e.theta = max(e.theta, err)
			}
			if i < d && j < d || !in.Integrator.PositionOnly {
				e.joint = max(e.joint, err)
			}
		}
	}
	return e
}

// law is the true stationary law: θ ~ N(P⁻¹s, P⁻¹), r ~ N(0, M).
func (p target) law(t *testing.T) (*mat.VecDense, *mat.Dense) {
	t.Helper()
	d := len(p.force.affine.Shift)
	precision := mat.NewDense(d, d, p.force.affine.Precision)
	mean, cov := mat.NewVecDense(2*d, nil), mat.NewDense(2*d, 2*d, nil)
	var inv mat.Dense
	if err := inv.Inverse(precision); err != nil {
		t.Fatal(err)
	}
	cov.Slice(0, d, 0, d).(*mat.Dense).Copy(&inv)
	mean.SliceVec(0, d).(*mat.VecDense).MulVec(&inv, mat.NewVecDense(d, p.force.affine.Shift))
	for i := range d {
		m := 1.0
		if p.invMass != nil {
			m = p.invMass[i]
		}
		cov.Set(d+i, d+i, 1/m)
	}
	return mean, cov
}

// newAt makes the integrator of a target.
func (p target) newAt(t *testing.T, m Integrator, h float64, inner int) *Instance {
	t.Helper()
	in, err := m.New(len(p.force.affine.Shift), Params{Step: h, Friction: p.c, Inner: inner, InvMass: p.invMass})
	if err != nil {
		t.Fatal(err)
	}
	in.Freeze()
	return in
}

// roundOff bounds what double precision leaves of an exact law: a few hundred
// operations on numbers of order 1 through a solve of condition 1/h.
const roundOff = 1e-12

// order is the local slope of errors at h and h/2; +Inf at round-off.
func order(coarse, fine float64) float64 {
	if coarse < roundOff {
		return math.Inf(1)
	}
	return math.Log2(coarse / fine)
}

// ergodicOrders are local slopes at small steps, whose own error of order h is
// extrapolated away.
func (p target) ergodicOrders(t *testing.T, build func(h float64) *Instance) (joint, theta float64) {
	t.Helper()
	const h = 0.02
	a, b, c := p.errors(t, build(h)), p.errors(t, build(h/2)), p.errors(t, build(h/4))
	slope := func(a, b, c float64) float64 {
		if a < roundOff {
			return math.Inf(1)
		}
		return 2*order(b, c) - order(a, b)
	}
	return slope(a.joint, b.joint, c.joint), slope(a.theta, b.theta, c.theta)
}
