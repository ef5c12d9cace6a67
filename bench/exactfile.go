package bench

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"hambench/certify"
	"hambench/chain"
	"hambench/chain/minibatch"
	"hambench/integrators/estimators"
	"hambench/internal/distinct"
	"hambench/usage"
)

// OfOrders is the purpose of exact errors of which a file states none.
const OfOrders = "orders"

// purposes are what exact errors may be evidence of, by the words of files.
var purposes = []string{
	OfOrders,      // every integrator under every scheme, at steps fit for orders
	"bottleneck",  // the paper's Figure 1 without noise
	"inner",       // lietrotter with N_l > 1, at steps fit for orders
	"large-steps", // up to the step of the paper's toy
	"variance",    // mt3 with Var(w₂) = 1
	"friction",    // mt3 under several frictions and masses
	"weak",        // one step's law: weak orders
	"batches",     // the exact flow on problems that differ in K alone
	"rows",        // the exact flow on given rows, cut into K batches
	"closed-form", // the exact flow on random problems, beside the closed form
	"efficiency",  // averages at budgets of gradients
	// The studies of these names: the main figures of later papers, and our own.
	"sms-ubu", "svrg-ubu", "quicsort", "energy-error", "midpoint-budgets", "psgld-bias",
	"regimes", // the two laws of mini-batch error, on a family of problems
	"crossing-orders",
}

// readExact lists the exact jobs, block by block.
// Two problems of one name are refused, since figures tell problems apart by their names.
func (f *File) readExact(s section) {
	seen, problems := make(map[string]bool), make(map[string]string)
	for _, s := range s.tables("exact") {
		// What a block does not state: all integrators that fit, at the problem's own friction.
		b := exactBlock{purpose: OfOrders, frictions: []float64{0}, inner: []int{1},
			estimators: []string{estimators.Plain.Name}}
		s.read(b.keys(f)...)
		if b.problems == nil || b.job.Schemes == nil {
			s.fail(errors.New("want a problem and a scheme"))
		}
		if s.err != nil {
			return
		}
		jobs := b.jobs()
		s.fail(checkExact(jobs, f.Chains))
		for _, j := range jobs {
			// The text of a problem has its friction; masses are the job's.
			of := digest([]any{j.Exact.Problem, j.Exact.InvMass})
			if problems[j.Exact.Name] = cmp.Or(problems[j.Exact.Name],
				of); problems[j.Exact.Name] != of {
				s.fail(fmt.Errorf("%s: another problem, or other masses, above have "+
					"this name: want names that differ, by which figures tell them apart",
					j.Exact.Name))
			}
			if id := digest(j); !seen[id] { // blocks may overlap, as those of a grid may
				seen[id], f.exact = true, append(f.exact, j)
			}
		}
	}
}

// checkExact returns the first mistake of a block's jobs, which names the problem.
// Jobs that differ in the integrator alone are checked together: their engine is made, and their
// schemes' visits are drawn, once.
func checkExact(jobs []ExactJob, r chain.Registries) error {
	var all []certify.Options
	of := make(map[string]int)
	for _, j := range jobs {
		o, err := j.Exact.Options(r)
		if err != nil {
			return fmt.Errorf("%s: %w", j.Exact.Name, err)
		}
		// Jobs are grouped by the digest of all but the integrator's name. The values of its
		// parameters are part of the digest, since a group has one set of them.
		j.Exact.Integrator = ""
		id := digest(j.Exact)
		if i, ok := of[id]; ok {
			all[i].Integrators = append(all[i].Integrators, o.Integrators...)
		} else {
			of[id], all = len(all), append(all, o)
		}
	}
	for _, o := range all {
		if err := o.Check(); err != nil {
			return fmt.Errorf("%s: %w", o.Problem.Name, err)
		}
	}
	return nil
}

// exactBlock is [[exact]]: every problem, friction, integrator, estimator and
// N_l, each under all schemes.
// Lists hold the values that vary from job to job; the rest of a job is in the last field.
type exactBlock struct {
	purpose  string // one of purposes
	problems []exactProblem
	// integrators are drafts of which the name and the values of parameters count, as
	// readIntegrator leaves them; nil is all that fit.
	integrators []draft
	estimators  []string
	frictions   []float64 // 0 is the problem's own
	inner       []int     // N_l
	// job has what all have in common: schemes, steps, masses, and what else is asked for.
	job Exact
}

// exactProblem is a problem with its name and text, as a job has them.
// The text of a problem from a file is copied from the file, and not written anew from the parsed
// problem: so a job keeps its key when problems get new fields.
type exactProblem struct {
	name string
	text json.RawMessage
	*certify.Problem
}

