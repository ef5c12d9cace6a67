package bench

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"hambench/datasets"
	"hambench/models"
	"hambench/oracle"
	"hambench/usage"
)

//go:embed studies
var builtin embed.FS

// File is a study as a file says it: docs/studies.md describes the format.
type File struct {
	ID, Title string
	// Path is where it was read, Text what stands there.
	Path string
	Text []byte
	// Data are the registry's data sets and the file's own.
	Data datasets.Registry

	parts    Parts // with Data
	readFile func(path string) ([]byte, error)
	layer    // the file as it is
	exact    []ExactJob
	figure   *FigureSpec
	table    *TableSpec
	shown    [2]place // where figure and table stand
	profiles []profileLayer
}

// layer is settings with the blocks of the grid, nil if none are stated.
type layer struct {
	settings  settings
	grids     []settings
	reference []section // later ones replace what earlier ones say
}

type profileLayer struct {
	name string
	layer
}

// over puts a stronger layer on top.
func (l layer) over(below layer) layer {
	if l.grids == nil {
		l.grids = below.grids
	}
	l.settings = l.settings.over(below.settings)
	l.reference = slices.Concat(below.reference, l.reference)
	return l
}

// Load reads the study in a file, which may use names of the given parts. A name
// that does not end in .toml is that of a built-in study.
func Load(path string, p Parts) (*File, error) {
	return p.filled().load(path, os.ReadFile, nil)
}

func (p Parts) filled() Parts {
	if p.Data == nil {
		p.Data = datasets.Builtin()
	}
	if p.Models == nil {
		p.Models = models.Builtin()
	}
	p.Chains = p.Chains.Filled() // once, not for every cell
	return p
}

// load is Load; within are the files that are based on this one.
func (p Parts) load(path string, read func(string) ([]byte, error), within []string) (*File, error) {
	if !strings.HasSuffix(path, ".toml") {
		if ids := append(collection().Studies, Later()...); !slices.Contains(ids, path) {
			return nil, usage.Unknown("study", path, ids)
		}
		path, read = "studies/"+path+".toml", builtin.ReadFile
	}
	if slices.Contains(within, path) {
		return nil, fmt.Errorf("is based on itself: %s", strings.Join(append(within, path), " is based on "))
	}
	text, err := read(path)
	if err != nil {
		var bad *fs.PathError
		if errors.As(err, &bad) {
			err = bad.Err
		}
		return nil, usage.Errorf("study %s cannot be read: %w", path, err)
	}
	s, err := parseTOML(path, text)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, Text: text, Data: p.Data, parts: p, readFile: read}
	return f, f.fill(s, append(within, path))
}

// fill reads the sections, those first that others use.
func (f *File) fill(s section, within []string) error {
	if err := s.only("id", "title", "base", "data", "vary", "fix", "grid", "reference", "exact", "figure", "table", "profile"); err != nil {
		return err
	}
	var base *File
	if v, ok := s.values["base"]; ok {
		name, err := text(v)
		if err == nil && strings.HasSuffix(name, ".toml") {
			name = filepath.Join(filepath.Dir(f.Path), name)
		}
		if err == nil {
			base, err = f.parts.load(name, f.readFile, within)
		}
		if err != nil {
			return s.at("base").errorf("%w", err)
		}
		f.Data = base.Data
	}
	f.parts.Data = f.Data
	for _, step := range []func(section) error{f.readData, f.readNames, f.readLayers, f.readExact, f.readDrawing} {
		if err := step(s); err != nil {
			return err
		}
	}
	if base != nil {
		f.inherit(base)
	}
	return f.complete(s)
}

// inherit takes from another file what this one does not say.
func (f *File) inherit(base *File) {
	f.layer = f.layer.over(base.layer)
	if base.Title != base.ID { // which stands for no title
		f.Title = cmp.Or(f.Title, base.Title)
	}
	f.figure, f.table = cmp.Or(f.figure, base.figure), cmp.Or(f.table, base.table)
	f.shown = [2]place{cmp.Or(f.shown[0], base.shown[0]), cmp.Or(f.shown[1], base.shown[1])}
	if f.exact == nil {
		f.exact = base.exact
	}
	own := f.profiles
	f.profiles = slices.Clone(base.profiles)
	for _, p := range own {
		at := slices.IndexFunc(f.profiles, func(q profileLayer) bool { return q.name == p.name })
		if at < 0 {
			f.profiles = append(f.profiles, p)
		} else {
			f.profiles[at].layer = p.layer.over(f.profiles[at].layer)
		}
	}
}

