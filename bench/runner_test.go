package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hambench/integrators"
	"hambench/internal/atomicfile"
	"hambench/models"
	"hambench/oracle"
	"hambench/usage"
)

// wells is the posterior of θ ∈ R² under rows ½|θ − x_i|² and the prior
// N(0, I): normal with mean Σx/(n+1) and variance 1/(n+1).
type wells struct {
	x     [][2]float64
	order []int
}

func newWells() *wells {
	return &wells{x: [][2]float64{{1, 0}, {2, -1}, {0, 3}, {-2, 1}, {1, 1}, {4, -4}}}
}

func (w *wells) Dim() int            { return 2 }
func (w *wells) Rows() int           { return len(w.x) }
func (w *wells) Arrange(order []int) { w.order = order }
func (w *wells) row(i int) [2]float64 {
	if w.order != nil {
		i = w.order[i]
	}
	return w.x[i]
}
func (w *wells) Potential(theta []float64) float64 {
	u := (theta[0]*theta[0] + theta[1]*theta[1]) / 2
	for _, x := range w.x {
		u += ((theta[0]-x[0])*(theta[0]-x[0]) + (theta[1]-x[1])*(theta[1]-x[1])) / 2
	}
	return u
}
func (w *wells) Gradient(g, theta []float64, rows models.Rows) {
	for a := range g {
		g[a] = theta[a]
		for i := rows.Lo; i < rows.Hi; i++ {
			g[a] += rows.Scale * (theta[a] - w.row(i)[a])
		}
	}
}
func (w *wells) Outputs() int                 { return 2 }
func (w *wells) Predict(dst, theta []float64) { copy(dst, theta) }
func (w *wells) DrawPrior([]float64)          {}
func (w *wells) DrawPosterior(dst []float64) {
	mean, sd := w.PredictiveMarginals()
	for a := range dst {
		dst[a] = mean[a] + sd[a]*dst[a]
	}
}
func (w *wells) PredictiveMarginals() (mean, sd []float64) {
	n := float64(len(w.x) + 1)
	mean, sd = make([]float64, 2), []float64{1 / math.Sqrt(n), 1 / math.Sqrt(n)}
	for _, x := range w.x {
		mean[0], mean[1] = mean[0]+x[0]/n, mean[1]+x[1]/n
	}
	return mean, sd
}
func (w *wells) Scores(draws [][]float64) map[string]float64 {
	return map[string]float64{"first": draws[0][0], "infinite": math.Inf(1)}
}

// wellSource gives wells for every data set but "missing"; onTarget, if
// set, is called for each.
type wellSource struct{ onTarget func() }

func (s wellSource) Target(_ context.Context, dataset string, _ int, _, _ string) (models.Target, *Plane, error) {
	if s.onTarget != nil {
		s.onTarget()
	}
	if dataset == "missing" {
		return nil, nil, errors.New("no such data")
	}
	return newWells(), nil, nil
}

// smallRun is an experiment with oracle chains, an exact oracle, and a
// choice whose first cell diverges.
func smallRun() []Experiment {
	spec := oracle.NewSpec("wells", 0, "wells")
	spec.Precision, spec.Step, spec.Chains, spec.Samples, spec.Thin, spec.BurnIn = "float64", 0.05, 2, 8, 4, 20
	base := Cell{
		Observe: Distance, Dataset: "wells", Model: "wells", Integrator: "leapfrog", Inner: 1, Friction: 5, Scheme: "reshuffle",
		Batches: 3, Step: 0.05, Samples: 40, Thin: 5, BurnIn: 20, Seed: 1, Precision: "float64", Oracle: spec.Key(),
	}
	e := Experiment{ID: "small", Oracles: []oracle.Spec{spec}}
	for _, name := range []string{"euler", "leapfrog", "symmetric", "lietrotter"} {
		for _, truth := range []string{spec.Key(), Analytic} {
			for seed := range uint64(3) {
				c := base
				c.Integrator, c.Oracle, c.Seed = name, truth, seed
				e.Cells = append(e.Cells, c)
			}
		}
	}
	ref, path := base, base
	ref.Observe = Reference
	path.Observe, path.Oracle = Path, ""
	density := Cell{Observe: Density, Dataset: "wells", Model: "wells", Samples: 21, Precision: "float64"}
	wild, wilder := base, base
	wild.Step, wilder.Step = 40, 50
	calm := base
	calm.Step = 0.01
	e.Cells = append(e.Cells, ref, path, density)
	e.Choices = []Choice{{wilder, wild, calm}}
	return []Experiment{e}
}

