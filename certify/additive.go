package certify

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"hambench/integrators"
)

// noiseParts is a step's noise in one position and one momentum, cut in two:
// directions in which it only adds a fixed multiple of a normal to the
// outcome, whatever the state, and the others, which pass through the force.
// The first kind is a convolution with a Gaussian, which keeps the degree of
// a polynomial: its Galerkin matrix is exact, and the same for all batches.
// So only the second kind needs quadrature nodes inside the force.
type noiseParts struct {
	normals int         // numbers that a step takes
	inside  [][]float64 // orthonormal directions in noise space that pass through the force
	outside []added
}

// insideAbove is the change of ∂z⁺/∂ξ over states above which a direction
// counts as passing through the force; differences are good to about 1e-12.
const insideAbove = 1e-10

// separateNoise finds the parts by the derivative of the step with respect
// to its noise, at random states and noises.
func separateNoise(s integrators.Stepper, f integrators.Force) noiseParts {
	parts := noiseParts{normals: countNormals(s, f)}
	m := parts.normals
	if m == 0 {
		return parts
	}
	rng := rand.New(rand.NewPCG(5, 6)) // any points do
	first := noiseJacobian(s, f, m, rng)
	changes := mat.NewDense(8*m, m, nil)
	for p := range 4 * m {
		j := noiseJacobian(s, f, m, rng)
		for row := range 2 {
			for l := range m {
				changes.Set(2*p+row, l, j.At(row, l)-first.At(row, l))
			}
		}
	}
	var svd mat.SVD
	if !svd.Factorize(changes, mat.SVDFullV) {
		panic("certify: singular values of a noise's derivative did not converge")
	}
	var v mat.Dense
	svd.VTo(&v)
	var outside []added
	for l, sigma := range svd.Values(nil) {
		direction := mat.Col(nil, l, &v)
		if sigma > insideAbove {
			parts.inside = append(parts.inside, direction)
		} else {
			outside = append(outside, addedBy(s, f, direction))
		}
	}
	parts.outside = principal(outside)
	return parts
}

// addedBy returns what a unit of noise in a direction adds to the outcome.
func addedBy(s integrators.Stepper, f integrators.Force, direction []float64) added {
	at := func(sign float64) added {
		xi := append([]float64(nil), direction...)
		scale(xi, sign)
		z := integrators.NewState(1)
		s.Step(z, f, &replay{xi: xi})
		return added{z.Theta[0], z.R[0]}
	}
	up, down := at(1), at(-1)
	return added{(up[0] - down[0]) / 2, (up[1] - down[1]) / 2}
}

// noiseJacobian is ∂(θ⁺, r⁺)/∂ξ (2 × m) at a random state and noise, by
// five-point differences.
func noiseJacobian(s integrators.Stepper, f integrators.Force, m int, rng *rand.Rand) *mat.Dense {
	const delta = 0.01
	theta, r, xi := rng.NormFloat64(), rng.NormFloat64(), make([]float64, m)
	for l := range xi {
		xi[l] = rng.NormFloat64()
	}
	at := func(l int, shift float64) [2]float64 {
		moved := append([]float64(nil), xi...)
		moved[l] += shift
		z := &integrators.State{Theta: []float64{theta}, R: []float64{r}}
		s.Step(z, f, &replay{xi: moved})
		return [2]float64{z.Theta[0], z.R[0]}
	}
	j := mat.NewDense(2, m, nil)
	for l := range m {
		up, down, farUp, farDown := at(l, delta), at(l, -delta), at(l, 2*delta), at(l, -2*delta)
		for row := range 2 {
			j.Set(row, l, (8*(up[row]-down[row])-(farUp[row]-farDown[row]))/(12*delta))
		}
	}
	return j
}

// principal returns at most two additions whose sum has the same law as that
// of all the given ones.
func principal(all []added) []added {
	r := 0.0
	for _, v := range all {
		r = math.Hypot(r, v[1])
	}
	if r == 0 {
		return all // of θ alone, which no known scheme has
	}
	along := 0.0 // the part of θ that moves with r
	for _, v := range all {
		along += v[0] * v[1] / r
	}
	rest := 0.0
	for _, v := range all {
		rest = math.Hypot(rest, v[0]-along*v[1]/r)
	}
	out := []added{{along, r}}
	if rest > 1e-14*r { // else one and the same normal, but for round-off
		out = append(out, added{rest, 0})
	}
	return out
}

// added is the step that adds a fixed multiple of a normal to θ and to r.
type added [2]float64

// Step adds the noise.
func (a added) Step(z *integrators.State, _ integrators.Force, n integrators.Noise) {
	var xi [1]float64
	n.Normal(xi[:])
	z.Theta[0] += a[0] * xi[0]
	z.R[0] += a[1] * xi[0]
}
