package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hambench/certify"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/internal/distinct"
	"hambench/internal/input"
	"hambench/usage"
)

// certifyCommand returns the command that computes exact errors and decides orders. Its flags
// fill certify.Options; what several problems, estimators and a sampler in another process
// add to these is in certifyFlags.
func certifyCommand() *cobra.Command {
	f := certifyFlags{observe: "period"}
	c := &cobra.Command{
		Use: "certify",
		Short: "Computes exact ergodic errors of integrators under mini-batch schemes and " +
			"judges the claimed orders.",
		Long: `No Monte Carlo: errors of the stationary law come from linear algebra. Without
flags, everything is certified on the built-in problems gaussian, scalar and toy.

A problem is a JSON file, or JSON itself, of one of three kinds. The scaled
gradient of a batch is Pθ − s, with P the precision (symmetric) and s the shift,
or the derivative of ½k(θ − c)² + a·cos(fθ + p), with k the stiffness, c the
center, a the amplitude, f the frequency and p the phase. The mean of P, or of k,
over the batches must be positive. The target is exp(−U), with U the mean over
the batches; friction is C > 0. The third kind is two crossing valleys, of which
constants are predicted, and no more. docs/certify.md has it.

  ` + gaussianExample + `
  ` + scalarExample + `

A claim is a lower bound: any order at least as high confirms it. Beside the
constant stands what the law of orders predicts of it (docs/theory.md). Sums over
the orders of K batches are taken up to K = 14 (reshuffle) and 9 (symmetric); with
more batches the prediction stands alone.

With --budget the rows are ranked by their errors at the best step for the first
budget, and the best chain for each budget is named. Exact flows are not: gradients
alone do not give them.

Exit code 0: everything was computed, whatever the verdicts. 1: with --strict,
some verdict is neither confirmed nor exact (inconclusive ones count); or the
run failed. 2: the input is wrong.`,
		Example: "hambench certify --problem gaussian --integrator leapfrog,mt3 --scheme " +
			"full,reshuffle --steps 0.1,0.05,0.025",
		RunE: f.run,
	}
	f.register(c, "exec-timeout")
	flags := c.Flags()
	flags.StringVar(&f.problem, "problem", "",
		"`FILE` problem in JSON, JSON itself, or a built-in one by name: gaussian, scalar, toy "+
			"(all of these if empty), linear, crossing")
	listOf(flags, &f.Integrators, "integrator",
		"`NAME,...` integrators, split:WORD included; all if empty", integrators.Builtin().Lookup)
	flags.StringVar(&f.exec, "exec", "",
		"`CMD` run by sh -c that answers for a sampler in another process, certified besides the "+
			"integrators named; docs/samplers.md has the protocol")
	listOf(flags, &f.estimators, "estimator",
		"`NAME,...` gradient estimators: plain, cv, svrg, svrg:M, saga",
		estimators.Builtin().Lookup)
	// The list is empty until run fills it in. The help states the default all the same.
	flags.Lookup("estimator").DefValue = estimators.Plain.Name
	listOf(flags, &f.Schemes, "scheme",
		"`NAME,...` mini-batch schemes: full, reshuffle, replacement, cyclic, symmetric; all "+
			"if empty", exactScheme)
	listOf(flags, &f.Steps, "steps", "`H,...` step sizes; a geometric grid if empty",
		numberOf("--steps"))
	oneOf(flags, &f.observe, "observe", "when errors are measured, at the end of each period or "+
		"averaged over every step", "period", "every-step")
	listOf(flags, &f.mass, "mass",
		"`M,...` diagonal of the mass matrix M, a number a position, for problems of kind "+
			"gaussian; the identity if empty", numberOf("--mass"))
	flags.IntVar(&f.Inner, "nl", 1,
		"`N` inner steps of lietrotter; N divides the number of batches or is a multiple of it")
	listOf(flags, &f.Budgets, "budget",
		"`N,...` gradients of a batch that a chain may cost (all data count K): find the best "+
			"step, its mean squared error and autocorrelation time, rank the rows and name "+
			"the best",
		numberOf("--budget"))
	flags.BoolVar(&f.Stability, "stability", false, "find the largest stable step")
	flags.BoolVar(&f.Distances, "distance", false, "compute Kolmogorov and Wasserstein "+
		"distances of the stationary law of θ from the target")
	flags.BoolVar(&f.Energy, "energy", false, "compute energy errors of steps, of all data "+
		"and of the batch, beside the bias of the covariance of θ; problems of kind gaussian")
	flags.BoolVar(&f.json, "json", false, "print JSON instead of a table")
	flags.BoolVar(&f.strict, "strict", false, "exit code 1 unless every verdict is confirmed or "+
		"exact")
	exclusive(c, "mass exec") // whose protocol has no mass matrix
	return c
}

