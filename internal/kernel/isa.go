package kernel

import (
	"os"
	"strings"

	"hambench/usage"
)

// Set is one set of kernels: an instruction set, or plain Go.
type Set struct {
	name  string
	level level
}

// level is an instruction set.
type level int

const (
	generic level = iota
	neon
	avx2
	avx512
)

var names = [...]string{generic: "generic", neon: "neon", avx2: "avx2", avx512: "avx512"}

// Name is "avx512", "avx2", "neon" or "generic".
func (s *Set) Name() string { return s.name }

// VectorLen is the number of elements in the widest vector of a set; 1 for
// plain Go.
func VectorLen[T Float](s *Set) int {
	switch s.level {
	case avx512:
		return Lanes[T]()
	case avx2:
		return Granule[T]()
	case neon:
		return Granule[T]() / 2
	}
	return 1
}

// Sets returns the sets that this machine can run, the fastest first.
func Sets() []*Set {
	var s []*Set
	for _, l := range machineLevels() {
		s = append(s, &Set{names[l], l})
	}
	return s
}

// chosen is the set in force and what was wrong with the environment's wish.
var chosen, chosenErr = choose(os.Getenv("HAMBENCH_ISA"), Sets())

// Default returns the set in force: the fastest that the machine has, or the
// one that the environment variable HAMBENCH_ISA names.
func Default() *Set { return chosen }

// Plain returns the kernels in plain Go.
func Plain() *Set { return &Set{names[generic], generic} }

// ISA names the set in force.
func ISA() string { return chosen.name }

// Err reports a HAMBENCH_ISA that is unknown, or that this machine lacks; the
// set in force is then plain Go.
func Err() error { return chosenErr }

func choose(want string, have []*Set) (*Set, error) {
	if want == "" {
		return have[0], nil
	}
	var list []string
	for _, s := range have {
		if s.name == want {
			return s, nil
		}
		list = append(list, s.name)
	}
	plain := have[len(have)-1]
	for _, n := range names {
		if n == want {
			return plain, usage.Errorf("HAMBENCH_ISA=%s: this machine lacks it: want one of %s", want, strings.Join(list, ", "))
		}
	}
	return plain, usage.Errorf("HAMBENCH_ISA: unknown instruction set %q: want one of %s", want, strings.Join(list, ", "))
}
