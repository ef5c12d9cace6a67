package certify

import (
	"math"
	"slices"

	"hambench/certify/gaussian"
	"hambench/certify/markov"
	"hambench/certify/spectral"
	"hambench/integrators"
	"hambench/usage"
)

// Kind says which engine takes a problem.
type Kind string

const (
	// Gaussian problems have affine batch gradients P_i θ − s_i.
	Gaussian Kind = "gaussian"
	// Scalar problems have one position and a potential that need not be quadratic.
	Scalar Kind = "scalar"
	// Crossing problems have two positions and a minimum that is no point; nothing is computed
	// of them but what the law of orders predicts.
	Crossing Kind = "crossing"
)

// Problem is a target cut into batches, with the friction of the dynamics. U
// is the mean over the batches, whose gradients are the scaled ones.
type Problem struct {
	Name     string
	Kind     Kind
	Friction float64 // C > 0

	// Of a problem's kind, one a batch; the others are empty.
	gaussian []*integrators.Affine // the forces P_i θ − s_i
	scalar   spectral.Mean         // the potentials
	valleys  []spectral.Valley     // the potentials
}

// Batches is the number K of batches.
func (p *Problem) Batches() int { return max(len(p.gaussian), len(p.scalar), len(p.valleys)) }

// Dim is the number of positions.
func (p *Problem) Dim() int {
	switch p.Kind {
	case Scalar:
		return 1
	case Crossing:
		return 2
	}
	return len(p.gaussian[0].Shift)
}

// Frequencies returns the lowest and the highest frequency ω of the target, per unit of time:
// the square roots of the extreme eigenvalues of M^−½ ∇²U M^−½, ∇²U that of a typical point. Of
// problems that are not Gaussian both are the root of the mean curvature under the target. invMass
// is the diagonal of M⁻¹, nil for the identity. They are NaN where none are found.
func (p *Problem) Frequencies(invMass []float64) (low, high float64) {
	switch p.Kind {
	case Scalar:
		omega := p.scalar.Frequency()
		return omega, omega
	case Crossing:
		e, err := spectral.NewCrossing(p.valleys, p.Friction)
		if err != nil {
			return math.NaN(), math.NaN()
		}
		return e.Frequency(), e.Frequency()
	}
	root := slices.Repeat([]float64{1}, p.Dim())
	for i, m := range invMass {
		root[i] = math.Sqrt(m)
	}
	return gaussian.Frequencies(gaussian.Mean(p.gaussian), root)
}

// Damping is the fastest rate of friction, the largest element of C M⁻¹; invMass as for
// Frequencies.
func (p *Problem) Damping(invMass []float64) float64 {
	if invMass == nil {
		return p.Friction
	}
	return p.Friction * slices.Max(invMass)
}

// checkMean refuses a problem whose batches have no mean that is a target. Each of
// them need not be one.
func (p *Problem) checkMean() error {
	if p.Kind == Gaussian && !gaussian.IsDefinite(gaussian.Mean(p.gaussian)) {
		return usage.Errorf("mean precision of the batches is not positive definite: want a " +
			"mean that is")
	}
	if p.Kind == Crossing {
		_, err := spectral.NewCrossing(p.valleys, p.Friction)
		return err
	}
	// Far out the oscillations do not count.
	stiffness := 0.0
	for _, o := range p.scalar {
		stiffness += o.Stiffness
	}
	if p.Kind == Scalar && !(stiffness > 0) {
		return usage.Errorf("mean stiffness of the batches is %v: want a number > "+
			"0", stiffness/float64(len(p.scalar)))
	}
	return nil
}

// checkProblem refuses a friction that is no finite number above 0, and a problem without
// batches.
func checkProblem(friction float64, batches int) error {
	if !(friction > 0) || math.IsInf(friction, 0) {
		return usage.Errorf("friction %v: want a finite number > 0", friction)
	}
	if batches == 0 {
		return usage.Errorf("batches: none given: want at least 1")
	}
	return nil
}

// checkSymmetric refuses a matrix (row-major, dim × dim) that is not symmetric, naming the two
// elements that differ, counted from 1.
func checkSymmetric(p []float64, dim int) error {
	scale := markov.Largest(p)
	for i := range dim {
		for j := i + 1; j < dim; j++ {
			// Probing and decimal input leave the last bits free.
			if d := math.Abs(p[i*dim+j] - p[j*dim+i]); !(d <= 1e-12*scale) {
				return usage.Errorf("precision is not symmetric: elements (%d,%d) = %v and "+
					"(%d,%d) = %v: want a symmetric matrix",
					i+1, j+1, p[i*dim+j], j+1, i+1, p[j*dim+i])
			}
		}
	}
	return nil
}

// affine reports whether every batch's force is affine, and definite whether each
// has a law of its own, which its exact flow tends to.
func (p *Problem) affine() (affine, definite bool) {
	definite = true
	// Of the two lists of batches that of the other kind is empty, and decides nothing.
	if p.Kind == Crossing || !p.scalar.Affine() {
		return false, false
	}
	for _, o := range p.scalar {
		definite = definite && o.Stiffness > 0
	}
	for _, f := range p.gaussian {
		definite = definite && gaussian.IsDefinite(f)
	}
	return true, definite
}
