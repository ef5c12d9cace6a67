package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"hambench/integrators"
	"hambench/internal/atomicfile"
	"hambench/minibatch"
	"hambench/models"
	"hambench/oracle"
)

// Runner computes the cells of experiments that its store does not hold.
type Runner struct {
	Store *Store
	// Source gives the targets; Data of a resolver is the usual one.
	Source Source
	// Workers is how many chains run at once; 0 means GOMAXPROCS.
	Workers int
	// Shard is the part of the cells to compute; with OraclesOnly, of the
	// oracles.
	Shard Shard
	// OraclesOnly stops when the references are there.
	OraclesOnly bool
	// NoOracles builds none: cells whose reference is missing fail at once.
	NoOracles bool
	// Lookup finds the integrator of a name; nil means integrators.Builtin().Lookup.
	Lookup func(name string) (integrators.Method, error)
	// Cost estimates the time left and decides which cells go first.
	Cost CostModel
	// Progress is where the progress line goes; nil for none.
	Progress io.Writer
}

// Source makes the targets of cells.
type Source interface {
	// Target returns a new target for a model on a data set's split, and
	// the data themselves if they are one-dimensional (nil otherwise).
	Target(ctx context.Context, dataset string, split int, model, precision string) (models.Target, *Plane, error)
}

// Summary is what a run did.
type Summary struct {
	Cells         int // that were wanted
	Computed      int
	Diverged      int // of those computed
	Reused        int // that the store had, or that another process added
	OraclesBuilt  int
	OraclesReused int
	Failures      []Failure
	Elapsed       time.Duration
}

// Failure is a cell or an oracle that could not be computed.
type Failure struct {
	Name string
	Err  error
}

// Nothing reports whether nothing had to be computed.
func (s Summary) Nothing() bool {
	return s.Computed == 0 && s.OraclesBuilt == 0 && len(s.Failures) == 0
}

// Run computes what the store lacks of the experiments: oracles first, long
// cells before short ones. Failures of single cells are collected in the
// summary and make an error at the end. When the context is cancelled,
// running chains are given up, what is done is in the store, and the error
// wraps the context's.
func (r *Runner) Run(ctx context.Context, exps []Experiment) (Summary, error) {
	s, err := newSession(r, exps)
	if err != nil {
		return Summary{}, err
	}
	ctx, s.abort = context.WithCancelCause(ctx)
	defer s.abort(nil)
	s.ended = func() bool { return ctx.Err() != nil }
	ready, err := s.plan(exps)
	if err != nil {
		return s.summary, err
	}
	stop := func() {}
	if len(s.known) > 0 {
		stop = s.progress.watch()
	}
	schedule(ctx, s.cores, ready, s.progress.begin)
	stop()
	s.summary.Elapsed = time.Since(s.progress.start)
	return s.summary, s.outcome(ctx)
}

// session is one call of Run.
type session struct {
	*Runner
	cores    int
	specs    map[string]oracle.Spec // by key
	progress *progress
	abort    context.CancelCauseFunc
	ended    func() bool // by the caller or by abort
	// The rest belongs to the scheduler's goroutine.
	summary Summary
	wanted  map[string]bool     // cells by key
	known   map[string]bool     // oracles by key: their tasks exist
	waiting map[string][]*task  // cells by the oracle they wait for
	follow  map[string][]Choice // choices by the cell whose result they wait for

	mu        sync.Mutex
	truths    map[string]func() (oracle.Truth, error)
	refreshed time.Time
}

func newSession(r *Runner, exps []Experiment) (*session, error) {
	if err := r.precheck(exps); err != nil {
		return nil, err
	}
	cores := r.Workers
	if cores <= 0 {
		cores = runtime.GOMAXPROCS(0)
	}
	s := &session{
		Runner: r, cores: cores, specs: make(map[string]oracle.Spec), progress: newProgress(r.Progress, cores),
		wanted: make(map[string]bool), known: make(map[string]bool), waiting: make(map[string][]*task),
		follow: make(map[string][]Choice), truths: make(map[string]func() (oracle.Truth, error)), refreshed: time.Now(),
	}
	for _, e := range exps {
		for _, spec := range e.Oracles {
			s.specs[spec.Key()] = spec
		}
	}
	return s, nil
}

// precheck finds mistakes of the caller before anything is computed.
func (r *Runner) precheck(exps []Experiment) error {
	checked := make(map[string]bool)
	check := func(c Cell) error {
		if err := c.Check(); err != nil || c.Observe == Density || checked[c.Integrator+" "+c.Scheme] {
			return err
		}
		checked[c.Integrator+" "+c.Scheme] = true
		_, err := r.method(c.Integrator)
		if err == nil {
			_, err = minibatch.Builtin().Lookup(c.Scheme)
		}
		return err
	}
	for _, e := range exps {
		for _, c := range slices.Concat(append(slices.Clone(e.Choices), e.Cells)...) {
			if err := check(c); err != nil {
				return fmt.Errorf("%s: %w", e.ID, err)
			}
		}
	}
	return nil
}