// A problem of each kind, as the help shows it.
const (
	gaussianExample = `{"kind": "gaussian", "friction": 2, "batches": [
    {"precision": [[2.0, 0.3], [0.3, 1.5]], "shift": [1.0, -0.5]},
    {"precision": [[1.0, 0.0], [0.0, 2.5]], "shift": [0.0, 0.7]}]}`
	scalarExample = `{"kind": "scalar", "friction": 1.5, "batches": [
    {"stiffness": 0.6, "center": 0.8, "amplitude": 0.7, "frequency": 1.5, "phase": 0.3},
    {"stiffness": 1.4, "center": -0.5, "amplitude": 0.1, "frequency": 1.5, "phase": -0.9}]}`
)

// certifyFlags are the command's flags: what is certified, by which estimators, and
// what is done with it.
type certifyFlags struct {
	certify.Options
	selection
	// problem is a file, JSON, or the name of a built-in problem, "" for all built-in ones;
	// exec is the command of a sampler in another process; observe is "period" or
	// "every-step".
	problem, exec, observe string
	// estimators are certified one after another; certify.Options has one.
	estimators   []estimators.Estimator
	mass         []float64 // diagonal of M; nil for the identity
	json, strict bool      // what is printed, and whether verdicts decide the exit code
}

// run carries out hambench certify. It finds the problems, chooses the integrators that each can
// take, has package certify compute the rows of each problem and estimator, and writes them all.
// The rows of --exec come first, then those of the integrators, estimator by estimator. With
// --exec and no --integrator, the sampler is the only one.
func (f *certifyFlags) run(c *cobra.Command, _ []string) error {
	ctx := c.Context()
	if len(f.estimators) == 0 {
		f.estimators = []estimators.Estimator{estimators.Plain}
	}
	problems, err := f.check(c)
	if err != nil {
		return err
	}
	f.noteSchemes(problems)
	var rows []certify.Row
	if f.exec != "" {
		if rows, err = f.certifyExternal(ctx, problems); err != nil {
			return err
		}
	}
	if f.exec == "" || len(f.Integrators) > 0 {
		fit := f.fit(problems, f.Integrators)
		for _, f.Estimator = range f.estimators { // of the options, which have one
			own, err := f.certifyAll(ctx, problems, fit, f.Options)
			if err != nil {
				return err
			}
			rows = append(rows, own...)
		}
	}
	if len(rows) == 0 { // --strict would find nothing that is not confirmed
		return usage.Errorf("certify: nothing to certify: no problem takes what is named")
	}
	// Orders, unless something else was asked for; JSON has everything.
	write := certify.WriteTable
	if f.json {
		write = writeRows
	} else if f.answers() {
		write = writeRanking
	}
	if err := write(f.stdout, rows); err != nil {
		return err
	}
	if f.strict {
		return undecided(rows)
	}
	return nil
}

