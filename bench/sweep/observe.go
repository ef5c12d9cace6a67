package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/chain"
	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
	"hambench/usage"
)

// Inputs are what a cell's chain needs beyond the cell itself.
// The targets must be of the cell's data set, split, model and precision; Compute does not
// check that.
type Inputs struct {
	// Target is the model on the data; the chain takes it over.
	Target models.Target
	// Fine is the target of the chain at h/2, for a cell that observes Coupled.
	Fine models.Target
	// Truth starts and judges the chain; nil for cells without an oracle.
	Truth oracle.Truth
	// Split is the data behind the target.
	Split *datasets.Split
	// Chains has the parts that names stand for; the zero value has the
	// built-in ones.
	Chains chain.Registries
}

// Compute runs the chain of a cell, which must pass its Check, and returns what it
// observes. The numbers depend only on the cell and the inputs. A chain that
// diverges is a result, not an error.
// An observable that needs what the inputs lack, such as reference chains, is a usage error.
func Compute(ctx context.Context, c bench.Cell, in Inputs) (bench.Result, error) {
	start := time.Now()
	r := bench.Result{Cell: c}
	var err error
	switch c.Observe {
	case bench.Density:
		err = density(&r, in.Target)
	case bench.Reference:
		err = reference(&r, in)
	case bench.Coupled:
		err = coupled(ctx, &r, in)
	default:
		err = runChain(ctx, &r, in)
	}
	if err != nil {
		return bench.Result{}, err
	}
	// JSON cannot express the scores of a chain that diverged with large but finite numbers, or
	// whose every draw gives the class of a test row the probability 0, to rounding.
	maps.DeleteFunc(r.Scores, func(_ string, v float64) bool {
		return math.IsNaN(v) || math.IsInf(v, 0)
	})
	if r.Seconds == 0 {
		r.Seconds = time.Since(start).Seconds()
	}
	return r, nil
}

// runChain runs one chain and records, draw by draw, its predictive values or, for a path,
// its positions. A chain that diverges has no series and no scores.
func runChain(ctx context.Context, r *bench.Result, in Inputs) error {
	c := r.Cell
	if in.Truth == nil && c.Observe.Judged() {
		return usage.Errorf("cell observes %s without an oracle: %v", c.Observe, c)
	}
	var err error
	if in.Target, err = c.Chain().Tempered(in.Target); err != nil {
		return err
	}
	sampler, err := in.Chains.New(in.Target, c.Chain())
	if err != nil {
		return err
	}
	start, err := startOf(ctx, c, in)
	if err != nil {
		return err
	}
	// What is recorded of each draw: width numbers, which record stores.
	width, record := in.Target.Outputs(), in.Target.Predict
	switch likelihood := models.CapabilitiesOf(in.Target).Likelihood; {
	case c.Observe == bench.Path:
		width, record = in.Target.Dim(), func(dst, theta []float64) { copy(dst, theta) }
	case c.Observe == bench.Learning && likelihood == nil:
		return usage.Errorf("cell observes %s: the likelihood of model %q is not known", c.Observe,
			c.Model)
	case c.Observe == bench.Learning:
		// The chain starts where L₀ is (Cell.Check).
		least := likelihood.Loss(start)
		width, record = 1, func(dst, theta []float64) { dst[0] = likelihood.Loss(theta) - least }
	}
	// The draws share one array.
	draws, all := make([][]float64, c.Samples), make([]float64, c.Samples*width)
	if in.Truth != nil {
		self, err := oracle.SelfDistance(ctx, in.Truth, c.Samples)
		if err != nil {
			return err
		}
		recordTruth(r, in.Truth, self)
	}
	plan := chain.Plan{BurnIn: c.BurnIn, Samples: c.Samples, Thin: c.Thin}
	err = sampler.Run(ctx, sampler.Start(c.Chain().Key, start), plan,
		func(i int, z *integrators.State) error {
			draws[i] = all[i*width : (i+1)*width]
			record(draws[i], z.Theta)
			return nil
		})
	if err := account(r, sampler.Counts(), err); err != nil {
		return err
	}
	// Measured after the chain, since it rearranges the rows.
	if in.Truth != nil && c.Batches > 1 {
		r.Scales = scales(in)
	}
	if !r.Diverged {
		summarize(r, in, draws)
	}
	return nil
}