const (
	smallCells  = 4*2*3 + 3 + 3
	smallBroken = 2 // diverging cells of the choice
)

func runSmall(t *testing.T, dir string, change func(*Runner)) (*Store, Summary) {
	t.Helper()
	r := &Runner{Store: openStore(t, dir), Source: wellSource{}, Workers: 2}
	if change != nil {
		change(r)
	}
	sum, err := r.Run(t.Context(), smallRun())
	if err != nil {
		t.Fatalf("%v; failures %v", err, sum.Failures)
	}
	return r.Store, sum
}

// same reports whether two stores hold equal results.
func same(t *testing.T, what string, a, b *Store) {
	t.Helper()
	x, y := a.Results(), b.Results()
	if len(x) != len(y) {
		t.Errorf("%s: %d results and %d", what, len(x), len(y))
		return
	}
	for i := range x {
		if !Equal(x[i], y[i]) {
			t.Errorf("%s: results differ:\n%+v\n%+v", what, x[i], y[i])
		}
	}
}

func TestRunComputesEverythingOnceThenNothing(t *testing.T) {
	dir := t.TempDir()
	s, sum := runSmall(t, dir, nil)
	if sum.Cells != smallCells || sum.Computed != smallCells || sum.Diverged != smallBroken || sum.OraclesBuilt != 1 {
		t.Errorf("first run: %+v; want %d cells computed, %d diverged, 1 oracle", sum, smallCells, smallBroken)
	}
	if _, missing := smallRun()[0].Results(s.Get); len(missing) != 0 {
		t.Errorf("missing after the run: %v", missing)
	}
	s.Close()
	_, sum = runSmall(t, dir, func(r *Runner) { r.Source = nil }) // needs no target at all
	if !sum.Nothing() || sum.Cells != smallCells || sum.Reused != smallCells {
		t.Errorf("second run: %+v; want all of %d cells reused", sum, smallCells)
	}
}

func TestResultsMakeSense(t *testing.T) {
	s, _ := runSmall(t, t.TempDir(), nil)
	for _, r := range s.Results() {
		c := r.Cell
		switch {
		case r.Diverged:
			if r.KS != 1 || c.Step < 1 || r.DivergedStep < 1 || r.Scores != nil {
				t.Errorf("diverged: %+v", r)
			}
		case c.Observe == Distance:
			// Against the exact law 40 draws a quarter of a unit apart are
			// at 0.1–0.4. The oracle's chains of 8 draws, a fifth of a unit
			// apart, may lie on one side of the law: up to 0.8.
			limit := 0.5
			if c.Oracle != Analytic {
				limit = 0.9
			}
			if !(r.KS > 0 && r.KS < limit) || !(r.KSSelf > 0) || r.Steps != c.kernels() || r.Gradients == 0 {
				t.Errorf("distance: %+v", r)
			}
			if _, ok := r.Scores["infinite"]; ok || len(r.Scores) != 2 {
				t.Errorf("scores %v, want first and lag1", r.Scores)
			}
		case c.Observe == Path:
			if len(r.Series["theta0"]) != c.Samples || len(r.Series["theta1"]) != c.Samples {
				t.Errorf("path of %d points, want %d", len(r.Series["theta0"]), c.Samples)
			}
		case c.Observe == Reference:
			if _, ok := r.Scores["rhat_p95"]; !ok || r.KSSelf == 0 || r.Seconds == 0 {
				t.Errorf("reference: %+v", r)
			}
		}
	}
}

func TestDensityBoxHoldsTheMass(t *testing.T) {
	s, _ := runSmall(t, t.TempDir(), nil)
	for _, r := range s.Results() {
		if r.Cell.Observe != Density {
			continue
		}
		mean, sd := newWells().PredictiveMarginals()
		for a, axis := range [][]float64{r.Series["theta0"], r.Series["theta1"]} {
			// The log-density is 12 below its maximum at √24 = 4.9
			// deviations; the two coarse grids add at most a step each.
			low, high := (mean[a]-axis[0])/sd[a], (axis[len(axis)-1]-mean[a])/sd[a]
			if low < 4.9 || high < 4.9 || low > 6 || high > 6 {
				t.Errorf("axis %d reaches %v and %v deviations from the mean, want about 5", a, low, high)
			}
		}
		if n := len(r.Series["logdensity"]); n != 21*21 || slices.Max(r.Series["logdensity"]) != 0 {
			t.Errorf("%d values with maximum %v, want 441 and 0", n, slices.Max(r.Series["logdensity"]))
		}
	}
}