// certifyAll certifies the problems, each with the integrators that fit. What
// takes long says how far it is.
// Orders are decided only where they are shown, since they need errors at several steps.
func (f *certifyFlags) certifyAll(ctx context.Context, problems []*certify.Problem,
	fit [][]integrators.Integrator, options certify.Options) ([]certify.Row, error) {
	var rows []certify.Row
	told := progress(f.stderr, "certify") // of all problems, which are taken to last alike
	find := certify.Run
	if f.answers() && !f.json && !f.strict { // orders are not shown
		find = certify.Errors
	}
	for i, p := range problems {
		here := options
		here.Problem = p
		here.Progress = func(done float64) { told((float64(i) + done) / float64(len(problems))) }
		// Integrators were named, and none fits: an empty list would mean all that fit.
		if here.Integrators = fit[i]; len(fit[i]) == 0 && len(options.Integrators) > 0 {
			continue
		}
		r, err := find(ctx, here)
		if err != nil {
			return nil, fmt.Errorf("certify: %w", err)
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

// fit returns the integrators for each problem, and says which are left out: those that
// one of several problems cannot take and those that run only if they are named.
// With one problem, an integrator that does not fit is left for certify.Run, whose error says
// why.
func (f *certifyFlags) fit(problems []*certify.Problem,
	named []integrators.Integrator) [][]integrators.Integrator {
	fit := make([][]integrators.Integrator, len(problems))
	for i, p := range problems {
		for _, m := range named {
			if err := p.Takes(m); err != nil && len(problems) > 1 {
				f.note("left out: %v", err)
				continue
			}
			fit[i] = append(fit[i], m)
		}
	}
	for _, m := range integrators.Builtin() {
		if m.Nonlinear && len(named) == 0 {
			f.note("left out: %s, which runs where it is named: ask for it by --integrator, on a "+
				"problem of kind scalar", m.Name)
		}
	}
	return fit
}

// noteSchemes says which schemes are left out of problems. One that exact errors cannot be had
// under may still have predictions of the law of orders.
func (f *certifyFlags) noteSchemes(problems []*certify.Problem) {
	for _, p := range problems {
		asked := f.Options
		asked.Problem = p
		for _, s := range certify.ExactSchemes() {
			err, open := p.TakesScheme(s), len(f.Schemes) == 0
			named := slices.ContainsFunc(f.Schemes, func(n minibatch.Scheme) bool {
				return n.Name == s.Name
			})
			if err != nil && (open || named) && asked.TakesScheme(s) == nil {
				f.note("predictions alone: %v", err)
			} else if err != nil && open {
				f.note("left out: %v", err)
			}
		}
	}
}

// certifyExternal certifies the external sampler of --exec, on all of the problems that
// can be asked of it.
func (f *certifyFlags) certifyExternal(ctx context.Context,
	problems []*certify.Problem) ([]certify.Row, error) {
	s, err := certify.StartSampler(ctx, f.exec, f.timeout)
	if err != nil {
		return nil, fmt.Errorf("certify: --exec: %w", err)
	}
	defer s.Stop()
	// The sampler's own step says how many batches it takes, whatever --nl is for the others.
	own := f.Options
	own.Integrators, own.Inner = []integrators.Integrator{s.Integrator()}, s.Batches()
	rows, err := f.certifyAll(ctx, problems, f.fit(problems, own.Integrators), own)
	if err != nil {
		return nil, err
	}
	calls, steps := s.Calls()
	fmt.Fprintf(f.stderr, "certify: %s took %d steps in %d calls\n", s.Integrator().Name, steps,
		calls)
	return rows, nil
}

// progressEvery is how often a long run says how far it is.
const progressEvery = 5 * time.Second

// progress returns a function that now and then writes to w which share is done.
// Calls that come less than progressEvery after the last line write nothing, so that callers
// may report each small part of their work. The time left is at the speed since the first
// call: what came before it, such as a warm-up, does not come again.
func progress(w io.Writer, command string) func(share float64) {
	start, last := time.Now(), time.Now() // of the command, and of the last line
	var first time.Time                   // call
	var already float64                   // the share that was done at it
	return func(share float64) {
		if first.IsZero() {
			first, already = time.Now(), share
		}
		if time.Since(last) >= progressEvery {
			last = time.Now()
			fmt.Fprintln(w, progressLine(command, share, already, last.Sub(start), last.Sub(first)))
		}
	}
}

// progressLine returns the line of progress: the share done in per cent, the time since the
// start, and, if some was done since the share already, the time left at its speed.
func progressLine(what string, share, already float64, elapsed, since time.Duration) string {
	line := fmt.Sprintf("%s: %.0f %%, %s elapsed", what, 100*share, elapsed.Round(time.Second))
	if share > already {
		left := float64(since) * (1 - share) / (share - already)
		line += fmt.Sprintf(", about %s left", time.Duration(left).Round(time.Second))
	}
	return line
}

// writeRows prints rows as JSON, with the estimator named where rows leave the default out:
// readers in other languages should need no defaults of ours.
func writeRows(w io.Writer, rows []certify.Row) error {
	for i := range rows {
		rows[i].Estimator = cmp.Or(rows[i].Estimator, estimators.Plain.Name)
	}
	return printJSON(w, " ", rows)
}

// writeRanking prints the answers, the best chain for the first budget first, and names
// the best for each budget.
func writeRanking(w io.Writer, rows []certify.Row) error {
	if err := certify.WriteAnswers(w, certify.Rank(rows, 0)); err != nil {
		return err
	}
	return certify.WriteBest(w, rows)
}

// undecided is an error if some verdict is neither confirmed nor exact.
// It counts the verdicts by kind, so that CI logs say what to look for.
func undecided(rows []certify.Row) error {
	count, all := make(map[certify.Verdict]int), 0 // of observables
	for _, r := range rows {
		for _, o := range r.Observables {
			count[o.Verdict]++
			all++
		}
	}
	if count[certify.Confirmed]+count[certify.Exact] == all {
		return nil
	}
	decided := count[certify.Confirmed] + count[certify.Exact] + count[certify.Refuted] +
		count[certify.Inconclusive] + count[certify.Unstable] + count[certify.Alone]
	return fmt.Errorf("certify: of %d verdicts %d are refuted, %d inconclusive, %d unstable, %d "+
		"predictions alone, %d of steps without a law, or of no sampler: --strict wants all "+
		"confirmed or exact",
		all, count[certify.Refuted], count[certify.Inconclusive], count[certify.Unstable],
		count[certify.Alone], all-decided)
}

// check completes the options and returns the problems, or an error for what is
// wrong with any integrator, before messages name integrators one by one.
// What --exec does not combine with is refused here: the protocol has no masses, and the
// sampler decides what it does with gradients.
func (f *certifyFlags) check(c *cobra.Command) ([]*certify.Problem, error) {
	problems, err := findProblems(c.Context(), f.problem)
	if err != nil {
		return nil, err
	}
	if f.Inner < 1 {
		return nil, usage.Errorf("certify: --nl %d: want at least 1", f.Inner)
	}
	if f.mass != nil {
		if err := f.weigh(problems, c.Flag("mass").Value.String()); err != nil {
			return nil, err
		}
	}
	f.EveryStep = f.observe == "every-step"
	// Mistakes that depend on neither the problem nor the named integrators show with the first
	// problem and nil, which means all integrators that fit.
	alone := f.Options
	alone.Problem, alone.Integrators = problems[0], nil
	if err := alone.Check(); err != nil {
		return nil, fmt.Errorf("certify: %w", err)
	}
	if !c.Flag("exec").Changed {
		return problems, nil
	}
	if strings.TrimSpace(f.exec) == "" { // as of a variable that is not set
		return nil, usage.Errorf("certify: --exec %q: want the command of a sampler", f.exec)
	}
	if len(f.estimators) > 1 || f.estimators[0].Name != estimators.Plain.Name {
		return nil, usage.Errorf("certify: --estimator %s with --exec: want plain, since the "+
			"sampler makes its own use of the forces", c.Flag("estimator").Value)
	}
	if f.Inner > 1 && len(f.Integrators) == 0 {
		return nil, usage.Errorf("certify: --nl %d with --exec: the sampler says how many "+
			"batches its step takes; want --nl with --integrator", f.Inner)
	}
	return problems, nil
}

// weigh gives the problems the mass of --mass, as typed in text, and names that state it.
// The engine takes the inverse of the mass, so that masses whose inverses overflow are
// refused. Kinds of problems without a vector of positions have no mass matrix.
func (f *certifyFlags) weigh(problems []*certify.Problem, text string) error {
	for i, p := range problems {
		if p.Kind != certify.Gaussian {
			return usage.Errorf("certify: --mass with problem %q of kind %s: want one of kind "+
				"gaussian, by --problem", p.Name, p.Kind)
		}
		if len(f.mass) != p.Dim() {
			return usage.Errorf("certify: --mass %s: want %d numbers for problem %q, one a "+
				"position", text, p.Dim(), p.Name)
		}
		named := *p // the built-in problem keeps its name
		named.Name += ", M = diag(" + text + ")"
		problems[i] = &named
	}
	for _, m := range f.mass {
		inverse := 1 / m
		// A NaN is not above 0 either.
		if !(inverse > 0) || math.IsInf(inverse, 1) {
			return usage.Errorf("certify: --mass %s: want finite numbers > 0, with finite "+
				"inverses", text)
		}
		f.InvMass = append(f.InvMass, inverse)
	}
	return nil
}

// findProblems returns the built-in problems, one of them, or a file's.
// A text that begins with a brace is taken for JSON itself, for callers without a file.
func findProblems(ctx context.Context, name string) ([]*certify.Problem, error) {
	if name == "" {
		return certify.Builtin(), nil
	}
	all := certify.Named()
	if i := slices.IndexFunc(all, func(p *certify.Problem) bool { return p.Name == name }); i >= 0 {
		return all[i : i+1], nil
	}
	if strings.HasPrefix(strings.TrimSpace(name), "{") {
		p, err := certify.ParseProblem("given", []byte(name))
		return []*certify.Problem{p}, err
	}
	p, err := input.Await(ctx, func() (*certify.Problem, error) {
		return certify.LoadProblem(name)
	})
	if errors.Is(err, fs.ErrNotExist) {
		names := distinct.Of(all, func(p *certify.Problem) string { return p.Name })
		return nil, usage.Errorf("problem %q is neither a file nor built in: want a file of "+
			"JSON, JSON, or one of %s", name, strings.Join(names, ", "))
	}
	return []*certify.Problem{p}, err
}

// exactScheme looks up a scheme that exact errors are computed under.
// Its error lists these schemes only, not all that chains may use.
func exactScheme(name string) (minibatch.Scheme, error) {
	found, err := certify.Schemes(name)
	if err != nil {
		return minibatch.Scheme{}, err
	}
	return found[0], nil
}

// numberOf reads a number of a flag.
// The range is checked where the option is used: an integrator may refuse a step.
func numberOf(flag string) func(string) (float64, error) {
	return func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return 0, usage.Errorf("certify: %s: %q is not a number: want numbers > 0, "+
				"separated by commas", flag, s)
		}
		return v, nil
	}
}

// answers reports whether something beside errors and orders is asked for.
func (f *certifyFlags) answers() bool {
	return f.Budgets != nil || f.Stability || f.Distances || f.Energy
}
