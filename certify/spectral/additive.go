package spectral

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/certify/markov"
	"hambench/certify/probe"
	"hambench/integrators"
	"hambench/integrators/noise"
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
	reach   float64     // how far the second of two moves the outcome, over the target's deviations
	outside []added     // what the other directions add
}

// insideAbove is the change of ∂z⁺/∂ξ over states above which a direction
// counts as passing through the force; differences are good to about 1e-12.
const insideAbove = 1e-10

// separateNoise finds the parts by the derivative of the step with respect
// to its noise, at random states and noises. sd is the target's deviation. The
// noise of a step with auxiliary variables counts as inside, all of it.
func separateNoise(step *probe.Transition, sd float64) noiseParts {
	m := step.Normals
	parts := noiseParts{normals: m}
	if m == 0 {
		return parts
	}
	if probe.Auxiliary(step.In) > 0 {
		parts.reach = math.Inf(1)
		for l := range m {
			parts.inside = append(parts.inside, markov.Unit(m, l))
		}
		return parts
	}
	// What ∂z⁺/∂ξ changes by from state to state spans the directions inside.
	jacobians := noiseJacobians(step, 4*m+1)
	// The first state is compared with 4m others, two rows (of θ⁺ and r⁺) each.
	changes := mat.NewDense(8*m, m, nil)
	for p, j := range jacobians[1:] {
		changes.Slice(2*p, 2*p+2, 0, m).(*mat.Dense).Sub(j, jacobians[0])
	}
	var svd mat.SVD
	if !svd.Factorize(changes, mat.SVDFullV) {
		panic("spectral: singular values of a noise's derivative did not converge")
	}
	var v mat.Dense
	svd.VTo(&v)
	// Singular values that are round-off are of directions that are merely added: half of what
	// a step up such a direction leads away from a step down.
	var z, xi [][]float64
	for l, sigma := range svd.Values(nil) {
		direction := mat.Col(nil, l, &v)
		if sigma > insideAbove {
			parts.inside = append(parts.inside, direction)
			continue
		}
		z = append(z, make([]float64, 2), make([]float64, 2))
		xi = append(xi, direction, floats.ScaleTo(make([]float64, m), -1, direction))
	}
	step.Apply(z, xi)
	var outside []added
	for ; len(z) > 0; z = z[2:] {
		outside = append(outside, added{(z[0][0] - z[1][0]) / 2, (z[0][1] - z[1][1]) / 2})
	}
	parts.outside = principal(outside) // two matrices do for any number of normals
	if len(parts.inside) == 2 {
		parts.rotate(jacobians, sd)
	}
	return parts
}

// rotate turns two directions inside such that the second adds nothing to r
// itself: what it does to the outcome, by way of θ, is of a higher order in the
// step, and few nodes do for it.
func (n *noiseParts) rotate(jacobians []*mat.Dense, sd float64) {
	a, b := n.inside[0], n.inside[1]
	r := jacobians[0].RawRowView(1) // ∂r⁺/∂ξ, which the first direction takes whole
	along, across := floats.Dot(r, a), floats.Dot(r, b)
	if length := math.Hypot(along, across); length > 0 {
		mixed := func(x, y float64) []float64 {
			out := floats.ScaleTo(make([]float64, len(a)), x/length, a)
			return floats.AddScaledTo(out, out, y/length, b)
		}
		n.inside = [][]float64{mixed(along, across), mixed(-across, along)}
	}
	// How far a unit of the second direction moves the outcome, in deviations of the target.
	for _, j := range jacobians {
		theta := floats.Dot(j.RawRowView(0), n.inside[1])
		r := floats.Dot(j.RawRowView(1), n.inside[1])
		n.reach = max(n.reach, math.Hypot(theta/sd, r))
	}
}

