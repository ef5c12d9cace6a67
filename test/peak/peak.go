// Package peak measures what a core does at most: the yardstick of the
// benchmarks.
package peak

import (
	"time"

	"hambench/internal/kernel"
)

// Of measures the multiply-adds per nanosecond that one core does in
// registers with a set's vectors of T. It takes 0.2 to 0.4 ms, and is 0 for
// plain Go. It is the mean of that time, as the work beside it is measured: the
// best moment would hold the work to a pace that the machine, shared with
// others, does not keep.
func Of[T kernel.Float](s kernel.Set) float64 {
	const turns = 100_000
	if s.Name() == "generic" {
		return 0
	}
	start := time.Now()
	n := multiplyAdds[T](s.Name(), turns)
	return float64(n) / float64(time.Since(start).Nanoseconds())
}
