package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hambench/models"
	"hambench/models/datasets"
	"hambench/usage"
)

// load reads a study of a text, whose base may be another one's.
func load(t testing.TB, text string) (*File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Load(path, Parts{})
}

// studyOf is the study of a text.
func studyOf(t *testing.T, text string) Study {
	t.Helper()
	f, err := Parse("own", []byte(text), Parts{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Study(Profile{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// studyIn is the study of a text in a profile.
func studyIn(t *testing.T, text string, p Profile) Study {
	t.Helper()
	f, err := load(t, text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Study(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// cellsOf are its cells.
func cellsOf(t *testing.T, text string, p Profile) []Job {
	t.Helper()
	return studyIn(t, text, p).Cells
}

// A byte order mark and carriage returns, with which editors of Windows save, are no part of a file.
func TestFilesOfWindows(t *testing.T) {
	text := "[fix]\ndata = \"teacher-reg\"\nintegrator = \"leapfrog\"\nstep = 0.005\n"
	want, got := cellsOf(t, text, Profile{}), cellsOf(t, "\ufeff"+strings.ReplaceAll(text, "\n", "\r\n"), Profile{})
	if len(want) != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("cells %+v, want %+v", got, want)
	}
}

func TestRangesOfSteps(t *testing.T) {
	for text, want := range map[string][]any{
		"0.1 .. 0.4":             {0.1, 0.2, 0.4},
		"0.4 .. 0.1":             {0.4, 0.2, 0.1},
		"1 .. 1":                 {1.0},
		"1 .. 10 by 3":           {1.0, 3.0, 9.0},
		"stable/8 .. stable":     {"stable/8", "stable/4", "stable/2", "stable/1"},
		"stable/2 .. stable / 8": {"stable/2", "stable/4", "stable/8"},
	} {
		if got, err := steps(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v: want %v", text, got, err, want)
		}
	}
}

const small = `
[vary]
step = [0.01, 0.02]
[fix]
data = "linear"
integrator = "leapfrog"
samples = 10
[profile.other]
samples = 20
step = 0.05
`

// A block that states values of [vary] as decimals states the same values.
func TestWholeNumbersAndDecimalsAreTheSame(t *testing.T) {
	text := strings.Replace(small, "[vary]", "[[grid]]\nfriction = [1.0, 5.0]\n[vary]\nfriction = [1, 5]", 1)
	if n := len(cellsOf(t, text, Profile{})); n != 4 {
		t.Errorf("%d cells: want 4", n)
	}
}

// What a flag of the run states has no line: a mistake that shows there has that of the data.
func TestMistakesBehindFlagsHaveALine(t *testing.T) {
	f, err := load(t, "[fix]\ndata = \"linear\"\nintegrator = \"leapfrog\"\nstep = 0.05\nobserve = \"learning\"\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Profile{{}, {Precision: "float64"}, {Repeat: 2}} {
		if _, err := f.Study(p); !errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), "cell observes learning with start") {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if err := f.Takes(Profile{Precision: "float64"}); err == nil || !strings.Contains(err.Error(), "mine.toml:2: fix.data: cell observes learning") {
		t.Error(err)
	}
}

// Integrators may have a parameter of the same name: as an axis it is one.
func TestAnUnknownAxisListsEachAxisOnce(t *testing.T) {
	_, err := load(t, small+"[figure]\nx = \"stp\"\n")
	if err == nil || strings.Count(err.Error(), "thermal-mass") != 1 {
		t.Errorf("error %v: want thermal-mass once", err)
	}
}

// A number of samples that no block takes would stand in captions alone.
func TestSamplesOfARunReachABlock(t *testing.T) {
	for blocks, taken := range map[string]bool{
		"": true, "[[grid]]\nsamples = 20\n": false, "[[grid]]\nsamples = 20\n[[grid]]\nfriction = 2\n": true,
		"[[profile.other.grid]]\nsamples = 20\n": false,
	} {
		f, err := load(t, small+blocks)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Takes(Profile{Name: "other", Samples: 33}); (err == nil) != taken {
			t.Errorf("%q: %v", blocks, err)
		} else if err != nil && (!errors.As(err, new(*usage.Error)) || !strings.Contains(err.Error(), "--samples 33: every block of")) {
			t.Errorf("%q: %v", blocks, err)
		}
	}
}

// What makes one chain has one key, or it would be computed twice.
func TestThePlainEstimatorTypedOutIsTheOneLeftOut(t *testing.T) {
	typed := cellsOf(t, small+"[[grid]]\nestimator = \"plain\"\n", Profile{})
	if left := cellsOf(t, small, Profile{}); len(typed) != len(left) || typed[0].Key != left[0].Key {
		t.Errorf("%+v is not %+v", typed[0], left[0])
	}
}

// What stands in a block goes before the profile, that before [vary] and [fix];
// what the run changes goes before all.
func TestLayersOfAStudy(t *testing.T) {
	for _, c := range []struct {
		name, text string
		profile    Profile
		want       []Cell // by step, samples and seed
	}{
		{"as it is", small, Profile{}, []Cell{{Step: 0.01, Samples: 10, Seed: 1}, {Step: 0.02, Samples: 10, Seed: 1}}},
		{"profile", small, Profile{Name: "other"}, []Cell{{Step: 0.05, Samples: 20, Seed: 1}}},
		{"block", small + "[[grid]]\nsamples = 30\n", Profile{Name: "other"}, []Cell{{Step: 0.05, Samples: 30, Seed: 1}}},
		{"block of the profile", small + "[[profile.other.grid]]\nstep = 0.5\n", Profile{Name: "other"}, []Cell{{Step: 0.5, Samples: 20, Seed: 1}}},
		{"what blocks share once", small + "[[grid]]\n[[grid]]\nstep = 0.01\n", Profile{}, []Cell{{Step: 0.01, Samples: 10, Seed: 1}, {Step: 0.02, Samples: 10, Seed: 1}}},
		{"samples in place of a profile's", small, Profile{Name: "other", Samples: 7}, []Cell{{Step: 0.05, Samples: 7, Seed: 1}}},
		{"samples that no profile has", strings.Replace(small, "samples = 20\n", "", 1), Profile{Name: "other", Samples: 7}, []Cell{{Step: 0.05, Samples: 10, Seed: 1}}},
		{"repetitions", small, Profile{Name: "other", Repeat: 2, SeedFrom: 5}, []Cell{{Step: 0.05, Samples: 20, Seed: 5}, {Step: 0.05, Samples: 20, Seed: 6}}},
		{"splits of a set with one are seeds", strings.Replace(small, "[fix]", "[fix]\nsplits = 1", 1), Profile{Name: "other", Splits: 2}, []Cell{{Step: 0.05, Samples: 20, Seed: 1}, {Step: 0.05, Samples: 20, Seed: 2}}},
	} {
		var got []Cell
		for _, j := range cellsOf(t, c.text, c.profile) {
			got = append(got, Cell{Step: j.Cell.Step, Samples: j.Cell.Samples, Seed: j.Cell.Seed})
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v: want %+v", c.name, got, c.want)
		}
	}
}

// A block's own list of splits holds those of them that a run has.
func TestSplitsOfABlock(t *testing.T) {
	text := strings.Replace(small, "\"linear\"", "\"boston\"\nsplits = 1", 1) + "splits = 5\n[[grid]]\nsplit = [0, 1]\n[[grid]]\nsplit = [2, 4]\nfriction = 1\n"
	for _, c := range []struct {
		profile Profile
		want    []int
	}{
		{Profile{}, []int{0, 0}},
		{Profile{Name: "other"}, []int{0, 1, 2, 4}},
		{Profile{Name: "other", Splits: 3}, []int{0, 1, 2}},
	} {
		var got []int
		for _, j := range cellsOf(t, text, c.profile) {
			got = append(got, j.Cell.Split)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: splits %v, want %v", c.profile, got, c.want)
		}
	}
}

// A batch size that leaves a single batch is the full batch, which has its own name.
func TestBatchesThatDoNotCutTheRows(t *testing.T) {
	cells := cellsOf(t, small+"[[grid]]\nbatch = [32, 1000]\n", Profile{})
	for _, j := range cells {
		if j.Cell.BatchSize != 32 {
			t.Errorf("batch size %d: want 32 alone", j.Cell.BatchSize)
		}
	}
	if len(cells) != 2 {
		t.Errorf("%d cells: want 2", len(cells))
	}
}

func TestAStudyTakesFromItsBaseWhatItDoesNotSay(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"base.toml": "title = \"Base\"\n" + small, "sub/mine.toml": "base = \"../base.toml\"\n[vary]\nfriction = [1, 2]\n[fix]\nstep = 0.1\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Load(filepath.Join(dir, "sub/mine.toml"), Parts{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Study(Profile{})
	if err != nil || s.Title != "Base" || len(s.Cells) != 2 || s.Cells[1].Cell.Friction != 2 || s.Cells[1].Cell.Step != 0.1 || s.Cells[1].Cell.Samples != 10 {
		t.Errorf("%+v, %v: want two frictions at step 0.1 with the base's 10 samples", s.Cells, err)
	}
	if !slices.Equal(f.Profiles(), []string{"other"}) {
		t.Errorf("profiles %v: want the base's", f.Profiles())
	}
}

// The largest stable step is estimated once for each kind of chain, and not at all
// where an earlier run has fixed it.
func TestRelativeStepsFollowTheStableOne(t *testing.T) {
	text := strings.Replace(small, "[0.01, 0.02]", `"stable/2 .. stable"`, 1)
	var missing []Cell
	p := Profile{Missing: func(c Cell) { missing = append(missing, c) }}
	if jobs := cellsOf(t, text, p); len(jobs) != 2 || jobs[0].Relative != 0.5 || len(missing) == 0 {
		t.Fatalf("%+v, of which %d are missing", jobs, len(missing))
	}
	keys := Keys{Source: models.NewSource(nil, &datasets.Resolver{})}
	told := 0
	var err error
	p.Known, err = keys.StableSteps(t.Context(), missing, 2, func(c Cell, h float64, left int) { told += 1 + left })
	if err != nil || len(p.Known) != 1 || told != 1 {
		t.Fatalf("stable steps %v, told of %d, %v: want one", p.Known, told, err)
	}
	for of, h := range p.Known {
		if digits := fmt.Sprintf("%.3g", h); digits != fmt.Sprint(h) {
			t.Errorf("stable step %v: want three digits", h)
		}
		missing, p.Known[of] = nil, 0.123
	}
	jobs := cellsOf(t, text, p)
	if jobs[0].Cell.Step != 0.0615 || jobs[1].Cell.Step != 0.123 || len(missing) != 0 {
		t.Errorf("%+v, of which %d are missing: want steps 0.0615 and 0.123", jobs, len(missing))
	}
	// [stable] has other chains follow this one's; another chain's is not known.
	other := strings.Replace(text, `integrator = "leapfrog"`, `integrator = "mt3"`, 1)
	for follows, want := range map[string]int{"[stable]\nintegrator = \"leapfrog\"\n": 0, "": 2,
		"[stable]\nintegrator = \"leapfrog\"\nfriction = 1\n": 2} {
		missing = nil
		if jobs := cellsOf(t, other+follows, p); len(missing) != want || want == 0 && jobs[1].Cell.Step != 0.123 {
			t.Errorf("%q: %+v, of which %d are missing: want %d", follows, jobs, len(missing), want)
		}
	}
	missing = nil
	if cellsOf(t, other+"[stable]\nintegrator = { name = \"mt3\", w2-variance = 1 }\n", p); len(missing) == 0 || missing[0].Values["w2-variance"] != 1 {
		t.Errorf("missing %+v: want chains of the integrator with its parameter", missing)
	}
	// What the first run found is found again, of a chain that is no cell, too.
	for _, text := range []string{text, other + "[stable]\nintegrator = \"leapfrog\"\n"} {
		s := studyIn(t, text, p)
		plans, err := keys.Resolve(t.Context(), "", []Study{s})
		if err != nil {
			t.Fatal(err)
		}
		again := plansIn(t, savedIn(t, plans), "")
		if got := keys.Known(t.Context(), again, "linear"); !reflect.DeepEqual(got, p.Known) {
			t.Errorf("%s\nknown %v, want %v", text, got, p.Known)
		}
		again[0].Cells[0].Key, again[0].Cells[1].Key = "of other data", "of other data"
		if got := keys.Known(t.Context(), again, "linear"); len(got) > 0 {
			t.Errorf("%v is known of other data", got)
		}
	}
	for text, want := range map[string]string{
		text + "[stable]\nseed = 3\n":           "stable.seed: is each cell's own",
		text + "[stable]\nsamples = 3\n":        "stable.samples: is each cell's own",
		text + "[stable]\nstart = \"prior\"\n":  "stable.start: is each cell's own",
		text + "[stable]\nmodel = \"linear\"\n": "stable.model: is each cell's own",
		text + "[stable]\nhidden = [3]\n":       "stable.hidden: is",
		text + "[stable]\nthin = 3\n":           "stable.thin: is each cell's own",
		text + "[stable]\nburn = 3\n":           "stable.burn: is each cell's own",
		small + "[stable]\nfriction = 3\n":      "stable: changes nothing: no step is relative",
		text + "[stable]\nfriction = [1, 2]\n":  "stable.friction: is a list: want one value",
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	missing = nil
	// A temperature scales the force, and the step with it.
	cellsOf(t, strings.Replace(text, "samples = 10", "samples = 10\ntemperature = 4", 1), p)
	hot, err := keys.StableSteps(t.Context(), missing, 2, func(Cell, float64, int) {})
	if err != nil || len(hot) != 1 {
		t.Fatalf("at another temperature: %v, %v", hot, err)
	}
	for of := range hot {
		if _, same := p.Known[of]; same {
			t.Errorf("%s stands for two temperatures", of)
		}
	}
}

// A mistake is reported with the line of its key, in tables and arrays of tables, within
// braces and below headers with dots.
func TestLinesOfKeys(t *testing.T) {
	lines := linesOf([]byte("id = 1\n[fix]\n step = 2 # a = b\n[[grid]]\nbatch = [\n  8,\n]\n[[grid]]\n" +
		"\"step\" = 3\n[profile.quick]\nsamples = 4\n[[profile.quick.grid]]\nnl = 5\n" +
		"[[claim]]\nid = \"a = b\"\n[claim.where]\nstep = 6\n" +
		// Lines within a list or a text look like headers and keys, and are none.
		"[vary]\nhidden = [\n  [50, 50],\n  [10],\n]\ntitle = \"\"\"\n[table]\nnl = 2\n\"\"\"\nnl = 5\n"))
	for path, want := range map[string]int{
		"id": 1, "fix": 2, "fix.step": 3, "grid.0": 4, "grid.0.batch": 5, "grid.1": 8,
		"grid.1.step": 9, "profile.quick": 10, "profile.quick.samples": 11,
		"profile.quick.grid.0.nl": 13, "claim.0.id": 15, "claim.0.where.step": 17,
		"vary": 18, "vary.hidden": 19, "vary.nl": 27, "table": 0, "50, 50": 0,
	} {
		if lines[path] != want {
			t.Errorf("%s: line %d, want %d", path, lines[path], want)
		}
	}
	p := place{&document{file: "f", lines: lines}, "grid.1.step.name"}
	if got := p.errorf("wrong").Error(); got != "f:9: grid.1.step.name: wrong" {
		t.Errorf("within braces: %s", got)
	}
}

// FuzzLoad: whatever stands in a file, it is a study, or one line says why not.
func FuzzLoad(f *testing.F) {
	f.Add(small)
	for _, id := range []string{"bottleneck", "paths", "toy"} { // large grids take long
		s, err := Load(id, Parts{})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(strings.Replace(string(s.Text), "boston", "linear", 1))
	}
	f.Add("[[grid]]\ndata = \"toy\"\n[data]\nx = 1\n[profile]\nq = [1]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "file") || strings.Contains(text, ".json") || strings.Contains(text, ".toml") {
			return // of files that others have
		}
		file, err := load(t, text)
		for _, name := range append([]string{""}, file.profileNames(err)...) {
			if err == nil {
				_, err = file.Study(Profile{Name: name})
			}
		}
		var mistake *usage.Error
		if err != nil && (!errors.As(err, &mistake) || strings.Contains(err.Error(), "\n")) {
			t.Fatalf("%q: %v: want a usage error of one line", text, err)
		}
	})
}

// profileNames are those of a file that could be read.
func (f *File) profileNames(err error) []string {
	if err != nil {
		return nil
	}
	return f.Profiles()
}

// What a file asks is told by its values, those of its base and of its profile: not by its words
// about them, nor by other profiles. Built-in studies do not say.
func TestFilesThatAskTheSame(t *testing.T) {
	asks := func(text, profile string) string {
		t.Helper()
		f, err := load(t, text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Study(Profile{Name: profile})
		if err != nil {
			t.Fatal(err)
		}
		return s.Asks
	}
	replaced := func(old, with string) string { return strings.Replace(small, old, with, 1) }
	for what, c := range map[string]struct {
		text, profile string
		same          bool
	}{
		"itself":          {small, "", true},
		"words":           {"title = \"T\"\n# text\n" + replaced("samples = 10", "samples  =  10") + "[table]\nrows = [\"step\"]\n", "", true},
		"another profile": {replaced("samples = 20", "samples = 30"), "", true},
		"steps":           {replaced("0.02", "0.03"), "", false},
		"infinity":        {replaced("\"leapfrog\"", "\"lietrotter\"\nfriction = inf"), "", false},
		"its profile":     {replaced("samples = 20", "samples = 30"), "other", false},
	} {
		if got := asks(c.text, c.profile) == asks(small, c.profile); got != c.same {
			t.Errorf("%s: asks the same: %v, want %v", what, got, c.same)
		}
	}
	if asks(small, "") == asks(small, "other") || asks("base = \"methods\"\n"+small, "") == asks(small, "") {
		t.Error("a profile, or a base, makes no difference")
	}
	if f, err := Load("methods", Parts{}); err != nil || f.asks("") != "" {
		t.Errorf("a built-in study: %q, %v", f.asks(""), err)
	}
}

// Blocks and profiles of a base hold settings that its other files state: a file of its own
// would run them unasked, in place of what it says.
func TestWhatAFileStatesGoesBeforeItsBase(t *testing.T) {
	const text = "base = \"methods\"\n[vary]\ndata = [\"linear\"]\nintegrator = [\"leapfrog\"]\n" +
		"K = [4]\nstep = [0.03]\n"
	for _, name := range []string{"", "quick", "standard"} {
		jobs := cellsOf(t, text, Profile{Name: name})
		if len(jobs) != 1 || jobs[0].Cell.Step != 0.03 || jobs[0].Cell.Batches != 4 {
			t.Errorf("%q: %+v, want one cell of four batches at 0.03", name, jobs)
		}
	}
	folder := t.TempDir()
	base := "[vary]\ndata = [\"linear\"]\n[fix]\nintegrator = \"leapfrog\"\nfriction = 5\nsamples = 10\n[[grid]]\nbatch = [8]\nstep = [0.01, 0.02]\n[[profile.quick.grid]]\nbatch = 4\nstep = 0.5\nfriction = 2\n[profile.short]\nsamples = 9\n"
	if err := os.WriteFile(filepath.Join(folder, "base.toml"), []byte(base), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text, profile string
		steps         []float64
		batch         int
	}{
		{"[profile.short]\nstep = 0.4\n", "short", []float64{0.4}, 8},
		{"[profile.own]\nstep = 0.4\n", "own", []float64{0.4}, 8},
		{"[profile.own]\nstep = 0.4\n", "", []float64{0.01, 0.02}, 8},
		{"[profile.own]\nstep = 0.4\n", "quick", []float64{0.5}, 4},
		{"[[grid]]\nbatch = [16]\nstep = 0.3\n", "quick", []float64{0.3}, 16},
		{"[[grid]]\nbatch = [16]\nstep = 0.3\n", "short", []float64{0.3}, 16},
		{"[profile.quick]\nbatch = 32\n", "quick", []float64{0.5}, 32},
	} {
		path := filepath.Join(folder, "mine.toml")
		if err := os.WriteFile(path, []byte("base = \"base.toml\"\n"+c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := Load(path, Parts{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Study(Profile{Name: c.profile})
		if err != nil {
			t.Fatal(err)
		}
		var steps []float64
		for _, j := range s.Cells {
			if steps = append(steps, j.Cell.Step); j.Cell.BatchSize != c.batch {
				t.Errorf("%s in %q: batches of %d, want %d", c.text, c.profile, j.Cell.BatchSize, c.batch)
			}
		}
		if !slices.Equal(steps, c.steps) {
			t.Errorf("%s in %q: steps %v, want %v", c.text, c.profile, steps, c.steps)
		}
	}
	for reference, want := range map[string][2]float64{
		"": {100, 0.03}, "[reference]\nsamples = 777\n": {777, 0.03}, "[reference]\nsamples = 777\nerror = 0.001\n": {777, 0.001},
		"[reference]\nsamples = 777\nerror = 0.001\n[profile.quick.reference]\nerror = 0.002\n": {777, 0.002},
	} {
		f, err := load(t, "base = \"methods\"\n[vary]\ndata = [\"teacher-reg\"]\nintegrator = [\"leapfrog\"]\nK = [4]\nstep = [0.03]\n"+reference)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Study(Profile{Name: "quick"})
		if err != nil || len(s.References) != 1 {
			t.Fatalf("%+v, %v: want one reference", s.References, err)
		}
		if spec := s.References[0].Spec; float64(spec.Samples) != want[0] || spec.MaxError != want[1] {
			t.Errorf("%q: %d samples, error %v: want %v", reference, spec.Samples, spec.MaxError, want)
		}
	}
	own := cellsOf(t, text+"[profile.quick]\nstep = [0.04, 0.05]\n", Profile{Name: "quick"})
	if len(own) != 2 || own[0].Cell.Step != 0.04 || own[1].Cell.Step != 0.05 {
		t.Errorf("%+v, want the profile's own steps", own)
	}
}

// Values that no manifest can state are refused, and those that only a run knows are not; a seed
// keeps its digits in the store, too.
func TestValuesOfClaims(t *testing.T) {
	claim := func(where string) string {
		return "[[claim]]\nid = \"c\"\ntext = \"C.\"\nwhere = {" + where + "}\nstatistic = \"mean\"\nof = \"distance\"\nbetween = [0, 1]\n"
	}
	seeded := strings.Replace(small, "samples = 10", "samples = 10\nseed = 4503599627370497000", 1)
	relative := strings.Replace(strings.Replace(small, "[0.01, 0.02]", `"stable/2 .. stable"`, 1), "step = 0.05\n", "", 1)
	for text, want := range map[string]string{
		small + claim("rmse = nan"):                  "where.rmse: is NaN: want a number, or inf",
		small + claim("rmse = -inf"):                 "where.rmse: is -Inf: want a number, or inf",
		small + claim("rmse = inf"):                  "",
		small + claim("seed = 1"):                    "",
		small + claim("seed = 2"):                    "where.seed: no row of the study has 2: want one of [1]",
		small + claim("step = 0.03"):                 "where.step: no row of the study has 0.03",
		small + claim("thin = 3"):                    "where.thin: no row of the study has 3",
		seeded + claim("seed = 4503599627370497000"): "",
		strings.ReplaceAll(seeded, "7000", "7001") + claim("seed = 4503599627370497000"): "where.seed: no row of the study has 4503599627370497000",
		relative + claim("step = 0.03"):        "",
		relative + claim("thin = 3, burn = 4"): "",
		relative + claim("relative = 0.5"):     "",
		relative + claim("relative = 0.3"):     "where.relative: no row of the study has 0.3",
	} {
		if _, err := load(t, text); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
	const large = int64(1)<<53 + 1
	in := DataClaim{ID: "c", Where: map[string][]any{"seed": {large, 7.0}, "budget": {1e16, 0.5}, "friction": {"inf"}, "diverged": {true}}, Between: [2]Real{0, 1}}
	text, err := json.Marshal(in)
	var out DataClaim
	if err != nil || json.Unmarshal(text, &out) != nil || !reflect.DeepEqual(out, in) {
		t.Errorf("%s, %v: %+v, want %+v", text, err, out, in)
	}
}

// A copy of any built-in study is a study, wherever it is: its problems may be in a file of the program.
func TestACopyOfABuiltInStudyIsRead(t *testing.T) {
	dir := t.TempDir()
	for _, id := range builtInIDs() {
		own, err := Load(id, Parts{})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "my-"+id+".toml")
		if err := os.WriteFile(path, own.Text, 0o600); err != nil {
			t.Fatal(err)
		}
		copied, err := Load(path, Parts{})
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if digest(copied.exact) != digest(own.exact) || len(copied.files) > 0 {
			t.Errorf("%s: another study is read from a copy, or it needs files: %v", id, copied.files)
		}
	}
	// A file beside the copy goes before the program's, and what neither has is missing.
	for name, want := range map[string]string{"curvatures.json": "", "none.json": "problems of none.json: "} {
		path := filepath.Join(dir, "own.toml")
		text := fmt.Sprintf("[[exact]]\nproblem = %q\nintegrator = \"leapfrog\"\nscheme = \"full\"\n", name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.WriteFile(filepath.Join(dir, "curvatures.json"), []byte(`{"mine": {"kind": "gaussian", "friction": 1, "batches": [{"precision": [[1]], "shift": [0]}, {"precision": [[2]], "shift": [1]}]}}`), 0o600)); err != nil {
			t.Fatal(err)
		}
		f, err := Load(path, Parts{})
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v: want %q", name, err, want)
			}
			continue
		}
		if err != nil || len(f.exact) == 0 || f.exact[0].Exact.Name != "mine" || len(f.files) != 1 {
			t.Errorf("%s beside the study is not read: %v", name, err)
		}
	}
}
