package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"hambench/bench/store"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/internal/distinct"
	"hambench/models/datasets"
	"hambench/oracle"
)

// Kinds of rows: the values of the column record.
const (
	CellRecord    = "cell"    // what a cell's chain yielded
	ErrorRecord   = "error"   // an exact error of an observable at a step
	LawRecord     = "law"     // distances of the stationary law of θ at a step
	EnergyRecord  = "energy"  // energy errors at a step, and the bias of θ's covariance
	AverageRecord = "average" // an autocorrelation time at a step
	BudgetRecord  = "budget"  // the mean squared error of an average at a step and a budget
	BestRecord    = "best"    // that at the best step for a budget
	CheckRecord   = "check"   // a check of reference chains
)

// BuiltIn, as an origin, is the program's own studies. Other origins are the digests of the
// texts of users' studies.
const BuiltIn = "built-in"

// MadeColumn says when the job of a row was done, in UTC: what was known when a test was
// frozen cannot decide it. It is empty of records without a time.
const MadeColumn = "made"

// parametersColumn has an integrator's own parameters where they are not its defaults:
// name=value name=value. Each has a column of its own, too (parameterColumn).
const parametersColumn = "parameters"

// originColumns say where a row is from, jobColumns what is known of a cell besides its settings,
// resultColumns what its chain yielded besides the observations, exactColumns what an exact error
// is of, checkColumns what a check of reference chains found.
var (
	originColumns = []table.Column{
		{Name: "record", Kind: table.Text},
		{Name: "study", Kind: table.Text},
		{Name: "origin", Kind: table.Text},  // BuiltIn, or a digest
		{Name: "profile", Kind: table.Text}, // as captions state it
		{Name: "purpose", Kind: table.Text}, // of exact errors
		{Name: "key", Kind: table.Text},     // of the job
		{Name: "arch", Kind: table.Text},
		{Name: "isa", Kind: table.Text},
		{Name: MadeColumn, Kind: table.Text}, // when the number was stored, as 2026-11-23T01:02:03Z
		{Name: "place", Kind: table.Number},  // of the job in its study's list
	}
	jobColumns = []table.Column{
		{Name: parametersColumn, Kind: table.Text},
		// the step over the largest stable one, if the study states it so
		{Name: "relative", Kind: table.Number},
		{Name: "missing", Kind: table.Truth}, // the result is not there
		{Name: "oracle", Kind: table.Text},
		// draws in each set of exact ones that the chain is compared with; none where it is
		// compared with the exact law, or with reference chains
		{Name: "exact_draws", Kind: table.Number},
	}
	resultColumns = []table.Column{
		{Name: "diverged", Kind: table.Truth},
		{Name: "ks_self", Kind: table.Number},
		{Name: "ks_self_low", Kind: table.Number},
		{Name: "ks_self_high", Kind: table.Number},
		{Name: "ks_self_sd", Kind: table.Number},
		{Name: "reference_error", Kind: table.Number},
		{Name: "reference_failed", Kind: table.Text}, // names of checks, "; " between them
		{Name: "checks_failed", Kind: table.Number},  // of the cell's own reference chains
		// Which law describes what mini-batches do (minibatch.Scheme.Regime), and by what. Beyond
		// ηω = 2 it says how long the epoch is; no law is proven there.
		{Name: "regime", Kind: table.Text},
		{Name: "k_eta_omega", Kind: table.Number},
		{Name: "c_over_omega", Kind: table.Number},
		{Name: "eta_v_over_c", Kind: table.Number}, // V is E|δ|² by parameter
	}
	exactColumns = []table.Column{
		{Name: "problem", Kind: table.Text}, // without friction and mass
		// the problem's lowest frequency; Gaussian problems only
		{Name: "omega", Kind: table.Number},
		{Name: "mass", Kind: table.Text}, // the diagonal of M⁻¹; "" for the identity
		{Name: "engine", Kind: table.Text},
		{Name: "law", Kind: table.Text}, // period, every-step or one-step
		{Name: "observable", Kind: table.Text},
		{Name: "error", Kind: table.Number},
		{Name: "resolution", Kind: table.Number},
		{Name: "relative_error", Kind: table.Number},
		{Name: "relative_resolution", Kind: table.Number},
		{Name: "order", Kind: table.Number},
		{Name: "at_least", Kind: table.Number},
		{Name: "claim", Kind: table.Number},
		{Name: "constant", Kind: table.Number},
		{Name: "uncertainty", Kind: table.Number},
		// what the law of orders predicts of the constant, and of the order, or why not
		{Name: "predicted", Kind: table.Number},
		{Name: "predicted_order", Kind: table.Number},
		{Name: "predicted_reason", Kind: table.Text},
		{Name: "apart", Kind: table.Truth}, // the constant is another
		{Name: "verdict", Kind: table.Text},
		{Name: "radius", Kind: table.Number}, // spectral, where it is at least 1
		{Name: "kolmogorov", Kind: table.Number},
		{Name: "wasserstein", Kind: table.Number},
		{Name: "covariance_bias", Kind: table.Number},
		{Name: "energy_error", Kind: table.Number},       // variance per position
		{Name: "batch_energy_error", Kind: table.Number}, // of the step's own batch
		{Name: "bias_over_bound", Kind: table.Number},    // that certify.EnergyBound makes of it
		{Name: "autocorrelation", Kind: table.Number},
		{Name: "budget", Kind: table.Number}, // in gradients of a batch
		{Name: "mse", Kind: table.Number},    // per variance of the target
		{Name: "stable_step", Kind: table.Number},
		{Name: "period", Kind: table.Number}, // steps after which the estimator begins anew
		// What the integrator's step is, with the full batch.
		{Name: "joint_order", Kind: table.Number}, // that it claims for (θ, r)
		{Name: "constant_determinant", Kind: table.Truth},
		{Name: "symplectic_limit", Kind: table.Truth},
	}
	checkColumns = []table.Column{
		{Name: "check", Kind: table.Text},
		{Name: "value", Kind: table.Number},
		{Name: "low", Kind: table.Number},
		{Name: "high", Kind: table.Number},
		{Name: "pass", Kind: table.Truth},
	}
)

