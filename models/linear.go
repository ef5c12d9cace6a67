package models

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"hambench/datasets"
	"hambench/internal/kernel"
)

// The features of the linear model (paper, appendix "Synthetic regression
// example"). The frequencies are draws from N(0, 1/ℓ²), so that the prior of f
// approximates a Gaussian process with the kernel exp(−(x − x')²/2ℓ²).
const (
	linearDim         = 256
	linearLengthScale = 0.1  // ℓ, in units of x; the paper does not state it
	linearSeed        = 2022 // of the frequencies
)

// linear is f(x) = wᵀφ(x), φ_d(x) = √(2/D) cos(ω_d x − π/4), with Gaussian noise
// and the prior N(0, I) on w. The posterior is N(m, P⁻¹), P = I + ΦᵀΦ/σ²,
// m = P⁻¹Φᵀy/σ².
type linear struct {
	scores
	listed
	variance float64   // σ²
	given    []float64 // Φ as it was given, row-major, rows × linearDim
	test     []float64 // features of the test inputs
	kernels  linearKernels
	law      *linearLaw // the posterior, on first use
}

func newLinear(s *datasets.Split, o Options) (Target, error) {
	set := kernel.Default()
	if o.Plain {
		set = kernel.Plain()
	}
	omega := frequencies()
	t := &linear{scores: scores{s}, variance: s.NoiseVariance, given: features(s.TrainX, omega), test: features(s.TestX, omega)}
	t.kernels = newLinearKernels(set, s.TrainRows())
	t.Arrange(nil)
	return t, nil
}

// frequencies are rounded, so that they are the same numbers on processors
// whose arithmetic differs in the last bits.
func frequencies() []float64 {
	rng := rand.New(rand.NewPCG(linearSeed, 0))
	omega := make([]float64, linearDim)
	for d := range omega {
		omega[d] = math.Round(rng.NormFloat64()/linearLengthScale*1e6) / 1e6
	}
	return omega
}

func features(x, omega []float64) []float64 {
	phi := make([]float64, 0, len(x)*len(omega))
	for _, v := range x {
		for _, w := range omega {
			phi = append(phi, math.Sqrt(2/float64(len(omega)))*math.Cos(w*v-math.Pi/4))
		}
	}
	return phi
}

func (t *linear) Name() string { return "linear" }
func (t *linear) Dim() int     { return linearDim }
func (t *linear) Rows() int    { return len(t.split.TrainY) }
func (t *linear) Outputs() int { return len(t.test) / linearDim }

func (t *linear) Arrange(order []int) {
	arrange(t.kernels.phi, t.given, linearDim, order)
	arrange(t.kernels.minusY, t.split.TrainY, 1, order)
	floats.Scale(-1, t.kernels.minusY[:t.Rows()])
}

func (t *linear) Gather(index []int, weights []float64) {
	n, k := t.Rows(), &t.kernels
	t.gather(n, index, weights)
	if len(k.phi) == n*linearDim { // the first list
		arranged := k.phi
		k.phi = kernel.Aligned[float64](2 * n * linearDim)
		copy(k.phi, arranged)
	}
	for i, r := range index {
		copy(t.phi(n+i), t.given[r*linearDim:(r+1)*linearDim])
	}
	k.minusY = gather(k.minusY, t.split.TrainY, 1, index)
	floats.Scale(-1, k.minusY[n:])
}

func (t *linear) phi(i int) []float64 { return t.kernels.phi[i*linearDim : (i+1)*linearDim] }

func (t *linear) Potential(theta []float64) float64 {
	checkLen(linearDim, theta)
	var squares float64
	for i, y := range t.kernels.minusY[:t.Rows()] {
		r := dot(t.phi(i), theta) + y
		squares += r * r
	}
	return halfSquares(theta) + squares/(2*t.variance)
}

func (t *linear) Gradient(g, theta []float64, rows Rows) {
	t.check(rows, t.Rows())
	checkLen(linearDim, g, theta)
	t.kernels.run(g, theta, rows.Lo, rows.Hi, rows.Scale/t.variance, t.weightsOf(rows, t.Rows()), true)
}

func (t *linear) HessianVector(hv, theta, v []float64, rows Rows) {
	t.check(rows, t.Rows())
	checkLen(linearDim, hv, theta, v)
	t.kernels.run(hv, v, rows.Lo, rows.Hi, rows.Scale/t.variance, t.weightsOf(rows, t.Rows()), false)
}

func (t *linear) Predict(dst, theta []float64) {
	checkLen(linearDim, theta)
	checkLen(t.Outputs(), dst)
	for i := range dst {
		dst[i] = dot(t.test[i*linearDim:(i+1)*linearDim], theta)
	}
}

func (t *linear) DrawPrior(dst []float64) { checkLen(linearDim, dst) }

func (t *linear) Affine(rows Rows) (precision, shift []float64) {
	t.check(rows, t.Rows())
	w := rows.Scale / t.variance
	precision, shift = make([]float64, linearDim*linearDim), make([]float64, linearDim)
	for i := rows.Lo; i < rows.Hi; i++ {
		phi, v := t.phi(i), t.weight(i, t.Rows())
		for d, p := range phi {
			addOuter(precision[d*linearDim:(d+1)*linearDim], v, p, phi)
		}
		floats.AddScaled(shift, -w*v*t.kernels.minusY[i], phi)
	}
	for i := range precision { // scaled last: so it is symmetric to the bit
		precision[i] *= w
	}
	for d := range linearDim {
		precision[d*linearDim+d]++
	}
	return precision, shift
}