// complete refuses a file that says too little.
func (f *File) complete(s section) error {
	f.Title = cmp.Or(f.Title, f.ID)
	if f.exact == nil && f.grids == nil && len(f.settings) == 0 {
		return s.at("").errorf("nothing to run: want [vary], [[grid]] or [[exact]]")
	}
	if f.figure != nil {
		alone := f.grids == nil && len(f.settings) == 0 && f.profiles == nil
		if err := f.figure.checkAnswers(f.exact, alone); err != nil {
			return s.at("figure").errorf("%w", err)
		}
	}
	return nil
}

func (f *File) readNames(s section) error {
	for key, to := range map[string]*string{"id": &f.ID, "title": &f.Title} {
		if v, ok := s.values[key]; ok {
			if err := textInto(to)(v); err != nil {
				return s.at(key).errorf("%w", err)
			}
		}
	}
	if _, ok := s.values["id"]; !ok {
		f.ID = strings.TrimSuffix(filepath.Base(f.Path), ".toml")
	}
	if !studyID.MatchString(f.ID) {
		return s.at("id").errorf("is %q: want letters, digits, - and _: files are named by it", f.ID)
	}
	return nil
}

// readData adds the file's own data sets.
func (f *File) readData(s section) error {
	all, err := s.table("data")
	if err != nil {
		return err
	}
	for _, name := range all.keys() {
		t, err := all.table(name)
		if err != nil {
			return err
		}
		var path, task string
		var o datasets.FileOptions
		err = t.read(map[string]func(any) error{
			"file": textInto(&path), "model": textInto(&o.Model), "label": textInto(&o.Label),
			"target": func(v any) error {
				if n, ok := v.(int64); ok {
					v = fmt.Sprint(n)
				}
				return textInto(&o.Target)(v)
			},
			"task": func(v any) (err error) {
				task, err = oneOf(v, "task", []string{"regression", "classification"})
				return err
			},
			"noise": func(v any) (err error) { o.NoiseVariance, err = positive(v, false); return err },
			"test":  func(v any) (err error) { o.TestShare, err = positive(v, false); return err },
		})
		if err != nil {
			return err
		}
		if path == "" || task == "" {
			return t.errorf("file and task must be stated")
		}
		if o.Task = datasets.Regression; task == "classification" {
			o.Task = datasets.Classification
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(f.Path), path)
		}
		if _, err := f.Data.Lookup(name); err == nil {
			return t.errorf("there is a data set of this name: want another")
		}
		d, err := datasets.FromFile(name, path, o)
		if err != nil {
			return t.at("file").errorf("%w", err)
		}
		f.Data = append(slices.Clone(f.Data), d)
	}
	f.parts.Data = f.Data
	return nil
}

// readLayers reads the grid, as it is and in the profiles.
func (f *File) readLayers(s section) (err error) {
	vary, err := s.table("vary")
	if err != nil {
		return err
	}
	fix, err := s.table("fix")
	if err != nil {
		return err
	}
	if f.settings, err = vary.settings(f.parts, true, false); err != nil {
		return err
	}
	fixed, err := fix.settings(f.parts, false, true)
	if err != nil {
		return err
	}
	for k, e := range fixed {
		if _, twice := f.settings[k]; twice {
			return e.errorf("stands in [vary], too: want it once")
		}
	}
	f.settings = f.settings.over(fixed)
	if err := f.layer.read(s, f.parts); err != nil {
		return err
	}
	all, err := s.table("profile")
	if err != nil {
		return err
	}
	for _, name := range all.keys() {
		t, err := all.table(name)
		if err != nil {
			return err
		}
		if name == AsItIs {
			return t.errorf("is what a run without a profile is called: want another name")
		}
		p := profileLayer{name: name}
		if p.settings, err = t.settings(f.parts, false, false, "grid", "reference"); err != nil {
			return err
		}
		if err := p.layer.read(t, f.parts); err != nil {
			return err
		}
		f.profiles = append(f.profiles, p)
	}
	return nil
}

