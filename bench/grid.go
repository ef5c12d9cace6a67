package bench

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hambench/chain"
	"hambench/integrators"
	"hambench/internal/distinct"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
)

// Parts has what the names in a study stand for. The zero value has the built-in parts.
type Parts struct {
	Data   datasets.Registry
	Models models.Registry
	Chains chain.Registries

	dir    string // of the file that is read, which names of files are relative to
	stored bool   // what is read was stored: files that it names may have gone since
}

// path is where a file is found that a study's file names.
func (p Parts) path(name string) string {
	if p.dir == "" || p.dir == "." || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.dir, name)
}

// whereSettings is how many of the settings say where chains are run: data and split.
// Cells are listed by these first.
const whereSettings = 2

// readBatch reads a size, or "full".
// Exports write 0 for the full batch; files say it in words.
func (s *draft) readBatch(_ Parts, v any) error {
	if s.BatchSize = Full; v == "full" {
		return nil
	}
	err := key{to: &s.BatchSize, low: 1, high: math.MaxInt32}.set(v)
	if err != nil {
		err = fmt.Errorf("%w, or \"full\"", err)
	}
	return err
}

// readBurnIn reads a count. A draft has a number of its own for none.
func (s *draft) readBurnIn(_ Parts, v any) error {
	err := key{to: &s.BurnIn, high: 1e9}.set(v)
	s.BurnIn = cmp.Or(s.BurnIn, NoBurnIn)
	return err
}

// readIntegrator reads a name, or a table with the integrator's own parameters:
// {name = "mt3", w2-variance = 1}.
// The values are checked by the integrator itself, at step and friction 1.
func (s *draft) readIntegrator(p Parts, v any) error {
	// A name alone is a table without parameters.
	values, ok := v.(map[string]any)
	if !ok {
		values = map[string]any{"name": v}
	}
	if err := (key{to: &s.Integrator}).set(values["name"]); err != nil {
		return fmt.Errorf("integrator's name: %w", err)
	}
	m, err := p.Chains.Integrator(s.Integrator)
	if err != nil {
		return err
	}
	// A draft of a grid may have the values of the integrator before it.
	s.Values = nil
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name == "name" {
			continue
		}
		var x float64
		if err := (key{to: &x}).set(values[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if s.Values == nil {
			s.Values = make(map[string]float64)
		}
		s.Values[name] = x
	}
	// New refuses parameters that the integrator lacks, and values out of their range.
	_, err = m.New(1, integrators.Params{Step: 1, Friction: 1, Values: s.Values})
	return err
}

// stableStep is the text of a step relative to the largest stable one: stable, stable/8.
var stableStep = regexp.MustCompile(`^stable(?: */ *([0-9.]+))?$`)

// readStep reads a step: a number, or the text of a number or of a relative step.
// What is relative is resolved when the grid is expanded, since it depends on the chain.
func (s *draft) readStep(_ Parts, v any) error {
	// The two exclude each other; a draft of a grid may have either.
	s.Step, s.relative = 0, 0
	text, ok := v.(string)
	if !ok {
		return positive("", &s.Step).set(v)
	}
	// The ends of a range come as texts with spaces around them.
	text = strings.TrimSpace(text)
	m := stableStep.FindStringSubmatch(text)
	if m == nil {
		var err error
		s.Step, err = strconv.ParseFloat(text, 64)
		if err == nil && s.Step > 0 {
			return positive("", nil).bound(s.Step)
		}
		return fmt.Errorf("is the text %.40q: want a number > 0, \"stable\", \"stable/8\", "+
			"or a range such as \"stable/8 .. stable\"", v)
	}
	part, err := strconv.ParseFloat(cmp.Or(m[1], "1"), 64)
	if err != nil || !(part > 0 && part <= largestNumber) {
		return fmt.Errorf("is %q: want a number > 0 behind stable/, at most %v", v,
			float64(largestNumber))
	}
	s.relative = 1 / part
	return nil
}

// longestRange is the number of steps that a range may have.
const longestRange = 100

// steps returns the steps of a range: "A .. B" is A, doubled up to B or halved down to
// it; "A .. B by R" multiplies or divides by R. Any other value is returned alone.
// Both ends may be relative. The last step is the end itself if the ratio meets it, up to
// rounding.
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
			return nil, fmt.Errorf("is %q: want a number > 1 behind by, at most %v", s,
				float64(largestNumber))
		}
		ratio = r
	}
	var a, b draft
	if err := a.readStep(Parts{}, from); err != nil {
		return nil, fmt.Errorf("begins with what %w", err)
	}
	if err := b.readStep(Parts{}, to); err != nil {
		return nil, fmt.Errorf("ends with what %w", err)
	}
	// How many steps lie between would depend on the chain.
	if (a.relative > 0) != (b.relative > 0) {
		return nil, fmt.Errorf("is %q: want both ends relative to the stable step, or none", s)
	}
	// One of the two is 0 in each end.
	h, end := a.Step+a.relative, b.Step+b.relative
	// The tolerance is for the rounding of h, which is multiplied or divided again and again.
	low, high, down := min(h, end)*(1-1e-9), max(h, end)*(1+1e-9), end < h
	var out []any
	for low <= h && h <= high {
		switch {
		case len(out) == longestRange:
			return nil, fmt.Errorf("is %q: that is more than %d steps", s, longestRange)
		case a.relative > 0:
			// Relative steps stay texts, which readStep reads again for each cell.
			out = append(out, "stable/"+decimal(1/h))
		default:
			out = append(out, h)
		}
		if down { // the rounding of a quotient is part of the cells' keys
			h /= ratio
		} else {
			h *= ratio
		}
	}
	return out, nil
}

