package bench

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"hambench/bench/store"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/chain"
	"hambench/integrators"
	"hambench/models/datasets"
	"hambench/oracle"
)

// stored are the plans of studies, and a store without results.
func stored(t *testing.T, studies ...Study) (Results, []Plan) {
	t.Helper()
	plans, err := (&Keys{Source: source()}).Resolve(t.Context(), "", studies)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.TempDir(), store.Machine{Arch: "amd64"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return NewResults(s), plans
}

// put stores a job's body.
func (s Results) put(t *testing.T, kind store.Kind, key string, body any) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	made := store.Made{Machine: store.Machine{Arch: "arm64", ISA: "neon"}}
	if err := s.Store.(*store.Store).Put(store.Record{Kind: kind, Key: key, Seconds: 2, Made: made, Body: b}); err != nil {
		t.Fatal(err)
	}
}

// A study of a user's is not built in, whatever its id is.
func TestRowsSayWhereTheyAreFrom(t *testing.T) {
	f, err := load(t, strings.Replace(small, "[vary]", "id = \"methods\"\n[vary]", 1))
	if err != nil {
		t.Fatal(err)
	}
	mine, err := f.Study(Profile{})
	if err != nil {
		t.Fatal(err)
	}
	builtIn := studies(t, Profile{Name: "quick"})[2] // toy
	results, plans := stored(t, mine, builtIn)
	var got []string
	for _, g := range results.Table(plans).GroupBy("study", "origin") {
		got = append(got, g.Get("study").Text(), g.Get("origin").Text())
	}
	if want := []string{"methods", f.origin(), "toy", BuiltIn}; !slices.Equal(got, want) || len(f.origin()) != digestLength {
		t.Errorf("origins %q, want %q", got, want)
	}
	if err := Save(results.Store.(*store.Store), store.Made{}, plans); err != nil {
		t.Fatal(err)
	}
	again, err := Plans(results.Store.(*store.Store), "")
	if err != nil || again[0].Source() != f.origin() || again[1].Source() != BuiltIn {
		t.Errorf("read again: %q, %q, %v", again[0].Source(), again[1].Source(), err)
	}
}

func TestACellsRowHasItsSettingsAndWhatItYielded(t *testing.T) {
	study := studyOf(t, `
fix = {data = "linear"}
grid = [
	{integrator = {name = "mt3", w2-variance = 1}, step = 0.1, batch = 32},
	{integrator = "lietrotter", step = 0.1, friction = inf},
	{integrator = "leapfrog", step = 0.2},
]`)
	results, plans := stored(t, study)
	cells := plans[0].Cells
	results.put(t, "result", cells[0].Key, Result{KS: 0.1, KSSelf: 0.08, KSSelfLow: 0.06, KSSelfHigh: 0.11,
		Scales: &oracle.Scales{Omega: 3, Spread: 40}, Scores: map[string]float64{"rmse": 0.5, "ess": 50, "checks_failed": 2}, Gradients: 7})
	results.put(t, "result", cells[1].Key, Result{KS: 1, Diverged: true, Scores: map[string]float64{"rmse": 5}})
	rows := results.Table(plans).Rows()
	for i, want := range []map[string]any{
		{"dataset": "linear", "integrator": "mt3", "parameters": "w2-variance=1", "w2-variance": 1, "batch": 32, "estimator": "plain", "scheme": "reshuffle",
			"ks": 0.1, "ks_self": 0.08, "ks_self_low": 0.06, "ks_self_high": 0.11, "rmse": 0.5, "ess": 50, "checks_failed": 2, "gradients": 7, "seconds": 2, "arch": "arm64", "missing": false, "key": cells[0].Key, "place": 1},
		{"friction": math.Inf(1), "batch": math.Inf(1), "w2-variance": nil, "ks": 1, "rmse": nil, "diverged": true, "K": 1, "scheme": "full"},
		{"h": 0.2, "missing": true, "ks": nil, "diverged": nil, "seed": 1, "friction": 5, "record": CellRecord},
	} {
		for column, v := range want {
			if got := rows[i].Get(column); got != table.Of(v) {
				t.Errorf("row %d: %s is %v, want %v", i, column, got, v)
			}
		}
	}
	// A step of 0.1 at friction 5, and K − 1 times the variance of two batches, 40.
	if r := rows[0]; math.Abs(r.Number("eta_v_over_c")-0.8*(r.Number("K")-1)) > 1e-12 || !(r.Number("K") > 1) {
		t.Errorf("ηV/C %v with K = %v: want 0.8(K − 1)", r.Number("eta_v_over_c"), r.Number("K"))
	}
	if s := rows[0].Source.(Result); s.Cell.Integrator != "mt3" || s.Scores["ess"] != 50 {
		t.Errorf("source %+v", s)
	}
}

