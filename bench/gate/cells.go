package gate

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/usage"
)

// distance names the quantity that is compared of cells.
const distance = "distance"

// required are the columns without which a table is no export.
var required = []string{"experiment", "dataset", "split", "h", "ks", "diverged"}

// environment are the columns that say on what a cell was computed.
var environment = []string{"arch", "isa"}

// The noise of a distance, seen in chains that differ by their seed alone
// (docs/gate.md). Up to quiet times the distance of independent samples, which is the
// column ks_self, its standard deviation is at most noiseShare of it. Beyond, near the
// limit of stability, a chain may have three times the distance of another one: one
// split is taken to have noise of wildShare, several tell their own. usualSelf is
// ks_self for 200 samples, for want of a column.
const (
	noiseShare = 0.1
	quiet      = 2
	wildShare  = 1
	usualSelf  = 0.085
)

// proportional is the distance from which on --distance is a share of it.
const proportional = 0.1

// cell holds what is compared of a cell.
// Rows of a table of cells have it as their source.
type cell struct {
	key, split string  // key: of the store, "" if there is none
	ks         float64 // the chain's Kolmogorov distance
	self       float64 // that of independent draws, above 0
	diverged   bool
}

// identity returns the columns that say which cell a row is of, but for split and seed,
// which distinguish repetitions.
// The settings' declarations give them, so that a new setting distinguishes cells without a
// change here.
func identity() []table.Column {
	columns := []table.Column{{Name: "experiment", Kind: table.Text}}
	for _, s := range bench.Settings() {
		if s.Column == "" || s.Name == "split" || s.Name == "seed" {
			continue
		}
		for _, name := range s.Columns() {
			kind := table.Text
			if name == s.Column {
				kind = s.Kind
			}
			columns = append(columns, table.Column{Name: name, Kind: kind})
		}
	}
	return columns
}

// compareCells joins two exports by the columns of identity that both have. What is
// equal to the last digit has not moved.
// A column that one of the runs lacks, since an earlier version wrote it, distinguishes
// nothing, which a note says.
func compareCells(old, now Run, o Options) (*Report, error) {
	a, b, err := both(old, now, parseRecords)
	if err != nil {
		return nil, err
	}
	var lacking []string
	columns := slices.DeleteFunc(identity(), func(c table.Column) bool {
		inOld, inNew := has(a, c.Name), has(b, c.Name)
		if inOld != inNew {
			lacking = append(lacking, c.Name)
		}
		return !inOld || !inNew
	})
	was, err := parseCells(old, a, columns)
	if err != nil {
		return nil, err
	}
	is, err := parseCells(now, b, columns)
	if err != nil {
		return nil, err
	}
	// Tests are collected, since the level of each depends on how many there are.
	r := &Report{Kind: kindCells}
	if len(lacking) > 0 {
		r.note("only one of the runs has the columns %s: no cells are told apart by them",
			strings.Join(lacking, ", "))
	}
	// Rows that observe no distance are equal whatever has changed: runs of these alone would pass.
	n, m := undistanced(a), undistanced(b)
	switch {
	case n == len(a):
		return nil, usage.Errorf("gate: no cell of %s has a distance to compare", old.Name)
	case m == len(b):
		return nil, usage.Errorf("gate: no cell of %s has a distance to compare", now.Name)
	}
	if n > 0 {
		r.note("%d of %d rows of the old run observe no distance: all that is compared of them is "+
			"whether they are there, and whether they diverged", n, len(a))
	}
	var tests []comparison
	r.join(was, is, columns, func(where string, old, now *table.Table) {
		// Rows of one cell differ in split and seed. A cell that lacks some of them has moved as a
		// whole: the others are not tested.
		pairs, missing := pair(cells(old), cells(now))
		if missing > 0 {
			r.moved(where, "cell", "present", "missing", fmt.Sprintf(
				"every old cell must be in the new run, split by split: %d of %d are missing",
				missing, old.Len()))
			return
		}
		tests = append(tests, r.compareCell(where, pairs, o)...)
	})
	r.decide(tests, o.Alpha)
	r.noteEnvironment(a, b)
	return r, nil
}

// cells returns the cells of a table's rows.
func cells(t *table.Table) (list []cell) {
	for _, row := range t.Rows() {
		list = append(list, row.Source.(cell))
	}
	return list
}

// undistanced counts the records of cells that observe no distance: their ks is 0 in exports,
// and equal whatever has changed.
func undistanced(records []map[string]string) (n int) {
	for _, rec := range records {
		// A record without the column observes a distance: "" counts as bench.Distance.
		if !bench.Observable(rec["observe"]).Judged() {
			n++
		}
	}
	return n
}

