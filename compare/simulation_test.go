package compare

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"hambench/usage"
)

// law turns autoregressive standard normals into a chain of one law. A share of their variance
// may be of independent ones; the rest is so much slower. Of some, only the first columns, so many,
// are chains with a time, and draws of the others are independent.
type law struct {
	name        string
	of          func(z float64) float64
	independent float64
	slow        int // 0 is all columns
}

// laws of the simulation: a chain that changes its mode has the mode's own time.
var laws = []law{
	{"normal", func(z float64) float64 { return z }, 0, 0},
	{"heavy tails", func(z float64) float64 {
		u := distuv.UnitNormal.CDF(z)
		return (u - 0.5) * math.Sqrt(2/u/(1-u)) // the quantile of two degrees of freedom
	}, 0, 0},
	{"two modes", nil, 0, 0},
	{"discrete", func(z float64) float64 { return math.Floor(1.2 * z) }, 0, 0},
	{"slow part", func(z float64) float64 { return z }, 0.9, 0},
	{"one slow column", func(z float64) float64 { return z }, 0, 1},
	{"five slow columns", func(z float64) float64 { return z }, 0, 5},
}

// deviation is what makes a column of draws wrong: the others are right.
type deviation struct {
	width, shift float64 // of column 0
	correlation  float64 // of columns 0 and 1
}

// simulated returns chains of columns with an integrated autocorrelation time, started in
// their law.
func simulated(rng *rand.Rand, l law, chains, draws, columns int, time float64, d deviation) Side {
	time = 1 + (time-1)/(1-l.independent)
	phi := (time - 1) / (time + 1)
	innovation := math.Sqrt(1 - phi*phi)
	s := Side{}
	for j := range columns {
		s.Names = append(s.Names, fmt.Sprintf("x%d", j))
	}
	for c := range chains {
		n := draws / chains
		if c < draws%chains {
			n++
		}
		chain := make([][]float64, columns)
		for j := range chain {
			chain[j] = make([]float64, n)
			phi, innovation := phi, innovation
			if l.slow > 0 && j >= l.slow {
				phi, innovation = 0, 1
			}
			z, mode := rng.NormFloat64(), float64(2*rng.IntN(2)-1)
			for i := range n {
				chain[j][i] = z
				switch {
				case l.of == nil:
					chain[j][i] = 2*mode + rng.NormFloat64()
				case l.independent > 0:
					chain[j][i] = math.Sqrt(1-l.independent)*z + math.Sqrt(l.independent)*rng.NormFloat64()
				}
				if rng.Float64() > (1+phi)/2 {
					mode = -mode
				}
				z = phi*z + innovation*rng.NormFloat64()
			}
		}
		if d.correlation != 0 {
			for i := range n {
				chain[1][i] = d.correlation*chain[0][i] + math.Sqrt(1-d.correlation*d.correlation)*chain[1][i]
			}
		}
		for j, x := range chain {
			for i := range x {
				if j == 0 {
					x[i] = d.width*x[i] + d.shift
				}
				if l.of != nil {
					x[i] = l.of(x[i])
				}
			}
		}
		s.Chains = append(s.Chains, chain)
	}
	return s
}

var right = deviation{width: 1}

// cell is a line of the table of false alarms and power.
type cell struct {
	law, columns, draws, chains int
	time                        float64
	sets                        int
}

// outcome counts what a cell's sets gave: verdicts on right draws; of each deviation of the
// report's power, how often it was refused and how often that was stated.
type outcome struct {
	cell
	refused, undecided int
	shown, stated      [3]float64
}

