package models

import (
	"strings"

	"hambench/datasets"
	"hambench/usage"
)

// Options are a model's options; the zero value is the paper's choice.
type Options struct {
	// Precision is float32 or float64, of a network's gradients and
	// Hessian-vector products; "" means float32. The other models compute in
	// float64 whatever it says.
	Precision string
	// Hidden are the widths of a network's hidden layers; nil means four of
	// 50 for regression and two of 50 for classification.
	Hidden []int
}

// Model describes a model and makes targets of it.
type Model struct {
	Name  string
	About string // one line for lists
	// New conditions the model on the training rows of a split, to predict
	// at its test rows. Data that the model cannot take is a usage error.
	New func(s *datasets.Split, o Options) (Target, error)
}

// Models returns every model. Adding one is a line here.
func Models() []Model {
	return []Model{
		{"toy", "normal mean with a normal prior; exact posterior", newToy},
		{"logistic", "logistic regression with an intercept", newLogistic},
		{"linear", "linear regression on 256 trigonometric features; exact posterior", newLinear},
		{"bnn", "ReLU network with NTK scaling, for regression and classification", newBNN},
	}
}

// Names returns the names of the models.
func Names() []string {
	var names []string
	for _, m := range Models() {
		names = append(names, m.Name)
	}
	return names
}

// New returns a model, by its name, on a split of a data set. An unknown name
// is a usage error that lists what there is.
func New(name string, s *datasets.Split, o Options) (Target, error) {
	for _, m := range Models() {
		if m.Name == name {
			return m.New(s, o)
		}
	}
	return nil, usage.Errorf("unknown model %q: want one of %s", name, strings.Join(Names(), ", "))
}

// For returns the name of the model that the experiments put on a data set:
// the one of the same name, or else a network.
func For(dataset string) string {
	for _, m := range Models() {
		if m.Name == dataset {
			return m.Name
		}
	}
	return "bnn"
}

// mismatch is the error of data that a model cannot take.
func mismatch(model, want string, s *datasets.Split) error {
	return usage.Errorf("model %q wants %s: data set %q is a %v with %d features, %d classes and %d training rows",
		model, want, s.Name, s.Task, s.Features, s.Classes, s.TrainRows())
}
