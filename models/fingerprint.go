package models

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"hambench/internal/child"
	"hambench/internal/fingerprint"
	"hambench/internal/kernel"
	"hambench/internal/rows"
	"hambench/models/datasets"
)

// Fingerprint digests what a model on a split computes: a few evaluations of its
// potential, gradients, Hessian-vector products, predictions, scores and exact
// laws, and the split's numbers, all in float64 on the plain kernels, to seven
// significant digits, hashed. It is the same on every machine; a change of a
// constant in the model, or of a number in the data or of the split, changes
// it. It takes milliseconds: the caller should keep it.
//
// Of an external model, the contents of its files are hashed, too. Data that the
// model does not take, and a file that cannot be read, are usage errors.
func Fingerprint(m Model, s *datasets.Split, o Options) (_ string, err error) {
	defer child.Catch(&err) // of an external model
	o.Precision, o.Plain = "float64", true
	t, err := m.On(s, o)
	if err != nil {
		return "", err
	}
	p := newProbe()
	p.data(s)
	p.target(t)
	if files := CapabilitiesOf(t).sourced; files != nil {
		digest, err := files.sources()
		if err != nil {
			return "", err
		}
		p.Add(digest)
	}
	return p.String(), nil
}

// probe digests what is computed at fixed points. Labels stand before the numbers, so that
// a target with other capabilities has another digest.
type probe struct {
	fingerprint.Digest
	points // at which it is computed
}

// newProbe returns an empty digest. The stream of its points is part of the keys of
// results, as is the order in which it evaluates.
func newProbe() *probe { return &probe{fingerprint.New(), newPoints(7)} }

// points draws fixed points by integer arithmetic, which is the same on every
// machine.
type points struct{ rng *rand.Rand }

func newPoints(stream uint64) points { return points{rand.New(rand.NewPCG(1, stream))} }

// point returns n numbers of variance 1, uniform on ±√3.
func (p points) point(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = (2*p.rng.Float64() - 1) * math.Sqrt(3)
	}
	return x
}

// projections is the number of fixed directions that a vector is projected on.
const projections = 4

// vector adds the length of x, its norm, and the cosines of its angles to a few fixed
// directions, rounded to 1e-7. It does not add each element: where machines differ
// in an element's last bits, each one would be another chance to round differently,
// and elements that are differences of large numbers have fewer digits.
func (p *probe) vector(label string, x []float64) {
	norm := floats.Norm(x, 2)
	p.Add(label, float64(len(x)), norm)
	if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
		return
	}
	rng := rand.New(rand.NewPCG(2, uint64(len(x))))
	for range projections {
		var dot, squares float64
		for _, v := range x {
			c := 2*rng.Float64() - 1
			dot += c * (v / norm)
			squares += c * c
		}
		p.Add(label, math.Round(dot/math.Sqrt(squares)*1e7)+0) // −0 + 0 is 0
	}
}

// data adds the numbers of a split.
func (p *probe) data(s *datasets.Split) {
	p.Add(s.Task.String()+s.Digest, float64(s.Features), float64(s.Classes),
		s.NoiseVariance, s.TargetMean, s.TargetScale)
	for _, x := range [][]float64{s.TrainX, s.TrainY, s.TestX, s.TestY} {
		p.vector("split", x)
	}
	for _, labels := range [][]int{s.TrainLabels, s.TestLabels} {
		for _, c := range labels {
			p.Add("class", float64(c))
		}
	}
}

// target adds what a target computes: at a point near 0 and at one from the prior, over
// rows as given, reversed, and gathered with weights. Of networks it takes few rows,
// since plain kernels are slow.
func (p *probe) target(t Target) {
	// The order of the points and of the calls is part of every fingerprint.
	n, dim := t.Rows(), t.Dim()
	p.Add("sizes", float64(dim), float64(n), float64(t.Outputs()))
	near, far := p.point(dim), p.point(dim)
	t.DrawPrior(far)
	p.vector("prior", far)
	floats.Scale(0.5, near)
	p.Add("potential", t.Potential(near))
	reversed := rows.Identity(n)
	slices.Reverse(reversed)
	p.derivatives(t, far, Rows{Lo: 0, Hi: min(4, n), Scale: 1.5})
	p.derivatives(t, near, Rows{Lo: n / 2, Hi: min(n/2+3, n), Scale: float64(n) / 3})
	t.Arrange(reversed)
	p.derivatives(t, near, Rows{Lo: 0, Hi: min(2, n), Scale: 2})
	t.Arrange(nil)
	if l := CapabilitiesOf(t).Gatherer; l != nil {
		l.Gather([]int{n - 1, 0}[:min(2, n)], []float64{0.5, 2}[:min(2, n)])
		p.derivatives(t, near, Rows{Lo: n, Hi: n + min(2, n), Scale: 1.5})
	}
	p.laws(t, near, far)
}

