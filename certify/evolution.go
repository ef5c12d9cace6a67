package certify

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

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

// operator applies a part of a step to a law: a linear map of a vector.
type operator interface {
	// addTo adds w times the image of a law to dst.
	addTo(dst []float64, w float64, law []float64)
}

// evolution holds the operators that advance laws along the steps of an integrator.
type evolution struct {
	size    int        // of a law
	mass    int        // the element that is a law's mass, which operators keep
	kernels []operator // one a batch, or one for each list of batches that a kernel takes
	each    int        // batches that a kernel takes
	inner   int        // N_l: kernels an outer step
	refresh operator   // ends every outer step; nil for an integrator without
}