// yielded reports whether a column of cells is empty until their chains have run.
func yielded(column string) bool {
	result := func(c table.Column) bool { return c.Name == column }
	observed := func(o Observation) bool { return o.Column == column }
	return slices.ContainsFunc(resultColumns, result) ||
		slices.ContainsFunc(observations, observed) ||
		slices.Contains([]string{"arch", "isa", MadeColumn}, column)
}

// newRows returns an empty table for what the plans may have: with a column for each
// parameter of their integrators.
// Columns that no row fills stay empty.
func newRows(plans []Plan) *table.Table {
	columns := fixedColumns()
	for _, p := range plans {
		for _, j := range p.Cells {
			columns = addParameters(columns, j.Cell.Values)
		}
		for _, j := range p.Exact {
			columns = addParameters(columns, j.Exact.Values)
		}
	}
	return table.New(columns...)
}

// fixedColumns are the columns that every table of rows has, by the declarations of settings and
// observations, too.
func fixedColumns() []table.Column {
	columns := slices.Concat(originColumns, jobColumns, resultColumns, exactColumns, checkColumns)
	for _, s := range declared {
		if s.Column != "" {
			columns = append(columns, table.Column{Name: s.Column, Kind: s.Kind})
		}
	}
	for _, o := range observations {
		columns = append(columns, table.Column{Name: o.Column, Kind: table.Number})
	}
	return columns
}

// addParameters adds a column for each parameter that is not there yet, by name.
func addParameters(columns []table.Column, values map[string]float64) []table.Column {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		columns = distinct.Append(columns, table.Column{Name: parameterColumn(name),
			Kind: table.Number})
	}
	return columns
}

// ParameterColumns returns the names of a table's columns of integrators' own parameters, which the
// column parameters has all as one text.
func ParameterColumns(t *table.Table) (names []string) {
	fixed := fixedColumns()
	for _, c := range t.Columns() {
		if !slices.ContainsFunc(fixed, func(f table.Column) bool { return f.Name == c.Name }) {
			names = append(names, c.Name)
		}
	}
	return names
}

// parameterColumn is the column of an integrator's own parameter: its name, unless that is one
// of the columns that every table has, as "mass" is.
func parameterColumn(name string) string {
	if slices.ContainsFunc(fixedColumns(), func(c table.Column) bool { return c.Name == name }) {
		return "parameter-" + name
	}
	return name
}

