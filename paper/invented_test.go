package paper

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/oracle"
)

// Observables that the claims read by their names.
const (
	covariance = "theta.cov"
	jointLaw   = "joint.cov"
)

// invented are rows and results made up so that every claim of the paper
// holds. Tests change them and watch the verdicts.
type invented struct {
	// order is that of an integrator; "mt3 with Var(w2) = 1" stands for mt3
	// with another value of its parameter.
	order   func(problem, integrator string, inner int, scheme, observable string) float64
	ks      func(study string, c bench.Cell) float64 // above 1 means diverged
	scores  func(p Published) float64
	ratio   func(scheme string, h float64) float64 // mt3 / lietrotter
	large   func(inner int, scheme string) float64 // error at the largest step
	toy     map[string]float64                     // error of the variance by scheme
	missing func(f fitOf) bool                     // orders that cannot be fitted

	weak       map[string]float64                      // weak orders
	errors     func(integrator, scheme string) float64 // of the rows of orders, at every step
	constant   func(k int) float64                     // of η², of K batches
	epoch      func(x float64) float64                 // error in random orders over that with replacement, at Kηω
	predicted  float64                                 // by the closed form, of a constant 0.5
	formOrder  float64                                 // of the problems of the closed form
	formUnsure float64                                 // how well their constants are known, relatively
	toyForm    float64                                 // by the closed form, of the toy
	drop       func(x exactError) bool                 // exact evidence that is not there
	without    string                                  // a study that has not been run
	only       []string                                // data sets, if not all
	splits     int                                     // of the tables
	failed     []string                                // data sets whose references failed a check
	judgedBy   string                                  // the oracle of boston's chains
	ownError   float64                                 // of that oracle, recorded with its checks
	exactLaw   bool                                    // judges the study synthetic
	noMethods  bool                                    // no plan says anything of an integrator
	symplectic bool                                    // as C → 0

	frictions []float64 // of the study friction

	best func(integrator string, inner int, friction float64, scheme string, gradients float64) float64 // mean squared error
}

func inventedTruth() *invented {
	return &invented{
		splits: 5,
		order:  trueOrder,
		ks:     trueDistance,
		scores: func(p Published) float64 {
			if p.Table == "regression" { // on the same splits
				return p.Mean
			}
			return p.Mean + leaning(p)*(p.SD/2+0.01)
		},
		ratio: func(scheme string, h float64) float64 {
			if scheme == "full" {
				return h
			}
			return 1
		},
		weak:     map[string]float64{"leapfrog": 1, "lietrotter": 2, "mt3": 3},
		errors:   trueError,
		constant: func(k int) float64 { return 0.06 * float64(k) },
		epoch: func(x float64) float64 {
			if x < 3 {
				return 0.1
			}
			return 0.7
		},
		predicted: 0.5, formOrder: 2, formUnsure: 1e-4,
		large: func(inner int, scheme string) float64 {
			if scheme == "full" {
				return 0.04
			}
			return 0.04 * float64(inner)
		},
		toy:     map[string]float64{"full": 0, "replacement": 0.4, "reshuffle": 0.06},
		missing: func(fitOf) bool { return false },
		drop:    func(exactError) bool { return false },

		symplectic: true,

		frictions: []float64{0.1, 1, 5, 50},
		best:      trueBest,
	}
}

// trueBest: N_l = 1 has the smallest mean squared error but for a tenth, mt3's cost
// is three times its worth, and C = 5 to 10 is best.
func trueBest(integrator string, inner int, friction float64, _ string, gradients float64) float64 {
	x := 1000 / gradients
	if integrator == "mt3" {
		x *= 3
	}
	if inner == 2 {
		x *= 0.9
	}
	if friction > 0 && (friction < 5 || friction > 10) {
		x *= 4
	}
	return x
}

// leaning is on one side for every second data set, and on the other for the
// rest.
func leaning(p Published) float64 { return 1 - 2*float64(len(p.Dataset)%2) }

