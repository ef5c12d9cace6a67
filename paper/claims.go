package paper

import (
	_ "embed"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/certify"
)

// StudyID is the id of the built-in study that decides the claims. It has the exact errors
// that they read; sampled chains are those of the other studies.
const StudyID = "claims"

// Verdict is the outcome for a claim.
type Verdict string

// The verdicts. A claim is not decided if there is too little evidence, and if the
// uncertainty of the evidence reaches beyond an end of the interval that confirms.
const (
	Confirmed  Verdict = "confirmed"
	Refuted    Verdict = "refuted"
	NotDecided Verdict = "not decided"
)

// Claim is a statement and how it is tested.
type Claim struct {
	ID        string `json:"id"`
	Study     string `json:"study,omitempty"` // the study of a later paper that decides it
	By        string `json:"by"`              // who says so
	Paper     string `json:"paper,omitempty"` // where: an id such as arXiv:2106.16200
	Statement string `json:"statement"`
	// Where it is said: section, equation, theorem or figure of the paper.
	Where string `json:"where" toml:"source"`
	Quote string `json:"quote,omitempty"` // the paper's own words
	Test  string `json:"test"`            // how it is decided, with the criterion
	Own   bool   `json:"-" toml:"-"`      // of a user's study, which states it
	// Undecided says why no number here can decide the claim, if none can: what is compared
	// is not the same, or the store lacks the scores.
	Undecided string `json:"-"`
	Freeze
	// Cases decide a claim that is data: each must hold. Decide may use them.
	Cases []Case `json:"-" toml:"case"`
	// Notes are what a reader should know, by the verdict, or by "decided" for both that
	// decide and "any" for all.
	Notes map[string]string `json:"-" toml:"note"`
	// Decide reads rows as Rows returns them. If there are too few of them, the verdict is
	// NotDecided and the summary says what to run. It is nil if the cases decide.
	Decide func(rows *table.Table) Finding `json:"-" toml:"-"`

	program func(of []*evaluation) Finding // decides by the cases, instead of their statistics
}

// Finding is what the evidence says about a claim.
type Finding struct {
	Verdict Verdict  `json:"verdict"`
	Summary string   `json:"summary"`          // the outcome in one line: the number that decides
	Detail  string   `json:"detail,omitempty"` // what a reader should know beyond it; may be empty
	Numbers []Number `json:"numbers"`
	// Excess is the ratio of excesses over the floor, Distance that of distances, where the
	// claim is about one; nil otherwise. The former decides: distances share the floor,
	// which pulls their ratio to 1. Of several cases they are the first one's.
	Excess   *Interval `json:"excess"`
	Distance *Interval `json:"distance"`
	// Read is how many rows the cases read. BeforeFreeze says that some of them were known
	// when the test was frozen, TestChanged that the test is another one since.
	Read         int  `json:"rows_read"`
	BeforeFreeze bool `json:"before_freeze"`
	TestChanged  bool `json:"test_changed"`
	// Known and Since are the findings by the chains from before the freeze alone, and by
	// those since, where each case reads both; nil otherwise. Exact errors, which come out
	// the same whenever they are computed, count in both.
	Known *Finding `json:"known,omitempty"`
	Since *Finding `json:"since,omitempty"`

	reads        []int // rows by case
	older, fresh int   // chains among them, from before the freeze and since
}

// Interval is a number with its confidence interval.
type Interval struct {
	Value certify.Number `json:"value"`
	Low   certify.Number `json:"low"` // null where there is no interval, as High
	High  certify.Number `json:"high"`
}

// Number is one of the numbers behind a verdict, as tables and JSON list it.
type Number struct {
	Name  string         `json:"name"`
	Value certify.Number `json:"value"` // null if the text is not a number
	Text  string         `json:"text"`  // for people
}

// Decision is a claim with what was found about it.
type Decision struct {
	Claim
	Finding
}

