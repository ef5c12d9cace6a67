package figures

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/certify"
	"hambench/integrators"
	"hambench/models"
	"hambench/models/datasets"
)

// memory is a store of results and exact errors by key.
type memory struct {
	results map[string]bench.Result
	rows    map[string][]certify.Row
}

// Get returns what m has as records, so that bench.Results can read it.
func (m memory) Get(kind store.Kind, key string) (store.Record, bool) {
	var body any
	var ok bool
	switch kind {
	case store.Result:
		body, ok = m.results[key]
	case store.Exact:
		body, ok = m.rows[key]
	}
	if !ok {
		return store.Record{}, false
	}
	b, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return store.Record{Kind: kind, Key: key, Body: b}, true
}

// drawer draws what m has into a folder.
func (m memory) drawer(dir string) Drawer {
	return Drawer{Results: bench.Results{Store: m}, Dir: dir, Width: 100}
}

// changed returns the memory with every result changed by f.
func (m memory) changed(f func(r *bench.Result)) memory {
	out := memory{make(map[string]bench.Result), m.rows}
	for key, r := range m.results {
		f(&r)
		out.results[key] = r
	}
	return out
}

// uci are the data sets that may be unavailable.
var uci = []string{"boston", "concrete", "energy", "yacht", "ionosphere", "vehicle"}

// studiesOf are the built-in studies by profile and unavailable sets: tests ask for the same ones.
var studiesOf sync.Map

// plan returns the plan of a built-in study. Jobs have their streams as keys,
// so that no data are loaded.
func plan(t testing.TB, profile, id string, unavailable ...string) bench.Plan {
	t.Helper()
	load := func() ([]bench.Study, error) {
		p, err := bench.LookupProfile(profile)
		if err != nil {
			return nil, err
		}
		p.Only = []string{id}
		return bench.Studies(p, datasets.Builtin(), models.Builtin(), unavailable...)
	}
	made, _ := studiesOf.LoadOrStore(fmt.Sprint(profile, id, unavailable), sync.OnceValues(load))
	studies, err := made.(func() ([]bench.Study, error))()
	if err != nil {
		t.Fatal(err)
	}
	return planOf(t, studies[0], unavailable...)
}

func planOf(t testing.TB, s bench.Study, unavailable ...string) bench.Plan {
	t.Helper()
	p := bench.Plan{Study: s, Unavailable: unavailable}
	p.Exact, p.Cells = slices.Clone(p.Exact), slices.Clone(p.Cells) // the study is others', too
	for i := range p.Exact {
		p.Exact[i].Key = fmt.Sprint(i)
		addMethod(t, &p, p.Exact[i].Exact.Integrator)
	}
	for i := range p.Cells {
		c := p.Cells[i].Cell
		p.Cells[i].Key = c.Stream()
		addMethod(t, &p, c.Integrator)
		if _, ok := p.Dataset(c.Dataset); !ok {
			p.Data = append(p.Data, data(t, c.Dataset, unavailable))
		}
	}
	return p
}

func addMethod(t testing.TB, p *bench.Plan, name string) {
	t.Helper()
	if _, ok := p.Method(name); ok || name == "" {
		return
	}
	m, err := integrators.Builtin().Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	p.Methods = append(p.Methods, bench.Method{Name: name, Joint: bench.Real(m.Claims.ErgodicOrder), Position: bench.Real(m.Claims.PositionOrder)})
}

func data(t testing.TB, name string, unavailable []string) bench.Data {
	t.Helper()
	d, err := datasets.Builtin().Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	out := bench.Data{Name: name, Label: d.Label, Task: d.Task.String(), Rows: d.TrainRows, Classes: d.Classes, Builtin: d.Builtin()}
	for _, u := range unavailable {
		if missing, err := datasets.Builtin().Lookup(u); err == nil && missing.StandIn == name {
			out.For = append(out.For, u)
		}
	}
	return out
}

// invent returns results with the shape of real ones for every cell for which
// keep is true. They depend on what the cell says alone.
func invent(p bench.Plan, keep func(bench.Cell) bool) memory {
	m := memory{results: make(map[string]bench.Result), rows: make(map[string][]certify.Row)}
	for _, j := range p.Cells {
		if keep == nil || keep(j.Cell) {
			d, _ := p.Dataset(j.Cell.Dataset)
			m.results[j.Key] = inventResult(j, d.Classes > 0)
		}
	}
	return m
}

func inventResult(j bench.Job, classes bool) bench.Result {
	c := j.Cell
	seed := fmt.Sprintf("%x", sha256.Sum256([]byte(fmt.Sprint(c.Observe, c.Dataset, c.Split, c.Integrator, c.Inner, float64(c.Friction), c.Scheme, c.Batches, c.Step, c.Samples, c.Thin, c.BurnIn, c.Seed, c.Precision))))
	rng := rand.New(rand.NewPCG(uint64(seed[0])<<16|uint64(seed[1])<<8|uint64(seed[2]), uint64(seed[3])))
	r := bench.Result{Cell: c, Key: j.Key, KSSelf: 0.085, KSSelfLow: 0.05, KSSelfHigh: 0.13, Seconds: 1.5 + rng.Float64()}
	if c.Samples == 2000 {
		r.KSSelf, r.KSSelfLow, r.KSSelfHigh = 0.0194, 0.011, 0.03
	}
	switch c.Observe {
	case bench.Distance:
		r.KS, r.Diverged = inventDistance(c, r.KSSelf, rng)
		r.Scores = inventScores(c, classes, rng)
	case bench.Reference:
		r.KS = r.KSSelf
		r.Scores = inventScores(c, classes, rng)
		r.Scores["ess"], r.Scores["rhat_p95"] = 850+50*rng.Float64(), 1.01+0.01*rng.Float64()
	case bench.Histogram:
		r.Series = inventHistogram(c, rng)
	case bench.Path:
		r.Series = inventPath(c, rng)
	case bench.Density:
		r.Series = inventDensity(c)
	case bench.Marginals:
		r.KS = 0.063
		r.Series = inventMarginals(rng)
	}
	return r
}

