package bench

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hambench/bench/table"
	"hambench/internal/distinct"
	"hambench/models/datasets"
)

// FigureSpec says how a study's cells are drawn, in terms of a cell's settings
// (ShownSettings, or a parameter of its integrator) and of what is observed
// (Observations), by their names in files. Of what varies but is not on an axis a point
// shows the median, with a band. An empty field has the default that its comment states.
type FigureSpec struct {
	// Kind names a figure of package figures; "" is the figure that the other
	// fields describe.
	Kind   string   `json:"kind,omitempty"`
	Panels []string `json:"panels,omitempty"` // rows, then columns; default: data, batch
	// a setting, an observation or OnRelative; default: step
	X     string   `json:"x,omitempty"`
	Lines []string `json:"lines,omitempty"` // default: all other settings that vary
	Y     string   `json:"y,omitempty"`     // an observation; default: distance
	// XScale and YScale are log or linear. By default x and distances are logarithmic, all else
	// is linear, and so is an observed x that is 0 or less anywhere.
	XScale string `json:"x_scale,omitempty"`
	YScale string `json:"y_scale,omitempty"`
}

// OnRelative is the value of X that shows steps over the largest stable one of their data set, as
// the study states them: sets whose steps are decades apart stand side by side.
const OnRelative = "relative"

// Values of the axes of a figure of exact errors (kind "orders"), which shows no
// settings or observations: X is step or OnBudget, Y any of the others. Lines is
// scheme, or what takes its place: integrator or estimator.
const (
	OnError           = "error" // the default
	OnKolmogorov      = "kolmogorov"
	OnWasserstein     = "wasserstein"
	OnEnergy          = "covariance-bias" // against the energy error of the step's batch
	OnAutocorrelation = "autocorrelation"
	OnMSE             = "mse" // against the step, or at the best step against the budget
	OnBudget          = "budget"
)

// answers are the values of Y with the key of [[exact]] that asks for them.
var answers = map[string]string{OnError: "", OnKolmogorov: "distance", OnWasserstein: "distance",
	OnEnergy: "energy", OnAutocorrelation: "budget", OnMSE: "budget"}

// figureKind is a figure that package figures has by name.
// Its axes are fixed, so that a study states none.
type figureKind struct {
	name     string
	observes []Observable // by its cells; nil: it shows none of them
	// free takes out of a cell what its panels may differ in, which differ names;
	// nil: it may be anything. What captions say of one cell must hold for all.
	free   func(*Cell)
	differ string
	// only reports whether captions are true of a cell; want says which those are. nil: of any.
	only func(Cell) bool
	want string
	// oneModel says that chains on a data set are shown together whatever their model is.
	oneModel bool
}

// figureKinds are all figures with a name. The figure that a study describes has none.
var figureKinds = []figureKind{
	// A panel for each friction: paths over the target's density.
	{name: "paths", observes: []Observable{Density, Path}, differ: "friction alone",
		free: func(c *Cell) { c.Friction = 0 }},
	// A panel for each number of batches and scheme: histograms against the exact law.
	{name: "toy", observes: []Observable{Histogram}, differ: "batches and scheme alone",
		free: func(c *Cell) { c.Batches, c.BatchSize, c.Scheme = 0, 0, "" },
		only: func(c Cell) bool { return c.Integrator == "exact" },
		want: `integrator = "exact"`},
	// One panel: bands of the predictive law along the input.
	{name: "synthetic", observes: []Observable{Marginals}, differ: "nothing", free: func(*Cell) {}},
	{name: "orders"},
	// A line for each data set and method, of which leapfrog is one.
	{name: "scores", observes: []Observable{Distance, Reference}, oneModel: true,
		free: ofSetAndStep, differ: "data set, model, precision, step, thin and burn alone",
		only: func(c Cell) bool {
			return c.Observe == Reference || c.Integrator == "leapfrog" && c.Batches == 1
		},
		want: `integrator = "leapfrog" and batch = "full"`},
	{name: "autocorrelation", observes: []Observable{Reference}},
	{name: "claims"},
	// A place for all chains on a data set that agree in K, friction, step and scheme.
	{name: "regimes", observes: []Observable{Distance}, oneModel: true,
		free: func(c *Cell) {
			ofSetAndStep(c)
			c.Batches, c.BatchSize, c.Scheme, c.Friction = 0, 0, "", 0
		},
		differ: "data set, model, precision, batch, K, scheme, step, thin, burn and friction " +
			"alone"},
}

// ofSetAndStep takes a cell's data set out of it, its step, and what goes with either.
func ofSetAndStep(c *Cell) {
	c.Dataset, c.Model, c.Precision, c.Oracle, c.ExactDraws = "", "", "", "", nil
	c.Step, c.Thin, c.BurnIn = 0, 0, 0
}

