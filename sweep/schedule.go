package sweep

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"time"
)

// task is a unit of work of the scheduler.
type task struct {
	name  string
	first bool    // goes before all tasks that are not (references: others wait for them)
	cost  float64 // estimated seconds of one core
	width int     // cores that it can use at once; it is given at most that many
	run   func(ctx context.Context, cores int) error
	// next is called in the scheduler's goroutine with run's error when the
	// task is over, and returns the tasks that are ready because of it.
	next func(err error) []*task

	started time.Time
}

// errElsewhere says that another process works at a task: it is tried again.
var errElsewhere = errors.New("another process works at it")

// retryInterval is how often tasks that other processes work at are looked
// after.
const retryInterval = 2 * time.Second

// queue is a heap: references first, then long tasks first, so that the cores
// finish together; names decide ties.
type queue []*task

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	if a.first != b.first {
		return a.first
	}
	return cmp.Or(cmp.Compare(b.cost, a.cost), cmp.Compare(a.name, b.name)) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*task)) }
func (q *queue) Pop() any {
	old := *q
	t := old[len(old)-1]
	*q = old[:len(old)-1]
	return t
}

// ending is a task that is over.
type ending struct {
	task *task
	used int
	err  error
}

// schedule runs tasks on a number of cores until none is left, or until the
// context is cancelled and the running ones have ended. begin is told of
// each task that starts.
func schedule(ctx context.Context, cores int, ready []*task, begin func(*task)) {
	q := queue(ready)
	heap.Init(&q)
	var parked []*task
	over := make(chan ending)
	free, running := cores, 0
	for {
		for free > 0 && len(q) > 0 && ctx.Err() == nil {
			t := heap.Pop(&q).(*task)
			used := min(max(t.width, 1), free)
			free, running = free-used, running+1
			t.started = time.Now()
			begin(t)
			go func() { over <- ending{t, used, t.run(ctx, used)} }()
		}
		if running == 0 && (len(parked) == 0 || ctx.Err() != nil) {
			return
		}
		var retry <-chan time.Time
		if len(parked) > 0 {
			retry = time.After(retryInterval)
		}
		select {
		case e := <-over:
			free, running = free+e.used, running-1
			if errors.Is(e.err, errElsewhere) {
				parked = append(parked, e.task)
				continue
			}
			for _, t := range e.task.next(e.err) {
				heap.Push(&q, t)
			}
		case <-retry:
			for _, t := range parked {
				heap.Push(&q, t)
			}
			parked = nil
		case <-interrupted(ctx, running):
			return
		}
	}
}

// interrupted is the end of the context while nothing runs whose end is to be
// waited for.
func interrupted(ctx context.Context, running int) <-chan struct{} {
	if running > 0 {
		return nil
	}
	return ctx.Done()
}
