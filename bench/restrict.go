package bench

import (
	"slices"
	"strings"

	"hambench/oracle"
	"hambench/usage"
)

// Restrict returns the experiments with the cells on the named data sets
// alone, and without those experiments that then have none; all if there are
// no names. An experiment that needs no cells stays. A name that no
// experiment uses is a usage error.
func Restrict(exps []Experiment, names ...string) ([]Experiment, error) {
	if len(names) == 0 {
		return exps, nil
	}
	used := make(map[string]bool)
	var out []Experiment
	for _, e := range exps {
		r := e.restrict(func(dataset string) bool { used[dataset] = true; return slices.Contains(names, dataset) })
		exact := len(e.Cells)+len(e.Choices) == 0 // needs no data
		if exact || len(r.Cells)+len(r.Choices) > 0 {
			out = append(out, r)
		}
	}
	for _, n := range names {
		if !used[n] {
			return nil, usage.Errorf("no experiment uses data set %q: want one of %s", n, strings.Join(sortedKeys(used), ", "))
		}
	}
	return out, nil
}

// restrict keeps what is on the data sets that keep accepts.
func (e Experiment) restrict(keep func(dataset string) bool) Experiment {
	e.Cells = slices.DeleteFunc(slices.Clone(e.Cells), func(c Cell) bool { return !keep(c.Dataset) })
	e.Choices = slices.DeleteFunc(slices.Clone(e.Choices), func(c Choice) bool { return !keep(c[0].Dataset) })
	e.Oracles = slices.DeleteFunc(slices.Clone(e.Oracles), func(s oracle.Spec) bool { return !keep(s.Dataset) })
	return e
}

func sortedKeys(m map[string]bool) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// StandIns returns the names with each unavailable set replaced by the
// built-in set that takes its place.
func StandIns(names, unavailable []string) []string {
	var out []string
	for _, n := range names {
		if p, ok := LookupProblem(n); ok && slices.Contains(unavailable, n) {
			n = teacher(p.Task).Dataset
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
