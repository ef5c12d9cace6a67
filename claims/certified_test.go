package claims

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/certify"
	"hambench/integrators"
)

// smallJob is quick and has everything that JSON cannot say: an exact law, an
// order of infinite uncertainty.
func smallJob(t *testing.T) Job {
	t.Helper()
	o, err := variant{problem: "toy", method: "exact", steps: []float64{0.2, 0.1}, schemes: []string{"full", "reshuffle"}}.options()
	if err != nil {
		t.Fatal(err)
	}
	j, err := newJob(o)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// text holds every number to the last bit, NaN and infinities included.
func text(rows []certify.Row) string { return fmt.Sprintf("%+v", rows) }

func TestCacheGivesBackWhatWasComputed(t *testing.T) {
	j, c := smallJob(t), &Cache{Dir: filepath.Join(t.TempDir(), "certified")}
	first, err := c.Rows(context.Background(), []Job{j}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if c.Computed() != 1 || c.Reused() != 0 {
		t.Errorf("computed %d, reused %d: want 1, 0", c.Computed(), c.Reused())
	}
	j.run = func(context.Context) ([]certify.Row, error) { return nil, errors.New("run again") }
	second, err := c.Rows(context.Background(), []Job{j}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if text(first) != text(second) {
		t.Errorf("rows differ:\n%s\n%s", text(first), text(second))
	}
	if c.Computed() != 1 || c.Reused() != 1 {
		t.Errorf("computed %d, reused %d: want 1, 1", c.Computed(), c.Reused())
	}
	if claim := float64(second[0].Observables[0].Claim); !math.IsInf(claim, 1) {
		t.Errorf("claim of the exact law is %v, want +Inf", claim)
	}
}

func TestDamagedFilesAreComputedAgain(t *testing.T) {
	j, c := smallJob(t), &Cache{Dir: t.TempDir()}
	if _, err := c.Rows(context.Background(), []Job{j}, 1); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(c.path(j.Key))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"cut off":          string(good[:len(good)/2]),
		"one digit":        strings.Replace(string(good), "0.2", "0.3", 1),
		"another key":      strings.Replace(string(good), j.Key, strings.Repeat("0", 64), 1),
		"empty":            "",
		"rows of no shape": `{"key":"` + j.Key + `","sha256":"` + digest([]byte("7")) + `","rows":7}`,
	} {
		if err := os.WriteFile(c.path(j.Key), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
		if rows, missing := c.Known([]Job{j}); missing != 1 || len(rows) != 0 {
			t.Errorf("%s: %d rows, %d missing: want 0, 1", name, len(rows), missing)
		}
	}
	if _, err := c.Rows(context.Background(), []Job{j}, 1); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(c.path(j.Key)); string(now) != string(good) {
		t.Error("the file was not written anew with the same bytes")
	}
}

func TestMergeTakesGoodFilesThatAreMissing(t *testing.T) {
	j, from, to := smallJob(t), &Cache{Dir: t.TempDir()}, &Cache{Dir: filepath.Join(t.TempDir(), "certified")}
	want, err := from.Rows(context.Background(), []Job{j}, 1)
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(from.path(j.Key))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(from.path("damaged"), good, 0o644); err != nil { // another key's
		t.Fatal(err)
	}
	for _, added := range []int{1, 0} {
		if n, err := to.Merge(from.Dir); n != added || err != nil {
			t.Errorf("merged %d files, %v; want %d", n, err, added)
		}
	}
	if got, missing := to.Known([]Job{j}); missing != 0 || text(got) != text(want) {
		t.Errorf("merged rows differ:\n%s\n%s", text(got), text(want))
	}
	if n, err := to.Merge(filepath.Join(from.Dir, "nowhere")); n != 0 || err != nil {
		t.Errorf("merge of a store without exact errors: %d, %v", n, err)
	}
	other := want
	other[0].Observables[0].Verdict = certify.Refuted
	if err := from.write(j.Key, other); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Merge(from.Dir); err == nil || !strings.Contains(err.Error(), from.path(j.Key)) || !strings.Contains(err.Error(), to.path(j.Key)) {
		t.Errorf("merge of another verdict: %v; want an error that names both files", err)
	}
}

func TestCacheWithoutAFolderKeepsNothing(t *testing.T) {
	c := &Cache{}
	for range 2 {
		if _, err := c.Rows(context.Background(), []Job{smallJob(t)}, 1); err != nil {
			t.Fatal(err)
		}
	}
	if c.Computed() != 2 {
		t.Errorf("computed %d times, want 2", c.Computed())
	}
}

// A folder that cannot be written ends a run, but not a look at the claims.
func TestOptionalCacheOutlivesAFolderItCannotWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	jobs := []Job{smallJob(t)}
	strict := &Cache{Dir: filepath.Join(file, "certified")}
	if rows, err := strict.Rows(t.Context(), jobs, 1); err == nil {
		t.Errorf("%d rows were kept below a file", len(rows))
	}
	optional := &Cache{Dir: strict.Dir, Optional: true}
	if rows, err := optional.Rows(t.Context(), jobs, 1); err != nil || len(rows) == 0 {
		t.Errorf("%d rows (%v), want them without an error", len(rows), err)
	}
}

func TestCancelledJobs(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := &Cache{Dir: t.TempDir()}
	if _, err := c.Rows(ctx, []Job{smallJob(t)}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want that of the context", err)
	}
}

// Every job has a key of its own, and the same one each time.
func TestKeys(t *testing.T) {
	a, err := Jobs()
	if err != nil {
		t.Fatal(err)
	}
	b, err := Jobs()
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for i := range a {
		if a[i].Key != b[i].Key {
			t.Errorf("job %d has the keys %s and %s", i, a[i].Key, b[i].Key)
		}
		if seen[a[i].Key] {
			t.Errorf("job %d shares its key with another", i)
		}
		seen[a[i].Key] = true
	}
}

// An integrator whose code changed, though not its name or claims, has
// another key; so has another problem, step, scheme or N_l.
func TestKeysFollowWhatRowsDependOn(t *testing.T) {
	base := variant{problem: "gaussian", method: "lietrotter", inner: 1, steps: []float64{0.1, 0.05}, schemes: []string{"full"}}
	key := func(v variant, change func(*certify.Options)) string {
		o, err := v.options()
		if err != nil {
			t.Fatal(err)
		}
		change(&o)
		j, err := newJob(o)
		if err != nil {
			t.Fatal(err)
		}
		return j.Key
	}
	same := func(*certify.Options) {}
	want := key(base, same)
	changed := map[string]func(*certify.Options){
		"friction": func(o *certify.Options) { o.Problem.Friction *= 1.01 },
		"steps":    func(o *certify.Options) { o.Steps = []float64{0.1, 0.04} },
		"N_l":      func(o *certify.Options) { o.Inner = 2 },
		"noise": func(o *certify.Options) {
			m := &o.Integrators[0]
			build := m.New
			m.New = func(dim int, p integrators.Params) (*integrators.Integrator, error) {
				p.Friction *= 1.001
				return build(dim, p)
			}
		},
	}
	for name, change := range changed {
		if key(base, change) == want {
			t.Errorf("%s: the key is the same", name)
		}
	}
	other := base
	other.schemes = []string{"reshuffle"}
	if key(other, same) == want {
		t.Error("scheme: the key is the same")
	}
	if key(base, same) != want {
		t.Error("the key changed though nothing else did")
	}
}

// exactEvidence is what the certifier finds on its Gaussian problems, with no
// sampled results.
func exactEvidence(t *testing.T) *Evidence {
	t.Helper()
	var gaussian []*certify.Problem
	for _, p := range certify.Builtin() {
		if p.Kind == certify.Gaussian {
			gaussian = append(gaussian, p)
		}
	}
	jobs, err := orderJobs(gaussian)
	if err != nil {
		t.Fatal(err)
	}
	bottleneck, err := BottleneckJob()
	if err != nil {
		t.Fatal(err)
	}
	extra, err := extraJobs("gaussian", "toy")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := (&Cache{}).Rows(context.Background(), append(append(jobs, bottleneck), extra...), 2)
	if err != nil {
		t.Fatal(err)
	}
	return &Evidence{Rows: rows, Results: func(string) []bench.Result { return nil }}
}

// The claims that need no samples, decided by the certifier's own rows; and
// with variance 1 in the place of 1/12 mt3's own claim is refuted.
func TestExactClaims(t *testing.T) {
	e := exactEvidence(t)
	exact := 0
	for _, d := range Decide(All(), e) {
		if d.Verdict == NotDecided && strings.Contains(d.Summary, " yet: run ") {
			continue // needs samples
		}
		exact++
		want := Confirmed
		if d.By == ByChen {
			want = Refuted
		}
		if d.Verdict != want {
			t.Errorf("%s is %s, want %s: %s", d.ID, d.Verdict, want, d.Summary)
		}
	}
	if exact != 19 {
		t.Errorf("%d claims are decided exactly, want 19", exact)
	}
	for i, r := range e.Rows {
		switch r.Integrator {
		case "mt3":
			e.Rows[i].Integrator = "the true one"
		case reading:
			e.Rows[i].Integrator = "mt3"
		}
	}
	if f := verdictOf(t, "order-mt3", e); f.Verdict != Refuted || !strings.Contains(f.Summary, "2.00") {
		t.Errorf("order-mt3 with variance 1 is %s: %s", f.Verdict, f.Summary)
	}
}