// run judges sets of draws of a cell against as many references of 4 × 250 independent draws.
func (c cell) run(power bool) outcome {
	o := outcome{cell: c}
	var mu sync.Mutex
	each(c.sets, func(k int) {
		rng := rand.New(rand.NewPCG(uint64(k), uint64(c.law+10*c.columns+1000*c.draws)))
		ref := simulated(rng, laws[c.law], 4, 1000, c.columns, 1, right)
		made := func(d deviation) Report {
			r, err := Sides(ref, simulated(rng, laws[c.law], c.chains, c.draws, c.columns, c.time, d))
			if err != nil {
				panic(err)
			}
			return r
		}
		r := made(right)
		var shown [3]float64
		for w, d := range []deviation{{width: 1.08}, {width: 1, shift: 0.1}, {width: 1, correlation: 0.2}} {
			if power && w < len(r.Power) && made(d).Verdict == Refused {
				shown[w]++
			}
		}
		mu.Lock()
		defer mu.Unlock()
		switch r.Verdict {
		case Refused:
			o.refused++
		case Undecided:
			o.undecided++
		}
		for w, p := range r.Power {
			o.shown[w] += shown[w] / float64(c.sets)
			o.stated[w] += p.Power / float64(c.sets)
		}
	})
	return o
}

// atMost is the upper limit of a rate of which k in n were seen, at 95 % (Clopper and Pearson,
// 1934).
func atMost(k, n int) float64 {
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.95)
}

func (o outcome) String() string {
	return fmt.Sprintf("| %s | %d | %d | %d | %g | %d | %d | %.2f %% | %.0f %% |", laws[o.law].name, o.columns,
		o.draws, o.chains, o.time, o.sets, o.refused, 100*atMost(o.refused, o.sets), 100*float64(o.undecided)/float64(o.sets))
}

var whole = flag.Bool("table", false, "simulate all of the table of docs/judge.md")

// The table of docs/judge.md. A cell fails if its refusals are more than 1.5 % with 99.9 %
// certainty.
func TestFalseAlarmsAndPowerOfTheTable(t *testing.T) {
	if !*whole {
		t.Skip("a quarter of an hour of one processor: ask for it with -table")
	}
	var all, sets int
	for _, c := range []cell{
		{0, 1, 50, 1, 1, 2000}, {1, 1, 50, 8, 1, 2000}, {3, 1, 50, 1, 1, 2000}, {2, 1, 200, 1, 5, 2000},
		{0, 1, 200, 8, 5, 2000}, {0, 1, 200, 1, 20, 2000}, {3, 1, 1000, 4, 5, 2000}, {2, 1, 1000, 1, 20, 2000},
		{1, 1, 1000, 8, 20, 3000}, {0, 1, 10_000, 4, 20, 1000}, {1, 10, 50, 1, 1, 500}, {3, 10, 200, 4, 5, 500},
		{2, 10, 1000, 1, 20, 500}, {0, 10, 1000, 4, 1, 500}, {2, 10, 10_000, 8, 5, 400}, {0, 100, 50, 1, 1, 400},
		{3, 100, 200, 4, 5, 400}, {0, 100, 1000, 1, 1, 200}, {2, 100, 1000, 8, 20, 700},
		{4, 1, 4000, 4, 5, 2000}, {4, 1, 4000, 4, 20, 2000}, {4, 1, 1000, 1, 10, 2000}, {4, 10, 10_000, 8, 20, 500}, {5, 5, 1000, 1, 150, 2000}, {6, 11, 1000, 1, 150, 1000},
	} {
		o := c.run(false)
		fmt.Println(o)
		all, sets = all+o.refused, sets+o.sets
		if (distuv.Binomial{N: float64(o.sets), P: 0.015}).CDF(float64(o.refused)) > 0.999 {
			t.Errorf("%+v: more than 1.5 %% false alarms", o)
		}
	}
	fmt.Printf("| all | | | | | %d | %d | %.2f %% | |\n", sets, all, 100*atMost(all, sets))
	for _, c := range []cell{{0, 1, 2000, 1, 1, 1000}, {0, 2, 1000, 4, 1, 400}, {0, 2, 4000, 4, 5, 200},
		{1, 4, 2000, 4, 4, 200}} {
		o := c.run(true)
		for w, what := range []string{"deviation 8 % too large", "shift of 0.1", "correlation of 0.2"} {
			if w == 2 && c.columns == 1 {
				continue
			}
			error := math.Sqrt(o.shown[w] * (1 - o.shown[w]) / float64(c.sets))
			fmt.Printf("| %s | %s | %d | %d | %g | %d | %.2f | %.2f ± %.2f |\n", what, laws[c.law].name, c.columns,
				c.draws, c.time, c.sets, o.stated[w], o.shown[w], 1.96*error)
			// Of what is stated within 0.05, three standard errors more are chance.
			if math.Abs(o.stated[w]-o.shown[w]) > 0.05+3*error {
				t.Errorf("%+v: %s is stated to be shown with %.2f, and was with %.2f", c, what, o.stated[w],
					o.shown[w])
			}
		}
	}
}

