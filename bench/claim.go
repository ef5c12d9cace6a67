package bench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"hambench/bench/table"
	"hambench/chain"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/internal/distinct"
	"hambench/usage"
)

// Statistics of claims that are data.
const (
	OrderStatistic = "order" // slope of a column over the step, on logarithmic axes
	// of a column's means under one choice of settings and another
	RatioStatistic = "excess-ratio"
	// of a column under one choice over another, by its logarithm
	LogRatioStatistic = "ratio"
	MeanStatistic     = "mean"     // over data sets
	ShareStatistic    = "share"    // of the rows in which a column is true
	DistanceStatistic = "distance" // of a mean from a published number
)

// statistics are all, in the order in which errors list them.
var statistics = []string{
	OrderStatistic, RatioStatistic, LogRatioStatistic, MeanStatistic, ShareStatistic,
	DistanceStatistic,
}

// Columns that claims derive from others.
const (
	ExcessColumn = "excess" // the distance above the mean self-distance
	RightColumn  = "right"  // whether the chain is where right ones are
)

// Right reports whether chains that are repetitions of one, as on several splits, are where
// right ones are: whether their mean distance is one that 99 of 100 right chains do not exceed.
// The distance of a chain is a mean over many outputs, so its law is nearly normal, with the
// quantile 2.326; the deviation is that of one chain, as repetitions on one split share the
// reference's. Both are those of independent draws, enlarged for the chain's autocorrelation.
// The reference's own error is allowed for. A chain that diverged is not right. Nothing is
// decided where a reference failed a check, where it is not known how right chains scatter, or
// of chains that are too slow or too short for that.
func Right(chains ...table.Row) (right, decided bool) {
	// above and sd are sums over the chains; dividing both by their number would decide the same.
	// Deviations are added, not their squares: chains on one split share the reference, so that
	// their errors are not independent.
	var above, sd float64
	finite, slow := true, false
	for _, r := range chains {
		if r.Text("reference_failed") != "" {
			return false, false
		}
		finite = finite && !r.Get("diverged").Truth()
		lag1 := max(r.Number("lag1"), 0)
		if lag1 != lag1 { // old records have none
			lag1 = 0
		}
		n := r.Number("samples")
		slow = slow || lag1 > slowest || 0 < n && n < fewestDraws
		// Draws for an independent one, by an autoregression. The distance of two samples goes
		// like √(1/n + 1/m), both sides having as many draws. Outputs share their slow
		// directions, so the scatter of their mean grows faster: about like this number.
		draws := (1 + lag1) / (1 - lag1)
		self := math.Sqrt((draws+1)/2) * r.Number("ks_self")
		above += r.Number("ks") - self - max(r.Number("reference_error"), 0)
		sd += draws * r.Number("ks_self_sd")
	}
	return finite && above <= rightQuantile*sd, !finite || sd > 0 && above == above && !slow
}

// Undecidable says of which chains Right decides nothing.
var Undecidable = fmt.Sprintf("fewer than %d samples, a lag-1 autocorrelation above %g, a "+
	"reference that failed a check, or none that says how right chains scatter", fewestDraws,
	slowest)

const (
	rightQuantile = 2.3263 // normal, of 99 %
	// The largest lag-1 autocorrelation, the mean over the outputs, at which it says how many
	// draws are worth an independent one: slower chains have several time scales.
	slowest = 0.4
	// The fewest draws whose autocorrelation is known: its estimate is too small by (1 + 3ρ)/n, and
	// of 30 exact chains of 20 draws 13 were called wrong for that.
	fewestDraws = 100
)

// FailedReferences names the references of cells' rows that failed checks, with the checks,
// and with the model where a data set has several.
func FailedReferences(rows *table.Table) (names []string) {
	for _, of := range rows.GroupBy("dataset") {
		for _, r := range of.Rows() {
			checks, name := r.Text("reference_failed"), r.Text("dataset")
			if checks == "" {
				continue
			}
			if of.Varies("model") {
				name += ", " + r.Text("model")
			}
			name = fmt.Sprintf("%s, split %g (%s)", name, r.Number("split"), checks)
			names = distinct.Append(names, name)
		}
	}
	return names
}

// DataClaim is a claim that is data: a statistic of a column, over the rows of its
// study that Where selects, lies in an interval.
type DataClaim struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Where has, by column, the values of which a row must have one: numbers, texts and
	// truths; "inf" is infinity.
	Where map[string][]any `json:"where,omitempty"`
	// Over has the columns in which the rows differ that the ratio divides by.
	Over      map[string][]any `json:"over,omitempty"`
	Statistic string           `json:"statistic"`
	Of        string           `json:"of"` // a column, ExcessColumn or RightColumn
	Between   [2]Real          `json:"between"`
	Level     float64          `json:"level"` // of confidence
	// From is the published number that the distance is from, in units of SD.
	From float64 `json:"from,omitempty"`
	SD   float64 `json:"sd,omitempty"`
}

