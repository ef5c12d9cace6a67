package certify

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/combin"

	"hambench/integrators"
	"hambench/usage"
)

// batchesTaken is the number of batches of one kernel: one for most.
func batchesTaken(kernel integrators.Stepper) int {
	if e, ok := kernel.(*externalStep); ok {
		return e.sampler.Batches()
	}
	return 1
}

// forceList holds the forces of a kernel that takes several batches. No such kernel
// asks the list itself for a gradient.
type forceList []integrators.Force

// Gradient stores that of the first force in g.
func (s forceList) Gradient(g, theta []float64) { s[0].Gradient(g, theta) }

// members are the affine forces of a step.
func members(f integrators.Force) []*affineForce {
	if one, ok := f.(*affineForce); ok {
		return []*affineForce{one}
	}
	var out []*affineForce
	for _, m := range f.(forceList) {
		out = append(out, m.(*affineForce))
	}
	return out
}

// maxLists bounds the lists of batches under which a kernel is probed.
const maxLists = 4096

// lists returns all lists of a number of forces, the last one changing first.
func lists[F integrators.Force](forces []F, length int) ([]integrators.Force, error) {
	if all := math.Pow(float64(len(forces)), float64(length)); all > maxLists {
		return nil, usage.Errorf("a step takes %d of K = %d batches, in %.4g ways: want at most "+
			"%d", length, len(forces), all, maxLists)
	}
	var out []integrators.Force
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

// batches is the number K of batches.
func (e *evolution) batches() int {
	return int(math.Round(math.Pow(float64(len(e.kernels)), 1/float64(e.each))))
}

// lawsSize is the length of what an outer step keeps of a law. A kernel that takes
// several batches waits for the last of them: until then there is a law for each list
// of batches drawn so far.
func (e *evolution) lawsSize() int {
	all, lists := 0, 1
	for range e.each {
		all, lists = all+lists, lists*e.batches()
	}
	return all * e.size
}

// initialLaws returns what is kept of a law at the end of an outer step: the law under
// the empty list, and zeros.
func (e *evolution) initialLaws(law []float64) []float64 {
	out := make([]float64, e.lawsSize())
	copy(out, law)
	return out
}

// addBatchTo adds w times the laws after batch i to dst.
func (e *evolution) addBatchTo(dst []float64, w float64, src []float64, i int) {
	first, lists := 0, 1 // where the lists of one length begin, and how many there are
	for length := 1; length <= e.each; length++ {
		for list := range lists {
			at, next := (first+list)*e.size, list*e.batches()+i
			law := src[at : at+e.size]
			if length == e.each {
				e.kernels[next].addTo(dst[:e.size], w, law)
			} else {
				to := (first + lists + next) * e.size
				floats.AddScaled(dst[to:to+e.size], w, law)
			}
		}
		first, lists = first+lists, lists*e.batches()
	}
}