// recordTruth records what is known of the truth that judges a chain: the distances of its own
// draws and, of reference chains, their error and the checks that they fail.
func recordTruth(r *bench.Result, truth oracle.Truth, self oracle.Band) {
	r.KSSelf, r.KSSelfLow, r.KSSelfHigh, r.KSSelfSD = self.Mean, self.Low, self.High, self.SD
	if ref, ok := truth.(*oracle.Reference); ok {
		r.ReferenceError, r.ReferenceFailed = ref.OwnError.Upper, ref.Unfit()
	}
}

// scales are those of the target at one draw of its truth, the same for all chains; nil where
// they cannot be measured.
func scales(in Inputs) *oracle.Scales {
	theta := make([]float64, in.Target.Dim())
	in.Truth.DrawStart(theta, noise.New(1, noise.StreamStart).Rand())
	if s, ok := oracle.ScalesAt(in.Target, theta); ok {
		return &s
	}
	return nil
}

// startOf returns where a cell's chain starts: nil for a draw of the prior. Without a truth
// to start at it is the prior's mean.
func startOf(ctx context.Context, c bench.Cell, in Inputs) ([]float64, error) {
	where := c.Start()
	if where == oracle.AtTruth && in.Truth == nil {
		return make([]float64, in.Target.Dim()), nil
	}
	return oracle.StartAt(ctx, where, in.Target, in.Truth, c.Chain().Key)
}

// account records the work of a chain that has ended, and whether it diverged,
// which is no error.
// Gradients of all data count as those of the batches that they sum.
func account(r *bench.Result, n chain.Counts, err error) error {
	r.Steps, r.HessianVectors = n.Steps, n.HessianVectors
	r.Gradients = n.Gradients + n.FullGradients*int64(max(r.Cell.Batches, 1)) // of a batch
	var diverged *chain.DivergedError
	if errors.As(err, &diverged) {
		r.Diverged, r.DivergedStep, r.KS = true, diverged.Step, 1
		return nil
	}
	return err
}

// coupled runs coupled chains, from where a chain without an oracle starts.
// Chains that are not judged have no distance, and start at a typical position that a warm-up
// finds.
func coupled(ctx context.Context, r *bench.Result, in Inputs) error {
	c := r.Cell
	plan := chain.Plan{BurnIn: c.BurnIn, Samples: c.Samples, Thin: c.Thin}
	bias, chance, counts, err := oracle.RunCoupled(ctx, in.Chains, in.Target, in.Fine, c.Chain(),
		plan, true, func(int, []float64) error { return nil })
	if err != nil && counts.Steps == 0 { // also a warm-up that diverged, which is no result
		return err
	}
	if err := account(r, counts, err); err != nil || r.Diverged {
		return err
	}
	r.Scores = map[string]float64{"coupled": bias, "coupled-chance": chance}
	return nil
}

