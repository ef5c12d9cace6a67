package bench

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hambench/chain"
	"hambench/integrators"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
)

// Parts are what the names in a study stand for. The zero value has the
// built-in ones.
type Parts struct {
	Data   datasets.Registry
	Models models.Registry
	Chains chain.Registries
}

// countedKeys are the keys of [vary], [fix] and [[grid]] that are no settings of a cell:
// how often chains are run.
var countedKeys = map[string]reader{
	"splits": whole(new(int), 1, 1000),
	"repeat": whole(new(int), 1, 1000),
}

// whereSettings is how many of the settings say where chains are run: data and split.
// Cells are listed by these first.
const whereSettings = 2

// readBatch reads a size, or "full".
func (s *draft) readBatch(Parts) reader {
	return func(v any) error {
		if s.BatchSize = Full; v == "full" {
			return nil
		}
		err := whole(&s.BatchSize, 1, math.MaxInt32)(v)
		if err != nil {
			err = fmt.Errorf("%w, or \"full\"", err)
		}
		return err
	}
}

// readFriction reads a number > 0, which may be infinite.
func (s *draft) readFriction(Parts) reader {
	return func(v any) error {
		err := real((*float64)(&s.Friction))(v)
		if err == nil && !(s.Friction > 0) {
			err = fmt.Errorf("is %v: want a number > 0, or inf", float64(s.Friction))
		}
		return err
	}
}

// readBurnIn reads a count. A draft has a number of its own for none.
func (s *draft) readBurnIn(Parts) reader {
	return func(v any) error {
		err := whole(&s.BurnIn, 0, 1e9)(v)
		s.BurnIn = cmp.Or(s.BurnIn, NoBurnIn)
		return err
	}
}