// trueError: rk2 and euler, which are not quasi-symplectic, have larger errors than
// the others; the correction of sghmc adds a tenth.
func trueError(integrator, scheme string) float64 {
	switch {
	case integrator == "rk2":
		return 2
	case integrator == "euler":
		return 3
	case integrator == "sghmc" && scheme != "full":
		return 1.1
	}
	return map[string]float64{"leapfrog": 1, "sghmc": 1, "symmetric": 0.6, "lietrotter": 0.7, "mt3": 0.1}[integrator]
}

// trueOrder is what the theory says.
func trueOrder(problem, integrator string, _ int, scheme, observable string) float64 {
	own := map[string]float64{"leapfrog": 1, "sghmc": 1, "symmetric": 2, "lietrotter": 2, "mt3": 3, "exact": inf, reading: 2, "euler": 1, "rk2": 2}[integrator]
	if own == 1 && observable != "joint.cov" && observable != "r^2" {
		own = 2
	}
	if problem == "toy" && scheme == "reshuffle" {
		return min(own, 3)
	}
	switch scheme {
	case "full":
		return own
	case "replacement":
		return min(own, 1)
	case "cyclic":
		if observable == "joint.cov" {
			return min(own, 1)
		}
	}
	return min(own, 2)
}

const (
	selfMean, selfSD = 0.1, 0.02
	sigma            = 0.004 // of the mean distance
	smallStep        = 0.01
	largeStep        = 0.02
)

// trueDistance: all chains agree with the oracle at small steps; mini-batches
// cost something at large ones, N_l more, and bad frictions, too. Data sets
// differ a little.
func trueDistance(study string, c bench.Cell) float64 {
	if study == "synthetic" {
		return 0.07
	}
	large := c.Step >= largeStep
	d := selfMean
	if large && c.Batches > 1 {
		d += 0.2
	}
	if c.Integrator != "mt3" && large && c.Batches == 1 {
		d += 0.1
	}
	if study == "integration-length" && large {
		d += 0.002 * float64(c.Inner)
	}
	if c.Friction == 0.1 {
		d += 0.3
	}
	return d + 0.1*sigma*float64(len(c.Dataset)%3)
}

// reading is mt3 with w₂ of variance 1.
const reading = "mt3 with Var(w2) = 1"

// fitOf is an observable of a row of exact errors.
type fitOf struct {
	certify.Row
	observable string
}

// rows are those of real jobs, with what was invented in the place of their results: of
// the studies that claims read.
func (in *invented) rows(t *testing.T, claims ...Claim) *table.Table {
	t.Helper()
	m := newMemory()
	exact := bench.Plan{Study: bench.Study{ID: StudyID, Origin: bench.BuiltIn}}
	var read []any // studies
	readsExact := false
	for _, c := range claims {
		readsExact = readsExact || len(c.Cases) == 0
		for _, one := range c.Cases {
			read = append(read, one.Where["study"]...)
			readsExact = readsExact || one.Where["study"] == nil
		}
		readsExact = readsExact || c.ID == "sghmc-correction"
	}
	for _, x := range in.exact() {
		if readsExact && !in.drop(x) {
			m.putExact(t, &exact, x)
		}
	}
	for name, joint := range map[string]float64{
		"euler": 1, "rk2": 2, "leapfrog": 1, "symmetric": 2, "lietrotter": 2, "mt3": 3,
	} {
		if in.noMethods {
			break
		}
		structured := name != "euler" && name != "rk2"
		exact.Methods = append(exact.Methods, bench.Method{
			Name: name, Joint: bench.Real(joint), ConstantDeterminant: structured,
			SymplecticLimit: structured && in.symplectic,
		})
	}
	plans := []bench.Plan{exact}
	for _, id := range []string{
		"methods", "bottleneck", "integration-length", "friction", "precision", "synthetic",
		"toy", "regression", "classification", "autocorrelation",
	} {
		p := bench.Plan{Study: bench.Study{ID: id, Origin: bench.BuiltIn}}
		var results []bench.Result
		if id != in.without && slices.Contains(read, any(id)) {
			results = in.results(id)
		}
		for _, name := range in.failed {
			for split := range 2 {
				cell := bench.Cell{Dataset: name, Split: split, Observe: bench.Reference}
				failed := bench.Result{Cell: cell, Scores: map[string]float64{"checks_failed": 1}}
				results = append(results, failed)
			}
		}
		for _, r := range results {
			m.putResult(&p, r)
		}
		plans = append(plans, p)
	}
	return m.of(plans...)
}