// entry has the values of a setting, one or more, and where they are stated.
// Values are as TOML has them; the setting's key reads each when cells are made.
type entry struct {
	place
	values []any // int64, float64, string, or what the setting's own reader takes
	counts bool  // the values are the splits that the key splits counts
}

// settings are entries by the settings' names, and by repeat.
type settings map[string]entry

// over returns the settings with those of a weaker layer where they state none. K and
// batch state the same, so one of them replaces the other.
func (s settings) over(below settings) settings {
	// The maps are not shared with the layers: a profile may be laid over one file again and again.
	out := below.without(s)
	maps.Copy(out, s)
	return out
}

// without are the settings but those that others state: K and batch are one.
func (s settings) without(stated settings) settings {
	out := make(settings)
	maps.Copy(out, s)
	for k := range stated {
		delete(out, k)
		switch k {
		case "batch":
			delete(out, "K")
		case "K":
			delete(out, "batch")
		}
	}
	return out
}

// settings reads a table of settings, except the keys in but. Many and single say that
// all values must be lists, or none.
func (s section) settings(p Parts, many, single bool, but ...string) settings {
	// Keys are made for a draft that is thrown away: values are checked now, and read again into
	// each cell.
	readers := []key{ // those besides the settings: how often chains are run
		{name: "splits", to: new(int), low: 1, high: 1000},
		{name: "repeat", to: new(int), low: 1, high: 1000},
	}
	var files []string // settings that may name one
	for _, d := range declared {
		readers = append(readers, d.key(new(draft), p))
		if d.file {
			files = append(files, d.Name)
		}
	}
	names := distinct.Of(readers, func(k key) string { return k.name })
	s.only(slices.Concat(slices.Sorted(slices.Values(names)), but)...)
	out := make(settings)
	for _, name := range s.keys() {
		// Keys in but, or unknown ones, which only has refused.
		i := slices.Index(names, name)
		if i < 0 {
			continue
		}
		e := entry{place: s.at(name), counts: name == "splits"}
		e.fail(e.fill(readers[i], s.values[name], many, single))
		// A file that is based on this one may be in another folder.
		for i, v := range e.values {
			if text, ok := v.(string); ok && slices.Contains(files, name) && chain.IsFile(text) {
				e.values[i] = p.path(text)
			}
		}
		// The number of splits stands for the list of these: both are entries of one setting.
		if e.counts {
			name = "split"
		}
		if _, twice := out[name]; twice {
			e.fail(errors.New("split and splits: want one of them"))
		}
		out[name] = e
	}
	if k, both := out["K"]; both && out["batch"].values != nil {
		k.fail(errors.New("K and batch: want one of them"))
	}
	return out
}

// fill checks the values of a key and stores them.
// A value that stands twice is refused: it would not make a cell twice, and was meant to be
// another one.
func (e *entry) fill(k key, v any, many, single bool) (err error) {
	l, isList := v.([]any)
	if k.name == "hidden" { // a list is one value
		isList = slices.ContainsFunc(l, func(w any) bool { _, nested := w.([]any); return nested })
	}
	// A range is written as one text but has many values.
	isRange := k.name == "step" && strings.Contains(fmt.Sprint(v), "..")
	switch {
	case many && !isList && !isRange && !e.counts && k.name != "repeat":
		return fmt.Errorf("is %s: want a list in [vary], or the key in [fix]", kindOf(v))
	case k.name == "repeat" && isList:
		return errors.New("is a list: want one number")
	case single && isList:
		return errors.New("is a list: want one value in [fix], or the key in [vary]")
	case e.counts:
		if err = k.set(v); err == nil {
			e.values = counted(int(v.(int64)))
		}
		return err
	}
	// One value is a list of one.
	all := []any{v}
	if isList {
		all, err = list(v)
	}
	for _, v := range all {
		some := []any{v}
		if k.name == "step" && err == nil {
			some, err = steps(v)
		}
		e.values = append(e.values, some...)
	}
	for i, v := range e.values {
		same := func(w any) bool { return fmt.Sprint(v) == fmt.Sprint(w) }
		err = cmp.Or(err, k.set(v))
		if err == nil && slices.ContainsFunc(e.values[:i], same) {
			err = fmt.Errorf("%v stands twice", v)
		}
	}
	return err
}

// exactDrawsKeys are the keys of [reference] that count where the posterior is known.
var exactDrawsKeys = []string{"chains", "samples", "seed"}

// referenceKeys are the keys of [reference].
// What the table does not state stays as in the paper.
func referenceKeys(s *oracle.Spec) []key {
	return []key{
		{name: "precision", to: &s.Precision, words: Precisions},
		positive("step", &s.Step), positive("friction", &s.Friction),
		{name: "error", to: &s.MaxError, low: aboveZero, high: 1},
		{name: "chains", to: &s.Chains, low: 2, high: 1e9},
		{name: "samples", to: &s.Samples, low: 4, high: 1e9},
		{name: "thin", to: &s.Thin, low: 1, high: 1e9}, {name: "burn", to: &s.BurnIn, high: 1e9},
		{name: "seed", to: &s.Seed, low: 1, high: math.MaxInt64},
	}
}
