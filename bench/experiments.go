package bench

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"hambench/integrators"
	"hambench/oracle"
	"hambench/usage"
)

// Simulation time is the same for every chain of a data set, whatever its
// step (paper, appendix "Comparison framework": 500 steps of 0.005 per
// sample, 2000 of burn-in).
const (
	timePerSample = 2.5
	timeOfBurnIn  = 10
	paperSamples  = 200
)

// paperFriction is C where the paper does not vary it.
const paperFriction = 5

// tableSteps are the steps of the tables' SHMC chains, the first that is
// stable counts.
var tableSteps = []float64{0.005, 0.002, 0.001}

// Experiment is one figure or table as data.
type Experiment struct {
	ID, Title string
	// Cells are computed all, Choices as far as needed.
	Cells   []Cell
	Choices []Choice
	// Oracles are the references that the cells name.
	Oracles []oracle.Spec
}

// Choice is a list of cells of which the first whose chain stays finite
// counts; a cell is needed only if those before it diverged.
type Choice []Cell

// Experiments returns every experiment of a profile, in the order of the
// paper, then ours. Data sets that are unavailable are replaced by built-in ones.
func Experiments(p Profile, unavailable ...string) []Experiment {
	g := &grid{Profile: p, problems: sweepProblems(unavailable)}
	return []Experiment{
		g.bottleneck(),
		g.paths(),
		g.toy(),
		g.methods(),
		g.integrationLength(),
		g.friction(),
		g.synthetic(),
		g.table(Regression),
		g.table(Classification),
		g.autocorrelation(),
		g.precision(),
	}
}

// Select returns the experiments with the given ids, in the order of exps;
// all if there are no ids. An unknown id is a usage error.
func Select(exps []Experiment, ids ...string) ([]Experiment, error) {
	var known []string
	for _, e := range exps {
		known = append(known, e.ID)
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return nil, usage.Errorf("unknown experiment %q: want one of %s", id, strings.Join(known, ", "))
		}
	}
	if len(ids) == 0 {
		return exps, nil
	}
	return slices.DeleteFunc(slices.Clone(exps), func(e Experiment) bool { return !slices.Contains(ids, e.ID) }), nil
}

// Results returns what get has of the experiment's cells, in their order,
// and the cells that are needed and missing. Of a choice the settled cell is
// returned: the first that did not diverge, or the last.
func (e Experiment) Results(get func(key string) (Result, bool)) (have []Result, missing []Cell) {
	for _, c := range e.Cells {
		if r, ok := get(c.Key()); ok {
			have = append(have, r)
		} else {
			missing = append(missing, c)
		}
	}
	for _, ch := range e.Choices {
		r, c, ok := ch.settle(get)
		if ok {
			have = append(have, r)
		} else {
			missing = append(missing, c)
		}
	}
	return have, missing
}

// settle returns the result of the choice, or else the cell that is needed
// next.
func (ch Choice) settle(get func(key string) (Result, bool)) (r Result, next Cell, ok bool) {
	for _, c := range ch {
		if r, ok = get(c.Key()); !ok {
			return Result{}, c, false
		}
		if !r.Diverged {
			return r, Cell{}, true
		}
	}
	return r, Cell{}, true
}

// grid makes the cells of a profile.
type grid struct {
	Profile
	problems []Problem
}

// settings are what the sweeps vary.
type settings struct {
	integrator string
	inner      int
	friction   float64
	scheme     string // "" means reshuffle, or full for the full batch
	step       float64
	batch      int
	samples    int // 0 means paperSamples
}

// spec is the reference of a network's problem.
func (g *grid) spec(p Problem, split int) oracle.Spec {
	s := oracle.NewSpec(p.Dataset, split, p.Model)
	s.Precision = g.Precision
	return s
}

// cell fills in what the problem and the rules of simulation time fix. The
// built-in models with exact posteriors have no splits: there the split's
// number seeds the chain.
func (g *grid) cell(p Problem, split int, s settings) Cell {
	c := Cell{
		Observe: Distance, Dataset: p.Dataset, Model: p.Model, Integrator: s.integrator, Inner: max(1, s.inner),
		Friction: s.friction, Scheme: s.scheme, Batches: Batches(p.Rows, s.batch), Step: s.step, Samples: s.samples,
		Seed: 1, Precision: "float64", Oracle: Analytic, Revision: revision(s.integrator),
	}
	if c.Scheme == "" {
		c.Scheme = "reshuffle"
	}
	if c.Batches == 1 {
		c.Scheme = "full"
	}
	if c.Samples == 0 {
		c.Samples = paperSamples
	}
	if p.network() {
		c.Split, c.Precision, c.Oracle = split, g.Precision, g.spec(p, split).Key()
	} else {
		c.Seed += uint64(split)
	}
	outer := c.Step * float64(c.Inner)
	c.Thin = max(1, int(math.Round(timePerSample/outer)))
	c.BurnIn = max(1, int(math.Round(timeOfBurnIn/outer)))
	return c
}

