package gate

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/perf/benchfmt"

	"hambench/usage"
)

// benchmarks are the measurements of a run by benchmark and unit.
type benchmarks struct {
	values map[string][]float64
	keys   []string // in the order of the file
	better map[string]int
}

func parseBenchmarks(r Run) (*benchmarks, error) {
	b := &benchmarks{values: make(map[string][]float64), better: make(map[string]int)}
	reader := benchfmt.NewReader(bytes.NewReader(r.Data), r.Name)
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, usage.Errorf("gate: %w", rec)
		case *benchfmt.Result:
			b.add(rec, reader)
		}
	}
	if err := reader.Err(); err != nil {
		return nil, usage.Errorf("gate: %s: %w", r.Name, err)
	}
	if len(b.keys) == 0 {
		return nil, usage.Errorf("gate: %s holds no benchmark results: want certify JSON, exported cells, or the output of go test -bench", r.Name)
	}
	return b, nil
}

func (b *benchmarks) add(rec *benchfmt.Result, reader *benchfmt.Reader) {
	for _, v := range rec.Values {
		key := fmt.Sprintf("%s\x00%s", rec.Name.Full(), v.Unit)
		if pkg := rec.GetConfig("pkg"); pkg != "" {
			key = pkg + "." + key
		}
		if _, ok := b.values[key]; !ok {
			b.keys = append(b.keys, key)
			b.better[key] = reader.Units().GetBetter(v.Unit)
			if b.better[key] == 0 && strings.HasSuffix(v.Unit, "/s") {
				b.better[key] = 1
			}
		}
		b.values[key] = append(b.values[key], v.Value)
	}
}

func compareBenchmarks(oldRun, newRun Run, o Options) (*Report, error) {
	old, err := parseBenchmarks(oldRun)
	if err != nil {
		return nil, err
	}
	new, err := parseBenchmarks(newRun)
	if err != nil {
		return nil, err
	}
	r := &Report{Kind: kindBenchmarks}
	var all []comparison
	few := 0
	for _, key := range old.keys {
		name, unit, _ := strings.Cut(key, "\x00")
		r.Compared++
		values, ok := new.values[key]
		if !ok {
			r.moved(name, unit, "present", "missing", "every old benchmark must be in the new run")
			continue
		}
		c := comparison{where: name, what: unit, old: old.values[key], new: values, higherBetter: old.better[key] > 0, effect: o.Effect}
		if !c.testable() {
			few++
		}
		all = append(all, c)
	}
	r.decide(all, o)
	if few > 0 {
		r.note("%d benchmarks have fewer than %d runs on a side and were not tested: use -count", few, fewestRuns)
	}
	noteAdded(r, old.values, new.keys)
	return r, nil
}
