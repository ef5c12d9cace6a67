package spectral

import (
	"math"
	"slices"

	"hambench/certify/probe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// basis is the products p_a(θ) q_b(r), a/A + b/B ≤ 1 with A and B the degrees,
// orthonormal under a space's law, with quadrature rules for both. With auxiliary
// variables, q is a product of polynomials of r and of each of them, and its degree
// the sum of theirs.
type basis struct {
	degrees
	space  *space
	pairs  [][2]int    // a and which q, by q first
	widths []int       // how many pairs there are of each q
	theta  gaussRule   // of θ
	others productRule // of r and the auxiliary variables

	target   []float64   // the coefficients of the target
	observed [][]float64 // of each observable
	missing  []float64   // what the target's coefficients miss of each observable's mean

	// unseen is what the polynomials do not reach of the curvature of the mean or of a batch, as a
	// share of its length, where that is largest: what a step does beyond an affine one.
	unseen float64
}

// newBasis makes the basis of some degrees in a space, with the target and the observables in
// it.
func (e *Engine) newBasis(s *space, d degrees) *basis {
	// A product of two polynomials has twice their degree: one node more than
	// the degree does for an affine force. The others are for curved ones.
	thetaNodes, rNodes := d.theta+d.theta/3+6, d.r+8
	b := &basis{degrees: d, space: s, theta: s.theta.orthogonal(thetaNodes).gauss(thetaNodes),
		others: newProductRule(s.others, d.r, rNodes)}
	// The triangle a/A + k/B ≤ 1, k the degree of q, which polynomials of a total degree fill.
	for q, powers := range b.others.powers {
		k, width := total(powers), 0
		// a/A + k/B ≤ 1 in whole numbers.
		for a := 0; a*d.r+k*d.theta <= d.theta*d.r; a++ {
			b.pairs = append(b.pairs, [2]int{a, q})
			width++
		}
		b.widths = append(b.widths, width)
	}
	// In the target's own space the target is the constant function, and no mean is missed.
	for _, o := range e.observed {
		b.observed = append(b.observed, b.coefficients(s, o))
	}
	b.unseen = b.beyond(s.theta, e.mean.curvature)
	for _, u := range e.mean {
		b.unseen = max(b.unseen, b.beyond(s.theta, u.Curvature))
	}
	b.target, b.missing = make([]float64, len(b.pairs)), make([]float64, len(b.observed))
	b.target[0] = 1
	// The target is the constant function.
	if s == e.narrow {
		return b
	}
	// In a wider space the target is a product of its expansions in θ and in r.
	// The coefficient of a density in an orthonormal polynomial is that polynomial's mean under it.
	byTheta := b.means(e.narrow.theta, func(float64) float64 { return 1 })
	byR := make([]float64, len(b.others.powers))
	byR[0] = 1 // all that there is of auxiliary variables, whose law in the target is any
	// E q_k(r) for r ~ N(0, 1), q_k orthonormal under N(0, sd²): 0 for odd k, and by the recurrence
	// of Hermite's polynomials for even ones. Without a tail there are auxiliary variables, and the
	// momentum's own law is the target's.
	for k := 2; k <= d.r && e.tail != nil; k += 2 {
		narrower := 1/(s.others[0].sd*s.others[0].sd) - 1
		byR[k] = byR[k-2] * narrower * math.Sqrt(float64(k-1)/float64(k))
	}
	for i, pair := range b.pairs {
		b.target[i] = byTheta[pair[0]] * byR[pair[1]]
	}
	for i, o := range e.observed {
		b.missing[i] = floats.Dot(b.observed[i], b.target) - o.mean
	}
	return b
}

// means returns the means of f·p_a under a density, for all a: by its grid, since neither is a
// polynomial.
func (b *basis) means(under *density, f func(float64) float64) []float64 {
	c, p := make([]float64, b.widths[0]), make([]float64, b.widths[0])
	for i, x := range under.x {
		if w := under.w[i]; w > 1e-40 { // below, p² w is round-off
			b.theta.values(p, x)
			floats.AddScaled(c, w*f(x), p)
		}
	}
	return c
}

// beyond is the length of what polynomials do not reach of a function of θ, under a density, as a
// share of the function's.
func (b *basis) beyond(under *density, f func(float64) float64) float64 {
	c, p, left, all := b.means(under, f), make([]float64, b.widths[0]), 0.0, 0.0
	for i, x := range under.x {
		if w := under.w[i]; w > 1e-40 {
			b.theta.values(p, x)
			off := f(x) - floats.Dot(c, p)
			left, all = left+w*off*off, all+w*f(x)*f(x)
		}
	}
	return math.Sqrt(left / all)
}

// coefficients expands an observable in the basis of a space, so that its mean under a law is
// the scalar product with the law's coefficients.
func (b *basis) coefficients(s *space, o scalarObservable) []float64 {
	c := make([]float64, len(b.pairs))
	if o.of == nil {
		for power, x := range s.others[o.variable].power(o.power) {
			c[slices.Index(b.pairs, [2]int{0, b.others.only(o.variable, power)})] = x
		}
		return c
	}
	copy(c, b.means(s.theta, o.of)) // the pairs of degree 0 in r come first
	return c
}

// stepsTogether bounds the steps that are taken together.
const stepsTogether = 1 << 15

// matrix returns a step's Galerkin matrix ⟨φ_a, E φ_b(step)⟩, by which laws, as
// rows of coefficients relative to the space's law, are multiplied from the right:
// that of the step with the noise that passes through the force, times one for
// each normal that is merely added. Those are kept from one batch to the next.
func (b *basis) matrix(step *probe.Transition, parts noiseParts,
	additions map[added]*mat.Dense) galerkin {
	m := b.project(step, parts)
	for _, a := range parts.outside {
		if additions[a] == nil {
			additions[a] = b.project(probe.NewTransition(step.In, a, nil), noiseParts{normals: 1,
				inside: [][]float64{{1}}})
		}
		var next mat.Dense
		next.Mul(m, additions[a])
		m = &next
	}
	return galerkin{m}
}

// project is the matrix of a step (as many rows and columns as pairs), by quadrature over θ, the
// other variables, and the noise inside the force.
func (b *basis) project(step *probe.Transition, noise noiseParts) *mat.Dense {
	n, nr := len(b.pairs), len(b.others.nodes) // basis functions, and nodes but those of θ
	xi, weights := noise.nodes(b.degrees)
	byTheta, byR := b.theta.weighted(b.degrees.theta+1), b.others.weighted()
	m, image := mat.NewDense(n, n, nil), mat.NewDense(nr, n, nil)
	count := nr * len(xi) // outcomes from one θ
	p, q := rows(count, b.degrees.theta+1), rows(count, len(b.widths))
	theta, rest := make([]float64, count), make([][]float64, count)
	var inner mat.Dense
	var outcomes [][]float64 // of the nodes of θ that come next
	// For each node of θ: where steps lead, what the basis is there, and its projection.
	for i := range b.theta.nodes {
		if len(outcomes) == 0 {
			// A sampler in another process is asked for many steps at once.
			together := max(1, stepsTogether/(nr*len(xi)))
			outcomes = b.outcomes(step, b.theta.nodes[i:min(i+together, len(b.theta.nodes))], xi)
		}
		for l, z := range outcomes[:count] { // from θ_i, where each step ends
			theta[l], rest[l] = z[0], z[1:]
		}
		b.theta.tabulate(p, theta)
		b.others.tabulate(q, rest)
		outcomes = outcomes[count:]
		image.Zero() // E φ(step) at the nodes (θ_i, r_j), a row for each j
		for l := range count {
			// Noises change first, so that l/len(weights) is the node of the other variables.
			row, w, at := image.RawRowView(l/len(weights)), weights[l%len(weights)], 0
			for k, v := range q[l] { // pairs are in the order of q
				floats.AddScaled(row[at:at+b.widths[k]], w*v, p[l][:b.widths[k]])
				at += b.widths[k]
			}
		}
		// Project on q_b' first, then on p_a': a factor of the degree in r cheaper
		// than on their products.
		inner.Mul(byR.T(), image)
		for row, pair := range b.pairs {
			floats.AddScaled(m.RawRowView(row), byTheta.At(i, pair[0]), inner.RawRowView(pair[1]))
		}
	}
	return m
}

// outcomes are where a step goes from given positions, with all nodes of the other variables
// and all noises, which change first.
func (b *basis) outcomes(step *probe.Transition, thetas []float64, noises [][]float64) [][]float64 {
	count := len(thetas) * len(b.others.nodes) * len(noises)
	z, xi := make([][]float64, 0, count), make([][]float64, 0, count)
	for _, theta := range thetas {
		for _, others := range b.others.nodes {
			from := b.space.state(theta, others)
			for _, noise := range noises {
				z, xi = append(z, slices.Clone(from)), append(xi, noise)
			}
		}
	}
	step.Apply(z, xi)
	for i := range z {
		z[i] = b.space.coordinates(step.In, z[i])
	}
	return z
}

// galerkin applies a step to laws as rows of coefficients: ν is the density relative
// to the space's law in the basis. In its own space the target is (1, 0, …, 0).
type galerkin struct{ *mat.Dense }

// AddTo adds w times the image of a row of coefficients.
func (g galerkin) AddTo(dst []float64, w float64, law []float64) {
	vector := func(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }
	blas64.Gemv(blas.Trans, w, g.RawMatrix(), vector(law), 1, vector(dst))
}
