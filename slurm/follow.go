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
)

// ErrIncomplete says that results are missing and that submitting their tasks
// again has not helped.
var ErrIncomplete = errors.New("incomplete")

// Progress is what the results themselves say.
type Progress struct {
	Stages [][]Missing // by task, for each stage that has tasks
	// Cost is the estimated time of what is missing, in any unit.
	Cost float64
	Text string // for people: what is there, of how much
}

// Missing counts what is missing of a task: all of it, and how much of that
// could be computed now, without the results of earlier stages that are missing.
type Missing struct{ All, Now int }

// Follower submits a run and follows it by its results.
type Follower struct {
	Run
	Scheduler Scheduler
	// Look reads the results. An error ends the following.
	Look func() (Progress, error)
	// Poll is the time between two looks.
	Poll time.Duration
	// Retries is how many times a task is submitted again without having
	// added a result in the meantime.
	Retries int
	// Patience is how long nothing is heard, neither from the scheduler nor
	// by a new result, before following ends.
	Patience time.Duration
	Log      io.Writer

	tasks     [][]task // by stage
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

// String is the summary in words.
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

// looksBeforeRetry is how many looks in a row must miss a task before it is
// submitted again: what it wrote last may show late on a network file system.
const looksBeforeRetry = 2

// Submit submits once what is missing and not queued, and returns.
func (f *Follower) Submit(ctx context.Context) (Summary, error) {
	if err := f.begin(ctx); err != nil {
		return f.summary, err
	}
	return f.summary, f.submit(ctx, 1)
}

// Follow submits what is missing and returns when everything is there (nil),
// when nothing more can be done (ErrIncomplete), or when the context is
// cancelled; the jobs go on then.
func (f *Follower) Follow(ctx context.Context) (Summary, error) {
	if err := f.begin(ctx); err != nil {
		return f.summary, err
	}
	if err := f.submit(ctx, 1); err != nil {
		if f.summary.Submitted == 0 {
			return f.summary, err
		}
		f.complain(err)
	}
	for !f.complete() {
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

// begin looks for the first time. A scheduler that does not answer is an
// error: what is queued already would be submitted twice.
func (f *Follower) begin(ctx context.Context) error {
	f.start, f.heard = time.Now(), time.Now()
	queueErr, err := f.look(ctx)
	f.startCost = f.last.Cost
	return cmp.Or(queueErr, err)
}

// round looks again and submits what has got lost.
func (f *Follower) round(ctx context.Context) error {
	before := f.last.Cost
	schedulerErr, err := f.look(ctx)
	if err != nil {
		return err
	}
	if f.last.Cost < before {
		f.heard = time.Now()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if schedulerErr == nil {
		schedulerErr = f.submit(ctx, looksBeforeRetry)
	}
	if schedulerErr != nil {
		f.complain(schedulerErr)
		return nil
	}
	f.heard, f.complaint = time.Now(), ""
	return nil
}

// look notes what is queued, and then what is missing: what a task wrote before
// it left the queue is seen. Where the queue is unknown, what was queued stays
// so: an empty list would look the same as a dead controller's.
func (f *Follower) look(ctx context.Context) (queueErr, err error) {
	queued, queueErr := f.Scheduler.Queue(ctx, f.JobNames())
	p, err := f.Look()
	if err != nil {
		return queueErr, err
	}
	inQueue := make(map[string]bool)
	for _, q := range queued {
		inQueue[fmt.Sprint(q.Name, " ", q.Index)] = true
	}
	for s, stage := range p.Stages {
		if len(f.tasks) == s { // at the first look
			f.tasks = append(f.tasks, make([]task, len(stage)))
		}
		for i, m := range stage {
			t := &f.tasks[s][i]
			if m.All < t.All {
				t.tries, t.absent = 0, 0
			}
			t.Missing = m
			if queueErr == nil {
				t.see(inQueue[fmt.Sprint(f.JobName(f.Stages[s]), " ", i)])
			}
		}
	}
	f.last = p
	if queueErr == nil {
		f.queue = queued
	}
	return queueErr, nil
}

// see notes whether the task is queued.
func (t *task) see(queued bool) {
	t.queued = queued
	t.submitted = t.submitted || queued // by an earlier call
	t.absent++
	if queued || t.All == 0 {
		t.absent = 0
	}
}

// complete reports whether nothing is missing.
func (f *Follower) complete() bool {
	return !f.any(func(t task) bool { return t.All > 0 })
}

func (f *Follower) any(is func(task) bool) bool {
	return slices.ContainsFunc(f.tasks, func(stage []task) bool { return slices.ContainsFunc(stage, is) })
}

// choose returns, by stage, the tasks to submit: something is missing that
// they could compute, now or when a task of an earlier stage has ended, they
// have not been queued for a number of looks, and they have tries left.
func (f *Follower) choose(looks int) [][]int {
	chosen := make([][]int, len(f.Stages))
	earlier := false // a task of an earlier stage is queued or chosen
	for s, stage := range f.tasks {
		queued := false
		for i, t := range stage {
			queued = queued || t.queued && t.All > 0
			if t.All > 0 && t.absent >= looks && f.hasTries(t) && (t.Now > 0 || earlier) {
				chosen[s] = append(chosen[s], i)
			}
		}
		earlier = earlier || queued || len(chosen[s]) > 0
	}
	return chosen
}

func (f *Follower) hasTries(t task) bool { return t.tries <= f.Retries }

// submit submits the tasks that were absent for a number of looks, stage after
// stage, and, if there are any, behind them the stages without tasks.
func (f *Follower) submit(ctx context.Context, looks int) error {
	chosen := f.choose(looks)
	if !slices.ContainsFunc(chosen, func(tasks []int) bool { return len(tasks) > 0 }) {
		return nil
	}
	var after []string
	for i, s := range f.Stages {
		var jobs []string // of the stage that are queued
		for _, q := range f.queue {
			if q.Name == f.JobName(s) && !slices.Contains(jobs, q.Job) {
				jobs = append(jobs, q.Job)
			}
		}
		if len(chosen[i]) > 0 || s.Tasks == 0 && len(jobs) == 0 {
			job, err := f.Scheduler.Submit(ctx, f.ScriptPath(s), chosen[i], after)
			if err != nil {
				return err
			}
			fmt.Fprintf(f.Log, "hambench: submitted %s as job %s\n", describe(s, chosen[i]), job)
			jobs = append(jobs, job)
		}
		f.count(i, chosen[i])
		after = append(after, jobs...)
	}
	return nil
}

func describe(s Stage, tasks []int) string {
	if s.Tasks == 0 {
		return s.Name
	}
	return fmt.Sprintf("%s %s of %d", s.Name, indices(tasks), s.Tasks)
}

// count notes tasks as submitted.
func (f *Follower) count(stage int, tasks []int) {
	for _, i := range tasks {
		t := &f.tasks[stage][i]
		if t.submitted {
			f.summary.Resubmitted++
		} else {
			f.summary.Submitted++
		}
		t.submitted, t.queued, t.absent = true, true, 0
		t.tries++
	}
}

// stuck is the error that ends following: nothing is queued that could add a
// result, and nothing will be submitted.
func (f *Follower) stuck() error {
	if silent := time.Since(f.heard); silent > f.Patience {
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
	states, held := make(map[string]int), 0
	for _, q := range f.queue {
		states[strings.ToLower(q.State)]++
		if q.Held {
			held++
		}
	}
	var parts []string
	for state, n := range states {
		parts = append(parts, fmt.Sprintf("%d %s", n, state))
	}
	slices.Sort(parts)
	text := "; nothing queued"
	if len(parts) > 0 {
		text = "; tasks: " + strings.Join(parts, ", ")
	}
	if held > 0 {
		text += fmt.Sprintf(" (%d held: scontrol release lets them start)", held)
	}
	return text
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
