package bench

import (
	"cmp"
	"math"
	"regexp"

	"hambench/chain"
	"hambench/integrators/estimators"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
)

// Full is the batch size that stands for all rows.
const Full = 0

// draft is a cell of which some things are stated. A field with its zero value has its
// default, which the settings' declarations describe; Batches is K, if that is stated
// in place of B.
// Keys of a file end up here; cell fills in the rest.
type draft struct {
	Cell
	hidden   []int   // widths of the layers of a model that takes them; default: its own
	relative float64 // h as a fraction of the largest stable step, in place of Step
}

// NoBurnIn is the BurnIn of chains without burn-in.
const NoBurnIn = -1

// The paper's numbers, where it does not vary them.
const (
	paperSamples  = 200
	paperFriction = 5
)

// studyID is what an id may be: it becomes a part of files' names.
var studyID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// problem is a data set with a model on it.
// It is looked up in registries: nothing is loaded.
type problem struct {
	datasets.Dataset
	exact bool // the posterior is known: no reference chains are needed
	dim   int  // parameters of the model; 0 if that is known only when it runs
}

// newProblem looks a draft's data set and model up; "" is the model of the
// data set.
// An unknown name, and a model that does not take the data, are usage errors.
func newProblem(data datasets.Registry, all models.Registry, x draft) (problem, error) {
	d, err := data.Lookup(x.Dataset)
	if err != nil {
		return problem{}, err
	}
	d.Model = models.WithHidden(cmp.Or(x.Model, d.Model), x.hidden)
	m, err := all.For(d.Model, d.Name, d.Shape)
	p := problem{Dataset: d, exact: m.Exact}
	if err == nil && m.Dim != nil {
		p.dim = m.Dim(d.Shape, models.Options{})
	}
	return p, err
}

// cell fills in the defaults and what follows from the problem. Of the reference there are
// its chains or, where the posterior is known, as many exact draws; it is returned as nil
// where none judges the chain: there, and where no distance is recorded.
// Settings that the observable or the posterior make meaningless are reset, so that cells
// that differ in these alone are one.
func (x draft) cell(p problem, ref oracle.Spec) (Cell, *oracle.Spec) {
	c := x.Cell
	c.Dataset, c.Model, c.Oracle, c.Precision = p.Name, p.Model, Analytic, "float64"
	c.Observe, c.Scheme = cmp.Or(c.Observe, Distance), cmp.Or(c.Scheme, "reshuffle")
	c.Estimator = cmp.Or(c.Estimator, estimators.Plain.Name)
	c.Inner, c.Friction = max(1, c.Inner), cmp.Or(c.Friction, paperFriction)
	c.Samples, c.Seed = cmp.Or(c.Samples, paperSamples), cmp.Or(c.Seed, 1)
	if c.Batches > 0 {
		c.BatchSize = max(1, p.TrainRows/c.Batches)
	} else {
		c.Batches = chain.Batches(p.TrainRows, c.BatchSize)
	}
	// With one batch every scheme is the same.
	if c.Batches == 1 {
		c.Scheme, c.BatchSize = "full", Full
	}
	plan := chain.PaperPlan(c.Step, c.Samples)
	c.Thin, c.BurnIn = cmp.Or(x.Thin, plan.Thin), max(0, cmp.Or(x.BurnIn, plan.BurnIn))
	var more map[string]any // of cells without a chain: what changes their target
	if c.tempered() {
		more = c.More
	}
	switch {
	// A density depends on the target alone: of the settings of a chain it has none.
	case c.Observe == Density:
		return Cell{
			Observe: Density, Dataset: c.Dataset, Split: c.Split, Model: c.Model,
			Estimator: estimators.Plain.Name, Samples: c.Samples,
			Precision: "float64", More: more,
		}, nil
	// Nothing judges the chain. Of such chains only coupled ones run in the precision that is
	// stated, where the model is a network; the others run in float64.
	case !c.Observe.Judged():
		c.Oracle = ""
		if c.Observe == Coupled && !p.exact {
			c.Precision = cmp.Or(x.Precision, "float32")
		}
		return c, nil
	// The posterior is known, and the model has no network whose gradients could be float32.
	case p.exact:
		if c.Observe.recording().sampled {
			c.ExactDraws = &oracle.ExactDraws{Chains: ref.Chains, Samples: ref.Samples,
				Seed: ref.Seed}
		}
		return c, nil
	// The cell is the reference itself: its settings are those of the spec, whatever is stated.
	case c.Observe == Reference:
		c = Cell{
			Observe: Reference, Dataset: c.Dataset, Split: c.Split, Model: c.Model,
			Integrator: ref.Integrator, Inner: 1,
			Estimator: estimators.Plain.Name,
			Friction:  Real(ref.Friction), Scheme: "full", Batches: 1, Step: ref.Step,
			Samples: ref.Samples, Thin: ref.Thin, BurnIn: ref.BurnIn,
			Seed: ref.Seed, More: more,
		}
		x.Precision = ref.Precision
	}
	c.Precision = cmp.Or(x.Precision, "float32")
	c.Oracle = ref.ID()
	return c, &ref
}

// ReferenceSpec is the spec of reference chains of which nothing is stated but, if it is not "",
// the precision: the usual one, at the step that the data set needs.
func ReferenceSpec(d datasets.Dataset, split int, model, precision string) oracle.Spec {
	s := oracle.NewSpec(d.Name, split, model)
	// With a smaller step, thinning and burn-in take more steps, for the same simulation time.
	if h := d.ReferenceStep; h > 0 {
		times := max(1, int(math.Round(s.Step/h)))
		s.Step, s.Thin, s.BurnIn = h, times*s.Thin, times*s.BurnIn
	}
	s.Precision = cmp.Or(precision, s.Precision)
	return s
}
