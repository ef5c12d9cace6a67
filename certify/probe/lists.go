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

// ForceList holds the forces of a kernel that takes several batches. No such kernel
// asks the list itself for a gradient.
type ForceList []integrators.Force

// Gradient stores that of the first force in g.
func (s ForceList) Gradient(g, theta []float64) { s[0].Gradient(g, theta) }

// Members are the affine forces of a step, in the order in which it takes them.
func Members(f integrators.Force) []*integrators.Affine {
	if one, ok := f.(*integrators.Affine); ok {
		return []*integrators.Affine{one}
	}
	var out []*integrators.Affine
	for _, m := range f.(ForceList) {
		out = append(out, m.(*integrators.Affine))
	}
	return out
}

// MaxLists bounds the lists of batches under which a kernel is probed.
const MaxLists = 4096

// Lists returns all lists of a number of forces, the last one changing first: for length 1
// the forces themselves, else values of type ForceList. More than MaxLists are a usage error.
func Lists[F integrators.Force](forces []F, length int) ([]integrators.Force, error) {
	if all := math.Pow(float64(len(forces)), float64(length)); all > MaxLists {
		return nil, usage.Errorf("a step takes %d of K = %d batches, in %.4g ways: want at most "+
			"%d", length, len(forces), all, MaxLists)
	}
	var out []integrators.Force
	// A list of one force is that force.
	for _, list := range combin.Cartesian(slices.Repeat([]int{len(forces)}, length)) {
		var taken ForceList
		for _, i := range list {
			taken = append(taken, forces[i])
		}
		if out = append(out, taken); length == 1 {
			out[len(out)-1] = taken[0]
		}
	}
	return out, nil
}