// noiseJacobians are ∂(θ⁺, r⁺)/∂ξ (2 × m) at count random states and noises, by
// five-point differences, whose error is of the fourth power of delta.
func noiseJacobians(step *probe.Transition, count int) []*mat.Dense {
	const delta = 0.01
	rng := rand.New(rand.NewPCG(5, 6)) // any points do
	m := step.Normals
	var z, xi [][]float64
	for range count {
		theta, r, at := rng.NormFloat64(), rng.NormFloat64(), noise.Normals(rng, m)
		for l := range m {
			// Four points for each derivative, in the order in which they are used below.
			for _, shift := range []float64{delta, -delta, 2 * delta, -2 * delta} {
				moved := slices.Clone(at)
				moved[l] += shift
				z, xi = append(z, []float64{theta, r}), append(xi, moved)
			}
		}
	}
	step.Apply(z, xi)
	out := make([]*mat.Dense, count)
	for p := range out {
		out[p] = mat.NewDense(2, m, nil)
		for l := range m {
			for row := range 2 {
				out[p].Set(row, l, (8*(z[0][row]-z[1][row])-(z[2][row]-z[3][row]))/(12*delta))
			}
			z = z[4:]
		}
	}
	return out
}

// principal returns at most two additions whose sum has the same law as that
// of all the given ones.
func principal(all []added) []added {
	// One that goes along the sum in r, and one of θ alone with the rest of the covariance.
	r := 0.0
	for _, v := range all {
		r = math.Hypot(r, v[1])
	}
	// A noise of θ alone needs no turning.
	if r == 0 {
		return all // of θ alone
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
	// Else one and the same normal, but for round-off.
	if rest > 1e-14*r {
		out = append(out, added{rest, 0})
	}
	return out
}

// added is the step that adds a fixed multiple of a normal to θ (the first number) and to r. It
// is comparable, so that equal additions share a matrix.
type added [2]float64

// Step adds the noise.
func (a added) Step(z *integrators.State, _ integrators.Force, n integrators.Noise) {
	var xi [1]float64
	n.Normal(xi[:])
	z.Theta[0] += a[0] * xi[0]
	z.R[0] += a[1] * xi[0]
}

// nodes returns Gauss–Hermite nodes for the noise that passes through the force,
// as numbers for the whole step, and their weights: enough for each direction
// for the degree in r and for what of the degree in θ the noise of one step
// reaches, or as many as the bound on all nodes allows; for a second direction,
// no more than it reaches.
func (n noiseParts) nodes(d degrees) (xi [][]float64, weights []float64) {
	q := d.r/2 + d.theta/6 + 4 // nodes a direction
	// All directions together have no more than maxNoiseNodes.
	for q > 3 && math.Pow(float64(q), float64(len(n.inside))) > maxNoiseNodes {
		q--
	}
	xi, weights = [][]float64{make([]float64, n.normals)}, []float64{1}
	// A product rule, direction by direction.
	for l, direction := range n.inside {
		if l == 1 && len(n.inside) == 2 {
			q = min(q, nodesFor(n.reach, d))
		}
		rule := hermite(q).gauss(q)
		var moved [][]float64
		var products []float64
		// Every node so far, moved along this direction to every node of the rule.
		for i, from := range xi {
			for j, x := range rule.nodes {
				at := floats.AddScaledTo(make([]float64, n.normals), from, x, direction)
				moved = append(moved, at)
				products = append(products, weights[i]*rule.weights[j])
			}
		}
		xi, weights = moved, products
	}
	return xi, weights
}

// nodesFor is how many nodes average polynomials of the degrees over a normal
// that moves their argument by reach: q nodes leave the derivatives of the order
// 2q, each of which is at most about √(2·degree), over q!.
func nodesFor(reach float64, d degrees) int {
	// term is x^q/q!, √x the reach times a derivative's bound.
	term, x := 1.0, 2*float64(d.theta+d.r)*reach*reach
	for q := 1; ; q++ {
		term *= x / float64(q)
		if term < markov.Epsilon || q > d.theta+d.r {
			return q + 1
		}
	}
}
