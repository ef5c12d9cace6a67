package bench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hambench/chain"
	"hambench/datasets"
	"hambench/estimators"
	"hambench/integrators"
	"hambench/models"
	"hambench/oracle"
)

// Parts are what the names in a study stand for. The zero value has the
// built-in ones.
type Parts struct {
	Data   datasets.Registry
	Models models.Registry
	Chains chain.Registry
}

// settingKey is a key with what stores a value of it.
type settingKey struct {
	name string
	read func(s *Setting, v any, p Parts) error
}

// settingKeys are the keys of [vary], [fix] and [[grid]] beside data, split and
// their like, in the order in which a grid's cells are listed: the last changes
// fastest. Each reader refuses values that no chain can have.
var settingKeys = []settingKey{
	{"observe", func(s *Setting, v any, _ Parts) (err error) {
		s.Observe, err = oneOf(v, "observable", observables)
		return err
	}},
	{"model", func(s *Setting, v any, p Parts) error { return known(&s.Model, v, p.Models.Lookup) }},
	{"hidden", func(s *Setting, v any, _ Parts) error {
		widths, err := list(v)
		s.Hidden = nil
		for _, w := range widths {
			n, e := whole(w, 1, 10_000)
			s.Hidden, err = append(s.Hidden, n), cmp.Or(err, e)
		}
		return err
	}},
	{"seed", func(s *Setting, v any, _ Parts) error {
		n, err := whole(v, 1, math.MaxInt64/2)
		s.Seed = uint64(n)
		return err
	}},
	{"batch", func(s *Setting, v any, _ Parts) (err error) {
		if s.Batch = Full; v == "full" {
			return nil
		}
		if s.Batch, err = whole(v, 1, math.MaxInt32); err != nil {
			err = fmt.Errorf("%w, or \"full\"", err)
		}
		return err
	}},
	{"K", func(s *Setting, v any, _ Parts) (err error) { s.K, err = whole(v, 1, math.MaxInt32); return err }},
	{"scheme", func(s *Setting, v any, p Parts) error { return known(&s.Scheme, v, p.Chains.Scheme) }},
	{"integrator", readIntegrator},
	{"estimator", func(s *Setting, v any, p Parts) (err error) { s.Estimator, err = readEstimator(v, p); return err }},
	{"friction", func(s *Setting, v any, _ Parts) (err error) { s.Friction, err = positive(v, true); return err }},
	{"nl", func(s *Setting, v any, _ Parts) (err error) { s.Inner, err = whole(v, 1, 1_000_000); return err }},
	{"step", func(s *Setting, v any, _ Parts) (err error) {
		s.Step, s.Relative, err = readStep(v)
		return err
	}},
	{"samples", func(s *Setting, v any, _ Parts) (err error) { s.Samples, err = whole(v, 1, 1e9); return err }},
	{"thin", func(s *Setting, v any, _ Parts) (err error) { s.Thin, err = whole(v, 1, 1e9); return err }},
	{"burn", func(s *Setting, v any, _ Parts) error {
		n, err := whole(v, 0, 1e9)
		s.BurnIn = cmp.Or(n, NoBurnIn)
		return err
	}},
	{"precision", func(s *Setting, v any, _ Parts) (err error) {
		s.Precision, err = oneOf(v, "precision", Precisions)
		return err
	}},
}

// known reads a name that a lookup finds.
func known[T any](to *string, v any, lookup func(string) (T, error)) (err error) {
	if *to, err = text(v); err == nil {
		_, err = lookup(*to)
	}
	return err
}

// readEstimator reads a name. That of plain is "", typed or not, as both make one
// chain.
func readEstimator(v any, p Parts) (name string, err error) {
	if err = known(&name, v, p.Chains.Estimator); name == estimators.Plain.Name {
		name = ""
	}
	return name, err
}

