package bench

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"hambench/chain"
	"hambench/internal/distinct"
	"hambench/internal/input"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
	"hambench/usage"
)

//go:embed studies
var builtin embed.FS

// File is a study as written in a file; docs/studies.md describes the format.
// It may hold several studies in one: the file as it is, and one for each profile.
type File struct {
	ID, Title string
	// Path is where it was read from, Text its content.
	Path string
	Text []byte
	// Parts are what its names stand for. Data has the file's own data sets, too.
	Parts

	own      bool             // it is none of the program's
	stated   []map[string]any // by the file it is based on, and so on, and by itself
	readFile func(path string) ([]byte, error)
	files    []string         // of data and of problems
	layers   map[string]layer // by the profile; "" is the file as it is
	profiles []string         // in the order of the file
	exact    []ExactJob
	claims   []placedClaim
	stable   settings // of the chains that relative steps follow, besides each cell's own
	figure   *FigureSpec
	table    *TableSpec
	shown    [2]place // where figure and table stand
}

// layer is settings with the blocks of the grid, nil if none are stated.
// The file as it is makes one layer, each profile another, which is laid over it.
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

// without leaves some keys out of a layer and its blocks.
func (l layer) without(stated settings) layer {
	l.settings = l.settings.without(stated)
	l.grids = slices.Clone(l.grids)
	for i, g := range l.grids {
		l.grids[i] = g.without(stated)
	}
	return l
}

// Load reads the study in a file, which may use the names of the given parts. A
// path that does not end in .toml is the name of a built-in study.
// The error of a mistake is one line, which begins with file, line and key. What only a
// profile shows is found by Study.
func Load(path string, p Parts) (*File, error) {
	return p.Filled().load(path, input.Read, nil)
}

// Parse reads a study from a text, as Load reads that of the file ID.toml in the current
// folder.
// So a program states a study as a file does, with parts of its own.
func Parse(id string, text []byte, p Parts) (*File, error) {
	// Files that it is based on, and problems in files, are those of the disk.
	name := id + ".toml"
	return p.Filled().load(name, func(path string) ([]byte, error) {
		if path == name {
			return text, nil
		}
		return input.Read(path)
	}, nil)
}

