package gate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"hambench/usage"
)

// cellColumns are the columns of exported cells that are compared.
var cellColumns = []string{"experiment", "dataset", "split", "integrator", "nl", "friction", "scheme", "K", "batch", "h", "ks", "diverged", "gradients", "seconds"}

// identity are the columns that say which cell it is, but for the split:
// the splits are the repetitions.
var identity = []string{"experiment", "dataset", "integrator", "nl", "friction", "scheme", "K", "batch", "h"}

// cell is what is compared of a cell.
type cell struct {
	split             string
	ks                float64
	diverged          bool
	secondsPerMillion float64 // gradients; NaN if not known
}

// cells are the cells of a run by identity.
type cells struct {
	groups map[string][]cell
	keys   []string
}

func parseCells(r Run) (*cells, error) {
	records, err := cellRecords(r)
	if err != nil {
		return nil, err
	}
	c := &cells{groups: make(map[string][]cell)}
	for i, rec := range records {
		key, one, err := parseCell(rec)
		if err != nil {
			return nil, usage.Errorf("gate: %s: cell %d: %w", r.Name, i+1, err)
		}
		if _, ok := c.groups[key]; !ok {
			c.keys = append(c.keys, key)
		}
		c.groups[key] = append(c.groups[key], one)
	}
	if len(c.keys) == 0 {
		return nil, usage.Errorf("gate: %s has no cells", r.Name)
	}
	return c, nil
}

// cellRecords reads CSV, a JSON array, or JSON objects one after another.
func cellRecords(r Run) ([]map[string]string, error) {
	text := bytes.TrimSpace(r.Data)
	if text[0] != '[' && text[0] != '{' {
		return csvRecords(r)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var objects []map[string]any
	if text[0] == '[' {
		if err := d.Decode(&objects); err != nil {
			return nil, usage.Errorf("gate: %s: not cells in JSON: %w", r.Name, err)
		}
	}
	for text[0] == '{' {
		var o map[string]any
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, usage.Errorf("gate: %s: not cells in JSON: %w", r.Name, err)
		}
		objects = append(objects, o)
	}
	records := make([]map[string]string, len(objects))
	for i, o := range objects {
		records[i] = make(map[string]string)
		for k, v := range o {
			if v != nil {
				records[i][k] = fmt.Sprint(v)
			}
		}
	}
	return records, nil
}

func csvRecords(r Run) ([]map[string]string, error) {
	lines, err := csv.NewReader(bytes.NewReader(r.Data)).ReadAll()
	if err != nil {
		return nil, usage.Errorf("gate: %s: %w", r.Name, err)
	}
	header := lines[0]
	for _, want := range cellColumns {
		if !slices.Contains(header, want) {
			return nil, usage.Errorf("gate: %s lacks column %q: want the columns of hambench export", r.Name, want)
		}
	}
	var records []map[string]string
	for _, line := range lines[1:] {
		rec := make(map[string]string)
		for i, name := range header {
			rec[name] = line[i]
		}
		records = append(records, rec)
	}
	return records, nil
}

func parseCell(rec map[string]string) (key string, c cell, err error) {
	var parts []string
	for _, name := range identity {
		if v := rec[name]; v != "" {
			parts = append(parts, name+"="+v)
		}
	}
	if rec["integrator"] == "" || rec["scheme"] == "" {
		return "", c, usage.Errorf("integrator or scheme is missing: want the columns of hambench export")
	}
	number := func(name string) float64 {
		v, bad := strconv.ParseFloat(rec[name], 64)
		if bad != nil && err == nil {
			err = usage.Errorf("%s = %q: want a number", name, rec[name])
		}
		return v
	}
	c.split = rec["split"]
	c.ks = number("ks")
	c.secondsPerMillion = 1e6 * number("seconds") / number("gradients")
	diverged, bad := strconv.ParseBool(rec["diverged"])
	if bad != nil && err == nil {
		err = usage.Errorf("diverged = %q: want true or false", rec["diverged"])
	}
	c.diverged = diverged
	return strings.Join(parts, " "), c, err
}

func compareCells(oldRun, newRun Run, o Options) (*Report, error) {
	old, err := parseCells(oldRun)
	if err != nil {
		return nil, err
	}
	new, err := parseCells(newRun)
	if err != nil {
		return nil, err
	}
	r := &Report{Kind: kindCells}
	var all []comparison
	for _, key := range old.keys {
		r.Compared++
		now, ok := new.groups[key]
		if !ok {
			r.moved(key, "cell", "present", "missing", "every old cell must be in the new run")
			continue
		}
		all = append(all, r.compareGroup(key, old.groups[key], now, o)...)
	}
	r.decide(all, o)
	noteAdded(r, old.groups, new.keys)
	return r, nil
}

// compareGroup compares the splits of a cell: what needs no test at once, and
// returns what does. With few splits, the distance is held to a threshold
// that the noise of 200 samples hardly ever passes.
func (r *Report) compareGroup(key string, old, new []cell, o Options) []comparison {
	a, b := share(old), share(new)
	if b > a {
		r.moved(key, "diverged", fmt.Sprintf("%.0f %%", 100*a), fmt.Sprintf("%.0f %%", 100*b), "more chains diverge")
		return nil
	}
	distance := comparison{where: key, what: "ks", effect: o.Distance, absolute: true}
	cost := comparison{where: key, what: "seconds per million gradients", effect: 2 * o.Effect}
	for _, c := range old {
		distance.old, cost.old = append(distance.old, c.ks), append(cost.old, c.secondsPerMillion)
	}
	for _, c := range new {
		distance.new, cost.new = append(distance.new, c.ks), append(cost.new, c.secondsPerMillion)
	}
	if w := distance.worse(); !distance.testable() && w >= o.Distance {
		r.moved(key, "ks", short(median(distance.old)), short(median(distance.new)), "by %.3g >= %g", w, o.Distance)
	}
	if slices.ContainsFunc(append(cost.old, cost.new...), math.IsNaN) {
		return []comparison{distance}
	}
	return []comparison{distance, cost}
}

// share is the share of diverged chains.
func share(cs []cell) float64 {
	n := 0
	for _, c := range cs {
		if c.diverged {
			n++
		}
	}
	return float64(n) / float64(len(cs))
}
