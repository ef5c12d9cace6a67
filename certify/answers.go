package certify

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/interp"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/minibatch"
	"hambench/usage"
)

// Answers are what a row says besides the errors, as far as asked for.
type Answers struct {
	// Cost is how many gradients of a batch an outer step takes, and K the number
	// of batches.
	Cost     float64    `json:"cost,omitempty"`
	K        int        `json:"k,omitempty"`
	Friction float64    `json:"friction,omitempty"`
	Averages []Average  `json:"averages,omitempty"`
	Budgets  []AtBudget `json:"budgets,omitempty"`
	// RandomOrders is how many random orders of the batches stand for all K! of them in
	// the averages and in the largest stable step; 0: none do, all orders are used.
	RandomOrders int `json:"random_orders,omitempty"`
	// StableStep is where the spectral radius of a period's second moments first
	// reaches 1 as the step grows, to 4 digits; +Inf if it does not, nil where that
	// is not known.
	StableStep *Number `json:"stable_step,omitempty"`
	// Kolmogorov and Wasserstein are distances at each step between the stationary
	// law of θ and the target: Kolmogorov's is the largest of the marginals along the
	// principal axes, Wasserstein's is of order 2 in coordinates in which the target is
	// N(0, I) (on scalar problems, in units of its standard deviation). On Gaussian
	// problems both are those of normal laws with the exact moments: exact under full
	// and cyclic, otherwise a lower bound of Wasserstein's (Gelbrich 1990).
	Kolmogorov  []Number `json:"kolmogorov,omitempty"`
	Wasserstein []Number `json:"wasserstein,omitempty"`
}

// checkAnswers refuses questions without an answer.
func (o *Options) checkAnswers() error {
	for _, n := range o.Budgets {
		if !(n > 0) || math.IsInf(n, 0) {
			return usage.Errorf("budget %v: want a finite number of gradients > 0", n)
		}
	}
	if o.OneStep && (o.Budgets != nil || o.Stability || o.Distances) {
		return usage.Errorf("one step has no stationary law to take averages of: want budgets, stability and distances without it")
	}
	return nil
}

// answer fills in what the options ask for; points are those at the row's steps.
func (c *certification) answer(ctx context.Context, row *Row, points []point) error {
	o := c.options
	if c.flaw != "" || o.Budgets == nil && !o.Stability && !o.Distances {
		return nil
	}
	row.K, row.Friction = o.Problem.Batches(), o.Problem.Friction
	if o.Distances {
		for _, p := range points {
			k, w, err := c.distances(ctx, p)
			if err != nil {
				return err
			}
			row.Kolmogorov, row.Wasserstein = append(row.Kolmogorov, Number(k)), append(row.Wasserstein, Number(w))
		}
	}
	s := search{certification: *c, ctx: ctx, known: make(map[tried][]worth)}
	s.scheme, row.RandomOrders = o.standIn(c.scheme)
	s.limit = s.unlimited()
	if !o.quick && (o.Stability || o.Budgets != nil) {
		var err error
		if s.limit, err = s.stableStep(); err != nil {
			return err
		}
		if limit := Number(s.limit); o.Stability && s.far {
			row.StableStep = &limit
		}
	}
	return s.judge(row)
}

const (
	// ordersTaken is how many random orders stand for all, where those are too
	// many.
	ordersTaken = 24
	// notch is how many steps are tried in an octave.
	notch = 8
)

// search looks for steps of an integrator under a scheme.
type search struct {
	certification
	ctx   context.Context
	limit float64 // the largest stable step
	far   bool    // that is known, as the chain far out is
	// unclear says that round-off hides whether the chain of the last step is stable.
	unclear bool
	known   map[tried][]worth
	same    bool // quick answers are the others, too
}

// tried is a step at which averages were judged.
type tried struct {
	h     float64
	quick bool
}

