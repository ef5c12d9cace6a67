package paper

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/certify"
	"hambench/chain"
	"hambench/models"
	"hambench/models/datasets"
)

// memory is a store of results and exact errors by key.
type memory struct {
	results map[string]bench.Result
	rows    map[string][]certify.Row
}

func (m memory) Result(key string) (bench.Result, bool) { r, ok := m.results[key]; return r, ok }

func (m memory) Rows(key string) ([]certify.Row, bool) { r, ok := m.rows[key]; return r, ok }

// A run on some data sets beside one on all, and two studies with the same
// exact errors: each comes once, with the study or the purpose that it is for.
func TestGatherTakesEachKeyOnce(t *testing.T) {
	cell := func(key string) bench.Job { return bench.Job{Key: key} }
	exact := func(key, purpose string) bench.ExactJob { return bench.ExactJob{Key: key, Purpose: purpose} }
	plan := func(s bench.Study, methods ...string) bench.Plan {
		p := bench.Plan{Study: s}
		for _, m := range methods {
			p.Methods = append(p.Methods, bench.Method{Name: m})
		}
		return p
	}
	plans := []bench.Plan{
		plan(bench.Study{ID: "methods", Cells: []bench.Job{cell("a"), cell("b")}}, "mt3"),
		plan(bench.Study{ID: "methods", Cells: []bench.Job{cell("b"), cell("c"), cell("missing")}}, "mt3", "leapfrog"),
		plan(bench.Study{ID: "friction", Cells: []bench.Job{cell("a")}}),
		plan(bench.Study{ID: "orders", Exact: []bench.ExactJob{exact("x", bench.OfOrders)}}),
		plan(bench.Study{ID: "claims", Exact: []bench.ExactJob{exact("x", bench.OfOrders), exact("y", bench.OfInner), exact("missing", bench.OfInner)}}),
	}
	m := memory{results: make(map[string]bench.Result), rows: make(map[string][]certify.Row)}
	for _, key := range []string{"a", "b", "c"} {
		m.results[key] = bench.Result{Key: key}
	}
	for _, key := range []string{"x", "y"} {
		m.rows[key] = []certify.Row{{Problem: key}}
	}
	e := Gather(plans, m)
	keys := func(study string) string {
		var s []string
		for _, r := range e.Results(study) {
			s = append(s, r.Key)
		}
		return strings.Join(s, " ")
	}
	if keys("methods") != "a b c" || keys("friction") != "a" {
		t.Errorf("results %q and %q, want a b c and a", keys("methods"), keys("friction"))
	}
	if orders, inner := e.Rows(bench.OfOrders), e.Rows(bench.OfInner); len(orders) != 1 || orders[0].Problem != "x" || len(inner) != 1 || inner[0].Problem != "y" {
		t.Errorf("rows %v and %v, want x and y", orders, inner)
	}
	if len(e.Rows(bench.OfOrders, bench.OfInner)) != 2 || len(e.Methods) != 2 {
		t.Errorf("%d rows of both purposes, %d methods: want 2 and 2", len(e.Rows(bench.OfOrders, bench.OfInner)), len(e.Methods))
	}
}

// exactEvidence is what the certifier finds for the claims' own jobs on
// Gaussian problems, with no sampled results.
func exactEvidence(t *testing.T) *Evidence {
	t.Helper()
	quick, err := bench.LookupProfile("quick")
	if err != nil {
		t.Fatal(err)
	}
	studies, err := bench.Studies(quick, datasets.Builtin(), models.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	if studies, err = bench.Select(studies, StudyID); err != nil {
		t.Fatal(err)
	}
	keys := bench.Keys{Source: &models.Source{}}
	plans, err := keys.Resolve(t.Context(), "quick", studies)
	if err != nil {
		t.Fatal(err)
	}
	m := memory{rows: make(map[string][]certify.Row)}
	for _, j := range plans[0].Exact {
		o, err := j.Exact.Options(chain.Registries{})
		if err != nil {
			t.Fatal(err)
		}
		if o.Problem.Kind != certify.Gaussian {
			continue
		}
		if m.rows[j.Key], err = certify.Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	return Gather(plans, m)
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
	body, err := json.Marshal([]certify.Row{{Observables: []certify.Observable{{Order: 2, Claim: inf, Uncertainty: inf}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(store.Record{Kind: store.Exact, Key: "k", Body: body}); err != nil {
		t.Fatal(err)
	}
	p := bench.Plan{Study: bench.Study{Exact: []bench.ExactJob{{Key: "k", Purpose: bench.OfOrders}}}}
	rows := Gather([]bench.Plan{p}, bench.Results{Store: s}).Rows(bench.OfOrders)
	if len(rows) != 1 || rows[0].Observables[0].Claim != inf || rows[0].Observables[0].Uncertainty != inf {
		t.Errorf("rows %+v, want one with an infinite claim of infinite uncertainty", rows)
	}
}

// The claims that need no samples, decided by the certifier's own rows; and
// with variance 1 in the place of 1/12 mt3's own claim is refuted.
func TestExactClaims(t *testing.T) {
	e := exactEvidence(t)
	exact := 0
	for _, d := range Decide(Claims(), e) {
		if d.Verdict == NotDecided && strings.Contains(d.Summary, " yet: run ") {
			continue // needs samples
		}
		exact++
		want := Confirmed
		if slices.Contains([]string{"chen-2015", "weak-orders", "quasi-symplectic-better", "higher-order-better", "sghmc-correction"}, d.ID) {
			want = Refuted
		}
		if slices.Contains([]string{"inner-sensible", "friction-efficient"}, d.ID) {
			want = NotDecided // cases differ
		}
		if d.Verdict != want {
			t.Errorf("%s is %s, want %s: %s", d.ID, d.Verdict, want, d.Summary)
		}
	}
	if exact != 29 {
		t.Errorf("%d claims are decided by exact evidence, want 29", exact)
	}
	once := verdictOf(t, "inner-sensible", e)
	e.Exact = append(e.Exact, e.Exact...) // as where two studies ask for the same
	if twice := verdictOf(t, "inner-sensible", e); twice.Summary != once.Summary {
		t.Errorf("with every row twice: %s; once: %s", twice.Summary, once.Summary)
	}
	e.Exact = slices.DeleteFunc(e.Exact, func(r bench.Evidence) bool { return r.Purpose == bench.OfOrders && r.Integrator == "mt3" })
	for i, r := range e.Exact {
		if r.Purpose == bench.OfVariance {
			e.Exact[i].Purpose = bench.OfOrders
		}
	}
	if f := verdictOf(t, "order-mt3", e); f.Verdict != Refuted || !strings.Contains(f.Summary, "2.00") {
		t.Errorf("order-mt3 with variance 1 is %s: %s", f.Verdict, f.Summary)
	}
}

// A claim of one's own is a value like the others.
func TestOwnClaim(t *testing.T) {
	own := Claim{ID: "own", Decide: func(e *Evidence) Finding {
		if len(e.Results("my-study")) == 0 {
			return Finding{Verdict: NotDecided}
		}
		return Finding{Verdict: Confirmed}
	}}
	e := &Evidence{Sampled: map[string][]bench.Result{"my-study": {{}}}}
	decisions := Decide(append(Claims(), own), e)
	if last := decisions[len(decisions)-1]; last.ID != "own" || last.Verdict != Confirmed {
		t.Errorf("own claim: %+v", last)
	}
}
