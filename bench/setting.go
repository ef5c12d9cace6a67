package bench

import (
	"cmp"
	"fmt"
	"regexp"

	"hambench/chain"
	"hambench/datasets"
	"hambench/internal/distinct"
	"hambench/models"
	"hambench/oracle"
	"hambench/usage"
)

// Full is the batch size that stands for all rows.
const Full = 0

// Setting is what a study chooses about a chain. NewStudy makes a cell of it: the
// rest follows from the data, from what the model can do, and from the paper's
// rules of simulation time (chain.PaperPlan). A zero field has the default that
// its comment states.
type Setting struct {
	Dataset    string
	Split      int
	Model      string     // default: the data set's own
	Hidden     []int      // widths of the layers of a model that takes them; default: its own
	Observe    Observable // default: Distance
	Integrator string
	Values     map[string]float64 // the integrator's own parameters; default: its defaults
	Estimator  string             // default: plain
	Inner      int                // N_l; default 1
	Friction   float64            // C; default 5, the paper's
	Scheme     string             // default: reshuffle; one batch has full
	Batch      int                // B, about the rows of a mini-batch; Full, 0, is all of them
	K          int                // batches, in place of Batch
	Step       float64            // h, in units of simulation time
	Samples    int                // default 200, the paper's
	Thin       int                // outer steps per sample; default: 2.5 units of time
	BurnIn     int                // outer steps; default: 10 units of time; or NoBurnIn
	Seed       uint64             // default 1
	Precision  string             // of a network's gradients; default float32
	// Reference is how reference chains are made where the posterior is not
	// known in closed form; default: as in the paper, oracle.NewSpec.
	Reference *oracle.Spec

	relative float64 // h as a fraction of the largest stable step, in place of Step: in files, whose profiles estimate it
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

// NewStudy returns a study with one cell for each setting, and the reference
// chains that the cells need, on the data sets and models of a source.
func NewStudy(src *models.Source, id, title string, settings ...Setting) (Study, error) {
	if !studyID.MatchString(id) {
		return Study{}, usage.Errorf("study %q: want an id of letters, digits, - and _", id)
	}
	s := Study{ID: id, Title: title}
	for _, x := range settings {
		p, err := newProblem(src.Datasets(), src.Models(), x)
		if err != nil {
			return Study{}, err
		}
		c, ref := x.cell(p)
		if err := c.Check(); err != nil {
			return Study{}, err
		}
		if err := p.checkObserves(c.Observe); err != nil {
			return Study{}, usage.Errorf("study %q: observe %w", id, err)
		}
		s.Cells = append(s.Cells, Job{Cell: c})
		if ref == nil {
			continue
		}
		if ref.Dataset != c.Dataset || ref.Split != c.Split || ref.Model != c.Model {
			return Study{}, usage.Errorf("study %q: reference of %s, split %d, %s for a chain on %s, split %d, %s: want the same",
				id, ref.Dataset, ref.Split, ref.Model, c.Dataset, c.Split, c.Model)
		}
		s.References = distinct.Append(s.References, ReferenceJob{Spec: *ref})
	}
	return s, nil
}

// problem is a data set with a model on it.
type problem struct {
	datasets.Dataset
	exact bool // the posterior is known: no reference chains are needed
	dim   int  // parameters of the model; 0 if that is known only when it runs
}

// checkObserves refuses what chains of the problem cannot record or, in a study's
// figure, show.
func (p problem) checkObserves(o Observable) error {
	on := fmt.Sprintf("is %q: model %q on data set %q", o, p.Model, p.Name)
	switch {
	case o == Reference && p.exact:
		return fmt.Errorf("%s has a known posterior, and no reference chains", on)
	case o == Histogram && (!p.exact || p.dim > 1):
		return fmt.Errorf("%s has no known posterior of one parameter", on)
	case o == Marginals && (!p.exact || p.Task != datasets.Regression || p.Features != 1):
		return fmt.Errorf("%s has no known posterior along one feature", on)
	case o == Density && p.dim > 0 && p.dim != 2:
		return fmt.Errorf("%s has %d parameters: want 2", on, p.dim)
	case o == Path && p.dim == 1:
		return fmt.Errorf("%s has 1 parameter: want 2 or more", on)
	}
	return nil
}

// newProblem looks a setting's data set and model up; "" is the model of the
// data set.
func newProblem(data datasets.Registry, all models.Registry, x Setting) (problem, error) {
	d, err := data.Lookup(x.Dataset)
	if err != nil {
		return problem{}, err
	}
	d.Model = models.WithHidden(cmp.Or(x.Model, d.Model), x.Hidden)
	m, err := all.For(d.Model, d.Name, d.Shape)
	p := problem{Dataset: d, exact: m.Exact}
	if err == nil && m.Dim != nil {
		p.dim = m.Dim(d.Shape, models.Options{})
	}
	return p, err
}

// cell fills in the defaults and what follows from the problem. The reference
// is nil where none judges the chain: where the posterior is known, and where
// no distance is recorded.
func (x Setting) cell(p problem) (Cell, *oracle.Spec) {
	c := Cell{
		Observe: cmp.Or(x.Observe, Distance), Dataset: p.Name, Split: x.Split, Model: p.Model,
		Integrator: x.Integrator, Values: x.Values, Estimator: x.Estimator, Inner: max(1, x.Inner), Friction: Friction(cmp.Or(x.Friction, paperFriction)),
		Scheme: cmp.Or(x.Scheme, "reshuffle"), Batches: chain.Batches(p.TrainRows, x.Batch), BatchSize: x.Batch,
		Step: x.Step, Samples: cmp.Or(x.Samples, paperSamples), Seed: cmp.Or(x.Seed, 1), Precision: "float64", Oracle: Analytic,
	}
	if x.K > 0 {
		c.Batches, c.BatchSize = x.K, max(1, p.TrainRows/x.K)
	}
	if c.Batches == 1 {
		c.Scheme, c.BatchSize = "full", Full
	}
	plan := chain.PaperPlan(c.Step, c.Inner, c.Samples)
	c.Thin, c.BurnIn = cmp.Or(x.Thin, plan.Thin), max(0, cmp.Or(x.BurnIn, plan.BurnIn))
	ref := x.reference(p)
	switch {
	case c.Observe == Density:
		return Cell{Observe: Density, Dataset: c.Dataset, Split: c.Split, Model: c.Model, Samples: c.Samples, Precision: "float64"}, nil
	case c.Observe == Path || c.Observe == Coupled:
		c.Oracle = ""
		if c.Observe == Coupled && !p.exact {
			c.Precision = cmp.Or(x.Precision, "float32")
		}
		return c, nil
	case p.exact:
		return c, nil
	case c.Observe == Reference:
		c = Cell{
			Observe: Reference, Dataset: c.Dataset, Split: c.Split, Model: c.Model, Integrator: ref.Integrator, Inner: 1,
			Friction: Friction(ref.Friction), Scheme: "full", Batches: 1, Step: ref.Step, Samples: ref.Samples, Thin: ref.Thin, BurnIn: ref.BurnIn,
			Seed: ref.Seed,
		}
		x.Precision = ref.Precision
	}
	c.Precision = cmp.Or(x.Precision, "float32")
	c.Oracle = ref.ID()
	return c, &ref
}

// reference is the spec of the setting's reference chains.
func (x Setting) reference(p problem) oracle.Spec {
	if x.Reference != nil {
		return *x.Reference
	}
	s := oracle.NewSpec(p.Name, x.Split, p.Model)
	s.Precision = cmp.Or(x.Precision, s.Precision)
	return s
}
