package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"hambench/integrators/noise"
	"hambench/internal/rows"
	"hambench/models/datasets"
	"hambench/usage"
)

// linearNet is the network y ~ N(W_L … W_1 x, vI) with the prior N(0, I) on its weights, which
// has a minimum that is no point: its learning coefficient is known. It has data of its own,
// made by weights W_l with ones on the first r places of their diagonals and 0 elsewhere:
// inputs have mean squares 1 and are orthogonal, noise is orthogonal to them, so that over all
// rows the loss is n|W − W₀|²/2v, as of infinitely many rows, and batches differ.
// θ has the layers one after another, each row-major. Outputs are the elements of W.
type linearNet struct {
	widths   []int // inputs, hidden layers, outputs
	rank     int   // r, of W₀
	variance float64
	x, y     []float64 // as given, row-major
	order    []int
	// moments holds Σ xxᵀ and Σ yxᵀ of the rows of the arrangement, by the rows.
	moments map[rows.Range]moments
	squares float64 // Σ |y|²
	// products[l] is W_l … W_1 at the last position, widths[l] × widths[0], from l = 1. back and
	// next hold what a gradient sends back through the layers: matrices of widths[0] columns and
	// as many rows as the layer has, of which Gradient swaps one for the other.
	products   [][]float64
	back, next []float64
}

// moments are sums over rows, row-major.
type moments struct{ xx, yx []float64 }

// linearNetRows is n, and linearNetSeed draws the data.
const linearNetRows, linearNetSeed = 10_000, 2022

// mostWeights bounds the layers of a linear network, whose steps multiply dense matrices.
const mostWeights = 100_000

// linearNetOf reads widths and, behind a slash, the rank of the truth: 5,3,5/2. The rank is 1
// unless stated.
func linearNetOf(m Model, argument string) (Model, error) {
	list, rankText, given := strings.Cut(argument, "/")
	if !given {
		rankText = "1"
	}
	widths, err := m.readWidths(list, "")
	if err != nil {
		return m, err
	}
	weights := numberOfWeights(widths)
	rank, err := strconv.Atoi(rankText)
	switch {
	case len(widths) < 3:
		return m, usage.Errorf("model %q: %d widths: want those of inputs, hidden layers and "+
			"outputs, as in linear-net:5,3,5", m.Name, len(widths))
	case weights > mostWeights || linearNetRows*(widths[0]+widths[len(widths)-1]) > 1e7:
		return m, usage.Errorf("model %q: %d weights: want at most %d, and at most 1000 inputs "+
			"and outputs", m.Name, weights, mostWeights)
	case err != nil || rank < 0 || rank > slices.Min(widths):
		return m, usage.Errorf("model %q: rank %q of the truth: want 0 to %d, the smallest width",
			m.Name, rankText, slices.Min(widths))
	}
	m.Dim = func(datasets.Shape, Options) int { return weights }
	m.New = func(*datasets.Split, Options) (Target, error) {
		return newLinearNet(widths, rank, linearNetRows, 1), nil
	}
	return m, nil
}

// newLinearNet makes the network with data of n rows and noise of variance v.
func newLinearNet(widths []int, rank, n int, v float64) *linearNet {
	in, out := widths[0], widths[len(widths)-1]
	rng := rand.New(rand.NewPCG(linearNetSeed, uint64(n)))
	most := slices.Max(widths)
	t := &linearNet{widths: widths, rank: rank, variance: v,
		x: orthogonal(rng, n, in, nil), order: rows.Identity(n),
		back: make([]float64, most*in), next: make([]float64, most*in)}
	for _, w := range widths {
		t.products = append(t.products, make([]float64, w*in))
	}
	// y = W₀x + √v ε, with ε orthogonal to x: W₀ has ones on the first r places of its diagonal,
	// and so adds x's first r columns to y's.
	t.y = orthogonal(rng, n, out, t.x)
	floats.Scale(math.Sqrt(v), t.y)
	for i := range n {
		floats.Add(t.y[i*out:i*out+rank], t.x[i*in:i*in+rank])
	}
	t.squares = floats.Dot(t.y, t.y)
	t.Arrange(nil)
	return t
}

