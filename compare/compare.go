// Package compare tests whether two sets of chains are of one law, by their draws alone.
//
// Each column (a parameter, a predictive value) is compared in location, scale and shape, the
// columns jointly in their correlations and along directions of the whitened columns. Every
// test is the difference between the two sides' means of a score of ranks, in units of its
// standard error, which takes the autocorrelation of the score on both sides into account: so
// that chains may be correlated, and of any law. All tests together refuse draws of the
// reference's law about once in a hundred times; [Report.Power] says what they see.
package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strconv"
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
	// WarmUp is how many draws of all chains were left out as those of a warm-up.
	WarmUp int
	// OwnError is how far the law of a reference's draws may be from the one that they stand
	// for: a Kolmogorov distance, averaged over the columns. Of draws it is not used.
	OwnError float64
	// Pinned says that a reference has all the draws that there are of it.
	Pinned bool
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
	// round, or one that has draws of the reference at other places; "" if none. The sides are not
	// independent then, and an acceptance says nothing of a sampler.
	Copied string `json:"copied,omitempty"`
	// Joint has the worst correlation, if one is compared, and the worst direction's scale or
	// shape, if two columns have draws enough to be mixed.
	Joint []Joint `json:"joint,omitempty"`
	// Power is empty if a side has too few effective draws.
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

// With says with how many draws a power would be 0.9.
func (r Report) With(p Power) string {
	switch {
	case p.Needs == 0:
		return fmt.Sprintf("at most %.2f with any number of draws", p.Most)
	case r.Reference.Pinned:
		return fmt.Sprintf("with 0.9 at %.0f effective draws against this reference", p.Needs)
	}
	return fmt.Sprintf("with 0.9 at %.0f effective draws on both sides", p.Needs)
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
	Pinned    bool    `json:"pinned,omitempty"`
	WarmUp    int     `json:"warm_up,omitempty"` // draws that were left out, and are not counted
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
	// Location is the shift of the normal scores, Scale the ratio of their deviations, which is
	// not known where Location is refused; Shape the largest difference of the distribution
	// functions against its band, not known without a cut.
	Location Test `json:"location"`
	Scale    Test `json:"scale,omitzero"`
	Shape    Test `json:"shape,omitzero"`
	// P is the smallest of the three tests' P, of Scale also where it is left out.
	P float64 `json:"p"`
	// Curve has a point at each cut (see cuts) that both sides pass often enough.
	Curve []Point `json:"curve"`

	// What Location and Scale are made of: the power, the sizes of the report and the lag
	// windows of the joint tests need it.
	location, scale difference
	coarse          bool    // of few values, whose deviation does not change by itself
	rounding        float64 // variance that it adds on one side (see pooled.rounding)
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

// String writes the estimate and its interval; – for what is not known.
func (t Test) String() string {
	if t == (Test{}) {
		return "–"
	}
	estimate, interval := t.words()
	return fmt.Sprintf("%s (%s)", estimate, interval)
}

// words writes the estimate, with two digits or as many as place it in the interval that is
// written, and the interval, whose ends are rounded outwards.
func (t Test) words() (estimate, interval string) {
	low, high := outwards(t.Low, -1), outwards(t.High, 1)
	for digits := 2; digits <= 17; digits++ {
		v := nearest(t.Estimate, digits)
		estimate = fmt.Sprintf("%g", v)
		if low <= v && v <= high {
			break
		}
	}
	if t.High == math.MaxFloat64 {
		return estimate, fmt.Sprintf("%g to ∞", low)
	}
	return estimate, fmt.Sprintf("%g to %g", low, high)
}

// outwards rounds the end of an interval in the direction of a sign to two digits or, lest it hold
// 0 or 1, of which one is what equal laws give, that the interval does not hold, to more.
func outwards(x, sign float64) float64 {
	for digits := 2; digits <= 17; digits++ {
		v := sign * upwards(sign*x, digits)
		beyond := func(y float64) bool { return (v-y)*sign >= 0 && (x-y)*sign < 0 }
		if !beyond(0) && !beyond(1) {
			return v
		}
	}
	return x
}

// upwards returns the smallest number of so many decimal digits that is at least x.
func upwards(x float64, digits int) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))+1-float64(digits))
	v := nearest(x, digits)
	if v < x {
		v = nearest(v+unit, digits)
	}
	return v
}

