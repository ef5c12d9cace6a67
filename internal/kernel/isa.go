package kernel

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"hambench/usage"
)

// Set is one set of kernels: an instruction set, or plain Go.
type Set int

// The sets; they are the indices of names.
const (
	generic Set = iota // plain Go
	neon
	avx2
	avx512
)

var names = [...]string{generic: "generic", neon: "neon", avx2: "avx2", avx512: "avx512"}

// Name is "avx512", "avx2", "neon" or "generic".
func (s Set) Name() string { return names[s] }

// VectorLen is the number of elements in the widest vector of a set; 1 for
// plain Go.
func VectorLen[T Float](s Set) int {
	bytes := [...]int{generic: 0, neon: 16, avx2: 32, avx512: 64}[s]
	return max(1, bytes/size[T]())
}

// chosen is the set in force, and chosenErr what was wrong with HAMBENCH_ISA.
var chosen, chosenErr = choose(os.Getenv("HAMBENCH_ISA"), Sets())

// Default returns the set in force: the fastest that the machine has, or the
// one that the environment variable HAMBENCH_ISA names.
func Default() Set { return chosen }

// Plain returns the kernels in plain Go.
func Plain() Set { return generic }

// ISA names the set in force.
func ISA() string { return chosen.Name() }

// Err reports a HAMBENCH_ISA that is unknown, or that this machine lacks; the
// set in force is then plain Go.
func Err() error { return chosenErr }

// choose returns the set with a name, and without a name the first. A name that is
// unknown or not in the list is a usage error, with the last set.
func choose(want string, have []Set) (Set, error) {
	if want == "" {
		return have[0], nil
	}
	var list []string
	for _, s := range have {
		if s.Name() == want {
			return s, nil
		}
		list = append(list, s.Name())
	}
	what := fmt.Sprintf(": unknown instruction set %q", want)
	if slices.Contains(names[:], want) {
		what = fmt.Sprintf("=%s: this machine lacks it", want)
	}
	// The last set is plain Go, which runs everywhere.
	return have[len(have)-1], usage.Errorf("HAMBENCH_ISA%s: want one of %s",
		what, strings.Join(list, ", "))
}
