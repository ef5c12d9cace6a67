package bench

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"hambench/certify"
	"hambench/chain/minibatch"
	"hambench/integrators/estimators"
	"hambench/internal/distinct"
	"hambench/usage"
)

// purposes are what exact errors may be evidence of.
var purposes = []string{OfOrders, OfBottleneck, OfInner, OfLargeSteps, OfVariance, OfFriction,
	OfWeak, OfBatches, OfClosedForm, OfEfficiency, OfSMSUBU, OfSVRGUBU, OfQUICSORT}

// readExact lists the exact jobs, block by block.
func (f *File) readExact(s section) {
	seen, problems := make(map[string]bool), make(map[string]string)
	for _, s := range s.tables("exact") {
		b := exactBlock{purpose: OfOrders, frictions: []float64{0}, inner: []int{1},
			estimators: []string{estimators.Plain.Name}}
		s.read(b.readers(f))
		if b.problems == nil || b.job.Schemes == nil {
			s.fail(s.place, errors.New("want a problem and a scheme"))
		}
		if *s.failed != nil {
			return
		}
		for _, j := range b.jobs() {
			o, err := j.Exact.Options(f.Chains)
			if err = cmp.Or(err, o.Check()); err != nil {
				s.fail(s.place, fmt.Errorf("%s: %w", j.Exact.Name, err))
			}
			of := digest([]any{j.Exact.Problem, j.Exact.InvMass})
			if problems[j.Exact.Name] = cmp.Or(problems[j.Exact.Name],
				of); problems[j.Exact.Name] != of {
				s.fail(s.place, fmt.Errorf("%s: another problem, or other masses, above have "+
					"this name: want names that differ, by which figures tell them apart", j.Exact.Name))
			}
			if id := digest(j); !seen[id] { // blocks may overlap, as those of a grid may
				seen[id], f.exact = true, append(f.exact, j)
			}
		}
	}
}

// exactBlock is [[exact]]: every problem, friction, integrator, estimator and
// N_l, each under all schemes.
type exactBlock struct {
	purpose     string
	problems    []exactProblem
	integrators []draft // nil is all that fit
	estimators  []string
	frictions   []float64 // 0 is the problem's own
	inner       []int
	job         Exact // what all have in common
}

// exactProblem is a problem with its name and text, as a job has them.
type exactProblem struct {
	name string
	text json.RawMessage
	*certify.Problem
}

func (b *exactBlock) readers(f *File) map[string]reader {
	schemes := distinct.Of(certify.ExactSchemes(), func(m minibatch.Scheme) string {
		return m.Name
	})
	return map[string]reader{
		"purpose": oneOf(&b.purpose, "purpose", purposes),
		"problem": func(v any) error {
			var some [][]exactProblem
			err := each(&some, f.problems)(v)
			b.problems = slices.Concat(some...)
			return err
		},
		"integrator": func(v any) error {
			if v == "all" {
				return nil
			}
			return each(&b.integrators,
				func(s *draft) reader { return s.readIntegrator(f.Parts) })(v)
		},
		"estimator": each(&b.estimators, func(name *string) reader {
			return known(name, f.Chains.Estimator)
		}),
		"scheme": func(v any) error {
			if b.job.Schemes = schemes; v == "all" {
				return nil
			}
			return each(&b.job.Schemes,
				func(name *string) reader {
					return oneOf(name, "scheme with exact errors",
						schemes)
				})(v)
		},
		"step": func(v any) (err error) {
			if _, isRange := v.(string); isRange {
				if v, err = steps(v); err != nil {
					return err
				}
			}
			return each(&b.job.Steps, positive)(v)
		},
		"friction": each(&b.frictions, positive), "inverse-mass": each(&b.job.InvMass, positive),
		"nl":       each(&b.inner, func(n *int) reader { return whole(n, 1, 1000) }),
		"one-step": truth(&b.job.OneStep), "stability": truth(&b.job.Stability), "distance": truth(&b.job.Distances),
		"budget": func(v any) error {
			err := each(&b.job.Budgets, positive)(v)
			for i, n := range b.job.Budgets {
				if slices.Contains(b.job.Budgets[:i], n) {
					err = cmp.Or(err, fmt.Errorf("%v is given twice: want numbers of gradients "+
						"that differ", n))
				}
			}
			return err
		},
	}
}

// problems reads a name: of a built-in problem, of "all" of them, or of a file with
// problems by their names, each as certify.ParseProblem reads it.
func (f *File) problems(to *[]exactProblem) reader {
	return func(v any) error {
		var name string
		if err := text(&name)(v); err != nil {
			return err
		}
		if strings.HasSuffix(name, ".json") {
			var texts map[string]json.RawMessage
			data, err := f.readFile(filepath.Join(filepath.Dir(f.Path), name))
			if err == nil {
				err = json.Unmarshal(data, &texts)
			}
			if err != nil {
				return usage.Errorf("problems of %s: %w", name, err)
			}
			for _, k := range slices.Sorted(maps.Keys(texts)) {
				p, e := certify.ParseProblem(k, texts[k])
				*to, err = append(*to, exactProblem{k, texts[k], p}), cmp.Or(err, e)
			}
			return err
		}
		known := certify.Builtin()
		if name != "all" {
			p, err := usage.Lookup("problem", name, append(known, certify.BottleneckProblem()),
				func(p *certify.Problem) string { return p.Name })
			if err != nil {
				return err
			}
			known = []*certify.Problem{p}
		}
		for _, p := range known {
			*to = append(*to, exactProblem{p.Name, textOf(p), p})
		}
		return nil
	}
}

// textOf is the JSON of a problem that has one.
func textOf(p *certify.Problem) json.RawMessage {
	text, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("bench: %v", err)) // built-in problems, and those of files, have one
	}
	return text
}

// jobs are the combinations.
func (b *exactBlock) jobs() (out []ExactJob) {
	for _, p := range b.problems {
		which := b.integrators
		if which == nil {
			for _, m := range certify.All(p.Problem) {
				which = append(which, draft{Cell: Cell{Integrator: m.Name}})
			}
		}
		for _, c := range b.frictions {
			v := b.job
			if v.Name, v.Problem = p.name, p.text; c > 0 {
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
