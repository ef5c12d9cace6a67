package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hambench/bench/store"
	"hambench/integrators"
	"hambench/internal/distinct"
	"hambench/models/datasets"
)

// Plan is a study in which every job has its key, with everything that figures,
// tables, claims and exports state besides results. It is the manifest that a
// run leaves in its store.
// It holds all that a page states of a study, so that drawing needs neither data nor models.
type Plan struct {
	// Profile names the profile and what the run changed in it: "quick",
	// "paper, float64, 2 splits".
	Profile string `json:"profile"`
	// Place is the position of the study among those resolved together, in whose
	// order tables and pages show them.
	Place int `json:"place"`
	Study
	Data    []Data   `json:"data,omitempty"`
	Methods []Method `json:"methods,omitempty"`
	// Unavailable are the data sets that could not be obtained, for which built-in
	// ones stand in.
	Unavailable []string `json:"unavailable,omitempty"`

	made time.Time // when it was stored
}

// Data is what figures and tables say of a data set.
// It is a copy of what the registry and the split say: the set may change later.
type Data struct {
	Name     string `json:"name"`
	Label    string `json:"label"`
	Task     string `json:"task"`
	Target   string `json:"target,omitempty"` // a column of a user's own file
	Rows     int    `json:"rows"`             // for training
	Features int    `json:"features"`
	Classes  int    `json:"classes,omitempty"`
	Builtin  bool   `json:"builtin,omitempty"`
	// Digest is the digest of the first datasets.Split that the plan uses; "" in
	// plans of earlier versions.
	Digest string `json:"digest,omitempty"`
	// For are the unavailable sets in whose place this one stands.
	For []string `json:"stands_in_for,omitempty"`
}

// Method is what legends and claims say of an integrator. The orders are those
// of its stationary law with the full batch.
type Method struct {
	Name     string `json:"name"`
	Joint    Real   `json:"joint_order"`    // of (θ, r); +Inf: exact
	Position Real   `json:"position_order"` // of θ; at least Joint
	// ConstantDeterminant and SymplecticLimit together make it
	// quasi-symplectic (integrators.Structure). Schemes with auxiliary
	// variables are not probed: both are false.
	ConstantDeterminant bool `json:"constant_determinant"`
	SymplecticLimit     bool `json:"symplectic_limit"`
}

// Resolve gives every job of the studies its key, and adds what is stated
// besides the results. It loads the data that the studies use.
// The studies are not changed. profile is the label that manifests are kept under, and
// unavailable the data sets that built-in ones stand in for.
func (k *Keys) Resolve(ctx context.Context, profile string, studies []Study,
	unavailable ...string) ([]Plan, error) {
	var plans []Plan
	for i, s := range studies {
		plans = append(plans, Plan{Profile: profile, Place: i, Study: s.clone(),
			Unavailable: unavailable})
	}
	references := ReferencesByID(plans)
	for i := range plans {
		if err := k.resolve(ctx, &plans[i], references); err != nil {
			return nil, fmt.Errorf("%s: %w", plans[i].ID, err)
		}
	}
	return plans, nil
}

// clone copies the study as far as Resolve changes it.
func (s Study) clone() Study {
	s.Cells, s.Exact = slices.Clone(s.Cells), slices.Clone(s.Exact)
	s.References = slices.Clone(s.References)
	return s
}

// resolve gives the jobs of one plan their keys, references first, since cells depend on
// them.
func (k *Keys) resolve(ctx context.Context, p *Plan,
	references map[string]ReferenceJob) (err error) {
	for i := range p.References {
		r := &p.References[i]
		if r.Key, err = k.Reference(ctx, r.Spec); err != nil {
			return err
		}
	}
	for i := range p.Exact {
		e := &p.Exact[i]
		if e.Key, err = k.Exact(e.Exact); err != nil {
			return err
		}
		// Of many jobs with one integrator the first makes the entry; so of data sets below.
		if err := k.describeMethod(p, e.Exact.Integrator); err != nil {
			return err
		}
	}
	for i := range p.Cells {
		j := &p.Cells[i]
		if j.Key, err = k.Cell(ctx, j.Cell, references); err != nil {
			return err
		}
		if err := k.describe(ctx, p, j.Cell); err != nil {
			return err
		}
		if err := k.describeMethod(p, j.Cell.Integrator); err != nil {
			return err
		}
	}
	return nil
}