// Filled returns the parts with the built-in ones for those that are nil.
func (p Parts) Filled() Parts {
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
// read reads files: the disk's, or the program's own for built-in studies, which have no
// paths.
func (p Parts) load(path string, read func(string) ([]byte, error), within []string) (*File,
	error) {
	// All other names are of built-in studies, as the bases of built-in ones are.
	own := strings.HasSuffix(path, ".toml")
	if !own {
		if ids := builtInIDs(); !slices.Contains(ids, path) {
			return nil, usage.Unknown("study", path, ids)
		}
		path, read = "studies/"+path+".toml", builtin.ReadFile
	}
	// within holds the files whose base is being read: one that comes again would never end.
	if slices.Contains(within, path) {
		return nil, fmt.Errorf("is based on itself: %s", strings.Join(append(within, path),
			" is based on "))
	}
	text, err := read(path)
	if err != nil { // without the path, which the message has already
		return nil, usage.Errorf("study %s cannot be read: %w", path,
			cmp.Or(errors.Unwrap(err), err))
	}
	s, err := parseTOML(path, text)
	if err != nil {
		return nil, err
	}
	// A built-in study has no folder on the disk.
	if p.dir = ""; own {
		p.dir = filepath.Dir(path)
	}
	f := &File{Path: path, Text: text, Parts: p, own: own, readFile: read,
		layers: make(map[string]layer)}
	return f, f.fill(s, append(within, path))
}

// beside is where a file is found that this one names: a name is relative to its folder. The names
// of embedded files have slashes on every system.
func (f *File) beside(name string) string {
	if !f.own {
		return path.Join(path.Dir(f.Path), name)
	}
	return filepath.Clean(f.path(name))
}

// origin is the Origin of the file's study.
// Two files with the same text are one origin, wherever they are.
func (f *File) origin() string {
	if f.own {
		return digest(string(f.Text))[:digestLength]
	}
	return ""
}

// asks is the Asks of the file's study in a profile.
func (f *File) asks(profile string) string {
	if !f.own {
		return ""
	}
	var stated []any
	// What is left out changes no job; of the profiles, only the one that is run does.
	for _, values := range f.stated {
		profiles, _ := values["profile"].(map[string]any)
		jobs := maps.Clone(values)
		for _, other := range []string{"id", "title", "claim", "figure", "table", "profile"} {
			delete(jobs, other)
		}
		stated = append(stated, jobs, profiles[profile])
	}
	return digest(fmt.Sprint(stated))[:digestLength] // JSON has no infinity
}

// fill reads the sections, those first that others use.
// The first mistake in the order of the sections is returned.
func (f *File) fill(s section, within []string) error {
	s.only("id", "title", "base", "data", "vary", "fix", "grid", "stable", "reference", "exact",
		"claim", "figure", "table", "profile")
	// A file is known by its own name, unless it states an id.
	f.ID = strings.TrimSuffix(filepath.Base(f.Path), ".toml")
	// The base is read first: its data sets are names that this file may use.
	var basePath string
	for _, k := range []key{{name: "base", to: &basePath}, {name: "id", to: &f.ID},
		{name: "title", to: &f.Title}} {
		if v, ok := s.values[k.name]; ok {
			s.at(k.name).fail(k.set(v))
		}
	}
	base := f.readBase(s.at("base"), basePath, within)
	s.at("id").fail(checkID(f.ID))
	f.readData(s)
	f.readLayers(s)
	f.readExact(s)
	f.readClaims(s)
	f.readDrawing(s)
	f.stated = []map[string]any{s.values}
	if base != nil {
		f.inherit(base)
	}
	f.dir = "" // what was read has the places of its files
	f.complete(s)
	f.completeClaims(s)
	return s.err
}

// longestID bounds an id: names of files have further parts, and most systems allow 255 characters.
const longestID = 100

// fileSuffixes and fileEndings are what names of files that are drawn have behind the id of their
// study.
var (
	fileSuffixes = []string{"-table", "-exact", "-exponents", "-claims"}
	fileEndings  = []string{".csv", ".png", ".svg", ".pdf", ".json", ".txt", ".md"}
)

// Drawn reports whether a file that is drawn of the study may have a name.
func (f *File) Drawn(name string) bool {
	ending := filepath.Ext(name)
	suffix, found := strings.CutPrefix(strings.TrimSuffix(name, ending), f.ID)
	return found && slices.Contains(fileEndings, ending) &&
		(suffix == "" || slices.Contains(fileSuffixes, suffix))
}

// Reads returns the files that a run of the study needs besides its own and those that it is
// based on: of data, of problems, and of where cells start.
func (f *File) Reads(s Study) []string {
	files := slices.Clone(f.files)
	for _, j := range s.Cells {
		if start := j.Cell.Start(); chain.IsFile(start) {
			files = distinct.Append(files, start)
		}
	}
	return files
}

// checkID refuses an id by which files cannot be named.
func checkID(id string) error {
	if !studyID.MatchString(id) {
		return fmt.Errorf("is %q: want ASCII letters, digits, - and _: files are named by it", id)
	}
	if len(id) > longestID {
		return fmt.Errorf("has %d characters: want at most %d: files are named by it", len(id),
			longestID)
	}
	// A study x-table would draw x-table.csv, where a study x has its own table.
	for _, suffix := range fileSuffixes {
		if of, found := strings.CutSuffix(id, suffix); found {
			return fmt.Errorf("is %q: want another end: files of a study %q would have its names",
				id, of)
		}
	}
	return nil
}

// readBase reads the file that this one is based on; nil if there is none.
func (f *File) readBase(at place, name string, within []string) *File {
	if name == "" || at.err != nil {
		return nil
	}
	if strings.HasSuffix(name, ".toml") {
		name = f.beside(name)
	}
	base, err := f.Parts.load(name, f.readFile, within)
	if err != nil {
		at.fail(err)
		return nil
	}
	// It has the data sets of the base besides the registry's; readData adds this file's own.
	f.Data = base.Data
	return base
}

// inherit takes from the base what the file does not state.
// Tables that hold settings are merged key by key, and what the file states, in its blocks or
// profiles, too, goes before the blocks and profiles of its base; figure, table, claims and exact
// jobs are replaced as a whole.
func (f *File) inherit(base *File) {
	f.stated = slices.Concat(base.stated, f.stated)
	// All that the file states goes before all that its base states. In a layer blocks go before
	// settings: so what is stated here is taken out of the base's blocks, which would hide it.
	whole, blocks := f.layers[""], base.layers[""].grids
	for name, own := range f.layers { // a profile's settings go before the base's blocks, too
		if whole.grids == nil && own.grids == nil && base.layers[name].grids == nil {
			own.grids = layer{grids: blocks}.without(own.settings.over(whole.settings)).grids
			f.layers[name] = own
		}
	}
	for name, below := range base.layers {
		own := f.layers[name]
		// The file's own blocks replace those of every profile of its base.
		if name != "" && whole.grids != nil {
			below.grids = nil
		}
		// Its reference replaces what those say, too.
		if name != "" {
			below.reference = slices.Concat(below.reference, whole.reference)
		}
		f.layers[name] = own.over(below.without(own.settings.over(whole.settings)))
	}
	f.profiles = distinct.Of(slices.Concat(base.profiles, f.profiles),
		func(p string) string { return p })
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
	f.files = append(f.files, base.files...)
	f.stable = f.stable.over(base.stable)
}

// complete refuses a file that states too little.
// A study may have cells, exact jobs, or both.
func (f *File) complete(s section) {
	f.Title = cmp.Or(f.Title, f.ID)
	// A profile alone makes no cells: it is laid over what the file states.
	cells := f.layers[""].grids != nil || len(f.layers[""].settings) > 0
	if f.exact == nil && !cells {
		s.fail(errors.New("nothing to run: want [vary], [[grid]] or [[exact]]"))
	}
	if len(f.stable) > 0 && !f.relative() {
		s.at("stable").fail(errors.New("changes nothing: no step is relative to the stable one"))
	}
	if f.figure != nil {
		s.at("figure").fail(f.figure.checkAnswers(f.exact, !cells && f.profiles == nil))
	}
}

// relative reports whether steps of any layer are relative to the stable one.
func (f *File) relative() bool {
	for _, l := range f.layers {
		// Of the texts that readStep takes, relative steps and ranges of them have this word.
		for _, s := range append(l.grids, l.settings) {
			for _, v := range s["step"].values {
				if text, ok := v.(string); ok && strings.Contains(text, "stable") {
					return true
				}
			}
		}
	}
	return false
}

// tasks are the words for the tasks of a data set.
var tasks = map[string]datasets.Task{
	"regression": datasets.Regression, "classification": datasets.Classification,
}

// readData adds the file's own data sets.
// Each file is read now: its columns and rows are part of what may be wrong with the study.
func (f *File) readData(s section) {
	all := s.table("data")
	for _, name := range all.keys() {
		t := all.table(name)
		// The task may be left out where the noise says it.
		var path, task string
		var o datasets.FileOptions
		// A column is named by its header, or by its number as a text.
		if n, ok := t.values["target"].(int64); ok { // the number of a column
			t.values["target"] = fmt.Sprint(n)
		}
		t.read(
			key{name: "file", to: &path}, key{name: "model", to: &o.Model},
			key{name: "label", to: &o.Label}, key{name: "target", to: &o.Target},
			key{name: "task", to: &task, words: slices.Sorted(maps.Keys(tasks))},
			positive("noise", &o.NoiseVariance), positive("test", &o.TestShare),
		)
		if task == "" && o.NoiseVariance > 0 { // which only a regression has
			task = "regression"
		}
		if path == "" || task == "" {
			t.fail(errors.New("file must be stated, and noise = V (of a regression) or task = " +
				"\"classification\""))
		}
		path = f.beside(path)
		if _, err := f.Data.Lookup(name); err == nil {
			t.fail(errors.New("there is a data set of this name: want another"))
		}
		// A file is read only for a section without mistakes: reading it is work.
		if s.err != nil {
			return
		}
		o.Task = tasks[task]
		d, err := datasets.FromFile(name, path, o)
		t.at("file").fail(err)
		f.Data, f.files = append(slices.Clone(f.Data), d), append(f.files, path)
	}
}

// readLayers reads the grid, as it is and in the profiles.
// The name "" stands for the file as it is.
func (f *File) readLayers(s section) {
	// [vary] and [fix] make one layer; that a setting varies is seen by its several values.
	varied := s.table("vary").settings(f.Parts, true, false)
	fixed := s.table("fix").settings(f.Parts, false, true)
	for k, e := range fixed {
		if _, twice := varied[k]; twice {
			e.fail(errors.New("stands in [vary], too: want it once"))
		}
	}
	// No setting stands in both, so that it does not matter which is laid over the other.
	whole := s.layer(varied.over(fixed), f.Parts)
	// A value that no block lets through would be silently without cells.
	for k, e := range varied {
		for _, v := range e.values {
			if whole.grids != nil && !slices.ContainsFunc(whole.grids, func(g settings) bool {
				return g.has(k, v)
			}) {
				e.fail(errors.New("every [[grid]] replaces it, and one of these values stands in " +
					"none: want an empty [[grid]] for the cells of [vary], or the value left out"))
			}
		}
	}
	f.layers[""] = whole
	f.stable = s.table("stable").settings(f.Parts, false, true)
	// [stable] says whose stable step relative steps refer to: settings that no stable step
	// depends on would change nothing there.
	for name, e := range f.stable {
		if slices.Contains([]string{"step", "data", "split", "seed", "repeat", "observe", "model",
			"hidden", "samples", "thin", "burn", "start"}, name) {
			e.fail(errors.New("is each cell's own: want what changes the largest stable step"))
		}
	}
	all := s.table("profile")
	for _, name := range all.keys() {
		t := all.table(name)
		if name == AsItIs {
			t.fail(errors.New("is what a run without a profile is called: want another name"))
		}
		f.layers[name] = t.layer(t.settings(f.Parts, false, false, "grid", "reference"), f.Parts)
		f.profiles = append(f.profiles, name)
	}
}

// has reports whether a block leaves a key to what lies below it, or has the value.
func (s settings) has(key string, value any) bool {
	// 1 and 1.0 are one value, of other types.
	plain := func(v any) any {
		if x, ok := numberOf(v); ok {
			return x
		}
		return v
	}
	own, ok := s[key]
	return !ok || slices.ContainsFunc(own.values, func(v any) bool {
		return reflect.DeepEqual(plain(v), plain(value))
	})
}

// layer adds the blocks of the grid and the reference to settings.
func (s section) layer(of settings, p Parts) layer {
	l := layer{settings: of}
	for _, g := range s.tables("grid") {
		l.grids = append(l.grids, g.settings(p, false, false))
	}
	if reference := s.table("reference"); len(reference.values) > 0 {
		l.reference = []section{reference}
		reference.read(referenceKeys(new(oracle.Spec))...)
	}
	return l
}

// readDrawing reads how the study is shown.
// Whether the study's cells can be shown that way is checked when they are listed.
func (f *File) readDrawing(s section) {
	// A figure may show the parameters of integrators, too; whether a cell has one is known when
	// the cells are listed (checkNames).
	axes := axisNames()
	for _, m := range f.Chains.Integrators {
		for _, p := range m.Parameters {
			axes = distinct.Append(axes, p.Name)
		}
	}
	values := valueNames()
	const axisOrValue = "axis or value"
	// names declares a key for a list of axes or values, each of them once.
	names := func(name string, to *[]string, known []string) key {
		return key{name: name, to: to, words: known, kind: axisOrValue, once: "stands twice"}
	}
	scale := func(name string, to *string) key {
		return key{name: name, to: to, words: []string{"log", "linear"}, kind: "scale"}
	}
	figure, table := s.table("figure"), s.table("table")
	var g FigureSpec
	var t TableSpec
	figure.read(
		key{name: "kind", to: &g.Kind, kind: "kind of figure",
			words: distinct.Of(figureKinds, func(k figureKind) string { return k.name })},
		names("panels", &g.Panels, axes), names("lines", &g.Lines, axes),
		key{name: "x", to: &g.X, words: slices.Concat(axes, values, []string{OnRelative, OnBudget}),
			kind: axisOrValue},
		key{name: "y", to: &g.Y, words: slices.Concat(values, slices.Sorted(maps.Keys(answers))),
			kind: "value"},
		scale("x-scale", &g.XScale), scale("y-scale", &g.YScale),
	)
	table.read(
		names("rows", &t.Rows, axes), names("columns", &t.Columns, axes),
		names("values", &t.Values, values), key{name: "note", to: &t.Note},
	)
	// A setting on two axes would leave all places but a diagonal empty.
	apart(figure, "panels, lines and x", slices.Concat(g.Panels, g.Lines, []string{g.X}))
	apart(table, "rows and columns", slices.Concat(t.Rows, t.Columns))
	if len(figure.values) > 0 {
		f.figure, f.shown[0] = &g, figure.place
	}
	if len(table.values) > 0 {
		f.table, f.shown[1] = &t, table.place
	}
}

// apart refuses a table that states a setting in several of some lists.
func apart(s section, lists string, names []string) {
	for i, name := range names {
		if name != "" && slices.Contains(names[:i], name) {
			s.fail(fmt.Errorf("%q stands in several of %s: want it in one", name, lists))
		}
	}
}

// checkDrawing refuses a figure and a table that cannot show a study's cells.
// The error has the place of the table that the file, or its base, states.
func (f *File) checkDrawing(s Study) error {
	switch figure, table := s.showsCells(f.Data); {
	case figure != nil:
		at := cmp.Or(f.shown[0], place{&document{file: f.Path}, "figure"})
		return at.errorf("%w", figure)
	case table != nil:
		return f.shown[1].errorf("%w", table)
	}
	return nil
}

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
// Its profiles have names, and what they change in all studies.
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
