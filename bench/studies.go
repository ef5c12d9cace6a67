package bench

import (
	"cmp"
	"slices"

	"hambench/chain"
	"hambench/datasets"
	"hambench/models"
	"hambench/oracle"
)

// tableSteps are the steps of the tables' SHMC chains, the first that is
// stable counts.
var tableSteps = []float64{0.005, 0.002, 0.001}

// sweepSets are the data sets of the sweep figures, in the order of the paper.
var sweepSets = []string{"boston", "concrete", "energy", "yacht", "ionosphere", "vehicle", "linear"}

// Studies returns every built-in study of a profile, in the order of the
// paper, then ours, on data sets and models of the given registries. Data sets
// that are unavailable are replaced by those that stand in for them.
func Studies(p Profile, data datasets.Registry, all models.Registry, unavailable ...string) ([]Study, error) {
	g := &grid{Profile: p, data: data, models: all}
	for _, name := range data.StandIns(sweepSets, unavailable) {
		g.problems = append(g.problems, g.problem(name))
	}
	studies := []Study{
		g.bottleneck(),
		g.paths(),
		g.toy(),
		g.methods(),
		g.integrationLength(),
		g.friction(),
		g.synthetic(),
		g.table(datasets.Regression),
		g.table(datasets.Classification),
		g.autocorrelation(),
		g.precision(),
		orders(),
		claims(),
	}
	return studies, g.err
}

// grid makes the cells of a profile.
type grid struct {
	Profile
	data     datasets.Registry
	models   models.Registry
	problems []problem
	err      error // the first
}

// problem is a data set with its own model.
func (g *grid) problem(name string) problem {
	p, err := newProblem(g.data, g.models, name, "")
	if err != nil && g.err == nil {
		g.err = err
	}
	return p
}

// spec is the reference of a network's problem.
func (g *grid) spec(p problem, split int) oracle.Spec {
	return Setting{Split: split, Precision: g.Precision}.reference(p)
}

// cell is a cell in the profile's precision. The built-in models with exact
// posteriors have no splits: there the split's number seeds the chain.
func (g *grid) cell(p problem, split int, x Setting) Cell {
	if p.exact {
		x.Seed = 1 + uint64(split)
	} else {
		x.Split = split
	}
	x.Precision = g.Precision
	c, _ := x.cell(p)
	return c
}

// sweep is the cells of the given settings on every problem, split, batch
// size and step. Sizes that do not cut a problem's rows are left out.
func (g *grid) sweep(study string, variants []Setting) []Job {
	var cells []Job
	for _, p := range g.problems {
		for split := range g.Splits {
			for _, block := range g.Sweeps {
				if !g.covers(block, p) || block.Only != nil && !slices.Contains(block.Only, study) {
					continue
				}
				for _, batch := range block.BatchSizes {
					if batch != Full && chain.Batches(p.TrainRows, batch) == 1 {
						continue
					}
					for _, v := range variants {
						for _, h := range block.Steps {
							v.Step, v.Batch, v.Samples = h, batch, g.Samples
							cells = append(cells, Job{Cell: g.cell(p, split, v)})
						}
					}
				}
			}
		}
	}
	return cells
}

// references are those of every network problem and split.
func (g *grid) references(keep func(problem) bool) []ReferenceJob {
	var jobs []ReferenceJob
	for _, p := range g.problems {
		if !p.exact && keep(p) {
			for split := range g.Splits {
				jobs = append(jobs, ReferenceJob{Spec: g.spec(p, split)})
			}
		}
	}
	return jobs
}

func anyProblem(problem) bool { return true }