// derivatives adds those over given rows, as many kinds as the target has.
func (p *probe) derivatives(t Target, theta []float64, rows Rows) {
	can, g := CapabilitiesOf(t), make([]float64, t.Dim())
	t.Gradient(g, theta, rows)
	p.vector("gradient", g)
	if can.Hessian != nil {
		can.Hessian.HessianVector(g, theta, p.point(t.Dim()), rows)
		p.vector("hessian", g)
	}
	if can.LinearGaussian != nil {
		precision, shift := can.LinearGaussian.Affine(rows)
		p.vector("precision", precision)
		p.vector("shift", shift)
	}
}

// laws adds predictions at the points, their scores, and the exact posterior, if the
// target has them.
func (p *probe) laws(t Target, points ...[]float64) {
	draws := make([][]float64, len(points))
	for i, theta := range points {
		draws[i] = make([]float64, t.Outputs())
		t.Predict(draws[i], theta)
		p.vector("prediction", draws[i])
	}
	can := CapabilitiesOf(t)
	if can.Scorer != nil {
		scores := can.Scorer.Scores(draws)
		for _, name := range slices.Sorted(maps.Keys(scores)) {
			p.Add(name, scores[name])
		}
	}
	if a := can.Analytic; a != nil {
		mean, sd := a.PredictiveMarginals()
		p.vector("mean", mean)
		p.vector("deviation", sd)
		z := p.point(t.Dim())
		a.DrawPosterior(z)
		p.vector("posterior", z)
	}
}

// KernelDigest digests, to the bit, what the machine kernels in force compute:
// gradients and Hessian-vector products of networks in both precisions at several
// batch sizes, those of the linear model, normals, and a step's update with a gradient in
// float64 (the passes of float32 chains are pinned by a test of the kernels alone). Kernels
// of the same instruction set that round differently have another digest. It has 32
// hexadecimal digits and is computed once.
func KernelDigest() string { return kernelDigest() }

var kernelDigest = sync.OnceValue(func() string {
	d := bitDigest{sha256.New(), newPoints(8)}
	// Shapes of the paper's networks, fewer rows: kernels are chosen by the
	// widths and the rows of a batch.
	for _, shape := range []datasets.Shape{
		{Task: datasets.Regression, TrainRows: 132, Features: 13},
		{Task: datasets.Regression, TrainRows: 132, Features: 8},
		{Task: datasets.Classification, TrainRows: 132, Features: 18, Classes: 4},
	} {
		s := d.split(shape)
		for _, precision := range []string{"float32", "float64"} {
			d.derivatives("bnn", s, Options{Precision: precision})
		}
	}
	line := datasets.Shape{Task: datasets.Regression, TrainRows: 132, Features: 1}
	d.derivatives("linear", d.split(line), Options{})
	d.update()
	return hex.EncodeToString(d.Sum(nil)[:16])
})

// bitDigest hashes numbers to the bit.
type bitDigest struct {
	hash.Hash
	points // at which it is computed
}

// add adds the 64-bit words of x.
func (d bitDigest) add(x []float64) {
	_ = binary.Write(d, binary.LittleEndian, x) // writing to a hash cannot fail
}

// update adds normals, and a state after an update with all its coefficients.
func (d bitDigest) update() {
	const n = 1003 // no multiple of a vector's length, so that the tail runs, too
	noise, theta, r, g := kernel.NewNoise(2022, 1), d.point(n), d.point(n), d.point(n)
	noise.Normal(r)
	d.add(r)
	half := kernel.Coef{All: 0.5}
	noise.Update(&kernel.Update{
		Theta: theta, R: r, G: g, P: half, A: half, B: half, Q: half, S: half, D: half,
	})
	d.add(theta)
	d.add(r)
}

// split draws a split of a shape, without test rows.
func (p points) split(shape datasets.Shape) *datasets.Split {
	s := &datasets.Split{
		Task: shape.Task, Features: shape.Features, Classes: shape.Classes, TargetScale: 1,
		TrainX: p.point(shape.TrainRows * shape.Features),
	}
	if shape.Task == datasets.Regression {
		s.NoiseVariance, s.TrainY = 0.1, p.point(shape.TrainRows)
		return s
	}
	for range shape.TrainRows {
		s.TrainLabels = append(s.TrainLabels, p.rng.IntN(shape.Classes))
	}
	return s
}

// derivatives adds those of a built-in model at one point, over batches of sizes
// on both sides of kernel.PairRows, which select different kernels.
func (d bitDigest) derivatives(model string, s *datasets.Split, o Options) {
	t, err := Builtin().New(model, s, o)
	if err != nil {
		panic("models: " + err.Error()) // a mistake in KernelDigest's shapes
	}
	theta, v, g := d.point(t.Dim()), d.point(t.Dim()), make([]float64, t.Dim())
	for _, size := range []int{1, 7, 8, 33, 128} {
		rows := Rows{Lo: 3, Hi: 3 + size, Scale: 1.25}
		t.Gradient(g, theta, rows)
		d.add(g)
		if size <= 8 {
			CapabilitiesOf(t).Hessian.HessianVector(g, theta, v, rows)
			d.add(g)
		}
	}
}
