package bench

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"hambench/bench/table"
	"hambench/chain"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
	"hambench/usage"
)

// Axis says where figures show a setting that varies, unless a study says otherwise.
type Axis string

// Axes of settings.
const (
	Averaged Axis = "averaged" // nowhere: means are over its values
	OnPanels Axis = "panels"
	OnX      Axis = "x"
	OnLines  Axis = "lines"
	Stated   Axis = "stated" // lines; captions state it where it does not vary
)

// Setting declares one setting of a chain: all that files, flags, tables, figures and
// exports need to know about it.
// A new one is a declaration here and its use in the chain, which finds it in
// chain.Spec.More: files, flags, keys, rows, legends, exports, draws and the Python package
// follow from it.
type Setting struct {
	Name   string     `json:"name"`           // its key in a study's file
	Flag   string     `json:"flag,omitempty"` // of sample; "" for none
	Column string     `json:"column"`         // in tables of rows, CSV and exports
	Label  string     `json:"label"`          // heads a column for people
	Noun   string     `json:"noun,omitempty"` // stands before a label that is a symbol, on axes
	Symbol string     `json:"symbol"`         // stands before a value: "N_l = "
	Unit   string     `json:"unit,omitempty"`
	About  string     `json:"about"` // one line for --help
	Kind   table.Kind `json:"kind"`
	Axis   Axis       `json:"axis,omitempty"` // "" for what no figure shows
	// Low and High bound a number; Words are the texts that are allowed, if they are
	// the same in every study.
	Low   float64  `json:"low,omitempty"`
	High  float64  `json:"high,omitempty"`
	Words []string `json:"words,omitempty"`
	// Default is what a file or a flag that leaves it out stands for; nil if that
	// follows from other settings, as About says.
	Default any `json:"default,omitempty"`

	legend int              // its place in legends and captions; 0: after the others
	field  func(*draft) any // a pointer to its place in a cell; nil: it is in Cell.More
	// read replaces the reader that follows from the kind of the field.
	read func(d *draft, p Parts, v any) error
	// lookup refuses names that the parts do not have.
	lookup func(p Parts, name string) error
	// file says that a text with a dot or a slash names a file, whatever the words. Keys have
	// its contents (Cell.Anywhere).
	file bool
	// check refuses a cell that does not go with the setting; it is asked of all cells.
	check func(c Cell) error
	// print digests what else than the value makes a cell's numbers where the cell has
	// another value than the default; "" for nothing.
	print func(v any) (string, error)
	// full is the text for rows of the full batch.
	full string
}