// describe adds a cell's data set to what the plan states.
// It is stated once, by the split of the first cell on the data set.
func (k *Keys) describe(ctx context.Context, p *Plan, c Cell) error {
	if _, ok := p.Dataset(c.Dataset); ok {
		return nil
	}
	d, err := k.Source.Datasets().Lookup(c.Dataset)
	if err != nil {
		return err
	}
	split, err := k.Source.Split(ctx, d.Name, c.Split)
	if err != nil {
		return err
	}
	entry := Data{
		Name: d.Name, Label: d.Label, Task: d.Task.String(), Target: d.Target, Rows: d.TrainRows,
		Features: d.Features, Classes: d.Classes,
		Builtin: d.Builtin(), Digest: split.Digest,
	}
	// The set may stand in for others: captions name them.
	for _, name := range p.Unavailable {
		if missing, err := k.Source.Datasets().Lookup(name); err == nil &&
			missing.StandIn == d.Name {
			entry.For = append(entry.For, name)
		}
	}
	p.Data = append(p.Data, entry)
	return nil
}

// describeMethod adds an integrator, if there is one, to what the plan states.
// Its orders are those that it claims; what certify finds is in the rows of exact errors.
func (k *Keys) describeMethod(p *Plan, name string) error {
	if _, ok := p.Method(name); ok || name == "" {
		return nil
	}
	m, err := k.Chains.Integrator(name)
	if err != nil {
		return err
	}
	entry := Method{Name: m.Name, Joint: Real(m.Claims.ErgodicOrder),
		Position: Real(m.Claims.PositionOrder)}
	entry.ConstantDeterminant, entry.SymplecticLimit = integrators.Structure(m)
	p.Methods = append(p.Methods, entry)
	return nil
}

// Dataset returns what the plan says of a data set.
// ok is false for a data set that none of its cells is on.
func (p Plan) Dataset(name string) (Data, bool) {
	i := slices.IndexFunc(p.Data, func(d Data) bool { return d.Name == name })
	if i < 0 {
		return Data{}, false
	}
	return p.Data[i], true
}

// Method returns what the plan says of an integrator.
// ok is false for an integrator that none of its jobs has.
func (p Plan) Method(name string) (Method, bool) {
	i := slices.IndexFunc(p.Methods, func(m Method) bool { return m.Name == name })
	if i < 0 {
		return Method{}, false
	}
	return p.Methods[i], true
}

// Source is the study's origin: BuiltIn, or the digest of a user's file.
// Manifests of earlier versions do not say: what has the id of a built-in study is
// taken for one.
func (s Study) Source() string {
	switch {
	case s.Origin != "":
		return s.Origin
	case slices.Contains(builtInIDs(), s.ID):
		return BuiltIn
	}
	return "unknown"
}

// key names the manifest of a study in a profile on some data sets. A user's study
// does not take the place of a built-in one that has its id.
// The digest is the name of the manifest's record.
func (p Plan) key() string {
	names := distinct.Of(p.Data, func(d Data) string { return d.Name })
	parts := []string{p.Profile, p.ID, strings.Join(names, ",")}
	if p.Origin != "" {
		parts = append(parts, "a user's")
	}
	return digest(parts)
}

// BuiltIn reports whether the study is one of the program's own.
func (s Study) BuiltIn() bool { return s.Source() == BuiltIn }

// OnlyBuiltIn returns the plans of built-in studies.
func OnlyBuiltIn(plans []Plan) []Plan {
	return slices.DeleteFunc(slices.Clone(plans), func(p Plan) bool { return !p.BuiltIn() })
}

// sameStudy reports whether two plans are of one study: a user's may have the id of
// a built-in one.
func (p Plan) sameStudy(o Plan) bool { return p.ID == o.ID && p.BuiltIn() == o.BuiltIn() }

// OfOther reports whether the last run of a user's study that the plans have, if any, was of jobs
// that another file stated, or another version of its file. Plans of earlier versions do not say,
// and built-in studies change with the program.
func (s Study) OfOther(plans []Plan) bool {
	// If no plan is of this study, none is of another file: s itself then stands for the last run.
	last := Plan{Study: Study{Asks: s.Asks}}
	for _, p := range plans {
		if p.sameStudy(Plan{Study: s}) && !p.made.Before(last.made) {
			last = p
		}
	}
	return last.Asks != "" && last.Asks != s.Asks
}