func (g *grid) bottleneck() Study {
	p := g.problem("linear")
	e := Study{ID: "bottleneck", Title: "Distance to the posterior for integrators of order 1 to 3 (linear model)"}
	for seed := range g.Splits {
		for _, batch := range []int{8, Full} {
			for _, name := range []string{"euler", "leapfrog", "lietrotter", "mt3"} {
				for _, h := range g.bottleneckSteps(name, batch) {
					e.Cells = append(e.Cells, Job{Cell: g.cell(p, seed, Setting{Integrator: name, Friction: paperFriction, Step: h, Batch: batch, Samples: g.BottleneckSamples})})
				}
			}
		}
	}
	e.Exact = exactBottleneck()
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

func (g *grid) paths() Study {
	p := g.problem("logistic")
	density := Cell{Observe: Density, Dataset: p.Name, Model: p.Model, Samples: densityGrid, Precision: "float64"}
	e := Study{ID: "paths", Title: "Sample paths for several frictions (two-parameter logistic regression)", Cells: []Job{{Cell: density}}}
	for _, friction := range []float64{0.1, 1, 5, 50} {
		c := g.cell(p, 0, Setting{Integrator: "leapfrog", Friction: friction, Step: pathStep, Batch: Full, Samples: pathSamples})
		c.Observe, c.Thin, c.BurnIn, c.Oracle, c.Precision = Path, 1, 0, "", "float64"
		e.Cells = append(e.Cells, Job{Cell: c})
	}
	return e
}

// toy is Figure 3 and appendix D: η = 0.4, C = 2, the exact flow of each
// batch. The paper draws the batches with replacement; reshuffle is the
// scheme of its theorem.
func (g *grid) toy() Study {
	p := g.problem("toy")
	e := Study{ID: "toy", Title: "Stationary distribution of the exact flow, full batch and mini-batches (toy)"}
	for _, s := range []Setting{
		{Scheme: "full", Batch: Full}, {Scheme: "replacement", Batch: 1}, {Scheme: "reshuffle", Batch: 1},
	} {
		s.Integrator, s.Friction, s.Step, s.Samples = "exact", 2, 0.4, g.ToySamples
		c := g.cell(p, 0, s)
		c.Observe, c.Thin = Histogram, 1
		e.Cells = append(e.Cells, Job{Cell: c})
	}
	return e
}

func (g *grid) methods() Study {
	var variants []Setting
	for _, name := range []string{"sghmc", "leapfrog", "symmetric", "lietrotter", "mt3"} {
		variants = append(variants, Setting{Integrator: name, Friction: paperFriction})
	}
	return Study{
		ID: "methods", Title: "Distance to the posterior against step and batch size, by method",
		Cells: g.sweep("methods", variants), References: g.references(anyProblem),
	}
}

func (g *grid) integrationLength() Study {
	var variants []Setting
	for _, inner := range g.Inner {
		variants = append(variants, Setting{Integrator: "lietrotter", Inner: inner, Friction: paperFriction})
	}
	return Study{
		ID: "integration-length", Title: "Distance to the posterior against step and batch size, by integration length (lietrotter)",
		Cells: g.sweep("integration-length", variants), References: g.references(anyProblem),
	}
}

func (g *grid) friction() Study {
	var variants []Setting
	for _, c := range g.Frictions {
		variants = append(variants, Setting{Integrator: "leapfrog", Friction: c})
	}
	return Study{
		ID: "friction", Title: "Distance to the posterior against step and batch size, by friction (leapfrog)",
		Cells: g.sweep("friction", variants), References: g.references(anyProblem),
	}
}

func (g *grid) synthetic() Study {
	p := g.problem("linear")
	c := g.cell(p, 0, Setting{Integrator: "leapfrog", Friction: paperFriction, Step: 0.005, Batch: Full})
	c.Observe = Marginals
	return Study{ID: "synthetic", Title: "True and sampled predictive posterior (linear model)", Cells: []Job{{Cell: c}}}
}

// reference is the cell that records an oracle.
func (g *grid) reference(p problem, split int) Cell {
	s := g.spec(p, split)
	return Cell{
		Observe: Reference, Dataset: p.Name, Split: split, Model: p.Model, Integrator: s.Integrator, Inner: 1,
		Friction: Friction(s.Friction), Scheme: "full", Batches: 1, Step: s.Step, Samples: s.Samples, Thin: s.Thin, BurnIn: s.BurnIn,
		Seed: s.Seed, Precision: s.Precision, Oracle: s.ID(),
	}
}

// table is a table of test scores: per data set and split the full-batch
// leapfrog chain (the paper's SHMC) and the adaptive SGHMC of the oracle.
func (g *grid) table(t datasets.Task) Study {
	keep := func(p problem) bool { return !p.exact && p.Task == t }
	title := "Test error and negative log-likelihood, regression"
	if t == datasets.Classification {
		title = "Test accuracy and negative log-likelihood, classification"
	}
	e := Study{ID: t.String(), Title: title, References: g.references(keep)}
	for _, p := range g.problems {
		if !keep(p) {
			continue
		}
		for split := range g.Splits {
			e.Cells = append(e.Cells, Job{Cell: g.reference(p, split)})
			var ch Choice
			for _, h := range tableSteps {
				ch = append(ch, Job{Cell: g.cell(p, split, Setting{Integrator: "leapfrog", Friction: paperFriction, Step: h, Batch: Full})})
			}
			e.Choices = append(e.Choices, ch)
		}
	}
	return e
}

func (g *grid) autocorrelation() Study {
	e := Study{ID: "autocorrelation", Title: "Lag-1 autocorrelation of the oracles", References: g.references(anyProblem)}
	for _, p := range g.problems {
		if p.exact {
			continue
		}
		for split := range g.Splits {
			e.Cells = append(e.Cells, Job{Cell: g.reference(p, split)})
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
func (g *grid) precision() Study {
	e := Study{ID: "precision", Title: "Distance to the posterior with network gradients in float32 and in float64 (leapfrog)", References: g.references(anyProblem)}
	for _, p := range g.problems {
		if p.exact {
			continue
		}
		for split := range g.Splits {
			for _, batch := range []int{8, Full} {
				c := g.cell(p, split, Setting{Integrator: "leapfrog", Friction: paperFriction, Step: safeStep(p, batch), Batch: batch, Samples: g.Samples})
				for _, c.Precision = range Precisions {
					e.Cells = append(e.Cells, Job{Cell: c})
				}
			}
		}
	}
	return e
}

// Stable steps of leapfrog chains with C = 5 in the paper's networks: seen to
// stay finite wherever a chain starts, with the full batch and with batches of
// 8. Other sets: precisionStep.
var safeFull, safeSmall = map[string]float64{"boston": 0.02, "concrete": 0.002, "energy": 0.002, "yacht": 0.002, "teacher-reg": 0.02},
	map[string]float64{"boston": 0.02, "concrete": 0.002, "energy": 0.001, "yacht": 0.001, "teacher-reg": 0.02}

// safeStep is the step of the comparison of precisions.
func safeStep(p problem, batch int) float64 {
	safe := safeSmall
	if batch == Full {
		safe = safeFull
	}
	return cmp.Or(safe[p.Name], precisionStep)
}

// covers reports whether the block is for a problem. A built-in set takes the
// blocks of the first set that it stands in for.
func (g *grid) covers(s Sweep, p problem) bool {
	if s.Datasets == nil || slices.Contains(s.Datasets, p.Name) {
		return true
	}
	i := slices.IndexFunc(g.data, func(d datasets.Dataset) bool { return d.StandIn == p.Name })
	return i >= 0 && slices.Contains(s.Datasets, g.data[i].Name)
}
