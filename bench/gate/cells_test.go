package gate

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hambench/usage"
)

const cellHeader = "experiment,dataset,split,integrator,nl,friction,scheme,K,batch,h,ks,ks_self,diverged,steps,gradients,seconds,key\n"

func cellLine(split int, ks float64, diverged bool) string {
	return fmt.Sprintf("methods,boston,%d,leapfrog,1,5,reshuffle,57,8,0.005,%g,0.08,%v,1000,1000,0.5,abc\n", split, ks, diverged)
}

// splitsOf is an export of one cell, split by split.
func splitsOf(ks ...float64) string {
	s := cellHeader
	for i, v := range ks {
		s += cellLine(i, v, false)
	}
	return s
}

// The noise of a distance is that of one run. Ten thousand changes between two runs tell it with a
// standard error of 0.7 %: 3.5 % are five of these, once in a million seeds.
func TestNoiseOfACellIsThatOfOneDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	old, new := make([]float64, 10_000), make([]float64, 10_000)
	for i := range old {
		old[i], new[i] = 0.5+0.1*rng.NormFloat64(), 0.5+0.1*rng.NormFloat64()
	}
	if c := compareDistances(old, new, 0.05, 0.01); math.Abs(c.sd-0.1) > 0.0035 {
		t.Errorf("noise %.4f, want 0.1", c.sd)
	}
}

func TestCellsMovePassOrCannotBeDecided(t *testing.T) {
	five := splitsOf(0.10, 0.11, 0.12, 0.13, 0.14)
	shifted := func(by float64) string { return splitsOf(0.10+by, 0.11+by, 0.12+by, 0.13+by, 0.14+by) }
	json := func(ks float64) string {
		return fmt.Sprintf(`[{"experiment":"m","dataset":"b","split":0,"integrator":"euler","scheme":"full","friction":null,"h":0.1,"ks":%g,"diverged":false,"gradients":10,"seconds":1}]`, ks)
	}
	precisions := func(ks float64) string {
		line := "precision,boston,0,leapfrog,1,5,reshuffle,57,8,0.005,%g,0.08,false,1000,1000,0.5,%s\n"
		return cellHeader + fmt.Sprintf(line, 0.1, "a") + fmt.Sprintf(line, ks, "b")
	}
	withPrecision := func(single, double float64) string {
		line := "precision,boston,0,%s,leapfrog,1,5,reshuffle,57,8,0.005,%g,0.08,false,1000,1000,0.5,%s\n"
		return strings.Replace(cellHeader, "split,", "split,precision,", 1) + fmt.Sprintf(line, "float32", single, "a") + fmt.Sprintf(line, "float64", double, "b")
	}
	thinned := func(thin ...string) (s string) {
		s = strings.Replace(cellHeader, "split,", "split,thin,", 1)
		for _, t := range thin {
			s += fmt.Sprintf("mine,boston,0,%s,leapfrog,1,5,reshuffle,57,8,0.005,0.%s,0.08,false,1000,1000,0.5,\n", t, t)
		}
		return s
	}
	density := cellHeader + "paths,logistic,0,,0,,,0,0,0,0,0,false,0,0,0,k\n"
	for _, c := range []struct {
		reason, old, new string
		want             int
	}{
		{"the same", five, five, 0},
		{"worse in all splits", five, shifted(0.1), 1},
		{"worse in one split of five", five, splitsOf(0.10, 0.11, 0.3, 0.13, 0.14), 1},
		{"from 0.1 to 0.9 in all of five splits", splitsOf(0.10, 0.101, 0.102, 0.103, 0.104), splitsOf(0.9, 0.901, 0.902, 0.903, 0.904), 1},
		{"worse by less than what counts", five, shifted(0.005), 0},
		{"thinning tells cells apart", thinned("1", "9"), thinned("9", "1"), 0},
		{"better", shifted(0.1), five, 0},
		{"one split, far worse", splitsOf(0.1), splitsOf(0.2), 1},
		{"one split, within the noise of what counts", splitsOf(0.1), splitsOf(0.12), 3},
		{"one split, near the limit of stability", splitsOf(0.4), splitsOf(0.7), 3},
		{"now diverges", splitsOf(0.1), cellHeader + cellLine(0, 1, true), 1},
		{"diverges no more", cellHeader + cellLine(0, 1, true), splitsOf(0.1), 0},
		{"diverges in another split", cellHeader + cellLine(0, 1, true) + cellLine(1, 0.1, false),
			cellHeader + cellLine(0, 0.1, false) + cellLine(1, 1, true), 3},
		{"a split is missing", five, splitsOf(0.10, 0.11, 0.12, 0.13), 1},
		{"a cell is missing", splitsOf(0.1), cellHeader + strings.Replace(cellLine(0, 0.1, false), "boston", "yacht", 1), 1},
		{"JSON rows", json(0.1), json(0.3), 1},
		{"JSON rows, one after another", strings.Trim(json(0.1), "[]"), strings.Trim(json(0.1), "[]"), 0},
		{"CSV and JSON", strings.Replace(cellHeader, ",nl,", ",", 1) + "m,b,0,euler,inf,full,,,0.1,0.1,,false,,10,1,\n", json(0.1), 0},
		{"an export without the column precision, one of two worse", precisions(0.1), precisions(0.2), 1},
		{"float32 worse", withPrecision(0.1, 0.1), withPrecision(0.2, 0.1), 1},
		{"float64 worse", withPrecision(0.1, 0.1), withPrecision(0.1, 0.2), 1},
		{"with and without the column precision", precisions(0.1), withPrecision(0.1, 0.1), 0},
		{"a row without a chain", density, density, 0},
	} {
		r := compared(t, c.old, c.new, Options{})
		if got := outcome(r); got != c.want {
			t.Errorf("%s: exit code %d, want %d: %+v %+v", c.reason, got, c.want, r.Moved, r.Undecided)
		}
	}
}