// read reads the blocks of the grid and the reference.
func (l *layer) read(s section, p Parts) error {
	grids, err := s.tables("grid")
	if err != nil {
		return err
	}
	for _, g := range grids {
		block, err := g.settings(p, false, false)
		if err != nil {
			return err
		}
		l.grids = append(l.grids, block)
	}
	reference, err := s.table("reference")
	if err != nil || len(reference.values) == 0 {
		return err
	}
	l.reference = []section{reference}
	return reference.read(referenceKeys(new(oracle.Spec)))
}

// readDrawing reads how the study is shown.
func (f *File) readDrawing(s section) error {
	settings := slices.Clone(axes)
	for _, m := range f.parts.Chains.Integrators {
		for _, p := range m.Parameters {
			settings = append(settings, p.Name)
		}
	}
	names := func(to *[]string, known []string) func(any) error {
		return readEach(to, func(v any) (string, error) {
			name, err := oneOf(v, "axis or value", known)
			if err == nil && slices.Contains(*to, name) {
				err = fmt.Errorf("%s stands twice", name)
			}
			return name, err
		})
	}
	var kinds []string
	for _, k := range figureKinds {
		kinds = append(kinds, k.name)
	}
	word := func(to *string, kind string, known []string) func(any) error {
		return func(v any) (err error) { *to, err = oneOf(v, kind, known); return err }
	}
	figure, err := s.table("figure")
	if err != nil {
		return err
	}
	if len(figure.values) > 0 {
		f.figure, f.shown[0] = new(FigureSpec), figure.place
	}
	table, err := s.table("table")
	if err != nil {
		return err
	}
	if len(table.values) > 0 {
		f.table, f.shown[1] = new(TableSpec), table.place
	}
	g, t := cmp.Or(f.figure, new(FigureSpec)), cmp.Or(f.table, new(TableSpec))
	err = figure.read(map[string]func(any) error{
		"kind": word(&g.Kind, "kind of figure", kinds), "panels": names(&g.Panels, settings), "lines": names(&g.Lines, settings),
		"x":       word(&g.X, "axis or value", slices.Concat(settings, observations, []string{OnBudget})),
		"y":       word(&g.Y, "value", slices.Concat(observations, slices.Sorted(maps.Keys(answers)))),
		"x-scale": word(&g.XScale, "scale", scales), "y-scale": word(&g.YScale, "scale", scales),
	})
	if err != nil {
		return err
	}
	return table.read(map[string]func(any) error{
		"rows": names(&t.Rows, settings), "columns": names(&t.Columns, settings), "values": names(&t.Values, observations), "note": textInto(&t.Note),
	})
}

// checkDrawing refuses a figure and a table that cannot show a study's cells.
func (f *File) checkDrawing(s Study) error {
	g := FigureSpec{}
	if f.figure != nil {
		g = *f.figure
	}
	if err := g.checkCells(s, f.Data); err != nil {
		return cmp.Or(f.shown[0], place{f.Path, 1, "figure"}).errorf("%w", err)
	}
	if f.table == nil {
		return nil
	}
	if err := f.table.check(s, g); err != nil {
		return f.shown[1].errorf("%w", err)
	}
	return nil
}

// scales are those of an axis.
var scales = []string{"log", "linear"}

// Profiles are the names of the file's profiles.
func (f *File) Profiles() []string {
	var names []string
	for _, p := range f.profiles {
		names = append(names, p.name)
	}
	return names
}

// Later are the built-in studies of later papers, which are run by their names
// and are no part of Studies.
func Later() []string { return collection().Later }

// collection is the list of the built-in studies, and of the profiles that they
// have.
func collection() (c struct {
	Studies  []string
	Later    []string
	Profiles []Profile
}) {
	text, err := builtin.ReadFile("studies/reproduce.toml")
	if err == nil {
		err = toml.Unmarshal(text, &c)
	}
	if err != nil {
		panic(err) // it is embedded, and tests read it
	}
	return c
}