// revision is the integrator's; 0 for a name that Lookup will refuse.
func revision(integrator string) int {
	m, err := integrators.Builtin().Lookup(integrator)
	if err != nil {
		return 0
	}
	return m.Revision
}

// sweep is the cells of the given settings on every problem, split, batch
// size and step. Sizes that do not cut a problem's rows are left out.
func (g *grid) sweep(experiment string, variants []settings) []Cell {
	var cells []Cell
	for _, p := range g.problems {
		for split := range g.Splits {
			for _, block := range g.Sweeps {
				if !block.covers(p) || block.Only != nil && !slices.Contains(block.Only, experiment) {
					continue
				}
				for _, batch := range block.BatchSizes {
					if batch != Full && Batches(p.Rows, batch) == 1 {
						continue
					}
					for _, v := range variants {
						for _, h := range block.Steps {
							v.step, v.batch, v.samples = h, batch, g.Samples
							cells = append(cells, g.cell(p, split, v))
						}
					}
				}
			}
		}
	}
	return cells
}

// oracles are the references of every network problem and split.
func (g *grid) oracles(keep func(Problem) bool) []oracle.Spec {
	var specs []oracle.Spec
	for _, p := range g.problems {
		if p.network() && keep(p) {
			for split := range g.Splits {
				specs = append(specs, g.spec(p, split))
			}
		}
	}
	return specs
}

func anyProblem(Problem) bool { return true }

func (g *grid) bottleneck() Experiment {
	p, _ := LookupProblem("linear")
	e := Experiment{ID: "bottleneck", Title: "Distance to the posterior for integrators of order 1 to 3 (linear model)"}
	for seed := range g.Splits {
		for _, batch := range []int{8, Full} {
			for _, name := range []string{"euler", "leapfrog", "lietrotter", "mt3"} {
				for _, h := range g.bottleneckSteps(name, batch) {
					e.Cells = append(e.Cells, g.cell(p, seed, settings{integrator: name, friction: paperFriction, step: h, batch: batch, samples: g.BottleneckSamples}))
				}
			}
		}
	}
	return e
}

func (g *grid) bottleneckSteps(integrator string, batch int) []float64 {
	switch {
	case batch != Full:
		return g.Bottleneck
	case integrator == "euler":
		return g.BottleneckEuler
	}
	return g.BottleneckFull
}

// Path lengths: 40 units of time show how friction shapes a path, at a step
// far below the posterior's width.
const (
	pathStep    = 0.02
	pathSamples = 2000
	densityGrid = 101
)

func (g *grid) paths() Experiment {
	p, _ := LookupProblem("logistic")
	density := Cell{Observe: Density, Dataset: p.Dataset, Model: p.Model, Samples: densityGrid, Precision: "float64"}
	e := Experiment{ID: "paths", Title: "Sample paths for several frictions (two-parameter logistic regression)", Cells: []Cell{density}}
	for _, friction := range []float64{0.1, 1, 5, 50} {
		c := g.cell(p, 0, settings{integrator: "leapfrog", friction: friction, step: pathStep, batch: Full, samples: pathSamples})
		c.Observe, c.Thin, c.BurnIn, c.Oracle = Path, 1, 0, ""
		e.Cells = append(e.Cells, c)
	}
	return e
}

// toy is Figure 3 and appendix D: η = 0.4, C = 2, the exact flow of each
// batch. The paper draws the batches with replacement; reshuffle is the
// scheme of its theorem.
func (g *grid) toy() Experiment {
	p, _ := LookupProblem("toy")
	e := Experiment{ID: "toy", Title: "Stationary distribution of the exact flow, full batch and mini-batches (toy)"}
	for _, s := range []settings{
		{scheme: "full", batch: Full}, {scheme: "replacement", batch: 1}, {scheme: "reshuffle", batch: 1},
	} {
		s.integrator, s.friction, s.step, s.samples = "exact", 2, 0.4, g.ToySamples
		c := g.cell(p, 0, s)
		c.Observe, c.Thin = Histogram, 1
		e.Cells = append(e.Cells, c)
	}
	return e
}

