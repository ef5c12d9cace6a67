package slurm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// world is a cluster and its results as a test moves them: two oracles, three
// tasks of a sweep.
type world struct {
	left      [2][]int // by stage and task
	queue     []Queued
	submitted []string // what was submitted, and after which jobs
	tick      func(w *world, look int)
	looks     int
	queueErr  error
	submitErr error
	lookErr   error
	accepted  func(w *world, q []Queued) // what becomes of a submission; nil queues it
}

func newWorld() *world { return &world{left: [2][]int{{1, 1}, {4, 4, 4}}} }

func (w *world) Submit(_ context.Context, script string, tasks []int, after []string) (string, error) {
	if w.submitErr != nil {
		return "", w.submitErr
	}
	job := fmt.Sprint(100 + len(w.submitted))
	stage := strings.TrimSuffix(script[strings.LastIndex(script, "/")+1:], ".sh")
	w.submitted = append(w.submitted, strings.TrimSpace(fmt.Sprintf("%s %s after %s", stage, indices(tasks), strings.Join(after, ","))))
	var q []Queued
	for _, i := range tasks {
		q = append(q, Queued{Job: job, Name: "hambench-run-" + stage, Index: i, State: "PENDING"})
	}
	if len(tasks) == 0 {
		q = append(q, Queued{Job: job, Name: "hambench-run-" + stage, Index: -1, State: "PENDING"})
	}
	if w.accepted != nil {
		w.accepted(w, q)
	} else {
		w.queue = append(w.queue, q...)
	}
	return job, nil
}

func (w *world) Queue(context.Context, []string) ([]Queued, error) {
	w.looks++
	if w.tick != nil {
		w.tick(w, w.looks)
	}
	if w.queueErr != nil {
		return nil, w.queueErr
	}
	return slices.Clone(w.queue), nil
}

// look says what is missing; a sweep task can compute half of its cells
// without oracles.
func (w *world) look() (Progress, error) {
	p := Progress{Text: fmt.Sprint(w.left)}
	for _, stage := range w.left {
		var tasks []Missing
		for _, n := range stage {
			tasks = append(tasks, Missing{n, n})
			p.Cost += float64(n)
		}
		p.Stages = append(p.Stages, tasks)
	}
	if slices.Max(w.left[0]) > 0 {
		for i, n := range w.left[1] {
			p.Stages[1][i].Now = max(0, n-2)
		}
	}
	return p, w.lookErr
}

// end takes tasks of a stage out of the queue, with their results or
// without.
func (w *world) end(stage string, done bool, tasks ...int) {
	w.queue = slices.DeleteFunc(w.queue, func(q Queued) bool {
		return q.Name == "hambench-run-"+stage && slices.Contains(tasks, q.Index)
	})
	for _, i := range tasks {
		if done {
			w.left[map[string]int{"oracle": 0, "sweep": 1}[stage]][i] = 0
		}
	}
}

// finish ends everything well.
func (w *world) finish() {
	w.end("oracle", true, 0, 1)
	w.end("sweep", true, 0, 1, 2)
}

func (w *world) follower() *Follower {
	return &Follower{
		Run:       Run{ID: "run", Dir: "/shared/run", Stages: []Stage{{Name: "oracle", Tasks: 2}, {Name: "sweep", Tasks: 3}, {Name: "figures"}}},
		Scheduler: w, Look: w.look, Poll: 30 * time.Second, Retries: 2, Log: io.Discard,
	}
}

// follow follows a world to its end.
func follow(t *testing.T, w *world) (s Summary, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { s, err = w.follower().Follow(t.Context()) })
	return s, err
}

var first = []string{"oracle 0-1 after", "sweep 0-2 after 100", "figures  after 100,101"}

func TestStagesWaitForEachOther(t *testing.T) {
	w := newWorld()
	w.tick = func(w *world, look int) {
		if look == 20 {
			w.finish()
		}
	}
	s, err := follow(t, w)
	if err != nil || !slices.Equal(w.submitted, first) || s != (Summary{Submitted: 5}) {
		t.Errorf("%v, %v, submitted %q; want %q", s, err, w.submitted, first)
	}
}