// An integrator at its defaults has no text of its parameters, in CSV and JSON: one with others is
// another one, whatever the order of the rows.
func TestParametersTellCellsApart(t *testing.T) {
	type cell struct {
		parameters string
		ks         float64
	}
	csv := func(cells ...cell) string {
		s := strings.Replace(cellHeader, "integrator,", "integrator,parameters,", 1)
		for _, c := range cells {
			s += fmt.Sprintf("gp,a,0,mt3,%s,1,5,reshuffle,57,8,0.005,%g,0.08,false,1000,1000,0.5,\n", c.parameters, c.ks)
		}
		return s
	}
	json := func(cells ...cell) string {
		var rows []string
		for _, c := range cells {
			parameters := "null"
			if c.parameters != "" {
				parameters = strconv.Quote(c.parameters)
			}
			rows = append(rows, fmt.Sprintf(`{"experiment":"gp","dataset":"a","split":0,"integrator":"mt3","parameters":%s,"nl":1,"friction":5,`+
				`"scheme":"reshuffle","K":57,"batch":8,"h":0.005,"ks":%g,"ks_self":0.08,"diverged":false}`, parameters, c.ks))
		}
		return "[" + strings.Join(rows, ",") + "]"
	}
	plain := cell{"", 0.1}
	for name, write := range map[string]func(...cell) string{"CSV": csv, "JSON": json} {
		both := write(cell{"w2-variance=2", 0.5}, plain)
		for what, r := range map[string]*Report{
			"a new variant first":    compared(t, csv(plain), both, Options{}),
			"the variants exchanged": compared(t, csv(plain, cell{"w2-variance=2", 0.5}), both, Options{}),
		} {
			if r.Err() != nil || strings.Contains(strings.Join(r.Notes, "\n"), "parameters: no cells") {
				t.Errorf("%s, %s: %+v, notes %q", name, what, r.Moved, r.Notes)
			}
		}
		if r := compared(t, csv(plain), write(cell{"w2-variance=2", 0.1}, cell{"", 0.5}), Options{}); outcome(r) != 1 {
			t.Errorf("%s: a regression behind another variant is not seen: %+v", name, r)
		}
	}
}