// Selected returns the rows that have, in each column, one of the values: none if the
// table does not have the column, such as a parameter of an integrator that no job has.
func Selected(rows *table.Table, where map[string][]any) *table.Table {
	for column, values := range where {
		if !rows.Has(column) {
			return rows.Filter(func(table.Row) bool { return false })
		}
		var want []any
		for _, v := range values {
			want = append(want, tableValue(v))
		}
		rows = rows.Where(column, want...)
	}
	return rows
}

// Unrun returns those of some cells without results that may have the values: what chains yield,
// such as whether they diverged, selects none of them yet.
func Unrun(cells *table.Table, where map[string][]any) *table.Table {
	where = maps.Clone(where)
	maps.DeleteFunc(where, func(column string, _ []any) bool { return yielded(column) })
	return Selected(cells, where)
}

// placedClaim is a claim with the section that states it.
// The section is needed when the columns of its rows are known, for errors with lines.
type placedClaim struct {
	DataClaim
	section
}

// readClaims reads [[claim]].
// Where and over are read later (completeClaims), when the columns of the study's rows are
// known.
func (f *File) readClaims(s section) {
	for _, s := range s.tables("claim") {
		c := DataClaim{Level: 0.99}
		var between []float64
		// Keys that are only declared, so that they are not refused.
		later := func(any) error { return nil } // completeClaims knows the columns
		s.read(
			key{name: "id", to: &c.ID}, key{name: "text", to: &c.Text},
			key{name: "statistic", to: &c.Statistic, words: statistics}, key{name: "of", to: &c.Of},
			key{name: "between", to: &between}, key{name: "level", to: &c.Level},
			key{name: "from", to: &c.From}, positive("sd", &c.SD),
			key{name: "where", read: later}, key{name: "over", read: later},
		)
		for _, key := range []string{"id", "text", "statistic", "of", "between"} {
			if _, ok := s.values[key]; !ok {
				s.fail(fmt.Errorf("has no %s: want id, text, statistic, of and between",
					key))
			}
		}
		if slices.ContainsFunc(f.claims, func(o placedClaim) bool { return o.ID == c.ID }) {
			s.at("id").fail(fmt.Errorf("%q is the id of a claim above: want another", c.ID))
		}
		if !studyID.MatchString(c.ID) { // it is part of names of files, and of an anchor
			s.at("id").fail(fmt.Errorf("is %q: want ASCII letters, digits, - and _", c.ID))
		}
		switch {
		case len(between) != 2 || !(between[0] <= between[1]):
			s.at("between").fail(errors.New(
				"want two numbers, [low, high]; -inf and inf are open ends"))
		case math.IsInf(between[0], -1) && math.IsInf(between[1], 1):
			s.at("between").fail(errors.New("holds every number: want one end that does not"))
		default:
			c.Between = [2]Real{Real(between[0]), Real(between[1])}
		}
		if !(c.Level >= 0.5 && c.Level < 1) {
			s.at("level").fail(fmt.Errorf("is %v: want a number from 0.5, below 1", c.Level))
		}
		f.claims = append(f.claims, placedClaim{c, s})
	}
}

// completeClaims reads what the claims say of the columns of the study's rows, and
// refuses columns that they do not have and values that no job of any profile has.
// So a mistyped value is found before the study is run for hours.
func (f *File) completeClaims(s section) {
	if len(f.claims) == 0 || s.err != nil {
		return
	}
	var plans []Plan
	// The columns are those of the jobs of all profiles: a claim may be decided in any of them.
	for _, name := range append([]string{""}, f.profiles...) {
		if study, _, err := f.expand(Profile{Name: name}, nil); err == nil {
			plans = append(plans, Plan{Study: study})
		}
	}
	rows := newRows(plans)
	known := stated(plans)
	for i := range f.claims {
		c := &f.claims[i]
		c.Where = c.readRows("where", rows, known)
		c.Over = c.readRows("over", rows, known)
		c.at("of").fail(c.readOf(rows))
		_, from := c.values["from"]
		_, sd := c.values["sd"]
		ratios := []string{RatioStatistic, LogRatioStatistic}
		switch ratio := slices.Contains(ratios, c.Statistic); {
		case ratio && len(c.Over) == 0:
			c.fail(errors.New("a ratio has no over: want over = {column = value, …}, " +
				"what it divides by"))
		case c.Over["h"] != nil || c.Over["relative"] != nil:
			c.at("over").fail(errors.New("has the step: a ratio is of rows at one step: want " +
				"another column"))
		case ratio && overlap(c.Where, c.Over):
			c.at("over").fail(errors.New("selects rows that where selects, too, which would be " +
				"divided by themselves: want other values in where"))
		case !ratio && len(c.Over) > 0:
			c.at("over").fail(fmt.Errorf("is of %s alone: leave it out",
				strings.Join(ratios, " and ")))
		case c.Statistic == DistanceStatistic && !from:
			c.fail(errors.New("a distance has no from: want the published number"))
		case c.Statistic != DistanceStatistic && (from || sd):
			c.fail(fmt.Errorf("from and sd are of %s alone: leave them out",
				DistanceStatistic))
		}
		s.err = cmp.Or(s.err, c.err) // of a claim that the base states
	}
}