// has reports whether any record has a column, be it empty: an integrator at its defaults has no
// text of its parameters, which tells it from one with others.
func has(records []map[string]string, column string) bool {
	return slices.ContainsFunc(records, func(rec map[string]string) bool {
		_, ok := rec[column]
		return ok
	})
}

// parseRecords reads CSV, a JSON array, or JSON objects one after another.
// Values are texts, as CSV has them; a missing one is "".
func parseRecords(r Run) (records []map[string]string, err error) {
	if text := bytes.TrimSpace(r.Data); text[0] == '[' || text[0] == '{' {
		records, err = parseObjects(text)
	} else {
		records, err = parseCSV(text)
	}
	if err == nil && len(records) == 0 {
		err = usage.Errorf("it has no cells")
	}
	if err != nil {
		return nil, usage.Errorf("gate: %s: %w", r.Name, err)
	}
	return records, nil
}

// parseCSV returns the lines of a CSV file by the names in its header.
func parseCSV(text []byte) (records []map[string]string, err error) {
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, err
	}
	// kindOf has found a header, and ReadAll refuses lines of another length than that.
	for _, line := range lines[1:] {
		rec := make(map[string]string)
		for i, name := range lines[0] {
			rec[name] = line[i]
		}
		records = append(records, rec)
	}
	return records, nil
}

// parseObjects returns the JSON objects of a text, or of the arrays in it, one after another.
// A null is "", as in CSV, but for an infinite friction, which JSON cannot say; numbers keep
// their digits.
func parseObjects(text []byte) (records []map[string]string, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		var read any
		switch err := d.Decode(&read); {
		case err == io.EOF:
			return records, nil
		case err != nil:
			return nil, fmt.Errorf("not cells in JSON: %w", err)
		}
		objects, ok := read.([]any)
		if !ok {
			objects = []any{read}
		}
		for _, one := range objects {
			object, ok := one.(map[string]any)
			if !ok {
				return nil, usage.Errorf("not cells in JSON: want objects")
			}
			// An object within, such as the scores, becomes a text, which no column here reads.
			rec := make(map[string]string)
			for name, v := range object {
				switch {
				case v != nil:
					rec[name] = fmt.Sprint(v)
				case name == "friction":
					rec[name] = "inf"
				default:
					rec[name] = ""
				}
			}
			records = append(records, rec)
		}
	}
}

// parseCells makes a table of records, with the given columns. Its rows' sources are
// cells.
// Numbers are compared by value, however they are written.
func parseCells(r Run, records []map[string]string, columns []table.Column) (*table.Table, error) {
	// The first mistake of a record ends it; the cases after it are passed over.
	// first has the number of the row, from 1, with an experiment, a split and a key.
	t, first := table.New(columns...), make(map[[3]string]int)
	for i, rec := range records {
		c, err := parseCell(rec)
		// Of two rows of one cell, as in two files put together, one would go uncompared.
		at := [3]string{rec["experiment"], c.split, c.key}
		if n := first[at]; err == nil && c.key != "" && n > 0 {
			err = usage.Errorf("has the experiment, split and key of cell %d: want each cell "+
				"once", n)
		}
		first[at] = i + 1
		values := make(map[string]any)
		for _, column := range columns {
			switch text := rec[column.Name]; {
			case err != nil:
			case column.Name == "friction" && text == "inf":
				values[column.Name] = math.Inf(1)
			// A row without a value joins rows of the other run that have none either.
			case text == "":
			case column.Kind == table.Number:
				values[column.Name], err = parseNumber(column.Name, text)
			default:
				values[column.Name] = text
			}
		}
		if err != nil {
			return nil, usage.Errorf("gate: %s: cell %d: %w", r.Name, i+1, err)
		}
		t.Add(c, values)
	}
	return t, nil
}

// parseCell reads what is compared of a record. A self-distance that is missing, or 0, is the
// usual one.
func parseCell(rec map[string]string) (c cell, err error) {
	if rec["experiment"] == "" || rec["dataset"] == "" {
		return c, usage.Errorf("experiment or dataset is missing: want the columns of " +
			"hambench export")
	}
	c.key, c.split = rec["key"], rec["split"]
	if split, err := strconv.ParseFloat(c.split, 64); err == nil { // 0.0 as 0
		c.split = strconv.FormatFloat(split, 'g', -1, 64)
	}
	if c.diverged, err = strconv.ParseBool(rec["diverged"]); err != nil {
		return c, usage.Errorf("diverged = %q: want true or false", rec["diverged"])
	}
	if c.ks, err = parseNumber("ks", rec["ks"]); err != nil {
		return c, err
	}
	if c.ks < 0 {
		return c, usage.Errorf("ks = %v: want a distance, 0 or more", c.ks)
	}
	if self := rec["ks_self"]; self != "" {
		if c.self, err = parseNumber("ks_self", self); err != nil {
			return c, err
		}
	}
	c.self = cmp.Or(max(0, c.self), usualSelf)
	return c, nil
}

