package bench

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"hambench/chain"
	"hambench/internal/distinct"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/usage"
)

// Profile is what a run changes in studies. Zero fields leave what the files
// say.
// Flags of a run fill in the fields; the file's part of the same name has the rest.
type Profile struct {
	Name  string // of the part that is laid over the rest of a file; "" is the file as it is
	About string
	// Only are the ids of the built-in studies that Studies returns; all if there are none.
	Only []string `toml:"-"`
	// Splits is the number of splits, for studies that state any. Precision is
	// that of network gradients, references included, for studies that do not
	// compare precisions.
	Splits    int
	Precision string
	// Samples is the number of samples of a chain, where the file's part states it.
	Samples int
	// Repeat is the number of seeds of each chain, counted from SeedFrom or, if
	// that is 0, from the study's own seed.
	Repeat   int
	SeedFrom uint64
	// Known are the largest stable steps, as in Study.Stable. One that it lacks is taken as
	// 1, which does for lists of jobs; Missing, if it is not nil, is told of a cell of
	// each, whatever the cell's own step.
	Known   map[string]float64
	Missing func(Cell) `toml:"-"`
}

// Profiles returns the profiles that all built-in studies have, the smallest
// first.
// They are those of the list of built-in studies.
func Profiles() []Profile { return collection().Profiles }

// LookupProfile returns the profile with a name. An unknown name is a usage
// error that lists the profiles.
func LookupProfile(name string) (Profile, error) {
	return usage.Lookup("profile", name, Profiles(), func(p Profile) string { return p.Name })
}

// Studies returns the built-in studies in a profile, the paper's in its order and
// then ours, on data sets and models of the given registries. Data sets that are
// unavailable are replaced by those that stand in for them. Those that Profile.Only leaves out
// are not expanded, since a change may be too much for them alone; an unknown id is a usage error.
// A profile that no file has, such as one of a program's own, is laid over the file as it is.
func Studies(p Profile, data datasets.Registry, all models.Registry,
	unavailable ...string) ([]Study, error) {
	return builtInStudies(collection().Studies, p, Parts{Data: data, Models: all}, unavailable)
}

// LaterStudies returns the studies of later papers (Later) in a profile, as Studies returns the
// others.
func LaterStudies(p Profile) ([]Study, error) {
	return builtInStudies(Later(), p, Parts{}, nil)
}