// summarize completes the result of a chain that stayed finite. Its draws, one
// per sample, are positions for a path, losses above that of the start for Learning, and
// predictive values otherwise.
// The scores are those that the target can compute: a model without test targets has the
// autocorrelation alone.
func summarize(r *bench.Result, in Inputs, draws [][]float64) {
	if r.Cell.Observe == bench.Path {
		r.Series = make(map[string][]float64)
		for i := range draws[0] {
			r.Series[coordinate(i)] = column(draws, i)
		}
		return
	}
	if r.Cell.Observe == bench.Learning {
		// What was recorded is the loss above that of the start, over T: its mean is nβ(L̄ − L₀).
		losses := column(draws, 0)
		mean, variance := stat.MeanVariance(losses, nil)
		r.Scores = map[string]float64{"llc": mean, "lag1": lag1(draws),
			"llc_se": math.Sqrt(variance / oracle.EffectiveSampleSize([][]float64{losses}))}
		if known := models.CapabilitiesOf(in.Target).Optimal; known != nil {
			r.Scores["llc_known"], _ = known.LearningCoefficient()
		}
		return
	}
	r.KS = in.Truth.Distance(draws)
	if r.Cell.Observe == bench.Histogram {
		r.Series = histogram(models.CapabilitiesOf(in.Target).Analytic, draws)
		return
	}
	r.Scores = map[string]float64{"lag1": lag1(draws)}
	if s := models.CapabilitiesOf(in.Target).Scorer; s != nil {
		maps.Copy(r.Scores, s.Scores(draws))
	}
	if r.Cell.Observe == bench.Marginals {
		r.Series = marginals(in, draws)
	}
}

// lag1 is the lag-1 autocorrelation, averaged over the outputs.
// A value near 1 says that draws repeat each other; 0 is that of independent draws.
func lag1(draws [][]float64) float64 {
	// A constant output counts as 0.
	var sum float64
	for o := range draws[0] {
		sum += oracle.Autocorrelation(column(draws, o), 1)
	}
	return sum / float64(len(draws[0]))
}

// column returns one output of all draws.
func column(draws [][]float64, output int) []float64 {
	x := make([]float64, len(draws))
	for s, d := range draws {
		x[s] = d[output]
	}
	return x
}

// marginals are the quantiles of each predictive value, beside the exact law.
// The series have a number for each test input; the training rows are those of the split.
func marginals(in Inputs, draws [][]float64) map[string][]float64 {
	mean, sd := models.CapabilitiesOf(in.Target).Analytic.PredictiveMarginals()
	series := map[string][]float64{
		"x": in.Split.TestX, "train_x": in.Split.TrainX, "train_y": in.Split.TrainY,
		"exact_mean": mean, "exact_sd": sd,
	}
	for name, p := range map[string]float64{"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75,
		"q95": 0.95} {
		// One quantile of each output.
		q := make([]float64, len(mean))
		for o := range q {
			x := column(draws, o)
			slices.Sort(x)
			q[o] = oracle.Quantile(x, p)
		}
		series[name] = q
	}
	return series
}

// Histograms have 120 bins over six standard deviations on both sides of
// the exact posterior's mean: a bin is a tenth of a deviation, and the
// outermost catch what lies beyond.
const (
	histogramBins  = 120
	histogramWidth = 6
)

// histogram counts the positions of a one-parameter target, whose predictive
// value is the parameter itself.
// Draws beyond the outermost bins count in these.
func histogram(t models.Analytic, draws [][]float64) map[string][]float64 {
	mean, sd := t.PredictiveMarginals()
	edges, counts := make([]float64, histogramBins+1), make([]float64, histogramBins)
	for i := range edges {
		edges[i] = mean[0] + sd[0]*histogramWidth*(2*float64(i)/histogramBins-1)
	}
	for _, d := range draws {
		// In bins from the first edge.
		at := (d[0] - edges[0]) / (edges[1] - edges[0])
		counts[int(min(max(at, 0), histogramBins-1))]++
	}
	return map[string][]float64{"edges": edges, "counts": counts, "mean": {mean[0]}, "sd": {sd[0]}}
}

// coarseGrid is the number of points a side of the grids that find the box.
const coarseGrid = 101

// densityDepth is how far below its maximum the log-density still counts:
// e⁻¹² of the mode is beyond four standard deviations of a normal in two
// dimensions.
const densityDepth = 12