// What the machine was is noted where both runs state it.
func TestDifferentMachinesAreNoted(t *testing.T) {
	on := func(isa string) string {
		header := strings.Replace(cellHeader, "split,", "split,arch,isa,", 1)
		return header + strings.Replace(cellLine(0, 0.1, false), ",0,", ",0,amd64,"+isa+",", 1)
	}
	notes := strings.Join(compared(t, on("avx2"), on("avx512"), Options{}).Notes, "\n")
	if notes != "isa differs: avx2 in the old run, avx512 in the new one" {
		t.Errorf("notes %q", notes)
	}
}

// Numbers are compared by value, however they are written.
func TestCellsAreIdentifiedByValue(t *testing.T) {
	old := splitsOf(0.1)
	if r := compared(t, old, strings.Replace(old, ",0.005,", ",5e-3,", 1), Options{}); len(r.Moved) > 0 {
		t.Errorf("0.005 and 5e-3: %+v", r.Moved)
	}
	if r := compared(t, old, strings.Replace(old, "boston,0,", "boston,0.0,", 1), Options{}); r.Err() != nil || r.Equal != 1 {
		t.Errorf("splits 0 and 0.0: %+v", r)
	}
	quoted := `"` + strings.ReplaceAll(strings.Replace(strings.TrimSpace(cellHeader), ",", `","`, -1), "\n", "") + "\"\n"
	if r := compared(t, old, strings.Replace(old, cellHeader, quoted, 1), Options{}); r.Err() != nil || r.Equal != 1 {
		t.Errorf("a quoted header: %+v", r)
	}
	if r := compared(t, old, strings.Replace(old, ",0.005,", ",0.006,", 1), Options{}); len(r.Moved) != 1 || len(r.Notes) != 1 {
		t.Errorf("0.005 and 0.006: %+v %v; want a missing cell and a new one", r.Moved, r.Notes)
	}
}

// As many splits as the gate asks for decide, with the noise that it assumes; one less
// does not.
func TestAsManySplitsAsAskedForDecide(t *testing.T) {
	c := compareDistances([]float64{0.4, 0.5, 0.6}, []float64{0.2, 0.9, 0.85}, 0.085, 0.03)
	more := c.more(0.05)
	enough, short := c.smallest(0.05, more), c.smallest(0.05, more-1)
	if more < 2 || enough > c.effect || short <= c.effect {
		t.Errorf("%d more splits show a change of %g, one less of %g; want %g", more, enough, short, c.effect)
	}
}

// A change of the stated size is found in nine of ten runs, also where few splits estimate the
// noise and many cells are tested: of 20 000 runs each, 0.9 to 0.94, with four standard errors of
// chance (0.0085), which no one of the nine exceeds but once in 3000 times.
func TestTheSmallestChangeIsFoundInNineOfTenRuns(t *testing.T) {
	const runs = 20_000
	rng := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{3, 5, 10} {
		for _, cells := range []float64{1, 10, 100} {
			c := comparison{sd: 1, n: n}
			level, found := 0.05/cells, 0
			q, by := c.quantile(level, 0), c.smallest(level, 0)/c.se(0)
			for range runs {
				var square float64
				for range n - 1 {
					square += math.Pow(rng.NormFloat64(), 2)
				}
				if by+rng.NormFloat64() > q*math.Sqrt(square/float64(n-1)) {
					found++
				}
			}
			share := float64(found) / runs
			t.Logf("%d splits, %g cells: found in %.3f", n, cells, share)
			if share < 0.9-0.0085 || share > 0.94+0.0085 {
				t.Errorf("%d splits, %g cells: found in %.3f of runs, want 0.9 to 0.94", n, cells, share)
			}
		}
	}
}

