package kernel

import "time"

// Peak measures the multiply-adds per nanosecond that one core does in
// registers with a set's vectors of T: the yardstick of the benchmarks. It
// takes 0.2 to 0.4 ms, and is 0 for plain Go. It is the mean of that time, as
// the work beside it is measured: the best moment would hold the work to a pace
// that the machine, shared with others, does not keep.
func Peak[T Float](s *Set) float64 {
	const turns = 100_000
	if s.level == generic {
		return 0
	}
	start := time.Now()
	n := multiplyAdds[T](s.level, turns)
	return float64(n) / float64(time.Since(start).Nanoseconds())
}