// declared are all settings. A grid's cells are listed in their order: the last
// changes fastest.
var declared = []Setting{
	{Name: "data", Flag: "dataset", Column: "dataset", Label: "data set", Axis: OnPanels,
		About: "`NAME` of the data set", Kind: table.Text,
		field:  func(d *draft) any { return &d.Dataset },
		lookup: func(p Parts, name string) error { _, err := p.Data.Lookup(name); return err }},
	{Name: "split", Flag: "split", Column: "split", Label: "split", Symbol: "split ",
		Axis:  Averaged,
		About: "`N` of the train/test split", Kind: table.Number, Low: 0, High: 999, Default: 0,
		field: func(d *draft) any { return &d.Split }},
	{Name: "observe", Column: "observe", Label: "observes",
		About: "what is recorded of a chain", Kind: table.Text, Words: texts(observables),
		Default: string(Distance),
		field:   func(d *draft) any { return &d.Observe }},
	{Name: "model", Flag: "model", Column: "model", Label: "model", Axis: Averaged,
		About: "`NAME` of the model; by default the data set's own", Kind: table.Text,
		field:  func(d *draft) any { return &d.Model },
		lookup: func(p Parts, name string) error { _, err := p.Models.Lookup(name); return err }},
	// It has no column: the widths become part of the model's name, which has one.
	{Name: "hidden", Label: "widths",
		About: "widths of the layers of a model that takes them; by default its own",
		Kind:  table.Text,
		Low:   1, High: 10_000, field: func(d *draft) any { return &d.hidden }},
	// The upper limit leaves room for what repetitions and splits add to a seed.
	{Name: "seed", Flag: "seed", Column: "seed", Label: "seed", Symbol: "seed ", Axis: Averaged,
		About: "`N` seed of the random streams", Kind: table.Number, Low: 1,
		High: math.MaxInt64 / 2, Default: 1,
		field: func(d *draft) any { return &d.Seed }},
	// A batch size and K state the same: a cell has both, of which one follows from the other
	// (draft.cell).
	{Name: "batch", Flag: "batch", Column: "batch", Label: "batch", Symbol: "B = ", Axis: OnPanels,
		full: "full batch",
		About: "`B` rows per batch (rounded so that batches differ by at most one row); " +
			"0 means all",
		Kind: table.Number, Low: 1, High: math.MaxInt32, Default: Full,
		field: func(d *draft) any { return &d.BatchSize }, read: (*draft).readBatch},
	{Name: "K", Flag: "K", Column: "K", Label: "K", Noun: "mini-batches per epoch", Symbol: "K = ",
		Axis:  Averaged,
		About: "`K` number of batches, in place of batch", Kind: table.Number, Low: 1,
		High:  math.MaxInt32,
		field: func(d *draft) any { return &d.Batches }},
	{Name: "scheme", Flag: "scheme", Column: "scheme", Label: "scheme", Axis: OnLines, legend: 5,
		About:  "`NAME` mini-batch scheme; by default reshuffle, full for one batch",
		Kind:   table.Text,
		field:  func(d *draft) any { return &d.Scheme },
		lookup: func(p Parts, name string) error { _, err := p.Chains.Scheme(name); return err }},
	{Name: "integrator", Flag: "integrator", Column: "integrator", Label: "integrator",
		Axis: Stated, legend: 1,
		About: "`NAME` integrator, or split:WORD", Kind: table.Text, Default: "leapfrog",
		field: func(d *draft) any { return &d.Integrator }, read: (*draft).readIntegrator},
	{Name: "estimator", Flag: "estimator", Column: "estimator", Label: "estimator", Axis: OnLines,
		legend: 4,
		About:  "`NAME` of the gradient estimator: plain, cv, svrg, svrg:M, saga", Kind: table.Text,
		Default: "plain",
		field:   func(d *draft) any { return &d.Estimator },
		lookup: func(p Parts, name string) error {
			_, err := p.Chains.Estimator(name)
			return err
		}},
	{Name: "friction", Flag: "friction", Column: "friction", Label: "C", Noun: "friction",
		Symbol: "C = ", Axis: Stated, legend: 3,
		About: "`C` friction; +Inf refreshes the momentum in full", Kind: table.Number,
		Default: paperFriction,
		Low:     aboveZero, field: func(d *draft) any { return &d.Friction }},
	{Name: "nl", Flag: "nl", Column: "nl", Label: "N_l", Noun: "inner steps",
		Symbol: "N_l = ", Axis: OnLines, legend: 2,
		About: "`N` inner steps of lietrotter", Kind: table.Number, Low: 1, High: 1_000_000,
		Default: 1,
		field:   func(d *draft) any { return &d.Inner }},
	{Name: "step", Flag: "h", Column: "h", Label: "η", Noun: "step size", Symbol: "η = ", Axis: OnX,
		Unit:  "units of simulation time",
		About: "`H` step in units of simulation time", Kind: table.Number,
		field: func(d *draft) any { return &d.Step }, read: (*draft).readStep},
	{Name: "samples", Flag: "samples", Column: "samples", Label: "samples", Symbol: "samples = ",
		Axis:  Averaged,
		About: "`N` draws", Kind: table.Number, Low: 1, High: 1e9, Default: paperSamples,
		field: func(d *draft) any { return &d.Samples }},
	{Name: "thin", Flag: "thin", Column: "thin", Label: "thinning", Symbol: "thinning ",
		Axis:  Averaged,
		About: "`N` steps per draw; by default 2.5 units of time", Kind: table.Number, Low: 1,
		High:  1e9,
		field: func(d *draft) any { return &d.Thin }},
	{Name: "burn", Flag: "burn", Column: "burn_in", Label: "burn-in", Symbol: "burn-in ",
		Axis:  Averaged,
		About: "`N` steps before the first draw; by default 10 units of time", Kind: table.Number,
		High:  1e9,
		field: func(d *draft) any { return &d.BurnIn }, read: (*draft).readBurnIn},
	{Name: "precision", Flag: "precision", Column: "precision", Label: "precision", Axis: OnLines,
		legend: 6, Default: "float32",
		About: "precision of network gradients", Kind: table.Text, Words: Precisions,
		field: func(d *draft) any { return &d.Precision }},
	// The settings from here on were added after keys had been given: they have no field, and are
	// in Cell.More where they differ from their defaults.
	{Name: "start", Flag: "start", Column: "start", Label: "start", Symbol: "start: ",
		Axis: OnLines, legend: 7, Default: AtTruth,
		About: "where chains start: at a draw of the truth, at one of the prior, at a " +
			"typical position, found from the prior by growing steps, at the optimum that a " +
			"model knows, or at the position in a file",
		Kind: table.Text, Words: oracle.Starts, file: true},
	{Name: "temperature", Flag: "temperature", Column: "temperature", Label: "T",
		Noun: "temperature", Symbol: "T = ", Axis: OnLines, legend: 8,
		About: "`T` temperature of the target, exp(-U/T): forces are scaled, noise is not",
		Kind:  table.Number, Low: models.LeastTemperature, High: largestNumber, Default: 1.0,
		check: checkTempered, print: printTempered},
	{Name: "localisation", Flag: "localisation", Column: "localisation", Label: "γ",
		Noun: "localisation", Symbol: "γ = ", Axis: OnLines, legend: 9,
		About: "`G` of the factor exp(-G|θ - θ*|²/2) of the target; θ* is where chains start: " +
			"optimum, or a file",
		Kind: table.Number, Low: 0, High: largestNumber, Default: 0.0,
		print: printTempered},
}