func TestResultsDependOnNothingButTheCell(t *testing.T) {
	one, _ := runSmall(t, t.TempDir(), func(r *Runner) { r.Workers = 1 })
	many, _ := runSmall(t, t.TempDir(), func(r *Runner) { r.Workers = 7 })
	same(t, "1 and 7 workers", one, many)

	exps := smallRun()
	slices.Reverse(exps[0].Cells)
	r := &Runner{Store: openStore(t, t.TempDir()), Source: wellSource{}, Workers: 2}
	if _, err := r.Run(t.Context(), exps); err != nil {
		t.Fatal(err)
	}
	same(t, "cells in reverse order", one, r.Store)
}

func TestShardsMakeTheWhole(t *testing.T) {
	whole, _ := runSmall(t, t.TempDir(), nil)
	dir := t.TempDir()
	runSmall(t, dir, func(r *Runner) { r.OraclesOnly = true })
	cells := 0
	for i := range 3 {
		s, sum := runSmall(t, dir, func(r *Runner) { r.Shard = Shard{i, 3} })
		cells += sum.Cells
		if sum.OraclesBuilt != 0 || sum.Reused != 0 {
			t.Errorf("shard %d: %+v; want all computed and the oracle reused", i, sum)
		}
		s.Close()
	}
	if cells != smallCells {
		t.Errorf("shards have %d cells together, want %d", cells, smallCells)
	}
	same(t, "three shards and the whole", whole, openStore(t, dir))
}

func TestInterruptedRunContinues(t *testing.T) {
	whole, _ := runSmall(t, t.TempDir(), nil)
	dir := t.TempDir()
	reused := 0
	for stop := int64(1); ; stop += 7 {
		ctx, cancel := context.WithCancel(t.Context())
		var targets atomic.Int64
		s := openStore(t, dir)
		r := &Runner{Store: s, Workers: 2, Source: wellSource{func() {
			if targets.Add(1) == stop {
				cancel()
			}
		}}}
		sum, err := r.Run(ctx, smallRun())
		cancel()
		s.Close()
		if err == nil {
			reused = sum.Reused
			break
		}
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), dir) || len(sum.Failures) != 0 {
			t.Fatalf("interrupted: %v, %+v; want an error that wraps Canceled and names the store", err, sum)
		}
	}
	if reused == 0 {
		t.Error("the last run reused nothing: none was interrupted")
	}
	same(t, "interrupted and whole", whole, openStore(t, dir))
}

func TestDamagedRecordsAndOraclesAreComputedAgain(t *testing.T) {
	dir := t.TempDir()
	whole, _ := runSmall(t, dir, nil)
	whole.Close()
	damage(t, segments(t, dir)[0], 0.5)
	spec := smallRun()[0].Oracles[0]
	damage(t, whole.ReferencePath(spec.Key()), 0.5)

	s, sum := runSmall(t, dir, nil)
	if sum.Computed != 1 || sum.OraclesBuilt > 1 || len(s.Troubles()) == 0 {
		t.Errorf("%+v, troubles %v; want 1 cell computed and trouble reported", sum, s.Troubles())
	}
	same(t, "damaged and whole", whole, s)
	// The oracle is looked at only when a cell needs it.
	runSmall(t, dir, func(r *Runner) { r.OraclesOnly = true })
	if rep, err := Verify(dir); err != nil || rep.Oracles != 1 || slices.ContainsFunc(rep.Troubles, func(t Trouble) bool { return t.Line == 0 }) {
		t.Errorf("after the repair: %+v, %v", rep, err)
	}
}

// damage flips a bit at a fraction of a file.
func damage(t *testing.T, path string, at float64) {
	t.Helper()
	data := readFile(t, path)
	data[int(float64(len(data))*at)] ^= 0x10
	writeFile(t, path, data)
}

