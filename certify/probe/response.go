package probe

import (
	"math"

	"hambench/integrators"
)

// Response says how a step answers to the gradient of its batch. Friction and noise apart, a
// step η under the force Pθ takes (θ, r) to
//
//	θ⁺ = θ + ηM⁻¹r − (1 − Acts)η² M⁻¹Pθ + …
//	r⁺ = r − ηP(θ + Seen·ηM⁻¹r) + Pairs·η³ PM⁻¹Pθ + …
//
// Random orders of batches know no more of a step: see Coefficient. For a word of kicks and
// drifts, kick a of weight w_a after drifts of total length t_a, Seen and Acts are Σ_a w_a t_a,
// and Pairs is ½ Σ_a Σ_b w_a w_b |t_a − t_b|.
type Response struct {
	Seen  float64 // where on its way the position is at which the gradient is taken
	Acts  float64 // when on its way the gradient moves the momentum
	Pairs float64 // how much a gradient changes those that the step takes later
}

// NewResponse measures the response of an integrator's kernel that takes one batch and has no
// auxiliary variables. of returns the integrator for a step, in one dimension, of mass 1 and
// of the friction given. The second result is whether a small step is to first order one of
// dθ = r dt, dr = −∇U dt, without which there is no such response.
func NewResponse(friction float64, of func(h float64) (*integrators.Instance, error)) (Response,
	bool, error) {
	// The numbers are those of no friction and no curvature, in units of the step.
	h := responseFriction / friction
	in, err := of(h)
	if err != nil {
		return Response{}, false, err
	}
	var change [4][3]float64 // of θ by θ, of θ by r, of r by r, of r by θ over −x; at x by x
	parts, weights := Mixture(in.Kernel)
	for i := range change[0] {
		// x is Pη² in the formulas of Response, whose numbers are slopes in x: Acts − 1 of θ by θ,
		// −Seen of r by r, and −Pairs of r by θ over −x. The slope of θ by r has none of them.
		x := responseCurvature * float64(i+1)
		force := integrators.NewAffine([]float64{x / (h * h)}, []float64{0})
		for n, part := range parts {
			step := NewTransition(in, part, force)
			z := [][]float64{{1, 0}, {0, 1 / h}}
			step.Apply(z, [][]float64{make([]float64, step.Normals), make([]float64, step.Normals)})
			// Of (1, 0) and (0, 1/h), each result in the unit that makes it 1 to first order.
			for j, v := range []float64{z[0][0], z[1][0], z[1][1] * h, -z[0][1] * h / x} {
				change[j][i] += weights[n] * v
			}
		}
	}
	var slopes [4]float64
	for j, y := range change { // the parabola through the three values, where x = 0
		if !(math.Abs(3*y[0]-3*y[1]+y[2]-1) < responseError) {
			return Response{}, false, nil
		}
		slopes[j] = (-5*y[0] + 8*y[1] - 3*y[2]) / (2 * responseCurvature)
	}
	return Response{Seen: -slopes[2], Acts: 1 + slopes[0], Pairs: -slopes[3]}, true, nil
}

const (
	// responseFriction is the friction over a step at which responses are measured, and
	// responseCurvature its curvature, over the step squared. The numbers are off by about the
	// first, by the square of the second, and by rounding over the second.
	responseFriction  = 1e-9
	responseCurvature = 1e-4
	// responseError is how far a step may be off that is one of the dynamics.
	responseError = 1e-5
)

// Coefficient is c of the law of orders (docs/theory.md): under random orders of K batches
// mini-batches act on the target as U + cη² E δᵀM⁻¹δ, δ the difference of a batch's gradient
// from the mean.
func (r Response) Coefficient(batches int) float64 {
	return float64(batches+1)/12 - r.Pairs/2 + (r.Seen-r.Acts)/4
}