// builtInStudies returns the built-in studies of some ids, as Studies does.
func builtInStudies(ids []string, p Profile, parts Parts, unavailable []string) ([]Study, error) {
	var out []Study
	for _, id := range p.Only {
		switch {
		case slices.Contains(ids, id):
		case slices.Contains(Later(), id):
			return nil, usage.Errorf("study %q is run by its name, hambench run %s: want one of %s",
				id, id, strings.Join(ids, ", "))
		default:
			return nil, usage.Unknown("study", id, ids)
		}
	}
	for _, id := range ids {
		if len(p.Only) > 0 && !slices.Contains(p.Only, id) {
			continue
		}
		f, err := Load(id, parts)
		if err != nil {
			return nil, err
		}
		q := p
		if !slices.Contains(f.Profiles(), p.Name) { // the same in all
			q.Name = ""
		}
		s, err := f.Study(q, unavailable...)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// AsItIs is the name of the profile of a file that is run without one.
const AsItIs = "default"

// mostCells bounds a study: ten times the largest of the paper.
const mostCells = 100_000

// Study returns the file's study in a profile. Data sets that are unavailable
// are replaced by those that stand in for them.
// The study is complete but for keys, which Keys.Resolve adds. A mistake that only the
// combination of values shows is a usage error with the line of a key that states one of
// them.
func (f *File) Study(p Profile, unavailable ...string) (Study, error) {
	s, l, err := f.expand(p, unavailable)
	if err == nil && len(s.References) == 0 {
		err = f.checkReference(s, l)
	}
	if err != nil {
		return Study{}, err
	}
	return s, f.checkDrawing(s)
}

// checkReference refuses a file's own [reference] for a study without reference chains,
// unless the chains of another profile have a use for it, or exact draws, which it only
// counts. Such a table is a sign of a misunderstanding: its author expects other numbers.
func (f *File) checkReference(s Study, l layer) error {
	own := slices.IndexFunc(l.reference, func(r section) bool { return r.file == f.Path })
	if own < 0 {
		return nil
	}
	at, nothing := l.reference[own].place, "no reference chains judge these cells"
	if slices.ContainsFunc(s.Cells, func(j Job) bool { return j.Cell.ExactDraws != nil }) {
		nothing = "exact draws judge these cells: want only " + strings.Join(exactDrawsKeys, ", ")
		if !slices.ContainsFunc(l.reference[own].keys(), func(name string) bool {
			return !slices.Contains(exactDrawsKeys, name)
		}) {
			return nil
		}
	}
	// A profile that cannot be expanded might have a use for the table: nothing is refused then.
	for _, name := range append([]string{""}, f.profiles...) {
		s, other, err := f.expand(Profile{Name: name}, nil)
		if err != nil || len(s.References) > 0 && slices.ContainsFunc(other.reference,
			func(r section) bool { return r.place == at }) {
			return nil
		}
	}
	return at.errorf("changes nothing: %s", nothing)
}

// expand is Study before it is checked, with its layer.
// The layer is returned for checkReference, which must know whose [reference] counted.
func (f *File) expand(p Profile, unavailable []string) (Study, layer, error) {
	l, err := f.layered(p)
	if err != nil {
		return Study{}, l, err
	}
	s := Study{ID: f.ID, Title: f.Title, Origin: f.origin(), Asks: f.asks(p.Name), Exact: f.exact,
		Claims: f.dataClaims(), Stable: maps.Clone(p.Known), Figure: f.figure, Table: f.table}
	x := &expansion{File: f, profile: p, layer: l, study: s, seen: make(map[string]bool)}
	x.cells(unavailable)
	return x.study, l, x.err
}

// Takes returns a usage error if p changes what the file does not state in p.
// A caption states what was changed, so that a change without effect would make it wrong.
func (f *File) Takes(p Profile) error {
	l, err := f.layered(p)
	if err != nil {
		return err
	}
	says := func(s settings, key string) bool { _, ok := s[key]; return ok }
	switch {
	case p.Splits > 0 && !slices.ContainsFunc(l.grids,
		func(g settings) bool { return says(g, "split") }):
		return usage.Errorf("--splits %d: %s says no splits that this could replace", p.Splits,
			f.Path)
	case p.Samples > 0 && (p.Name == "" || !says(f.layers[p.Name].settings, "samples")):
		return usage.Errorf("--samples %d: the profile of %s has no samples of its own that this "+
			"could replace", p.Samples, f.Path)
	// A block that has no samples of its own has taken the profile's entry over, with its place,
	// which tells whose value a block has.
	case p.Samples > 0 && !slices.ContainsFunc(l.grids, func(g settings) bool {
		return g["samples"].place == f.layers[p.Name].settings["samples"].place
	}):
		return usage.Errorf("--samples %d: every block of %s has samples of its own, which go "+
			"before those of the profile", p.Samples, f.Path)
	case p.Precision == "":
		return nil
	}
	// A precision changes something exactly if the study differs between the two.
	var in [2]Study
	for i, precision := range Precisions {
		if in[i], _, err = f.expand(Profile{Name: p.Name, Precision: precision}, nil); err != nil {
			return err
		}
	}
	if reflect.DeepEqual(in[0], in[1]) {
		return usage.Errorf("--precision %s: nothing in %s has the gradients of a network, whose "+
			"precision this could be", p.Precision, f.Path)
	}
	return nil
}

// layered lays the profile over the file, and the run's own changes over both.
// The stronger layer is first in each step: block, run, profile, [vary] and [fix].
func (f *File) layered(p Profile) (layer, error) {
	l, own := f.layers[""], f.layers[p.Name]
	switch {
	case p.Name == "":
	case slices.Contains(f.profiles, p.Name):
		l = own.over(l)
		if e, ok := own.settings["samples"]; ok && p.Samples > 0 {
			l.settings["samples"] = entry{place: e.place, values: []any{int64(p.Samples)}}
		}
	case f.profiles == nil:
		return l, usage.Errorf("%s has no profiles: leave %q out", f.Path, p.Name)
	default:
		return l, usage.Errorf("%s: %w", f.Path, usage.Unknown("profile", p.Name, f.profiles))
	}
	// Without [[grid]], the settings of [vary] and [fix] are the only block: an empty block laid
	// over them. A file of exact jobs alone has no settings, and no block.
	grids := l.grids
	if grids == nil && len(l.settings) > 0 {
		grids = []settings{nil}
	}
	l.grids = nil
	if e, ok := l.settings["split"]; ok && p.Splits > 0 {
		l.settings = maps.Clone(l.settings)
		l.settings["split"] = entry{place: e.place, values: counted(p.Splits)}
	}
	for _, block := range grids {
		g := block.over(l.settings)
		if e, ok := block["split"]; ok {
			e.values = block.ownSplits(l.settings, p.Splits)
			if g["split"] = e; len(e.values) == 0 {
				continue
			}
		}
		// A study that compares precisions keeps them.
		if e := g["precision"]; p.Precision != "" && len(e.values) < 2 {
			g["precision"] = entry{place: e.place, values: []any{p.Precision}}
		}
		if err := g.repeat(p); err != nil {
			return l, err
		}
		l.grids = append(l.grids, g)
	}
	return l, nil
}

// ownSplits are the splits of a block that has some of its own: a number of them, which
// a run may replace, or those of a list that the run has.
// A block that is left without splits has no cells in this run.
func (s settings) ownSplits(below settings, splits int) []any {
	own := s["split"].values
	if s["split"].counts && splits > 0 {
		return counted(splits)
	}
	// A block that lists its splits has those of them that the run, or else the file, has.
	among := counted(splits)
	if e, ok := below["split"]; ok {
		among = e.values
	}
	if s["split"].counts || len(among) == 0 {
		return own
	}
	return slices.DeleteFunc(slices.Clone(own), func(v any) bool {
		return !slices.Contains(among, v)
	})
}

// repeat makes the seeds of repetitions.
// Seeds that are listed, and counted at the same time, are refused.
func (s settings) repeat(p Profile) error {
	n, from := p.Repeat, int64(p.SeedFrom)
	if e, ok := s["repeat"]; ok && n == 0 {
		n = int(e.values[0].(int64))
	}
	e, ok := s["seed"]
	switch {
	case n == 0 && from == 0:
		return nil
	case len(e.values) > 1:
		return e.errorf("is a list: leave it out where seeds are counted, by repeat, --repeat or " +
			"--seed-from")
	case ok:
		from = cmp.Or(from, e.values[0].(int64))
	}
	// Seeds are counted from the run's first, or else the study's, or else 1.
	e.values = nil
	for i := range max(n, 1) {
		e.values = append(e.values, max(from, 1)+int64(i))
	}
	s["seed"] = e
	return nil
}

// counted is 0 … n-1.
func counted(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

// expansion is a study in the making, until something is wrong.
// After the first mistake nothing is added any more.
type expansion struct {
	*File
	profile Profile
	layer   layer
	study   Study
	seen    map[string]bool // cells that are there
	grid    settings        // the current block
	err     error           // the first
}

// fail notes an error at the first of the keys that the current block states, or
// at its data if it states none of them.
// The place is that of the value, which makes the line that people look for. What a flag of the
// run states, such as a precision, has none.
func (x *expansion) fail(err error, keys ...string) {
	if err == nil || x.err != nil {
		return
	}
	for _, k := range append(keys, "data") {
		if e := x.grid[k]; e.document != nil {
			x.err = e.errorf("%w", err)
			return
		}
	}
}

// failWhole notes what is wrong with the file as a whole.
func (x *expansion) failWhole(format string, args ...any) {
	x.err = cmp.Or(x.err, usage.Errorf("%s:1: %w", x.Path, fmt.Errorf(format, args...)))
}

// cells adds the cells of all blocks: data set by data set, split by split, block
// by block.
// Its order is part of the format: tests compare it, and the page lists cells in it.
func (x *expansion) cells(unavailable []string) {
	var names []string
	splits := []any{}
	total := 0
	// All names that the layer or one of its blocks states, in the order of the file. StandIns puts
	// the set that stands in for some of them in the place of the first.
	for _, g := range append([]settings{x.layer.settings}, x.layer.grids...) {
		for _, v := range g["data"].values {
			names = distinct.Append(names, v.(string))
		}
	}
	for _, x.grid = range x.layer.grids {
		if x.grid["data"].values == nil {
			x.failWhole("no data: want data = \"…\" or a list of them in [vary] or [fix]")
		}
		// The product of the lists stops growing beyond the limit: it would overflow.
		n := 1
		for _, e := range x.grid {
			n = min(n*len(e.values), mostCells+1)
		}
		if total += n; total > mostCells {
			x.fail(fmt.Errorf("the grid has more than %d cells: want fewer", mostCells), "data")
		}
		if x.err != nil { // to list what is too many takes its time
			return
		}
		for _, v := range x.grid.splits() {
			splits = distinct.Append(splits, v)
		}
	}
	for _, name := range x.Data.StandIns(names, unavailable) {
		covered := any(x.covered(name, names))
		on := slices.DeleteFunc(slices.Clone(x.layer.grids), func(g settings) bool {
			return !slices.Contains(g["data"].values, covered)
		})
		// Blocks that do not name the data set add none of its cells.
		before := len(x.seen)
		for _, split := range splits {
			for _, x.grid = range on {
				if x.err == nil && slices.Contains(x.grid.splits(), split) {
					x.block(draft{Cell: Cell{Dataset: name, Split: int(split.(int64))}})
				}
			}
		}
		// Batches as large as the data set were passed over (block), and nothing is left.
		if len(x.seen) == before && len(on) > 0 {
			d, _ := x.Data.Lookup(name)
			x.failWhole("data set %q: no batch size cuts its %d training rows: want smaller "+
				"ones, K, or \"full\"", name, d.TrainRows)
		}
	}
}

// splits returns the splits of a block: those stated, or split 0.
func (s settings) splits() []any {
	if e, ok := s["split"]; ok {
		return e.values
	}
	return counted(1)
}

// covered is the name whose blocks a data set takes: its own, or that of the
// first one of the study that it may stand in for.
// Blocks name data sets of files; a built-in set that stands in for one takes its blocks.
func (x *expansion) covered(name string, names []string) string {
	if slices.Contains(names, name) {
		return name
	}
	for _, n := range names {
		if d, err := x.Data.Lookup(n); err == nil && d.StandIn == name {
			return n
		}
	}
	return name
}

// block adds the cells of the current block, with what they have in common: one for
// each combination of its values. A batch size that does not cut the rows adds none: it
// would be the full batch.
// Keys that the block does not state keep what common has.
func (x *expansion) block(common draft) {
	// all are the combinations of the settings so far, last the key of the latest one, at which
	// mistakes of a combination are reported.
	all, last := []draft{common}, "data"
	for _, k := range declared[whereSettings:] {
		e, ok := x.grid[k.Name]
		if !ok {
			continue
		}
		var next []draft
		for _, s := range all {
			for _, v := range e.values {
				x.fail(k.key(&s, x.Parts).set(v), k.Name)
				next = append(next, s)
			}
		}
		all, last = next, k.Name
	}
	// An unknown name is an error of cell.
	d, _ := x.Data.Lookup(common.Dataset)
	for _, s := range all {
		switch {
		case x.err != nil:
			return
		case s.Batches == 0 && s.BatchSize != Full && s.Observe != Density &&
			chain.Batches(d.TrainRows, s.BatchSize) == 1:
		default:
			x.add(s, last)
		}
	}
}

// add adds a cell to the study, unless it is there.
// Blocks may overlap; what they share is listed once.
func (x *expansion) add(s draft, last string) {
	j := x.cell(s, last)
	if x.err != nil {
		return
	}
	if id := j.Cell.Stream(); !x.seen[id] {
		x.seen[id] = true
		x.study.Cells = append(x.study.Cells, j)
	}
}

// cell makes a cell and lists the reference that it names. What is wrong with its
// numbers is noted at the last of the block's keys.
// Names that do not go together, such as an integrator and an estimator, are looked up as the
// chain will.
func (x *expansion) cell(s draft, last string) Job {
	for _, key := range []string{"integrator", "step"} {
		if x.grid[key].values == nil && s.Observe.recording().chains > 0 {
			x.failWhole("no %s: want %s = … in [vary] or [fix]", key, key)
		}
	}
	p, err := newProblem(x.Data, x.Models, s)
	x.fail(err, "hidden", "model")
	if p.TrainRows > 0 && s.Batches > p.TrainRows {
		x.fail(fmt.Errorf("is %d: data set %q has %d training rows", s.Batches, p.Name,
			p.TrainRows), "K")
	}
	x.fail(p.checkObserves(s.Observe), "observe")
	if p.Splits == 1 { // its chains are repeated by other seeds
		s.Seed, s.Split = max(s.Seed, 1)+uint64(s.Split), 0
	}
	var follows string
	if s.relative > 0 && x.err == nil {
		var h float64
		h, follows = x.stable(s, p)
		s.Step = s.relative * h
	}
	// The reference starts from the usual one; what the file's [reference] tables state replaces
	// that, the base's first, and the run's precision goes before all.
	ref := ReferenceSpec(p.Dataset, s.Split, p.Model, s.Precision)
	for _, r := range x.layer.reference {
		r.read(referenceKeys(&ref)...) // which was checked before
	}
	if x.profile.Precision != "" {
		ref.Precision = x.profile.Precision
	}
	c, spec := s.cell(p, ref)
	x.fail(c.Check(), last)
	if c.Kernels() > 0 && x.err == nil {
		x.fail(x.Chains.Check(c.Chain()), "integrator")
		if c.Observe == Coupled {
			_, err := x.Chains.Combinations(c.Chain())
			x.fail(err, "integrator")
		}
	}
	if spec != nil {
		x.study.References = distinct.Append(x.study.References, ReferenceJob{Spec: *spec})
	}
	if follows == stableOf(c) {
		follows = ""
	}
	return Job{Cell: c, Relative: s.relative, Follows: follows}
}

// stableOf names the chains that share a largest stable step.
// Splits and seeds are left out: all have the steps of split 0.
func stableOf(c Cell) string {
	of := fmt.Sprintf("%s, %s, %s%v (nl %d, C %v), %s, %s, K %d", c.Dataset, c.Model, c.Integrator,
		c.Values, c.Inner, float64(c.Friction), c.Estimator, c.Scheme, c.Batches)
	for _, name := range []string{"temperature", "localisation"} { // which scale the force
		if v := c.More[name]; v != nil {
			of += fmt.Sprintf(", %s %v", name, v)
		}
	}
	return of
}

// stable is the largest stable step of a setting's chains, and their name (stableOf): one for all
// splits and seeds, so that their steps are the same.
// One that is not known is 1.
func (x *expansion) stable(s draft, p problem) (h float64, of string) {
	s.Split, s.Step = 0, 1
	for _, k := range declared[whereSettings:] { // in the order in which a block sets them
		if e, ok := x.File.stable[k.Name]; ok {
			x.fail(k.key(&s, x.Parts).set(e.values[0]), k.Name)
		}
	}
	if x.File.stable["batch"].values != nil {
		s.Batches = 0 // which would count instead
	}
	// The cell only names the chains (stableOf); no reference is needed for that.
	c, _ := s.cell(p, ReferenceSpec(p.Dataset, s.Split, p.Model, s.Precision))
	of = stableOf(c)
	h, ok := x.study.Stable[of]
	if !ok && x.profile.Missing != nil {
		x.profile.Missing(c)
	}
	return cmp.Or(h, 1), of
}