func TestFailuresAreListedAndTheRestIsDone(t *testing.T) {
	exps := smallRun()
	lost := exps[0].Cells[0]
	lost.Dataset = "missing"
	broken := exps[0].Oracles[0]
	broken.Dataset = "missing"
	orphan := lost
	orphan.Oracle = broken.Key()
	exps[0].Cells = append(exps[0].Cells, lost, orphan)
	exps[0].Oracles = append(exps[0].Oracles, broken)
	r := &Runner{Store: openStore(t, t.TempDir()), Source: wellSource{}, Workers: 2}
	sum, err := r.Run(t.Context(), exps)
	if err == nil || sum.Computed != smallCells || len(sum.Failures) != 3 {
		t.Errorf("%v, %+v; want an error, %d cells computed, 3 failures", err, sum, smallCells)
	}
	var bad *usage.Error
	if errors.As(err, &bad) {
		t.Errorf("%v is a usage error; a run that failed in part is not", err)
	}
}

func TestMistakesAreFoundBeforeAnythingRuns(t *testing.T) {
	for name, change := range map[string]func(*Cell){
		"integrator": func(c *Cell) { c.Integrator = "leapfrg" },
		"scheme":     func(c *Cell) { c.Scheme = "shuffle" },
		"step":       func(c *Cell) { c.Step = -1 },
	} {
		exps := smallRun()
		last := &exps[0].Cells[len(exps[0].Cells)-2]
		change(last)
		r := &Runner{Store: openStore(t, t.TempDir()), Source: wellSource{}}
		sum, err := r.Run(t.Context(), exps)
		var bad *usage.Error
		if !errors.As(err, &bad) || sum.Computed != 0 || len(r.Store.Results()) != 0 {
			t.Errorf("wrong %s: %v, %+v; want a usage error and nothing computed", name, err, sum)
		}
	}
}

func TestUnwritableStoreEndsTheRun(t *testing.T) {
	r := &Runner{Store: openStore(t, t.TempDir()), Source: wellSource{}, Workers: 1}
	put(t, r.Store, result(1))
	r.Store.segment.Close()
	r.Store.dir = "/proc/nowhere"
	sum, err := r.Run(t.Context(), []Experiment{{ID: "x", Cells: smallRun()[0].Cells[3:9]}})
	if err == nil || errors.Is(err, context.Canceled) || sum.Computed > 0 {
		t.Errorf("%v, %+v; want the store's error", err, sum)
	}
}

// Neither are the cells listed that wait for an oracle that cannot be kept.
func TestUnwritableOracleEndsTheRun(t *testing.T) {
	r := &Runner{Store: openStore(t, t.TempDir()), Source: wellSource{}, Workers: 2}
	writeFile(t, r.Store.PartsFolder(), nil) // a file where a folder must be
	sum, err := r.Run(t.Context(), smallRun())
	var file *atomicfile.Error
	if !errors.As(err, &file) || len(sum.Failures) != 0 || !strings.Contains(err.Error(), "the same command continues") {
		t.Errorf("%v, failures %v; want one error that names the file and says how to continue", err, sum.Failures)
	}
}

// A program's own integrator goes through the same sweep.
func TestOwnIntegrator(t *testing.T) {
	lookup := func(name string) (integrators.Method, error) {
		if name != "mine" {
			return integrators.Builtin().Lookup(name)
		}
		m, err := integrators.Builtin().Lookup("leapfrog")
		m.Name = "mine"
		return m, err
	}
	c := smallRun()[0].Cells[3]
	c.Integrator = "mine"
	r := &Runner{Store: openStore(t, t.TempDir()), Source: wellSource{}, Lookup: lookup}
	if sum, err := r.Run(t.Context(), []Experiment{{ID: "own", Cells: []Cell{c}}}); err != nil || sum.Computed != 1 {
		t.Errorf("%v, %+v", err, sum)
	}
}

func TestScheduleRunsLongFirstOnAllCores(t *testing.T) {
	var order []string
	var running, most atomic.Int64
	mk := func(name string, first bool, cost float64) *task {
		return &task{name: name, first: first, cost: cost, width: 1, next: func(error) []*task { return nil }, run: func(context.Context, int) error {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(20 * time.Millisecond)
			running.Add(-1)
			return nil
		}}
	}
	tasks := []*task{mk("short", false, 1), mk("oracle", true, 0.5), mk("long", false, 9), mk("middle", false, 3), mk("tie", false, 3)}
	last := mk("released", false, 100)
	tasks[1].next = func(error) []*task { return []*task{last} }
	schedule(t.Context(), 2, tasks, func(t *task) { order = append(order, t.name) })
	if got := strings.Join(order, " "); !strings.HasPrefix(got, "oracle long") || len(order) != 6 {
		t.Errorf("order %q; want the oracle, then long, in all 6", got)
	}
	if most.Load() != 2 {
		t.Errorf("%d at once, want 2", most.Load())
	}
}