// One split at 0.5 has noise that is taken to be 0.5: a mean of n shows 1.05 times 0.02·5, where
// 0.525 is the mean distance, at 5 % with 0.9 if n is 2(0.5·2.926/0.105)² = 388.4, so with 388 more;
// a quarter of it with 6213, which is beyond the search: the report asks for no number that does
// not decide.
func TestNoNumberIsAskedForThatDoesNotDecide(t *testing.T) {
	for distance, want := range map[float64]string{0.02: "388", 0.005: "more than 1000"} {
		r := compared(t, splitsOf(0.5), splitsOf(0.55), Options{Distance: distance})
		var b strings.Builder
		if err := r.Write(&b); err != nil || len(r.Undecided) != 1 || !strings.Contains(b.String(), " "+want+" ") ||
			!strings.Contains(fmt.Sprint(r.Err()), ": run "+want+" further splits") {
			t.Errorf("%v, %v, want %s:\n%s", err, r.Err(), want, &b)
		}
	}
}

// TestHolm: Holm's own procedure on a worked example.
func TestHolm(t *testing.T) {
	p := []float64{0.01, 0.04, 0.03, 0.005}
	got, _ := holm(p, 0.05)
	// Sorted 0.005 ≤ 0.0125, 0.01 ≤ 0.0167, 0.03 > 0.025: stop.
	for i, want := range []bool{true, false, false, true} {
		if got[i] != want {
			t.Errorf("p = %v: rejected %v, want %v", p[i], got[i], want)
		}
	}
}

// TestFiguresTablesAreNoExports: they are told apart by name.
func TestFiguresTablesAreNoExports(t *testing.T) {
	paths, err := filepath.Glob("../../docs/results/*.csv")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no tables of figures: %v", err)
	}
	for _, p := range paths {
		_, err := Files(p, p, Options{})
		var bad *usage.Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), "want the output of hambench export") {
			t.Errorf("%s: %v; want a usage error that names hambench export", p, err)
		}
	}
}

// replicate is a cell, computed several times with seeds of its own.
type replicate struct {
	name string
	self float64
	ks   []float64
}

// replicates are the distances of linear's chains in the standard profile's
// experiment methods, mini-batches, twelve seeds each. A chain that diverged
// has distance 1.
func replicates(t *testing.T) []replicate {
	t.Helper()
	text, err := os.ReadFile("testdata/replicates.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []replicate
	for _, row := range rows[1:] {
		r := replicate{name: strings.Join(row[:4], " ")}
		for i, text := range row[4:] {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				r.self = v
			} else {
				r.ks = append(r.ks, v)
			}
		}
		all = append(all, r)
	}
	return all
}

// TestNoiseOfDistances: of all pairs of chains that differ by their seed alone,
// at most 5 % are worse at the level 5 %, near the limit of stability, too, and
// none of some 6000 at the level 1e-6.
func TestNoiseOfDistances(t *testing.T) {
	var pairs, worse, far, wild, wildWorse int
	for _, r := range replicates(t) {
		for i := range r.ks {
			for j := range r.ks {
				if i == j || r.ks[i] == 1 || r.ks[j] == 1 {
					continue
				}
				c := compareDistances(r.ks[i:i+1], r.ks[j:j+1], r.self, 0.03)
				p := c.p()
				if pairs++; p <= 0.05 {
					worse++
				}
				if p <= 1e-6 {
					far++
					t.Logf("%s: from %g to %g", r.name, r.ks[i], r.ks[j])
				}
				if min(c.old, c.new) > quiet*r.self {
					if wild++; p <= 0.05 {
						wildWorse++
					}
				}
			}
		}
	}
	share := float64(worse) / float64(pairs)
	shareOfWild := float64(wildWorse) / float64(wild)
	if pairs < 5000 || wild < 1000 || share > 0.05 || shareOfWild > 0.05 || far > 0 {
		t.Errorf("%d pairs, %.3f worse at 5 %%, %d at 1e-6; near the limit of stability %d pairs, %.3f", pairs, share, far, wild, shareOfWild)
	}
}

// TestThresholdGrowsWithTheDistance: up to 0.1 it is the option's.
func TestThresholdGrowsWithTheDistance(t *testing.T) {
	for _, c := range []struct{ size, want float64 }{{0.05, 0.03}, {0.1, 0.03}, {0.4, 0.12}} {
		got := compareDistances([]float64{c.size}, []float64{c.size}, 0.085, 0.03).effect
		if math.Abs(got-c.want) > 1e-12 {
			t.Errorf("distance %g: %g counts, want %g", c.size, got, c.want)
		}
	}
}

