package gate

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"gonum.org/v1/gonum/stat"

	"hambench/usage"
)

// benchmark are the measurements of a benchmark in a unit.
type benchmark struct {
	name, unit   string
	values       []float64
	higherBetter bool
}

// higherIsBetter are units of which Go's convention does not say so: the
// benchmarks of this project report them.
var higherIsBetter = []string{"%peak", "speedup"}

func parseBenchmarks(r Run) (*quantities[benchmark], error) {
	q := newQuantities[benchmark]()
	reader := benchfmt.NewReader(bytes.NewReader(r.Data), r.Name)
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, usage.Errorf("gate: %w", rec)
		case *benchfmt.Result:
			if err := addBenchmark(q, rec, reader); err != nil {
				return nil, usage.Errorf("gate: %s: %w", r.Name, err)
			}
		}
	}
	if err := reader.Err(); err != nil {
		return nil, usage.Errorf("gate: %s: %w", r.Name, err)
	}
	if len(q.keys) == 0 {
		return nil, usage.Errorf("gate: %s holds no benchmark results: want certify JSON, exported cells, or the output of go test -bench", r.Name)
	}
	return q, nil
}

func addBenchmark(q *quantities[benchmark], rec *benchfmt.Result, reader *benchfmt.Reader) error {
	for _, c := range rec.Config {
		if c.File && c.Key != "pkg" {
			q.environment.add(c.Key, string(c.Value))
		}
	}
	name := string(rec.Name.Full())
	if pkg := rec.GetConfig("pkg"); pkg != "" {
		name = pkg + "." + name
	}
	for _, v := range rec.Values {
		if math.IsNaN(v.Value) || math.IsInf(v.Value, 0) {
			return usage.Errorf("%s = %v %s: want a finite number", rec.Name.Full(), v.Value, v.Unit)
		}
		b := q.at(name + "\x00" + v.Unit)
		if b.values == nil {
			b.name, b.unit, b.higherBetter = name, v.Unit, higherBetter(v.Unit, reader)
		}
		b.values = append(b.values, v.Value)
	}
	return nil
}

// higherBetter reports whether higher values of a unit are better. A unit of which
// nothing is known is a cost.
func higherBetter(unit string, reader *benchfmt.Reader) bool {
	d := reader.Units().GetBetter(unit)
	return d > 0 || d == 0 && (strings.HasSuffix(unit, "/s") || slices.Contains(higherIsBetter, unit))
}

func compareBenchmarks(oldRun, newRun Run, o Options) (*Report, error) {
	old, new, err := both(oldRun, newRun, parseBenchmarks)
	if err != nil {
		return nil, err
	}
	r := &Report{Kind: kindBenchmarks}
	for _, key := range old.keys {
		was, is := old.of[key], new.of[key]
		if is == nil {
			at := r.begin(was.name, was.unit, stat.Mean(was.values, nil), math.NaN())
			r.moved(at, was.unit, "present", "missing", "every old benchmark must be in the new run")
			continue
		}
		at := r.begin(was.name, was.unit, stat.Mean(was.values, nil), stat.Mean(is.values, nil))
		if same(was.values, is.values) {
			r.Equal++
		} else {
			r.test(at, compareSamples(was.values, is.values, was.higherBetter, o.Effect))
		}
	}
	return finish(r, old, new, o), nil
}

// same reports whether two lists hold the same measurements, or one value
// throughout.
func same(a, b []float64) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b) || a[0] == a[len(a)-1] && a[0] == b[0] && b[0] == b[len(b)-1]
}

// compareSamples compares independent measurements by Student's test. It is
// made on logarithms, in which noise that grows with the value is even; values
// that have none are compared in multiples of the old mean.
func compareSamples(old, new []float64, higherBetter bool, effect float64) comparison {
	c := comparison{old: stat.Mean(old, nil), new: stat.Mean(new, nil), n: len(old), m: len(new), effect: effect, unit: relatively}
	a, b := old, new
	switch {
	case slices.Min(old) > 0 && slices.Min(new) > 0:
		a, b, c.effect, c.unit = scaled(old, math.Log), scaled(new, math.Log), math.Log1p(effect), logarithm
	case c.old != 0:
		by := func(v float64) float64 { return v / math.Abs(c.old) }
		a, b = scaled(old, by), scaled(new, by)
	}
	c.change = stat.Mean(b, nil) - stat.Mean(a, nil)
	if higherBetter {
		c.change = -c.change
	}
	c.sd = math.Sqrt((squares(a) + squares(b)) / c.df(0))
	if c.old == 0 && c.change > 0 { // from nothing to something
		c.change, c.sd = math.Inf(1), 0
	}
	return c
}

func scaled(x []float64, f func(float64) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}

// squares is the sum of squared deviations from the mean.
func squares(x []float64) float64 {
	_, v := stat.PopMeanVariance(x, nil)
	return v * float64(len(x))
}