// memory is a store of results and exact errors by key.
type memory struct {
	results map[string]bench.Result
	exact   map[string][]certify.Row
}

func newMemory() memory {
	return memory{make(map[string]bench.Result), make(map[string][]certify.Row)}
}

// Get returns what m has as a record, for bench.Results.
func (m memory) Get(kind store.Kind, key string) (store.Record, bool) {
	body, ok := any(m.exact[key]), kind == store.Exact && m.exact[key] != nil
	if r, found := m.results[key]; kind == store.Result && found {
		body, ok = r, true
	}
	if !ok {
		return store.Record{}, false
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return store.Record{Kind: kind, Key: key, Body: text}, true
}

// of are the rows of plans.
func (m memory) of(plans ...bench.Plan) *table.Table { return Rows(plans, bench.Results{Store: m}) }

// putResult adds a result to a plan, as that of a cell of its own.
func (m memory) putResult(p *bench.Plan, r bench.Result) {
	r.Cell.BatchSize = map[int]int{1: bench.Full, 4: 32, 16: 8}[r.Cell.Batches]
	r.Cell.Scheme = map[bool]string{true: "full", false: "reshuffle"}[r.Cell.Batches == 1]
	key := fmt.Sprint(p.ID, len(p.Cells))
	p.Cells = append(p.Cells, bench.Job{Key: key, Cell: r.Cell})
	r.Key = key
	m.results[key] = r
}

// putExact adds exact errors to a plan: those of one integrator under all schemes are of
// one job. The name of its problem may end in a friction, and in M ≠ I.
// exactError is exact errors of a job of a purpose.
type exactError struct {
	Purpose string
	certify.Row
}

func (m memory) putExact(t *testing.T, p *bench.Plan, x exactError) {
	t.Helper()
	name, mass := strings.CutSuffix(x.Problem, ", M ≠ I")
	name, friction, other := strings.Cut(name, ", C = ")
	problem := problems(t)[name]
	if other {
		if _, err := fmt.Sscan(friction, &problem.Friction); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(&problem)
	if err != nil {
		t.Fatal(err)
	}
	e := bench.Exact{
		Name: x.Problem, Problem: text, Integrator: x.Integrator, Values: x.Values,
		Estimator: cmp.Or(x.Estimator, "plain"), Inner: x.Inner, Schemes: []string{x.Scheme},
	}
	if mass {
		e.InvMass = []float64{0.5, 2}
	}
	key := fmt.Sprint(x.Purpose, x.Problem, x.Row.Name())
	if m.exact[key] == nil {
		p.Exact = append(p.Exact, bench.ExactJob{Key: key, Purpose: x.Purpose, Problem: name, Exact: e})
	}
	for i, o := range x.Observables {
		if o.Resolution == nil {
			x.Observables[i].Resolution = make([]certify.Number, len(o.Errors))
		}
	}
	m.exact[key] = append(m.exact[key], x.Row)
}

// problems are those of the built-in studies, by name.
var problems = func() func(t *testing.T) map[string]certify.Problem {
	known := make(map[string]certify.Problem)
	return func(t *testing.T) map[string]certify.Problem {
		t.Helper()
		if len(known) > 0 {
			return known
		}
		for _, p := range append(certify.Builtin(), certify.BottleneckProblem()) {
			known[p.Name] = *p
		}
		for _, file := range []string{"alternating", "random", "frequencies", "curvatures", "rows", "regimes", "crossing"} {
			var texts map[string]json.RawMessage
			data, err := os.ReadFile("../bench/studies/" + file + ".json")
			if err == nil {
				err = json.Unmarshal(data, &texts)
			}
			for name, text := range texts {
				var p *certify.Problem
				if p, err = certify.ParseProblem(name, text); err != nil {
					break
				}
				known[name] = *p
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return known
	}
}()

func (in *invented) exact() []exactError {
	steps := []float64{0.04, 0.02, 0.01}
	var out []exactError
	put := func(purpose string, r certify.Row) { out = append(out, exactError{Purpose: purpose, Row: r}) }
	add := func(purpose, problem, integrator string, inner int, schemes ...string) {
		for _, s := range schemes {
			put(purpose, in.row(problem, integrator, inner, s, steps))
		}
	}
	all := []string{"full", "reshuffle", "replacement", "cyclic"}
	for _, problem := range []string{"gaussian", "scalar"} {
		for _, m := range []string{"euler", "rk2", "leapfrog", "sghmc", "symmetric", "lietrotter", "mt3"} {
			add(bench.OfOrders, problem, m, 1, all...)
		}
		variant := in.row(problem, reading, 1, "full", steps)
		variant.Integrator, variant.Values = "mt3", map[string]float64{"w2-variance": 1}
		put("variance", variant)
		for _, c := range []float64{0.5, 2, 5} {
			add("friction", fmt.Sprintf("%s, C = %g", problem, c), "mt3", 1, "full")
			if problem == "gaussian" {
				add("friction", fmt.Sprintf("%s, C = %g, M ≠ I", problem, c), "mt3", 1, "full")
			}
		}
	}
	add(bench.OfOrders, "gaussian", "exact", 1, all...)
	add(bench.OfOrders, "toy", "exact", 1, all...)
	for i, x := range out {
		if x.Problem == "toy" && x.Scheme == "reshuffle" {
			foresee(&out[i].Row, in.toyForm)
		}
	}
	for name, p := range in.weak {
		put("weak", fittedRow("gaussian", name, "full", "step.cov", p, map[string]float64{"leapfrog": 3, "lietrotter": 2, "mt3": 1}[name]))
	}
	for _, k := range []int{2, 4, 8, 14} {
		problem := fmt.Sprintf("K = %d", k)
		random := fittedRow(problem, "exact", "reshuffle", covariance, 2, in.constant(k))
		drawn := fittedRow(problem, "exact", "replacement", covariance, 1, 0.12)
		for _, r := range []*certify.Row{&random, &drawn} {
			r.Steps, r.Observables[0].Errors = nil, nil
		}
		for _, h := range []float64{0.8, 0.4, 0.2, 0.1, 0.05, 0.025, 0.0125} {
			random.Steps, drawn.Steps = append(random.Steps, h), append(drawn.Steps, h)
			random.Observables[0].Errors = append(random.Observables[0].Errors, certify.Number(in.epoch(float64(k)*h)))
			drawn.Observables[0].Errors = append(drawn.Observables[0].Errors, 1)
		}
		put("batches", random)
		put("batches", drawn)
	}
	for _, k := range []int{2, 3, 4, 6, 12} {
		problem := fmt.Sprintf("%d batches of %d", k, 12/k)
		put("rows", fittedRow(problem, "exact", "reshuffle", covariance, 2, in.constant(k*(k-1))))
	}
	for i := range 6 {
		r := fittedRow(fmt.Sprintf("random %d", i+1), "exact", "reshuffle", covariance, in.formOrder, 0.5)
		r.Observables[0].Uncertainty = certify.Number(in.formUnsure)
		foresee(&r, in.predicted)
		put("closed-form", r)
	}
	for _, n := range []int{2, 4, 8} {
		add("inner", "gaussian", "lietrotter", n, "full", "reshuffle")
	}
	for _, n := range []int{1, 2, 4, 8} {
		for _, s := range []string{"full", "reshuffle"} {
			put("large-steps", plainRow("gaussian", "lietrotter", n, s, []float64{0.4, 0.2, 0.1}, func(h float64) float64 { return in.large(n, s) * h * h / 0.16 }))
		}
	}
	atBudgets := func(problem, integrator string, inner int, friction float64) {
		for _, s := range []string{"full", "reshuffle"} {
			r := certify.Row{Problem: problem, Integrator: integrator, Inner: inner, Scheme: s}
			for _, n := range []float64{1000, 100_000} {
				r.Budgets = append(r.Budgets, certify.AtBudget{Gradients: n, Best: certify.Number(in.best(integrator, inner, friction, s, n))})
			}
			put("efficiency", r)
		}
	}
	for _, n := range []int{1, 2, 4} {
		atBudgets("gaussian", "lietrotter", n, 0)
	}
	atBudgets("gaussian", "symmetric", 1, 0)
	atBudgets("gaussian", "mt3", 1, 0)
	for _, omega := range []float64{1, 10} {
		for _, c := range []float64{0.5, 1, 2, 5, 10, 20, 50} {
			atBudgets(fmt.Sprintf("ω = %g, C = %g", omega, c), "leapfrog", 1, c)
		}
	}
	for scheme, e := range in.toy {
		put("large-steps", plainRow("toy", "exact", 1, scheme, []float64{0.4, 0.2, 0.1}, func(float64) float64 { return e }))
	}
	for _, s := range []string{"reshuffle", "full"} {
		put("bottleneck", plainRow("linear", "lietrotter", 1, s, steps, func(h float64) float64 { return h * h }))
		put("bottleneck", plainRow("linear", "mt3", 1, s, steps, func(h float64) float64 { return in.ratio(s, h) * h * h }))
		put("bottleneck", plainRow("linear", "leapfrog", 1, s, steps, func(h float64) float64 { return in.errors("leapfrog", s) * h }))
	}
	return out
}

func (in *invented) row(problem, integrator string, inner int, scheme string, steps []float64) certify.Row {
	names := []string{"theta.mean", "theta.cov", "joint.cov"}
	if problem[0] == 's' {
		names = []string{"theta^2", "cos(theta)", "r^2"}
	}
	r := certify.Row{Problem: problem, Integrator: integrator, Inner: inner, Scheme: scheme, Steps: steps}
	for _, n := range names {
		p := in.order(problem, integrator, inner, scheme, n)
		o := certify.Observable{Name: n, Order: certify.Number(p), Uncertainty: 0.01, Verdict: certify.Confirmed}
		if math.IsInf(p, 1) {
			o.Order, o.Verdict = certify.Number(math.NaN()), certify.Exact
		}
		if in.missing(fitOf{r, n}) {
			o.Order, o.Verdict = certify.Number(math.NaN()), certify.Inconclusive
		}
		for range steps {
			o.Errors = append(o.Errors, certify.Number(in.errors(integrator, scheme)))
		}
		r.Observables = append(r.Observables, o)
	}
	return r
}

// fittedRow has one observable whose order and constant are known to four
// digits.
func fittedRow(problem, integrator, scheme, observable string, order, constant float64) certify.Row {
	r := certify.Row{Problem: problem, Integrator: integrator, Inner: 1, Scheme: scheme, Steps: []float64{0.1}}
	r.Observables = []certify.Observable{{
		Name: observable, Order: certify.Number(order), Constant: certify.Number(constant),
		Uncertainty: 1e-4, Verdict: certify.Confirmed, Errors: []certify.Number{certify.Number(constant)},
	}}
	return r
}

func plainRow(problem, integrator string, inner int, scheme string, steps []float64, err func(h float64) float64) certify.Row {
	o := certify.Observable{Name: "theta.cov", Verdict: certify.Confirmed}
	for _, h := range steps {
		o.Errors = append(o.Errors, certify.Number(err(h)))
	}
	return certify.Row{Problem: problem, Integrator: integrator, Inner: inner, Scheme: scheme, Steps: steps, Observables: []certify.Observable{o}}
}

var inventedSets = []string{"boston", "concrete", "energy", "yacht", "ionosphere", "vehicle", "linear", "kin8nm", "power"}

// results are those of one study: two splits of nine sets, three sizes of batches, two
// steps. The bottleneck has five seeds of one set instead.
func (in *invented) results(study string) []bench.Result {
	var variants []bench.Cell
	switch study {
	case "methods":
		for _, m := range []string{"sghmc", "leapfrog", "symmetric", "lietrotter", "mt3"} {
			variants = append(variants, bench.Cell{Integrator: m, Inner: 1, Friction: 5})
		}
	case "bottleneck":
		for _, m := range []string{"euler", "lietrotter", "mt3"} {
			variants = append(variants, bench.Cell{Integrator: m, Inner: 1, Friction: 5})
		}
	case "integration-length":
		for _, n := range []int{1, 10, 100} {
			variants = append(variants, bench.Cell{Integrator: "lietrotter", Inner: n, Friction: 5})
		}
	case "friction":
		for _, c := range in.frictions {
			variants = append(variants, bench.Cell{Integrator: "leapfrog", Inner: 1, Friction: bench.Real(c)})
		}
	case "precision":
		for _, p := range bench.Precisions {
			variants = append(variants, bench.Cell{Integrator: "leapfrog", Inner: 1, Friction: 5, Precision: p})
		}
	case "synthetic":
		var of []bench.Result
		for seed := range uint64(6) {
			cell := bench.Cell{Dataset: "linear", Batches: 1, Step: smallStep, Seed: seed, Oracle: bench.Analytic}
			if !in.exactLaw {
				cell.ExactDraws = &oracle.ExactDraws{Chains: 5, Samples: 200}
			}
			of = append(of, bench.Result{Cell: cell, KS: in.ks(study, cell), KSSelf: selfMean, KSSelfSD: sigma})
		}
		return of
	case "toy":
		return nil
	default:
		return in.tables(study)
	}
	return in.grid(study, variants)
}

func (in *invented) grid(study string, variants []bench.Cell) []bench.Result {
	sets, splits := inventedSets, 2
	if in.only != nil {
		sets = in.only
	}
	if study == "bottleneck" {
		sets, splits = []string{"linear"}, 5 // a seed each, of one split
	}
	var out []bench.Result
	for _, set := range sets {
		for split := range splits {
			for _, k := range []int{16, 4, 1} {
				for _, h := range []float64{smallStep, largeStep} {
					for _, c := range variants {
						c.Dataset, c.Split, c.Batches, c.Step, c.Observe = set, split, k, h, bench.Distance
						if study == "bottleneck" {
							c.Split, c.Seed = 0, 1+uint64(split)
						}
						r := bench.Result{Cell: c, KS: in.ks(study, c), KSSelf: selfMean, KSSelfLow: selfMean - 1.6449*selfSD, KSSelfHigh: selfMean + 1.6449*selfSD, KSSelfSD: sigma}
						if set == "boston" {
							r.Cell.Oracle, r.ReferenceError = in.judgedBy, in.ownError
						}
						if r.KS > 1 {
							r.KS, r.Diverged = 1, true
						}
						out = append(out, r)
					}
				}
			}
		}
	}
	return out
}

// tables are the scores of a table of the paper on five splits. They scatter a little, as
// chains do, and their mean is what was published.
func (in *invented) tables(id string) []bench.Result {
	var out []bench.Result
	for _, p := range PublishedIn(id) {
		for split := range in.splits {
			scatter := 0.002 * p.SD * float64(split-2)
			r := bench.Result{
				Cell:   bench.Cell{Dataset: p.Dataset, Split: split, Observe: bench.Distance},
				Scores: map[string]float64{p.Score: in.scores(p) + scatter},
			}
			if p.Method == "SGHMC" {
				r.Cell.Observe = bench.Reference
				r.Scores[p.Score] -= 2 * scatter
			}
			out = append(out, r)
		}
	}
	return out
}

// foresee gives the covariance of a row a prediction of order 2.
func foresee(r *certify.Row, constant float64) {
	for i := range r.Observables {
		if o := &r.Observables[i]; o.Name == covariance {
			o.Predicted, o.PredictedOrder = certify.Number(constant), 2
		}
	}
}