// readIntegrator reads a name, or {name = "mt3", w2-variance = 1}.
func (s *draft) readIntegrator(p Parts) reader {
	return func(v any) error {
		values, ok := v.(map[string]any)
		if !ok {
			values = map[string]any{"name": v}
		}
		if err := text(&s.Integrator)(values["name"]); err != nil {
			return fmt.Errorf("integrator's name: %w", err)
		}
		m, err := p.Chains.Integrator(s.Integrator)
		if err != nil {
			return err
		}
		s.Values = nil
		for name, v := range values {
			if name == "name" {
				continue
			}
			var x float64
			if err := real(&x)(v); err != nil {
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
}

// stablePart is a step relative to the largest stable one.
var stablePart = regexp.MustCompile(`^stable(?: */ *([0-9.]+))?$`)

// readStep reads a step: a number, or the part of the largest stable step that
// "stable/8" is.
func (s *draft) readStep(v any) (err error) {
	s.Step, s.relative = 0, 0
	text, ok := v.(string)
	if !ok {
		return positive(&s.Step)(v)
	}
	text = strings.TrimSpace(text)
	m := stablePart.FindStringSubmatch(text)
	if m == nil {
		if s.Step, err = strconv.ParseFloat(text, 64); err == nil && s.Step > 0 &&
			s.Step <= largestNumber {
			return nil
		}
		return fmt.Errorf("is the text %.40q: want a number > 0, \"stable\", \"stable/8\", or a "+
			"range such as \"stable/8 .. stable\"", v)
	}
	part := 1.0
	if m[1] != "" {
		if part, err = strconv.ParseFloat(m[1], 64); err != nil ||
			!(part > 0 && part <= largestNumber) {
			return fmt.Errorf("is %q: want a number > 0 behind stable/", v)
		}
	}
	s.relative = 1 / part
	return nil
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
	var a, b draft
	if err := a.readStep(from); err != nil {
		return nil, fmt.Errorf("begins with what %w", err)
	}
	if err := b.readStep(to); err != nil {
		return nil, fmt.Errorf("ends with what %w", err)
	}
	if (a.relative > 0) != (b.relative > 0) {
		return nil, fmt.Errorf("is %q: want both ends relative to the stable step, or none", s)
	}
	h, end := a.Step+a.relative, b.Step+b.relative
	low, high, down := min(h, end)*(1-1e-9), max(h, end)*(1+1e-9), end < h
	var out []any
	for len(out) <= longestRange && low <= h && h <= high {
		if a.relative > 0 {
			out = append(out, "stable/"+decimal(1/h))
		} else {
			out = append(out, h)
		}
		if down {
			h /= ratio
		} else {
			h *= ratio
		}
	}
	if len(out) > longestRange {
		return nil, fmt.Errorf("is %q: that is more than %d steps", s, longestRange)
	}
	return out, nil
}

// entry is what a key says: its values, one or more, and where it stands.
type entry struct {
	place
	values []any
	counts bool // the values are splits that splits counts
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
	maps.Copy(out, s)
	return out
}

// settings reads a table of settings, but for the keys that are named. Values are
// checked one by one; many and single say whether there must be lists, or none.
func (s section) settings(p Parts, many, single bool, but ...string) settings {
	readers := maps.Clone(countedKeys)
	for _, k := range declared {
		readers[k.Name] = k.reader(new(draft), p)
	}
	s.only(slices.Concat(slices.Sorted(maps.Keys(readers)), but)...)
	out := make(settings)
	for _, k := range s.keys() {
		read, ok := readers[k]
		if !ok {
			continue
		}
		e := entry{place: s.at(k), counts: k == "splits"}
		s.fail(e.place, e.fill(k, s.values[k], read, many, single))
		if k == "splits" {
			k = "split"
		}
		if _, twice := out[k]; twice {
			s.fail(e.place, errors.New("split and splits: want one of them"))
		}
		out[k] = e
	}
	if k, both := out["K"]; both && out["batch"].values != nil {
		s.fail(k.place, errors.New("K and batch: want one of them"))
	}
	return out
}

// fill checks the values of a key and stores them.
func (e *entry) fill(key string, v any, read reader, many, single bool) (err error) {
	l, isList := v.([]any)
	if key == "hidden" { // a list is one value
		isList = slices.ContainsFunc(l, func(w any) bool { _, nested := w.([]any); return nested })
	}
	isRange := key == "step" && strings.Contains(fmt.Sprint(v), "..")
	switch {
	case many && !isList && !isRange && key != "splits" && key != "repeat":
		return fmt.Errorf("is %s: want a list in [vary], or the key in [fix]", kindOf(v))
	case key == "repeat" && isList:
		return errors.New("is a list: want one number")
	case single && isList:
		return errors.New("is a list: want one value in [fix], or the key in [vary]")
	case key == "splits":
		if err = read(v); err == nil {
			e.values = counted(int(v.(int64)))
		}
		return err
	}
	all := []any{v}
	if isList {
		all, err = list(v)
	}
	for _, v := range all {
		some := []any{v}
		if key == "step" && err == nil {
			some, err = steps(v)
		}
		e.values = append(e.values, some...)
	}
	for i, v := range e.values {
		err = cmp.Or(err, read(v))
		if err == nil && slices.ContainsFunc(e.values[:i],
			func(w any) bool { return fmt.Sprint(v) == fmt.Sprint(w) }) {
			err = fmt.Errorf("%v stands twice", v)
		}
	}
	return err
}

// referenceKeys are the readers of [reference].
func referenceKeys(s *oracle.Spec) map[string]reader {
	return map[string]reader{
		"precision": oneOf(&s.Precision, "precision",
			Precisions), "step": positive(&s.Step), "friction": positive(&s.Friction),
		"chains": whole(&s.Chains, 2, 1e9), "samples": whole(&s.Samples, 4,
			1e9), "thin": whole(&s.Thin, 1, 1e9),
		"burn": whole(&s.BurnIn, 0, 1e9), "seed": whole(&s.Seed, 1, math.MaxInt64),
	}
}
