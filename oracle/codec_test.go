package oracle

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// small is a reference with every field set.
func small() *Reference {
	r := normalReference(rand.New(rand.NewPCG(6, 0)), 2, 4, 3)
	r.Spec = NewSpec("boston", 3, "bnn")
	r.Start = [][]float64{{1, 2}, {3, 4}}
	r.ChainStep = []float64{0.005, 0.0025}
	r.Potential = [][]float64{{1, 2, 3, 4}, {5, 6, 7, 8}}
	r.Diagnostics = diagnose(r.Draws)
	r.CrossCheck = CrossCheck{Distance: 0.1, Acceptance: 0.8, Step: 0.01, Leapfrogs: 100, ESS: Summary{Median: 3}}
	r.Checks = []Check{newCheck("ok", 1, 0, 2), newCheck("bad", 3, 0, 2)}
	return r
}

func TestEncodeAndDecode(t *testing.T) {
	r := small()
	data, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "encoded and decoded", r, got)
	if got.SelfDistance() != r.SelfDistance() {
		t.Errorf("self-distance %+v", got.SelfDistance())
	}
	if bad := got.Failed(); len(bad) != 1 || bad[0].Name != "bad" {
		t.Errorf("failed checks %+v", bad)
	}
	// The settings can be read without this program.
	if !strings.HasPrefix(string(data), `{"spec":{"dataset":"boston","split":3,`) {
		t.Errorf("the JSON begins with %.80q", data)
	}
}

// Bytes that are no reference are refused in one line. That bytes are those
// which were written is the store's business.
func TestDecodeRefusesWhatIsNoReference(t *testing.T) {
	data, err := small().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		if _, err := Decode(data[:i]); !errors.Is(err, ErrCorrupt) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("cut at byte %d of %d: error %v, want one line about damage", i, len(data), err)
		}
	}
}

func TestDecodeRefusesForgeries(t *testing.T) {
	forge := func(change func(*referenceBody)) []byte {
		whole, err := small().Encode()
		if err != nil {
			t.Fatal(err)
		}
		var b referenceBody
		if err := json.Unmarshal(whole, &b); err != nil {
			t.Fatal(err)
		}
		change(&b)
		data, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if _, err := Decode(forge(func(*referenceBody) {})); err != nil {
		t.Fatalf("an unchanged body is refused: %v", err)
	}
	for reason, change := range map[string]func(*referenceBody){
		"too many samples": func(b *referenceBody) { b.Shape.Samples++ },
		"too few outputs":  func(b *referenceBody) { b.Shape.Outputs-- },
		"no chains":        func(b *referenceBody) { b.Shape.Chains = 0 },
		"negative size":    func(b *referenceBody) { b.Shape.Dim = -1 },
		"absurd size":      func(b *referenceBody) { b.Shape.Samples = math.MaxInt },
		"missing numbers":  func(b *referenceBody) { b.Arrays = b.Arrays[1:] },
	} {
		if _, err := Decode(forge(change)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: error %v", reason, err)
		}
	}
}

// The random streams of references come from these bytes: another value
// would make all references anew.
func TestIDIsStable(t *testing.T) {
	const want = "31e73ffebbe8fd6bcfdc23ccd61a969dafaf68616ff98c92f6c72efc29bd5dfd"
	if got := NewSpec("boston", 0, "bnn").ID(); got != want {
		t.Errorf("ID %s, want %s", got, want)
	}
}

func TestIDDependsOnEveryField(t *testing.T) {
	base := NewSpec("boston", 0, "bnn")
	seen := map[string]string{base.ID(): "the base"}
	for name, change := range map[string]func(*Spec){
		"dataset": func(s *Spec) { s.Dataset = "yacht" }, "split": func(s *Spec) { s.Split = 1 },
		"model": func(s *Spec) { s.Model = "linear" }, "precision": func(s *Spec) { s.Precision = "float64" },
		"seed": func(s *Spec) { s.Seed = 2 }, "integrator": func(s *Spec) { s.Integrator = "leapfrog" },
		"h": func(s *Spec) { s.Step = 0.01 }, "friction": func(s *Spec) { s.Friction = 2 },
		"chains": func(s *Spec) { s.Chains = 6 }, "samples": func(s *Spec) { s.Samples = 100 },
		"thin": func(s *Spec) { s.Thin = 1 }, "burn-in": func(s *Spec) { s.BurnIn = 1 },
		"max_error": func(s *Spec) { s.MaxError = 0.5 },
	} {
		s := base
		change(&s)
		if other, taken := seen[s.ID()]; taken {
			t.Errorf("%s and %s have one ID", name, other)
		}
		seen[s.ID()] = name
	}
}

// A reference that travels with the program has the distances of the one it was made
// of, to less than a thousandth, and everything that was known of it.
func TestAShippedReferenceIsTheReference(t *testing.T) {
	r, err := Build(t.Context(), newNormals, quickSpec(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := r.Ship("its key")
	if err != nil {
		t.Fatal(err)
	}
	again, key, err := unship(file)
	if err != nil {
		t.Fatal(err)
	}
	if key != "its key" || again.Seconds != r.Seconds || again.OwnError != r.OwnError ||
		!reflect.DeepEqual(again.Checks, r.Checks) || !reflect.DeepEqual(again.Spec, r.Spec) {
		t.Errorf("%q: %+v", key, again)
	}
	other := converted[float64](correlated(rand.New(rand.NewPCG(44, 0)), 1, 100, 3, 0, 0, 0)[0])
	if a, b := r.Distance(other), again.Distance(other); math.Abs(a-b) > 1e-3 {
		t.Errorf("distances %v and %v to the same draws", a, b)
	}
	if d := again.SelfDistance().Mean - r.SelfDistance().Mean; math.Abs(d) > 1e-3 {
		t.Errorf("self-distance is off by %v", d)
	}
	for i, x := range r.Start[1] {
		if float32(x) != float32(again.Start[1][i]) {
			t.Errorf("start %v, want %v", again.Start[1][i], x)
		}
	}
	for cut := range 100 {
		if _, _, err := unship(file[:len(file)*cut/100]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%d %% of a file: error %v", cut, err)
		}
	}
}