// Chains that no truth judges have no self-distance in tables. Exports, which programs of others
// read, have what the record has.
func TestWhatIsNotJudgedHasNoSelfDistance(t *testing.T) {
	results, _ := stored(t)
	for i, o := range observables {
		cell := numbered(i)
		cell.Observe = o
		results.put(t, store.Result, cell.Stream(), Result{Cell: cell})
		rows := results.Table([]Plan{{Study: Study{ID: "x", Cells: []Job{{Key: cell.Stream(), Cell: cell}}}}})
		for _, column := range []string{"ks_self", "ks_self_low", "ks_self_high", "ks_self_sd"} {
			if got := rows.Rows()[0].Get(column); got.IsNone() == o.Judged() {
				t.Errorf("%s: %s is %v", o, column, got)
			}
		}
		var csv strings.Builder
		if err := WriteCSV(&csv, rows); err != nil || !strings.Contains(csv.String(), ",0.1,0,0,false,") {
			t.Errorf("%s: %v, want 0 for both distances:\n%s", o, err, &csv)
		}
	}
}

// Rows that are drawn independently vary more than those of a partition: twice for two batches.
func TestTheSpreadIsThatOfTheScheme(t *testing.T) {
	for scheme, times := range map[string]float64{"replacement": 1, "repartition": 1, "iid": 2} {
		row := map[string]any{"integrator": "leapfrog", "scheme": scheme, "K": 2, "h": 0.1}
		fillRegime(row, nil, 3, 5, 40)
		if v, _ := row["eta_v_over_c"].(float64); math.Abs(v-0.8*times) > 1e-12 {
			t.Errorf("%s: ηV/C = %v, want %v", scheme, v, 0.8*times)
		}
	}
}

// Of a model with data of its own, K is known, and no number of rows.
func TestABatchOfUnknownRowsHasNoNumber(t *testing.T) {
	for k, want := range map[int]any{1: math.Inf(1), 5: nil} {
		row := map[string]any{}
		cell := Cell{Dataset: datasets.None, Batches: k, BatchSize: 1}
		if k == 1 {
			cell.BatchSize = Full
		}
		if (Job{Cell: cell}).fill(row, Result{}, true); row["batch"] != want || row["K"] != k {
			t.Errorf("K = %d: a batch of %v rows, K %v", k, row["batch"], row["K"])
		}
	}
}

func TestAChecksRowHasItsLimits(t *testing.T) {
	results, plans := stored(t, studyOf(t, "fix = {data = \"teacher-reg\", integrator = \"leapfrog\", batch = 32, step = 0.005}"))
	job := plans[0].References[0]
	results.put(t, store.Reference, job.Key, map[string]any{"checks": []oracle.Check{{Name: "self-distance", Value: 0.7, Low: 0.2, High: 0.5}}})
	row := results.Table(plans).Where("record", CheckRecord).Rows()[0]
	for column, v := range map[string]any{
		"dataset": "teacher-reg", "model": "bnn", "oracle": job.Spec.ID(), "key": job.Key, "check": "self-distance", "value": 0.7, "low": 0.2, "high": 0.5, "pass": false,
	} {
		if got := row.Get(column); got != table.Of(v) {
			t.Errorf("%s is %v, want %v", column, got, v)
		}
	}
}

