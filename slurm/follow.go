package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"hambench/internal/distinct"
)

// ErrIncomplete says that results are missing and that resubmitting their tasks
// has not helped.
var ErrIncomplete = errors.New("incomplete")

// Progress is what the results themselves say.
type Progress struct {
	Stages [][]Missing // by task, for each stage that has tasks
	// Cost is the estimated time of what is missing, in any unit.
	Cost float64
	Text string // for people: what is there, of how much
}

// Missing counts the missing results of a task: All of them, and those that can be
// computed Now, because they need no missing results of earlier stages.
type Missing struct{ All, Now int }

// Follower submits a run and follows it by its results.
type Follower struct {
	Run
	Scheduler Scheduler
	// Look reads the results. An error ends Follow.
	Look func() (Progress, error)
	// Poll is the time between two looks.
	Poll time.Duration
	// Retries is how many times a task is resubmitted without having added a
	// result in the meantime.
	Retries int
	Log     io.Writer

	tasks     [][]task // by stage; none of a stage without
	queue     []Queued
	last      Progress
	start     time.Time
	startCost float64
	heard     time.Time
	line      string // last one written
	complaint string
	summary   Summary
}

// Summary is what a Follower did.
type Summary struct{ Submitted, Resubmitted int }

// String returns the summary in words.
func (s Summary) String() string {
	return fmt.Sprintf("submitted %d tasks, resubmitted %d", s.Submitted, s.Resubmitted)
}

// task is what is known of one task.
type task struct {
	Missing
	queued    bool // at the last look
	absent    int  // looks in a row at which results were missing and the task was not queued
	tries     int  // submissions since its results last grew
	submitted bool
}

// patience is how long nothing may be heard, neither from the scheduler nor by a
// new result, before following ends: longer than the restart of a controller takes.
const patience = 30 * time.Minute

// looksBeforeRetry is how many looks in a row must miss a task before it is
// submitted again: what it wrote last may show late on a network file system.
const looksBeforeRetry = 2

// Submit submits once what is missing and not queued, and returns. A scheduler that
// does not answer is an error, since what is already queued would be submitted twice.
func (f *Follower) Submit(ctx context.Context) (Summary, error) {
	f.start, f.heard = time.Now(), time.Now()
	f.tasks = nil
	for _, s := range f.Stages {
		f.tasks = append(f.tasks, make([]task, s.Tasks))
	}
	queueErr, err := f.look(ctx)
	f.startCost = f.last.Cost
	if err = cmp.Or(queueErr, err); err == nil {
		err = f.submit(ctx, 1)
	}
	return f.summary, err
}

// Follow submits what is missing and returns when everything is there (nil),
// when nothing more can be done (ErrIncomplete), or when the context is
// cancelled, which does not stop the jobs.
func (f *Follower) Follow(ctx context.Context) (Summary, error) {
	if _, err := f.Submit(ctx); err != nil {
		if f.summary.Submitted == 0 {
			return f.summary, err
		}
		f.complain(err)
	}
	for f.any(func(t task) bool { return t.All > 0 }) {
		f.report()
		if err := f.stuck(); err != nil {
			return f.summary, err
		}
		select {
		case <-ctx.Done():
			return f.summary, ctx.Err()
		case <-time.After(f.Poll):
		}
		if err := f.round(ctx); err != nil {
			return f.summary, err
		}
	}
	f.report()
	return f.summary, nil
}

// round looks again and submits what has got lost.
func (f *Follower) round(ctx context.Context) error {
	before := f.last.Cost
	schedulerErr, err := f.look(ctx)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	if schedulerErr == nil {
		schedulerErr = f.submit(ctx, looksBeforeRetry)
	}
	if schedulerErr != nil {
		f.complain(schedulerErr)
	} else {
		f.complaint = ""
	}
	if schedulerErr == nil || f.last.Cost < before {
		f.heard = time.Now()
	}
	return nil
}

// look notes what is queued, and then what is missing: in this order it sees what
// a task wrote before it left the queue. If the queue is unknown, what was queued
// stays so: no answer must not pass for an empty queue.
func (f *Follower) look(ctx context.Context) (queueErr, err error) {
	queued, queueErr := f.Scheduler.Queue(ctx, f.JobNames())
	if f.last, err = f.Look(); err != nil {
		return queueErr, err
	}
	inQueue := make(map[string]bool)
	for _, q := range queued {
		inQueue[fmt.Sprint(q.Name, " ", q.Index)] = true
	}
	if queueErr == nil {
		f.queue = queued
	}
	for s, stage := range f.last.Stages {
		for i, m := range stage {
			t := &f.tasks[s][i]
			if m.All < t.All {
				t.tries, t.absent = 0, 0
			}
			t.Missing = m
			if queueErr != nil {
				continue
			}
			t.queued = inQueue[fmt.Sprint(f.JobName(f.Stages[s]), " ", i)]
			t.submitted = t.submitted || t.queued // by an earlier call
			t.absent++
			if t.queued || t.All == 0 {
				t.absent = 0
			}
		}
	}
	return queueErr, nil
}