// keys are the keys of [[exact]].
// Those that have the names of settings take the same values, one or a list.
func (b *exactBlock) keys(f *File) []key {
	// Not all schemes have exact errors: "all" is all that have.
	schemes := distinct.Of(certify.ExactSchemes(),
		func(m minibatch.Scheme) string { return m.Name })
	grid := positive("step", &b.job.Steps)
	// Budgets are points of a curve: one that stands twice was meant to be another.
	budget := positive("budget", &b.job.Budgets)
	budget.once = "is given twice: want numbers of gradients that differ"
	scheme := key{to: &b.job.Schemes, words: schemes, kind: "scheme with exact errors"}
	return []key{
		{name: "purpose", to: &b.purpose, words: purposes},
		{name: "problem", read: func(v any) error { return f.readProblems(b, v) }},
		{name: "integrator", read: func(v any) error {
			if v == "all" {
				return nil
			}
			// A name, a table with parameters, or a list of these.
			all, err := list(v)
			b.integrators = make([]draft, len(all))
			for i, v := range all {
				err = cmp.Or(err, b.integrators[i].readIntegrator(f.Parts, v))
			}
			return err
		}},
		known("estimator", &b.estimators, f.Chains.Estimator),
		{name: "scheme", read: func(v any) error {
			if b.job.Schemes = schemes; v == "all" {
				return nil
			}
			return scheme.set(v)
		}},
		{name: "step", read: func(v any) error {
			// The values of a range are read as numbers below: exact steps are not relative to a
			// stable one.
			some, err := []any{v}, error(nil)
			if _, isRange := v.(string); isRange {
				some, err = steps(v)
			} else if l, isList := v.([]any); isList {
				some = l
			}
			return cmp.Or(err, grid.set(some))
		}},
		positive("friction", &b.frictions), positive("inverse-mass", &b.job.InvMass),
		{name: "nl", to: &b.inner, low: 1, high: 1000},
		{name: "one-step", to: &b.job.OneStep}, {name: "every-step", to: &b.job.EveryStep},
		{name: "stability", to: &b.job.Stability},
		{name: "distance", to: &b.job.Distances}, {name: "energy", to: &b.job.Energy},
		budget,
	}
}

// readProblems reads one or several names: of a built-in problem, of "all" of them, or of
// a file with problems by their names, each as certify.ParseProblem reads it.
func (f *File) readProblems(b *exactBlock, v any) error {
	var names []string
	if err := (key{to: &names}).set(v); err != nil {
		return err
	}
	for _, name := range names {
		found, err := f.problems(name)
		if err != nil {
			return err
		}
		b.problems = append(b.problems, found...)
	}
	return nil
}

// namesOf returns the names of a JSON object's members in the order of the text, where they may
// hold numbers that ascend.
func namesOf(object []byte) (names []string, err error) {
	// A map of package json has lost the order.
	dec := json.NewDecoder(bytes.NewReader(object))
	_, err = dec.Token() // its brace
	for err == nil && dec.More() {
		var name json.Token
		var value json.RawMessage
		if name, err = dec.Token(); err == nil {
			names = distinct.Append(names, fmt.Sprint(name))
			err = dec.Decode(&value)
		}
	}
	return names, err
}

// problems returns the problems of one name, as readProblems takes it.
func (f *File) problems(name string) (found []exactProblem, err error) {
	if strings.HasSuffix(name, ".json") {
		// A file holds an object: problems by their names.
		// texts has each problem as the file writes it, of which keys are made; names has the
		// order, which a map loses.
		var texts map[string]json.RawMessage
		var names []string
		path := f.beside(name)
		data, err := f.readFile(path)
		// A copy of a built-in study names a file of the program, which is not beside the copy.
		if own, missing := builtin.ReadFile("studies/" + name); missing == nil &&
			errors.Is(err, fs.ErrNotExist) {
			data, err = own, nil
		} else {
			f.files = append(f.files, path)
		}
		if err == nil {
			err = json.Unmarshal(data, &texts)
		}
		if err == nil {
			names, err = namesOf(data)
		}
		if err != nil {
			return nil, usage.Errorf("problems of %s: %w", name, err)
		}
		for _, k := range names {
			p, err := certify.ParseProblem(k, texts[k])
			if err != nil {
				return nil, err
			}
			found = append(found, exactProblem{k, texts[k], p})
		}
		return found, nil
	}
	// "all" is the built-in problems; a name may also be that of one which stands for itself alone.
	some := certify.Builtin()
	if name != "all" {
		p, err := usage.Lookup("problem", name, certify.Named(),
			func(p *certify.Problem) string { return p.Name })
		if err != nil {
			return nil, err
		}
		some = []*certify.Problem{p}
	}
	for _, p := range some {
		found = append(found, exactProblem{p.Name, textOf(p), p})
	}
	return found, nil
}

// textOf is the JSON of a problem that has one.
// It is what the job's key is made of.
func textOf(p *certify.Problem) json.RawMessage {
	text, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("bench: %v", err)) // built-in problems, and those of files, have one
	}
	return text
}

// jobs are the combinations.
// They are in the order problem, friction, integrator, estimator, N_l: the last changes
// fastest.
func (b *exactBlock) jobs() (out []ExactJob) {
	for _, p := range b.problems {
		// Which integrators have exact errors in reasonable time depends on the problem.
		which := b.integrators
		if which == nil {
			for _, m := range certify.All(p.Problem) {
				which = append(which, draft{Cell: Cell{Integrator: m.Name}})
			}
		}
		for _, c := range b.frictions {
			// The job's name is for people: it says in what the problem is not the one of its name.
			v := b.job
			if v.Name, v.Problem = p.name, p.text; c > 0 {
				// Another friction makes another problem, with a name of its own.
				with := *p.Problem
				with.Friction = c
				v.Name, v.Problem = fmt.Sprintf("%s, C = %g", p.name, c), textOf(&with)
			}
			if v.InvMass != nil {
				v.Name += ", M ≠ I"
			}
			for _, s := range which {
				v.Integrator, v.Values = s.Integrator, s.Values
				for _, v.Estimator = range b.estimators {
					for _, v.Inner = range b.inner {
						out = append(out, ExactJob{Purpose: b.purpose, Problem: p.name, Exact: v})
					}
				}
			}
		}
	}
	return out
}
