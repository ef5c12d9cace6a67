package bench

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"hambench/bench/store"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
)

// testKeys make each fingerprint once for all tests.
var testKeys = &Keys{Source: models.NewSource(nil, &datasets.Resolver{Offline: true})}

// resolved gives some quick studies on built-in data their keys.
func resolved(t *testing.T, label string, on []string, ids ...string) []Plan {
	t.Helper()
	p := profile(t, "quick")
	p.Only = ids
	some, err := Restrict(studies(t, p, "ionosphere"), on...)
	if err != nil {
		t.Fatal(err)
	}
	plans, err := testKeys.Resolve(context.Background(), label, some, "ionosphere")
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

// A run on a host whose clock is behind is the last one all the same.
func TestTheLastRunCountsWhateverItsClockSays(t *testing.T) {
	was := resolved(t, "quick", []string{"linear"}, "methods")
	is := resolved(t, "quick", []string{"linear"}, "methods")
	is[0].Data[0].Name, is[0].Cells[0].Key = "other", "of another step" // a manifest of its own
	s, err := store.Open(t.TempDir(), store.Machine{})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range [][]Plan{was, is, was, is} {
		if err := Save(s, store.Made{Time: time.Unix(int64(100-i), 0).UTC()}, p); err != nil {
			t.Fatal(err)
		}
		if got := Widest(plansIn(t, s, "quick")); len(got) != 1 || got[0].Cells[0].Key != p[0].Cells[0].Key {
			t.Errorf("run %d: the plan of another one is shown", i)
		}
	}
}

// A command on a machine without data hides no run on them, whatever it lists.
func TestStandInsHideNoRunOnTheDataThemselves(t *testing.T) {
	real := resolved(t, "quick", []string{"linear"}, "methods")
	stand := resolved(t, "quick", []string{"linear"}, "methods")
	stand[0].Data[0].Name, stand[0].Data[0].For, stand[0].Cells[0].Key = "teacher", []string{"linear"}, "of other data"
	for name, runs := range map[string][][]Plan{"after": {real, stand}, "before": {stand, real}} {
		got := Widest(plansIn(t, savedIn(t, runs...), "quick"))
		if len(got) != 1 || got[0].Cells[0].Key != real[0].Cells[0].Key {
			t.Errorf("%s: the stand-ins are shown", name)
		}
	}
	// Alone they are shown, and beside a run of fewer jobs the latest is.
	if got := Widest(stand); len(got) != 1 {
		t.Errorf("%d plans of stand-ins alone, want 1", len(got))
	}
	part := real[0]
	part.Cells = part.Cells[:1]
	if got := Widest(plansIn(t, savedIn(t, []Plan{part}, stand), "quick")); len(got) != 1 || got[0].Cells[0].Key != stand[0].Cells[0].Key {
		t.Error("a run of one job hides that on stand-ins")
	}
}

// savedIn saves plans in a new store, one list a second, and returns it opened
// again.
func savedIn(t *testing.T, plans ...[]Plan) *store.Store {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(dir, store.Machine{})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range plans {
		if err := Save(s, store.Made{Time: time.Unix(1+int64(i), 0).UTC()}, p); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Read(dir, store.Machine{}); err != nil {
		t.Fatal(err)
	}
	return s
}

func plansIn(t *testing.T, s *store.Store, label string) []Plan {
	t.Helper()
	plans, err := Plans(s, label)
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

// The studies here have all that a plan may hold: cells, references,
// exact errors, data that stand in for others.
func TestPlansComeBackFromAStoreAsTheyWereSaved(t *testing.T) {
	plans := resolved(t, "quick", []string{"linear", "teacher-cls"}, "bottleneck", "methods", "classification", "orders")
	data, _ := plans[1].Dataset("teacher-cls")
	if len(data.Digest) != 64 {
		t.Errorf("the plan states no digest of teacher-cls: %q", data.Digest)
	}
	if len(plans) != 4 || len(plans[0].Exact) == 0 || len(plans[1].References) == 0 || len(data.For) == 0 {
		t.Fatal("the plans lack what this test is about")
	}
	back := plansIn(t, savedIn(t, plans), "quick")
	for i := range back {
		if back[i].made.IsZero() {
			t.Errorf("%s: it is not known when it was stored", back[i].ID)
		}
		back[i].made = time.Time{}
	}
	if !reflect.DeepEqual(back, plans) {
		for i := range plans {
			if !reflect.DeepEqual(back[i], plans[i]) {
				t.Errorf("%s: got %+.400v, want %+.400v", plans[i].ID, back[i], plans[i])
			}
		}
	}
	if Digest(back) != Digest(plans) {
		t.Error("the digest of the plans that came back is another")
	}
}

func TestPlansAreThoseOfTheProfileInTheOrderOfTheStudies(t *testing.T) {
	quick := resolved(t, "quick", []string{"linear"}, "methods", "friction", "bottleneck")
	other := resolved(t, "paper, float64", []string{"linear"}, "friction")
	s := savedIn(t, quick, other, quick) // saved twice: it counts once
	ids := func(plans []Plan) (list []string) {
		for _, p := range plans {
			list = append(list, p.Profile+" "+p.ID)
		}
		return list
	}
	want := ids(quick)
	if got := ids(plansIn(t, s, "quick")); !slices.Equal(got, want) || got[0] != "quick bottleneck" {
		t.Errorf("quick: %v, want %v", got, want)
	}
	if got := ids(plansIn(t, s, "paper, float64")); !slices.Equal(got, ids(other)) {
		t.Errorf("paper: %v, want %v", got, ids(other))
	}
	if got := plansIn(t, s, ""); len(got) != 4 {
		t.Errorf("%d plans of all profiles, want 4", len(got))
	}
	if got := plansIn(t, s, "standard"); got != nil {
		t.Errorf("plans of a profile that was not run: %v", ids(got))
	}
}

// Studies that are run by name are shown, and claims read them, in every profile in which they
// were not run themselves. A user's of the same id is another study.
func TestStudiesRunByNameBelongToEveryProfile(t *testing.T) {
	quick := resolved(t, "quick", []string{"linear"}, "methods", "bottleneck")
	named := func(profile, id, origin string) Plan {
		return Plan{Profile: profile, Study: Study{ID: id, Origin: origin}}
	}
	second := named("standard", "regimes", "")
	second.Place = 1
	s := savedIn(t, quick, []Plan{named("standard", "population", ""), named("quick", "regimes", ""),
		second, named("standard", "population", "0123456789ab")})
	for label, want := range map[string][]string{
		"quick": {"quick bottleneck", "quick methods", "quick regimes", "standard population"},
		"standard": {"standard population", // the user's
			"standard regimes", "standard population"},
		"paper": {"quick regimes", "standard regimes", "standard population"},
	} {
		var got []string
		for _, p := range plansIn(t, s, label) {
			got = append(got, p.Profile+" "+p.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", label, got, want)
		}
	}
}

func TestARunOnSomeDataDoesNotHideOneOnAll(t *testing.T) {
	all := resolved(t, "quick", []string{"linear", "teacher-cls"}, "methods", "synthetic")
	some := resolved(t, "quick", []string{"linear"}, "methods")
	for _, order := range [][][]Plan{{all, some}, {some, all}} {
		got := Widest(plansIn(t, savedIn(t, order...), "quick"))
		if len(got) != 2 || got[0].ID != "methods" || len(got[0].Cells) != len(all[0].Cells) || got[1].ID != "synthetic" {
			t.Errorf("got %d plans, the first of %d cells; want 2, %d", len(got), len(got[0].Cells), len(all[0].Cells))
		}
	}
}

// Exact jobs are jobs, too: a run of more of them is the wider one.
func TestExactJobsCountForTheWidest(t *testing.T) {
	study := func(keys ...string) Plan {
		p := Plan{Study: Study{ID: "x", Origin: "u"}}
		for _, key := range keys {
			p.Exact = append(p.Exact, ExactJob{Key: key})
		}
		return p
	}
	for _, order := range [][]Plan{{study("1"), study("1", "2")}, {study("1", "2"), study("1")}} {
		if got := Widest(order); len(got) != 1 || len(got[0].Exact) != 2 {
			t.Errorf("%d plans, the first of %d exact jobs: want one of 2", len(got), len(got[0].Exact))
		}
	}
}

// A study whose file was changed hides what it was, however large.
func TestAChangedStudyHidesWhatItWas(t *testing.T) {
	was := resolved(t, "quick", []string{"linear", "teacher-cls"}, "methods")
	is := resolved(t, "quick", []string{"linear"}, "methods")
	is[0].Cells[0].Key = "of another step"
	if got := Widest(plansIn(t, savedIn(t, was, is), "quick")); len(got) != 1 || len(got[0].Cells) != len(is[0].Cells) {
		t.Errorf("%d plans, the first of %d cells: want one of %d", len(got), len(got[0].Cells), len(is[0].Cells))
	}
}

// A manifest is superfluous if one of its study and profile has all its jobs, or if
// its whole profile is in another: not if only some of its studies are.
func TestContained(t *testing.T) {
	ids := func(plans []Plan) (keys []string) {
		for _, p := range plans {
			keys = append(keys, p.key())
		}
		return keys
	}
	as := func(profile string, plans []Plan) []Plan {
		plans = slices.Clone(plans)
		for i := range plans {
			plans[i].Profile = profile
		}
		return plans
	}
	both := []string{"linear", "teacher-cls"}
	all, some := resolved(t, "quick", both, "methods", "synthetic"), resolved(t, "quick", both[:1], "methods")
	more, one := as("quick, 2 splits", all), as("quick, 2 splits", all[:1])
	for name, c := range map[string]struct{ saved, want [][]Plan }{
		"one run":                        {saved: [][]Plan{all}},
		"some data, then all":            {[][]Plan{some, all}, [][]Plan{some}},
		"all data, then some":            {[][]Plan{all, some}, [][]Plan{some}},
		"a profile in another":           {[][]Plan{some, all, more}, [][]Plan{some, all}},
		"one of two studies in another":  {saved: [][]Plan{all, as("other", resolved(t, "quick", both, "methods", "friction"))}},
		"a profile beside a narrower":    {[][]Plan{all, one}, [][]Plan{one}},
		"two profiles, neither in other": {saved: [][]Plan{as("a", all[:1]), as("b", all[1:])}},
		"three profiles with the same":   {[][]Plan{as("c", all), as("a", all), as("b", all)}, [][]Plan{as("a", all), as("b", all)}},
	} {
		got, want := Contained(plansIn(t, savedIn(t, c.saved...), "")), ids(slices.Concat(c.want...))
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %.8s are contained, want %.8s", name, got, want)
		}
	}
}

func TestAPlanOnSomeDataHasNothingOfTheOthers(t *testing.T) {
	whole := resolved(t, "quick", []string{"linear", "teacher-cls"}, "methods")[0]
	narrow := resolved(t, "quick", []string{"linear"}, "methods")[0]
	cells, data := len(whole.Cells), len(whole.Data)
	got := whole.On("linear")
	if !reflect.DeepEqual(got.Cells, narrow.Cells) || !reflect.DeepEqual(got.Data, narrow.Data) || len(got.References) != 0 {
		t.Errorf("%d cells, %d references, data %v; want %d, 0, %v", len(got.Cells), len(got.References), got.Data, len(narrow.Cells), narrow.Data)
	}
	if Digest([]Plan{got}) != Digest([]Plan{narrow}) {
		t.Error("the digest is not that of a run on the data alone")
	}
	if len(whole.Cells) != cells || len(whole.Data) != data || len(whole.References) == 0 {
		t.Error("the plan itself was changed")
	}
	if n := len(whole.On("yacht").Cells); n != 0 {
		t.Errorf("%d cells on a data set that the plan does not use", n)
	}
}

func TestDigestChangesWithEveryKey(t *testing.T) {
	plans := resolved(t, "quick", []string{"linear", "teacher-cls"}, "bottleneck", "classification")
	was := Digest(plans)
	if len(was) != digestLength || strings.Trim(was, "0123456789abcdef") != "" {
		t.Errorf("digest %q: want %d hex digits", was, digestLength)
	}
	study := func(id string) *Study {
		return &plans[slices.IndexFunc(plans, func(p Plan) bool { return p.ID == id })].Study
	}
	for name, key := range map[string]*string{
		"a cell": &study("bottleneck").Cells[0].Key, "exact errors": &study("bottleneck").Exact[0].Key,
		"a reference": &study("classification").References[0].Key,
		"a study":     &plans[0].ID,
	} {
		old := *key
		*key = "other"
		if Digest(plans) == was {
			t.Errorf("%s has another key and the digest is the same", name)
		}
		*key = old
	}
	if Digest(plans) != was {
		t.Error("the digest does not follow from the plans alone")
	}
}

// A user's study may have the id of a built-in one: neither hides the other, and a
// plan without an origin is known by its id.
func TestAUsersStudyIsNotBuiltIn(t *testing.T) {
	own := resolved(t, "quick", []string{"linear"}, "methods")
	users := Plan{Profile: own[0].Profile, Place: 1, Study: own[0].Study, Data: own[0].Data}
	users.Origin = "of a file"
	users.Cells = users.Cells[:1]
	got := Widest(plansIn(t, savedIn(t, own, []Plan{users}), "quick"))
	if len(got) != 2 || !got[0].BuiltIn() || got[1].BuiltIn() {
		t.Errorf("%d plans: want the built-in one and the user's", len(got))
	}
	if got := OnlyBuiltIn(got); len(got) != 1 || got[0].Origin != "" {
		t.Errorf("%d built-in plans, want one", len(got))
	}
	if (Plan{Study: Study{ID: "mine"}}).BuiltIn() {
		t.Error("a plan of an earlier version with a user's id is built in")
	}
}

func TestAFileOfAUsersHasAnOrigin(t *testing.T) {
	dir := t.TempDir()
	text := "id = \"methods\"\nbase = \"methods\"\n"
	path := filepath.Join(dir, "own.toml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, builtIn := range map[string]bool{path: false, "methods": true} {
		f, err := Load(name, Parts{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Study(Profile{Name: "quick"})
		if err != nil {
			t.Fatal(err)
		}
		if f.BuiltIn() != builtIn || (s.Origin == "") != builtIn {
			t.Errorf("%s: built in %t, origin %q: want %t", name, f.BuiltIn(), s.Origin, builtIn)
		}
	}
}

// A stored run is shown as its file says now, unless that cannot be shown of it, or is said of
// another study.
func TestShownAsTheFileSays(t *testing.T) {
	stored := Plan{Study: Study{ID: "own", Origin: "a file", Asks: "this", Title: "As run", Cells: []Job{{Cell: Cell{Observe: Distance, Dataset: "linear", Integrator: "leapfrog", Batches: 4}}}}}
	for what, c := range map[string]struct {
		change func(s *Study)
		shown  bool
	}{
		"title":          {func(*Study) {}, true},
		"figure":         {func(s *Study) { s.Figure = &FigureSpec{X: "friction", Y: "rmse"} }, true},
		"kind":           {func(s *Study) { s.Figure = &FigureSpec{Kind: "paths"} }, false},
		"exact errors":   {func(s *Study) { s.Figure = &FigureSpec{Kind: "orders"} }, false},
		"relative steps": {func(s *Study) { s.Figure = &FigureSpec{X: OnRelative} }, false},
		"table":          {func(s *Study) { s.Table = &TableSpec{Rows: []string{"mass"}} }, false},
		"other jobs":     {func(s *Study) { s.Asks = "that" }, false},
		"another id":     {func(s *Study) { s.ID = "other" }, false},
		"a built-in one": {func(s *Study) { s.ID, s.Origin = "methods", "" }, false},
	} {
		now := stored.Study
		now.Title = "As edited"
		c.change(&now)
		if got := now.Shown([]Plan{stored}, datasets.Builtin())[0]; (got.Title == "As edited") != c.shown || c.shown && got.Figure != now.Figure || stored.Title != "As run" {
			t.Errorf("%s: shown as %q, want the file's words: %v", what, got.Title, c.shown)
		}
	}
}

// A data set may state the step of its reference chains, which then take as much simulation time
// as others; all others are as oracle.NewSpec says.
func TestReferenceSpecs(t *testing.T) {
	for _, d := range datasets.Builtin() {
		usual := oracle.NewSpec(d.Name, 3, d.Model)
		got := ReferenceSpec(d, 3, d.Model, "")
		if d.Name == "naval" {
			if usual.Step, usual.Thin, usual.BurnIn = 0.0025, 500, 20_000; got.ID() == oracle.NewSpec(d.Name, 3, d.Model).ID() {
				t.Error("naval's reference at another step has the usual one's id")
			}
		}
		if got != usual {
			t.Errorf("%s: %+v, want %+v", d.Name, got, usual)
		}
	}
	if got := ReferenceSpec(datasets.Dataset{Name: "own", ReferenceStep: 0.01}, 0, "bnn", "float64"); got.Step != 0.01 || got.Precision != "float64" {
		t.Errorf("%+v", got)
	}
}