// A distance is at most 1: where the noise would hide even that, the note says so instead of
// stating a change that cannot be.
func TestTheNoteStatesNoChangeBeyondOne(t *testing.T) {
	for want, sd := range map[string]float64{
		"changes of 0.1":                     0.01,
		"no change of here would be reporte": 1,
	} {
		var r Report
		r.decide([]comparison{{where: "here", old: 0.1, new: 0.1, effect: 0.01, sd: sd, n: 2}}, 0.05)
		if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], want) {
			t.Errorf("deviation %g: %q, want %q", sd, r.Notes, want)
		}
	}
}

// The note names the comparison that sees least, wherever it stands.
func TestTheNoteNamesWhatSeesLeast(t *testing.T) {
	c := comparison{where: "first", old: 0.1, new: 0.1, effect: 0.01, sd: 0.001, n: 2, known: true}
	noisy, last := c, c
	noisy.where, noisy.sd, last.where = "second", 0.02, "third"
	var r Report
	r.decide([]comparison{c, noisy, last}, 0.05)
	if len(r.Notes) != 1 || !strings.HasSuffix(r.Notes[0], "the least certain is second") {
		t.Errorf("%q", r.Notes)
	}
}

// Infinity is a friction like others in what the report calls a cell, from CSV and from JSON.
func TestAnInfiniteFrictionIsNamed(t *testing.T) {
	csv := "experiment,dataset,split,integrator,friction,h,ks,diverged\nm,b,0,euler,1,0.1,0.1,false\nm,b,0,euler,inf,0.1,%g,false\n"
	json := `[{"experiment":"m","dataset":"b","split":0,"integrator":"euler","friction":1,"h":0.1,"ks":0.1,"diverged":false},` +
		`{"experiment":"m","dataset":"b","split":0,"integrator":"euler","friction":null,"h":0.1,"ks":0.9,"diverged":false}]`
	for _, new := range []string{fmt.Sprintf(csv, 0.9), json} {
		r, err := Compare(Run{Name: "old", Data: []byte(fmt.Sprintf(csv, 0.1))}, Run{Name: "new", Data: []byte(new)}, Options{})
		if err != nil || len(r.Moved) != 1 || !strings.Contains(r.Moved[0].Where, "friction=inf") {
			t.Errorf("%v, %+v: want the cell of friction=inf", err, r)
		}
	}
}

// Infinity is no other friction's value, though JSON has no number for it.
func TestAnInfiniteFrictionIsNoOther(t *testing.T) {
	of := func(friction string) string {
		return fmt.Sprintf(`[{"experiment":"m","dataset":"b","split":0,"integrator":"euler","friction":%s,"h":0.1,"ks":0.1,"diverged":false}]`, friction)
	}
	for _, runs := range [][2]string{{"null", "5"}, {"5", "null"}} {
		if r := compared(t, of(runs[0]), of(runs[1]), Options{}); len(r.Moved) != 1 || r.Moved[0].What != "cell" {
			t.Errorf("friction %s and %s: %+v; want a cell that is missing", runs[0], runs[1], r.Moved)
		}
	}
}

// Cells that differ in a column of one run alone are not told apart by it, and the report says so.
func TestColumnsOfOneRunAloneAreNoted(t *testing.T) {
	csv := "experiment,dataset,split,h,ks,diverged%s\nm,b,0,0.1,0.1,false%s\n"
	old, now := fmt.Sprintf(csv, ",integrator,friction", ",euler,5"), fmt.Sprintf(csv, "", "")
	const want = "only one of the runs has the columns integrator, friction: no cells are told apart by them"
	for _, runs := range [][2]string{{old, now}, {now, old}} {
		r := compared(t, runs[0], runs[1], Options{})
		if r.Err() != nil || len(r.Notes) != 1 || r.Notes[0] != want {
			t.Errorf("notes %q, want %q", r.Notes, want)
		}
	}
}