// overlap reports whether rows of where may have all values of over.
func overlap(where, over map[string][]any) bool {
	for column, values := range over {
		shared := func(v any) bool { return slices.Contains(values, v) }
		if at, stated := where[column]; stated && !slices.ContainsFunc(at, shared) {
			return false
		}
	}
	return true
}

// dataClaims are the file's claims.
func (f *File) dataClaims() (claims []DataClaim) {
	for _, c := range f.claims {
		claims = append(claims, c.DataClaim)
	}
	return claims
}

// columnOf is the column of a name: its own, or that of a setting or an observation.
// An unknown name is returned as it is: the table of rows refuses it.
func columnOf(name string) string {
	for _, s := range declared {
		if s.Name == name {
			return cmp.Or(s.Column, name)
		}
	}
	for _, o := range observations {
		if o.Name == name {
			return o.Column
		}
	}
	return name
}

// readOf checks the column that a statistic is of.
// A share is of truths, every other statistic of numbers.
func (c *placedClaim) readOf(rows *table.Table) error {
	name := c.Of
	c.Of = columnOf(name)
	kind, err := kindIn(rows, c.Of)
	switch {
	// The columns that claims derive are not in the table.
	case name == ExcessColumn:
		kind, err = table.Number, nil
	case name == RightColumn:
		kind, err = table.Truth, nil
	}
	in := func(columns []table.Column) bool {
		return slices.ContainsFunc(columns, func(o table.Column) bool { return o.Name == c.Of })
	}
	switch share := c.Statistic == ShareStatistic; {
	case err != nil:
		return err
	case slices.ContainsFunc(declared, func(s Setting) bool { return s.Column == c.Of }) ||
		in(jobColumns) || in(originColumns):
		return fmt.Errorf("is %q: a setting is what a chain was told, no result", name)
	case share && kind != table.Truth:
		return fmt.Errorf("is %q: a share is of a column that is true or false: diverged, %s "+
			"or pass", name, RightColumn)
	case !share && kind != table.Number:
		return fmt.Errorf("is %q: want a column of numbers", name)
	case c.Statistic == OrderStatistic && c.Of != "error" && (in(exactColumns) || in(checkColumns)):
		return fmt.Errorf("is %q: of what is exact the order of error alone is known: want that, "+
			"or what chains yield", name)
	}
	return nil
}

// kindIn is the kind of a column of a table.
// An unknown column is a usage error that lists the columns there are.
func kindIn(rows *table.Table, column string) (table.Kind, error) {
	// The error lists the derived columns with the others.
	names := distinct.Of(rows.Columns(), func(c table.Column) string { return c.Name })
	i := slices.Index(names, column)
	if i < 0 {
		return table.None, usage.Unknown("column", column, append(names, ExcessColumn, RightColumn))
	}
	return rows.Columns()[i].Kind, nil
}

// readRows reads the values by column of where or over.
// Values are checked where the jobs determine them; a column such as observable has its
// values only after the run.
func (c *placedClaim) readRows(key string, rows *table.Table,
	known map[string][]table.Value) map[string][]any {
	s := c.table(key)
	out := make(map[string][]any)
	// A column may be written by its name in files, such as step, or by its own, such as h.
	for _, name := range s.keys() {
		column := columnOf(name)
		kind, err := kindIn(rows, column)
		if err != nil {
			s.at(name).fail(err)
			return nil
		}
		values, err := list(s.values[name])
		files := slices.ContainsFunc(declared, func(d Setting) bool {
			return d.file && d.Column == column
		})
		for _, v := range values {
			if text, ok := v.(string); ok && files && chain.IsFile(text) { // as rows have it
				v = Parts{dir: filepath.Dir(s.file)}.path(text)
			}
			v, e := claimValue(v, column, kind)
			if at := known[column]; e == nil && len(at) > 0 && !slices.Contains(at, tableValue(v)) {
				infinite := "inf" // as files have it
				if column == "batch" {
					infinite = "full"
				}
				e = fmt.Errorf("no row of the study has %v: want one of %s", v,
					strings.ReplaceAll(fmt.Sprint(at), "+Inf", infinite))
			}
			if e == nil && slices.Contains(out[column], v) {
				e = fmt.Errorf("%v stands twice", v)
			}
			err = cmp.Or(err, e)
			out[column] = append(out[column], v)
		}
		s.at(name).fail(err)
	}
	return out
}

