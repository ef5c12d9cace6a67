package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hambench/certify"
	"hambench/integrators"
	"hambench/usage"
)

// outcome is a report's verdict, as hambench's exit code.
func outcome(r *Report) int {
	switch err := r.Err(); {
	case errors.Is(err, ErrMoved):
		return 1
	case errors.Is(err, ErrUndecided):
		return 3
	}
	return 0
}

// compared is the report on two texts.
func compared(t *testing.T, old, new string, o Options) *Report {
	t.Helper()
	r, err := Compare(Run{"old", []byte(old)}, Run{"new", []byte(new)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// certified is the JSON of hambench certify on the Gaussian problem, under
// methods.
func certified(t *testing.T, methods []integrators.Integrator) []byte {
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

// baseline is the committed run of hambench certify, of the Gaussian problem.
func baseline(t *testing.T) (path string, data []byte) {
	t.Helper()
	path = filepath.Join("..", "..", "testdata", "certify.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var rows []certify.Row
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	rows = slices.DeleteFunc(rows, func(r certify.Row) bool { return r.Problem != "gaussian" })
	if data, err = json.Marshal(rows); err != nil {
		t.Fatal(err)
	}
	return path, data
}

// TestBaseline is the gate as CI runs it: what the tree computes now against
// the committed run.
func TestBaseline(t *testing.T) {
	now := certified(t, nil)
	path, old := baseline(t)
	r, err := Compare(Run{path, old}, Run{"now", now}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		var b bytes.Buffer
		if err := r.Write(&b); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%v; if that is meant, run go test ./certify -update\n%s", err, &b)
	}
}

// A constant, an order or an error that the new run knows no more has moved, by no percentage,
// though the verdict is the same and no other number differs.
func TestWhatIsLostHasMoved(t *testing.T) {
	path, old := baseline(t)
	for _, of := range []struct {
		what, why string
		lose      func(*certify.Row, *certify.Observable)
	}{
		{"constant", "one of the runs has none", func(_ *certify.Row, o *certify.Observable) { o.Constant = certify.Number(math.NaN()) }},
		{"order", "the new run has none, or none that is certain", func(_ *certify.Row, o *certify.Observable) {
			nan := certify.Number(math.NaN())
			o.Order, o.Uncertainty, o.Constant = nan, nan, nan
		}},
		{"order", "the new run has none, or none that is certain", func(_ *certify.Row, o *certify.Observable) { o.Order = certify.Number(math.NaN()) }},
		{"order", "the new run has none, or none that is certain", func(_ *certify.Row, o *certify.Observable) { o.Uncertainty = 2 }},
		{"error at h = 0.04", "the new run resolves no error below 1", func(r *certify.Row, o *certify.Observable) {
			for i := range o.Errors {
				o.Errors[i] *= 2
				o.Resolution[i] = 1
			}
		}},
	} {
		var rows []certify.Row
		if err := json.Unmarshal(old, &rows); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(rows, func(r certify.Row) bool { return r.Observables[0].Verdict == certify.Confirmed })
		of.lose(&rows[i], &rows[i].Observables[0])
		now, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Compare(Run{path, old}, Run{"now", now}, Options{})
		if err != nil || len(r.Moved) != 1 || r.Moved[0].What != of.what || r.Moved[0].Why != of.why {
			t.Errorf("%+v, %v; want one %s: %s", r.Moved, err, of.what, of.why)
		}
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

// TestOnePercentOfNoiseIsCaught, for every integrator that runs of all take, and named.
func TestOnePercentOfNoiseIsCaught(t *testing.T) {
	for _, m := range certify.All(certify.Builtin()[0]) {
		planted := m
		planted.New = func(dim int, p integrators.Params) (*integrators.Instance, error) {
			in, err := m.New(dim, p)
			if err == nil {
				in.Kernel = louder{in.Kernel, 1.01}
				if in.Refresh != nil {
					in.Refresh = louder{in.Refresh, 1.01}
				}
			}
			return in, err
		}
		old := Run{"old", certified(t, []integrators.Integrator{m})}
		r, err := Compare(old, Run{"new", certified(t, []integrators.Integrator{planted})}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !errors.Is(r.Err(), ErrMoved) {
			t.Errorf("%s: not caught", m.Name)
		}
		for _, c := range r.Moved {
			if !strings.Contains(c.Where, "integrator="+m.Name+" ") {
				t.Errorf("%s: accused %s", m.Name, c.Where)
			}
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
		{"a benchmark", "BenchmarkX 1 1 ns/op\n"},
		{"no rows", `[{"observables": []}]`},
		{"cells without a number", strings.Replace(cellHeader+cellLine(0, 0.1, false), ",0.1,", ",x,", 1)},
		{"a column missing", "experiment,dataset\nm,b\n"},
		{"a torn CSV", cellHeader + "a,b\n"},
		{"JSON of something else", `{"name": "x"}`},
		{"a distance that is no number", cellHeader + cellLine(0, math.NaN(), false)},
		{"a distance below 0", cellHeader + cellLine(0, -0.1, false)},
		{"no column of steps", strings.Replace(cellHeader, ",h,", ",step,", 1) + cellLine(0, 0.1, false)},
		{"two columns of one name", strings.Replace(cellHeader, "seconds", "ks", 1) + cellLine(0, 0.1, false)},
		{"text after JSON", `[{"experiment":"m","dataset":"b","split":0,"h":0.1,"ks":0.1,"diverged":false}]]]`},
	} {
		for _, old := range []string{string(good), c.data} {
			_, err := Compare(Run{"old", []byte(old)}, Run{"bad", []byte(c.data)}, Options{})
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
	r := &Report{Kind: kindCertify, Compared: 2}
	r.moved("p / leapfrog / full / theta.cov", "order", "2", "1", "by 1")
	r.Undecided = []Undecided{
		{Where: "dataset=yacht", Smallest: "0.05", Effect: "0.03", More: 7},
		{Where: "dataset=boston", Smallest: "0.04", Effect: "0.03", More: 2},
	}
	r.note("a note")
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"leapfrog", "order", "| 2 ", "dataset=yacht", "0.05", "note: a note", "certify: 2 compared, 1 moved"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("report lacks %q:\n%s", want, &b)
		}
	}
	r.Moved = nil
	want := "gate: cannot decide: a change of --distance 0.03 would be missed in more than one of ten runs: " +
		"run 7 further splits (2 of 2 comparisons)"
	if err := r.Err(); !errors.Is(err, ErrUndecided) || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}

// Holm rejects three hypotheses of which Bonferroni, whose level is 0.0167 for each, rejects one;
// after the first that it keeps it rejects none.
func TestHolmStepsDown(t *testing.T) {
	for _, c := range []struct {
		p    []float64
		want []bool
	}{
		{[]float64{0.04, 0.01, 0.02}, []bool{true, true, true}},
		{[]float64{0.04, 0.01, 0.03}, []bool{false, true, false}},
	} {
		if got, _ := holm(c.p, 0.05); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v rejected, want %v", c.p, got, c.want)
		}
	}
}

// Errors are compared step by step, and other answers than errors not at all: the report says so.
func TestWhatIsNotComparedOfCertifyIsNoted(t *testing.T) {
	_, old := baseline(t)
	var rows []certify.Row
	if err := json.Unmarshal(old, &rows); err != nil {
		t.Fatal(err)
	}
	// report compares the rows before and after a change of the first.
	report := func(change func(*certify.Row)) *Report {
		before, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		change(&rows[0])
		after, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		return compared(t, string(before), string(after), Options{})
	}
	r := report(func(row *certify.Row) {
		for j := range row.Steps {
			row.Steps[j] *= 1.01
		}
	})
	apart, all := len(rows[0].Observables)*len(rows[0].Steps), 0
	for _, row := range rows {
		all += len(row.Observables) * len(row.Steps)
	}
	want := fmt.Sprintf("%d of %d errors of the old run are at steps that the new one lacks, and are not compared", apart, all)
	if r.Err() != nil || !slices.Equal(r.Notes, []string{want}) {
		t.Errorf("%v, notes %q; want none and %q", r.Err(), r.Notes, want)
	}
	stable := certify.Number(1)
	rows[0].StableStep = &stable
	r = report(func(row *certify.Row) { *row.StableStep = 0.5 })
	want = "what --budget, --stability, --distance and --energy add to rows is not compared"
	if r.Err() != nil || !slices.Equal(r.Notes, []string{want}) {
		t.Errorf("%v, notes %q; want none and %q", r.Err(), r.Notes, want)
	}
}