func (r *Runner) method(name string) (integrators.Method, error) {
	if r.Lookup != nil {
		return r.Lookup(name)
	}
	return integrators.Builtin().Lookup(name)
}

// plan returns the tasks that are ready at the start.
func (s *session) plan(exps []Experiment) (ready []*task, err error) {
	if s.OraclesOnly {
		return s.planOracles(exps)
	}
	for _, e := range exps {
		e = s.Shard.Slice(e)
		for _, c := range e.Cells {
			tasks, err := s.want(c)
			if err != nil {
				return nil, err
			}
			ready = append(ready, tasks...)
		}
		for _, ch := range e.Choices {
			tasks, err := s.wantChoice(ch)
			if err != nil {
				return nil, err
			}
			ready = append(ready, tasks...)
		}
	}
	s.widen(ready)
	return ready, nil
}

// planOracles returns the tasks of the shard's oracles.
func (s *session) planOracles(exps []Experiment) (ready []*task, err error) {
	for i, spec := range Oracles(exps) {
		if !s.Shard.Deals(i) {
			continue
		}
		tasks, err := s.wantOracle(spec)
		if err != nil {
			return nil, err
		}
		ready = append(ready, tasks...)
	}
	s.widen(ready)
	return ready, nil
}

// widen shares the cores among the oracles where there are more cores.
func (s *session) widen(ready []*task) {
	oracles := 0
	for _, t := range ready {
		if t.first {
			oracles++
		}
	}
	for _, t := range ready {
		if t.first {
			t.width = max(1, s.cores/oracles)
		}
	}
}

// want takes a cell in, and returns the tasks that are ready because of it:
// its own, or its oracle's, or none.
func (s *session) want(c Cell) ([]*task, error) {
	key := c.Key()
	if s.wanted[key] {
		return nil, nil
	}
	s.wanted[key] = true
	s.summary.Cells++
	if _, ok := s.Store.Get(key); ok {
		s.summary.Reused++
		return nil, nil
	}
	t := s.cellTask(c)
	s.progress.add(t)
	spec, ok := s.specs[c.Oracle]
	if !ok {
		return []*task{t}, nil
	}
	ready, err := s.wantOracle(spec)
	if err != nil {
		return nil, err
	}
	if s.hasTruth(c.Oracle) {
		return append(ready, t), nil
	}
	if s.NoOracles {
		s.progress.end(t, false)
		s.fail(t, fmt.Errorf("needs the oracle of %s, split %d, which is not there", spec.Dataset, spec.Split))
		return nil, nil
	}
	s.waiting[c.Oracle] = append(s.waiting[c.Oracle], t)
	return ready, nil
}

// wantChoice takes in the cell that a choice needs next.
func (s *session) wantChoice(ch Choice) ([]*task, error) {
	_, next, settled := ch.settle(s.Store.Get)
	if !settled {
		s.follow[next.Key()] = append(s.follow[next.Key()], ch)
		return s.want(next)
	}
	for _, c := range ch { // count what it rests on
		if key := c.Key(); !s.wanted[key] {
			if _, ok := s.Store.Get(key); ok {
				s.wanted[key] = true
				s.summary.Cells++
				s.summary.Reused++
			}
		}
	}
	return nil, nil
}

// wantOracle returns the task that builds a reference, or none if it is in
// the store or on its way.
func (s *session) wantOracle(spec oracle.Spec) ([]*task, error) {
	key := spec.Key()
	if s.known[key] {
		return nil, nil
	}
	s.known[key] = true
	ref, err := s.Store.Reference(key)
	if err != nil {
		return nil, err
	}
	if ref != nil {
		s.summary.OraclesReused++
		s.setTruth(key, ref)
		return nil, nil
	}
	if s.NoOracles {
		return nil, nil
	}
	t := s.oracleTask(spec)
	s.progress.add(t)
	return []*task{t}, nil
}

func (s *session) oracleTask(spec oracle.Spec) *task {
	t := &task{name: fmt.Sprintf("oracle of %s, split %d", spec.Dataset, spec.Split), first: true, cost: s.Cost.Oracle(spec), width: 1}
	t.run = func(ctx context.Context, cores int) error {
		return s.buildOracle(ctx, spec, cores, func(done, total int64) { s.progress.part(t, float64(done)/float64(total)) })
	}
	t.next = func(err error) []*task {
		s.progress.end(t, err == nil)
		released := s.waiting[spec.Key()]
		delete(s.waiting, spec.Key())
		if err == nil {
			s.summary.OraclesBuilt++
			return released
		}
		s.fail(t, err)
		for _, c := range released {
			s.progress.end(c, false)
			s.fail(c, fmt.Errorf("needs the %s: %w", t.name, err))
		}
		return nil
	}
	return t
}