// Table returns what a store has for the plans, as one table: a row for each cell, for
// each exact error at each step, and for each check of reference chains, in the order
// of the plans and of their jobs. A job that two studies share has rows in each. A
// cell without a result has a row, too, in which missing is true. The Source of a
// cell's row is its Result, that of an exact error's row the certify.Row, that of a
// check's row the oracle.Check.
// It is the one table behind figures, tables, claims and the page.
func (s Results) Table(plans []Plan) *table.Table {
	t := newRows(plans)
	for _, p := range plans {
		origin := map[string]any{"study": p.ID, "origin": p.Source(), "profile": p.Profile}
		place := 0
		// next begins the next row of the plan with what rows of all kinds have.
		next := func(record, key string, made store.Made) map[string]any {
			place++
			row := maps.Clone(origin)
			maps.Copy(row, map[string]any{"record": record, "key": key, "place": place,
				"arch": made.Arch, "isa": made.ISA})
			if !made.Time.IsZero() {
				row[MadeColumn] = made.Time.UTC().Format(time.RFC3339)
			}
			return row
		}
		for _, j := range p.Cells {
			r, ok := s.Result(j.Key)
			row := next(CellRecord, j.Key, r.Made)
			j.fill(row, r, !ok)
			// Where the result is missing the row still has a source with its cell.
			r.Cell = j.Cell
			t.Add(r, row)
		}
		for _, j := range p.Exact {
			// A job without a record has no rows: how many it would have is known when it has run.
			found, made, _ := s.exact(j.Key)
			of, highest, rate := j.row()
			if m, ok := p.Method(j.Exact.Integrator); ok {
				of["joint_order"] = m.Joint
				of["constant_determinant"] = m.ConstantDeterminant
				of["symplectic_limit"] = m.SymplecticLimit
			}
			for _, r := range found {
				for _, values := range exactRows(r) {
					row := next("", j.Key, made)
					maps.Copy(row, of)
					maps.Copy(row, values)
					fillRegime(row, j.Exact.Values, highest, rate, 0)
					t.Add(r, row)
				}
			}
		}
		for _, j := range p.References {
			for _, c := range s.checks(j.Key) {
				row := next(CheckRecord, j.Key, store.Made{})
				maps.Copy(row, map[string]any{
					"dataset": j.Spec.Dataset, "split": j.Spec.Split, "model": j.Spec.Model,
					"oracle": j.Spec.ID(),
					"check":  c.Name, "value": c.Value, "low": c.Low, "high": c.High,
					"pass": c.Pass,
				})
				t.Add(c, row)
			}
		}
	}
	return t
}

// fill puts a cell and its result into a row.
// A setting without a column, such as the widths of layers, is part of the model's name.
func (j Job) fill(row map[string]any, r Result, missing bool) {
	// Settings of the cell, also of those that were never run.
	for _, s := range declared {
		if s.Column != "" {
			row[s.Column] = s.Of(j.Cell)
		}
	}
	fillParameters(row, j.Cell.Values)
	row["oracle"], row["missing"] = j.Cell.Oracle, missing
	if d := j.Cell.ExactDraws; d != nil {
		row["exact_draws"] = d.Samples
	}
	if j.Relative > 0 {
		row["relative"] = j.Relative
	}
	// No chain, no friction: the zero value would be taken for one.
	if j.Cell.Kernels() == 0 && j.Cell.Friction == 0 {
		row["friction"] = nil
	}
	// How many rows a batch has is known to the model alone.
	if j.Cell.HasOwnData() && j.Cell.Batches > 1 {
		row["batch"] = nil
	}
	if missing {
		return
	}
	// An observation that the cell does not record is NaN: its column stays empty.
	r.Cell = j.Cell
	for _, o := range observations {
		if v := o.Of(r); !math.IsNaN(v) {
			row[o.Column] = v
		}
	}
	if n, ok := r.Scores["checks_failed"]; ok {
		row["checks_failed"] = n
	}
	maps.Copy(row, map[string]any{
		"diverged": r.Diverged, "reference_error": r.ReferenceError,
		"reference_failed": strings.Join(r.ReferenceFailed, "; "),
	})
	// Records have 0 where no truth judges the chain, which is no distance of its draws.
	if j.Cell.Observe.Judged() {
		maps.Copy(row, map[string]any{
			"ks_self": r.KSSelf, "ks_self_sd": r.KSSelfSD,
			"ks_self_low": r.KSSelfLow, "ks_self_high": r.KSSelfHigh,
		})
	}
	if s := r.Scales; s != nil {
		fillRegime(row, j.Cell.Values, s.Omega, float64(j.Cell.Friction), s.Spread)
	}
}

