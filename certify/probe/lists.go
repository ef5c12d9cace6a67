package probe

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"

	"hambench/integrators"
	"hambench/usage"
)

// BatchesTaken is the number of batches of one kernel: one for most.
func BatchesTaken(kernel integrators.Stepper) int {
	if e, ok := kernel.(remote); ok {
		return e.Taken()
	}
	return 1
}

// forceList holds the forces of a kernel that takes several batches. No such kernel
// asks the list itself for a gradient.
type forceList []integrators.Force

// Gradient stores that of the first force in g.
func (s forceList) Gradient(g, theta []float64) { s[0].Gradient(g, theta) }

// Forces are those of a step, in the order in which it takes them; most steps take one.
func Forces(f integrators.Force) []integrators.Force {
	if list, ok := f.(forceList); ok {
		return list
	}
	return []integrators.Force{f}
}

// Members are the forces of a step, which are affine.
func Members(f integrators.Force) (out []*integrators.Affine) {
	for _, m := range Forces(f) {
		out = append(out, m.(*integrators.Affine))
	}
	return out
}

// MaxLists bounds the lists of batches under which a kernel is probed.
const MaxLists = 4096

// Lists returns all lists of a number of forces, the last one changing first: for length 1
// the forces themselves, else a force for each list, of which Forces returns it. More than
// MaxLists are a usage error.
func Lists[F integrators.Force](forces []F, length int) ([]integrators.Force, error) {
	if all := math.Pow(float64(len(forces)), float64(length)); all > MaxLists {
		return nil, usage.Errorf("a step takes %d of K = %d batches, in %.4g ways: want at most "+
			"%d", length, len(forces), all, MaxLists)
	}
	var out []integrators.Force
	// A list of one force is that force.
	for _, list := range combin.Cartesian(slices.Repeat([]int{len(forces)}, length)) {
		var taken forceList
		for _, i := range list {
			taken = append(taken, forces[i])
		}
		if out = append(out, taken); length == 1 {
			out[len(out)-1] = taken[0]
		}
	}
	return out, nil
}
