package gate

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hambench/usage"
)

// required are the columns without which a table is no export. Exports of the
// first edition have them.
var required = []string{"experiment", "dataset", "split", "ks", "diverged", "gradients", "seconds"}

// identity are the columns that say which cell it is, but for the split: the
// splits are the repetitions. Those that one of two runs lacks do not count.
var identity = []string{
	"experiment", "dataset", "model", "hidden", "precision", "integrator", "parameters", "nl", "friction", "estimator",
	"scheme", "K", "batch", "h", "samples", "thin", "burn_in", "observe",
}

// environmentColumns say where and by what a cell was computed.
var environmentColumns = []string{"arch", "isa", "cpu", "go", "commit", "version"}

// The noise of a distance, seen in chains that differ by their seed alone
// (docs/gate.md). Up to quiet times the distance of independent samples, which
// is the column ks_self, its standard deviation is at most noiseShare of it.
// Beyond, near the limit of stability, a chain may have three times the distance
// of another one: one split is taken to have noise of wildShare, several tell
// their own. usualSelf is ks_self for 200 samples, for want of a column.
const (
	noiseShare = 0.1
	quiet      = 2
	wildShare  = 1
	usualSelf  = 0.085
)

// proportional is the distance from which on --distance is a share of it.
const proportional = 0.1

// shortest is the time, in seconds, from which on a cell's cost is compared:
// exports round to milliseconds.
const shortest = 0.1

// cell is what is compared of a cell.
type cell struct {
	key, split         string // key: of the store
	integrator         string
	ks, self           float64
	diverged           bool
	gradients, seconds float64
}

// cost is in seconds per gradient; NaN if it is too short to say.
func (c cell) cost() float64 {
	if c.seconds < shortest || c.gradients <= 0 {
		return math.NaN()
	}
	return c.seconds / c.gradients
}

// splits are the cells of one identity in the order of their splits. Several cells of
// one split, which an older export does not distinguish, stand in its order.
type splits []cell

func parseCells(r Run, records []map[string]string, columns []string) (*quantities[splits], error) {
	q := newQuantities[splits]()
	for i, rec := range records {
		one, err := parseCell(rec)
		if err != nil {
			return nil, usage.Errorf("gate: %s: cell %d: %w", r.Name, i+1, err)
		}
		of := q.at(keyOf(rec, columns))
		*of = append(*of, one)
		for _, name := range environmentColumns {
			q.environment.add(name, rec[name])
		}
	}
	if len(q.keys) == 0 {
		return nil, usage.Errorf("gate: %s has no cells", r.Name)
	}
	for _, of := range q.of {
		slices.SortStableFunc(*of, func(a, b cell) int { return cmp.Compare(a.split, b.split) })
	}
	return q, nil
}

func keyOf(rec map[string]string, columns []string) string {
	var parts []string
	for _, name := range columns {
		if v := rec[name]; v != "" && v != "inf" { // which JSON cannot say
			parts = append(parts, name+"="+v)
		}
	}
	return strings.Join(parts, " ")
}

// cellRecords reads CSV, a JSON array, or JSON objects one after another.
func cellRecords(r Run) ([]map[string]string, error) {
	var records []map[string]string
	if text := bytes.TrimSpace(r.Data); text[0] != '[' && text[0] != '{' {
		lines, err := csv.NewReader(bytes.NewReader(r.Data)).ReadAll()
		if err != nil {
			return nil, usage.Errorf("gate: %s: %w", r.Name, err)
		}
		for _, line := range lines[1:] {
			rec := make(map[string]string)
			for i, name := range lines[0] {
				rec[name] = line[i]
			}
			records = append(records, rec)
		}
		return records, nil
	}
	d := json.NewDecoder(bytes.NewReader(r.Data))
	d.UseNumber()
	for d.More() {
		var read any
		if err := d.Decode(&read); err != nil {
			return nil, usage.Errorf("gate: %s: not cells in JSON: %w", r.Name, err)
		}
		objects, several := read.([]any)
		if !several {
			objects = []any{read}
		}
		for _, one := range objects {
			o, ok := one.(map[string]any)
			if !ok {
				return nil, usage.Errorf("gate: %s: not cells in JSON: want objects", r.Name)
			}
			rec := make(map[string]string)
			for k, v := range o {
				if v != nil {
					rec[k] = fmt.Sprint(v)
				}
			}
			records = append(records, rec)
		}
	}
	return records, nil
}

func parseCell(rec map[string]string) (cell, error) {
	var err error
	number := func(name string) float64 {
		v, bad := strconv.ParseFloat(rec[name], 64)
		if (bad != nil || math.IsNaN(v) || math.IsInf(v, 0)) && err == nil {
			err = usage.Errorf("%s = %q: want a finite number", name, rec[name])
		}
		return v
	}
	c := cell{
		key: rec["key"], split: rec["split"], integrator: rec["integrator"],
		ks: number("ks"), gradients: number("gradients"), seconds: number("seconds"),
	}
	if rec["ks_self"] != "" {
		c.self = max(0, number("ks_self"))
	}
	c.self = cmp.Or(c.self, usualSelf)
	diverged, bad := strconv.ParseBool(rec["diverged"])
	switch {
	case err != nil:
		return c, err
	case bad != nil:
		return c, usage.Errorf("diverged = %q: want true or false", rec["diverged"])
	case rec["experiment"] == "" || rec["dataset"] == "":
		return c, usage.Errorf("experiment or dataset is missing: want the columns of hambench export")
	}
	c.diverged = diverged
	return c, nil
}

