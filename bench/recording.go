package bench

import (
	"fmt"
	"slices"
	"strings"

	"hambench/internal/distinct"
	"hambench/models/datasets"
)

// Observable names what a cell records of its chain.
type Observable string

const (
	// Distance records the Kolmogorov distance of the predictive marginals
	// to the oracle, and the test scores.
	Distance Observable = "distance"
	// Histogram records the draws of a one-parameter target as counts: the
	// series edges (bins + 1), counts, and the exact posterior's mean and sd
	// (one number each).
	Histogram Observable = "histogram"
	// Path records the positions of a chain that starts at the prior mean,
	// one per sample: the series theta0, theta1, ….
	Path Observable = "path"
	// Density records the log-density of a two-parameter target, minus its
	// maximum, on a grid of Samples × Samples points over the box that holds
	// its mass: the series theta0, theta1 (the axes) and logdensity (row by
	// row, each row at one theta1). No chain runs.
	Density Observable = "density"
	// Marginals records the predictive marginals as well as the distance:
	// the series x (test inputs), q05, q25, q50, q75, q95, exact_mean,
	// exact_sd, train_x, train_y.
	Marginals Observable = "marginals"
	// Reference records the oracle itself: scores and diagnostics of its
	// draws. No further chain runs.
	Reference Observable = "reference"
	// Coupled records how much the means of the predictive values differ
	// between coupled chains at h and h/2, as the scores coupled and
	// coupled-chance (oracle.CoupledBias). The chains are not judged.
	Coupled Observable = "coupled"
	// Learning records by how much the mean loss of the chain exceeds that at its start,
	// over the temperature, as the scores llc, an estimate of the local learning coefficient,
	// llc_se, its standard error by the effective sample size, and llc_known where the
	// model knows the coefficient. The chain is not judged.
	Learning Observable = "learning"
)

// recording declares an observable: all that studies need to know of it. Package sweep
// records it, and package figures shows it.
type recording struct {
	Observable
	// chains is how many chains of the cell's length are run for it: 0 for none.
	chains int64
	// judged says that an oracle judges the cell, and starts its chain if there is one.
	judged bool
	// sampled says that draws of a known posterior judge the cell, as the paper compares
	// samples, and not its exact law.
	sampled bool
	// value is the observation that cells of this observable have in the place of a distance.
	value string
	// wants returns what a problem lacks for it, as the rest of a sentence, or "".
	wants func(p problem) string
}

// recordings are all declarations, in the order in which errors list their names.
var recordings = []recording{
	{Observable: Distance, chains: 1, judged: true, sampled: true},
	{Observable: Histogram, chains: 1, judged: true, wants: func(p problem) string {
		return lack(!p.exact || p.dim > 1, "no known posterior of one parameter")
	}},
	{Observable: Path, chains: 1, wants: func(p problem) string {
		return lack(p.dim == 1, "1 parameter: want 2 or more")
	}},
	{Observable: Density, wants: func(p problem) string {
		return lack(p.dim > 0 && p.dim != 2, "%d parameters: want 2", p.dim)
	}},
	{Observable: Marginals, chains: 1, judged: true, sampled: true, wants: func(p problem) string {
		along := p.exact && p.Task == datasets.Regression && p.Features == 1
		return lack(!along, "no known posterior along one feature")
	}},
	{Observable: Reference, judged: true, wants: func(p problem) string {
		return lack(p.exact, "a known posterior, and no reference chains")
	}},
	{Observable: Coupled, chains: 3, value: "coupled"},
	{Observable: Learning, chains: 1, value: "llc"},
}

// Recorded returns which cells have the observation of a name in the place of a distance: all
// others have a distance and scores.
func Recorded(value string) Observable {
	for _, r := range recordings {
		if r.value != "" && r.value == value {
			return r.Observable
		}
	}
	return Distance
}

// lack returns the text if something is lacking, and "" if not.
func lack(lacking bool, format string, args ...any) string {
	if !lacking {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// observables are the names of the recordings.
var observables = distinct.Of(recordings, func(r recording) Observable { return r.Observable })

// recording returns the observable's declaration; that of Distance for a name that has
// none, which no file can state.
func (o Observable) recording() recording {
	i := slices.Index(observables, o)
	return recordings[max(i, 0)]
}

// Judged reports whether an oracle judges cells of the observable: others have no distance.
func (o Observable) Judged() bool { return o.recording().judged }

// join lists observables for messages.
func join(obs []Observable) string { return strings.Join(texts(obs), ", ") }

// checkObserves refuses what chains of the problem cannot record or, in a study's figure,
// show. The text has no subject: the place of the key, or the study, stands before it.
func (p problem) checkObserves(o Observable) error {
	wants := o.recording().wants
	if wants == nil {
		return nil
	}
	if text := wants(p); text != "" {
		return fmt.Errorf("is %q: model %q on data set %q has %s", o, p.Model, p.Name, text)
	}
	return nil
}