// fillRegime puts into a row by which law K batches make the error of its chain at its step, and
// what decides that, where a law is proven and the target's largest frequency is known. The rate
// is the fastest one of C M⁻¹, the spread that of two batches; a scheme that is not built in has
// no regime, and neither has an integrator.
func fillRegime(row map[string]any, values map[string]float64, omega, rate, spread float64) {
	// A corrected gradient has another spread between batches than the plain one.
	of := func(column string) string { return table.Of(row[column]).Text() }
	if estimator := of("estimator"); estimator != "" && estimator != estimators.Plain.Name ||
		!lawful(of("integrator"), values) {
		return
	}
	// The row has these as its job stated them: whole numbers, or named types.
	k, step := table.Of(row["K"]).Number(), table.Of(row["h"]).Number()
	scheme, err := minibatch.Builtin().Lookup(table.Of(row["scheme"]).Text())
	regime := scheme.Regime(int(k), step, omega, rate)
	if err != nil || regime == "" {
		return
	}
	row["regime"], row["k_eta_omega"] = string(regime), k*step*omega
	row["c_over_omega"] = rate / omega
	if spread > 0 {
		// Two batches have the spread; K of a partition have K − 1 times as much (oracle.Scales),
		// and as many rows drawn independently have (N − 1)/(N − B) of that, K times to 1/N.
		times := k - 1
		if scheme.Lists {
			times = k
		}
		row["eta_v_over_c"] = step * spread * times / rate
	}
}

// proven has, by integrator and parameters, whether lawful holds.
var proven sync.Map

// lawful reports whether the laws of mini-batch error are proven of an integrator's steps, with
// the frequencies of the target: an integrator that learns a mass has others.
func lawful(integrator string, values map[string]float64) bool {
	key := integrator + " " + parameters(values)
	if known, ok := proven.Load(key); ok {
		return known.(bool)
	}
	holds := false
	if m, err := integrators.Builtin().Lookup(integrator); err == nil {
		// Whether the laws are proven depends on the integrator and its own parameters, and not on
		// the row's step or friction: 1 is a friction that every integrator accepts.
		_, reason, unanswered := certify.ResponseOf(m, values, 1)
		in, err := m.New(1, integrators.Params{Step: 1, Friction: 1, Values: values})
		if holds = unanswered == nil && reason == "" && err == nil; holds {
			_, learns := in.Kernel.(integrators.Adapter)
			holds = !learns
		}
	}
	proven.Store(key, holds)
	return holds
}

// fillParameters puts an integrator's own parameters into a row: all as one text, and each in
// its column.
func fillParameters(row map[string]any, values map[string]float64) {
	row[parametersColumn] = parameters(values)
	for name, v := range values {
		row[parameterColumn(name)] = v
	}
}

// row is what all rows of an exact job share, and the problem's highest frequency and fastest
// rate of friction. Friction, K and the lowest frequency are read from the problem; where it
// cannot be read they are left out.
func (j ExactJob) row() (row map[string]any, highest, rate float64) {
	row = map[string]any{
		"purpose": j.Purpose, "problem": cmp.Or(j.Problem,
			j.Exact.Name), "integrator": j.Exact.Integrator, "estimator": j.Exact.Estimator,
		"nl": j.Exact.Inner, "mass": fmt.Sprint(j.Exact.InvMass),
	}
	// Without masses M is the identity, which the column shows as "": Sprint writes "[]".
	if j.Exact.InvMass == nil {
		row["mass"] = ""
	}
	fillParameters(row, j.Exact.Values)
	if p, err := certify.ParseProblem(j.Exact.Name, j.Exact.Problem); err == nil {
		row["friction"], row["K"] = p.Friction, p.Batches()
		if p.Kind == certify.Gaussian {
			// The column has the problem's own frequency; the regime follows from those that the
			// chain has, with its masses.
			row["omega"], _ = p.Frequencies(nil)
			_, highest = p.Frequencies(j.Exact.InvMass)
			rate = p.Damping(j.Exact.InvMass)
		}
		// An estimator of the caller's own is not known here.
		e, err := estimators.Builtin().Lookup(j.Exact.Estimator)
		if err == nil && e.Period != nil {
			row["period"] = e.Period(p.Batches())
		}
	}
	return row, highest, rate
}

// Stated returns what is known of all rows of the job before it has run, by column.
func (j ExactJob) Stated() map[string]any {
	row, _, _ := j.row()
	return row
}

// OfExact reports whether a column has what exact errors are of, or a number of theirs: chains and
// checks have none there.
func OfExact(column string) bool {
	return slices.ContainsFunc(exactColumns, func(c table.Column) bool { return c.Name == column })
}