func (g *grid) methods() Experiment {
	var variants []settings
	for _, name := range []string{"sghmc", "leapfrog", "symmetric", "lietrotter", "mt3"} {
		variants = append(variants, settings{integrator: name, friction: paperFriction})
	}
	return Experiment{
		ID: "methods", Title: "Distance to the posterior against step and batch size, by method",
		Cells: g.sweep("methods", variants), Oracles: g.oracles(anyProblem),
	}
}

func (g *grid) integrationLength() Experiment {
	var variants []settings
	for _, inner := range g.Inner {
		variants = append(variants, settings{integrator: "lietrotter", inner: inner, friction: paperFriction})
	}
	return Experiment{
		ID: "integration-length", Title: "Distance to the posterior against step and batch size, by integration length (lietrotter)",
		Cells: g.sweep("integration-length", variants), Oracles: g.oracles(anyProblem),
	}
}

func (g *grid) friction() Experiment {
	var variants []settings
	for _, c := range g.Frictions {
		variants = append(variants, settings{integrator: "leapfrog", friction: c})
	}
	return Experiment{
		ID: "friction", Title: "Distance to the posterior against step and batch size, by friction (leapfrog)",
		Cells: g.sweep("friction", variants), Oracles: g.oracles(anyProblem),
	}
}

func (g *grid) synthetic() Experiment {
	p, _ := LookupProblem("linear")
	c := g.cell(p, 0, settings{integrator: "leapfrog", friction: paperFriction, step: 0.005, batch: Full})
	c.Observe = Marginals
	return Experiment{ID: "synthetic", Title: "True and sampled predictive posterior (linear model)", Cells: []Cell{c}}
}

// reference is the cell that records an oracle.
func (g *grid) reference(p Problem, split int) Cell {
	s := g.spec(p, split)
	return Cell{
		Observe: Reference, Dataset: p.Dataset, Split: split, Model: p.Model, Integrator: s.Integrator, Inner: 1,
		Friction: s.Friction, Scheme: "full", Batches: 1, Step: s.Step, Samples: s.Samples, Thin: s.Thin, BurnIn: s.BurnIn,
		Seed: s.Seed, Precision: s.Precision, Oracle: s.Key(),
	}
}

// table is a table of test scores: per data set and split the full-batch
// leapfrog chain (the paper's SHMC) and the adaptive SGHMC of the oracle.
func (g *grid) table(t Task) Experiment {
	keep := func(p Problem) bool { return p.network() && p.Task == t }
	title := "Test error and negative log-likelihood, regression"
	if t == Classification {
		title = "Test accuracy and negative log-likelihood, classification"
	}
	e := Experiment{ID: string(t), Title: title, Oracles: g.oracles(keep)}
	for _, p := range g.problems {
		if !keep(p) {
			continue
		}
		for split := range g.Splits {
			e.Cells = append(e.Cells, g.reference(p, split))
			var ch Choice
			for _, h := range tableSteps {
				ch = append(ch, g.cell(p, split, settings{integrator: "leapfrog", friction: paperFriction, step: h, batch: Full}))
			}
			e.Choices = append(e.Choices, ch)
		}
	}
	return e
}

func (g *grid) autocorrelation() Experiment {
	e := Experiment{ID: "autocorrelation", Title: "Lag-1 autocorrelation of the oracles", Oracles: g.oracles(anyProblem)}
	for _, p := range g.problems {
		if !p.network() {
			continue
		}
		for split := range g.Splits {
			e.Cells = append(e.Cells, g.reference(p, split))
		}
	}
	return e
}

// precisionStep is a step of the comparison of precisions where leapfrog was
// stable at every step seen.
const precisionStep = 0.02

// precision runs the same leapfrog chains with gradients in float32 and in
// float64, at steps near the limit of stability, where rounding has the most
// to say. Both are judged by one reference, that of the profile's precision.
func (g *grid) precision() Experiment {
	e := Experiment{ID: "precision", Title: "Distance to the posterior with network gradients in float32 and in float64 (leapfrog)", Oracles: g.oracles(anyProblem)}
	for _, p := range g.problems {
		if !p.network() {
			continue
		}
		for split := range g.Splits {
			for _, batch := range []int{8, Full} {
				c := g.cell(p, split, settings{integrator: "leapfrog", friction: paperFriction, step: p.safeStep(batch), batch: batch, samples: g.Samples})
				for _, c.Precision = range Precisions {
					e.Cells = append(e.Cells, c)
				}
			}
		}
	}
	return e
}

// safeStep is the largest step known to be stable for a batch size, wherever
// a chain starts.
func (p Problem) safeStep(batch int) float64 {
	if batch != Full {
		return cmp.Or(p.StableSmall, precisionStep)
	}
	return cmp.Or(p.Safe, p.Stable, precisionStep)
}
