package certify

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/certify/gaussian"
	"hambench/certify/markov"
	"hambench/certify/probe"
	"hambench/integrators"
	"hambench/usage"
)

// Modes are the eigenvectors of a Gaussian target's precision. With the full batch the steps of
// an integrator commute with it, so that each mode is a chain of its own, of one position and
// one momentum: a target of any dimension is exact mode by mode, whose joint law would be too
// large to solve for. The mass is the identity.
type Modes struct {
	precisions []float64 // λ of each mode, ascending
	// shares are, by output, the share of its variance under the target that each mode makes.
	shares [][]float64
}

// NewModes returns the modes of a target with a precision P (row-major, dim × dim, symmetric),
// and what some outputs, linear in the position, have of them: outputs returns their values at a
// position, less those at the origin. A precision that is not positive definite is a usage
// error.
func NewModes(precision []float64, outputs func(theta []float64) []float64) (*Modes, error) {
	dim := int(math.Sqrt(float64(len(precision))))
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(dim, precision), true) || eigen.Values(nil)[0] <= 0 {
		return nil, usage.Errorf("precision is not positive definite: want one that is")
	}
	m := &Modes{precisions: eigen.Values(nil)}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for j, lambda := range m.precisions {
		// A mode of variance 1/λ along an eigenvector e gives output i the variance f_i(e)²/λ.
		for i, v := range outputs(mat.Col(nil, j, &vectors)) {
			if j == 0 {
				m.shares = append(m.shares, make([]float64, dim))
			}
			m.shares[i][j] = v * v / lambda
		}
	}
	for _, share := range m.shares {
		floats.Scale(1/floats.Sum(share), share)
	}
	return m, nil
}

// Distance returns the Kolmogorov distance of the outputs' law under the stationary law of an
// integrator's chain to that under the target, averaged over the outputs: what infinitely many
// draws would have. It is 0 where round-off is as large, and NaN without a stationary law. An
// integrator with variables or needs besides θ, r and Hessian-vector products is a usage error.
func (m *Modes) Distance(of integrators.Integrator, p integrators.Params) (float64, error) {
	changes, err := m.changes(of, p)
	if err != nil || changes == nil {
		return math.NaN(), err
	}
	sum := 0.0
	for _, share := range m.shares {
		// Modes stay independent, so the relative change of an output's variance is the mean of
		// theirs by the shares. Means have no error: steps are affine and the force is centred.
		sum += gaussian.KolmogorovNormal(0, floats.Dot(share, changes))
	}
	d := sum / float64(len(m.shares))
	// A step adds in proportion to its length, and to round-off whatever that is.
	if d < 100*markov.Epsilon/p.Step {
		d = 0
	}
	return d, nil
}

// diagonal is the force of all modes at once: x ↦ λ∘x.
type diagonal []float64

// Gradient stores λ∘x in g.
func (d diagonal) Gradient(g, x []float64) { d.HessianVector(g, nil, x) }

// HessianVector stores λ∘v in hv.
func (d diagonal) HessianVector(hv, _, v []float64) {
	for i, lambda := range d {
		hv[i] = lambda * v[i]
	}
}

// changes are by how much the stationary variance of each mode is larger than under the target,
// relative to that; nil without a stationary law.
func (m *Modes) changes(of integrators.Integrator, p integrators.Params) ([]float64, error) {
	dim := len(m.precisions)
	in, err := of.New(dim, p)
	if err != nil {
		return nil, err
	}
	if of.Mixes() || of.Needs.Affine || of.PositionOnly || in.Refresh != nil || in.Batches != 1 ||
		probe.Auxiliary(in) > 0 || probe.BatchesTaken(in.Kernel) != 1 {
		return nil, usage.Errorf("integrator %q has more than a kernel of θ and r, which modes "+
			"cannot follow", of.Name)
	}
	// Modes are probed side by side. Column k is what the k-th of u, r and the normals becomes,
	// with u = θ√λ, so that the target is N(0, I).
	step := probe.NewTransition(in, in.Kernel, diagonal(m.precisions))
	var columns [][]float64
	for k := range 2 + step.Normals/dim {
		z, xi := make([]float64, 2*dim), make([]float64, step.Normals)
		for i, lambda := range m.precisions {
			switch k {
			case 0:
				z[i] = 1 / math.Sqrt(lambda)
			case 1:
				z[dim+i] = 1
			default:
				xi[(k-2)*dim+i] = 1
			}
		}
		step.Apply([][]float64{z}, [][]float64{xi})
		for i, lambda := range m.precisions {
			z[i] *= math.Sqrt(lambda)
		}
		columns = append(columns, z)
	}
	changes := make([]float64, dim)
	for i := range changes {
		var a [][2]float64 // the columns of the mode's map
		for _, z := range columns {
			a = append(a, [2]float64{z[i], z[dim+i]})
		}
		var stable bool
		if changes[i], stable = change(a); !stable {
			return nil, nil
		}
	}
	return changes, nil
}

// change solves D = ADAᵀ + E, E = AAᵀ + QQᵀ − I, for the change D of a mode's stationary
// covariance from the target's, I, and returns that of its position. The columns are those of A,
// then of Q. The second result is whether there is a stationary law.
func change(columns [][2]float64) (float64, bool) {
	p, s := columns[0][0], columns[0][1]
	q, t := columns[1][0], columns[1][1]
	det, trace := p*t-q*s, p+t
	if !(math.Abs(det) < 1 && math.Abs(trace) < 1+det) { // Jury's criterion
		return 0, false
	}
	e := []float64{-1, 0, -1} // of uu, ur, rr
	for _, c := range columns {
		e[0] += c[0] * c[0]
		e[1] += c[0] * c[1]
		e[2] += c[1] * c[1]
	}
	// (I − A⊗A) on the symmetric D, by its elements uu, ur and rr, with A = (p q; s t).
	system := mat.NewDense(3, 3, []float64{
		1 - p*p, -2 * p * q, -q * q,
		-p * s, 1 - p*t - q*s, -q * t,
		-s * s, -2 * s * t, 1 - t*t,
	})
	var d mat.VecDense
	if err := d.SolveVec(system, mat.NewVecDense(3, e)); err != nil {
		if _, poor := err.(mat.Condition); !poor {
			return 0, false
		}
	}
	return d.AtVec(0), true
}