// Cells that observe no distance have 0 for it: equal zeros are no comparison, and the report says
// so, or refuses where there is nothing else.
func TestCellsWithoutADistanceAreNoted(t *testing.T) {
	const header = "experiment,dataset,split,integrator,h,observe,ks,diverged,coupled\n"
	coupled := func(bias string) string { return "m,b,0,euler,0.1,coupled,0,false," + bias + "\n" }
	compare := func(old, new string) (*Report, error) {
		return Compare(Run{"old", []byte(header + old)}, Run{"new", []byte(header + new)}, Options{})
	}
	if _, err := compare(coupled("0.1"), coupled("5")); err == nil {
		t.Error("coupled cells alone pass")
	}
	const other = "m,b,0,euler,0.1,distance,0.1,false,\n"
	r, err := compare(other+coupled("0.1"), other+coupled("5"))
	if err != nil || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "1 of 2 rows") {
		t.Errorf("%v, %+v: want a note of the row without a distance", err, r)
	}
}

// A byte order mark, with which spreadsheets write CSV, is no part of the first column's name.
func TestAByteOrderMarkIsPassedOver(t *testing.T) {
	two := splitsOf(0.1, 0.2)
	if r := compared(t, two, "\ufeff"+two, Options{}); r.Err() != nil || r.Equal != 1 {
		t.Errorf("%v, %d equal: want one", r.Err(), r.Equal)
	}
}

// Of two rows of one cell the gate would take one, whatever the other says.
func TestACellThatOccursTwiceIsRefused(t *testing.T) {
	once := splitsOf(0.1, 0.12)
	twice := once + cellLine(1, 0.9, true)
	for _, runs := range [][2]string{{once, twice}, {twice, once}} {
		_, err := Compare(Run{"old", []byte(runs[0])}, Run{"new", []byte(runs[1])}, Options{})
		var u *usage.Error
		if !errors.As(err, &u) || !strings.Contains(err.Error(), "cell 3: has the experiment, split and key of cell 2") {
			t.Errorf("%v, want a usage error that names both cells", err)
		}
	}
}

// What moved and what is not decided are stated with their numbers. Of one split at 0.1 a distance
// has the noise 0.1·0.15 beside 0.2: a change of 0.1 is 4.71 standard errors, with p = 1.2·10⁻⁶.
// Beside 0.12 the noise is 0.011 and the standard error 0.01556: 1.645 + 1.282 of them are 0.04552,
// and 0.033, which counts there, with two splits.
func TestTheReportStatesItsNumbers(t *testing.T) {
	r := compared(t, splitsOf(0.1), splitsOf(0.2), Options{})
	if len(r.Moved) != 1 || r.Moved[0].Old != "0.1" || r.Moved[0].New != "0.2" ||
		r.Moved[0].Why != "0.1 worse, p = 1.2e-06 <= 0.05, n = 1" {
		t.Errorf("%+v", r.Moved)
	}
	r = compared(t, splitsOf(0.1), splitsOf(0.12), Options{})
	if len(r.Undecided) != 1 {
		t.Fatalf("%+v", r)
	}
	u := r.Undecided[0]
	want := Undecided{u.Where, distance, "0.02", "0.04552", "0.033", 1}
	if u != want || !strings.Contains(u.Where, "integrator=leapfrog") {
		t.Errorf("%+v, want %+v", u, want)
	}
}

// The noise is that of the old run's independent draws, the usual one where a run does not say.
func TestTheNoiseIsOfTheOldRunsSelfDistance(t *testing.T) {
	wide := strings.Replace(splitsOf(0.2), ",0.08,", ",0.5,", 1)
	if r := compared(t, splitsOf(0.1), wide, Options{}); outcome(r) != 1 {
		t.Errorf("%+v: want it moved", r)
	}
	for self, want := range map[string]float64{
		"": usualSelf, "0": usualSelf, "-1": usualSelf, "0.2": 0.2,
	} {
		c, err := parseCell(map[string]string{"experiment": "m", "dataset": "b", "ks": "0.1",
			"ks_self": self, "diverged": "false"})
		if err != nil || c.self != want {
			t.Errorf("self-distance %q: %g, %v: want %g", self, c.self, err, want)
		}
	}
}

