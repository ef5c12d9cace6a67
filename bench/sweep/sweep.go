// Package sweep runs studies on this machine: it finds what the store lacks,
// runs it in a good order on all cores, shows how far it is, and estimates
// beforehand what it costs.
//
// A Runner takes the plans of bench.Keys.Resolve. Reference chains come
// first, since cells wait for them; then exact errors and cells, the long ones
// before the short ones. Results go into the store at once, so a run may be
// stopped at any moment and continued by the same call. Several processes may run
// the same plans into one store: each takes a lease on what it works at, and takes
// what the others have done from the store.
package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/certify"
	"hambench/internal/child"
	"hambench/models"
	"hambench/models/datasets"
	"hambench/oracle"
)

// Runner computes what plans need and its store lacks, and estimates beforehand how
// long that takes.
// Only Store, Source and Made must be set. A Runner may run several times, one after another.
type Runner struct {
	Store *store.Store
	// Source makes the targets.
	Source Source
	// Parts are what the names in plans stand for. Its data sets and models only tell the
	// sizes of problems, which determine the order of jobs and the time left.
	bench.Parts
	// Made is stamped on the records: the program's version and its machine.
	Made store.Made
	// Workers is how many chains run at once; 0 means GOMAXPROCS.
	Workers int
	// ReferencesOnly builds all references that the plans list, and computes no cells.
	ReferencesOnly bool
	// Temporary says that the store is deleted after the run, which then cannot be continued.
	Temporary bool
	// Progress is where the progress line goes; nil for none.
	Progress io.Writer
	// Live, if not nil, is called once a minute with the progress line.
	Live func(line string)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Source makes the targets of cells. A *models.Source is one.
type Source interface {
	// Split returns a data set's split, which the caller must not change.
	Split(ctx context.Context, dataset string, index int) (*datasets.Split, error)
	// Target makes a target, which serves one chain.
	Target(ctx context.Context, dataset string, split int, model string,
		o models.Options) (models.Target, error)
}

// Summary is what a run did.
// Wanted jobs are those of all plans, each counted once.
type Summary struct {
	Cells, Exact, References Tally
	Diverged                 int // among the cells computed
	Failures                 []Failure
	Elapsed                  time.Duration
}

// Tally counts jobs of one kind.
type Tally struct {
	Wanted   int
	Computed int
	Reused   int // jobs that the store had, or that another process added
}

// Failure is a job that could not be done.
type Failure struct {
	Name string
	Err  error
}

// Nothing reports whether nothing had to be computed.
// A job that failed counts as computed: something was tried.
func (s Summary) Nothing() bool {
	return s.Cells.Computed+s.Exact.Computed+s.References.Computed+len(s.Failures) == 0
}

// Run computes what the plans need and the store lacks. Failures of single jobs
// are collected in the summary and make an error at the end. When the context is
// cancelled, running chains are given up, finished results stay in the store, and
// the error wraps the context's.
func (r *Runner) Run(ctx context.Context, plans []bench.Plan) (Summary, error) {
	if err := r.precheck(plans); err != nil {
		return Summary{}, err
	}
	now := r.Now
	if now == nil {
		now = time.Now
	}
	s := &session{
		Runner: r, progress: newProgress(r.Progress, r.Live, now, r.cores()),
		waiting: make(map[string][]*task),
	}
	ctx, s.abort = context.WithCancelCause(ctx)
	defer s.abort(nil)
	s.ended = func() bool { return ctx.Err() != nil }
	// Without anything to do no line is written.
	ready := s.start(plans)
	stop := func() {}
	if len(ready) > 0 {
		stop = s.progress.watch()
	}
	schedule(ctx, r.cores(), ready, s.progress.begin)
	stop()
	s.summary.Elapsed = s.progress.elapsed()
	return s.summary, s.outcome(ctx)
}

// cores is how many chains run at once.
// A reference may use several of them, a cell one.
func (r *Runner) cores() int {
	if r.Workers > 0 {
		return r.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// session is one call of Run.
type session struct {
	*Runner
	progress *progress
	abort    context.CancelCauseFunc
	ended    func() bool // by the caller or by abort

	// The scheduler's goroutine alone uses these.
	summary Summary
	waiting map[string][]*task // cells by the key of the reference they wait for

	references sync.Map // *loaded by the spec's ID
	analytic   sync.Map // func() (oracle.Truth, error) by what a truth depends on
}

// loaded is reference chains with the machine that they were made on.
type loaded struct {
	*oracle.Reference
	machine store.Machine
}

// precheck finds mistakes of the caller before anything is computed.
// Names and combinations are looked up as the chains will look them up, so that a run of
// hours does not end with a mistyped name.
func (r *Runner) precheck(plans []bench.Plan) error {
	checked := make(map[string]bool) // most cells differ in what Cell.Check sees alone
	for _, p := range plans {
		for _, j := range p.Cells {
			c := j.Cell
			parts := fmt.Sprintf("%s %v %d %v %s %s", c.Integrator, c.Values, c.Inner, c.Friction,
				c.Estimator, c.Scheme)
			err := c.Check()
			if err == nil && c.Kernels() > 0 && !checked[parts] {
				checked[parts] = true
				err = r.Chains.Check(c.Chain())
			}
			if err != nil {
				return fmt.Errorf("%s: %w", p.ID, err)
			}
		}
	}
	return nil
}

// start returns the tasks that are ready at the start. References share the cores
// where there are more of these.
// A reference that is there already makes no task, and the cells that it judges are ready at
// once.
func (s *session) start(plans []bench.Plan) (ready []*task) {
	var jobs []Job
	if s.ReferencesOnly {
		for _, r := range bench.References(plans) {
			jobs = append(jobs, referenceJob("", r))
		}
	} else {
		jobs = Jobs(plans, s.Store)
	}
	for _, j := range jobs {
		ready = append(ready, s.want(j)...)
	}
	// Together they fill the cores: the cells that they judge cannot run meanwhile.
	references := slices.DeleteFunc(slices.Clone(ready), func(t *task) bool { return !t.first })
	for _, t := range references {
		t.width = max(1, s.cores()/len(references))
	}
	return ready
}

// want takes a job in, and returns its task if that is ready.
// A cell whose reference is missing waits for the reference's task.
func (s *session) want(j Job) []*task {
	if j.Kind == store.Reference {
		j.Have = s.setReference(j)
	}
	tally := s.tally(j.Kind)
	tally.Wanted++
	if j.Have {
		tally.Reused++
		return nil
	}
	t := s.newTask(j)
	s.progress.add(t)
	// The job of a reference is listed before those that need it. A reference that is not loaded
	// by now has a task that will make it, and this job waits for that task.
	if _, there := s.references.Load(j.Cell.Oracle); j.After == "" || there {
		return []*task{t}
	}
	s.waiting[j.After] = append(s.waiting[j.After], t)
	return nil
}

// tally counts the jobs of a kind.
// All other kinds count as cells.
func (s *session) tally(k store.Kind) *Tally {
	switch k {
	case store.Reference:
		return &s.summary.References
	case store.Exact:
		return &s.summary.Exact
	}
	return &s.summary.Cells
}

// newTask makes the task of a job. It takes the record from the store if
// another process has put it there, and waits while another process works at it.
// What the task returns decides what happens next: an error gives up the cells that wait for
// it, errLeased parks it until the other process is done, and nil makes the next tasks
// ready.
func (s *session) newTask(j Job) *task {
	t := &task{name: j.String(), first: j.Kind == store.Reference, cost: s.cost(j), width: 1,
		vague: models.External(j.Cell.Model) || models.External(j.Spec.Model)}
	computed := false
	t.run = func(ctx context.Context) error {
		if s.there(j) { // an earlier look at the store found it: no lease is needed
			return nil
		}
		// A cell and its reference have different keys, but kinds share the folder of leases.
		lease := string(j.Kind) + "-" + j.Key
		release, ok := s.Store.Lease(lease)
		if !ok {
			s.progress.lease(t, false, s.Store.Holder(lease))
			return errLeased
		}
		s.progress.lease(t, true, "")
		defer release()
		// Now nobody else works at it: what others have done is in the store.
		if err := s.Store.Refresh(); err != nil {
			return s.fatal(err)
		}
		if s.there(j) {
			return nil
		}
		body, seconds, err := s.compute(ctx, t, j)
		// The process of an external model has failed: all jobs that need it would fail, too.
		if _, ended := errors.AsType[*child.Failure](err); ended {
			return s.fatal(err)
		}
		if err != nil {
			return err
		}
		computed = true
		return s.put(j, body, seconds)
	}
	t.next = func(err error) []*task {
		if err != nil {
			s.giveUp(t, err)
			// A reference that failed gives up its cells; all other kinds have none that wait.
			for _, c := range s.waiting[j.Key] {
				s.giveUp(c, fmt.Errorf("needs the %s: %w", t.name, err))
			}
			return nil
		}
		s.progress.end(t, true)
		if computed {
			s.tally(j.Kind).Computed++
		} else {
			s.tally(j.Kind).Reused++
		}
		return s.done(j)
	}
	return t
}

// there reports whether a job's record is in the store, a reference as one that can be decoded.
func (s *session) there(j Job) bool {
	if j.Kind != store.Reference {
		return s.Store.Has(j.Kind, j.Key)
	}
	ref, _ := LoadReference(s.Store, j.Key)
	return ref != nil
}

// compute makes a job's record: its body, with the seconds that it took, of a reference those of
// its chains one after another. A reference under way says how far it is.
// The process of a model that ends makes an error, though it may end within a call that
// returns none.
func (s *session) compute(ctx context.Context, t *task, j Job) (body any, seconds float64,
	err error) {
	defer child.Catch(&err)
	switch j.Kind {
	case store.Reference:
		return s.computeReference(ctx, t, j)
	case store.Exact:
		start := time.Now()
		o, err := j.Exact.Options(s.Chains)
		if err != nil {
			return nil, 0, err
		}
		rows, err := certify.Run(ctx, o)
		return rows, time.Since(start).Seconds(), err
	}
	r, err := s.computeCell(ctx, j.Cell)
	return r, r.Seconds, err
}

// done returns the tasks that are ready because a job's record is there.
func (s *session) done(j Job) []*task {
	switch j.Kind {
	case store.Reference:
		s.setReference(j)
		return s.waiting[j.Key]
	// The record may be another process's: whether its chain diverged is in it alone.
	case store.Result:
		if r, _ := (bench.Results{Store: s.Store}).Result(j.Key); r.Diverged {
			s.summary.Diverged++
		}
	}
	return nil
}

// put stores what a job computed.
// The record states this program and machine, and the seconds.
func (s *session) put(j Job, body any, seconds float64) error {
	r, err := store.NewRecord(j.Kind, j.Key, seconds, s.Made, body)
	if err != nil {
		return err
	}
	return s.fatal(s.Store.Put(r))
}

// fatal ends the whole run on an error that all other jobs would meet: the store
// cannot be written, or the process of a model has ended.
func (s *session) fatal(err error) error {
	if err != nil {
		s.abort(err)
	}
	return err
}

// computeReference builds reference chains on the cores that the task was given. Chains that
// an earlier run finished are taken from the store.
func (s *session) computeReference(ctx context.Context, t *task, j Job) (any, float64, error) {
	newTarget := func() (models.Target, error) {
		return s.Source.Target(ctx, j.Spec.Dataset, j.Spec.Split, j.Spec.Model,
			models.Options{Precision: j.Spec.Precision})
	}
	report := func(done, total int64) { s.progress.part(t, float64(done)/float64(total)) }
	ref, err := oracle.Build(ctx, newTarget, j.Spec, oracle.Options{Workers: t.cores,
		Parts: parts{s, j.Key}, Progress: report})
	if err != nil {
		return nil, 0, err
	}
	body, err := ref.Encode()
	return json.RawMessage(body), ref.Seconds, err
}

// computeCell runs the chain of a cell, started and judged by its truth. A result that was
// judged by another machine's reference says so.
func (s *session) computeCell(ctx context.Context, c bench.Cell) (bench.Result, error) {
	target := func() (models.Target, error) {
		t, err := s.Source.Target(ctx, c.Dataset, c.Split, c.Model,
			models.Options{Precision: c.Precision})
		if err != nil {
			return nil, err
		}
		return c.Chain().Tempered(t)
	}
	split, err := s.Source.Split(ctx, c.Dataset, c.Split)
	if err != nil {
		return bench.Result{}, err
	}
	in := Inputs{Split: split, Chains: s.Chains}
	if in.Target, err = target(); err != nil {
		return bench.Result{}, err
	}
	if c.Observe == bench.Coupled {
		if in.Fine, err = target(); err != nil {
			return bench.Result{}, err
		}
	}
	var maker *store.Machine
	if in.Truth, maker, err = s.truth(c, target); err != nil {
		return bench.Result{}, err
	}
	r, err := Compute(ctx, c, in)
	if err != nil {
		return r, err
	}
	r.OracleMachine = maker
	r.Cell, err = c.Anywhere() // one key has one record, wherever it is computed
	return r, err
}

// truth returns what starts and judges a cell's chain and, of reference chains, the
// machine, if that is another one.
// An exact posterior, or its draws, are made once for a data set, split and model, however
// many chains they judge.
func (s *session) truth(c bench.Cell, target func() (models.Target, error)) (oracle.Truth,
	*store.Machine, error) {
	switch c.Oracle {
	case "":
		return nil, nil, nil
	case bench.Analytic: // made once for all cells that it serves
		// More has the settings that change the truth, temperature and localisation with its
		// centre, and others that do not. With all of them in the key a truth may be made twice,
		// which only costs time.
		of := fmt.Sprintf("%s %d %s %v %v", c.Dataset, c.Split, c.Model, c.ExactDraws, c.More)
		get, _ := s.analytic.LoadOrStore(of, sync.OnceValues(func() (oracle.Truth, error) {
			t, err := target()
			if err != nil {
				return nil, err
			}
			law, err := oracle.NewAnalytic(c.Model, t)
			if err != nil || c.ExactDraws == nil {
				return law, err
			}
			return law.Sampled(*c.ExactDraws), nil
		}))
		t, err := get.(func() (oracle.Truth, error))()
		return t, nil, err
	}
	found, ok := s.references.Load(c.Oracle)
	if !ok {
		return nil, nil, fmt.Errorf("no study of the run lists the reference %.12s", c.Oracle)
	}
	ref := found.(*loaded)
	// Its numbers follow from the key alone only if the reference is this machine's.
	if ref.machine == s.Made.Machine {
		return ref.Reference, nil, nil
	}
	return ref.Reference, &ref.machine, nil
}

// fail notes a failure, unless the run was ended: its error then says why.
// A failure is one line of the summary, with the job's name.
func (s *session) fail(name string, err error) {
	if !s.ended() {
		s.summary.Failures = append(s.summary.Failures, Failure{name, err})
	}
}

// giveUp takes a task as over without a record.
// Its cost leaves the time left, and does not count for the speed.
func (s *session) giveUp(t *task, err error) {
	s.progress.end(t, false)
	s.fail(t.name, err)
}

// setReference takes a reference from the store, and reports whether it is there. Its parts are
// removed, those that a run on this machine left that was killed before it could, too.
// A record that cannot be decoded counts as missing, and is computed again.
func (s *session) setReference(j Job) bool {
	ref, machine := LoadReference(s.Store, j.Key)
	if ref == nil {
		return false
	}
	s.references.Store(j.Spec.ID(), &loaded{ref, machine})
	if err := s.removeParts(j); err != nil {
		s.fail(j.String(), err)
	}
	return true
}

// outcome is the error of the whole run.
// An interrupted run says how far it is and that the same command continues, if it does.
func (s *session) outcome(ctx context.Context) error {
	all := []Tally{s.summary.Cells, s.summary.Exact, s.summary.References}
	var wanted, have int
	for _, t := range all {
		wanted, have = wanted+t.Wanted, have+t.Computed+t.Reused
	}
	if err := context.Cause(ctx); err != nil {
		state := "ended"
		if errors.Is(err, context.Canceled) {
			state = "interrupted"
		}
		if s.Temporary {
			return fmt.Errorf("%s with %d of %d jobs, none of which is kept: %w", state, have,
				wanted, err)
		}
		further := "the same command continues there: "
		if conflict := new(store.Conflict); errors.As(err, &conflict) {
			further = "" // it would meet the same pair
		}
		return fmt.Errorf("%s with %d of %d jobs in %s: %s%w", state, have, wanted, s.Store.Dir(),
			further, err)
	}
	if n := len(s.summary.Failures); n > 0 {
		return fmt.Errorf("%d of %d jobs failed", n, wanted)
	}
	return nil
}