// The claims of the paper, in its order, and those of later papers. Each has texts for
// readers, and cases or a program.

//go:embed claims.toml
var claimsText string

//go:embed later.toml
var laterText string

// Claims returns every claim, in the order of the paper.
func Claims() []Claim { return readClaims(claimsText) }

// Later returns the claims that the study of a later paper decides.
func Later(study string) []Claim {
	other := func(c Claim) bool { return c.Study != study }
	return slices.DeleteFunc(readClaims(laterText), other)
}

// readClaims returns the claims of a file, with their programs. Tests and notes may name the
// file's phrases, as ${exact}: sentences that several of them share.
func readClaims(text string) []Claim {
	var file struct {
		Paper  string // of the claims by "paper"
		Phrase map[string]string
		Claim  []Claim
	}
	mustParse(text, &file)
	phrase := func(name string) string {
		text, ok := file.Phrase[name]
		if !ok {
			panic("paper: no phrase " + name) // tests read it
		}
		return text
	}
	for i, c := range file.Claim {
		c.Test = os.Expand(c.Test, phrase)
		for verdict, note := range c.Notes {
			c.Notes[verdict] = os.Expand(note, phrase)
		}
		c.program = programs[c.ID]
		if c.By == "paper" {
			c.Paper = file.Paper
		}
		file.Claim[i] = c
	}
	return file.Claim
}

// mustParse reads an embedded file, which has no key that its form lacks.
func mustParse(text string, into any) {
	d := toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields()
	if err := d.EnableUnmarshalerInterface().Decode(into); err != nil {
		panic("paper: " + err.Error()) // tests read it
	}
}

// programs decide the claims whose statistic is not data, by their ids. Each reads the
// rows that the claim's cases select, in the order of the cases, and pairs them as these
// say. A user's claim has no program, whatever its id is.
var programs = map[string]func(of []*evaluation) Finding{
	"weak-orders":             weakOrders,
	"quasi-symplectic":        quasiSymplectic,
	"quasi-symplectic-better": quasiSymplecticBetter,
	"higher-order-better":     higherOrderBetter,
	"reshuffle-order":         reshuffleOrder,
	"reshuffle-limit":         reshuffleLimit,
	"k-dependence":            kDependence,
	"k-rows":                  kRows,
	"long-epochs":             longEpochs,
	"closed-form":             closedForm,
	"chen-2015":               chenErgodicError,
	"cyclic-order":            cyclicOrder,
	"toy-law":                 toyLaw,
	"bottleneck-exact":        bottleneckExact,
	"inner-error-exact":       innerErrorExact,
	"all-converge":            allConverge,
	"friction-reasonable":     frictionReasonable,
	"friction-range":          frictionRange,
	"friction-efficient":      frictionEfficient,
	"svrg-ubu-transition":     transition,
	"svrg-ubu-critical":       criticalSteps,
}

// Rows returns what a store has for the plans of built-in studies, each job once per
// study, or per purpose of its exact errors: the rows that built-in claims read. Plans may
// share jobs, as those of a run on some data sets and of one on all do; a chain that was
// counted twice would weigh twice.
func Rows(plans []bench.Plan, results bench.Results) *table.Table {
	seen := make(map[[2]string]bool)
	again := func(use, key string) bool {
		old := seen[[2]string{use, key}]
		seen[[2]string{use, key}] = true
		return old
	}
	plans = bench.OnData(bench.OnlyBuiltIn(plans))
	for i, p := range plans {
		plans[i].Cells = slices.DeleteFunc(slices.Clone(p.Cells), func(j bench.Job) bool {
			return again("study "+p.ID, j.Key)
		})
		plans[i].Exact = slices.DeleteFunc(slices.Clone(p.Exact), func(j bench.ExactJob) bool {
			return again("purpose "+j.Purpose, j.Key)
		})
	}
	return rowsOf(plans, results)
}