// Of 80 right sets each, in which draws are independent, correlated, with ties and in two
// modes, five are refused once in 800 times if one in a hundred is, and of three kinds at 4 seeds
// in 1000; seeds are pinned.
func TestRightDrawsAreSeldomRefused(t *testing.T) {
	for _, c := range []cell{{0, 3, 200, 1, 1, 80}, {3, 1, 400, 4, 5, 80}, {2, 2, 500, 2, 5, 80}} {
		if o := c.run(false); o.refused > 4 || o.undecided > 3 {
			t.Errorf("%v: refused %d and undecided %d of 80", o, o.refused, o.undecided)
		}
	}
}

// Right chains of which a tenth of the variance has ten times the time: a window of that time alone
// refuses a tenth of them. Of 200 sets that are refused with 0.01 each, nine are not once in
// 4000 times.
func TestRightDrawsWithASlowPartAreSeldomRefused(t *testing.T) {
	if o := (cell{4, 1, 4000, 4, 20, 200}).run(false); o.refused > 8 {
		t.Errorf("%d of %d sets are refused", o.refused, o.sets)
	}
}

// Draws that are wrong in one of these ways are refused in 99 of 100 sets, 500 independent
// ones and 2000 of effective size 500: of 6 sets, two are not once in 700 times, and of six kinds
// at 9 seeds in 1000. Seeds are pinned.
func TestWrongDrawsAreRefused(t *testing.T) { refuseWrongDraws(t, 6, 5) }

// Of 400 sets that are refused with 0.99 each, eleven are not once in 370 times, and of six kinds
// at 16 seeds in 1000. Seeds are pinned.
func TestLongWrongDrawsAreRefused(t *testing.T) {
	if os.Getenv("HAMBENCH_TEST_LONG") == "" {
		t.Skip("a minute: set HAMBENCH_TEST_LONG=1")
	}
	refuseWrongDraws(t, 400, 390)
}

// refuseWrongDraws judges sets of each kind of wrong draws, of which so many are to be refused,
// and column x0 named.
func refuseWrongDraws(t *testing.T, sets, want int) {
	for _, of := range []struct {
		draws int
		time  float64
	}{{500, 1}, {2000, 4}} {
		for what, d := range map[string]deviation{
			"a deviation 1.3 times too large": {width: 1.3}, "a correlation of 0.8 lost": {width: 1},
			"a mode missing": {width: 1},
		} {
			refused, named := 0, 0
			for k := range sets {
				rng := rand.New(rand.NewPCG(uint64(k), 3))
				l, truth := laws[0], right
				if what == "a correlation of 0.8 lost" {
					truth.correlation = 0.8
				}
				if what == "a mode missing" {
					l = laws[2]
				}
				ref := simulated(rng, l, 1, 1000, 2, 1, truth)
				own := simulated(rng, laws[0], 1, of.draws, 2, of.time, d)
				if what == "a mode missing" {
					floats.AddConst(2, own.Chains[0][0])
					own.Chains[0][1] = simulated(rng, l, 1, of.draws, 1, of.time, right).Chains[0][0]
				}
				r, err := Sides(ref, own)
				if err != nil {
					t.Fatal(err)
				}
				if r.Verdict == Refused {
					refused++
				}
				if strings.Contains(r.Why, "x0") {
					named++
				}
			}
			t.Logf("%s, %d draws, time %g: refused %d and named %d of %d", what, of.draws, of.time, refused, named, sets)
			if min(refused, named) < want {
				t.Errorf("%s, %d draws, time %g: refused %d and named %d of %d", what, of.draws, of.time, refused, named, sets)
			}
		}
	}
}