// standIn is the scheme of some random orders, and how many they are, where all orders
// of a scheme are too many; else the scheme itself and 0.
func (o *Options) standIn(s minibatch.Method) (stand minibatch.Method, taken int) {
	k, taken, mostShuffled, mostThereAndBack := o.Problem.Batches(), ordersTaken, maxReshuffle, maxPalindrome
	if o.quick {
		taken, mostShuffled, mostThereAndBack = ordersTaken/3, 4, 3
	}
	_, permutation := s.Visits.(minibatch.Permutation)
	_, palindrome := s.Visits.(minibatch.Palindrome)
	if !(permutation && k > mostShuffled || palindrome && k > mostThereAndBack) {
		return s, 0
	}
	rng := rand.New(rand.NewPCG(17, 18)) // any orders do
	orders := make([][]int, taken)
	for i := range orders {
		orders[i] = rng.Perm(k)
		if palindrome {
			back := slices.Clone(orders[i])
			slices.Reverse(back)
			orders[i] = append(orders[i], back...)
		}
	}
	s.Visits = minibatch.Words{
		Length: func(int) int { return len(orders[0]) },
		List:   func(int) []minibatch.Word { return minibatch.EquallyLikely(orders) },
	}
	return s, taken
}

// unlimited is where the search for averages begins if the chain far out, which
// decides what is stable, is not known: at potentials that are no oscillators and
// under thermostats.
func (s *search) unlimited() float64 { return 4 / s.pace().fast }

// stable reports whether the moments of a chain of step h are bounded.
func (s *search) stable(h float64) (bool, error) {
	if err := s.ctx.Err(); err != nil {
		return false, err
	}
	prep, err := s.asked.prepared(h)
	if err != nil {
		return false, err
	}
	if p, scalar := prep.(*preparedSpectral); scalar {
		prep = p.tail
	}
	g, ok := prep.(*preparedGaussian)
	if s.far = ok; !ok {
		return h < s.unlimited(), nil
	}
	radius, slack, err := g.radius(s.ctx, s.scheme)
	s.unclear = math.Abs(radius-1) <= slack
	return radius < 1, err
}

// radius is the spectral radius of a period, of its mean map, and of its second
// moments where the order of the batches is random, and how far round-off may have
// it from 1.
func (p *preparedGaussian) radius(ctx context.Context, m minibatch.Method) (radius, slack float64, err error) {
	cycle, err := newPeriod(ctx, p.evolution(itself), m)
	if err != nil {
		return 0, 0, err
	}
	radius, slack = spectralRadius(p.meanMap(cycle).change())
	if math.IsNaN(radius) || radius > 1+slack || len(cycle.words) == 1 {
		return radius, slack, nil
	}
	radius, slack = secondMomentRadius(cycle, p.n)
	return radius, slack, ctx.Err()
}

// stableStep goes up from an eighth of the fastest rate's time, or down from there,
// and halves the interval in which the chain becomes unstable.
func (s *search) stableStep() (float64, error) {
	unit := 1 / s.pace().fast
	at := func(j int) float64 { return unit * math.Exp2(float64(j)/notch) }
	const first, lowest, highest = -3 * notch, -40 * notch, 14 * notch
	j, by := first, 1
	ok, err := s.stable(at(j))
	if !ok {
		by = -1
	}
	for up := ok; err == nil && ok == up; ok, err = s.stable(at(j)) {
		switch j += by; {
		case j > highest:
			return math.Inf(1), nil
		case j < lowest:
			s.far = s.far && !s.unclear
			return 0, nil
		}
	}
	if ok { // found on the way down
		j++
	}
	low, high := at(j-1), at(j)
	for err == nil && high-low > 1e-5*high {
		middle := (low + high) / 2
		if ok, err = s.stable(middle); ok {
			low = middle
		} else {
			high = middle
		}
	}
	return low, err
}

// worths judges averages at a step.
func (s *search) worths(h float64, quick bool) ([]worth, error) {
	if w, ok := s.known[tried{h, quick || s.same}]; ok {
		return w, nil
	}
	prep, err := s.asked.prepared(h)
	if err != nil {
		return nil, err
	}
	w, err := prep.(interface {
		worths(ctx context.Context, m minibatch.Method, quick bool) ([]worth, error)
	}).worths(s.ctx, s.scheme, quick)
	_, spectral := prep.(*preparedSpectral)
	s.same = s.same || spectral || !quick && slices.ContainsFunc(w, func(w worth) bool { return w.normal })
	s.known[tried{h, quick || s.same}] = w
	return w, errors.Join(err, s.ctx.Err())
}

// mse is the mean squared error of the worst average over n outer steps; NaN if
// they are less than one.
func mse(all []worth, n float64) (size float64, worst worth) {
	size = math.NaN()
	if n < 1 {
		return size, worst
	}
	for _, w := range all {
		if x := w.mse(n); !(x <= size) {
			size, worst = x, w
		}
	}
	return size, worst
}