// density evaluates the log-density on a grid. The box is found by two
// coarser grids, each cut to the part that counts.
// The samples of the cell are the points a side.
func density(r *bench.Result, t models.Target) error {
	if t.Dim() != 2 {
		return usage.Errorf("cell observes %s: model %q has %d parameters: want 2", r.Cell.Observe,
			r.Cell.Model, t.Dim())
	}
	n := r.Cell.Samples
	low, high := [2]float64{-10, -10}, [2]float64{10, 10} // ten deviations of the prior
	// Twice, since the mass of a narrow posterior may be within a few points of the first grid.
	for range 2 {
		low, high = contentBox(gridOf(t, low, high, coarseGrid))
	}
	g := gridOf(t, low, high, n)
	r.Series = map[string][]float64{coordinate(0): g.axis[0], coordinate(1): g.axis[1],
		"logdensity": g.value}
	return nil
}

// densityValues is a log-density less its maximum on a grid.
type densityValues struct {
	axis  [2][]float64
	value []float64 // row after row; a row has one value of axis 1
}

// gridOf evaluates the log-density at n points a side, from low to high, ends included.
func gridOf(t models.Target, low, high [2]float64, n int) densityValues {
	var g densityValues
	for a := range 2 {
		for i := range n {
			g.axis[a] = append(g.axis[a], low[a]+(high[a]-low[a])*float64(i)/float64(max(n-1, 1)))
		}
	}
	for _, y := range g.axis[1] {
		for _, x := range g.axis[0] {
			g.value = append(g.value, -t.Potential([]float64{x, y}))
		}
	}
	top := slices.Max(g.value)
	for i := range g.value {
		g.value[i] -= top
	}
	return g
}

// contentBox is the box of the grid's points that count, a grid step wider.
// A box whose edge counts has the grid's own edge.
func contentBox(g densityValues) (low, high [2]float64) {
	n := len(g.axis[0])
	// The places of the first and the last point that counts, on each axis. The maximum counts, so
	// that there is one.
	first, last := [2]int{n, n}, [2]int{-1, -1}
	for i, v := range g.value {
		if v < -densityDepth {
			continue
		}
		for a, at := range [2]int{i % n, i / n} {
			first[a], last[a] = min(first[a], at), max(last[a], at)
		}
	}
	for a := range 2 {
		low[a], high[a] = g.axis[a][max(first[a]-1, 0)], g.axis[a][min(last[a]+1, n-1)]
	}
	return low, high
}

// coordinate names a position in series: theta0, theta1, ….
func coordinate(i int) string { return fmt.Sprint("theta", i) }

// reference records an oracle: the scores of its chains' draws, averaged
// over the chains, and its diagnostics.
// Failed checks are counted, so that tables can mark what they judge.
func reference(r *bench.Result, in Inputs) error {
	ref, ok := in.Truth.(*oracle.Reference)
	if !ok {
		return usage.Errorf("cell observes %s without reference chains: %v", r.Cell.Observe, r.Cell)
	}
	self := ref.SelfDistance()
	// The distance of a reference to itself is that between its chains.
	r.KS = self.Mean
	recordTruth(r, ref, self)
	r.Seconds = ref.Seconds
	d := ref.Diagnostics
	r.Scores = map[string]float64{
		"lag1": d.Lag1.Mean, "ess": d.ESS.Mean, "rhat_p95": d.SplitRHat.P95,
		"checks_failed":         float64(len(r.ReferenceFailed)),
		"own_error":             ref.OwnError.Upper,
		"metropolis_distance":   ref.CrossCheck.Distance,
		"metropolis_acceptance": ref.CrossCheck.Acceptance,
	}
	s := models.CapabilitiesOf(in.Target).Scorer
	if s == nil {
		return nil
	}
	for c := range ref.Draws {
		for name, v := range s.Scores(ref.Chain(c)) {
			r.Scores[name] += v / float64(len(ref.Draws))
		}
	}
	return nil
}
