package bench

import (
	"slices"
	"strings"

	"hambench/internal/distinct"
	"hambench/oracle"
	"hambench/usage"
)

// Study is one figure or table as data: everything that it needs.
// Its lists are jobs, each with the key of its result once the study is part of a Plan.
type Study struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Origin is where the study is from: a digest of a user's file. It is
	// "" for built-in studies, and for all in manifests of earlier versions (Source).
	Origin string `json:"origin,omitempty"`
	// Asks is a digest of what a user's file says of its jobs: two files with equal ones, or
	// two versions of one, differ at most in their claims and in how results are shown.
	Asks  string `json:"asks,omitempty"`
	Cells []Job  `json:"cells,omitempty"`
	// Exact are exact errors, References the reference chains that the cells
	// name.
	Exact      []ExactJob     `json:"exact,omitempty"`
	References []ReferenceJob `json:"references,omitempty"`
	// Stable are the largest stable steps behind relative steps, by the chains they
	// hold for. They are kept because estimates vary by a quarter between machines.
	Stable map[string]float64 `json:"stable,omitempty"`
	// LeftOut are the data sets that Restrict took out.
	LeftOut []string `json:"left_out,omitempty"`
	// Claims are those of a user's study.
	Claims []DataClaim `json:"claims,omitempty"`
	// Figure and Table say how the cells are shown; nil: by default.
	Figure *FigureSpec `json:"figure,omitempty"`
	Table  *TableSpec  `json:"table,omitempty"`
}

// Job is a cell with its key, which Resolve fills in.
// Cells of two studies that are equal have one key, and one result.
type Job struct {
	Key  string `json:"key"`
	Cell Cell   `json:"cell"`
	// Relative is the cell's step as a fraction of the largest stable one, if the
	// study states it that way.
	Relative float64 `json:"relative,omitempty"`
	// Follows names the chains whose stable step that is, in Study.Stable, where [stable]
	// makes them others than the cell's own.
	Follows string `json:"follows,omitempty"`
}

// ExactJob is an exact job with its key.
type ExactJob struct {
	Key string `json:"key"`
	// Purpose says what the errors are evidence of, where one study needs
	// several kinds: one of purposes.
	Purpose string `json:"purpose"`
	// Problem is the name of the problem, without the friction and the masses that the
	// name of an Exact has; "" in manifests of earlier versions.
	Problem string `json:"problem,omitempty"`
	Exact   Exact  `json:"exact"`
}

// ReferenceJob is a reference with its key.
type ReferenceJob struct {
	Key  string      `json:"key"`
	Spec oracle.Spec `json:"spec"`
}

// Restrict returns the studies with only the cells on the named data sets, less
// the studies that lose all their cells; without names it changes nothing. A study
// that never had cells stays. A name that no study uses is a usage error.
// References of other data sets are left out with their cells.
func Restrict(studies []Study, names ...string) ([]Study, error) {
	if len(names) == 0 {
		return studies, nil
	}
	var used []string
	var out []Study
	for _, s := range studies {
		own := distinct.Of(s.Cells, func(j Job) string { return j.Cell.Dataset })
		used = append(used, own...)
		r := s.restrict(func(dataset string) bool { return slices.Contains(names, dataset) })
		if len(own) == 0 || len(r.Cells) > 0 {
			out = append(out, r)
		}
	}
	// Which data sets the studies use is known when all have been looked at.
	for _, n := range names {
		switch {
		case len(used) == 0:
			return nil, usage.Errorf("data set %q was chosen, but none of the studies uses data: "+
				"leave the choice out", n)
		case !slices.Contains(used, n):
			slices.Sort(used)
			return nil, usage.Errorf("no study uses data set %q: want one of %s", n,
				strings.Join(slices.Compact(used), ", "))
		}
	}
	return out, nil
}

// restrict keeps what is on the data sets for which keep is true.
// Exact jobs are on no data set and stay.
func (s Study) restrict(keep func(dataset string) bool) Study {
	all := distinct.Of(s.Cells, func(j Job) string { return j.Cell.Dataset })
	s.LeftOut = slices.Concat(s.LeftOut, slices.DeleteFunc(all, keep))
	s.Cells = slices.DeleteFunc(slices.Clone(s.Cells), func(j Job) bool {
		return !keep(j.Cell.Dataset)
	})
	s.References = slices.DeleteFunc(slices.Clone(s.References), func(r ReferenceJob) bool {
		return !keep(r.Spec.Dataset)
	})
	return s
}