// orthogonal draws columns of n normals that are orthogonal to those of x, row-major, and to
// one another, each with a mean square of 1 (Gram and Schmidt, twice against round-off).
func orthogonal(rng *rand.Rand, n, columns int, x []float64) []float64 {
	var basis [][]float64 // columns, first those of x
	for j := range len(x) / n {
		column := make([]float64, n)
		for i := range column {
			column[i] = x[i*(len(x)/n)+j]
		}
		basis = append(basis, column)
	}
	drawn := make([]float64, n*columns)
	for j := range columns {
		column := noise.Normals(rng, n)
		for range 2 {
			for _, b := range basis {
				floats.AddScaled(column, -floats.Dot(column, b)/float64(n), b)
			}
		}
		floats.Scale(math.Sqrt(float64(n))/floats.Norm(column, 2), column)
		basis = append(basis, column)
		for i, v := range column {
			drawn[i*columns+j] = v
		}
	}
	return drawn
}

func (t *linearNet) Name() string { return "linear-net" }
func (t *linearNet) Rows() int    { return len(t.order) }

func (t *linearNet) Dim() int { return numberOfWeights(t.widths) }

// numberOfWeights is that of the matrices between layers of some widths.
func numberOfWeights(widths []int) (n int) {
	for l, w := range widths[1:] {
		n += w * widths[l]
	}
	return n
}

// Arrange implements Target.
func (t *linearNet) Arrange(order []int) {
	(&rows.Layout{N: len(t.order)}).CheckOrder(order)
	if order == nil {
		order = rows.Identity(len(t.order))
	}
	copy(t.order, order)
	t.moments = make(map[rows.Range]moments)
}

// The sums kept take about keptSums numbers, 256 MB, with what slices and the map take for each.
const keptSums, sumOverhead = 1 << 25, 32

// of returns the sums over rows, which are kept until the next arrangement, or until they are too
// many: a scheme whose batches begin at any row asks for ever new ones.
func (t *linearNet) of(r Rows) moments {
	(&rows.Layout{N: len(t.order)}).Check(r)
	r.Scale = 1 // which the sums do not depend on: the key is the rows
	if m, ok := t.moments[r]; ok {
		return m
	}
	in, out := t.widths[0], t.widths[len(t.widths)-1]
	m := moments{make([]float64, in*in), make([]float64, out*in)}
	for _, i := range t.order[r.Lo:r.Hi] {
		x, y := t.x[i*in:(i+1)*in], t.y[i*out:(i+1)*out]
		addProduct(m.xx, 1, x, x, in, 1, in)
		addProduct(m.yx, 1, y, x, out, 1, in)
	}
	if (len(t.moments)+1)*(len(m.xx)+len(m.yx)+sumOverhead) > keptSums {
		clear(t.moments)
	}
	t.moments[r] = m
	return m
}

// addProduct adds w a b to c, of the matrices a, m × k, and b, k × n, row-major.
func addProduct(c []float64, w float64, a, b []float64, m, k, n int) {
	for i := range m {
		row := c[i*n : (i+1)*n]
		for p, v := range a[i*k : (i+1)*k] {
			v *= w
			for j, x := range b[p*n : (p+1)*n] {
				row[j] += v * x
			}
		}
	}
}

// layers returns the matrices of a position, which share its numbers, row-major.
func (t *linearNet) layers(theta []float64) (layers [][]float64) {
	checkLen(t.Dim(), theta)
	for l, w := range t.widths[1:] {
		n := w * t.widths[l]
		layers, theta = append(layers, theta[:n:n]), theta[n:]
	}
	return layers
}

// product returns W, out × in, until the next call.
func (t *linearNet) product(theta []float64) []float64 {
	in := t.widths[0]
	// products[l+1] = W_{l+1} products[l]; the first is a copy, since W_1 multiplies the inputs.
	for l, w := range t.layers(theta) {
		p := t.products[l+1]
		if l == 0 {
			copy(p, w)
			continue
		}
		clear(p)
		addProduct(p, 1, w, t.products[l], t.widths[l+1], t.widths[l], in)
	}
	return t.products[len(t.products)-1]
}

