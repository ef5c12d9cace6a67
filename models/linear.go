package models

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/internal/kernel"
	"hambench/models/datasets"
	"hambench/usage"
)

// The features of the linear model on one input (paper, appendix "Synthetic
// regression example"). The frequencies are draws from N(0, 1/ℓ²), so that the
// prior of f approximates a Gaussian process with the kernel exp(−(x − x')²/2ℓ²):
// Rahimi & Recht 2007, random features of a shift-invariant kernel.
const (
	trigonometric     = 256  // D, the number of features
	linearLengthScale = 0.1  // ℓ, in units of x; the paper does not state it
	linearSeed        = 2022 // of the frequencies
)

// linear is f(x) = wᵀφ(x) with Gaussian noise and the prior N(0, I) on w. On one
// input φ_d(x) = √(2/D) cos(ω_d x − π/4), on more φ(x) = (1, x). The posterior is
// N(m, P⁻¹), P = I + ΦᵀΦ/σ², m = P⁻¹Φᵀy/σ² (Bishop 2006, equations 3.50 and 3.51,
// with α = 1 and β = 1/σ²).
type linear struct {
	scores
	// The observations of the glm are −y, so that a residual Φw − y is a sum.
	glm
	variance float64 // σ²
	// programs compute derivatives over contiguous rows, by the number of rows; an
	// entry is nil until it is first used. frame has the slices that they work on.
	kernels  kernel.Set
	programs []*linearPrograms
	frame    [][]float64
	law      *linearLaw // the posterior, on first use
}

// newLinear returns a usage error if the posterior's precision is so badly
// conditioned that its inverse would be inaccurate.
func newLinear(s *datasets.Split, o Options) (Target, error) {
	phi, minusY := withOnes, slices.Clone(s.TrainY) // the features of inputs, and the −y of glm
	if s.Features == 1 {
		phi = cosines
	}
	floats.Scale(-1, minusY)
	train := phi(s.TrainX, s.Features)
	t := &linear{
		scores:   scores{s},
		glm:      newGLM(features(s.Shape()), train, minusY, phi(s.TestX, s.Features)),
		variance: s.NoiseVariance, kernels: o.kernels(),
		programs: make([]*linearPrograms, len(minusY)+1), frame: make([][]float64, slotCount),
	}
	t.frame[slotResidual] = kernel.Aligned[float64](t.Rows())
	if 1+floats.Dot(train, train)/t.variance < wellConditioned {
		return t, nil
	}
	return t, t.solve()
}

// wellConditioned is a condition number up to which a Cholesky decomposition in
// float64 does not fail. That of P = I + ΦᵀΦ/σ² is at most 1 + tr(ΦᵀΦ)/σ², which
// costs one pass over Φ; the decomposition is then left until it is needed.
const wellConditioned = 1e12

// features is the number of features of the linear model on data of a shape.
func features(s datasets.Shape) int {
	if s.Features == 1 {
		return trigonometric
	}
	return s.Features + 1
}

// frequencies returns ω, rounded to six decimals, so that they are the same numbers
// on processors whose arithmetic differs in the last bits.
func frequencies() []float64 {
	rng := rand.New(rand.NewPCG(linearSeed, 0))
	omega := make([]float64, trigonometric)
	for d := range omega {
		omega[d] = math.Round(rng.NormFloat64()/linearLengthScale*1e6) / 1e6
	}
	return omega
}

// cosines returns the trigonometric features of inputs x, row-major, len(x) × D.
func cosines(x []float64, _ int) []float64 {
	omega := frequencies()
	phi := make([]float64, 0, len(x)*len(omega))
	for _, v := range x {
		for _, w := range omega {
			phi = append(phi, math.Sqrt(2/float64(len(omega)))*math.Cos(w*v-math.Pi/4))
		}
	}
	return phi
}

func (t *linear) Name() string { return "linear" }

// Parameters implements Named; the weights of random features have no names.
func (t *linear) Parameters() []string {
	if t.split.Features == 1 {
		return nil
	}
	return t.affineParameters()
}

// Loss implements Likelihood.
func (t *linear) Loss(theta []float64) float64 { return t.Potential(theta) - halfSquares(theta) }

// Potential returns ½|w|² + |Φw − y|²/2σ².
func (t *linear) Potential(theta []float64) float64 {
	checkLen(t.dim, theta)
	var squares float64
	for i, y := range t.observed() {
		r := dot(t.phi.row(i), theta) + y
		squares += r * r
	}
	return halfSquares(theta) + squares/(2*t.variance)
}

