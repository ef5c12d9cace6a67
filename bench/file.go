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
	"sync"

	"github.com/pelletier/go-toml/v2"

	"hambench/internal/distinct"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
	"hambench/usage"
)

//go:embed studies
var builtin embed.FS

// File is a study as written in a file; docs/studies.md describes the format.
type File struct {
	ID, Title string
	// Path is where it was read from, Text its content.
	Path string
	Text []byte
	// Parts are what its names stand for. Data has the file's own data sets, too.
	Parts

	own      bool // it is none of the program's
	readFile func(path string) ([]byte, error)
	layers   map[string]layer // by the profile; "" is the file as it is
	profiles []string         // in the order of the file
	exact    []ExactJob
	claims   []placedClaim
	figure   *FigureSpec
	table    *TableSpec
	shown    [2]place // where figure and table stand
}

// layer is settings with the blocks of the grid, nil if none are stated.
type layer struct {
	settings  settings
	grids     []settings
	reference []section // later ones replace what earlier ones say
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

// Load reads the study in a file, which may use the names of the given parts. A
// path that does not end in .toml is the name of a built-in study.
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
func (p Parts) load(path string, read func(string) ([]byte, error), within []string) (*File,
	error) {
	own := strings.HasSuffix(path, ".toml") // or based on by a built-in one: these have no paths
	if !own {
		if ids := builtInIDs(); !slices.Contains(ids, path) {
			return nil, usage.Unknown("study", path, ids)
		}
		path, read = "studies/"+path+".toml", builtin.ReadFile
	}
	if slices.Contains(within, path) {
		return nil, fmt.Errorf("is based on itself: %s", strings.Join(append(within, path),
			" is based on "))
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
	f := &File{Path: path, Text: text, Parts: p, own: own, readFile: read,
		layers: make(map[string]layer)}
	return f, f.fill(s, append(within, path))
}

// origin is the Origin of the file's study.
func (f *File) origin() string {
	if f.own {
		return digest(string(f.Text))[:digestLength]
	}
	return ""
}

// fill reads the sections, those first that others use.
func (f *File) fill(s section, within []string) error {
	s.only("id", "title", "base", "data", "vary", "fix", "grid", "reference", "exact", "claim",
		"figure", "table", "profile")
	base := f.readBase(s, within)
	f.readData(s)
	f.ID = strings.TrimSuffix(filepath.Base(f.Path), ".toml")
	s.get("id", text(&f.ID))
	if !studyID.MatchString(f.ID) {
		s.fail(s.at("id"), fmt.Errorf("is %q: want letters, digits, - and _: files are named by it",
			f.ID))
	}
	s.get("title", text(&f.Title))
	f.readLayers(s)
	f.readExact(s)
	f.readClaims(s)
	f.readDrawing(s)
	if base != nil {
		f.inherit(base)
	}
	f.complete(s)
	f.completeClaims(s)
	return *s.failed
}

// readBase reads the file that this one is based on; nil if there is none.
func (f *File) readBase(s section, within []string) (base *File) {
	s.get("base", func(v any) error {
		var name string
		if err := text(&name)(v); err != nil {
			return err
		}
		if strings.HasSuffix(name, ".toml") {
			name = filepath.Join(filepath.Dir(f.Path), name)
		}
		var err error
		if base, err = f.Parts.load(name, f.readFile, within); err == nil {
			f.Data = base.Data
		}
		return err
	})
	return base
}

// inherit takes from another file what this one does not say.
func (f *File) inherit(base *File) {
	for name, below := range base.layers {
		f.layers[name] = f.layers[name].over(below)
	}
	own := f.profiles
	f.profiles = slices.Clone(base.profiles)
	for _, name := range own {
		f.profiles = distinct.Append(f.profiles, name)
	}
	if base.Title != base.ID { // which stands for no title
		f.Title = cmp.Or(f.Title, base.Title)
	}
	f.figure, f.table = cmp.Or(f.figure, base.figure), cmp.Or(f.table, base.table)
	f.shown = [2]place{cmp.Or(f.shown[0], base.shown[0]), cmp.Or(f.shown[1], base.shown[1])}
	if f.claims == nil {
		f.claims = base.claims
	}
	if f.exact == nil {
		f.exact = base.exact
	}
}

// complete refuses a file that says too little.
func (f *File) complete(s section) {
	f.Title = cmp.Or(f.Title, f.ID)
	cells := f.layers[""].grids != nil || len(f.layers[""].settings) > 0
	if f.exact == nil && !cells {
		s.fail(s.place, errors.New("nothing to run: want [vary], [[grid]] or [[exact]]"))
	}
	if f.figure != nil {
		s.fail(s.at("figure"), f.figure.checkAnswers(f.exact, !cells && f.profiles == nil))
	}
}

// readData adds the file's own data sets.
func (f *File) readData(s section) {
	all := s.table("data")
	for _, name := range all.keys() {
		t := all.table(name)
		var path, task string
		var o datasets.FileOptions
		t.read(map[string]reader{
			"file": text(&path), "model": text(&o.Model), "label": text(&o.Label),
			"target": func(v any) error {
				if n, ok := v.(int64); ok {
					v = fmt.Sprint(n)
				}
				return text(&o.Target)(v)
			},
			"task":  oneOf(&task, "task", []string{"regression", "classification"}),
			"noise": positive(&o.NoiseVariance), "test": positive(&o.TestShare),
		})
		if path == "" || task == "" {
			t.fail(t.place, errors.New("file and task must be stated"))
		}
		if o.Task = datasets.Regression; task == "classification" {
			o.Task = datasets.Classification
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(f.Path), path)
		}
		if _, err := f.Data.Lookup(name); err == nil {
			t.fail(t.place, errors.New("there is a data set of this name: want another"))
		}
		if *s.failed != nil {
			return
		}
		d, err := datasets.FromFile(name, path, o)
		t.fail(t.at("file"), err)
		f.Data = append(slices.Clone(f.Data), d)
	}
}

// readLayers reads the grid, as it is and in the profiles.
func (f *File) readLayers(s section) {
	varied, fixed := s.table("vary").settings(f.Parts, true,
		false), s.table("fix").settings(f.Parts, false, true)
	for k, e := range fixed {
		if _, twice := varied[k]; twice {
			s.fail(e.place, errors.New("stands in [vary], too: want it once"))
		}
	}
	f.layers[""] = s.layer(varied.over(fixed), f.Parts)
	all := s.table("profile")
	for _, name := range all.keys() {
		t := all.table(name)
		if name == AsItIs {
			t.fail(t.place, errors.New("is what a run without a profile is called: want "+
				"another name"))
		}
		f.layers[name] = t.layer(t.settings(f.Parts, false, false, "grid", "reference"), f.Parts)
		f.profiles = append(f.profiles, name)
	}
}

// layer adds to settings the blocks of the grid and the reference.
func (s section) layer(of settings, p Parts) layer {
	l := layer{settings: of}
	for _, g := range s.tables("grid") {
		l.grids = append(l.grids, g.settings(p, false, false))
	}
	if reference := s.table("reference"); len(reference.values) > 0 {
		l.reference = []section{reference}
		reference.read(referenceKeys(new(oracle.Spec)))
	}
	return l
}

// readDrawing reads how the study is shown.
func (f *File) readDrawing(s section) {
	settings := axisNames()
	for _, m := range f.Chains.Integrators {
		for _, p := range m.Parameters {
			settings = distinct.Append(settings, p.Name)
		}
	}
	names := func(to *[]string, known []string) reader {
		return func(v any) error {
			err := each(to, func(name *string) reader {
				return oneOf(name, "axis or value",
					known)
			})(v)
			for i, name := range *to {
				if slices.Contains((*to)[:i], name) {
					err = cmp.Or(err, fmt.Errorf("%s stands twice", name))
				}
			}
			return err
		}
	}
	kinds := distinct.Of(figureKinds, func(k figureKind) string { return k.name })
	figure, table := s.table("figure"), s.table("table")
	var g FigureSpec
	var t TableSpec
	figure.read(map[string]reader{
		"kind": oneOf(&g.Kind, "kind of figure", kinds), "panels": names(&g.Panels,
			settings), "lines": names(&g.Lines, settings),
		"x": oneOf(&g.X, "axis or value", slices.Concat(settings, valueNames(),
			[]string{OnBudget})),
		"y": oneOf(&g.Y, "value",
			slices.Concat(valueNames(), slices.Sorted(maps.Keys(answers)))),
		"x-scale": oneOf(&g.XScale, "scale", scales), "y-scale": oneOf(&g.YScale, "scale", scales),
	})
	table.read(map[string]reader{
		"rows": names(&t.Rows, settings), "columns": names(&t.Columns,
			settings), "values": names(&t.Values, valueNames()), "note": text(&t.Note),
	})
	if len(figure.values) > 0 {
		f.figure, f.shown[0] = &g, figure.place
	}
	if len(table.values) > 0 {
		f.table, f.shown[1] = &t, table.place
	}
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

// Profiles returns the names of the file's profiles.
func (f *File) Profiles() []string { return f.profiles }

// Later returns the names of the built-in studies of later papers, which are run
// by name and are not among Studies.
func Later() []string { return collection().Later }

// builtInIDs are the ids of all built-in studies.
var builtInIDs = sync.OnceValue(func() []string { return append(collection().Studies, Later()...) })

// BuiltIn reports whether the file is one of the program's own.
func (f *File) BuiltIn() bool { return !f.own }

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
