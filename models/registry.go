package models

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"hambench/internal/kernel"
	"hambench/models/datasets"
	"hambench/usage"
)

// Options holds what a caller may choose of a model; the zero value is the paper's
// choice.
type Options struct {
	// Precision is float32 or float64, of a network's gradients and
	// Hessian-vector products; "" means float32. The other models compute in
	// float64 whatever it says.
	Precision string
	// Hidden are the widths of a network's hidden layers; nil means four of
	// 50 for regression and two of 50 for classification.
	Hidden []int
	// Plain does without the machine's vector instructions: every amd64 machine
	// then computes the same numbers, slowly.
	Plain bool

	ctx       context.Context // ends the calls of external models; set by a Source
	processes *Processes      // of external models; set by a Source
}

// kernels returns the machine kernels that the options allow.
func (o Options) kernels() kernel.Set {
	if o.Plain {
		return kernel.Plain()
	}
	return kernel.Default()
}

// Model is an entry of a Registry: what is known of a model before it is put
// on data. What it declares is verified when a target is made. Where a target
// takes part is decided by its Capabilities, never by the model's name.
type Model struct {
	Name  string
	About string // one line for lists
	// Dataset is the built-in data set to show the model on; "" means none.
	Dataset string
	// Wants says in words what Takes asks of data; a nil Takes accepts any.
	Wants string
	Takes func(s datasets.Shape) bool
	// Exact says that the posterior is known in closed form: targets are
	// Analytic. Other targets are judged by reference chains.
	Exact bool
	// Of makes the model that a name with an argument after a colon stands for,
	// such as bnn:20,20; nil if the model takes none. An argument that it cannot
	// read is a usage error.
	Of func(m Model, argument string) (Model, error)
	// Dim is the number of parameters on data of a shape, for estimates of
	// cost before data are loaded; nil if that is not known.
	Dim func(s datasets.Shape, o Options) int
	// New conditions the model on the training rows of a split, to predict
	// at its test rows. It is called with data that the model takes; options
	// that it cannot serve are usage errors.
	New func(s *datasets.Split, o Options) (Target, error)

	checked bool // by tests, or by New: its targets are what they declare
}

// Check returns a usage error that names the model and the data set, if the model
// cannot take data of this shape.
func (m Model) Check(dataset string, s datasets.Shape) error {
	if m.Takes == nil || m.Takes(s) {
		return nil
	}
	return usage.Errorf(
		"model %q wants %s: data set %q is a %v with %d features, %d classes and %d training rows",
		m.Name, m.Wants, dataset, s.Task, s.Features, s.Classes, s.TrainRows)
}

// On conditions the model on a split. Data that the model cannot take are a usage
// error. A target that contradicts what the model declares, Dim or Exact, or whose gradient
// is not that of its potential, is an error of the model.
func (m Model) On(s *datasets.Split, o Options) (Target, error) {
	if err := m.Check(s.Name, s.Shape()); err != nil {
		return nil, err
	}
	t, err := m.New(s, o)
	if err != nil {
		return nil, err
	}
	if m.Dim != nil && m.Dim(s.Shape(), o) != t.Dim() {
		return nil, fmt.Errorf("model %q declares %d parameters on data set %q: its target has %d",
			m.Name, m.Dim(s.Shape(), o), s.Name, t.Dim())
	}
	if exact := CapabilitiesOf(t).Analytic != nil; exact != m.Exact {
		return nil, fmt.Errorf("model %q declares Exact %v: its target says %v",
			m.Name, m.Exact, exact)
	}
	if !m.checked {
		if err := checkGradient(t); err != nil {
			return nil, usage.Errorf("model %q on data set %q: %w", m.Name, s.Name, err)
		}
	}
	return t, nil
}

// Registry is a list of models. A program's own are appended to those of
// Builtin.
type Registry []Model