// judge judges the averages at the row's steps, and looks for the best ones.
func (s *search) judge(row *Row) error {
	if s.options.Budgets == nil {
		return nil
	}
	row.Cost = s.options.cost(s.asked.method, s.scheme)
	found := make([][]worth, len(s.options.shown()))
	for i, h := range s.options.shown() {
		var err error
		if found[i], err = s.worths(h, s.options.quick); err != nil {
			return err
		}
		if row.Averages == nil {
			for _, w := range found[i] {
				row.Averages = append(row.Averages, Average{Name: w.name, Normal: w.normal})
			}
		}
	}
	for i := range row.Averages {
		a := &row.Averages[i]
		for _, all := range found {
			var w worth // not known
			if all != nil {
				w = all[i]
			}
			bias, variance, autocorrelation := w.summary()
			a.Bias, a.Variance, a.Autocorrelation = append(a.Bias, bias), append(a.Variance, variance), append(a.Autocorrelation, autocorrelation)
		}
	}
	for _, n := range s.options.Budgets {
		b, err := s.best(n, row.Cost)
		if err != nil {
			return err
		}
		for _, all := range found {
			size, _ := mse(all, n/row.Cost)
			b.MSE = append(b.MSE, Number(size))
		}
		row.Budgets = append(row.Budgets, b)
	}
	return nil
}

// best looks for the step of the smallest mean squared error: coarsely from the
// largest stable step down, until what is smaller can only add variance, then
// around the best. All that is quick; around what it finds the answer is not.
func (s *search) best(gradients, cost float64) (AtBudget, error) {
	const coarse, deepest = notch / 2, 40 * notch
	nan := Number(math.NaN())
	out := AtBudget{Gradients: gradients, Best: nan, Step: nan, Bias: nan, Autocorrelation: nan, Outer: Number(gradients / cost)}
	if out.Outer < 1 || s.limit == 0 {
		return out, nil
	}
	// At the limit itself memory has no end.
	unit, top, first := s.limit, coarse, 1
	if math.IsInf(unit, 1) {
		unit, top, first = 1/s.pace().slow, -6*notch, -8*notch
	}
	step := func(j int) float64 { return unit * math.Exp2(-float64(j)/notch) }
	var failed error
	size := func(j int, quick bool) (size float64, worst worth) {
		all, err := s.worths(step(j), quick)
		if err != nil {
			failed = err
		}
		if all != nil {
			out.Evaluated++
		}
		return mse(all, gradients/cost)
	}
	at, least := 0, math.Inf(1)
	var worst worth
	for j := top; j < deepest && failed == nil; j += coarse {
		x, w := size(j, true)
		// A trajectory of half a period or more may end where it began: from the
		// variance there nothing follows for smaller steps.
		short := s.options.Inner == 1 || float64(s.options.Inner)*step(j)*s.pace().fast < 1
		if x < least {
			at, least = j, x
		} else if x > least && largestOf(w.bias) < 0.01*x && short {
			break
		}
	}
	if failed != nil || math.IsInf(least, 1) {
		return out, failed
	}
	for _, quick := range []bool{true, s.options.quick} {
		least, worst = size(at, quick)
		for by := coarse / 2; by > 0 && failed == nil; {
			moved := false
			for _, j := range []int{at - by, at + by} {
				if x, w := size(max(j, first), quick); j >= first && (x < least || math.IsInf(least, 1) && j > at) {
					at, least, worst, moved = j, x, w, true
				}
			}
			if !moved {
				by /= 2
			}
		}
	}
	out.Step, out.Best, out.Worst = Number(step(at)), Number(least), worst.name
	out.Bias, _, out.Autocorrelation = worst.summary()
	return out, failed
}

// distances returns the distances between the stationary law of θ at a point and the
// target; NaN where there is no law, or none that is known.
func (c *certification) distances(ctx context.Context, at point) (kolmogorov, wasserstein float64, err error) {
	if at.unstable() || math.IsInf(at.observed[0].relativeResolution, 1) {
		return math.NaN(), math.NaN(), nil
	}
	prep, err := c.asked.prepared(at.h)
	if err != nil {
		return 0, 0, err
	}
	if p, ok := prep.(*preparedSpectral); ok {
		return p.distances(ctx, c.scheme, c.options.EveryStep)
	}
	kolmogorov, wasserstein = normalDistances(c.asked.engine.(*gaussianEngine).frame.axes(), at.observed[0].signed, at.observed[1].signed)
	return kolmogorov, wasserstein, nil
}

