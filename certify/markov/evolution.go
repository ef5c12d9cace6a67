package markov

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// batches is the number K of batches.
func (e *Evolution) batches() int {
	return int(math.Round(math.Pow(float64(len(e.Kernels)), 1/float64(e.Each))))
}

// lawsSize is the length of what an outer step keeps of a law. A kernel that takes
// several batches waits for the last of them: until then there is a law for each list
// of batches drawn so far.
func (e *Evolution) lawsSize() int {
	all, lists := 0, 1
	for range e.Each {
		all, lists = all+lists, lists*e.batches()
	}
	return all * e.Size
}

// initialLaws returns what is kept of a law at the end of an outer step: the law under
// the empty list, and zeros.
func (e *Evolution) initialLaws(law []float64) []float64 {
	out := make([]float64, e.lawsSize())
	copy(out, law)
	return out
}

// addBatchTo adds w times the laws after batch i to dst.
func (e *Evolution) addBatchTo(dst []float64, w float64, src []float64, i int) {
	first, lists := 0, 1 // where the lists of one length begin, and how many there are
	for length := 1; length <= e.Each; length++ {
		for list := range lists {
			at, next := (first+list)*e.Size, list*e.batches()+i
			law := src[at : at+e.Size]
			// A list that is complete is a kernel's: its law is one of no batches again. Any other
			// waits, unchanged, for the next batch.
			if length == e.Each {
				e.Kernels[next].AddTo(dst[:e.Size], w, law)
			} else {
				to := (first + lists + next) * e.Size
				floats.AddScaled(dst[to:to+e.Size], w, law)
			}
		}
		first, lists = first+lists, lists*e.batches()
	}
}

// Operator applies a part of a step to a law: a linear map of a vector.
type Operator interface {
	// AddTo adds w times the image of a law to dst.
	AddTo(dst []float64, w float64, law []float64)
}

// Evolution holds the operators that advance laws along the steps of an integrator.
type Evolution struct {
	Size    int        // of a law
	Mass    int        // the element that is a law's mass, which operators keep
	Kernels []Operator // one a batch, or one for each list of batches that a kernel takes
	Each    int        // batches that a kernel takes
	Inner   int        // N_l: kernels an outer step
	Refresh Operator   // ends every outer step; nil for an integrator without
}