func TestAnExactErrorsRowSaysOfWhatItIs(t *testing.T) {
	text := `
[[exact]]
problem = "gaussian"
integrator = {name = "mt3", w2-variance = 1}
friction = [2, 5]
inverse-mass = [0.5, 2]
scheme = "full"
step = [0.2, 0.1]
`
	f, err := load(t, text)
	if err != nil {
		t.Fatal(err)
	}
	study, err := f.Study(Profile{})
	if err != nil {
		t.Fatal(err)
	}
	results, plans := stored(t, study)
	row := certify.Row{
		Scheme: "full", Steps: []float64{0.2, 0.1}, Engine: certify.Gaussian, Observe: "period",
		Observables: []certify.Observable{{
			Name: "theta.cov", Errors: []certify.Number{0.4, 0.1}, Resolution: []certify.Number{1e-9, 1e-9}, Order: 2, Claim: 2, Verdict: certify.Confirmed,
		}},
		Answers: certify.Answers{Budgets: []certify.AtBudget{{Gradients: 1000, MSE: []certify.Number{3, 2}, Step: 0.05, Best: 1, Worst: "theta"}}},
	}
	for _, j := range plans[0].Exact {
		results.put(t, "exact", j.Key, []certify.Row{row})
	}
	all := results.Table(plans)
	errors := all.Where("record", ErrorRecord)
	if errors.Len() != 4 || all.Where("record", BudgetRecord).Len() != 4 || all.Where("record", BestRecord).Len() != 2 {
		t.Fatalf("%d errors, %d rows", errors.Len(), all.Len())
	}
	for column, v := range map[string]any{
		"problem": "gaussian", "friction": 5, "mass": "[0.5 2]", "K": 4, "integrator": "mt3", "w2-variance": 1, "estimator": "plain", "scheme": "full", "nl": 1,
		"observable": "theta.cov", "h": 0.1, "error": 0.1, "resolution": 1e-9, "order": 2, "verdict": "confirmed", "purpose": OfOrders, "law": "period",
		"joint_order": 3, "constant_determinant": true, "symplectic_limit": true, "period": nil,
	} {
		if got := errors.Rows()[3].Get(column); got != table.Of(v) {
			t.Errorf("%s is %v, want %v", column, got, v)
		}
	}
	if g := errors.GroupBy("problem"); len(g) != 1 || len(g[0].Values("friction")) != 2 {
		t.Errorf("%d groups of the problem: want one with two frictions", len(g))
	}
	if omega := errors.Rows()[0].Number("omega"); !(omega > 1.11 && omega < 1.12) {
		t.Errorf("lowest frequency %v", omega)
	}
}

// A regime is stated where a law is proven: of the integrator, of what its gradients are, and of
// the scheme. A chain that diverged has one, too: it is evidence of claims.
func TestARegimeIsStatedWhereALawIsProven(t *testing.T) {
	row := func(change func(*Cell, *Result)) table.Row {
		c := Cell{Observe: Distance, Dataset: "boston", Model: "bnn", Integrator: "leapfrog", Friction: 5, Scheme: "replacement", Batches: 8, Step: 0.01, Inner: 1}
		r := Result{Scales: &oracle.Scales{Omega: 10, Spread: 3}}
		change(&c, &r)
		rows, values := newRows(nil), make(map[string]any)
		Job{Cell: c}.fill(values, r, false)
		rows.Add(r, values)
		return rows.Rows()[0]
	}
	for what, c := range map[string]struct {
		change func(*Cell, *Result)
		want   string
	}{
		"replacement":     {func(*Cell, *Result) {}, "heat"},
		"plain":           {func(c *Cell, _ *Result) { c.Estimator = "plain" }, "heat"},
		"short epochs":    {func(c *Cell, _ *Result) { c.Scheme, c.Step = "reshuffle", 0.001 }, "orders"},
		"inner steps":     {func(c *Cell, _ *Result) { c.Integrator, c.Inner = "lietrotter", 4 }, "heat"},
		"svrg":            {func(c *Cell, _ *Result) { c.Estimator = "svrg" }, ""},
		"no momentum":     {func(c *Cell, _ *Result) { c.Integrator = "sgld" }, ""},
		"auxiliary":       {func(c *Cell, _ *Result) { c.Integrator = "sgnht" }, ""},
		"less noise":      {func(c *Cell, _ *Result) { c.Integrator = "sghmc" }, ""},
		"its own mass":    {func(c *Cell, _ *Result) { c.Integrator = "sghmc-adaptive" }, ""},
		"a user's step":   {func(c *Cell, _ *Result) { c.Integrator = "mine" }, ""},
		"a user's scheme": {func(c *Cell, _ *Result) { c.Scheme = "mine" }, ""},
		"one order":       {func(c *Cell, _ *Result) { c.Scheme = "cyclic" }, ""},
		"diverged":        {func(_ *Cell, r *Result) { r.Diverged = true }, "heat"},
	} {
		r := row(c.change)
		if got := r.Text("regime"); got != c.want || math.IsNaN(r.Number("k_eta_omega")) != (c.want == "") {
			t.Errorf("%s: regime %q, Kηω = %g, want %q", what, got, r.Number("k_eta_omega"), c.want)
		}
	}
}