// Shown has the plans of a study shown as it says now: title, figure, table and claims may be
// edited after a run. Plans of jobs that another version of its file stated stay, and so do
// those whose results its figure or table cannot show.
func (s Study) Shown(plans []Plan, data datasets.Registry) []Plan {
	plans = slices.Clone(plans)
	for i, p := range plans {
		if !p.sameStudy(Plan{Study: s}) || s.OfOther(plans[i:i+1]) {
			continue
		}
		p.Title, p.Figure, p.Table, p.Claims = s.Title, s.Figure, s.Table, s.Claims
		answers := cmp.Or(p.Figure, new(FigureSpec)).checkAnswers(p.Exact, p.Cells == nil)
		if figure, table := p.showsCells(data); cmp.Or(answers, figure, table) == nil {
			plans[i] = p
		}
	}
	return plans
}

// showsCells returns why the study's figure, or else its table, cannot show its cells.
func (s Study) showsCells(data datasets.Registry) (figure, table error) {
	// The default figure may not be able to show the cells either: then a file must say how.
	g := *cmp.Or(s.Figure, new(FigureSpec))
	if figure = g.checkCells(s, data); figure == nil && s.Table != nil {
		table = s.Table.check(s, g, data)
	}
	return figure, table
}

// Save writes the plans into a store, as manifests of a run.
// A manifest of the same study and profile, on the same data sets, is replaced. The last run is
// the latest by its time, also where the clock of another host, or this one before, was ahead.
func Save(s *store.Store, made store.Made, plans []Plan) error {
	earlier, err := Plans(s, "")
	if err != nil {
		return err
	}
	now := made.Time
	if now.IsZero() {
		now = time.Now().UTC().Truncate(time.Millisecond)
	}
	for _, p := range plans {
		made.Time = now
		for _, e := range earlier {
			if e.sameStudy(p) && !e.made.Before(made.Time) {
				made.Time = e.made.Add(time.Millisecond)
			}
		}
		r, err := store.NewRecord(store.Run, p.key(), 0, made, p)
		if err != nil {
			return err
		}
		if err := s.Put(r); err != nil {
			return err
		}
	}
	return nil
}

// Plans returns the manifests of a profile in a store, or of every profile if
// the profile is "". A built-in study that is run by name, beside the others, belongs to every
// profile in which it was not run itself.
// They are in the order of the run that wrote them, those that are run by name last.
func Plans(s *store.Store, profile string) ([]Plan, error) {
	var plans []Plan
	for _, key := range s.Keys(store.Run) {
		r, ok := s.Get(store.Run, key)
		if !ok {
			continue
		}
		var p Plan
		if err := json.Unmarshal(r.Body, &p); err != nil {
			return nil, fmt.Errorf("store %s: manifest %.12s: %w", s.Dir(), key, err)
		}
		p.made = r.Made.Time
		if profile == "" || p.Profile == profile || p.byName() >= 0 {
			plans = append(plans, p)
		}
	}
	slices.SortStableFunc(plans, func(a, b Plan) int {
		return cmp.Or(cmp.Compare(a.byName(), b.byName()), cmp.Compare(a.Place, b.Place))
	})
	// A study that is run by name belongs to all profiles but those with a run of their own of it.
	return slices.DeleteFunc(slices.Clone(plans), func(p Plan) bool {
		own := func(o Plan) bool { return o.sameStudy(p) && o.Profile == profile }
		return profile != "" && p.Profile != profile && slices.ContainsFunc(plans, own)
	}), nil
}

// byName is the place of a built-in study among those that are run by name; -1 of any other.
func (p Plan) byName() int {
	if !p.BuiltIn() {
		return -1
	}
	return slices.Index(Later(), p.ID)
}

// Widest returns one plan of each study: the one with the most jobs among the
// latest and those that have all its jobs. So a run on some data sets does not hide
// one on all of them, but a changed study hides its old plans. It keeps the order.
// A study of a user's and a built-in one of the same id are two studies.
func Widest(plans []Plan) []Plan {
	plans = OnData(plans)
	// latest has the newest plan of each study: what it lists is what the study is now. A plan that
	// lacks some of that is of another version of the study, or of fewer data sets or splits.
	var latest, out []Plan
	for _, p := range plans {
		i := slices.IndexFunc(latest, p.sameStudy)
		switch {
		case i < 0:
			latest = append(latest, p)
		case p.made.After(latest[i].made):
			latest[i] = p
		}
	}
	for _, p := range plans {
		i := slices.IndexFunc(out, p.sameStudy)
		switch {
		case !p.has(latest[slices.IndexFunc(latest, p.sameStudy)]):
		case i < 0:
			out = append(out, p)
		case len(p.keys()) > len(out[i].keys()):
			out[i] = p
		}
	}
	return out
}

