package sweep

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A parked task is tried again after the interval, also while other tasks keep ending.
func TestAParkedTaskIsTriedWhileOthersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, left := time.Now(), 16
		var tries []time.Duration
		var short func() *task
		short = func() *task {
			return &task{name: "short", width: 1,
				run: func(context.Context) error { time.Sleep(retryInterval / 4); return nil },
				next: func(error) []*task {
					if left--; left > 0 {
						return []*task{short()}
					}
					return nil
				}}
		}
		leased := &task{name: "leased", first: true, width: 1, cost: 1,
			run: func(context.Context) error {
				if tries = append(tries, time.Since(begun)); len(tries) == 1 {
					return errLeased
				}
				return nil
			},
			next: func(error) []*task { return nil }}
		schedule(context.Background(), 1, []*task{leased, short()}, func(*task) {})
		if len(tries) != 2 || tries[1] > 2*retryInterval {
			t.Errorf("tried at %v", tries)
		}
	})
}
