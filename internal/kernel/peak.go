package kernel

import "time"

// Peak measures the multiply-adds per nanosecond that one core does in
// registers with a set's vectors of T: the yardstick of the benchmarks. It
// takes some 5 ms, keeps the best of several runs, and is 0 for plain Go.
func Peak[T Float](s *Set) float64 {
	const repetitions, turns = 10, 10000
	if s.level == generic {
		return 0
	}
	best := 0.0
	for range repetitions {
		start := time.Now()
		n := multiplyAdds[T](s.level, turns)
		best = max(best, float64(n)/float64(time.Since(start).Nanoseconds()))
	}
	return best
}