// rowsOf returns what a store has for some plans. An exact job without a record has no rows: one
// stands for it.
func rowsOf(plans []bench.Plan, results bench.Results) *table.Table {
	rows := results.Table(plans)
	found := make(map[string]bool)
	for _, r := range rows.Rows() {
		found[r.Text("key")] = true
	}
	for _, p := range plans {
		for _, j := range p.Exact {
			if !found[j.Key] {
				rows.Add(j, map[string]any{"record": jobRecord, "missing": true, "key": j.Key,
					"study": p.ID, "purpose": j.Purpose, "integrator": j.Exact.Integrator})
			}
		}
	}
	return rows
}

// jobRecord is the record of a row that stands for an exact job without a result.
const jobRecord = "absent"

// mayRead reports whether a case would read rows of an exact job without a result, on either
// side of a ratio: by what the rows of a job have in common. Exact errors are asked for by their
// purpose or by their kind of record; other cases read chains. A user's claim is of either by its
// number.
func (c Case) mayRead(job table.Row) bool {
	if c.ID != "" {
		return bench.OfExact(c.Of) && c.selects(job.Source.(bench.ExactJob))
	}
	if len(c.Where["purpose"]) == 0 &&
		(len(c.Where["record"]) == 0 || slices.Contains(c.Where["record"], any(bench.CellRecord))) {
		return false
	}
	other := func(column string) bool {
		wanted := slices.Concat(c.Where[column], c.Over[column])
		return len(wanted) > 0 && !slices.Contains(wanted, any(job.Text(column)))
	}
	return !slices.ContainsFunc([]string{"study", "purpose", "integrator"}, other)
}

// selects reports whether one of the two sides has rows of a job, as far as its file says.
func (c Case) selects(job bench.ExactJob) bool {
	stated := job.Stated()
	has := func(where map[string][]any) bool {
		for column, values := range where {
			// A column that the file does not settle, such as one of the results, excludes nothing:
			// the rows would have to tell.
			v, known := stated[column]
			same := func(w any) bool {
				if w == "inf" {
					w = inf
				}
				return table.Of(w) == table.Of(v)
			}
			if known && !slices.ContainsFunc(values, same) {
				return false
			}
		}
		return true
	}
	// As denominators has it: the values of Over stand in the place of those of Where.
	divisor := maps.Clone(c.Where)
	maps.Copy(divisor, c.Over)
	return has(c.Where) || c.Over != nil && has(divisor)
}

// Decide returns the decisions on the claims by rows, in their order. The rows of built-in
// claims are those that Rows returns. The detail of a finding ends in the claim's note
// about its verdict.
func Decide(claims []Claim, rows *table.Table) []Decision {
	var out []Decision
	e := newEvidence(rows)
	for _, c := range claims {
		f := c.decide(e)
		if f.older > 0 && f.fresh > 0 {
			known, since := c.decideOf(rows, c.older), c.decideOf(rows, c.since)
			if known.older > 0 && since.fresh > 0 { // else a part lacks all rows of a case
				f.Known, f.Since = &known, &since
			}
		}
		f.Detail += " " + c.Notes[string(f.Verdict)] + " " + c.Notes["any"]
		if f.Verdict != NotDecided {
			f.Detail += " " + c.Notes["decided"]
		}
		f.Detail = strings.Join(strings.Fields(f.Detail), " ")
		f.TestChanged = c.changed()
		out = append(out, Decision{c, f})
	}
	return out
}