// sampler is an exact job without what places of the kind "regimes" differ in.
func sampler(j ExactJob) string {
	e := j.Exact
	e.Name, e.Problem, e.Schemes, e.Steps = "", nil, nil, nil
	return digest(e)
}

// checkCells refuses a figure that cannot show the study's cells, before they are
// run.
// The text of the error has no subject, since the key's place stands before it.
func (g FigureSpec) checkCells(s Study, data datasets.Registry) error {
	jobs := s.Cells
	// The figure without a kind shows distances, or what Y says is recorded in their place.
	kind := figureKind{observes: []Observable{Recorded(g.Y)}}
	if i := slices.IndexFunc(figureKinds,
		func(k figureKind) bool { return k.name == g.Kind }); i >= 0 {
		kind = figureKinds[i]
	}
	// first is the stream of the first cell without the settings in which panels may differ. Every
	// other cell must have the same one.
	var first string
	var densities int
	var targets []string              // data sets, models and what tempers them
	models := make(map[string]string) // of data sets
	for _, j := range jobs {
		c := j.Cell
		if kind.observes != nil && !slices.Contains(kind.observes, c.Observe) {
			want := "want another kind or y"
			if value := c.Observe.recording().value; value != "" {
				want = fmt.Sprintf("state [figure] with y = %q", value)
			}
			return fmt.Errorf("shows cells that observe %s, and one of these observes %s: %s",
				join(kind.observes), c.Observe, want)
		}
		if kind.only != nil && !kind.only(c) {
			return fmt.Errorf("kind = %q: want %s for all cells", g.Kind, kind.want)
		}
		if of, ok := models[c.Dataset]; kind.oneModel && ok && of != c.Model {
			return fmt.Errorf("kind = %q: want one model on data set %q, and there are %s and %s",
				g.Kind, c.Dataset, of, c.Model)
		}
		models[c.Dataset] = c.Model
		if c.Observe == Density {
			densities++
		}
		targets = distinct.Append(targets, fmt.Sprint(c.Dataset, c.Model, c.More))
		// A density has no friction: it lies beneath the paths of all. References are made as
		// [reference] says.
		if kind.free == nil || c.Observe == Density || c.Observe == Reference {
			continue
		}
		kind.free(&c)
		if c.Split, c.Seed = 0, 0; first == "" {
			first = c.Stream()
		}
		if c.Stream() != first {
			return fmt.Errorf("kind = %q: its cells may differ in %s, and these do in more", g.Kind,
				kind.differ)
		}
	}
	if g.Kind == "paths" && densities > 0 && (densities > 1 || len(targets) > 1) {
		return errors.New(`kind = "paths": want one density, of the target of all paths`)
	}
	if g.Kind == "regimes" && len(distinct.Of(s.Exact, sampler)) > 1 {
		return errors.New(`kind = "regimes": its exact errors may differ in problem, friction, ` +
			`scheme and step alone, and these do in more`)
	}
	switch {
	case g.Kind == "orders" && s.Exact == nil:
		return errors.New("kind = \"orders\" shows exact errors: want [[exact]]")
	case g.Kind != "" && g.Kind != "orders" && (g.Panels != nil || g.Lines != nil ||
		g.X+g.Y+g.XScale+g.YScale != ""):
		return fmt.Errorf("kind = %q has axes of its own: leave panels, lines, x, y and their "+
			"scales out", g.Kind)
	case g.Kind != "" || len(jobs) == 0:
		return nil
	case slices.ContainsFunc(declared, func(s Setting) bool {
		return s.Name == g.X && s.Kind != table.Number
	}):
		return fmt.Errorf("x = %q is no number: want one, or what is observed", g.X)
	case g.X == OnRelative &&
		slices.ContainsFunc(jobs, func(j Job) bool { return j.Relative == 0 }):
		return fmt.Errorf("x = %q: want all steps relative to the stable one, as stable/8", g.X)
	}
	if err := checkScores(jobs, data, g.X, g.Y); err != nil {
		return err
	}
	names := []string{g.X}
	if g.X == OnRelative {
		names = nil
	}
	return checkNames(jobs, g.Panels, g.Lines, names)
}

