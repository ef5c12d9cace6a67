package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"hambench/certify"
	"hambench/usage"
)

// purposes are what exact errors may be evidence of.
var purposes = []string{OfOrders, OfBottleneck, OfInner, OfLargeSteps, OfVariance, OfFriction, OfWeak, OfBatches, OfClosedForm, OfSMSUBU, OfSVRGUBU, OfQUICSORT}

// readExact lists the exact jobs, block by block.
func (f *File) readExact(s section) error {
	blocks, err := s.tables("exact")
	if err != nil {
		return err
	}
	for _, s := range blocks {
		b := exactBlock{purpose: OfOrders, frictions: []float64{0}, inner: []int{1}, estimators: []string{""}}
		if err := s.read(b.readers(f)); err != nil {
			return err
		}
		if b.problems == nil || b.schemes == nil {
			return s.errorf("want a problem and a scheme")
		}
		f.exact = append(f.exact, b.jobs()...)
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
	schemes     []string
	steps, mass []float64
	oneStep     bool
	frictions   []float64 // 0 is the problem's own
	inner       []int
}

// readEach reads one value or a list of them.
func readEach[T any](to *[]T, read func(any) (T, error)) func(any) error {
	return func(v any) error {
		all, err := list(v)
		*to = nil
		for _, v := range all {
			x, e := read(v)
			*to, err = append(*to, x), errors.Join(err, e)
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
				b.problems, err = append(b.problems, some...), errors.Join(err, e)
			}
			return err
		},
		"integrator": func(v any) error {
			if v == "all" {
				return nil
			}
			return readEach(&b.integrators, func(v any) (s Setting, err error) { return s, readIntegrator(&s, v, f.parts) })(v)
		},
		"estimator": readEach(&b.estimators, func(v any) (name string, err error) { return name, known(&name, v, f.parts.Chains.Estimator) }),
		"scheme": func(v any) error {
			if b.schemes = schemes; v == "all" {
				return nil
			}
			return readEach(&b.schemes, func(v any) (string, error) { return oneOf(v, "scheme with exact errors", schemes) })(v)
		},
		"step": func(v any) error {
			if _, isRange := v.(string); isRange {
				var err error
				if v, err = steps(v); err != nil {
					return err
				}
			}
			return readEach(&b.steps, number)(v)
		},
		"friction": readEach(&b.frictions, number), "inverse-mass": readEach(&b.mass, number),
		"nl": readEach(&b.inner, func(v any) (int, error) { return whole(v, 1, 1000) }),
		"one-step": func(v any) error {
			var ok bool
			if b.oneStep, ok = v.(bool); !ok {
				return fmt.Errorf("is %s: want true or false", kindOf(v))
			}
			return nil
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
			out, err = append(out, Exact{Name: k, Problem: texts[k]}), errors.Join(err, e)
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
			v := e
			if c > 0 {
				p.Name, p.Friction = fmt.Sprintf("%s, C = %g", e.Name, c), c
				v = newExact(p, "")
			}
			if b.mass != nil {
				v.Name += ", M ≠ I"
			}
			v.InvMass, v.OneStep, v.Schemes, v.Steps = b.mass, b.oneStep, b.schemes, b.steps
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