// A reference whose columns are off by its stated error, in a way that its draws do not show,
// refuses right draws of any number no more often than another: at 1 %, more than three of 60
// sets, or one of 8, at 3 seeds in 1000 each; seeds are pinned. What exceeds the error many times
// is refused.
func TestAReferencesOwnErrorIsAllowedFor(t *testing.T) {
	for _, c := range []struct {
		columns, draws, sets, most, atLeast int
		e                                   float64
	}{{1, 3000, 60, 3, 10, 0.02}, {3, 2000, 8, 1, 3, 0.02}} {
		refused := map[string]int{}
		for k := range c.sets {
			rng := rand.New(rand.NewPCG(uint64(k), 7))
			ref := simulated(rng, laws[0], 5, c.draws, c.columns, 1, right)
			for j := range c.columns {
				// The mean of the Kolmogorov distances, |shift|/√(2π), is e.
				shift := math.Pi * c.e * rng.NormFloat64()
				for _, chain := range ref.Chains {
					floats.AddConst(shift, chain[j])
				}
			}
			for what, d := range map[string]deviation{"right": right, "not stated": right, "shifted": {1, 1, 0}, "wide": {2, 0, 0}} {
				ref.OwnError = c.e
				if what == "not stated" {
					ref.OwnError = 0
				}
				draws := rand.New(rand.NewPCG(uint64(k), 8)) // the same whatever the order
				r, err := Sides(ref, simulated(draws, laws[0], 1, c.draws, c.columns, 1, d))
				if err != nil || r.Reference.OwnError != ref.OwnError {
					t.Fatal(r.Reference, err)
				}
				if r.Verdict == Refused {
					refused[what]++
				}
			}
		}
		if refused["right"] > c.most || refused["not stated"] < c.atLeast || min(refused["shifted"], refused["wide"]) < c.sets {
			t.Errorf("%+v: refused %v", c, refused)
		}
	}
}

