package sweep

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// task is a unit of work of the scheduler.
// run is called in a goroutine of its own.
type task struct {
	name  string
	first bool    // goes before all tasks that are not (references: others wait for them)
	cost  float64 // estimated seconds of one core
	vague bool    // what it costs is known to a model in another process alone
	width int     // cores that it can use at once
	run   func(ctx context.Context) error
	// next is called in the scheduler's goroutine with run's error when the
	// task is over, and returns the tasks that are ready because of it.
	next func(err error) []*task

	cores   int // that it was given, at most its width
	err     error
	started time.Time // progress guards it
}

// errLeased says that another process works at a task: it is tried again.
var errLeased = errors.New("another process works at it")

// retryInterval is how often tasks that other processes work at are tried
// again.
const retryInterval = 2 * time.Second

// order puts references first, then long tasks first, so that the cores finish
// together; names decide ties.
// Two tasks are never equal unless they have one name.
func order(a, b *task) int {
	if a.first != b.first {
		if a.first {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(b.cost, a.cost), cmp.Compare(a.name, b.name))
}

// schedule runs tasks on a number of cores until none is left, or until the
// context is cancelled and the running ones have ended. begin is told of
// each task that starts.
// Tasks on more than one core start as soon as one is free, with the cores that are free
// then. A parked task is tried again every retryInterval.
func schedule(ctx context.Context, cores int, ready []*task, begin func(*task)) {
	var queue, parked []*task
	add := func(tasks []*task) {
		if len(tasks) > 0 { // sorting is for few moments: when a reference is there, say
			queue = append(queue, tasks...)
			slices.SortFunc(queue, order)
		}
	}
	add(ready)
	// Unbuffered, and received from below until no task runs: no goroutine is left behind.
	over := make(chan *task)
	free, running := cores, 0
	// retry is nil, and so never ready, without parked tasks. The ends of others do not put it off.
	var retry <-chan time.Time
	for {
		// Tasks start in order, even where a later one would fit the free cores better: a task that
		// can use several cores takes those that there are.
		for free > 0 && len(queue) > 0 && ctx.Err() == nil {
			t := queue[0]
			queue = queue[1:]
			t.cores = min(t.width, free)
			free, running = free-t.cores, running+1
			begin(t)
			go func() {
				t.err = t.run(ctx)
				over <- t
			}()
		}
		// With no task running all cores are free: the queue is empty, or the context has ended.
		if running == 0 && (len(parked) == 0 || ctx.Err() != nil) {
			return
		}
		if len(parked) > 0 && retry == nil {
			retry = time.After(retryInterval)
		}
		var ended <-chan struct{}
		if running == 0 { // the ends of those that run are waited for
			ended = ctx.Done()
		}
		select {
		case t := <-over:
			free, running = free+t.cores, running-1
			if errors.Is(t.err, errLeased) {
				parked = append(parked, t)
				continue
			}
			add(t.next(t.err))
		case <-retry:
			add(parked)
			parked, retry = nil, nil
		case <-ended:
			return
		}
	}
}
