package models

import (
	"math"
	"slices"

	"hambench/internal/mlp"
	"hambench/models/datasets"
	"hambench/usage"
)

// bnn is a ReLU network with NTK scaling and the prior N(0, I) on all weights
// and biases (paper, appendix "Network architecture"): for regression with
// Gaussian noise on the standardised target, for classification with softmax.
type bnn struct {
	scores
	// Net is the network on the training rows. It has the methods of a Fused and a
	// Gatherer, with the prior's part in every derivative. widths are those of all its
	// layers, from the inputs to the outputs.
	*mlp.Net
	widths []int
	// test is the network on the test rows, in float64, and raw has room for its
	// outputs before the softmax, rows × classes; nil without test rows.
	test *mlp.Net
	raw  []float64
}

// newBNN returns a usage error for a hidden layer without units, and for an unknown
// precision. The test rows have a network of their own, since predictions are in
// float64 whatever the precision of the gradients.
func newBNN(s *datasets.Split, o Options) (Target, error) {
	for l, w := range o.Hidden {
		if w < 1 {
			return nil, usage.Errorf(
				"model \"bnn\" with %d units in hidden layer %d: want at least 1", w, l+1)
		}
	}
	if !slices.Contains([]string{"", "float32", "float64"}, o.Precision) {
		return nil, usage.Errorf("unknown precision %q: want float32 or float64", o.Precision)
	}
	p := mlp.Problem{
		Set: o.kernels(), Widths: widths(s.Shape(), o), Float64: o.Precision == "float64",
		Inputs: s.TrainX, Targets: s.TrainY, Labels: s.TrainLabels, NoiseVariance: s.NoiseVariance,
	}
	t := &bnn{scores: scores{s}, widths: p.Widths, Net: mlp.New(p)}
	if s.TestRows() > 0 {
		p.Inputs, p.Targets, p.Labels, p.Float64 = s.TestX, s.TestY, s.TestLabels, true
		t.test = mlp.New(p)
		t.raw = make([]float64, s.TestRows()*p.Widths[len(p.Widths)-1])
	}
	return t, nil
}

// widths returns the widths of a network's layers, from the inputs to the outputs.
// Without a choice in the options the hidden ones are the paper's.
func widths(s datasets.Shape, o Options) []int {
	hidden, outputs := []int{50, 50, 50, 50}, 1
	if s.Task == datasets.Classification {
		hidden, outputs = []int{50, 50}, s.Classes
	}
	if o.Hidden != nil {
		hidden = o.Hidden
	}
	return slices.Concat([]int{s.Features}, hidden, []int{outputs})
}

// networkDim returns Σ_l (D_l + 1) D_{l+1}, the number of weights and biases.
func networkDim(s datasets.Shape, o Options) int {
	n, w := 0, widths(s, o)
	// In a loop over w[1:] the index is that of the layer before.
	for l := range w[1:] {
		n += (w[l] + 1) * w[l+1]
	}
	return n
}

func (t *bnn) Name() string { return "bnn" }

// Potential returns the negative log-likelihood of all rows plus ½|θ|².
func (t *bnn) Potential(theta []float64) float64 { return t.Loss(theta) + halfSquares(theta) }

// Loss implements Likelihood.
func (t *bnn) Loss(theta []float64) float64 { return t.NegLogLikelihood(theta, 0, t.Rows()) }

// Outputs is one for each test row, or one for each class of more than two.
func (t *bnn) Outputs() int {
	if t.split.Classes > 2 {
		return t.split.TestRows() * t.split.Classes
	}
	return t.split.TestRows()
}

// Predict stores f(x*), or class probabilities, at each test row.
func (t *bnn) Predict(dst, theta []float64) {
	checkLen(t.Dim(), theta)
	checkLen(t.Outputs(), dst)
	switch {
	case t.test == nil:
	case t.split.Task == datasets.Regression:
		t.test.Outputs(dst, theta)
	default:
		t.test.Outputs(t.raw, theta)
		probabilities(dst, t.raw, t.split.Classes)
	}
}

// DrawPrior leaves the normals as they are: the prior is N(0, I).
func (t *bnn) DrawPrior(dst []float64) { checkLen(t.Dim(), dst) }

// probabilities stores the softmax of each row of logits (rows × classes) in dst; of
// two classes, the second's only.
func probabilities(dst, logits []float64, classes int) {
	if classes == 2 {
		for i := range dst {
			dst[i] = sigmoid(logits[2*i+1] - logits[2*i])
		}
		return
	}
	for lo := 0; lo < len(logits); lo += classes {
		softmax(dst[lo:lo+classes], logits[lo:lo+classes])
	}
}

// softmax stores exp(z_c)/Σ_k exp(z_k) in dst. The largest z is subtracted first, so
// that nothing overflows.
func softmax(dst, z []float64) {
	top, sum := slices.Max(z), 0.0
	for c, v := range z {
		dst[c] = math.Exp(v - top)
		sum += dst[c]
	}
	for c := range dst {
		dst[c] /= sum
	}
}