// With a mass the regime of an exact error is by the fastest rate of C M⁻¹, as certify states it.
func TestTheRegimeOfAnExactErrorIsThatOfCertify(t *testing.T) {
	f, err := load(t, "[[exact]]\nproblem = \"gaussian\"\nintegrator = \"leapfrog\"\ninverse-mass = [0.5, 30]\nscheme = \"reshuffle\"\nstep = [0.01, 0.1]\n")
	if err != nil {
		t.Fatal(err)
	}
	study, err := f.Study(Profile{})
	if err != nil {
		t.Fatal(err)
	}
	results, plans := stored(t, study)
	job := plans[0].Exact[0]
	o, err := job.Exact.Options(chain.Registries{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := certify.Errors(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	results.put(t, "exact", job.Key, found)
	for _, r := range results.Table(plans).Rows() {
		i := slices.Index(found[0].Steps, r.Number("h"))
		same := func(column string, want certify.Number) bool {
			return math.Abs(r.Number(column)-float64(want)) < 1e-9*float64(want)
		}
		if !same("c_over_omega", found[0].Damping) || !same("k_eta_omega", found[0].Epochs[i]) || r.Text("regime") != string(found[0].Regimes[i]) {
			t.Errorf("h = %g: %s, C/ω = %g, Kηω = %g; certify has %s, %v, %v", r.Number("h"), r.Text("regime"), r.Number("c_over_omega"), r.Number("k_eta_omega"),
				found[0].Regimes[i], found[0].Damping, found[0].Epochs[i])
		}
	}
}

// Records of earlier versions do not say which checks their references failed: rows have it from
// the references themselves, or from the cells that counted, whose study need not be among the
// plans. A record that knows its reference's own error is of a reference that has its own word.
func TestRowsOfOldRecordsHaveWhatTheirReferencesFailed(t *testing.T) {
	study := studyOf(t, "fix = {data = \"teacher-reg\", integrator = \"leapfrog\", batch = 32, step = 0.005}")
	counted := study.clone()
	counted.Cells[0].Cell.Observe = Reference
	study.ID, counted.ID = "chains", "references"
	for what, c := range map[string]struct {
		checks []oracle.Check
		scores map[string]float64
		own    float64
		want   string
	}{
		"named":      {[]oracle.Check{{Name: "a"}, {Name: oracle.OwnErrorCheck}, {Name: "b", Pass: true}}, map[string]float64{"checks_failed": 1}, 0, "a"},
		"counted":    {nil, map[string]float64{"checks_failed": 2}, 0, "2 checks"},
		"passed":     {[]oracle.Check{{Name: "a", Pass: true}}, map[string]float64{"checks_failed": 0}, 0, ""},
		"own error":  {[]oracle.Check{{Name: "a"}}, nil, 0.003, ""},
		"never made": {nil, nil, 0, ""},
	} {
		results, plans := stored(t, study, counted)
		if err := Save(results.Store.(*store.Store), store.Made{}, plans); err != nil {
			t.Fatal(err)
		}
		if c.checks != nil {
			results.put(t, store.Reference, plans[0].References[0].Key, map[string]any{"checks": c.checks})
		}
		if c.scores != nil {
			results.put(t, store.Result, plans[1].Cells[0].Key, Result{Cell: plans[1].Cells[0].Cell, Scores: c.scores})
		}
		cell := plans[0].Cells[0]
		results.put(t, store.Result, cell.Key, Result{Cell: cell.Cell, KS: 0.1, KSSelf: 0.1, KSSelfSD: 0.01, ReferenceError: c.own})
		rows := results.Table(plans[:1]).Where("record", CellRecord)
		if got := rows.Rows()[0].Text("reference_failed"); got != c.want {
			t.Errorf("%s: the reference failed %q, want %q", what, got, c.want)
		}
		if _, decided := Right(rows.Rows()...); decided != (c.want == "") {
			t.Errorf("%s: decided %v", what, decided)
		}
	}
}

// Results follow from the store alone: whichever machine opened it, of two machines' records of one
// key the first's by name counts.
func TestResultsAreTheSameForEveryMachine(t *testing.T) {
	dir := t.TempDir()
	machines := []store.Machine{{Arch: "amd64", ISA: "avx2"}, {Arch: "amd64", ISA: "avx512"}, {}}
	for _, m := range machines {
		s, err := store.Open(dir, m)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for i, of := range machines[:2] { // of which the second opening adds nothing new
			r, err := store.NewRecord(store.Result, "k", 0, store.Made{Machine: of}, Result{Steps: int64(i)})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Put(r); err != nil {
				t.Fatal(err)
			}
		}
		if r, ok := NewResults(s).Result("k"); !ok || r.Steps != 0 {
			t.Errorf("on %v: the result of machine %d counts, want that of the first", m, r.Steps)
		}
	}
}

// Names of columns that every table has may be those of an integrator's own parameters: these have
// columns of their own then. No built-in integrator has such a name.
func TestParametersWithNamesOfColumns(t *testing.T) {
	for _, m := range integrators.Builtin() {
		for _, p := range m.Parameters {
			if parameterColumn(p.Name) != p.Name {
				t.Errorf("%s: the column of %s is %s", m.Name, p.Name, parameterColumn(p.Name))
			}
		}
	}
	leapfrog, err := integrators.Builtin().Lookup("leapfrog")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"mass", "period", "order", "h", "free"} // of texts, of numbers, of a setting
	mine := integrators.Integrator{Name: "mine", About: "a test's", Needs: integrators.Needs{Gradients: 1, Normals: 1}, Claims: leapfrog.Claims}
	for _, name := range names {
		mine.Parameters = append(mine.Parameters, integrators.Parameter{Name: name, About: "x", Default: 1, Low: 0.01, High: 100})
	}
	mine = integrators.Define(mine, func(dim int, p integrators.Params) (kernel, refresh integrators.Stepper) {
		p.Values = nil
		in, err := leapfrog.New(dim, p)
		if err != nil {
			t.Fatal(err)
		}
		return in.Kernel, in.Refresh
	})
	parts := Parts{Chains: chain.Registries{Integrators: append(slices.Clone(integrators.Builtin()), mine)}}
	f, err := Parse("own", []byte(`
fix = {data = "linear", step = 0.5, integrator = {name = "mine", mass = 2, period = 3, order = 4, h = 5, free = 6}}
figure = {x = "mass"}
exact = [{problem = "gaussian", scheme = "full", integrator = {name = "mine", mass = 2, period = 3}}]
claim = [{id = "c", text = "C.", where = {parameter-mass = 2, free = 6}, statistic = "mean", of = "ks", between = [0, 1]}]
`), parts)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Study(Profile{})
	if err != nil {
		t.Fatal(err)
	}
	row := Results{Store: memory{}}.Table([]Plan{{Study: s}}).Rows()[0]
	for i, column := range []string{"parameter-mass", "parameter-period", "parameter-order", "parameter-h", "free"} {
		if got := row.Number(column); got != float64(2+i) {
			t.Errorf("%s is %v, want %d", column, got, 2+i)
		}
	}
	if row.Number("h") != 0.5 || row.Text("mass") != "" || !row.Get("period").IsNone() {
		t.Errorf("h %v, mass %v, period %v", row.Get("h"), row.Get("mass"), row.Get("period"))
	}
	rows := Results{Store: memory{}}.Table([]Plan{{Study: s}})
	found, err := LookupSettings([]string{"mass", "free"}, rows)
	if err != nil || found[0].Text(row) != "mass = 2" || found[1].Text(row) != "free = 6" {
		t.Errorf("%+v, %v", found, err)
	}
}

// memory is a store without records.
type memory struct{}

func (memory) Get(store.Kind, string) (store.Record, bool) { return store.Record{}, false }