// What cannot be decided is neither accepted nor refused; what cannot be compared is a mistake.
func TestWhatIsNotDecidedOrNotCompared(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	of := func(chains, n int, time float64) Side { return simulated(rng, laws[0], chains, n, 2, time, right) }
	stuck, apart, constant, nan := of(2, 200, 1), of(2, 200, 1), of(1, 200, 1), of(1, 200, 1)
	for i := range 100 {
		stuck.Chains[1][1][i] = 0.3
		apart.Chains[0][1][i] += 9
	}
	for i := range 200 {
		constant.Chains[0][1][i] = 1
	}
	nan.Chains[0][1][7] = math.NaN()
	still := Side{Names: []string{"x0"}, Chains: [][][]float64{{make([]float64, 50)}}}
	other := of(1, 200, 1)
	other.Names = []string{"a", "b"}
	for _, c := range []struct {
		what     string
		ref, own Side
		want     string
	}{
		{"four draws", of(1, 1000, 1), of(1, 4, 1), "4 draws against 1000: want at least 20"},
		{"one draw", of(1, 1000, 1), of(1, 1, 1), "1 draws against 1000"},
		{"a reference of one draw", of(1, 1, 1), of(1, 1000, 1), "1000 draws against 1: want at least 20"},
		{"nothing that varies", still, still, "no column varies"},
		{"a chain that never moved", of(1, 1000, 1), stuck, "chain 2 never moved in column x1"},
		{"hardly moving", of(1, 1000, 1), of(1, 200, 80), "the draws: an effective size of"},
		{"chains apart", of(1, 1000, 1), apart, "the draws: an effective size of"},
		{"a short reference", of(1, 60, 20), of(1, 500, 1), "the reference: an effective size of"},
		{"a constant reference", constant, of(1, 500, 1), "column x1 is constant in the reference (1)"},
		{"NaN", of(1, 500, 1), nan, "the draws: chain 1, draw 8, column x1: NaN"},
		{"other columns", of(1, 500, 1), other, "no column in common: the reference has x0, x1, the draws a, b"},
	} {
		r, err := Sides(c.ref, c.own)
		got, bad := r.Why, errors.As(err, new(*usage.Error))
		if bad {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || !bad && r.Verdict != Undecided {
			t.Errorf("%s: %s %q, %v: want %q", c.what, r.Verdict, r.Why, err, c.want)
		}
	}
	some := of(1, 500, 1)
	some.Names = []string{"x0", "extra"}
	r, err := Sides(of(1, 500, 1), some)
	if err != nil || len(r.Columns) != 1 || r.OnlyReference[0] != "x1" || r.OnlyDraws[0] != "extra" {
		t.Errorf("columns on one side only: %+v, %v", r, err)
	}
}

// Ten draws of 400 that are 500 deviations off in one run are no more than a run to ranks: they
// are not accepted. Of right draws of which the law has no variance, one set in a hundred has a
// draw that is not expected at most: of 200 sets, more than 7 once in a thousand times, and of five
// laws at 5 seeds in 1000. The seed is pinned.
func TestDrawsFarOutAreNotAccepted(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	ref, own := simulated(rng, laws[0], 1, 10_000, 3, 1, right), simulated(rng, laws[0], 1, 400, 3, 1, right)
	for i := range 10 {
		own.Chains[0][1][390+i] += 500
	}
	r, err := Sides(ref, own)
	if err != nil || r.Verdict != Undecided || !strings.Contains(r.Why, "column x1: a draw at 50") {
		t.Errorf("%v, %s: %q", err, r.Verdict, r.Why)
	}
	for _, c := range []struct {
		of          law
		draws, time float64
	}{{laws[1], 5000, 1}, {laws[1], 1000, 10}, {laws[3], 5000, 1},
		{law{"no mean", func(z float64) float64 { return math.Tan(math.Pi * (distuv.UnitNormal.CDF(z) - 0.5)) }, 0, 0}, 5000, 1},
		{law{"lognormal", func(z float64) float64 { return math.Exp(2 * z) }, 0, 0}, 5000, 1}} {
		stray := 0
		for range 200 {
			ref, own := simulated(rng, c.of, 4, 1000, 1, c.time, right), simulated(rng, c.of, 1, int(c.draws), 1, 1, right)
			p := pool(ref, own, 0)
			if p.farthest(1/c.time).expected <= Level {
				stray++
			}
		}
		if t.Logf("%s: %d of 200", c.of.name, stray); stray > 7 {
			t.Errorf("%s, %v draws, time %v: %d of 200 right sets have a draw that is not expected", c.of.name,
				c.draws, c.time, stray)
		}
	}
}

// Of 100 columns with an effective size of about 80 in the draws, axes of small variance would be
// those along which the reference happens to vary less: they refuse this set of right draws.
// With ten effective draws a column there are axes.
func TestAxesWantManyDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1_001_002))
	ref := simulated(rng, laws[2], 4, 1000, 100, 1, right)
	r, err := Sides(ref, simulated(rng, laws[2], 8, 1000, 100, 20, right))
	if few := (1 + randomDirections) * cuts; err != nil || r.Verdict != Accepted || r.Joint[1].Tests != few {
		t.Errorf("%v, %s, %s: %d tests of directions, want %d", err, r.Verdict, r.Why, r.Joint[1].Tests, few)
	}
	r, err = Sides(simulated(rng, laws[0], 1, 400, 20, 1, right), simulated(rng, laws[0], 1, 400, 20, 1, right))
	if many := (20 + 1 + randomDirections) * cuts; err != nil || r.Joint[1].Tests != many {
		t.Errorf("%v: %d tests of directions, want %d", err, r.Joint[1].Tests, many)
	}
}