// addOuter adds v(px) to y. px is rounded first, so that xxᵀ weighed stays
// symmetric to the bit.
func addOuter(y []float64, v, p float64, x []float64) {
	if v == 1 {
		floats.AddScaled(y, p, x)
		return
	}
	for e, q := range x {
		y[e] += v * (p * q)
	}
}

// linearLaw is the posterior N(m, P⁻¹), P = UᵀU, with what it says of the
// outputs.
type linearLaw struct {
	mean           []float64 // m
	factor         blas64.Triangular
	outputs, sdOut []float64
}

func (t *linear) posterior() *linearLaw {
	if t.law != nil {
		return t.law
	}
	precision, shift := t.Affine(Rows{0, t.Rows(), 1})
	var chol mat.Cholesky
	if !chol.Factorize(mat.NewSymDense(linearDim, precision)) {
		panic("models: posterior precision is not positive definite") // it is at least I
	}
	var m mat.VecDense
	if err := chol.SolveVecTo(&m, mat.NewVecDense(linearDim, shift)); err != nil {
		panic("models: " + err.Error()) // its condition is below 1e5
	}
	var u mat.TriDense
	chol.UTo(&u)
	law := &linearLaw{mean: m.RawVector().Data, factor: u.RawTriangular()}
	for i := range t.Outputs() {
		phi := slices.Clone(t.test[i*linearDim : (i+1)*linearDim])
		law.outputs = append(law.outputs, dot(phi, law.mean))
		// φᵀP⁻¹φ = |U⁻ᵀφ|²
		blas64.Trsv(blas.Trans, law.factor, blas64.Vector{N: linearDim, Data: phi, Inc: 1})
		law.sdOut = append(law.sdOut, math.Sqrt(2*halfSquares(phi)))
	}
	t.law = law
	return law
}

func (t *linear) PredictiveMarginals() (mean, sd []float64) {
	law := t.posterior()
	return law.outputs, law.sdOut
}

// DrawPosterior stores m + U⁻¹z: its covariance is U⁻¹U⁻ᵀ = P⁻¹.
func (t *linear) DrawPosterior(dst []float64) {
	checkLen(linearDim, dst)
	law := t.posterior()
	blas64.Trsv(blas.NoTrans, law.factor, blas64.Vector{N: linearDim, Data: dst, Inc: 1})
	floats.AddScaled(dst, 1, law.mean)
}

// linearKernels compute the derivatives of linear. Rows of Φ lie one after
// another.
type linearKernels struct {
	phi, minusY []float64
	frame       [][]float64
	set         *kernel.Set
	residuals   []*kernel.Program[float64] // Φw − y, by the number of rows
	products    []*kernel.Program[float64] // Φv
	sums        []*kernel.Program[float64] // prior part + Φᵀr
}

// Slots of the frame.
const (
	slotPhi      = iota
	slotMinusY   // −y
	slotVector   // w, or v of a Hessian-vector product
	slotResidual // r
	slotResult
	slotCount
)

func newLinearKernels(set *kernel.Set, rows int) linearKernels {
	k := linearKernels{
		phi: kernel.Aligned[float64](rows * linearDim), minusY: make([]float64, rows),
		frame: make([][]float64, slotCount), set: set,
	}
	k.frame[slotResidual] = kernel.Aligned[float64](rows)
	for _, p := range []*[]*kernel.Program[float64]{&k.residuals, &k.products, &k.sums} {
		*p = make([]*kernel.Program[float64], rows+1)
	}
	return k
}

// run stores x + w ΦᵀV(Φx − y), or x + w ΦᵀVΦx if not residual, over the rows
// [lo, hi) in dst; V has the rows' weights v, nil for I, on its diagonal.
func (k *linearKernels) run(dst, x []float64, lo, hi int, w float64, v []float64, residual bool) {
	n := hi - lo
	if n == 0 {
		copy(dst, x)
		return
	}
	if k.sums[n] == nil {
		k.compile(n)
	}
	k.frame[slotPhi], k.frame[slotMinusY] = k.phi[lo*linearDim:], k.minusY[lo:]
	k.frame[slotVector], k.frame[slotResult] = x, dst
	if residual {
		k.residuals[n].Run(k.frame)
	} else {
		k.products[n].Run(k.frame)
	}
	r := k.frame[slotResidual][:n]
	for i := range r {
		r[i] *= w
	}
	for i := range v {
		r[i] *= v[i]
	}
	k.sums[n].Run(k.frame)
}

// compile makes the programs for n rows.
func (k *linearKernels) compile(n int) {
	at := func(slot int) kernel.Operand { return kernel.Operand{Slice: slot} }
	d := kernel.Dots{
		M: n, N: 1, Scale: 1, C: at(slotResidual), CRow: 1, H: at(slotMinusY),
		Terms: []kernel.Term{{K: linearDim, A: at(slotPhi), ARow: linearDim, B: at(slotVector)}},
	}
	k.products[n], k.residuals[n], k.sums[n] = kernel.NewProgram[float64](k.set), kernel.NewProgram[float64](k.set), kernel.NewProgram[float64](k.set)
	d.Epilogue = kernel.Store
	k.products[n].Dots(d)
	d.Epilogue = kernel.Add
	k.residuals[n].Dots(d)
	k.sums[n].Product(kernel.Product{
		M: 1, N: linearDim, Scale: 1, C: at(slotResult), CRow: linearDim, Epilogue: kernel.Add, H: at(slotVector),
		Terms: []kernel.Term{{K: n, A: at(slotResidual), ARow: n, ACol: 1, B: at(slotPhi), BRow: linearDim}},
	})
}