// normalDistances are those between N(mean, I + change) and N(0, I): Kolmogorov's of
// the marginals along the axes, the largest, and Wasserstein's.
func normalDistances(axes [][]float64, mean, change []float64) (kolmogorov, wasserstein float64) {
	d := len(mean)
	for _, a := range axes {
		v := mat.NewVecDense(d, a)
		kolmogorov = max(kolmogorov, kolmogorovNormal(floats.Dot(a, mean), mat.Inner(v, mat.NewDense(d, d, change), v)))
	}
	var eig mat.EigenSym
	if !eig.Factorize(mat.NewSymDense(d, slices.Clone(change)), false) {
		return kolmogorov, math.NaN()
	}
	wasserstein = floats.Norm(mean, 2)
	for _, x := range eig.Values(nil) {
		wasserstein = math.Hypot(wasserstein, x/(math.Sqrt(1+x)+1)) // √(1 + x) − 1
	}
	return kolmogorov, wasserstein
}

// kolmogorovNormal is the distance of N(m, 1 + x) from N(0, 1). The difference of
// the distribution functions is largest where the densities cross.
func kolmogorovNormal(m, x float64) float64 {
	v := 1 + x
	a, b, c := x/v, 2*m/v, -m*m/v-math.Log1p(x)
	q := -(b + math.Copysign(math.Sqrt(max(0, b*b-4*a*c)), b)) / 2
	most := 0.0
	for _, at := range []float64{q / a, c / q} {
		if !math.IsNaN(at) && !math.IsInf(at, 0) {
			most = max(most, math.Abs(distuv.UnitNormal.CDF(at)-distuv.UnitNormal.CDF((at-m)/math.Sqrt(v))))
		}
	}
	return most
}

// distancesAgree is how far, relatively, distances on two rungs may be apart. The
// density of a law that is not normal converges slowly at single points, and so
// does Kolmogorov's distance.
const distancesAgree = 0.03

// distances climbs the ladder until two rungs agree.
func (p *preparedSpectral) distances(ctx context.Context, m minibatch.Method, everyStep bool) (kolmogorov, wasserstein float64, err error) {
	kolmogorov, wasserstein = math.NaN(), math.NaN()
	for i := range p.engine.ladder {
		r := p.rung(i)
		found, err := r.solve(ctx, m, everyStep)
		if err != nil {
			return 0, 0, err
		}
		if found.signed == nil {
			continue
		}
		k, w := p.engine.narrow.theta.distances(r.basis, found.law, p.engine.observed[0].sd)
		if math.Abs(k-kolmogorov) <= distancesAgree*k && math.Abs(w-wasserstein) <= distancesAgree*w {
			return k, w, nil
		}
		kolmogorov, wasserstein = k, w
	}
	return math.NaN(), math.NaN(), nil
}

// distances returns those between a density and the law that a basis's
// coefficients add to it. Wasserstein's, over the standard deviation, is the
// length of the way that takes each quantile to its like.
func (d *density) distances(b *basis, law []float64, sd float64) (kolmogorov, wasserstein float64) {
	n, p := len(d.x), make([]float64, b.widths[0])
	before, after, slope, moved := make([]float64, n), make([]float64, n), make([]float64, n), 0.0
	width, sum := d.x[1]-d.x[0], 0.0
	for i, x := range d.x {
		more := 0.0
		if d.w[i] > 0 {
			b.theta.values(p, x)
			more = d.w[i] * floats.Dot(p, law[:len(p)])
		}
		before[i], after[i] = sum+d.w[i]/2, sum+d.w[i]/2+moved+more/2
		kolmogorov = max(kolmogorov, math.Abs(moved+more/2))
		slope[i] = (d.w[i] + more) / width
		sum, moved = sum+d.w[i], moved+more
	}
	var to interp.PiecewiseCubic
	to.FitWithDerivatives(d.x, after, slope)
	most := floats.Max(d.w)
	for i, x := range d.x {
		if d.w[i] < livedIn*livedIn*livedIn*most {
			continue
		}
		low, high := d.x[0], d.x[n-1]
		for range 60 { // to round-off
			if y := (low + high) / 2; to.Predict(y) < before[i] {
				low = y
			} else {
				high = y
			}
		}
		wasserstein += d.w[i] * (low - x) * (low - x)
	}
	return kolmogorov, math.Sqrt(wasserstein) / sd
}