// decide decides by the rows that the cases select: by the claim's own function, by its
// program, or by the statistic of each case. Where a case selects no rows, nothing is
// decided, unless it is optional.
func (c Claim) decide(e *evidence) Finding {
	if c.Decide != nil {
		return c.Decide(e.all)
	}
	var of []*evaluation
	for _, one := range c.Cases {
		x := newEvaluation(one, e)
		if x.selected.Len() == 0 && !one.Optional {
			return x.finish(x.nothing())
		}
		of = append(of, x)
	}
	f := c.decideBy(of)
	for _, x := range of {
		rows := 0
		for _, read := range x.read {
			rows += read.Len()
			f.BeforeFreeze = f.BeforeFreeze || slices.ContainsFunc(read.Rows(), c.older)
			chains := read.Where("record", bench.CellRecord)
			older := chains.Filter(c.older).Len()
			f.older, f.fresh = f.older+older, f.fresh+chains.Len()-older
		}
		f.Read, f.reads = f.Read+rows, append(f.reads, rows)
	}
	// What there is of the exact errors may be all one way, and the rest not.
	lacking := e.all.Where("record", jobRecord).Filter(func(job table.Row) bool {
		return slices.ContainsFunc(c.Cases, func(one Case) bool { return one.mayRead(job) })
	}).Len()
	if lacking > 0 {
		f.Verdict = NotDecided
		f.Summary = fmt.Sprintf("exact jobs without a result: %d; %s", lacking, f.Summary)
	}
	if c.Undecided != "" {
		f.Verdict, f.Summary = NotDecided, c.Undecided+"; "+f.Summary
	}
	return f
}

// decideOf decides by the chains that are kept alone, and all that is no chain.
func (c Claim) decideOf(rows *table.Table, keep func(table.Row) bool) Finding {
	return c.decide(newEvidence(rows.Filter(func(r table.Row) bool {
		return r.Text("record") != bench.CellRecord || keep(r)
	})))
}

// decideBy decides by cases that have rows, or by the program that reads them.
func (c Claim) decideBy(of []*evaluation) Finding {
	if c.program != nil {
		return c.program(of)
	}
	var found []Finding
	of = slices.DeleteFunc(slices.Clone(of), func(x *evaluation) bool { // the optional ones
		return x.selected.Len() == 0
	})
	for _, x := range of {
		found = append(found, x.finish(x.decide()))
	}
	return jointly(of, found)
}

// jointly joins findings on cases that must all hold. Where the cases have titles the
// summary has those of all; else it is that of the case that decides, or the first.
func jointly(of []*evaluation, found []Finding) Finding {
	joint, parts := found[0], []string{}
	for i, f := range found {
		parts = append(parts, of[i].Title+": "+f.Summary)
		if i == 0 {
			continue
		}
		joint.Numbers = slices.Concat(joint.Numbers, f.Numbers)
		if !strings.Contains(joint.Detail, f.Detail) {
			joint.Detail += " " + f.Detail
		}
		if f.Verdict == Refuted || joint.Verdict == Confirmed && f.Verdict != Confirmed {
			joint.Verdict, joint.Summary = f.Verdict, f.Summary
		}
	}
	if of[0].Title != "" {
		joint.Summary = strings.Join(parts, "; ")
	}
	return joint
}

// reproduce is the command that gives a study's results, reproduceMore the one that
// gives those that a smaller profile does not have.
const (
	reproduce     = "hambench reproduce --only "
	reproduceMore = "hambench reproduce --profile paper --only "
)

// unavailable is the finding where there is no evidence yet, with the command that makes
// it.
func unavailable(command string) Finding {
	return undecided("no results yet: run " + command)
}

// undecided is the finding where the rows do not decide, for a reason.
func undecided(why string) Finding { return Finding{Verdict: NotDecided, Summary: why} }

// holds is the verdict on a condition that decides: on numbers without scatter, for which
// there is nothing between holding and not holding.
func holds(condition bool) Verdict {
	if condition {
		return Confirmed
	}
	return Refuted
}

// add appends a number with the format that people read it in.
func (f *Finding) add(name string, v float64, verb string) { f.note(name, v, sprint(verb, v)) }

// note appends a number with its text.
func (f *Finding) note(name string, v float64, text string) {
	f.Numbers = append(f.Numbers, Number{name, certify.Number(v), text})
}

// indicator is 1 for true.
func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// inf stands for an exact law.
var inf = math.Inf(1)