// checkScores refuses scores that none of the cells' data sets has: those of the other task, and
// all of models with data of their own, which have no test rows. Settings are no observations,
// and have no task.
func checkScores(jobs []Job, data datasets.Registry, names ...string) error {
	for _, name := range names {
		o, err := LookupObservation(name)
		if err != nil || o.Task == nil {
			continue
		}
		has := func(j Job) bool {
			d, err := data.Lookup(j.Cell.Dataset)
			return err == nil && d.Task == *o.Task && !j.Cell.HasOwnData()
		}
		if !slices.ContainsFunc(jobs, has) {
			return fmt.Errorf("%s is a score of a %s: none of the data sets is one", name, *o.Task)
		}
	}
	return nil
}

// check refuses a table that cannot show the study's cells.
// Special figures bring tables of their own.
func (t TableSpec) check(s Study, g FigureSpec, data datasets.Registry) error {
	if g.Kind != "" || len(s.Cells) == 0 {
		return fmt.Errorf("a study without cells, or with a figure of kind %q, has no table of "+
			"its own: leave it out", g.Kind)
	}
	// A table has dashes for the scores that some of its sets lack, but is not of dashes alone.
	there := func(name string) bool { return checkScores(s.Cells, data, name) == nil }
	if len(t.Values) > 0 && !slices.ContainsFunc(t.Values, there) {
		return checkScores(s.Cells, data, t.Values...)
	}
	return checkNames(s.Cells, t.Rows, t.Columns)
}

// checkNames refuses parameters that none of the cells has.
// The error names the parameter; settings and observations need no check, since files are
// read by their names.
func checkNames(jobs []Job, lists ...[]string) error {
	for _, name := range slices.Concat(lists...) {
		if name == "" || slices.Contains(axisNames(), name) || slices.Contains(valueNames(), name) {
			continue
		}
		if !slices.ContainsFunc(jobs,
			func(j Job) bool { _, ok := j.Cell.Values[name]; return ok }) {
			return fmt.Errorf("no cell has the parameter %q", name)
		}
	}
	return nil
}

// checkAnswers refuses axes that no figure of these exact errors has, and axes of
// exact errors in any other figure; alone says that the study has nothing else.
// Exact errors have another set of axes than cells, of which each needs what its key in
// [[exact]] asks for.
func (g *FigureSpec) checkAnswers(exact []ExactJob, alone bool) error {
	// want is the key of [[exact]] that asks for what Y shows, "" for errors, which every job has.
	want, isAnswer := answers[cmp.Or(g.Y, OnError)]
	ofExact := g.Kind == "orders" || g.Kind == "" && alone
	switch {
	case !ofExact && g.X != OnBudget && (g.Y == "" || !isAnswer):
		return nil
	case !ofExact:
		return fmt.Errorf("axes %q and %q are those of exact errors: want kind = \"orders\"", g.X,
			g.Y)
	case !isAnswer:
		return fmt.Errorf("y = %q of exact errors: want one of %s", g.Y,
			strings.Join(slices.Sorted(maps.Keys(answers)), ", "))
	case !slices.Contains([]string{"", "step", OnBudget}, g.X):
		return fmt.Errorf("x = %q of exact errors: want step or budget", g.X)
	case g.X == OnBudget && g.Y != OnMSE:
		return fmt.Errorf("x = %q: want y = %q, which is what depends on it", g.X, OnMSE)
	case g.XScale+g.YScale != "":
		return errors.New("of exact errors: axes are logarithmic: leave their scales out")
	case g.Panels != nil || len(g.Lines) > 1 || len(g.Lines) == 1 &&
		!slices.Contains([]string{"scheme", "integrator", "estimator"}, g.Lines[0]):
		return fmt.Errorf("of exact errors: want lines = scheme, integrator or estimator, and " +
			"no panels")
	case want != "" && !slices.ContainsFunc(exact, func(j ExactJob) bool {
		return want == "budget" && j.Exact.Budgets != nil ||
			want == "distance" && j.Exact.Distances || want == "energy" && j.Exact.Energy
	}):
		return fmt.Errorf("y = %q: want %s in [[exact]]", g.Y, want)
	}
	return nil
}

// TableSpec says how a study's cells are tabulated, in the terms of FigureSpec.
type TableSpec struct {
	// settings; default: those of the figure's panels, lines and x
	Rows []string `json:"rows,omitempty"`
	// settings; a column for each of their values and each of Values; default: none
	Columns []string `json:"columns,omitempty"`
	// observations; default: distance, all scores that exist, gradients
	Values []string `json:"values,omitempty"`
	Note   string   `json:"note,omitempty"` // printed below the table
}

// axisNames are the names of the settings that may be an axis of a figure or a table.
func axisNames() []string {
	return distinct.Of(ShownSettings(), func(s Setting) string { return s.Name })
}

// valueNames are the names of the observations, which may be shown on an axis or in a table.
func valueNames() []string {
	return distinct.Of(observations, func(o Observation) string { return o.Name })
}