// Gradient stores w + (Scale/σ²) ΦᵀV(Φw − y), with the rows' weights on V's diagonal.
func (t *linear) Gradient(g, theta []float64, rows Rows) {
	checkLen(t.dim, g, theta)
	t.derive(g, theta, rows, true)
}

// HessianVector stores v + (Scale/σ²) ΦᵀVΦv, at any θ.
func (t *linear) HessianVector(hv, theta, v []float64, rows Rows) {
	checkLen(t.dim, hv, theta, v)
	t.derive(hv, v, rows, false)
}

// Affine returns P = I + (Scale/σ²) ΦᵀVΦ and s = (Scale/σ²) ΦᵀVy over the rows,
// with their weights on the diagonal of V.
func (t *linear) Affine(rows Rows) (precision, shift []float64) {
	t.check(rows)
	w := rows.Scale / t.variance
	precision, shift = make([]float64, t.dim*t.dim), make([]float64, t.dim)
	for i := rows.Lo; i < rows.Hi; i++ {
		phi, v := t.phi.row(i), t.weight(i)
		for d, p := range phi {
			addOuter(precision[d*t.dim:(d+1)*t.dim], v, p, phi)
		}
		floats.AddScaled(shift, -w*v*t.y.now[i], phi)
	}
	// Scaling comes last, so that P is symmetric to the bit.
	floats.Scale(w, precision)
	for d := range t.dim {
		precision[d*t.dim+d]++
	}
	return precision, shift
}

// addOuter adds v(px) to y. The product px is rounded before it is weighted, so that
// the sum of weighted xxᵀ stays symmetric to the bit.
func addOuter(y []float64, v, p float64, x []float64) {
	if v == 1 {
		floats.AddScaled(y, p, x)
		return
	}
	for e, q := range x {
		y[e] += v * (p * q)
	}
}

// linearLaw is the posterior N(m, P⁻¹), P = UᵀU, and the law N(φᵀm, φᵀP⁻¹φ) that it
// implies for each output.
type linearLaw struct {
	mean           []float64         // m
	factor         blas64.Triangular // U
	outputs, sdOut []float64         // mean and standard deviation of each output
}

// posterior returns the posterior, decomposed on first use. Chains do not need it.
func (t *linear) posterior() *linearLaw {
	if t.law == nil {
		if err := t.solve(); err != nil {
			// newLinear has solved whatever is not well conditioned.
			panic("models: " + err.Error())
		}
	}
	return t.law
}

// solve stores the posterior. It returns a usage error if the precision has no
// Cholesky factor, or one whose condition leaves no digits of the mean.
func (t *linear) solve() error {
	precision, shift := t.Affine(Rows{Lo: 0, Hi: t.Rows(), Scale: 1})
	law, ok := newLinearLaw(precision, shift, t.test)
	if !ok {
		return usage.Errorf("model \"linear\": noise variance %g leaves the posterior's precision "+
			"without an accurate inverse: want a larger one", t.variance)
	}
	t.law = law
	return nil
}

// newLinearLaw returns the law of θ with precision P and mean P⁻¹s, and that of outputs φᵀθ,
// whose features φ are row-major. ok is false if P has no accurate inverse.
func newLinearLaw(precision, shift, features []float64) (law *linearLaw, ok bool) {
	dim := len(shift)
	var chol mat.Cholesky
	var m mat.VecDense
	if !chol.Factorize(mat.NewSymDense(dim, precision)) ||
		chol.SolveVecTo(&m, mat.NewVecDense(dim, shift)) != nil {
		return nil, false
	}
	var u mat.TriDense
	chol.UTo(&u)
	law = &linearLaw{mean: m.RawVector().Data, factor: u.RawTriangular()}
	for i := 0; i < len(features); i += dim {
		phi := slices.Clone(features[i : i+dim])
		law.outputs = append(law.outputs, dot(phi, law.mean))
		// φᵀP⁻¹φ = |U⁻ᵀφ|² by one triangular solve, since P = UᵀU.
		blas64.Trsv(blas.Trans, law.factor, blas64.Vector{N: dim, Data: phi, Inc: 1})
		law.sdOut = append(law.sdOut, math.Sqrt(2*halfSquares(phi)))
	}
	return law, true
}

// PredictiveMarginals returns φᵀm and √(φᵀP⁻¹φ) of each test input.
func (t *linear) PredictiveMarginals() (mean, sd []float64) {
	return t.posterior().PredictiveMarginals()
}