// wholeNumber is a whole number as a claim has it. Columns of numbers hold floating-point ones;
// seeds alone may be larger than what these tell apart.
func wholeNumber(column string, n int64) any {
	if v := table.Of(n); column == "seed" && v != table.Of(v.Number()) {
		return n
	}
	return float64(n)
}

// plainClaim is a DataClaim without its methods.
type plainClaim DataClaim

// UnmarshalJSON reads the claim of a manifest.
// Seeds keep their digits.
func (c *DataClaim) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode((*plainClaim)(c)); err != nil {
		return err
	}
	for _, where := range []map[string][]any{c.Where, c.Over} {
		for column, values := range where {
			for i, v := range values {
				// As readRows makes them: float64, but int64 for a seed that float64 cannot hold.
				text, isNumber := v.(json.Number)
				if !isNumber {
					continue
				}
				x, err := text.Float64()
				if err != nil {
					return err
				}
				values[i] = x
				if n, err := text.Int64(); err == nil {
					values[i] = wholeNumber(column, n)
				}
			}
		}
	}
	return nil
}

// claimValue is a value of a file as a claim has it: of the kind of its column.
func claimValue(v any, column string, kind table.Kind) (any, error) {
	switch x := v.(type) {
	case int64:
		v = wholeNumber(column, x)
	case float64:
		switch {
		case math.IsInf(x, 1):
			v = "inf"
		case math.IsNaN(x) || math.IsInf(x, -1): // which a manifest cannot state
			return v, fmt.Errorf("is %v: want a number, or inf", x)
		}
	case string:
		if kind == table.Number && (x == "full" || x == "inf") {
			return "inf", nil
		}
	case bool:
	default:
		return v, fmt.Errorf("is %s: want a text, a number, true or false", kindOf(v))
	}
	if got := tableValue(v).Kind(); got != kind {
		return v, fmt.Errorf("is %s: want a %v", kindOf(v), kind)
	}
	return v, nil
}

// tableValue returns a value of a claim as tables of rows have it.
func tableValue(v any) table.Value {
	if v == "inf" {
		return table.Of(math.Inf(1))
	}
	return table.Of(v)
}

// exactObservables are what exact errors may be of. Powers of auxiliary variables have their names.
var exactObservables = []string{
	"theta", "theta.mean", "theta.cov", "joint.cov", "step.mean", "step.cov", "theta^1", "theta^2",
	"cos(theta)", "tanh(theta)", "r^2", "theta1^2", "theta1^2*theta2^2", "cos(theta1)",
}

// stated are the values that the jobs of plans have in the columns that jobs fill, and those that
// results may have where these are few words. Of other columns the values are known when the jobs
// have run.
// The steps of exact jobs that search for their own, and those relative to a stable step, are not
// known either; then no value of h is refused.
func stated(plans []Plan) map[string][]table.Value {
	values := make(map[string][]table.Value)
	// Values of all plans together: a claim may be of a row of any profile.
	add := func(row map[string]any) {
		for column, v := range row {
			values[column] = distinct.Append(values[column], table.Of(v))
		}
	}
	for _, p := range plans {
		for _, j := range p.Cells {
			row := make(map[string]any)
			j.fill(row, Result{}, true)
			delete(row, "missing")
			add(row)
		}
		for _, j := range p.Exact {
			// A job has rows of each of its schemes, at each of its steps.
			row, _, _ := j.row()
			for _, row["scheme"] = range j.Exact.Schemes {
				add(row)
			}
			for _, h := range j.Exact.Steps {
				add(map[string]any{"h": h})
			}
		}
	}
	for _, r := range minibatch.Regimes {
		add(map[string]any{"regime": string(r)})
	}
	for _, name := range exactObservables {
		add(map[string]any{"observable": name})
	}
	for _, p := range plans {
		// Relative steps, and what follows from them, are known when the stable one is.
		if slices.ContainsFunc(p.Cells, func(j Job) bool { return j.Relative > 0 }) {
			for _, column := range []string{"h", "thin", "burn_in"} {
				delete(values, column)
			}
		}
		for _, j := range p.Exact {
			if j.findsSteps() {
				delete(values, "h")
			}
			m, err := integrators.Builtin().Lookup(j.Exact.Integrator)
			if err != nil || m.Variables != nil { // which have names of their own
				delete(values, "observable")
			}
		}
	}
	return values
}

// findsSteps reports whether the job's steps are known when it has run: those of its
// problem, or the best ones for budgets.
// Claims cannot name such steps beforehand.
func (j ExactJob) findsSteps() bool { return j.Exact.Steps == nil || j.Exact.Budgets != nil }
