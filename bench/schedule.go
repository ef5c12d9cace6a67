package bench

import (
	"cmp"
	"container/heap"
	"context"
	"time"
)

// task is a unit of work of the scheduler.
type task struct {
	name  string
	first bool    // goes before all tasks that are not (oracles: others wait for them)
	cost  float64 // estimated seconds of one core
	width int     // cores that it can use at once; it is given at most that many
	run   func(ctx context.Context, cores int) error
	// next is called in the scheduler's goroutine with run's error when the
	// task is over, and returns the tasks that are ready because of it.
	next func(err error) []*task

	started time.Time
}

// queue is a heap: oracles first, then long tasks first, so that the cores
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

// schedule runs tasks on a number of cores until none is left, or until the
// context is cancelled and the running ones have ended. begin is told of
// each task that starts.
func schedule(ctx context.Context, cores int, ready []*task, begin func(*task)) {
	type ending struct {
		task *task
		used int
		err  error
	}
	q := queue(ready)
	heap.Init(&q)
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
		if running == 0 {
			return
		}
		e := <-over
		free, running = free+e.used, running-1
		for _, t := range e.task.next(e.err) {
			heap.Push(&q, t)
		}
	}
}
