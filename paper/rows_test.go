package paper

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/chain"
	"hambench/internal/long"
	"hambench/models"
	"hambench/models/datasets"
)

// A run on some data sets beside one on all, and two studies with the same exact errors:
// each comes once, with the study or the purpose that it is for. A user's study with the
// id of a built-in one, and exact errors of a purpose of the paper's, is not read.
func TestEachJobHasRowsOnce(t *testing.T) {
	cells := func(keys ...string) (s bench.Study) {
		for _, key := range keys {
			s.Cells = append(s.Cells, bench.Job{Key: key})
		}
		return s
	}
	exact := func(purposes ...string) (s bench.Study) {
		for _, purpose := range purposes {
			s.Exact = append(s.Exact, bench.ExactJob{Key: "x", Purpose: purpose})
		}
		return s
	}
	plan := func(id, origin string, s bench.Study) bench.Plan {
		s.ID, s.Origin = id, origin
		return bench.Plan{Study: s}
	}
	user := "0123456789abcdef"
	plans := []bench.Plan{
		plan("methods", bench.BuiltIn, cells("a", "b")),
		plan("methods", bench.BuiltIn, cells("b", "c")),
		plan("methods", user, cells("d")),
		plan("friction", bench.BuiltIn, cells("a")),
		plan("orders", bench.BuiltIn, exact(bench.OfOrders)),
		plan("claims", bench.BuiltIn, exact(bench.OfOrders, "inner")),
		plan("claims", user, exact("weak")),
	}
	m := newMemory()
	m.exact["x"] = []certify.Row{fittedRow("x", "mt3", "full", covariance, 1, 1)}
	m.exact["x"][0].Observables[0].Resolution = []certify.Number{0}
	var got []string
	for _, r := range m.of(plans...).Rows() {
		got = append(got, r.Text("study")+" "+r.Text("purpose")+r.Text("key"))
	}
	want := []string{
		"methods a", "methods b", "methods c", "friction a", "orders ordersx", "claims innerx",
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
}

// exactRows are what the certifier finds for the claims' own jobs on Gaussian problems,
// with no sampled results.
func exactRows(t *testing.T) (bench.Plan, memory) {
	t.Helper()
	quick, err := bench.LookupProfile("quick")
	if err != nil {
		t.Fatal(err)
	}
	quick.Only = []string{StudyID}
	studies, err := bench.Studies(quick, datasets.Builtin(), models.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	keys := bench.Keys{Source: &models.Source{}}
	plans, err := keys.Resolve(t.Context(), "quick", studies)
	if err != nil {
		t.Fatal(err)
	}
	m := newMemory()
	for _, j := range plans[0].Exact {
		o, err := j.Exact.Options(chain.Registries{})
		if err != nil {
			t.Fatal(err)
		}
		if o.Problem.Kind != certify.Gaussian {
			continue
		}
		if m.exact[j.Key], err = certify.Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	plans[0].Exact = slices.DeleteFunc(plans[0].Exact, func(j bench.ExactJob) bool {
		return m.exact[j.Key] == nil // what was left out is no part of the plan
	})
	return plans[0], m
}

// What JSON cannot say, an infinite claim and an infinite uncertainty, is the
// same after a stay in a store.
func TestInfinitiesSurviveTheStore(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.Machine{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	inf := certify.Number(math.Inf(1))
	body, err := json.Marshal([]certify.Row{{Steps: []float64{0.1}, Observables: []certify.Observable{{
		Errors: []certify.Number{1}, Resolution: []certify.Number{0}, Order: 2, Claim: inf, Uncertainty: inf,
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(store.Record{Kind: store.Exact, Key: "k", Body: body}); err != nil {
		t.Fatal(err)
	}
	p := bench.Plan{Study: bench.Study{
		ID: StudyID, Exact: []bench.ExactJob{{Key: "k", Purpose: bench.OfOrders}},
	}}
	rows := Rows([]bench.Plan{p}, bench.Results{Store: s}).Rows()
	if len(rows) != 1 || rows[0].Number("claim") != math.Inf(1) || rows[0].Number("uncertainty") != math.Inf(1) {
		t.Errorf("rows %+v, want one with an infinite claim of infinite uncertainty", rows)
	}
}

// The claims that need no samples, decided by the certifier's own rows; and
// with variance 1 in the place of 1/12 mt3's own claim is refuted.
func TestLongExactClaims(t *testing.T) {
	long.Test(t)
	plan, m := exactRows(t)
	plans := []bench.Plan{plan}
	exact := 0
	for _, d := range Decide(Claims(), m.of(plans...)) {
		if d.Verdict == NotDecided && strings.Contains(d.Summary, " yet: run ") {
			continue // needs samples
		}
		exact++
		want := Confirmed
		if slices.Contains([]string{"stationary-law-mass", "chen-2015", "weak-orders", "higher-order-better", "sghmc-irrelevant", "cyclic-order"}, d.ID) {
			want = Refuted
		}
		if slices.Contains([]string{"quasi-symplectic-better", "inner-sensible", "friction-efficient"}, d.ID) {
			want = NotDecided // cases differ
		}
		if d.Verdict != want {
			t.Errorf("%s is %s, want %s: %s", d.ID, d.Verdict, want, d.Summary)
		}
	}
	if exact != 32 {
		t.Errorf("%d claims are decided by exact evidence, want 32", exact)
	}
	byRows := func(id string) Finding {
		i := slices.IndexFunc(Claims(), func(c Claim) bool { return c.ID == id })
		return Decide(Claims()[i:i+1], m.of(plans...))[0].Finding
	}
	once := byRows("inner-sensible")
	for _, j := range plan.Exact { // as where two studies ask for the same
		again := j
		again.Key += "again"
		m.exact[again.Key] = m.exact[j.Key]
		plans[0].Exact = append(plans[0].Exact, again)
	}
	if twice := byRows("inner-sensible"); twice.Summary != once.Summary {
		t.Errorf("with every row twice: %s; once: %s", twice.Summary, once.Summary)
	}
	var planted []bench.ExactJob
	for _, j := range plan.Exact {
		if j.Purpose == "variance" {
			j.Purpose = bench.OfOrders
			planted = append(planted, j)
		}
	}
	plans[0].Exact = planted
	if f := byRows("order-mt3"); f.Verdict != Refuted || !strings.Contains(f.Summary, "2.00") {
		t.Errorf("order-mt3 with variance 1 is %s: %s", f.Verdict, f.Summary)
	}
}

// unpacked is the store of the published run.
func unpacked(t *testing.T) *store.Store {
	t.Helper()
	file, err := os.Open("../docs/results/store.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for archive := tar.NewReader(unzipped); ; {
		h, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.FileInfo().IsDir() {
			err = os.MkdirAll(path, 0o755)
		} else {
			var text []byte
			if text, err = io.ReadAll(archive); err == nil {
				err = os.WriteFile(path, text, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Read(filepath.Join(dir, "store"), store.Machine{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The published page is what the published results decide, and no study of a user's that
// has the ids, purposes and results of built-in ones changes a byte of it.
func TestThePublishedResultsDecideThePublishedClaims(t *testing.T) {
	want, err := os.ReadFile("../docs/results/claims.md")
	if err != nil {
		t.Fatal(err)
	}
	s := unpacked(t)
	plans, err := bench.Plans(s, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plans {
		for i := range p.Exact { // everything is under the name of another integrator
			p.Exact = slices.Clone(p.Exact)
			p.Exact[i].Exact.Integrator = "leapfrog"
		}
		p.Origin = "0123456789abcdef"
		plans = append([]bench.Plan{p}, plans...)
	}
	run := plans[slices.IndexFunc(plans, func(p bench.Plan) bool { return p.ID == "claims" })]
	var got bytes.Buffer
	decisions := Decide(Claims(), Rows(plans, bench.Results{Store: s}))
	if err := WriteMarkdown(&got, decisions, run.Profile); err != nil {
		t.Fatal(err)
	}
	wanted := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got.String(), "\n") {
		if i >= len(wanted) || line != wanted[i] {
			t.Fatalf("line %d is\n%s\nwant\n%s", i+1, line, wanted[min(i, len(wanted)-1)])
		}
	}
}

func publishedRows(t *testing.T) *table.Table {
	s := unpacked(t)
	plans, err := bench.Plans(s, "")
	if err != nil {
		t.Fatal(err)
	}
	return Rows(plans, bench.Results{Store: s})
}

// part decides a claim by those chains of the rows alone that keep keeps.
func part(rows *table.Table, claims []Claim, id string, keep func(table.Row) bool) Finding {
	i := slices.IndexFunc(claims, func(c Claim) bool { return c.ID == id })
	return Decide(claims[i:i+1], rows.Filter(func(r table.Row) bool {
		return r.Text("record") != bench.CellRecord || keep(r)
	}))[0].Finding
}

// numberOf is a finding's first number with a name that begins so.
func numberOf(f Finding, name string) float64 {
	i := slices.IndexFunc(f.Numbers, func(n Number) bool { return strings.HasPrefix(n.Name, name) })
	return float64(f.Numbers[i].Value)
}

// says checks that documents say words.
func says(t *testing.T, of map[string][]string) {
	t.Helper()
	for doc, words := range of {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(strings.Fields(string(text)), " ")
		for _, w := range words {
			if !strings.Contains(said, w) {
				t.Errorf("%s does not say %q", doc, w)
			}
		}
	}
}

// What docs/paper.md says of parts of the published rows, which no claim reads alone, is what the
// tests of the claims give on these parts.
func TestDocumentsSayWhatPartsOfTheRowsShow(t *testing.T) {
	rows := publishedRows(t)
	early := part(rows, Claims(), "bottleneck-sampled", func(r table.Row) bool { return r.Number("h") <= 0.03 })
	fan := part(rows, Claims(), "inner-fan", func(table.Row) bool { return true })
	// Leapfrog in batches of 32, at some of the steps of population; the full batches of others make
	// the floors.
	leapfrog := func(at func(relative float64) bool) string {
		f := part(rows, Claims(), "leapfrog-competes", func(r table.Row) bool {
			full := r.Number("K") == 1
			return r.Text("study") == "population" && (full && r.Text("integrator") != "leapfrog" || !full && at(r.Number("relative")))
		})
		return fmt.Sprintf("%.2f, in [%.2f, %.2f]", float64(f.Excess.Value), float64(f.Excess.Low), float64(f.Excess.High))
	}
	small, largest := leapfrog(func(x float64) bool { return x < 0.3 }), leapfrog(func(x float64) bool { return x > 0.9 })
	diverging := func(integrator string) (n int) {
		for _, r := range rows.Where("study", "bottleneck").Where("integrator", integrator).Rows() {
			if r.Number("K") > 1 && r.Number("h") > 0.05 && diverged(r) {
				n++
			}
		}
		return n
	}
	far := atHalfTheSmallestStep(rows)
	says(t, map[string][]string{"../docs/paper.md": {
		fmt.Sprintf("at steps up to 0.03 %.2f, in [%.2f, %.2f]", float64(early.Excess.Value),
			numberOf(early, "99 % interval over seeds, low"), numberOf(early, "99 % interval over seeds, high")),
		fmt.Sprintf("N_l = 100 alone diverged in %g pairs and N_l = 1 alone in %g",
			numberOf(fan, "stability: cells where largest N_l alone"), numberOf(fan, "stability: cells where largest N_l did not")),
		"it is " + small + ", at the two smaller of four steps, and " + largest + ", at the largest",
		fmt.Sprintf("lietrotter diverged in %d of 32 chains and mt3 in %d", diverging("lietrotter"), diverging("mt3")),
		fmt.Sprintf("none of the %d chains on concrete, energy and yacht at B = 8 is near the posterior at half of that step: "+
			"their distances are %.2f to %.2f", len(far), slices.Min(far), slices.Max(far)),
	}})
}

// atHalfTheSmallestStep are the distances of methods' chains at B = 8 and half of the paper's smallest
// step, whose references passed their checks.
func atHalfTheSmallestStep(rows *table.Table) (distances []float64) {
	failures := newEvidence(rows).failures
	for _, r := range rows.Where("study", "methods").Where("h", 0.0005).Where("batch", 8).Rows() {
		of := slices.Contains([]string{"concrete", "energy", "yacht"}, r.Text("dataset"))
		if of && failures[r.Key("dataset", "split", "model")] == 0 {
			distances = append(distances, r.Number("ks"))
		}
	}
	return distances
}

// What the documents say that the verdict on heat over twenty sets rests on: the test of the claim
// on each seed alone, on small steps, and on excesses that chance does not make.
func TestDocumentsSayWhatHeatOnTwentySetsRestsOn(t *testing.T) {
	rows := publishedRows(t)
	seeds := []float64{2201, 2202}
	of := func(seeds []float64, keep func(table.Row) bool) Finding {
		return part(rows, Later("population"), "heat-on-twenty-sets", func(r table.Row) bool {
			return slices.Contains(seeds, r.Number("seed")) && keep(r)
		})
	}
	sets := func(f Finding) (names []string) {
		for _, n := range f.Numbers {
			if set, ok := strings.CutPrefix(n.Name, "power-sum of above-floor, "); ok {
				names = append(names, strings.Fields(set)[0])
			}
		}
		return names
	}
	interval := func(f Finding, digits int) string { // its lower end is near a limit, 0.2
		value, _, _ := strings.Cut(f.Summary, ",")
		return strings.ReplaceAll(fmt.Sprintf("%s, in [%.*f, %.2f]", value, digits,
			numberOf(f, "99 % interval over data sets, low"), numberOf(f, "99 % interval over data sets, high")), "-", "−")
	}
	all := func(table.Row) bool { return true }
	whole := of(seeds, all)
	common := func(r table.Row) bool { return slices.Contains(sets(whole), r.Text("dataset")) }
	// ηω is below 2, or not known: of the full batch, which makes the floors.
	slow := func(r table.Row) bool { return !(r.Number("k_eta_omega") >= 2*r.Number("K")) }
	// The mean excess at a step and a friction is above 0.02, three times what chance makes.
	floors := Floors(rows)
	aboveChance := func(seeds []float64) func(table.Row) bool {
		point := []string{"dataset", "integrator", "nl", "K", "h", "friction"}
		excess := make(map[table.Key]float64)
		for _, g := range rows.Filter(func(r table.Row) bool {
			return slices.Contains(seeds, r.Number("seed")) && !diverged(r)
		}).GroupBy(point...) {
			excess[g.Key] = g.Mean(func(r table.Row) float64 { return r.Number("ks") - floors[r.Key(FloorColumns...)] })
		}
		return func(r table.Row) bool { return r.Number("K") == 1 || excess[r.Key(point...)] > 0.02 }
	}
	sparse, small := of(seeds, aboveChance(seeds)), of(seeds, slow)
	if !slices.Equal(sets(small), sets(whole)) || !slices.Equal(sets(sparse), sets(whole)) {
		t.Errorf("at small steps %q, of clear excesses %q, want those of all, %q", sets(small), sets(sparse), sets(whole))
	}
	// The note of the claim says so, too.
	if whole.Verdict != Refuted || small.Verdict != NotDecided || sparse.Verdict != NotDecided {
		t.Errorf("%s, at small steps %s, of clear excesses %s; want refuted, and else not decided", whole.Verdict, small.Verdict, sparse.Verdict)
	}
	var alone, same, slowly, clearly []string
	for _, seed := range seeds {
		one := []float64{seed}
		f, s, c := of(one, all), of(one, slow), of(one, aboveChance(one))
		alone = append(alone, fmt.Sprintf("%s, on %d", interval(f, 3), len(sets(f))))
		same = append(same, interval(of(one, common), 3))
		slowly = append(slowly, fmt.Sprintf("%s, on %d", interval(s, 2), len(sets(s))))
		clearly = append(clearly, fmt.Sprintf("%s, on %d", interval(c, 2), len(sets(c))))
	}
	both := []string{interval(sparse, 2), fmt.Sprintf("it is %s, on the same %d sets", interval(small, 2), len(sets(whole)))}
	says(t, map[string][]string{
		"../docs/paper.md": both,
		"../docs/studies.md": append(both, "a + b = "+interval(whole, 3),
			"By the first seed alone it is "+alone[0]+" sets, by the second "+alone[1],
			"the first seed has "+same[0]+", which would not decide, the second "+same[1],
			"by the first seed "+slowly[0]+", by the second "+slowly[1],
			"the first seed has "+clearly[0]+", the second "+clearly[1]),
	})
}

// A claim of one's own is a value like the others.
func TestOwnClaim(t *testing.T) {
	own := Claim{ID: "own", Decide: func(rows *table.Table) Finding {
		if rows.Where("study", "my-study").Len() == 0 {
			return Finding{Verdict: NotDecided}
		}
		return Finding{Verdict: Confirmed}
	}}
	mine := bench.Study{ID: "my-study", Cells: []bench.Job{{Key: "a"}}}
	rows := bench.Results{Store: newMemory()}.Table([]bench.Plan{{Study: mine}})
	decisions := Decide(append(Claims(), own), rows)
	if last := decisions[len(decisions)-1]; last.ID != "own" || last.Verdict != Confirmed {
		t.Errorf("own claim: %+v", last)
	}
}

// A store that has part of the exact errors decides as one that has all, or not at all; claims
// about sampled chains it decides.
func TestAPartOfTheExactErrorsDecidesNothingElse(t *testing.T) {
	s := unpacked(t)
	plans, err := bench.Plans(s, "")
	if err != nil {
		t.Fatal(err)
	}
	decide := func(plans []bench.Plan) []Decision {
		return Decide(Claims(), Rows(plans, bench.Results{Store: s}))
	}
	whole, open := decide(plans), 0
	random := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		gone := make(map[string]string)
		part := slices.Clone(plans)
		for i, p := range part {
			part[i].Exact = slices.Clone(p.Exact)
			for k, j := range part[i].Exact {
				if _, known := gone[j.Key]; !known {
					gone[j.Key] = j.Key + strings.Repeat(" not in the store", random.IntN(2))
				}
				part[i].Exact[k].Key = gone[j.Key]
			}
		}
		for i, d := range decide(part) {
			sampled := slices.Contains([]string{"bottleneck-sampled", "inner-fan", "batch-size", "synthetic"}, d.ID)
			if d.Verdict == NotDecided && !sampled {
				open++
			} else if d.Verdict != whole[i].Verdict {
				t.Errorf("%s is %s: %s", d.ID, d.Verdict, d.Summary)
			}
		}
	}
	if open < 5*20 {
		t.Errorf("%d claims are left open in five parts", open)
	}
}
