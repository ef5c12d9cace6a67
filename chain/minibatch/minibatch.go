// Package minibatch decides which rows of the data drive which step of a
// chain.
//
// A [Scheme] describes a scheme and makes its [Stream], given the number of rows
// and the number of batches K. A [Stream] hands out one [Batch] per step: usually
// a contiguous range of an arrangement of the rows, which a gradient can use
// without copying; otherwise a list of rows, perhaps repeated and with weights. A
// batch's Scale, and its weights, make its gradient unbiased. An epoch is K
// steps.
//
// Most schemes cut the rows once into K batches, whose sizes differ by at most
// one, and differ in the order in which they visit them: that is an [Index].
// Such a scheme states the law of its order, [Visits], and the highest ergodic
// order that integrators keep under it, [Cap]; package certify works out the
// stationary law from the first and holds the scheme to the second.
//
// A program adds its own scheme as a Scheme in a [Registry],
//
//	schemes := append(minibatch.Builtin(), mine)
//
// which package chain takes. The example of Scheme is one.
package minibatch

// Batch is one mini-batch: the rows [Lo, Hi) of the stream's current
// arrangement of the data, or a list of rows.
type Batch struct {
	// Index is the number of the batch in its partition, 0 … K−1; −1 for rows
	// of no partition.
	Index int
	// Lo and Hi bound the rows; such batches are contiguous, so that a
	// gradient needs no gather.
	Lo, Hi int
	// List, if not nil, has the rows of the batch instead: row numbers in the
	// data as given, in any order, perhaps repeated; at most as many as the
	// data have. Weights, nil for 1 each, multiply the rows' negative
	// log-likelihoods. Both are valid until the next batch, and the caller must
	// not change them. Only a Scheme with Lists may have them.
	List    []int
	Weights []float64
	// Scale multiplies the rows' negative log-likelihood: K for a
	// partition, N/B for B rows of a window or a list, so that the gradient is
	// unbiased.
	Scale float64
	// Rearranged says that the arrangement changed before this batch (it is
	// also true for a stream's first batch); see Stream.Arrangement.
	Rearranged bool
}

// Stream is an endless sequence of batches.
type Stream interface {
	// Next returns the batch of the next step.
	Next() Batch
	// Arrangement returns the order of the data's rows now in force: row i
	// of the arrangement is row Arrangement()[i] of the data. The caller
	// must not change it; it is valid until a batch says Rearranged.
	Arrangement() []int
}
