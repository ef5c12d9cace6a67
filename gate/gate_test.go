package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hambench/certify"
	"hambench/integrators"
	"hambench/usage"
)

var update = flag.Bool("update", false, "rewrite the baseline in testdata")

// certified is the JSON of hambench certify on the Gaussian problem, under
// methods.
func certified(t *testing.T, methods []integrators.Method) []byte {
	t.Helper()
	rows, err := certify.Run(context.Background(), certify.Options{Problem: certify.Builtin()[0], Integrators: methods})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(rows, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

// TestBaseline is the gate as CI runs it: what the tree computes now against
// the committed run.
func TestBaseline(t *testing.T) {
	path := filepath.Join("..", "testdata", "certify.json")
	now := certified(t, nil)
	if *update {
		if err := os.WriteFile(path, now, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Compare(Run{path, old}, Run{"now", now}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		var b bytes.Buffer
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%v; if that is meant, run go test ./gate -update\n%s", err, &b)
	}
}

// louder multiplies a step's noise.
type louder struct {
	integrators.Stepper
	by float64
}

func (s louder) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	s.Stepper.Step(z, f, loud{n, s.by})
}

// Freeze hands the end of the adaptation on.
func (s louder) Freeze() {
	if a, ok := s.Stepper.(integrators.Adapter); ok {
		a.Freeze()
	}
}

type loud struct {
	integrators.Noise
	by float64
}

func (n loud) Normal(dst []float64) {
	n.Noise.Normal(dst)
	for i := range dst {
		dst[i] *= n.by
	}
}

func (n loud) Update(u *integrators.Update) {
	xi := make([]float64, len(u.R))
	n.Normal(xi)
	u.Apply(xi)
}

// TestOnePercentOfNoiseIsCaught, for every integrator, and named.
func TestOnePercentOfNoiseIsCaught(t *testing.T) {
	all := integrators.Builtin()
	old := certified(t, nil)
	for i, m := range all {
		planted := append([]integrators.Method(nil), all...)
		planted[i].New = func(dim int, p integrators.Params) (*integrators.Integrator, error) {
			in, err := m.New(dim, p)
			if err == nil {
				in.Kernel = louder{in.Kernel, 1.01}
				if in.Refresh != nil {
					in.Refresh = louder{in.Refresh, 1.01}
				}
			}
			return in, err
		}
		r, err := Compare(Run{"old", old}, Run{"new", certified(t, planted)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !errors.Is(r.Err(), ErrMoved) {
			t.Errorf("%s: not caught", m.Name)
		}
		for _, c := range r.Moved {
			if !strings.Contains(c.Where, " "+m.Name+" ") {
				t.Errorf("%s: accused %s", m.Name, c.Where)
			}
		}
	}
}

// benchText is benchmark output with n runs of one benchmark around a mean.
func benchText(rng *rand.Rand, mean float64, n int) []byte {
	var b bytes.Buffer
	for range n {
		fmt.Fprintf(&b, "BenchmarkStep/integrator=leapfrog-2 100 %.2f ns/op %.2f samples/s\n", mean*(1+0.01*rng.NormFloat64()), 1e9/mean)
	}
	return b.Bytes()
}

func TestBenchmarks(t *testing.T) {
	// 1 % of noise against shifts of 0, 2 and 20 %: a false alarm at 0 has
	// the pinned seed's say only; 5 % in general.
	rng := rand.New(rand.NewPCG(1, 1))
	old := benchText(rng, 1000, 10)
	for _, c := range []struct {
		reason string
		data   []byte
		moved  bool
	}{
		{"the same file", old, false},
		{"another run", benchText(rng, 1000, 10), false},
		{"significant but small", benchText(rng, 1020, 10), false},
		{"slower", benchText(rng, 1200, 10), true},
		{"faster", benchText(rng, 800, 10), false},
		{"too few runs to say", benchText(rng, 1200, 3), false},
		{"gone", []byte("BenchmarkOther 1 1 ns/op\n"), true},
	} {
		r, err := Compare(Run{"old", old}, Run{"new", c.data}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := errors.Is(r.Err(), ErrMoved); got != c.moved {
			t.Errorf("%s: moved %v, want %v: %+v", c.reason, got, c.moved, r.Moved)
		}
		if c.reason == "too few runs to say" && len(r.Notes) == 0 {
			t.Error("too few runs, and not a word of it")
		}
	}
}

func TestHigherIsBetterPerSecond(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	r, err := Compare(Run{"old", benchText(rng, 1000, 10)}, Run{"new", benchText(rng, 1500, 10)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]bool{}
	for _, c := range r.Moved {
		units[c.What] = true
	}
	if len(r.Moved) != 2 || !units["samples/s"] {
		t.Errorf("moved %+v, want time and rate", r.Moved)
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

const cellHeader = "experiment,dataset,split,integrator,nl,friction,scheme,K,batch,h,ks,ks_self,diverged,steps,gradients,seconds,key\n"

func cellLine(split int, ks float64, diverged bool) string {
	return fmt.Sprintf("methods,boston,%d,leapfrog,1,5,reshuffle,57,8,0.005,%g,0.08,%v,1000,1000,0.5,abc\n", split, ks, diverged)
}

func TestCells(t *testing.T) {
	splits := func(shift float64) string {
		s := cellHeader
		for i := range 5 {
			s += cellLine(i, 0.1+0.01*float64(i)+shift, false)
		}
		return s
	}
	for _, c := range []struct {
		reason, old, new string
		moved            bool
	}{
		{"the same", splits(0), splits(0), false},
		{"worse in all splits", splits(0), splits(0.1), true},
		{"worse by less than what counts", splits(0), splits(0.02), false},
		{"better", splits(0.1), splits(0), false},
		{"one split, much worse", cellHeader + cellLine(0, 0.1, false), cellHeader + cellLine(0, 0.2, false), true},
		{"now diverges", cellHeader + cellLine(0, 0.1, false), cellHeader + cellLine(0, 1, true), true},
		{"gone", splits(0), cellHeader + strings.Replace(cellLine(0, 0.1, false), "boston", "yacht", 1), true},
		{
			"JSON rows", `[{"experiment":"m","dataset":"b","split":0,"integrator":"euler","scheme":"full","h":0.1,"ks":0.1,"diverged":false,"gradients":10,"seconds":1}]`,
			`{"experiment":"m","dataset":"b","split":0,"integrator":"euler","scheme":"full","h":0.1,"ks":0.3,"diverged":false,"gradients":10,"seconds":1}`, true,
		},
	} {
		r, err := Compare(Run{"old", []byte(c.old)}, Run{"new", []byte(c.new)}, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		if got := errors.Is(r.Err(), ErrMoved); got != c.moved {
			t.Errorf("%s: moved %v, want %v: %+v", c.reason, got, c.moved, r.Moved)
		}
	}
}

// TestUnusableInput is a usage error, of one line, that names the file.
func TestUnusableInput(t *testing.T) {
	good := certified(t, integrators.Builtin()[:1])
	for _, c := range []struct{ reason, data string }{
		{"empty", ""},
		{"prose", "all is well\n"},
		{"cut off", string(good[:len(good)/2])},
		{"of another kind", "BenchmarkX 1 1 ns/op\n"},
		{"no rows", `[{"observables": []}]`},
		{"cells without a number", strings.Replace(cellHeader+cellLine(0, 0.1, false), ",0.1,", ",x,", 1)},
		{"a column missing", "experiment,dataset\nm,b\n"},
		{"a torn CSV", cellHeader + "a,b\n"},
		{"JSON of something else", `{"name": "x"}`},
	} {
		for _, old := range []string{string(good), c.data} {
			_, err := Compare(Run{"old", []byte(old)}, Run{"bad", []byte(c.data)}, Options{})
			if c.reason == "of another kind" && old == c.data {
				continue
			}
			var bad *usage.Error
			if !errors.As(err, &bad) {
				t.Errorf("%s: %v is not a usage error", c.reason, err)
			} else if strings.Contains(strings.TrimSpace(err.Error()), "\n") {
				t.Errorf("%s: %q has more than one line", c.reason, err)
			}
		}
	}
	var bad *usage.Error
	if _, err := Files("no such file", "nor this", Options{}); !errors.As(err, &bad) {
		t.Errorf("missing file: %v is not a usage error", err)
	}
	if _, err := Compare(Run{"a", good}, Run{"b", good}, Options{Alpha: math.NaN()}); !errors.As(err, &bad) {
		t.Errorf("alpha = NaN: %v is not a usage error", err)
	}
}

func TestReportSaysWhat(t *testing.T) {
	r := &Report{Kind: kindCertify, Compared: 3}
	r.moved("p / leapfrog / full / theta.cov", "order", "2", "1", "by %g", 1.0)
	r.note("a note")
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"leapfrog", "order", "| 2 ", "note: a note", "certify: 3 compared, 1 moved"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("report lacks %q:\n%s", want, &b)
		}
	}
}