// Law tells exact errors apart in figures, by when their law is observed, as settings do. No cell
// has it, and so it is none of the declared ones.
var Law = Setting{Name: "law", Column: "law", Label: "law", Kind: table.Text, Default: "period"}

// laws are the values of its column as people read them: nothing of the law after a period.
var laws = map[string]string{"every-step": "every step", "one-step": "one step"}

// Settings returns the declarations of all settings, those first that legends and
// captions name first.
// The order of declared is another one: that in which a grid's cells are listed.
func Settings() []Setting {
	// Those without a place stay in the order of declared, behind all that have one.
	last := len(declared)
	return slices.SortedStableFunc(slices.Values(declared), func(a, b Setting) int {
		return cmp.Compare(cmp.Or(a.legend, last), cmp.Or(b.legend, last))
	})
}

// ShownSettings are the settings that figures and tables may show.
func ShownSettings() []Setting {
	return slices.DeleteFunc(Settings(), func(s Setting) bool { return s.Axis == "" })
}

// LookupSettings returns the settings of the names, of those that figures and tables
// may show. A name that is none is that of an integrator's own parameter, if any row
// of the table has it.
// The names are those of a file's figure or table.
func LookupSettings(names []string, rows *table.Table) (found []Setting, err error) {
	shown := ShownSettings()
	for _, name := range names {
		i := slices.IndexFunc(shown, func(s Setting) bool { return s.Name == name })
		column := parameterColumn(name)
		switch {
		case i >= 0:
			found = append(found, shown[i])
		case rows.Has(column) && len(rows.Numbers(column)) > 0:
			found = append(found, Setting{Name: name, Column: column, Label: name, Symbol: name +
				" = ", Kind: table.Number, Axis: Averaged})
		default:
			return nil, usage.Errorf("%q is no setting of a cell, nor a parameter that one has",
				name)
		}
	}
	return found, nil
}

// Columns are the columns of a table of rows that together tell the setting's values
// apart.
// An integrator with other values of its own parameters is another one in figures.
func (s Setting) Columns() []string {
	if s.Name == "integrator" {
		return []string{s.Column, parametersColumn}
	}
	return []string{s.Column}
}