// Loss returns Σ|Wx − y|²/2v.
func (t *linearNet) Loss(theta []float64) float64 {
	// Σ|Wx − y|² is tr(W Σxxᵀ Wᵀ) − 2 tr(W Σxyᵀ) + Σ|y|², whose sums are kept.
	w, m := t.product(theta), t.of(Rows{Lo: 0, Hi: t.Rows()})
	in := t.widths[0]
	wxx := make([]float64, len(w))
	addProduct(wxx, 1, w, m.xx, len(w)/in, in, in)
	return (floats.Dot(wxx, w) - 2*floats.Dot(m.yx, w) + t.squares) / (2 * t.variance)
}

// Potential returns Σ|Wx − y|²/2v + |θ|²/2.
func (t *linearNet) Potential(theta []float64) float64 { return t.Loss(theta) + halfSquares(theta) }

// Gradient stores θ + (Scale/v) (W_L … W_{l+1})ᵀ (W Σxxᵀ − Σyxᵀ) (W_{l−1} … W_1)ᵀ, layer by
// layer.
func (t *linearNet) Gradient(g, theta []float64, r Rows) {
	checkLen(t.Dim(), g)
	w, m, in := t.product(theta), t.of(r), t.widths[0]
	scale := r.Scale / t.variance
	// e is the derivative by W, out × in; of what follows, by the product below each layer.
	e := t.back[:len(w)]
	floats.ScaleTo(e, -scale, m.yx)
	addProduct(e, scale, w, m.xx, len(w)/in, in, in)
	layers, to := t.layers(theta), t.layers(g)
	for l := len(layers) - 1; l >= 0; l-- {
		from, out := t.widths[l], t.widths[l+1]
		if l == 0 {
			copy(to[0], e)
			break
		}
		// The gradient of a layer is e times the transposed product below it; then
		// e goes back through the layer.
		before, next := t.products[l], t.next[:from*in]
		clear(next)
		for o := range out {
			row := e[o*in : (o+1)*in]
			for i := range from {
				to[l][o*from+i] = floats.Dot(row, before[i*in:(i+1)*in])
				floats.AddScaled(next[i*in:(i+1)*in], layers[l][o*from+i], row)
			}
		}
		e, t.back, t.next = next, t.next, t.back
	}
	floats.Add(g, theta)
}

func (t *linearNet) Outputs() int { return t.widths[0] * t.widths[len(t.widths)-1] }

// Predict stores W, row-major.
func (t *linearNet) Predict(dst, theta []float64) {
	checkLen(t.Outputs(), dst)
	copy(dst, t.product(theta))
}

// DrawPrior leaves the normals as they are: the prior is N(0, I).
func (t *linearNet) DrawPrior(dst []float64) { checkLen(t.Dim(), dst) }

// Optimum returns the weights that made the data.
func (t *linearNet) Optimum() []float64 {
	theta := make([]float64, t.Dim())
	for l, w := range t.layers(theta) {
		for i := range t.rank {
			w[i*(t.widths[l]+1)] = 1
		}
	}
	return theta
}

// LearningCoefficient returns λ and its multiplicity m at the true product of rank r (Aoyagi
// 2024, theorem 1; of two layers, Aoyagi and Watanabe 2005). Of the widths less r, in order, it
// takes the ℓ + 1 smallest whose sum is below ℓ times the next; with their sum S and
// a = S − (⌈S/ℓ⌉ − 1)ℓ it is
//
//	λ = (r(d_in + d_out) − r²)/2 + a(ℓ − a)/4ℓ − (ℓ − 1)S²/4ℓ + Σ_{i<j} M_i M_j/2
//
// and m = a(ℓ − a) + 1.
func (t *linearNet) LearningCoefficient() (lambda float64, multiplicity int) {
	var left []int
	for _, w := range t.widths {
		left = append(left, w-t.rank)
	}
	slices.Sort(left)
	n, sum := 1, left[0]+left[1] // n is ℓ
	for n+1 < len(left) && sum >= n*left[n+1] {
		sum += left[n+1]
		n++
	}
	a := sum - ((sum+n-1)/n-1)*n
	pairs := sum * sum // less the squares of the M_i: twice the sum over i < j
	for _, m := range left[:n+1] {
		pairs -= m * m
	}
	l, r, s := float64(n), float64(t.rank), float64(sum)
	ends := float64(t.widths[0] + t.widths[len(t.widths)-1])
	lambda = (r*ends-r*r)/2 + float64(a*(n-a))/(4*l) - (l-1)*s*s/(4*l) + float64(pairs)/4
	return lambda, a*(n-a) + 1
}
