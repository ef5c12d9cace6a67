package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"hambench/certify"
	"hambench/usage"
)

// purposes are what exact errors may be evidence of.
var purposes = []string{OfOrders, OfBottleneck, OfInner, OfLargeSteps, OfVariance, OfFriction, OfWeak, OfBatches, OfClosedForm, OfEfficiency, OfSMSUBU, OfSVRGUBU, OfQUICSORT}

// readExact lists the exact jobs, block by block.
func (f *File) readExact(s section) error {
	blocks, err := s.tables("exact")
	if err != nil {
		return err
	}
	seen, problems := make(map[string]bool), make(map[string]string)
	for _, s := range blocks {
		b := exactBlock{purpose: OfOrders, frictions: []float64{0}, inner: []int{1}, estimators: []string{""}}
		if err := s.read(b.readers(f)); err != nil {
			return err
		}
		if b.problems == nil || b.job.Schemes == nil {
			return s.errorf("want a problem and a scheme")
		}
		jobs := b.jobs()
		for _, j := range jobs {
			o, err := j.Exact.Options(f.parts.Chains)
			if err = cmp.Or(err, o.Check()); err != nil {
				return s.errorf("%s: %w", j.Exact.Name, err)
			}
		}
		for _, j := range jobs {
			of := digest([]any{j.Exact.Problem, j.Exact.InvMass})
			if other, ok := problems[j.Exact.Name]; ok && other != of {
				return s.errorf("%s: another problem, or other masses, above have this name: want names that differ, by which figures tell them apart", j.Exact.Name)
			}
			problems[j.Exact.Name] = of
		}
		for _, j := range jobs { // blocks may overlap, as those of a grid may
			if id := digest(j); !seen[id] {
				seen[id], f.exact = true, append(f.exact, j)
			}
		}
	}
	return nil
}

// exactBlock is [[exact]]: every problem, friction, integrator, estimator and
// N_l, each under all schemes.
type exactBlock struct {
	purpose     string
	problems    []Exact   // with their texts
	integrators []Setting // nil is all that fit
	estimators  []string  // "" is plain
	frictions   []float64 // 0 is the problem's own
	inner       []int
	job         Exact // what all have in common
}

// readEach reads one value or a list of them.
func readEach[T any](to *[]T, read func(any) (T, error)) func(any) error {
	return func(v any) error {
		all, err := list(v)
		*to = nil
		for _, v := range all {
			x, e := read(v)
			*to, err = append(*to, x), cmp.Or(err, e)
		}
		return err
	}
}

func (b *exactBlock) readers(f *File) map[string]func(any) error {
	number := func(v any) (float64, error) { return positive(v, false) }
	var schemes []string
	for _, m := range certify.ExactSchemes() {
		schemes = append(schemes, m.Name)
	}
	return map[string]func(any) error{
		"purpose": func(v any) (err error) { b.purpose, err = oneOf(v, "purpose", purposes); return err },
		"problem": func(v any) error {
			names, err := list(v)
			for _, name := range names {
				some, e := f.problems(name)
				b.problems, err = append(b.problems, some...), cmp.Or(err, e)
			}
			return err
		},
		"integrator": func(v any) error {
			if v == "all" {
				return nil
			}
			return readEach(&b.integrators, func(v any) (s Setting, err error) { return s, readIntegrator(&s, v, f.parts) })(v)
		},
		"estimator": readEach(&b.estimators, func(v any) (string, error) { return readEstimator(v, f.parts) }),
		"scheme": func(v any) error {
			if b.job.Schemes = schemes; v == "all" {
				return nil
			}
			return readEach(&b.job.Schemes, func(v any) (string, error) { return oneOf(v, "scheme with exact errors", schemes) })(v)
		},
		"step": func(v any) error {
			if _, isRange := v.(string); isRange {
				var err error
				if v, err = steps(v); err != nil {
					return err
				}
			}
			return readEach(&b.job.Steps, number)(v)
		},
		"friction": readEach(&b.frictions, number), "inverse-mass": readEach(&b.job.InvMass, number),
		"nl":       readEach(&b.inner, func(v any) (int, error) { return whole(v, 1, 1000) }),
		"one-step": truth(&b.job.OneStep), "stability": truth(&b.job.Stability), "distance": truth(&b.job.Distances),
		"budget": func(v any) error {
			err := readEach(&b.job.Budgets, number)(v)
			for i, n := range b.job.Budgets {
				if slices.Contains(b.job.Budgets[:i], n) {
					err = cmp.Or(err, fmt.Errorf("%v is given twice: want numbers of gradients that differ", n))
				}
			}
			return err
		},
	}
}

// problems are those of a name: a built-in one, "all" of them, or those of a file,
// by their names, each as certify.ParseProblem reads it.
func (f *File) problems(v any) ([]Exact, error) {
	name, err := text(v)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".json") {
		var texts map[string]json.RawMessage
		data, err := f.readFile(filepath.Join(filepath.Dir(f.Path), name))
		if err == nil {
			err = json.Unmarshal(data, &texts)
		}
		if err != nil {
			return nil, usage.Errorf("problems of %s: %w", name, err)
		}
		var out []Exact
		for _, k := range slices.Sorted(maps.Keys(texts)) {
			_, e := certify.ParseProblem(k, texts[k])
			out, err = append(out, Exact{Name: k, Problem: texts[k]}), cmp.Or(err, e)
		}
		return out, err
	}
	known := certify.Builtin()
	if name != "all" {
		p, err := usage.Lookup("problem", name, append(known, certify.BottleneckProblem()), func(p *certify.Problem) string { return p.Name })
		if err != nil {
			return nil, err
		}
		known = []*certify.Problem{p}
	}
	var out []Exact
	for _, p := range known {
		out = append(out, newExact(p, ""))
	}
	return out, nil
}

// jobs are the combinations.
func (b *exactBlock) jobs() (out []ExactJob) {
	for _, e := range b.problems {
		for _, c := range b.frictions {
			p, err := certify.ParseProblem(e.Name, e.Problem)
			if err != nil {
				panic(err) // it was parsed before
			}
			v := b.job
			v.Name, v.Problem = e.Name, e.Problem
			if c > 0 {
				p.Name, p.Friction = fmt.Sprintf("%s, C = %g", e.Name, c), c
				v.Name, v.Problem = p.Name, newExact(p, "").Problem
			}
			if v.InvMass != nil {
				v.Name += ", M ≠ I"
			}
			which := b.integrators
			if which == nil {
				for _, m := range certify.All(p) {
					which = append(which, Setting{Integrator: m.Name})
				}
			}
			for _, s := range which {
				v.Integrator, v.Values = s.Integrator, s.Values
				for _, v.Estimator = range b.estimators {
					for _, v.Inner = range b.inner {
						out = append(out, ExactJob{Purpose: b.purpose, Exact: v})
					}
				}
			}
		}
	}
	return out
}