// Builtin returns the models of the paper and the external one.
func Builtin() Registry {
	all := Registry{
		{
			Name: "toy", Dataset: "toy", Exact: true, New: newToy,
			About: "normal mean with a normal prior; exact posterior",
			Wants: "targets without features",
			Takes: func(s datasets.Shape) bool {
				return s.Task == datasets.Regression && s.Features == 0 && s.TrainRows > 0
			},
			Dim: func(datasets.Shape, Options) int { return 1 },
		},
		{
			Name: "logistic", Dataset: "logistic", Dim: logisticDim, New: newLogistic,
			About: "logistic regression with an intercept; on more than two classes, " +
				"a network without hidden layers",
			Wants: "features and classes",
			Takes: func(s datasets.Shape) bool {
				return s.Classes >= 2 && s.Features > 0 && s.TrainRows > 0
			},
		},
		{
			Name: "linear", Dataset: "linear", Exact: true, New: newLinear,
			About: "linear regression with an intercept, on a single feature with " +
				"256 trigonometric ones of it; exact posterior",
			Wants: "regression on features",
			Takes: func(s datasets.Shape) bool {
				return s.Task == datasets.Regression && s.Features > 0 && s.TrainRows > 0
			},
			Dim: func(s datasets.Shape, _ Options) int { return features(s) },
		},
		{
			Name: "bnn", Dataset: "teacher-reg", Of: withLayers, Dim: networkDim, New: newBNN,
			About: "ReLU network with NTK scaling, for regression and classification; " +
				"bnn:20,20 has two layers of 20",
			Wants: "features",
			Takes: func(s datasets.Shape) bool { return s.Features > 0 && s.TrainRows > 0 },
		},
		{
			Name: "linear-net", Dataset: datasets.None, Of: linearNetOf,
			About: "linear network with data of its own, linear-net:5,3,5/2 with a truth of " +
				"rank 2; its learning coefficient is known",
			// Without widths nothing can be made: linearNetOf replaces this where they are stated.
			New: func(*datasets.Split, Options) (Target, error) {
				return nil, usage.Errorf("model \"linear-net\" without its widths: want those of " +
					"inputs, hidden layers and outputs, as in linear-net:5,3,5")
			},
			Wants: "no rows", Takes: noRows,
		},
		{
			Name: "crossing", Dataset: datasets.None, Exact: true, New: newCrossing,
			About: "two weights whose product is fitted to 0, U = 1000(ab)²/2 + (a² + b²)/2; " +
				"exact posterior",
			Wants: "no rows", Takes: noRows,
			Dim: func(datasets.Shape, Options) int { return 2 },
		},
		{
			// Takes and Dim are nil: it takes any data, and its process alone knows its dimension.
			Name: "exec", Dataset: datasets.None, New: newExternal(""),
			About: "model in any language: exec:CMD answers for its gradients (docs/samplers.md)",
			Of: func(m Model, command string) (Model, error) {
				m.New = newExternal(command)
				return m, nil
			},
		},
	}
	// On need not compare their gradients with their potentials: tests do, and New does of exec.
	for i := range all {
		all[i].checked = true
	}
	return all
}

// noRows says that a model has data of its own.
func noRows(s datasets.Shape) bool { return s.TrainRows == 0 }

// External reports whether a name is that of a model in another process, exec:CMD.
func External(name string) bool { return strings.HasPrefix(name, "exec:") }

// Lookup returns the model with a name, which may have an argument after a colon,
// as bnn:20,20 and exec:CMD do. A name that is unknown, or that two models have, and
// an argument that the model does not take are usage errors.
func (r Registry) Lookup(name string) (Model, error) {
	base, argument, given := strings.Cut(name, ":")
	m, err := usage.Lookup("model", base, r, func(m Model) string { return m.Name })
	if err != nil || !given {
		return m, err
	}
	if m.Of == nil {
		return m, usage.Errorf("model %q has nothing to choose: want no more than its name", base)
	}
	m.Name = name
	return m.Of(m, argument)
}

// withLayers returns the network with hidden layers of the widths in a list, as
// WithHidden writes it; they take precedence over Options.Hidden.
func withLayers(m Model, list string) (Model, error) {
	hidden, err := m.readWidths(list, " of a hidden layer")
	if err != nil {
		return m, err
	}
	build, dim := m.New, m.Dim
	m.New = func(s *datasets.Split, o Options) (Target, error) {
		o.Hidden = hidden
		return build(s, o)
	}
	m.Dim = func(s datasets.Shape, o Options) int {
		o.Hidden = hidden
		return dim(s, o)
	}
	return m, nil
}

// For returns the model with a name for a data set of a shape. A model that cannot
// take the data is a usage error that lists those that can.
func (r Registry) For(name, dataset string, s datasets.Shape) (Model, error) {
	m, err := r.Lookup(name)
	if err != nil {
		return m, err
	}
	if err := m.Check(dataset, s); err != nil {
		var fit []string
		for _, other := range r {
			if other.Check(dataset, s) == nil {
				fit = append(fit, other.Name)
			}
		}
		return m, usage.Errorf("%w: want one of %s", err, strings.Join(fit, ", "))
	}
	return m, nil
}

// widest is the largest width of a layer that a name may state.
const widest = 10_000

// readWidths reads a list of widths; what says in an error which widths they are.
func (m Model) readWidths(list, what string) (widths []int, err error) {
	for _, w := range strings.Split(list, ",") {
		n, err := strconv.Atoi(w)
		if err != nil || n < 1 || n > widest {
			return nil, usage.Errorf("model %q: width %q%s: want 1 to %d", m.Name, w, what, widest)
		}
		widths = append(widths, n)
	}
	return widths, nil
}

// WithHidden returns the name of a model with layers of the given widths: bnn:20,20.
func WithHidden(name string, widths []int) string {
	for i, w := range widths {
		name += string(":,"[min(i, 1)]) + strconv.Itoa(w)
	}
	return name
}

// New conditions the model with a name on a split: Lookup and Model.On in one, with
// their errors.
func (r Registry) New(name string, s *datasets.Split, o Options) (Target, error) {
	m, err := r.Lookup(name)
	if err != nil {
		return nil, err
	}
	return m.On(s, o)
}