// ColumnsOf are the columns that tell the values of some settings apart.
func ColumnsOf(settings ...Setting) (columns []string) {
	for _, s := range settings {
		columns = append(columns, s.Columns()...)
	}
	return columns
}

// Value is the setting's value in a row.
// It is none where the row's job does not have the setting.
func (s Setting) Value(r table.Row) table.Value { return r.Get(s.Column) }

// Field returns the value in a row as CSV and JSON state it: "inf" for infinity, 0 for the
// full batch.
func (s Setting) Field(r table.Row) any { return s.stated(s.Value(r)) }

// FieldOf is Field for a cell.
func (s Setting) FieldOf(c Cell) any { return s.stated(table.Of(s.Of(c))) }

// stated is Field for a value.
func (s Setting) stated(v table.Value) any {
	switch {
	case !math.IsInf(v.Number(), 1):
		return v.Any()
	case s.full != "":
		return float64(Full)
	}
	return "inf"
}

// Plain is the value as tables for people have it.
// Large numbers have their digits in groups, and infinity its symbol.
func (s Setting) Plain(r table.Row) string {
	// x is NaN for texts and missing values.
	v := s.Value(r)
	x := v.Number()
	switch {
	case s.Name == "integrator":
		return v.Text() + parametersText(r)
	case s.Name == Law.Name:
		return laws[v.Text()]
	case math.IsInf(x, 1) && s.full != "":
		return "full"
	case math.IsInf(x, 1):
		return "∞"
	case v.Kind() == table.Number && math.IsNaN(x):
		return "–"
	case x == math.Trunc(x) && math.Abs(x) >= 10_000 && v.Kind() == table.Number:
		return thousands(v.String())
	}
	return v.String()
}

// Text is the value as legends, titles and captions have it; "" where a row does not
// have it.
// A scheme says nothing where there is one batch; a batch is stated with K, which follows
// from it.
func (s Setting) Text(r table.Row) string {
	switch {
	case s.Name == "batch" && math.IsInf(r.Number("batch"), 1):
		return s.full
	case s.Name == "batch" && HasOwnData(r): // of how many rows is known to the model alone
		return fmt.Sprintf("K = %v", r.Get("K"))
	case s.Name == "batch":
		return fmt.Sprintf("B = %v (K = %v)", r.Get("batch"), r.Get("K"))
	case s.Name == "scheme" && r.Number("K") == 1 && r.Text("record") == CellRecord:
		return ""
	}
	return s.Symbol + s.Plain(r)
}

// TextOf joins what the settings say of a row, where others are stated beside them.
// The scheme says that there is one batch if no other setting does. If none of them has a
// text, their plain values are joined.
func TextOf(settings []Setting, r table.Row, beside ...Setting) string {
	// Where a batch or K is stated, one batch is told from it, and the scheme need not say it.
	batches := func(s Setting) bool { return s.Name == "batch" || s.Name == "K" }
	stated := slices.ContainsFunc(settings, batches) || slices.ContainsFunc(beside, batches)
	var texts, plain []string
	for _, s := range settings {
		t := s.Text(r)
		if t == "" && s.Name == "scheme" && !stated {
			t = "full batch"
		}
		plain = append(plain, s.Plain(r))
		if t != "" {
			texts = append(texts, t)
		}
	}
	return cmp.Or(strings.Join(texts, ", "), strings.Join(plain, " "))
}

// thousands separates the digits of a whole number.
// They stand in groups of three, with spaces between.
func thousands(s string) string {
	// From the right, so that places to the left stay where they are.
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// parametersText states the values of an integrator's own parameters.
func parametersText(r table.Row) string {
	text := r.Text(parametersColumn)
	if text == "" {
		return ""
	}
	return ", " + strings.ReplaceAll(strings.ReplaceAll(text, " ", ", "), "=", " = ")
}

// parameters are an integrator's own parameters as one text: name=value name=value.
// They are in the order of their names: equal values give equal texts.
func parameters(values map[string]float64) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		words = append(words, name+"="+decimal(values[name]))
	}
	return strings.Join(words, " ")
}