func (f *Follower) any(is func(task) bool) bool {
	return slices.ContainsFunc(f.tasks, func(stage []task) bool { return slices.ContainsFunc(stage, is) })
}

func (f *Follower) hasTries(t task) bool { return t.tries <= f.Retries }

// submit submits, stage after stage, the tasks that were absent for a number of
// looks and have tries left, of which something is missing that they could compute,
// now or when a task of an earlier stage has ended; and, if there are any, behind
// them the stages without tasks.
func (f *Follower) submit(ctx context.Context, looks int) error {
	var after []string                 // jobs of the stages so far
	submitted, pending := false, false // of the stages so far: something was; a task is queued or was
	for i, s := range f.Stages {
		var jobs []string // of the stage
		for _, q := range f.queue {
			if q.Name == f.JobName(s) {
				jobs = distinct.Append(jobs, q.Job)
			}
		}
		var chosen []int
		queued := false
		for k, t := range f.tasks[i] {
			queued = queued || t.queued && t.All > 0
			if t.All > 0 && t.absent >= looks && f.hasTries(t) && (t.Now > 0 || pending) {
				chosen = append(chosen, k)
			}
		}
		if len(chosen) > 0 || s.Tasks == 0 && submitted && len(jobs) == 0 {
			job, err := f.Scheduler.Submit(ctx, f.ScriptPath(s), chosen, after)
			if err != nil {
				return err
			}
			what := s.Name
			if s.Tasks > 0 {
				what += fmt.Sprintf(" %s of %d", indices(chosen), s.Tasks)
			}
			fmt.Fprintf(f.Log, "hambench: submitted %s as job %s\n", what, job)
			jobs, submitted = append(jobs, job), true
		}
		for _, k := range chosen {
			f.tasks[i][k].submit(&f.summary)
		}
		after, pending = append(after, jobs...), pending || queued || len(chosen) > 0
	}
	return nil
}

// submit notes the task as submitted.
func (t *task) submit(s *Summary) {
	if t.submitted {
		s.Resubmitted++
	} else {
		s.Submitted++
	}
	t.submitted, t.queued, t.absent = true, true, 0
	t.tries++
}

// stuck is the error that ends following: nothing is queued that could add a
// result, and nothing will be submitted.
func (f *Follower) stuck() error {
	if silent := time.Since(f.heard); silent > patience {
		return fmt.Errorf("%w: no new result and no answer of the scheduler for %s: %s", ErrIncomplete, silent.Round(time.Second), f.complaint)
	}
	waiting := func(t task) bool {
		return t.All > 0 && (t.queued || t.absent < looksBeforeRetry && f.hasTries(t))
	}
	if f.complaint == "" && !f.any(waiting) {
		return fmt.Errorf("%w: tasks ended %d times in a row without a new result; what they said is in %s", ErrIncomplete, f.Retries+1, f.LogDir())
	}
	return nil
}

// complain writes an error of the scheduler once.
func (f *Follower) complain(err error) {
	if err.Error() != f.complaint {
		f.complaint = err.Error()
		fmt.Fprintf(f.Log, "hambench: %v; the results are followed all the same\n", err)
	}
}

// report writes a line, if something has changed.
func (f *Follower) report() {
	line := f.last.Text + f.queueText()
	if line == f.line {
		return
	}
	f.line = line
	fmt.Fprintf(f.Log, "hambench: %s%s\n", line, f.timeLeft())
}

// queueText counts the tasks by state.
func (f *Follower) queueText() string {
	if f.complaint != "" {
		return "; the scheduler does not answer"
	}
	states := make(map[string]int)
	for _, q := range f.queue {
		states[strings.ToLower(q.State)]++
	}
	var parts []string
	for state, n := range states {
		parts = append(parts, fmt.Sprintf("%d %s", n, state))
	}
	if parts == nil {
		return "; nothing queued"
	}
	slices.Sort(parts)
	return "; tasks: " + strings.Join(parts, ", ")
}

// timeLeft extrapolates the speed so far.
func (f *Follower) timeLeft() string {
	done := f.startCost - f.last.Cost
	if done <= 0 || f.last.Cost <= 0 {
		return ""
	}
	left := time.Duration(float64(time.Since(f.start)) * f.last.Cost / done)
	return fmt.Sprintf("; about %s left", left.Round(time.Second))
}