// parseNumber reads the finite number of a column.
func parseNumber(name, text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, usage.Errorf("%s = %q: want a finite number", name, text)
	}
	return v, nil
}

// pairOf is a cell in both runs.
type pairOf struct{ old, new cell }

// equal reports whether both runs have the same result, to the last digit.
func (p pairOf) equal() bool { return p.old.ks == p.new.ks && p.old.diverged == p.new.diverged }

// pair puts together what is the same cell and split in both runs, and counts what the
// new one lacks. Cells of one split pair by key, the rest in order.
// Repetitions without a key, such as those of another program, pair in the order of the
// files.
func pair(old, now []cell) (pairs []pairOf, missing int) {
	// First by key, since of several seeds in one split some may be missing; what has no partner of
	// its key then takes any that is left.
	for _, same := range []func(a, b cell) bool{
		func(a, b cell) bool { return a.key != "" && a.key == b.key },
		func(a, b cell) bool { return true },
	} {
		// The function is called once for each cell, in order, and takes a partner out of now: no
		// later cell gets the same one.
		old = slices.DeleteFunc(old, func(c cell) bool {
			i := slices.IndexFunc(now, func(d cell) bool {
				return c.split == d.split && same(c, d)
			})
			if i >= 0 {
				pairs = append(pairs, pairOf{c, now[i]})
				now = slices.Delete(now, i, i+1)
			}
			return i >= 0
		})
	}
	return pairs, len(old)
}

// compareCell compares the pairs of a cell that differ. More chains that diverge are a
// move at once; the distances of those that do in neither run are returned, to be tested.
// A chain that diverges no more is an improvement, and passes, but does not make up for another
// that newly does: such a cell is undecided unless it has moved.
func (r *Report) compareCell(where string, pairs []pairOf, o Options) []comparison {
	pairs = slices.DeleteFunc(pairs, pairOf.equal)
	if len(pairs) == 0 {
		r.Equal++
		return nil
	}
	newly, ceased := 0, 0        // chains that diverge in the new run alone, in the old one alone
	var old, now, self []float64 // distances of chains that diverge in neither
	for _, p := range pairs {
		switch {
		case p.new.diverged && !p.old.diverged:
			newly++
		case p.old.diverged && !p.new.diverged:
			ceased++
		case !p.old.diverged:
			old, now, self = append(old, p.old.ks), append(now, p.new.ks), append(self, p.old.self)
		}
	}
	// In the case left out no chain diverges newly, and no pair that differs has a distance in both
	// runs: nothing is worse.
	switch {
	case newly > ceased:
		r.moved(where, "diverged", "no", "yes", fmt.Sprintf(
			"%d more chains of %d that differ", newly-ceased, len(pairs)))
	case len(old) > 0:
		c := compareDistances(old, now, stat.Mean(self, nil), o.Distance)
		c.where, c.newly, c.ceased = where, newly, ceased
		return []comparison{c}
	case newly > 0:
		r.exchanged(where, newly, ceased)
	}
	return nil
}

// compareDistances compares the distances of a cell, split by split.
// The noise is that of one distance: estimated from the splits where there are several and
// the distances are large, assumed elsewhere.
func compareDistances(old, now []float64, self, effect float64) comparison {
	c := comparison{old: stat.Mean(old, nil), new: stat.Mean(now, nil), n: len(old)}
	size := (c.old + c.new) / 2
	// What counts is the effect up to the distance `proportional`, and above it the share
	// effect/proportional of the distance.
	c.effect, c.sd = effect*max(1, size/proportional), noiseShare*max(size, self)
	// The smaller of both tells whether the chains are wild: the larger may be what has moved.
	smaller := min(c.old, c.new)
	switch {
	case smaller <= quiet*self:
		c.known = true
	case c.n == 1:
		c.known, c.sd = true, max(c.sd, wildShare*smaller)
	default:
		// A change is the difference of two distances, of twice the variance of one.
		changes := make([]float64, len(old))
		floats.SubTo(changes, now, old)
		c.sd = max(c.sd, stat.StdDev(changes, nil)/math.Sqrt2)
	}
	return c
}

// noteEnvironment notes how the machines differ, if both runs state them.
// Records that do not state them are passed over.
func (r *Report) noteEnvironment(old, now []map[string]string) {
	for _, name := range environment {
		values := func(records []map[string]string) string {
			var all []string
			for _, rec := range records {
				if rec[name] != "" {
					all = append(all, rec[name])
				}
			}
			slices.Sort(all)
			return strings.Join(slices.Compact(all), " and ")
		}
		if a, b := values(old), values(now); a != "" && b != "" && a != b {
			r.note("%s differs: %s in the old run, %s in the new one", name, a, b)
		}
	}
}