// readIntegrator reads a name, or {name = "mt3", w2-variance = 1}.
func readIntegrator(s *Setting, v any, p Parts) (err error) {
	values, ok := v.(map[string]any)
	if !ok {
		values = map[string]any{"name": v}
	}
	s.Values = nil
	if s.Integrator, err = text(values["name"]); err != nil {
		return fmt.Errorf("integrator's name: %w", err)
	}
	m, err := p.Chains.Integrator(s.Integrator)
	if err != nil {
		return err
	}
	for name, v := range values {
		if name == "name" {
			continue
		}
		x, err := real(v)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if s.Values == nil {
			s.Values = make(map[string]float64)
		}
		s.Values[name] = x
	}
	_, err = m.New(1, integrators.Params{Step: 1, Friction: 1, Values: s.Values})
	return err
}

// stablePart is a step relative to the largest stable one.
var stablePart = regexp.MustCompile(`^stable(?: */ *([0-9.]+))?$`)

// readStep reads a step: a number, or the part of the largest stable step that
// "stable/8" is.
func readStep(v any) (step, relative float64, err error) {
	s, ok := v.(string)
	if !ok {
		step, err = positive(v, false)
		return step, 0, err
	}
	m := stablePart.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		if step, err = strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil && step > 0 && step <= largestNumber {
			return step, 0, nil
		}
		return 0, 0, fmt.Errorf("is the text %.40q: want a number > 0, \"stable\", \"stable/8\", or a range such as \"stable/8 .. stable\"", s)
	}
	part := 1.0
	if m[1] != "" {
		if part, err = strconv.ParseFloat(m[1], 64); err != nil || !(part > 0 && part <= largestNumber) {
			return 0, 0, fmt.Errorf("is %q: want a number > 0 behind stable/", s)
		}
	}
	return 0, 1 / part, nil
}

// A range of steps has at most so many.
const longestRange = 100

// steps cuts a range: "A .. B" is A, doubled up to B, or halved down to it; "A ..
// B by R" multiplies or divides by R.
func steps(v any) ([]any, error) {
	s, ok := v.(string)
	if !ok || !strings.Contains(s, "..") {
		return []any{v}, nil
	}
	from, to, _ := strings.Cut(s, "..")
	to, by, given := strings.Cut(to, " by ")
	ratio := 2.0
	if given {
		r, err := strconv.ParseFloat(strings.TrimSpace(by), 64)
		if err != nil || !(r > 1 && r <= largestNumber) {
			return nil, fmt.Errorf("is %q: want a number > 1 behind by", s)
		}
		ratio = r
	}
	a, relativeA, err := readStep(from)
	if err != nil {
		return nil, fmt.Errorf("begins with what %w", err)
	}
	b, relativeB, err := readStep(to)
	if err != nil {
		return nil, fmt.Errorf("ends with what %w", err)
	}
	if (relativeA > 0) != (relativeB > 0) {
		return nil, fmt.Errorf("is %q: want both ends relative to the stable step, or none", s)
	}
	var out []any
	h, end := a+relativeA, b+relativeB
	down := end < h
	for ; len(out) <= longestRange && (down && h >= end*(1-1e-9) || !down && h <= end*(1+1e-9)); h = next(h, ratio, down) {
		if relativeA > 0 {
			out = append(out, "stable/"+decimal(1/h))
		} else {
			out = append(out, h)
		}
	}
	if len(out) > longestRange {
		return nil, fmt.Errorf("is %q: that is more than %d steps", s, longestRange)
	}
	return out, nil
}

func next(h, ratio float64, down bool) float64 {
	if down {
		return h / ratio
	}
	return h * ratio
}

// entry is what a key says: its values, one or more, and where it stands.
type entry struct {
	place
	values []any
}

// settings are entries by key.
type settings map[string]entry

// over returns the settings with those of a stronger layer on top. K and batch
// say the same, so one replaces the other.
func (s settings) over(below settings) settings {
	out := make(settings)
	for k, e := range below {
		_, k1 := s["K"]
		_, k2 := s["batch"]
		if !(k == "batch" && k1 || k == "K" && k2) {
			out[k] = e
		}
	}
	for k, e := range s {
		out[k] = e
	}
	return out
}