// nearest returns the number of so many decimal digits that is nearest to x.
func nearest(x float64, digits int) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	return v
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
// is the effective size of either side, or of the draws against a reference that is pinned, with
// which it is 0.9. Most is the largest power where that is less with any number of draws; Needs is
// then 0.
type Power struct {
	Of    string  `json:"of"`
	Power float64 `json:"power"`
	Needs float64 `json:"needs,omitempty"`
	Most  float64 `json:"most,omitempty"`
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
	r := Report{Columns: []Column{}, Power: []Power{}} // lists in JSON, too
	ref, own, err := r.match(reference, draws)
	if err != nil {
		return r, err
	}
	r.Reference = Size{Chains: len(ref.Chains), Draws: ref.draws(), OwnError: ref.OwnError,
		Pinned: ref.Pinned, WarmUp: ref.WarmUp}
	r.Draws = Size{Chains: len(own.Chains), Draws: own.draws(), WarmUp: own.WarmUp}
	// Each return before conclude leaves the draws undecided, with the reason in Why.
	r.Verdict = Undecided
	if min(r.Draws.Draws, r.Reference.Draws) < minMedian {
		r.Why = fmt.Sprintf("%d draws against %d: want at least %d", r.Draws.Draws,
			r.Reference.Draws, minMedian)
		return r, nil
	}
	if r.Why = cmp.Or(own.transposed("the draws"), ref.transposed("the reference")); r.Why != "" {
		return r, nil
	}
	if ref, own, err = r.varying(ref, own); err != nil {
		return r, err
	}
	if len(ref.Names) == 0 {
		r.Why = "no column varies"
		return r, nil
	}
	r.Why = cmp.Or(stuck(own, ref, ""), stuck(ref, own, "the reference: "),
		repeated(own, ref, "the draws"), repeated(ref, own, "the reference"))
	if r.Why != "" {
		return r, nil
	}
	t := newTests(len(ref.Names))
	t.pinned = ref.Pinned
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
	r.conclude(cmp.Or(confined(own, ref, ""), confined(ref, Side{}, "the reference: ")))
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
	if name := offByOne(reference.Names, draws.Names); name != "" {
		return ref, own, usage.Errorf("the elements of %s count from one more on one side than on "+
			"the other, as if from 0 and from 1: want the same names", name)
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
	} else if chain := copiedFrom(own, ref); chain >= 0 {
		r.Copied = own.name(chain)
	}
	return ref, own, nil
}

// element is the name of one: theta[1], x[1,2].
var element = regexp.MustCompile(`^(.+)\[(\d+(?:,\d+)*)\]$`)

// offByOne returns a variable whose elements have the indices of the other side's, all of them one
// higher or one lower, or which one side counts from 0 and the other from 1; "" if there is none:
// matched by name, elements would be compared with their neighbours.
func offByOne(a, b []string) string {
	// indices are those of each variable's elements, raised by a number, in order.
	indices := func(names []string, by int) map[string][]string {
		of := make(map[string][]string)
		for _, name := range names {
			m := element.FindStringSubmatch(name)
			if m == nil {
				continue
			}
			at := strings.Split(m[2], ",")
			for d, text := range at {
				i, _ := strconv.Atoi(text) // digits
				at[d] = strconv.Itoa(i + by)
			}
			of[m[1]] = append(of[m[1]], strings.Join(at, ","))
		}
		for _, all := range of {
			slices.Sort(all)
		}
		return of
	}
	one, other := indices(a, 0), indices(b, 0)
	up, down := indices(b, 1), indices(b, -1)
	for _, name := range slices.Sorted(maps.Keys(one)) {
		at := one[name]
		if !slices.Equal(at, other[name]) && (slices.Equal(at, up[name]) ||
			slices.Equal(at, down[name]) || fromZeroAndOne(lowest(at), lowest(other[name]))) {
			return name
		}
	}
	return ""
}

// lowest are the lowest indices of elements, one for each dimension that all have.
func lowest(elements []string) (low []int) {
	for n, at := range elements {
		indices := strings.Split(at, ",")
		low = low[:min(len(low), len(indices))]
		for d, text := range indices {
			i, _ := strconv.Atoi(text) // digits
			if n == 0 {
				low = append(low, i)
			} else if d < len(low) {
				low[d] = min(low[d], i)
			}
		}
	}
	return low
}

// fromZeroAndOne reports whether along some dimension the lowest index is 0 on one side and 1 on
// the other. One side may lack elements; whether it counts otherwise or has lost the first cannot
// be told.
func fromZeroAndOne(a, b []int) bool {
	for d := range min(len(a), len(b)) {
		if min(a[d], b[d]) == 0 && max(a[d], b[d]) == 1 {
			return true
		}
	}
	return false
}

// Listed writes names, the first few of many.
func Listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s … (%d)", strings.Join(names[:most], ", "), len(names))
	}
	return strings.Join(names, ", ")
}