// DrawPosterior stores a draw of the posterior for the standard normals in dst.
func (t *linear) DrawPosterior(dst []float64) {
	checkLen(t.dim, dst)
	t.posterior().DrawPosterior(dst)
}

// PredictiveMarginals implements Analytic.
func (law *linearLaw) PredictiveMarginals() (mean, sd []float64) { return law.outputs, law.sdOut }

// DrawPosterior turns independent standard normals z into m + U⁻¹z: its covariance is
// U⁻¹U⁻ᵀ = P⁻¹.
func (law *linearLaw) DrawPosterior(z []float64) {
	blas64.Trsv(blas.NoTrans, law.factor, blas64.Vector{N: len(z), Data: z, Inc: 1})
	floats.AddScaled(z, 1, law.mean)
}

// linearPrograms compute the derivatives over a number n of contiguous rows: first
// r, by residual or by product, then the sum.
type linearPrograms struct {
	residual *kernel.Program[float64] // r = Φw − y
	product  *kernel.Program[float64] // r = Φv
	sum      *kernel.Program[float64] // result = vector + Φᵀr
}

// Slots of the frame.
const (
	slotPhi      = iota // Φ, n × D
	slotMinusY          // −y
	slotVector          // w, or v of a Hessian-vector product
	slotResidual        // r
	slotResult          // the gradient, or the product
	slotCount
)

// derive stores, in dst, x + w ΦᵀV(Φx − y), or x + w ΦᵀVΦx if not residual, over the
// rows; w is their scale over σ², and V has their weights on its diagonal. Only with 256
// features are there machine programs; of others it is a loop over rows.
func (t *linear) derive(dst, x []float64, rows Rows, residual bool) {
	t.check(rows)
	n := rows.Hi - rows.Lo
	if n == 0 {
		copy(dst, x)
		return
	}
	if t.dim != trigonometric {
		copy(dst, x)
		for i := rows.Lo; i < rows.Hi; i++ {
			r := dot(t.phi.row(i), x)
			if residual {
				r += t.y.now[i]
			}
			floats.AddScaled(dst, rows.Scale/t.variance*t.weight(i)*r, t.phi.row(i))
		}
		return
	}
	// Batches have one or two sizes, so that few programs are built.
	if t.programs[n] == nil {
		t.programs[n] = newLinearPrograms(t.kernels, n)
	}
	t.frame[slotPhi], t.frame[slotMinusY] = t.phi.now[rows.Lo*t.dim:], t.y.now[rows.Lo:]
	t.frame[slotVector], t.frame[slotResult] = x, dst
	if residual {
		t.programs[n].residual.Run(t.frame)
	} else {
		t.programs[n].product.Run(t.frame)
	}
	r := t.frame[slotResidual][:n]
	floats.Scale(rows.Scale/t.variance, r)
	// Rows of a gathered list, which lie behind those of the data, have weights.
	if first := rows.Lo - t.Rows(); first >= 0 {
		floats.Mul(r, t.weights[first:first+n])
	}
	t.programs[n].sum.Run(t.frame)
}

// newLinearPrograms writes the programs for n rows. Φw is a column of inner
// products, one for each row; Φᵀr is one row of outputs across the features.
func newLinearPrograms(set kernel.Set, n int) *linearPrograms {
	at := func(slot int) kernel.Operand { return kernel.Operand{Slice: slot} }
	dots := kernel.Product{
		Form: kernel.ByColumns, M: n, N: 1, Scale: 1,
		C: at(slotResidual), CRow: 1, Epilogue: kernel.Store, H: at(slotMinusY),
		Terms: []kernel.Term{
			{K: trigonometric, A: at(slotPhi), ARow: trigonometric, B: at(slotVector)},
		},
	}
	program := kernel.NewProgram[float64]
	p := &linearPrograms{residual: program(set), product: program(set), sum: program(set)}
	p.product.Product(dots)
	dots.Epilogue = kernel.Add
	p.residual.Product(dots)
	p.sum.Product(kernel.Product{
		M: 1, N: trigonometric, Scale: 1,
		C: at(slotResult), CRow: trigonometric, Epilogue: kernel.Add, H: at(slotVector),
		Terms: []kernel.Term{{
			K: n, A: at(slotResidual), ARow: n, ACol: 1, B: at(slotPhi), BRow: trigonometric,
		}},
	})
	return p
}