// compareCells distinguishes cells by the columns that both runs have.
func compareCells(oldRun, newRun Run, o Options) (*Report, error) {
	a, b, err := both(oldRun, newRun, cellRecords)
	if err != nil {
		return nil, err
	}
	columns := slices.DeleteFunc(slices.Clone(identity), func(name string) bool { return !has(a, name) || !has(b, name) })
	old, err := parseCells(oldRun, a, columns)
	if err != nil {
		return nil, err
	}
	new, err := parseCells(newRun, b, columns)
	if err != nil {
		return nil, err
	}
	r, costs := &Report{Kind: kindCells}, make(map[string][]float64)
	for _, key := range old.keys {
		was, is := *old.of[key], splits{}
		if found := new.of[key]; found != nil {
			is = *found
		}
		at := r.begin(key, "distance", was.mean(), is.mean())
		pairs, missing := pair(was, is)
		if missing > 0 {
			r.moved(at, "cell", "present", "missing", "every old cell must be in the new run, split by split: %d are not", missing)
			continue
		}
		for _, p := range pairs {
			if ratio := math.Log(p.new.cost() / p.old.cost()); p.old.integrator != "" && p.old.integrator == p.new.integrator && !math.IsNaN(ratio) {
				costs[p.old.integrator] = append(costs[p.old.integrator], ratio)
			}
		}
		r.compareCell(at, pairs, o)
	}
	if !o.NoCost {
		r.compareCosts(costs, 2*o.Effect)
	}
	return finish(r, old, new, o), nil
}

// mean is the mean distance of the splits; NaN if there is none, or a chain diverged.
func (s splits) mean() float64 {
	sum := 0.0
	for _, c := range s {
		if c.diverged {
			return math.NaN()
		}
		sum += c.ks
	}
	return sum / float64(len(s))
}

func has(records []map[string]string, column string) bool {
	return slices.ContainsFunc(records, func(rec map[string]string) bool { return rec[column] != "" })
}

// pairOf is a cell in both runs.
type pairOf struct{ old, new cell }

func (p pairOf) equal() bool { return p.old.ks == p.new.ks && p.old.diverged == p.new.diverged }

// pair puts together what is the same cell and split in both runs, and counts
// what the new one lacks. Cells of one split pair by key, the rest in order.
func pair(old, new splits) (pairs []pairOf, missing int) {
	old, new = slices.Clone(old), slices.Clone(new)
	for _, same := range []func(a, b cell) bool{
		func(a, b cell) bool { return a.key != "" && a.key == b.key },
		func(a, b cell) bool { return true },
	} {
		old = slices.DeleteFunc(old, func(c cell) bool {
			i := slices.IndexFunc(new, func(d cell) bool { return c.split == d.split && same(c, d) })
			if i >= 0 {
				pairs = append(pairs, pairOf{c, new[i]})
				new = slices.Delete(new, i, i+1)
			}
			return i >= 0
		})
	}
	return pairs, len(old)
}

// compareCell compares the pairs of a cell that differ: what is equal to the
// last digit has not moved. More chains that diverge are a move at once; the
// distances of those that do in neither run are to be tested.
func (r *Report) compareCell(at int, pairs []pairOf, o Options) {
	pairs = slices.DeleteFunc(slices.Clone(pairs), pairOf.equal)
	if len(pairs) == 0 {
		r.Equal++
		return
	}
	diverged := 0
	var old, new, self []float64
	for _, p := range pairs {
		switch {
		case p.new.diverged && !p.old.diverged:
			diverged++
		case p.old.diverged && !p.new.diverged:
			diverged--
		case !p.old.diverged:
			old, new, self = append(old, p.old.ks), append(new, p.new.ks), append(self, p.old.self)
		}
	}
	if diverged > 0 {
		r.moved(at, "diverged", "no", "yes", "%d more chains of %d that differ", diverged, len(pairs))
	} else if len(old) > 0 {
		r.test(at, compareDistances(old, new, stat.Mean(self, nil), o.Distance))
	}
}

// compareDistances compares the distances of a cell, split by split.
func compareDistances(old, new []float64, self, effect float64) comparison {
	c := comparison{
		old: stat.Mean(old, nil), new: stat.Mean(new, nil), unit: absolutely, n: len(old), m: len(old), paired: true,
	}
	size := (c.old + c.new) / 2
	c.change, c.effect = c.new-c.old, effect*max(1, size/proportional)
	c.sd = noiseShare * max(size, self)
	smaller := min(c.old, c.new)
	switch {
	case smaller <= quiet*self:
		c.known = true
	case c.n == 1:
		c.known, c.sd = true, max(c.sd, wildShare*smaller)
	default:
		changes := make([]float64, len(old))
		floats.SubTo(changes, new, old)
		c.sd = max(c.sd, stat.StdDev(changes, nil)/math.Sqrt2)
	}
	return c
}

// compareCosts compares costs, of which it is given the logarithms of the ratios, new
// to old, by integrator: of one cell there is one measurement, which says nothing
// about its noise.
func (r *Report) compareCosts(costs map[string][]float64, effect float64) {
	for _, name := range slices.Sorted(maps.Keys(costs)) {
		ratios := costs[name]
		mean, sd := stat.MeanStdDev(ratios, nil)
		at := r.begin("integrator="+name, "time per gradient, new to old", 1, math.Exp(mean))
		if slices.Min(ratios) == 0 && slices.Max(ratios) == 0 {
			r.Equal++
			continue
		}
		r.test(at, comparison{
			old: 1, new: math.Exp(mean), change: mean, effect: math.Log1p(effect),
			unit: logarithm, sd: sd / math.Sqrt2, n: len(ratios), m: len(ratios), paired: true,
		})
	}
}