func TestOnlyWhatIsMissingAndNotQueuedIsSubmittedAgain(t *testing.T) {
	for _, c := range []struct {
		reason string
		tick   func(w *world, look int)
		again  []string
		want   Summary
	}{
		{"the array was lost, and its number was used again", func(w *world, look int) {
			switch look {
			case 2:
				w.queue = []Queued{{Job: "101", Name: "somebody-else", Index: 2, State: "RUNNING"}}
			case 9:
				w.finish()
			}
		}, []string{"oracle 0-1 after", "sweep 0-2 after 103", "figures  after 103,104"}, Summary{5, 5}},
		{"one task of the sweep failed", func(w *world, look int) {
			switch look {
			case 2:
				w.end("oracle", true, 0, 1)
				w.end("sweep", true, 0, 2)
				w.end("sweep", false, 1)
			case 9:
				w.finish()
			}
		}, []string{"sweep 1 after"}, Summary{5, 1}},
		{"tasks ended without results that nothing is missing of", func(w *world, look int) {
			switch look {
			case 2:
				w.queue = nil
				w.left = [2][]int{{0, 0}, {0, 0, 3}}
			case 9:
				w.finish()
			}
		}, []string{"sweep 2 after", "figures  after 103"}, Summary{5, 1}},
		{"an oracle failed, and so did what needs it", func(w *world, look int) {
			switch look {
			case 2:
				w.end("oracle", true, 0)
				w.end("oracle", false, 1)
				w.left[1] = []int{2, 2, 0}
				w.end("sweep", false, 0, 1, 2)
			case 9:
				w.finish()
			}
		}, []string{"oracle 1 after", "sweep 0-1 after 103"}, Summary{5, 3}},
		{"results show late, within two looks", func(w *world, look int) {
			switch look {
			case 2:
				w.end("oracle", false, 0, 1)
				w.end("sweep", false, 0, 1, 2)
			case 3:
				w.finish()
			}
		}, nil, Summary{5, 0}},
		{"the controller is dead for a while, which looks like an empty queue", func(w *world, look int) {
			w.queueErr = nil
			if look >= 2 && look < 40 {
				w.queueErr = errors.New("unable to contact slurm controller")
			}
			if look == 45 {
				w.finish()
			}
		}, nil, Summary{5, 0}},
	} {
		w := newWorld()
		w.tick = c.tick
		s, err := follow(t, w)
		if err != nil || s != c.want {
			t.Errorf("%s: %v, %v; want %v", c.reason, s, err, c.want)
		}
		want := append(slices.Clone(first), c.again...)
		figures := len(c.again) > 0 && len(w.submitted) == len(want)+1 // behind a resubmission, if none is queued
		if !slices.Equal(w.submitted, want) && !(figures && slices.Equal(w.submitted[:len(want)], want)) {
			t.Errorf("%s: submitted %q; want %q", c.reason, w.submitted, want)
		}
	}
}

// The second call of the command finds its jobs by their name.
func TestASecondCallSubmitsNothingThatIsQueued(t *testing.T) {
	w := newWorld()
	if _, err := w.follower().Submit(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := w.follower().Submit(t.Context())
	if err != nil || s != (Summary{}) || !slices.Equal(w.submitted, first) {
		t.Errorf("everything is queued: %v, %v, submitted %q; want nothing more", s, err, w.submitted)
	}
	w.end("sweep", false, 0, 1) // cancelled by somebody
	if s, err = w.follower().Submit(t.Context()); err != nil || s != (Summary{Submitted: 2}) || w.submitted[3] != "sweep 0-1 after 100" {
		t.Errorf("two tasks are gone: %v, %v, submitted %q; want those two, behind the oracles that are queued", s, err, w.submitted)
	}
	w.tick = func(w *world, look int) {
		switch look {
		case 5:
			w.queue = nil
		case 9:
			w.finish()
		}
	}
	if s, err = follow(t, w); err != nil || s != (Summary{Resubmitted: 5}) {
		t.Errorf("what an earlier call submitted is lost: %v, %v; want 5 resubmitted", s, err)
	}
}

func TestTasksThatAlwaysFailAreGivenUp(t *testing.T) {
	w := newWorld()
	w.left = [2][]int{{0, 0}, {0, 4, 0}}
	w.tick = func(w *world, _ int) { w.end("sweep", false, 1) }
	s, err := follow(t, w)
	if !errors.Is(err, ErrIncomplete) || !strings.Contains(err.Error(), "/shared/run/log") || s != (Summary{Submitted: 1, Resubmitted: 2}) {
		t.Errorf("%v, %v; want incomplete after two resubmissions of one task", s, err)
	}
}

// A task that adds a result each time, and then is killed, is no failure.
func TestProgressRenewsTheTries(t *testing.T) {
	w := newWorld()
	w.left = [2][]int{{0, 0}, {0, 0, 9}}
	w.accepted = func(w *world, q []Queued) {
		if q[0].Index == 2 {
			w.left[1][2]--
		}
	}
	s, err := follow(t, w)
	if err != nil || s != (Summary{Submitted: 1, Resubmitted: 8}) {
		t.Errorf("%v, %v; want complete after 8 resubmissions", s, err)
	}
}

// Without its oracle a task is not started for nothing.
func TestTasksWithoutTheirOracleAreNotSubmitted(t *testing.T) {
	w := newWorld()
	w.left = [2][]int{{0, 1}, {0, 0, 2}} // what is missing needs the oracle
	w.tick = func(w *world, look int) {
		w.end("oracle", false, 1)
		if look > 20 { // long after the oracle was given up
			w.end("sweep", false, 2)
		}
	}
	_, err := follow(t, w)
	want := []string{"oracle 1 after", "sweep 2 after 100", "figures  after 100,101", "oracle 1 after", "oracle 1 after"}
	if !errors.Is(err, ErrIncomplete) || !slices.Equal(w.submitted, want) {
		t.Errorf("%v, submitted %q; want %q", err, w.submitted, want)
	}
}

func TestFollowingEndsWhenNothingIsHeard(t *testing.T) {
	w := newWorld()
	w.tick = func(w *world, look int) {
		if look > 1 {
			w.queueErr = errors.New("unable to contact slurm controller")
		}
	}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, err := w.follower().Follow(t.Context())
		if !errors.Is(err, ErrIncomplete) || !strings.Contains(err.Error(), "unable to contact") {
			t.Errorf("%v; want incomplete, with the scheduler's words", err)
		}
		if took := time.Since(begin); took < 30*time.Minute || took > 32*time.Minute {
			t.Errorf("gave up after %v, want 30 minutes", took)
		}
	})
	if !slices.Equal(w.submitted, first) {
		t.Errorf("submitted %q", w.submitted)
	}
}

