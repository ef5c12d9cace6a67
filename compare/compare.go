// Package compare tests whether two sets of chains are of one law, by their draws alone.
//
// Each column (a parameter, a predictive value) is compared in location, scale and shape, the
// columns jointly in their correlations and along directions of the whitened columns. Every
// test is the difference between the two sides' means of a score of ranks, in units of its
// standard error, which takes the autocorrelation of the score on both sides into account: so
// that chains may be correlated, and of any law. All tests together refuse draws of the
// reference's law once in a hundred times; [Report.Power] says what they see.
package compare

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/stat"

	"hambench/usage"
)

// Level is the probability of refusing draws of the reference's law.
const Level = 0.01

// Side is one of the two sets: Chains[chain][column][draw]. Chains may differ in length; the
// columns of a chain do not, and there is at least one of each.
//
// Draws are stored by column since every test reads one column of all chains at a time.
type Side struct {
	Names  []string // of the columns
	Chains [][][]float64
	// Of names the chains in messages, say by their files; without it they are numbered.
	Of []string
	// Gradients is what all draws cost, in gradients of all data; 0 if it is not known.
	Gradients float64
	// OwnError is how far the law of a reference's draws may be from the one that they stand
	// for: a Kolmogorov distance, averaged over the columns. Of draws it is not used.
	OwnError float64
}

// draws returns the number of draws of all chains.
func (s Side) draws() (n int) {
	for _, c := range s.Chains {
		n += len(c[0])
	}
	return n
}

// column returns the draws of a column by chain. They are the side's own, not copies.
func (s Side) column(j int) [][]float64 {
	out := make([][]float64, len(s.Chains))
	for c, chain := range s.Chains {
		out[c] = chain[j]
	}
	return out
}

// Ordered returns the side with the columns of the given names, all of which it has.
func (s Side) Ordered(names []string) Side {
	var places []int
	for _, name := range names {
		places = append(places, slices.Index(s.Names, name))
	}
	return s.only(places)
}

// only returns the side with the columns of the given places, in that order. It shares the
// draws with the side, which nothing here changes.
func (s Side) only(columns []int) Side {
	out := s
	out.Names, out.Chains = nil, nil
	for _, j := range columns {
		out.Names = append(out.Names, s.Names[j])
	}
	for _, chain := range s.Chains {
		var kept [][]float64
		for _, j := range columns {
			kept = append(kept, chain[j])
		}
		out.Chains = append(out.Chains, kept)
	}
	return out
}

// Verdicts of a report.
const (
	Accepted  = "accepted"
	Refused   = "refused"
	Undecided = "undecided"
)

// Report is what Sides finds.
type Report struct {
	Verdict string `json:"verdict"`
	// Why says which column or direction refuses the draws, or why they decide nothing.
	Why       string `json:"why,omitempty"`
	Reference Size   `json:"reference"`
	Draws     Size   `json:"draws"`
	// Compared is how many of the reference's columns the draws have.
	Compared         int `json:"compared"`
	ReferenceColumns int `json:"reference_columns"`
	// Columns are those that were tested, the worst first; OnlyReference, OnlyDraws and
	// Constant are those that were not.
	Columns       []Column `json:"columns"`
	OnlyReference []string `json:"only_in_reference,omitempty"`
	OnlyDraws     []string `json:"only_in_draws,omitempty"`
	Constant      []string `json:"constant,omitempty"`
	// Copied is a chain of the draws that a chain of the reference begins with, or the other way
	// round, "" if none: the sides are not independent then, and an acceptance says nothing of a
	// sampler.
	Copied string `json:"copied,omitempty"`
	// Joint has the worst correlation, and the worst direction's scale and shape.
	Joint []Joint `json:"joint,omitempty"`
	Power []Power `json:"power"`
	// PerGradients is the median effective size of the draws for each 1000 gradients; 0 if the
	// draws do not say what they cost.
	PerGradients float64 `json:"effective_per_1000_gradients,omitempty"`
}

// Words are the verdict and, where draws are accepted, of how many of the reference's columns
// it is, if they have not all, and whether they are the reference's own.
func (r Report) Words() string {
	words := r.Verdict
	if words == Accepted && r.Compared < r.ReferenceColumns {
		words += fmt.Sprintf(" in %d of %d columns", r.Compared, r.ReferenceColumns)
	}
	if r.Verdict == Accepted && r.Copied != "" {
		words += fmt.Sprintf(", with draws of the reference's own (%s)", r.Copied)
	}
	return words
}