func TestParseShard(t *testing.T) {
	if s, err := ParseShard("2/5"); err != nil || s != (Shard{2, 5}) {
		t.Errorf("2/5: %v, %v", s, err)
	}
	for _, bad := range []string{"5/5", "-1/5", "1", "a/b", "0/0", "1/2/3"} {
		if _, err := ParseShard(bad); err == nil {
			t.Errorf("%q: accepted", bad)
		}
	}
}

func TestProgressLine(t *testing.T) {
	p := newProgress(&bytes.Buffer{}, 2)
	now := p.start
	p.now = func() time.Time { return now }
	oracleTask := &task{first: true, cost: 100}
	cells := []*task{{cost: 60}, {cost: 40}}
	p.add(oracleTask)
	for _, c := range cells {
		p.add(c)
	}
	if got := p.line(); got != "oracles 0/1, cells 0/2, 0 cells/s, 0s gone, ? left" {
		t.Errorf("at the start: %q", got)
	}
	p.begin(oracleTask)
	p.part(oracleTask, 0.5) // 50 of 200 done in 30 s: 90 s are left
	now = now.Add(30 * time.Second)
	if got := p.line(); got != "oracles 0/1, cells 0/2, 0 cells/s, 30s gone, 1m30s left" {
		t.Errorf("in the oracle: %q", got)
	}
	p.end(oracleTask, true)
	p.end(cells[0], true)
	p.end(cells[1], false)
	now = now.Add(10 * time.Second)
	if got := p.line(); got != "oracles 1/1, cells 1/2, 0.025 cells/s, 40s gone, 0s left" {
		t.Errorf("at the end: %q", got)
	}
}

func TestExport(t *testing.T) {
	s, _ := runSmall(t, t.TempDir(), nil)
	exps := smallRun()
	exps[0].Cells[0].Friction = 0 // not in the store: no row
	rows := Rows(exps, s.Get)
	if want := smallCells - smallBroken - 1; len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	r := result(1)
	r.Cell.Friction, r.Cell.Step = 0, 1e-7
	r.Key = r.Cell.Key()
	var csv, json bytes.Buffer
	if err := errors.Join(WriteCSV(&csv, []Row{rowOf("x", r)}), WriteJSON(&json, []Row{rowOf("x", r)})); err != nil {
		t.Fatal(err)
	}
	want := "experiment,dataset,split,integrator,nl,friction,scheme,K,batch,h,ks,ks_self,diverged,steps,gradients,seconds,key,seed\n" +
		"x,linear,0,leapfrog,1,inf,full,1,0,0.0000001,0.25,0.5,false,150,0,1.000," + r.Key + ",1\n"
	if csv.String() != want {
		t.Errorf("CSV:\n%swant:\n%s", csv.String(), want)
	}
	if !strings.Contains(json.String(), `"friction": null`) {
		t.Errorf("JSON: %s; want null friction", json.String())
	}
	for _, k := range columns {
		if !strings.Contains(json.String(), fmt.Sprintf("%q:", k)) {
			t.Errorf("JSON lacks the column %s", k)
		}
	}
}

func TestEstimatesCountWhatIsMissingOnce(t *testing.T) {
	s := openStore(t, t.TempDir())
	exps := Experiments(profile(t, "quick"))
	est, err := CostModel{}.Estimates(exps, Shard{}, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]Estimate{}
	cells, oracles := 0, 0
	for _, e := range est {
		by[e.ID] = e
		cells, oracles = cells+e.Missing, oracles+e.Oracles
	}
	if oracles != 6 || by["methods"].Oracles != 6 {
		t.Errorf("%d oracles, %d with methods; want 6, all with the first that needs them", oracles, by["methods"].Oracles)
	}
	if f := by["friction"]; f.Missing >= f.Cells || f.Seconds <= 0 {
		t.Errorf("friction: %+v; want fewer missing than cells: methods has those of C = 5", f)
	}
	half := 0.0
	for i := range 2 {
		est, err := CostModel{}.Estimates(exps, Shard{i, 2}, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range est {
			half += float64(e.Missing)
		}
	}
	if int(half) != cells {
		t.Errorf("two shards miss %v cells together, want %d", half, cells)
	}
}