func TestErrors(t *testing.T) {
	trouble := errors.New("trouble")
	w := newWorld()
	w.queueErr = trouble
	if s, err := follow(t, w); !errors.Is(err, trouble) || s != (Summary{}) {
		t.Errorf("a queue that cannot be read: %v, %v; want nothing submitted", s, err)
	}
	w = newWorld()
	w.submitErr = trouble
	if _, err := follow(t, w); !errors.Is(err, trouble) {
		t.Errorf("a submission that is refused: %v", err)
	}
	w = newWorld()
	w.tick = func(w *world, look int) {
		if look == 3 {
			w.lookErr = trouble
		}
	}
	if _, err := follow(t, w); !errors.Is(err, trouble) {
		t.Errorf("results that differ: %v", err)
	}
	// Refused in the middle: the next look tries again.
	w = newWorld()
	w.accepted = func(w *world, q []Queued) {
		if len(w.submitted) == 1 {
			w.submitErr = trouble
		}
		w.queue = append(w.queue, q...)
	}
	w.tick = func(w *world, look int) {
		switch look {
		case 5:
			w.submitErr = nil
		case 9:
			w.finish()
		}
	}
	if s, err := follow(t, w); err != nil || s != (Summary{Submitted: 5}) {
		t.Errorf("a submission refused in the middle: %v, %v", s, err)
	}
}

func TestCancelledFollowingSubmitsNothingMore(t *testing.T) {
	w := newWorld()
	ctx, cancel := context.WithCancel(t.Context())
	w.tick = func(w *world, look int) {
		if look == 4 {
			w.queue = nil
			cancel()
		}
	}
	synctest.Test(t, func(*testing.T) {
		if _, err := w.follower().Follow(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%v; want Canceled", err)
		}
	})
	if !slices.Equal(w.submitted, first) {
		t.Errorf("submitted %q", w.submitted)
	}
}

func TestReport(t *testing.T) {
	var log strings.Builder
	w := newWorld()
	w.tick = func(w *world, look int) {
		switch look {
		case 3:
			w.left[1] = []int{0, 4, 2}
			w.queue = []Queued{
				{Job: "1", Name: "hambench-run-sweep", Index: 1, State: "RUNNING"},
				{Job: "1", Name: "hambench-run-sweep", Index: 2, State: "PENDING"},
				{Job: "2", Name: "hambench-run-oracle", Index: 0, State: "RUNNING"},
				{Job: "2", Name: "hambench-run-oracle", Index: 1, State: "RUNNING"},
			}
		case 4:
			w.queueErr = errors.New("unable to contact slurm controller")
		case 5:
			w.queueErr = nil
			w.finish()
		}
	}
	f := w.follower()
	f.Log = &log
	synctest.Test(t, func(t *testing.T) {
		if _, err := f.Follow(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for _, want := range []string{
		"submitted sweep 0-2 of 3 as job 101\n",
		"tasks: 1 pending, 3 running; about 1m20s left\n",
		"unable to contact slurm controller; the results are followed all the same\n",
		"; the scheduler does not answer",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
}