// Size is how many draws a side has. Effective is the median over the columns of the
// effective sizes, Least the smallest, which is LeastOf's; a reference's own error makes them
// smaller. They are 0 where nothing was tested.
type Size struct {
	Chains    int     `json:"chains"`
	Draws     int     `json:"draws"` // of all chains
	Effective float64 `json:"effective,omitempty"`
	Least     float64 `json:"least_effective,omitempty"`
	LeastOf   string  `json:"least_of,omitempty"`
	OwnError  float64 `json:"own_error,omitempty"`
}

// Column is the comparison of one column. Means and standard deviations are of the draws as
// they are; all else is of their ranks.
type Column struct {
	Name               string  `json:"name"`
	ReferenceMean      float64 `json:"reference_mean"`
	ReferenceSD        float64 `json:"reference_sd"`
	Mean               float64 `json:"mean"`
	SD                 float64 `json:"sd"`
	ReferenceEffective float64 `json:"reference_effective"`
	Effective          float64 `json:"effective"`
	// Location is the shift in standard deviations, Scale the ratio of the deviations, both
	// of normal scores; Shape the largest difference of the distribution functions
	// against its band.
	Location Test `json:"location"`
	Scale    Test `json:"scale"`
	Shape    Test `json:"shape"`
	// P is the smallest of the three tests' P.
	P float64 `json:"p"`
	// Curve has a point at each cut (see cuts) that both sides pass often enough.
	Curve []Point `json:"curve"`

	// What Location and Scale are made of: the power, the sizes of the report and the lag
	// windows of the joint tests need it.
	location, scale difference
	stray           stray
}

// Test is an estimate with the interval that holds all estimates of its kind at once with
// probability 1 − Level/(number of kinds). P is the probability of such a value or a worse
// one in any test of the report, if the draws are of the reference's law.
type Test struct {
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	P        float64 `json:"p"`
}

// String writes the estimate and the ends of its interval.
func (t Test) String() string {
	high := "∞"
	if t.High < math.MaxFloat64 {
		high = fmt.Sprintf("%.2g", t.High)
	}
	return fmt.Sprintf("%.2g (%.2g to %s)", t.Estimate, t.Low, high)
}

// Point is the difference of the two empirical distribution functions (draws minus
// reference) at a value, and the half-width of its simultaneous band.
type Point struct {
	At         float64 `json:"at"`
	Share      float64 `json:"share"` // of the reference, at most At
	Difference float64 `json:"difference"`
	Band       float64 `json:"band"`
}

// Joint is the worst of the joint tests of a kind.
type Joint struct {
	Kind string `json:"kind"` // "correlation", "direction"
	Of   string `json:"of"`
	Test
	Tests int `json:"tests"` // of this kind
}

// Power is the probability that the report refuses draws with one deviation from the
// reference's law, in one column, or one pair of them, of the median effective size. Needs
// is the effective size of either side with which it is 0.9.
type Power struct {
	Of    string  `json:"of"`
	Power float64 `json:"power"`
	Needs float64 `json:"needs"`
}

// What draws must have to decide anything: an effective size of twenty in the median column,
// and ten in each. Below, the law of a mean of scores is not near enough to Student's for the
// stated rate of false alarms.
const (
	minMedian = 20
	minLeast  = 10
)

// Sides compares draws with a reference, column by name. Names that end in __, which Stan
// gives its sampler's own columns, are left out. Sides without a column in common, with
// a number that is not finite, with one chain twice, or with a column that varies in the draws
// only are usage errors.
func Sides(reference, draws Side) (Report, error) {
	var r Report
	ref, own, err := r.match(reference, draws)
	if err != nil {
		return r, err
	}
	r.Reference = Size{Chains: len(ref.Chains), Draws: ref.draws(), OwnError: ref.OwnError}
	r.Draws = Size{Chains: len(own.Chains), Draws: own.draws()}
	// Each return before conclude leaves the draws undecided, with the reason in Why.
	r.Verdict = Undecided
	if min(r.Draws.Draws, r.Reference.Draws) < minMedian {
		r.Why = fmt.Sprintf("%d draws against %d: want at least %d", r.Draws.Draws,
			r.Reference.Draws, minMedian)
		return r, nil
	}
	if r.Why = neverMoved(ref, own); r.Why != "" {
		return r, nil
	}
	if ref, own, err = r.varying(ref, own); err != nil {
		return r, err
	}
	if len(ref.Names) == 0 {
		r.Why = "no column varies"
		return r, nil
	}
	t := newTests(len(ref.Names))
	r.Columns = make([]Column, len(ref.Names))
	z := make([][]float64, len(ref.Names)) // normal scores of all draws, the reference's first
	each(len(r.Columns), func(j int) {
		r.Columns[j], z[j] = t.column(ref.Names[j], pool(ref, own, j))
	})
	r.sizes()
	if own.Gradients > 0 {
		r.PerGradients = 1000 * r.Draws.Effective / own.Gradients
	}
	var pairs []difference
	if len(ref.Names) > 1 {
		r.Joint, pairs = t.joint(pool(ref, own, 0), z, r.Columns)
	}
	r.Power = t.power(r.Columns, pairs)
	slices.SortStableFunc(r.Columns, func(a, b Column) int {
		return cmp.Or(cmp.Compare(a.P, b.P), cmp.Compare(b.excess(), a.excess()))
	})
	r.conclude()
	return r, nil
}