// transposed returns why chains are too many and short for their mixing to be seen, "" if they are
// not: of an array in which the axes of chains and draws are exchanged.
func (s Side) transposed(what string) string {
	longest := 0
	for _, c := range s.Chains {
		longest = max(longest, len(c[0]))
	}
	if longest > minLeast || len(s.Chains) <= 2*longest {
		return ""
	}
	return fmt.Sprintf("%s: %d chains of at most %d draws do not show how they mix: is the array "+
		"(chain, draw)?", what, len(s.Chains), longest)
}

// Round-off is no difference: of the values of a column that is computed anew for each draw, as the
// ones of a correlation matrix are, a few units in the last place, and of draws beside a constant a
// few of those of 32 bits; of the same constant on two sides, the digits that a program writes.
const (
	sameColumn = 1e-15
	sameDraws  = 5e-7
	sameSides  = 1e-6
)

// constant reports whether all draws of all chains are a value, but for a share of it.
func constant(chains [][]float64, value, share float64) bool {
	return !slices.ContainsFunc(chains, func(x []float64) bool {
		return slices.ContainsFunc(x, func(v float64) bool {
			return math.Abs(v-value) > share*math.Abs(value)
		})
	})
}

// varying leaves out columns with one value on both sides, such as the zeros of a Cholesky
// factor, and notes them. A column that is constant in the reference alone, or at another value,
// has no spread by which a difference could be judged: it is a usage error.
func (r *Report) varying(ref, own Side) (Side, Side, error) {
	var kept []int
	for j, name := range ref.Names {
		of, in := ref.column(j), own.column(j)
		value := of[0][0]
		switch {
		case !constant(of, value, sameColumn):
			kept = append(kept, j)
		case constant(in, value, sameSides) && constant(in, in[0][0], sameDraws):
			r.Constant = append(r.Constant, name)
		case constant(in, in[0][0], sameColumn):
			return ref, own, usage.Errorf("column %s is constant in the reference (%.6g) and in "+
				"the draws (%.6g): nothing to compare them with", name, value, in[0][0])
		default:
			return ref, own, usage.Errorf("column %s is constant in the reference (%.6g), and not "+
				"so in the draws: nothing to compare them with", name, value)
		}
	}
	return ref.only(kept), own.only(kept), nil
}

// stuckChance is the probability below which a run of one value is taken to be that of a stuck
// chain: of as many independent draws.
const stuckChance = 1e-3

// stuck returns which chain of a side has one value in a column, or from some draw on or up to
// some draw for half of its length, "" if none; prefix is what the message begins with. Values that
// are likely on the other side do not count, nor, for the reference, those of its other chains:
// draws without a spike that all of them have are to be refused. In a column that mostly has one
// value a chain that mixes slowly may have it for half of its length.
func stuck(side, other Side, prefix string) string {
	for c, chain := range side.Chains {
		for j, x := range chain {
			value, run := longestRun(x)
			// Half of a short chain is a run that rejected proposals make, too.
			if run < 2 || run < len(x) && run < max(minLeast, (len(x)+1)/2) {
				continue
			}
			share := shareOf(value, other.column(j))
			if prefix != "" && len(side.Chains) > 1 {
				share = max(share, shareOf(value, slices.Delete(side.column(j), c, c+1)))
			}
			if math.Pow(share, float64(run)) < stuckChance && (run == len(x) || share < 0.5) {
				what := "never moved"
				if run < len(x) {
					what = fmt.Sprintf("did not move in %d of %d draws", run, len(x))
				}
				return fmt.Sprintf("%s%s %s in column %s", prefix, side.name(c), what,
					side.Names[j])
			}
		}
	}
	return ""
}

// hardlyMoved is the share of other draws within the range of a chain below which it is taken not
// to have mixed: of three independent draws or more the range has less once in a hundred times.
const hardlyMoved = 0.05