// A column of five that is worth seven draws is a part of each direction, and the window of the
// others does not see how slow it is: these sets of right draws were refused by a direction.
// Directions leave it out, and with no other column, all: there is none then.
func TestDirectionsLeaveOutSlowColumns(t *testing.T) {
	var r Report
	for _, k := range []uint64{63, 174, 328, 447, 521, 547} {
		rng := rand.New(rand.NewPCG(k, 6000))
		ref := simulated(rng, laws[0], 4, 1000, 5, 1, right)
		var err error
		if r, err = Sides(ref, simulated(rng, laws[5], 1, 1000, 5, 150, right)); err != nil || r.Verdict == Refused {
			t.Errorf("set %d: %v, %s: %s", k, err, r.Verdict, r.Why)
		}
	}
	if four := (4 + 1 + randomDirections) * cuts; len(r.Joint) != 2 || r.Joint[1].Tests != four {
		t.Errorf("%+v: want %d tests of directions", r.Joint, four)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	r, err := Sides(simulated(rng, laws[0], 1, 1000, 2, 1, right), simulated(rng, laws[5], 1, 1000, 2, 150, right))
	if err != nil || len(r.Joint) != 1 || r.Joint[0].Kind != "correlation" {
		t.Errorf("one column besides: %v, %+v", err, r.Joint)
	}
}

// Two columns that are worth seven draws each show no correlation: these right sets were refused by
// one of such a pair, the last of two columns of 10 to 15 apparent draws. Where two slow columns have
// draws enough, a wrong correlation of theirs is refused.
func TestCorrelationsOfTwoSlowColumnsWantDraws(t *testing.T) {
	for _, k := range []uint64{89, 121, 186} {
		rng := rand.New(rand.NewPCG(k, 6+110+1_000_000))
		ref := simulated(rng, laws[6], 4, 1000, 11, 1, right)
		r, err := Sides(ref, simulated(rng, laws[6], 1, 1000, 11, 150, right))
		if err != nil || r.Verdict == Refused || r.Joint[0].Kind != "correlation" {
			t.Errorf("set %d: %v, %s: %s, %+v", k, err, r.Verdict, r.Why, r.Joint)
		}
	}
	for k := range uint64(2) {
		rng := rand.New(rand.NewPCG(k, 31))
		ref := simulated(rng, laws[6], 4, 1000, 7, 1, right)
		r, err := Sides(ref, simulated(rng, laws[6], 1, 10_000, 7, 50, deviation{width: 1, correlation: 0.5}))
		if err != nil || r.Verdict != Refused || !strings.Contains(r.Why, "worst correlation, x0, x1: ") {
			t.Errorf("set %d of a wrong correlation: %v, %s: %s", k, err, r.Verdict, r.Why)
		}
	}
}

// Right draws with an effective size of about 50 in eight chains, which by chance were seldom
// beyond a cut, and for a short time: by the cut alone they seem to be hardly correlated. Of 1500
// such sets 20 are refused if sizes of cuts are not limited, and 10 if they are; these six are
// refused in the first way only.
func TestRareVisitsShowNoShortTime(t *testing.T) {
	for _, k := range []uint64{36, 95, 117, 172, 287, 467} {
		rng := rand.New(rand.NewPCG(k, 77))
		ref := simulated(rng, laws[0], 4, 1000, 1, 1, right)
		r, err := Sides(ref, simulated(rng, laws[0], 8, 1000, 1, 20, right))
		if err != nil || r.Verdict != Accepted {
			t.Errorf("set %d: %v, %s, %s", k, err, r.Verdict, r.Why)
		}
	}
}

// The interval of a ratio that is known with one degree of freedom has an upper end that JSON
// cannot hold, and distribution functions differ by at most 1.
func TestIntervalsAreNumbers(t *testing.T) {
	d := difference{value: 0.1, mean: 0.8, error: 0.2, freedom: 1}
	scale, shape := newTests(200).scale(d, 200), newTests(200).shape(d, 3000)
	if math.IsInf(scale.High, 0) || scale.Low < 0 || shape.Low != -1 || shape.High != 1 {
		t.Errorf("scale %v, shape %v", scale, shape)
	}
}

// Draws of a chain that diverged are refused in a report that JSON can hold.
func TestDivergedDrawsAreRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	own := simulated(rng, laws[0], 1, 300, 2, 1, deviation{width: 1e300})
	r, err := Sides(simulated(rng, laws[0], 1, 300, 2, 1, right), own)
	if text, err2 := json.Marshal(r); err != nil || err2 != nil || r.Verdict != Refused || r.Columns[0].Name != "x0" {
		t.Errorf("%v, %v, %s", err, err2, text)
	}
}