// exactRows are the rows of what certify found for an integrator under a scheme.
// Each of its answers has rows of a kind of its own: errors by observable and step, distances
// and autocorrelations by step, mean squared errors by step and budget, and the best of each
// budget.
func exactRows(r certify.Row) (rows []map[string]any) {
	// share completes a row with what all rows of r have, and at one with what belongs to its i-th
	// step.
	share := func(record string, values map[string]any) {
		values["record"], values["scheme"] = record, r.Scheme
		values["engine"], values["law"] = string(r.Engine), r.Observe
		if r.StableStep != nil {
			values["stable_step"] = *r.StableStep
		}
		rows = append(rows, values)
	}
	at := func(i int, values map[string]any) map[string]any {
		values["h"] = r.Steps[i]
		if i < len(r.Radii) && !math.IsNaN(float64(r.Radii[i])) {
			values["radius"] = r.Radii[i]
		}
		return values
	}
	// The bias that rows of energy errors have is one of θ's covariance: they take its verdict.
	var ofCovariance certify.Verdict
	for _, o := range r.Observables {
		if o.Name == "theta.cov" {
			ofCovariance = o.Verdict
		}
		for i := range r.Steps {
			values := at(i, map[string]any{
				"observable": o.Name, "error": o.Errors[i], "resolution": o.Resolution[i],
				"order": o.Order, "at_least": o.AtLeast, "claim": o.Claim, "constant": o.Constant,
				"uncertainty": o.Uncertainty, "verdict": string(o.Verdict),
			})
			// not of rows of the first edition
			if i < len(o.Relative) && i < len(o.RelativeResolution) {
				values["relative_error"] = o.Relative[i]
				values["relative_resolution"] = o.RelativeResolution[i]
			}
			if o.PredictedOrder > 0 {
				values["predicted"], values["predicted_order"] = o.Predicted, o.PredictedOrder
				values["apart"] = o.Apart
			}
			if o.Reason != "" {
				values["predicted_reason"] = o.Reason
			}
			share(ErrorRecord, values)
		}
	}
	// Distances of laws and energy errors have one number for each step, if they were asked for.
	for i := range r.Kolmogorov {
		share(LawRecord, at(i, map[string]any{"observable": "theta", "kolmogorov": r.Kolmogorov[i],
			"wasserstein": r.Wasserstein[i]}))
	}
	for i, bias := range r.CovarianceBias {
		bound := certify.EnergyBound(float64(r.BatchEnergyError[i]))
		share(EnergyRecord, at(i, map[string]any{"observable": "theta.cov",
			"verdict": string(ofCovariance), "covariance_bias": bias,
			"energy_error": r.EnergyError[i], "batch_energy_error": r.BatchEnergyError[i],
			"bias_over_bound": float64(bias) / bound}))
	}
	for _, a := range r.Averages {
		for i, v := range a.Autocorrelation {
			share(AverageRecord, at(i, map[string]any{"observable": a.Name, "autocorrelation": v}))
		}
	}
	for _, b := range r.Budgets {
		for i, v := range b.MSE {
			share(BudgetRecord, at(i, map[string]any{"budget": b.Gradients, "mse": v}))
		}
		// One row: the best of all steps, of the average that is worst at it.
		share(BestRecord, map[string]any{"h": b.Step, "budget": b.Gradients, "mse": b.Best,
			"observable": b.Worst})
	}
	return rows
}

// checks are those of the reference chains under a key.
// A record that cannot be read has none.
func (s Results) checks(key string) []oracle.Check {
	rec, ok := s.Get(store.Reference, key)
	var body struct {
		Checks []oracle.Check `json:"checks"`
	}
	if !ok || json.Unmarshal(rec.Body, &body) != nil {
		return nil
	}
	return body.Checks
}

// HasOwnData reports whether the model of a row's chain has data of its own, in place of a data
// set's rows.
func HasOwnData(r table.Row) bool { return r.Text("dataset") == datasets.None }

// HasFriction reports whether the chain of a row has a momentum for its friction to act on. Of an
// integrator that is not built in it is taken to have one.
func HasFriction(r table.Row) bool {
	m, err := integrators.Builtin().Lookup(r.Text("integrator"))
	return err != nil || !m.PositionOnly
}

// HasOwnData is that of the cell's row.
func (c Cell) HasOwnData() bool { return c.Dataset == datasets.None }