// settings reads a table of settings, but for the keys that are named. Values are
// checked one by one; many and single say whether there must be lists, or none.
func (s section) settings(p Parts, many, single bool, but ...string) (settings, error) {
	known := []string{"data", "split", "splits", "repeat", "choose"}
	for _, k := range settingKeys {
		known = append(known, k.name)
	}
	if err := s.only(append(known, but...)...); err != nil {
		return nil, err
	}
	out := make(settings)
	for _, k := range s.keys() {
		if slices.Contains(but, k) {
			continue
		}
		e := entry{place: s.at(k)}
		err := e.fill(k, s.values[k], p, many, single)
		if k == "splits" {
			k = "split"
		}
		if _, twice := out[k]; twice && err == nil {
			err = errors.New("split and splits: want one of them")
		}
		if err != nil {
			return nil, e.errorf("%w", err)
		}
		out[k] = e
	}
	if k, both := out["K"]; both && out["batch"].values != nil {
		return nil, k.errorf("K and batch: want one of them")
	}
	return out, nil
}

// fill checks the values of a key and stores them.
func (e *entry) fill(key string, v any, p Parts, many, single bool) (err error) {
	_, isList := v.([]any)
	if key == "hidden" { // a list is one value
		l, _ := v.([]any)
		isList = len(l) > 0 && slices.ContainsFunc(l, func(w any) bool { _, nested := w.([]any); return nested })
	}
	isRange := key == "step" && strings.Contains(fmt.Sprint(v), "..")
	switch {
	case many && !isList && !isRange && key != "splits" && key != "repeat":
		return fmt.Errorf("is %s: want a list in [vary], or the key in [fix]", kindOf(v))
	case key == "repeat" && isList:
		return errors.New("is a list: want one number")
	case single && isList:
		return errors.New("is a list: want one value in [fix], or the key in [vary]")
	}
	if e.values = []any{v}; isList {
		if e.values, err = list(v); err != nil {
			return err
		}
	}
	if key == "splits" {
		n, err := whole(v, 1, 1000)
		e.values = nil
		for i := range n {
			e.values = append(e.values, int64(i))
		}
		return err
	}
	if key == "step" {
		var all []any
		for _, v := range e.values {
			some, err := steps(v)
			if err != nil {
				return err
			}
			all = append(all, some...)
		}
		e.values = all
	}
	for i, v := range e.values {
		if err := checkSetting(key, v, p); err != nil {
			return err
		}
		for _, w := range e.values[:i] {
			if fmt.Sprint(v) == fmt.Sprint(w) {
				return fmt.Errorf("%v stands twice", v)
			}
		}
	}
	return nil
}

// checkSetting refuses a value that a key cannot have.
func checkSetting(key string, v any, p Parts) error {
	switch key {
	case "data":
		return known(new(string), v, p.Data.Lookup)
	case "split":
		_, err := whole(v, 0, 999)
		return err
	case "repeat":
		_, err := whole(v, 1, 1000)
		return err
	case "choose":
		_, err := oneOf(v, "key to choose by", []string{"step"})
		return err
	}
	i := slices.IndexFunc(settingKeys, func(k settingKey) bool { return k.name == key })
	return settingKeys[i].read(new(Setting), v, p)
}

// referenceKeys are the keys of [reference].
func referenceKeys(s *oracle.Spec) map[string]func(any) error {
	count := func(to *int, low int64) func(any) error {
		return func(v any) (err error) { *to, err = whole(v, low, 1e9); return err }
	}
	number := func(to *float64) func(any) error {
		return func(v any) (err error) { *to, err = positive(v, false); return err }
	}
	return map[string]func(any) error{
		"precision": func(v any) (err error) { s.Precision, err = oneOf(v, "precision", Precisions); return err },
		"step":      number(&s.Step), "friction": number(&s.Friction), "chains": count(&s.Chains, 2), "samples": count(&s.Samples, 4),
		"thin": count(&s.Thin, 1), "burn": count(&s.BurnIn, 0),
		"seed": func(v any) error { n, err := whole(v, 1, math.MaxInt64); s.Seed = uint64(n); return err },
	}
}