// The effective size of autoregressive chains is n/τ, within four times the error that its degrees
// of freedom state; that of a chain cut in pieces is the same. Of three times one is further off at
// one seed in 5 000.
func TestEffectiveSizesAreThoseOfTheChains(t *testing.T) {
	const n = 200_000
	for _, time := range []float64{1, 4, 20} {
		x := simulated(rand.New(rand.NewPCG(8, 8)), laws[0], 1, n, 1, time, right).Chains[0][0]
		for _, chains := range [][]int{{n}, {n / 2, n / 2}} {
			a := averageOf(x, make([]float64, 2*n), chains, 0)
			if off := a.size*time/n - 1; math.Abs(off) > 4*math.Sqrt(2/a.freedom) {
				t.Errorf("time %g, chains %v: effective size %.0f, want %.0f", time, chains, a.size, n/time)
			}
		}
	}
}

// What docs/judge.md says is seen less, or better, than the statements of power suggest: shares of
// sets of independent draws that are refused, against as many of the right law.
func TestWhatPowerDoesNotSay(t *testing.T) {
	if !*whole {
		t.Skip("minutes of one processor: ask for it with -table")
	}
	rng := rand.New(rand.NewPCG(2026, 1128))
	side := func(chains, draws, columns int, of func(x []float64)) (s Side) {
		for j := range columns {
			s.Names = append(s.Names, fmt.Sprint("x", j))
		}
		for range chains {
			chain := make([][]float64, columns)
			for range draws {
				x := make([]float64, columns)
				for j := range x {
					x[j] = rng.NormFloat64()
				}
				of(x)
				for j := range x {
					chain[j] = append(chain[j], x[j])
				}
			}
			s.Chains = append(s.Chains, chain)
		}
		return s
	}
	right := func([]float64) {}
	heavy := func(x []float64) { x[0] = laws[1].of(x[0]) }
	fold := func(x []float64) { x[1] = math.Copysign(x[0], x[1]) }
	for _, c := range []struct {
		what           string
		draws, columns int
		right, wrong   func([]float64)
		sets           int
		low, high      float64 // the share refused
	}{
		{"heavy tails 8 % too wide", 400, 1, heavy, func(x []float64) { heavy(x); x[0] *= 1.08 }, 150, 0.02, 0.2},
		{"cut off at two deviations", 2500, 1, right, func(x []float64) { x[0] = min(max(x[0], -2), 2) }, 60, 0.1, 0.7},
		{"y = ±|x|, 2 columns", 1000, 2, right, fold, 30, 0.9, 1},
		{"y = ±|x|, 10 columns", 1000, 10, right, fold, 30, 0.2, 0.8},
		{"y = ±|x|, 30 columns", 1000, 30, right, fold, 30, 0, 0.15},
	} {
		refused := 0
		for range c.sets {
			r, err := Sides(side(4, c.draws, c.columns, c.right), side(4, c.draws, c.columns, c.wrong))
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict == Refused {
				refused++
			}
		}
		share := float64(refused) / float64(c.sets)
		fmt.Printf("| %s | %d | %d | %.2f |\n", c.what, c.sets, refused, share)
		if share < c.low || share > c.high {
			t.Errorf("%s: refused in a share of %.2f, want %.2f to %.2f", c.what, share, c.low, c.high)
		}
	}
}