// Of returns the setting's value in a cell, as tables of rows have it: +Inf for the full
// batch.
// A setting without a field has its default unless the cell states another value.
func (s Setting) Of(c Cell) any {
	if s.field == nil {
		if v, ok := c.More[s.Name]; ok {
			return v
		}
		return s.Default
	}
	// The field is found in a copy of the cell: reading a setting changes nothing.
	v := reflect.ValueOf(s.field(&draft{Cell: c})).Elem()
	if s.full != "" && v.Int() == Full {
		return math.Inf(1)
	}
	return v.Interface()
}

// Set reads the text of the setting's flag into a cell. A step must be a number.
// What the declaration does not allow is an error that says what it allows; an unknown name
// lists the known ones.
func (s Setting) Set(c *Cell, text string) error {
	// The value gets the type that TOML would give it, since the same key reads both.
	var v any = text
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && s.Kind == table.Number {
		v = n
	} else if x, err := strconv.ParseFloat(text, 64); err == nil && s.Kind == table.Number {
		v = x
	}
	_, isNumber := numberOf(v)
	switch {
	case s.full != "" && v == int64(Full): // as exports have it; files say "full"
		v = "full"
	case s.Kind == table.Number && !isNumber && !(s.full != "" && text == "full"):
		return errors.New("want a number")
	}
	d := draft{Cell: *c}
	err := s.key(&d, Parts{}.Filled()).set(v)
	*c = d.Cell
	return err
}

// key declares the setting's key in a study's file, whose value goes into a draft.
// The parts are what a name may stand for.
func (s Setting) key(d *draft, p Parts) key {
	// A reader of the setting's own does not look at words and range, which hambench list
	// settings prints.
	k := key{name: s.Name, words: s.Words, low: s.Low, high: s.High}
	switch {
	case s.read != nil:
		k.read = func(v any) error { return s.read(d, p, v) }
	case s.field == nil:
		k.read = func(v any) error { return s.readMore(d, p, v) }
	default:
		k.to = s.field(d)
	}
	if s.lookup != nil {
		k.lookup = func(name string) error { return s.lookup(p, name) }
	}
	return k
}

// readMore reads a setting without a field of its own into Cell.More, unless the value is
// the default.
func (s Setting) readMore(d *draft, p Parts, v any) error {
	// Its type is that of the value in Cell.More and in the canonical JSON.
	value, words := any(new(string)), s.Words
	if s.Kind == table.Number {
		value = new(float64)
	}
	if name, ok := v.(string); ok && s.file && chain.IsFile(name) {
		v, words = p.path(name), nil
		// Before a study is run for hours.
		if _, err := os.Stat(v.(string)); err != nil && !p.stored {
			return usage.Errorf("%s %v: %w", s.Name, v, cmp.Or(errors.Unwrap(err), err))
		}
	}
	err := (key{name: s.Name, to: value, words: words, low: s.Low, high: s.High}).set(v)
	// The error lists the words: a file is possible, too.
	if err != nil && s.file && v != "" {
		err = usage.Errorf("%w, or a file, whose name has a dot or a slash", err)
	}
	if err != nil {
		return err
	}
	// Drafts of one grid are copies of each other and share the map: each gets its own. At the
	// default the setting is left out, so that the cell's key is as if it had not been stated.
	x := reflect.ValueOf(value).Elem().Interface()
	if d.More = maps.Clone(d.More); d.More == nil {
		d.More = make(map[string]any)
	}
	d.More[s.Name] = x
	if table.Of(x) == table.Of(s.Default) {
		delete(d.More, s.Name)
	}
	if len(d.More) == 0 {
		d.More = nil
	}
	return nil
}

// printTempered is the print of temperature and localisation. A key has their values already, from
// the cell's JSON; this adds the fingerprint of the code that scales the force by them.
func printTempered(any) (string, error) { return models.TemperedFingerprint() }

// checkTempered refuses a truth that is of another target than the cell's, and a localisation
// without a centre.
func checkTempered(c Cell) error {
	switch {
	case !c.tempered():
		return nil
	case c.Oracle != "" && c.Oracle != Analytic:
		return usage.Errorf("cell with a temperature or a localisation: reference chains sample "+
			"the target without them, and the posterior of model %q is not known: want another "+
			"model, or to observe what no truth judges", c.Model)
	case c.More["localisation"] != nil && !chain.IsFixed(c.Start()):
		return usage.Errorf("cell with localisation %v and start %q: want %q or the file of its "+
			"centre", c.More["localisation"], c.Start(), oracle.AtOptimum)
	}
	return nil
}

