// Package noise holds the random streams of a chain. New makes a Stream, which
// is the Noise that integrators take.
//
// A stream is named by a key (of the cell that runs) and a stream number, and is
// counter-based: its values depend on nothing but these, so neither the order of
// cells, nor the number of workers, nor a restart changes them.
package noise

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"hambench/internal/kernel"
)

// The streams of a cell.
const (
	StreamNoise   uint32 = iota + 1 // the integrator's normals
	StreamBatches                   // the choice of mini-batches
	StreamStart                     // where the chain starts
	StreamData                      // reserved for synthetic data
	StreamTargets                   // targets drawn from the likelihood at a chain's draws
)

// discrete marks the counters of Rand; stream numbers stay below it.
const discrete = 1 << 31

// Stream is an endless sequence of independent standard-normal vectors. It
// implements integrators.Noise. A Stream serves one goroutine.
type Stream struct {
	noise  *kernel.Noise
	key    uint64
	stream uint32
}

// New returns the stream with the given number of a key. It panics if the number is not
// below 2³¹.
func New(key uint64, stream uint32) *Stream {
	if stream >= discrete {
		panic(fmt.Sprintf("noise: stream %d: want less than 2^31", stream))
	}
	return &Stream{noise: kernel.NewNoise(key, stream), key: key, stream: stream}
}

// KeyOf returns the key that a hexadecimal digest stands for: its first 16
// digits. It panics if they are not hexadecimal.
func KeyOf(digest string) uint64 {
	if len(digest) < 16 {
		panic(fmt.Sprintf("noise: key %q: want at least 16 hexadecimal digits", digest))
	}
	k, err := strconv.ParseUint(digest[:16], 16, 64)
	if err != nil {
		panic(fmt.Sprintf("noise: key %q: want hexadecimal digits", digest))
	}
	return k
}

// Normal fills dst with the next vector.
func (s *Stream) Normal(dst []float64) { s.noise.Normal(dst) }

// Update carries out u with the next vector as ξ.
func (s *Stream) Update(u *kernel.Update) { s.noise.Update(u) }

// Rand returns a generator for discrete choices, at its start. It shares no
// random bits with the stream's vectors.
func (s *Stream) Rand() *rand.Rand {
	key := [2]uint32{uint32(s.key), uint32(s.key >> 32)}
	return rand.New(&source{key: key, stream: s.stream | discrete})
}

// Normals returns n independent standard normals that a generator draws.
func Normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// source is a math/rand/v2 source on Philox: two values a block.
type source struct {
	key    [2]uint32
	stream uint32
	next   uint64 // number of the next value
	block  [4]uint32
}

// Uint64 returns the next value: the first or the last two of a block's four words. Blocks are
// counted in the first two words of Philox's counter; the stream is its last.
func (s *source) Uint64() uint64 {
	w := 2 * (s.next & 1)
	if w == 0 {
		b := s.next / 2
		s.block = kernel.Philox([4]uint32{uint32(b), uint32(b >> 32), 0, s.stream}, s.key)
	}
	s.next++
	return uint64(s.block[w]) | uint64(s.block[w+1])<<32
}