// excess is the largest difference of distribution functions in units of its band: it tells
// columns with one P apart, of which there are many, since P is at most 1 after it is adjusted
// for the number of tests.
func (c Column) excess() (x float64) {
	for _, p := range c.Curve {
		x = max(x, math.Abs(p.Difference)/p.Band)
	}
	return x
}

// each calls f for 0 … n−1, on all processors. Calls take their numbers from one counter, since
// columns differ in what their lag windows cost. Results do not depend on the order of calls:
// f writes to the place of its number alone.
func each(n int, f func(int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wait.Wait()
}

// match returns both sides with their common columns in the order of the reference, and notes
// in the report what is not common. It refuses numbers that are not finite, and a chain that a
// side has twice; a chain that both sides have is no error, but is noted (Report.Copied), since
// the sides are then not independent.
func (r *Report) match(reference, draws Side) (ref, own Side, err error) {
	var of, in []int              // places of the common columns in the reference and the draws
	place := make(map[string]int) // of the draws' columns that are not matched yet
	for j, name := range draws.Names {
		place[name] = j
	}
	for j, name := range reference.Names {
		k, ok := place[name]
		switch {
		case strings.HasSuffix(name, "__"):
		case !ok:
			r.OnlyReference = append(r.OnlyReference, name)
		default:
			of, in = append(of, j), append(in, k)
		}
		delete(place, name)
	}
	for _, name := range draws.Names {
		if _, ok := place[name]; ok && !strings.HasSuffix(name, "__") {
			r.OnlyDraws = append(r.OnlyDraws, name)
		}
	}
	if len(of) == 0 {
		return ref, own, usage.Errorf("no column in common: the reference has %s, the draws %s",
			Listed(reference.Names), Listed(draws.Names))
	}
	r.Compared, r.ReferenceColumns = len(of), len(of)+len(r.OnlyReference)
	ref, own = reference.only(of), draws.only(in)
	for _, side := range []struct {
		what string
		Side
	}{{"the reference", ref}, {"the draws", own}} {
		for c, chain := range side.Chains {
			for j, x := range chain {
				// An infinity less itself is NaN, too.
				i := slices.IndexFunc(x, func(v float64) bool { return math.IsNaN(v - v) })
				if i >= 0 {
					return ref, own, usage.Errorf("%s: %s, draw %d, column %s: %v: want a "+
						"finite number", side.what, side.name(c), i+1, side.Names[j], x[i])
				}
			}
		}
		if err := side.checkCopies(side.what); err != nil {
			return ref, own, err
		}
	}
	both := Side{Names: ref.Names, Chains: slices.Concat(ref.Chains, own.Chains)}
	if _, chain, copied := both.copies(len(ref.Chains)); copied {
		r.Copied = own.name(chain - len(ref.Chains))
	}
	return ref, own, nil
}

// Listed writes names, the first few of many.
func Listed(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s … (%d)", strings.Join(names[:most], ", "), len(names))
	}
	return strings.Join(names, ", ")
}

// constant reports whether all draws of all chains are equal.
func constant(chains [][]float64) bool {
	return !slices.ContainsFunc(chains, func(x []float64) bool {
		return slices.ContainsFunc(x, func(v float64) bool { return v != chains[0][0] })
	})
}

// varying leaves out columns with one value on both sides, such as the zeros of a Cholesky
// factor, and notes them. A column that is constant in the reference alone has no spread by
// which a difference could be judged: it is a usage error.
func (r *Report) varying(ref, own Side) (Side, Side, error) {
	var kept []int
	for j, name := range ref.Names {
		of, in := ref.column(j), own.column(j)
		switch {
		case !constant(of):
			kept = append(kept, j)
		case constant(in) && of[0][0] == in[0][0]:
			r.Constant = append(r.Constant, name)
		default:
			return ref, own, usage.Errorf("column %s is constant in the reference (%g), and not "+
				"so in the draws: nothing to compare them with", name, of[0][0])
		}
	}
	return ref.only(kept), own.only(kept), nil
}