// buildOracle makes a reference, unless another process has in the meantime.
func (s *session) buildOracle(ctx context.Context, spec oracle.Spec, cores int, report func(done, total int64)) error {
	ref, err := s.Store.Reference(spec.Key())
	if err == nil && ref == nil {
		newTarget := func() (models.Target, error) {
			t, _, err := s.Source.Target(ctx, spec.Dataset, spec.Split, spec.Model, spec.Precision)
			return t, err
		}
		ref, err = oracle.Build(ctx, newTarget, spec, oracle.Options{Workers: cores, Parts: s.Store.PartsFolder(), Progress: report})
		if file := (*atomicfile.Error)(nil); errors.As(err, &file) {
			return s.stored(fmt.Errorf("store %s: %w", s.Store.Dir(), err))
		}
		if err == nil {
			err = s.stored(s.Store.PutReference(ref))
		}
	}
	if err == nil {
		s.setTruth(spec.Key(), ref)
	}
	return err
}

// stored ends the whole run if the store cannot be written: what would be
// computed next would be lost.
func (s *session) stored(err error) error {
	if err != nil {
		s.abort(err)
	}
	return err
}

func (s *session) cellTask(c Cell) *task {
	t := &task{name: c.String() + " " + c.Key()[:12], width: 1}
	if m, err := s.method(c.Integrator); err == nil {
		t.cost = s.Cost.Cell(c, m.Claims)
	}
	computed := false
	t.run = func(ctx context.Context, _ int) (err error) {
		computed, err = s.compute(ctx, c)
		return err
	}
	t.next = func(err error) []*task {
		s.progress.end(t, err == nil)
		if err != nil {
			s.fail(t, err)
			return nil
		}
		return s.finished(t, c, computed)
	}
	return t
}

// finished counts a cell and returns what its choices need next.
func (s *session) finished(t *task, c Cell, computed bool) (ready []*task) {
	r, _ := s.Store.Get(c.Key())
	switch {
	case !computed:
		s.summary.Reused++
	case r.Diverged:
		s.summary.Diverged++
		fallthrough
	default:
		s.summary.Computed++
	}
	for _, ch := range s.follow[c.Key()] {
		tasks, err := s.wantChoice(ch)
		if err != nil {
			s.fail(t, err)
		}
		ready = append(ready, tasks...)
	}
	return ready
}

// fail notes a failure, unless the run was ended: its error then says why.
func (s *session) fail(t *task, err error) {
	if !s.ended() {
		s.summary.Failures = append(s.summary.Failures, Failure{t.name, err})
	}
}

// compute runs a cell and stores its result, unless another process has.
func (s *session) compute(ctx context.Context, c Cell) (computed bool, err error) {
	if err := s.refresh(); err != nil {
		return false, s.stored(err)
	}
	if _, ok := s.Store.Get(c.Key()); ok {
		return false, nil
	}
	in := Inputs{Lookup: s.Lookup}
	in.Target, in.Plane, err = s.Source.Target(ctx, c.Dataset, c.Split, c.Model, c.Precision)
	if err != nil {
		return false, err
	}
	if in.Truth, err = s.truth(ctx, c); err != nil {
		return false, err
	}
	r, err := Compute(ctx, c, in)
	if err != nil {
		return false, err
	}
	return true, s.stored(s.Store.Put(r))
}

// refreshInterval is how often the store is read again for what other
// processes have added.
const refreshInterval = 10 * time.Second

func (s *session) refresh() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.refreshed) < refreshInterval {
		return nil
	}
	s.refreshed = time.Now()
	return s.Store.Refresh()
}

func (s *session) setTruth(key string, t oracle.Truth) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.truths[key] = func() (oracle.Truth, error) { return t, nil }
}

func (s *session) hasTruth(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.truths[key]
	return ok
}

// truth returns what starts and judges a cell's chain. An analytic truth is
// made once for all cells that it serves.
func (s *session) truth(ctx context.Context, c Cell) (oracle.Truth, error) {
	if c.Oracle == "" {
		return nil, nil
	}
	key := c.Oracle
	if key == Analytic {
		key = fmt.Sprintf("%s %s %d %s %d", key, c.Dataset, c.Split, c.Model, c.Samples)
	}
	s.mu.Lock()
	get, ok := s.truths[key]
	if !ok && c.Oracle == Analytic {
		get = sync.OnceValues(func() (oracle.Truth, error) {
			t, _, err := s.Source.Target(ctx, c.Dataset, c.Split, c.Model, c.Precision)
			if err != nil {
				return nil, err
			}
			return oracle.NewAnalytic(c.Model, t, c.Samples)
		})
		s.truths[key] = get
		ok = true
	}
	s.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("no experiment of the run lists the oracle %.12s", c.Oracle)
	}
	return get()
}

// outcome is the error of the whole run.
func (s *session) outcome(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		state := "ended"
		if errors.Is(err, context.Canceled) {
			state = "interrupted"
		}
		return fmt.Errorf("%s with %d of %d cells in %s: the same command continues there: %w",
			state, s.summary.Computed+s.summary.Reused, s.summary.Cells, s.Store.Dir(), err)
	}
	if n := len(s.summary.Failures); n > 0 {
		return fmt.Errorf("%d of %d cells and oracles failed", n, s.summary.Cells+len(s.known))
	}
	return nil
}