// confined returns which of a side's chains stays in a narrow range of a column, "" if none: one in
// which hardly any draws of its other chains are, nor of the other side; prefix is what the message
// begins with. A reference is held against its own chains alone, since draws may be wrong. Chains
// of one value are another matter (stuck).
func confined(side, other Side, prefix string) string {
	if len(side.Chains) == 1 {
		return "" // draws that all are in a wrong place are refused
	}
	// within is the share of sorted values from low to high, of which some are not counted.
	within := func(sorted []float64, low, high float64, but int) float64 {
		from, _ := slices.BinarySearch(sorted, low)
		to, _ := slices.BinarySearch(sorted, math.Nextafter(high, math.Inf(1)))
		return float64(to-from-but) / float64(max(1, len(sorted)-but))
	}
	for j, name := range side.Names {
		own := slices.Sorted(slices.Values(slices.Concat(side.column(j)...)))
		var beside []float64
		if len(other.Chains) > 0 {
			beside = slices.Sorted(slices.Values(slices.Concat(other.column(j)...)))
		}
		for c, x := range side.column(j) {
			low, high := slices.Min(x), slices.Max(x)
			if len(x) < minLeast || low == high {
				continue
			}
			share := max(within(own, low, high, len(x)), within(beside, low, high, 0))
			if share < hardlyMoved {
				return fmt.Sprintf("%s%s stays between %.6g and %.6g in column %s, where %.2g %% "+
					"of the other draws are: chains have not mixed", prefix, side.name(c), low,
					high, name, 100*share)
			}
		}
	}
	return ""
}

// longestRun returns the value that is repeated most often without another between, and how often.
func longestRun(x []float64) (value float64, run int) {
	begin := 0
	for i, v := range x {
		if v != x[begin] {
			begin = i
		}
		if i+1-begin > run {
			value, run = v, i+1-begin
		}
	}
	return value, run
}

// shareOf returns which share of the draws of a column is a value.
func shareOf(value float64, chains [][]float64) float64 {
	equal, all := 0, 0
	for _, x := range chains {
		all += len(x)
		for _, v := range x {
			if v == value {
				equal++
			}
		}
	}
	return float64(equal) / float64(all)
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

// worthOfAChain is how many independent draws a chain has to be worth, on average, for a side to
// show how its chains move, and not only where they began.
const worthOfAChain = 2

// conclude sets the verdict; columns are in order. A refusal goes before a lack of draws: few
// draws that differ enough to be seen are wrong all the same, if the median column has enough of
// them. A column with less than minLeast refuses nothing by itself, nor in a direction (see joint),
// and without it nothing is accepted; nor is it with chains that have not mixed, for which confined
// is the reason, nor with draws so far out that they are not expected once in a hundred reports.
func (r *Report) conclude(confined string) {
	var few string // what a side has too little of, of the one that lacks more
	lacks := 1.0   // the least share of what it is to have that a side has
	enough := true // in the median column, on both sides
	for _, side := range []struct {
		of string
		Size
	}{{"the draws", r.Draws}, {"the reference", r.Reference}} {
		enough = enough && side.Effective >= minMedian
		if has := min(side.Effective/minMedian, side.Least/minLeast); has < lacks {
			// What is below a limit is not rounded up to it.
			down := func(x float64) float64 { return math.Floor(10*x) / 10 }
			lacks, few = has, fmt.Sprintf("%s: an effective size of %.1f, of %.1f in column %s: "+
				"want at least %d, and %d in each column", side.of, down(side.Effective),
				down(side.Least), side.LeastOf, minMedian, minLeast)
		} else if side.Least < float64(worthOfAChain*side.Chains) {
			confined = cmp.Or(confined, fmt.Sprintf("%s: %d draws in %d chains are worth %.0f "+
				"in column %s, hardly more than one a chain: where they began decides, and not "+
				"how they move: chains have not mixed", side.of, side.Draws, side.Chains,
				side.Least, side.LeastOf))
		}
	}
	var why []string
	stray := slices.IndexFunc(r.Columns, func(c Column) bool {
		return c.stray.expected*float64(len(r.Columns)) <= Level
	})
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
	case few != "":
		r.Verdict, r.Why = Undecided, few
		r.Power = []Power{} // its standard errors are as little known
	case confined != "":
		r.Verdict, r.Why = Undecided, confined
	case stray >= 0:
		c := r.Columns[stray]
		r.Verdict, r.Why = Undecided, fmt.Sprintf("column %s: a draw at %.4g, where the "+
			"reference with the median %.4g has no tail (%.1g draws are expected as far out): "+
			"ranks do not weigh how far a draw is off", c.Name, c.stray.at, c.stray.median,
			c.stray.expected)
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
	switch {
	case c.Location.P <= Level && (c.Shape == Test{} || c.Location.P <= c.Shape.P):
		by, interval := c.Location.words()
		return fmt.Sprintf("its normal scores are shifted by %s (%s)", by, interval)
	case c.Scale != Test{} && c.P == c.Scale.P:
		by, interval := c.Scale.words()
		return fmt.Sprintf("its normal scores are %s times as wide as the reference's (%s)",
			by, interval)
	}
	return fmt.Sprintf("its distribution function differs by %v", c.Shape)
}