// OnData leaves out the plans in which other data stand in for some that could not be obtained,
// where another plan of the study and profile has as many jobs on the data themselves. So a
// command on a machine without data, whose manifest is the latest, hides no run on them.
func OnData(plans []Plan) []Plan {
	standsIn := func(p Plan) bool {
		return slices.ContainsFunc(p.Data, func(d Data) bool { return len(d.For) > 0 })
	}
	return slices.DeleteFunc(slices.Clone(plans), func(p Plan) bool {
		return standsIn(p) && slices.ContainsFunc(plans, func(o Plan) bool {
			return o.sameStudy(p) && o.Profile == p.Profile && !standsIn(o) &&
				len(o.keys()) >= len(p.keys())
		})
	})
}

// Contained returns the keys of the manifests that others make superfluous: in
// each profile all but the widest of a study, and all of a profile that another
// one contains, as two splits contain one.
// It is used where a store is cut down to what is published.
func Contained(plans []Plan) (keys []string) {
	widest := make(map[string][]Plan)
	for _, p := range plans {
		widest[p.Profile] = append(widest[p.Profile], p)
	}
	// Manifests that a wider one of their own profile replaces do not count below.
	for name, of := range widest {
		widest[name] = Widest(of)
	}
	// Profiles go one by one, in the order of their names, so that of two that hold the same jobs
	// one stays.
	for _, name := range slices.Sorted(maps.Keys(widest)) {
		for other, of := range widest {
			if other != name && hasAll(of, widest[name]) {
				delete(widest, name)
				break
			}
		}
	}
	for _, p := range plans {
		if !slices.ContainsFunc(widest[p.Profile],
			func(o Plan) bool { return o.key() == p.key() }) {
			keys = append(keys, p.key())
		}
	}
	return keys
}

// Jobs returns the keys of the cells and exact jobs that the plans list.
func Jobs(plans []Plan) map[string]bool {
	listed := make(map[string]bool)
	for _, p := range plans {
		for _, key := range p.keys() {
			listed[key] = true
		}
	}
	return listed
}

// hasAll reports whether every plan's jobs are in a plan of the same study.
func hasAll(wide, plans []Plan) bool {
	return !slices.ContainsFunc(plans, func(p Plan) bool {
		return !slices.ContainsFunc(wide, func(o Plan) bool { return o.sameStudy(p) && o.has(p) })
	})
}

// has reports whether the plan has all cells and exact jobs of another.
// Keys decide, so that a plan whose parts have changed has none of the old jobs.
func (p Plan) has(o Plan) bool {
	missing := make(map[string]bool)
	for _, key := range o.keys() {
		missing[key] = true
	}
	for _, key := range p.keys() {
		delete(missing, key)
	}
	return len(missing) == 0
}

// keys are those of the cells and exact jobs.
func (p Plan) keys() (keys []string) {
	for _, j := range p.Cells {
		keys = append(keys, j.Key)
	}
	for _, j := range p.Exact {
		keys = append(keys, j.Key)
	}
	return keys
}

// On returns the plan with only the cells on the named data sets.
// Exact jobs stay: they are on no data set. References of other data sets go.
func (p Plan) On(names ...string) Plan {
	p.Study = p.restrict(func(dataset string) bool { return slices.Contains(names, dataset) })
	p.Data = slices.DeleteFunc(slices.Clone(p.Data), func(d Data) bool {
		return !slices.Contains(names, d.Name)
	})
	return p
}

// digestLength is how many hex digits distinguish selections: 64 bits.
const digestLength = 16

// Digest returns a digest of the keys of all jobs that the plans need.
// Two runs with equal digests compute the same: a cluster's jobs are named by it.
func Digest(plans []Plan) string {
	var keys []string
	for _, p := range plans {
		keys = append(append(keys, "study "+p.ID), p.keys()...)
		for _, j := range p.References {
			keys = append(keys, j.Key)
		}
	}
	return digest(keys)[:digestLength]
}

// References returns the reference chains of the plans, each once, in their
// order.
func References(plans []Plan) (jobs []ReferenceJob) {
	for _, p := range plans {
		for _, r := range p.References {
			jobs = distinct.Append(jobs, r)
		}
	}
	return jobs
}

// ReferencesByID returns them by the IDs of their specs, by which cells name them.
func ReferencesByID(plans []Plan) map[string]ReferenceJob {
	of := make(map[string]ReferenceJob)
	for _, r := range References(plans) {
		of[r.Spec.ID()] = r
	}
	return of
}