// stuckChance is the probability below which a chain of one value is taken to be stuck: of as
// many independent draws of the reference.
const stuckChance = 1e-3

// neverMoved returns which chain of the draws has one value in a column that has others in
// the reference, "" if none; columns in which one value is likely do not count.
func neverMoved(ref, own Side) string {
	for c, chain := range own.Chains {
		for j, x := range chain {
			if len(x) < 2 || slices.ContainsFunc(x, func(v float64) bool { return v != x[0] }) {
				continue
			}
			equal := 0 // draws of the reference with the chain's one value
			for _, y := range ref.column(j) {
				for _, v := range y {
					if v == x[0] {
						equal++
					}
				}
			}
			share := float64(equal) / float64(ref.draws())
			if math.Pow(share, float64(len(x))) < stuckChance {
				return fmt.Sprintf("%s never moved in column %s", own.name(c), own.Names[j])
			}
		}
	}
	return ""
}

// sizes summarises the columns' effective sizes, those of location: Effective is their median,
// Least the smallest of location or scale, whose autocorrelation may be the longer one.
func (r *Report) sizes() {
	for _, side := range []struct {
		size *Size
		of   func(difference) float64
	}{
		{&r.Reference, func(d difference) float64 { return d.ref.size }},
		{&r.Draws, func(d difference) float64 { return d.own.size }},
	} {
		var all []float64
		side.size.Least = math.Inf(1)
		for _, c := range r.Columns {
			size := side.of(c.location)
			all = append(all, size)
			if least := min(size, side.of(c.scale)); least < side.size.Least {
				side.size.Least, side.size.LeastOf = least, c.Name
			}
		}
		slices.Sort(all)
		side.size.Effective = stat.Quantile(0.5, stat.Empirical, all, nil)
	}
}

// conclude sets the verdict; columns are in order. A refusal goes before a lack of draws: few
// draws that differ enough to be seen are wrong all the same, if the median column has enough of
// them. Columns of a small effective size refuse
// nothing, and without them nothing is accepted; nor is it with draws so far out that they are not
// expected once in a hundred reports.
func (r *Report) conclude() {
	var few []string // what a side has too little of
	enough := true   // in the median column, on both sides
	for _, side := range []struct {
		of string
		Size
	}{{"the draws", r.Draws}, {"the reference", r.Reference}} {
		enough = enough && side.Effective >= minMedian
		if side.Effective < minMedian || side.Least < minLeast {
			few = append(few, fmt.Sprintf("%s: an effective size of %.0f, of %.1f in column %s: "+
				"want at least %d, and %d in each column", side.of, side.Effective, side.Least,
				side.LeastOf, minMedian, minLeast))
		}
	}
	var why []string
	var stray *Column
	for i, c := range r.Columns {
		if c.stray.expected*float64(len(r.Columns)) <= Level && stray == nil {
			stray = &r.Columns[i]
		}
	}
	for _, c := range r.Columns {
		if c.P <= Level && c.smallest() >= minLeast {
			why = append(why, "column "+c.Name+": "+c.worst())
			break
		}
	}
	for _, j := range r.Joint {
		if j.P <= Level {
			why = append(why, fmt.Sprintf("worst %s, %s: %v", j.Kind, j.Of, j.Test))
		}
	}
	switch {
	case enough && why != nil:
		r.Verdict, r.Why = Refused, strings.Join(why, "; ")
	case few != nil:
		r.Verdict, r.Why = Undecided, few[0]
	case stray != nil:
		r.Verdict, r.Why = Undecided, fmt.Sprintf("column %s: a draw at %.4g, where the "+
			"reference with the median %.4g has no tail (%.1g draws are expected as far out): "+
			"ranks do not weigh how far a draw is off", stray.Name, stray.stray.at,
			stray.stray.median, stray.stray.expected)
	default:
		r.Verdict = Accepted
	}
}

// smallest is the column's smallest effective size.
func (c Column) smallest() float64 {
	return min(c.location.own.size, c.location.ref.size, c.scale.own.size, c.scale.ref.size)
}

// worst describes the test that refuses a column.
func (c Column) worst() string {
	switch c.P {
	case c.Location.P:
		return fmt.Sprintf("shifted by %.2g standard deviations (%.2g to %.2g)",
			c.Location.Estimate, c.Location.Low, c.Location.High)
	case c.Scale.P:
		return fmt.Sprintf("its deviation is %.3g times the reference's (%.3g to %.3g)",
			c.Scale.Estimate, c.Scale.Low, c.Scale.High)
	}
	return fmt.Sprintf("its distribution function differs by %v", c.Shape)
}