// Observation declares a number that a result has.
// A score that the result lacks is empty in tables.
type Observation struct {
	Name   string `json:"name"`   // in a study's file
	Column string `json:"column"` // in tables of rows, CSV and exports
	Label  string `json:"label"`  // of an axis
	Digits int    `json:"digits"` // in tables for people
	// Shown says that a table that does not say what it shows has it, where any result
	// does.
	Shown bool `json:"shown"`
	// Error and Known name the observations, and their columns, of its standard error and of
	// what it estimates; "" for none.
	Error string `json:"error,omitempty"`
	Known string `json:"known,omitempty"`
	// Task is the only task whose results have it; nil: all tasks.
	Task *datasets.Task `json:"task,omitempty"`

	get func(Result) float64 // nil: a score
}

var (
	ofRegression     = new(datasets.Regression)
	ofClassification = new(datasets.Classification)
)

// observations are all declarations, in the order in which tables show them. Chains
// that diverged have a distance of 1, their counts, and no scores.
var observations = []Observation{
	{Name: "distance", Column: "ks", Label: "mean Kolmogorov distance", Digits: 3, Shown: true,
		get: func(r Result) float64 {
			if !r.Cell.Observe.Judged() {
				return math.NaN()
			}
			return r.KS
		}},
	{Name: "rmse", Column: "rmse", Label: "test RMSE", Digits: 3, Shown: true, Task: ofRegression},
	{Name: "accuracy", Column: "accuracy", Label: "test accuracy", Digits: 3, Shown: true,
		Task: ofClassification},
	{Name: "mnll", Column: "mnll", Label: "test MNLL", Digits: 3, Shown: true},
	{Name: "ece", Column: "ece", Label: "expected calibration error", Digits: 3, Shown: true,
		Task: ofClassification},
	{Name: "coverage", Column: "coverage", Label: "coverage of 90 % intervals", Digits: 3,
		Shown: true, Task: ofRegression},
	{Name: "lag1", Column: "lag1", Label: "lag-1 autocorrelation", Digits: 3, Shown: true},
	{Name: "coupled", Column: "coupled", Label: "difference of means at η and at η/2", Digits: 3,
		Shown: true},
	{Name: "llc", Column: "llc", Label: "nβ(L̄ − L₀)", Digits: 3, Shown: true, Error: "llc_se",
		Known: "llc_known"},
	{Name: "llc_se", Column: "llc_se", Label: "standard error of nβ(L̄ − L₀)", Digits: 3,
		Shown: true},
	{Name: "llc_known", Column: "llc_known", Label: "learning coefficient", Digits: 3,
		Shown: true},
	{Name: "gradients", Column: "gradients", Label: "gradients", Shown: true,
		get: func(r Result) float64 { return float64(r.Gradients) }},
	{Name: "ess", Column: "ess", Label: "effective sample size", Digits: 3},
	{Name: "steps", Column: "steps", Label: "steps",
		get: func(r Result) float64 { return float64(r.Steps) }},
	{Name: "seconds", Column: "seconds", Label: "seconds",
		get: func(r Result) float64 { return r.Seconds }},
}

// Observations returns the declarations of all numbers that results may have.
func Observations() []Observation { return slices.Clone(observations) }

// LookupObservation returns the observation of a name.
func LookupObservation(name string) (Observation, error) {
	return usage.Lookup("value", name, observations, func(o Observation) string { return o.Name })
}

// Of returns the number of a result; NaN where it has none.
// A chain that diverged has no scores; its distance is 1.
func (o Observation) Of(r Result) float64 {
	if o.get != nil {
		return o.get(r)
	}
	if v, ok := r.Scores[o.Name]; ok && !r.Diverged {
		return v
	}
	return math.NaN()
}

// decimal writes a number exactly and without an exponent.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