// inventDistance mixes the floor of the self-distance with a bias that grows
// with the step, more so with small batches and long integration.
func inventDistance(c bench.Cell, floor float64, rng *rand.Rand) (ks float64, diverged bool) {
	order := map[string]float64{"euler": 1, "leapfrog": 2, "sghmc": 2, "symmetric": 2, "lietrotter": 2, "mt3": 3}[c.Integrator]
	scale := map[string]float64{"euler": 3, "leapfrog": 130, "sghmc": 133, "symmetric": 110, "lietrotter": 100, "mt3": 900}[c.Integrator]
	if c.Samples == 2000 {
		scale /= 12
	}
	bias := scale * math.Pow(c.Step, order) * (1 + 0.002*float64(c.Inner*c.Inner))
	if c.Friction > 0 {
		bias *= 1 + 0.1*math.Abs(math.Log(float64(c.Friction)/7))
	}
	bias += 4 * c.Step * c.Step * float64(c.Batches-1) / 4
	if (c.Dataset == "energy" || c.Dataset == "yacht") && c.Step >= 0.02 && c.Batches == 1 || c.Step >= 0.1 && c.Inner >= 50 ||
		c.Dataset == "energy" && c.Step >= 0.01 && c.Split%2 == 1 {
		return 1, true
	}
	return math.Min(0.97, math.Hypot(floor, bias)) * (1 + 0.06*rng.NormFloat64()), false
}

func inventScores(c bench.Cell, classes bool, rng *rand.Rand) map[string]float64 {
	s := map[string]float64{"lag1": 0.05 + 0.05*rng.Float64()}
	if c.Observe == bench.Reference {
		s["metropolis_distance"], s["metropolis_acceptance"], s["checks_failed"] = 0.09, 0.8, float64(c.Split%2)
	}
	if classes {
		s["accuracy"], s["mnll"] = 0.85+0.05*rng.Float64(), 0.4+0.05*rng.Float64()
	} else {
		s["rmse"], s["mnll"] = 2.4+0.4*rng.NormFloat64(), 2.5+0.1*rng.NormFloat64()
	}
	return s
}

func inventHistogram(c bench.Cell, rng *rand.Rand) map[string][]float64 {
	const mean, sd = 0.133, 0.577
	wide := map[string]float64{"full": 1, "replacement": 1.35, "reshuffle": 1.08}[c.Scheme]
	edges, counts := []float64{}, make([]float64, 120)
	for i := range 121 {
		edges = append(edges, mean+sd*6*(float64(i)/60-1))
	}
	for range 20000 {
		at := (mean + wide*sd*rng.NormFloat64() - edges[0]) / (edges[1] - edges[0])
		counts[int(min(max(at, 0), 119))]++
	}
	return map[string][]float64{"edges": edges, "counts": counts, "mean": {mean}, "sd": {sd}}
}

func inventPath(c bench.Cell, rng *rand.Rand) map[string][]float64 {
	h, friction := c.Step, float64(c.Friction)
	x, y, u, v := 0.0, 0.0, 0.0, 0.0
	var xs, ys []float64
	for range c.Samples {
		x, y = x+h*u, y+h*v
		u += h*(-(x-1)/0.3-0.5*y-friction*u) + math.Sqrt(2*friction*h)*rng.NormFloat64()
		v += h*(-(y+1)/0.5-0.5*x-friction*v) + math.Sqrt(2*friction*h)*rng.NormFloat64()
		xs, ys = append(xs, x), append(ys, y)
	}
	return map[string][]float64{"theta0": xs, "theta1": ys}
}

func inventDensity(c bench.Cell) map[string][]float64 {
	var x, y, value []float64
	for i := range c.Samples {
		t := float64(i) / float64(c.Samples-1)
		x, y = append(x, -1.5+4.5*t), append(y, -4+5.5*t)
	}
	for _, b := range y {
		for _, a := range x {
			value = append(value, -((a-1)*(a-1)/0.3+(b+1)*(b+1)/0.5+(a-1)*(b+1))/2)
		}
	}
	return map[string][]float64{"theta0": x, "theta1": y, "logdensity": value}
}

func inventMarginals(rng *rand.Rand) map[string][]float64 {
	s := make(map[string][]float64)
	f := func(x float64) float64 { return math.Sin(2*x) + 0.4*x }
	for range 256 {
		x := -3 + 6*rng.Float64()
		if math.Abs(x-0.6) > 0.5 {
			s["train_x"] = append(s["train_x"], x)
			s["train_y"] = append(s["train_y"], f(x)+0.316*rng.NormFloat64())
		}
	}
	for range 200 {
		x := -3.5 + 7*rng.Float64()
		sd := 0.06 + 0.2*math.Exp(-(x-0.6)*(x-0.6)/0.1) + 0.5*max(0, math.Abs(x)-2.9)
		s["x"], s["exact_mean"], s["exact_sd"] = append(s["x"], x), append(s["exact_mean"], f(x)), append(s["exact_sd"], sd)
		for name, z := range map[string]float64{"q05": -1.645, "q25": -0.674, "q50": 0, "q75": 0.674, "q95": 1.645} {
			s[name] = append(s[name], f(x)+sd*(z+0.1*math.Sin(9*x+z)))
		}
	}
	return s
}
