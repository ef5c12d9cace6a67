// Package mutate damages files as disks, editors, networks and careless
// hands do. It serves tests of readers.
package mutate

import (
	"bytes"
	"math/rand/v2"
)

// kinds are the ways to damage a file of at least one byte. Each returns a
// new slice and may, by chance, return the old bytes.
var kinds = []struct {
	name  string
	apply func(rng *rand.Rand, data []byte) []byte
}{
	{"flipped bits", func(rng *rand.Rand, d []byte) []byte {
		d = bytes.Clone(d)
		for range 1 + rng.IntN(4) {
			d[rng.IntN(len(d))] ^= 1 << rng.IntN(8)
		}
		return d
	}},
	{"another byte", func(rng *rand.Rand, d []byte) []byte {
		d = bytes.Clone(d)
		d[rng.IntN(len(d))] = spice[rng.IntN(len(spice))]
		return d
	}},
	{"truncated", func(rng *rand.Rand, d []byte) []byte { return bytes.Clone(d[:rng.IntN(len(d))]) }},
	{"beginning lost", func(rng *rand.Rand, d []byte) []byte { return bytes.Clone(d[1+rng.IntN(len(d)):]) }},
	{"bytes inserted", func(rng *rand.Rand, d []byte) []byte {
		more := make([]byte, 1+rng.IntN(8))
		for i := range more {
			more[i] = spice[rng.IntN(len(spice))]
		}
		at := rng.IntN(len(d) + 1)
		return splice(d[:at], more, d[at:])
	}},
	{"bytes removed", func(rng *rand.Rand, d []byte) []byte {
		from, to := block(rng, len(d), 16)
		return splice(d[:from], d[to:])
	}},
	{"block zeroed", func(rng *rand.Rand, d []byte) []byte {
		d = bytes.Clone(d)
		from, to := block(rng, len(d), 512)
		clear(d[from:to])
		return d
	}},
	{"block repeated", func(rng *rand.Rand, d []byte) []byte {
		from, to := block(rng, len(d), 512)
		return splice(d[:to], d[from:to], d[to:])
	}},
	{"CRLF", func(_ *rand.Rand, d []byte) []byte { return bytes.ReplaceAll(d, []byte("\n"), []byte("\r\n")) }},
	{"line repeated", func(rng *rand.Rand, d []byte) []byte {
		l := bytes.SplitAfter(d, []byte("\n"))
		i := rng.IntN(len(l))
		return splice(bytes.Join(l[:i+1], nil), bytes.Join(l[i:], nil))
	}},
	{"line removed", func(rng *rand.Rand, d []byte) []byte {
		l := bytes.SplitAfter(d, []byte("\n"))
		i := rng.IntN(len(l))
		return splice(bytes.Join(l[:i], nil), bytes.Join(l[i+1:], nil))
	}},
	{"lines swapped", func(rng *rand.Rand, d []byte) []byte {
		l := bytes.SplitAfter(d, []byte("\n"))
		i, j := rng.IntN(len(l)), rng.IntN(len(l))
		l[i], l[j] = l[j], l[i]
		return bytes.Join(l, nil)
	}},
	{"lines joined", func(rng *rand.Rand, d []byte) []byte {
		l := bytes.SplitAfter(d, []byte("\n"))
		i := rng.IntN(len(l))
		l[i] = bytes.TrimSuffix(l[i], []byte("\n"))
		return bytes.Join(l, nil)
	}},
	{"fields swapped", func(rng *rand.Rand, d []byte) []byte {
		f := bytes.SplitAfter(d, []byte{separators[rng.IntN(len(separators))]})
		i, j := rng.IntN(len(f)), rng.IntN(len(f))
		f[i], f[j] = f[j], f[i]
		return bytes.Join(f, nil)
	}},
}

// spice are bytes that mean something to some parser, and some that do not.
const (
	spice      = "0123456789-+.eE \t\r\n,;:\"'{}[]()\\/#xXnNaAiIfF\x00\x1a\x7f\x80\xc3\xfe\xff"
	separators = " ,:"
)

// block draws a range of at most limit bytes, and at least one, of n.
func block(rng *rand.Rand, n, limit int) (from, to int) {
	from = rng.IntN(n)
	return from, min(n, from+1+rng.IntN(limit))
}

func splice(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// File returns a damaged copy of data, which must not be empty, and what was
// done to it. By chance the copy may be equal to data.
func File(rng *rand.Rand, data []byte) (mutant []byte, how string) {
	k := kinds[rng.IntN(len(kinds))]
	return k.apply(rng, data), k.name
}