// Repetitions of one split pair by their keys, wherever they stand; what has no partner of its key
// takes what is left, and what none is left for is missing.
func TestRepetitionsPairByKey(t *testing.T) {
	lines := func(cells ...any) string {
		text := cellHeader
		for i := 0; i < len(cells); i += 2 {
			line := cellLine(0, cells[i+1].(float64), false)
			text += strings.Replace(line, ",abc\n", ","+cells[i].(string)+"\n", 1)
		}
		return text
	}
	old := lines("a", 0.1, "b", 0.5, "c", 0.9)
	if r := compared(t, old, lines("c", 0.9, "a", 0.1, "b", 0.5), Options{}); r.Equal != 1 {
		t.Errorf("in another order: %+v", r)
	}
	if r := compared(t, old, lines("b", 0.5, "d", 0.1, "c", 0.9), Options{}); r.Equal != 1 {
		t.Errorf("one under another key: %+v", r)
	}
	r := compared(t, old, lines("b", 0.5), Options{})
	if len(r.Moved) != 1 || !strings.HasSuffix(r.Moved[0].Why, "split by split: 2 of 3 are missing") {
		t.Errorf("two of three missing: %+v", r.Moved)
	}
}

// A chain that diverges no more does not make up in silence for another that newly does: unless more
// do, or distances have moved, that is undecided. Every cell is counted once, and the counts add up.
func TestDivergencesThatChangePlacesAreUndecided(t *testing.T) {
	const pass, moved, undecided = "0 moved, 0 undecided, 0 equal, 1 differ and pass", "1 moved, 0 undecided, 0 equal, 0 differ and pass", "0 moved, 1 undecided, 0 equal, 0 differ and pass"
	lines := func(ks []float64) string {
		text := cellHeader
		for i, v := range ks {
			text += cellLine(i, v, v == 1)
		}
		return text
	}
	for _, c := range []struct {
		reason   string
		old, new []float64
		want     string
	}{
		{"places changed", []float64{0.05, 1}, []float64{1, 0.05}, undecided},
		{"fewer, and another", []float64{0.05, 1, 1}, []float64{1, 0.05, 0.05}, undecided},
		{"places changed, a distance that passes", []float64{0.05, 1, 0.1}, []float64{1, 0.05, 0.101}, undecided},
		{"places changed, a distance that has moved", []float64{0.05, 1, 0.1}, []float64{1, 0.05, 0.3}, moved},
		{"more", []float64{0.05, 0.05, 1}, []float64{1, 1, 0.05}, moved},
		{"fewer", []float64{1, 0.05}, []float64{0.05, 0.05}, pass},
		{"fewer, a distance that passes", []float64{1, 0.1}, []float64{0.05, 0.101}, pass},
	} {
		r := compared(t, lines(c.old), lines(c.new), Options{})
		var b strings.Builder
		if err := r.Write(&b); err != nil || !strings.HasSuffix(b.String(), "cells: 1 compared, "+c.want+"\n") {
			t.Errorf("%s: %v, want %s:\n%s", c.reason, err, c.want, &b)
		}
		if c.want == undecided && (outcome(r) != 3 || r.Undecided[0].What != "diverged" || !strings.Contains(fmt.Sprint(r.Err()), "other chains diverge than before") || !strings.Contains(b.String(), "none")) {
			t.Errorf("%s: %v, want its reason:\n%s", c.reason, r.Err(), &b)
		}
	}
}

// Splits that the old run lacks are not compared, whatever they are, and said to be there.
func TestFurtherSplitsAreNoted(t *testing.T) {
	r := compared(t, splitsOf(0.1), splitsOf(0.1, 0.9, 0.9), Options{})
	const want = "2 rows of the new run are not in the old one"
	if r.Err() != nil || len(r.Notes) != 1 || r.Notes[0] != want {
		t.Errorf("%v, notes %q; want none and %q", r.Err(), r.Notes, want)
	}
}
