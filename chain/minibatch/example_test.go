package minibatch_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"hambench/chain/minibatch"
)

// Reshuffling goes through each of the K batches once an epoch, in a fresh
// order.
func Example() {
	scheme, err := minibatch.Builtin().Lookup("reshuffle")
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, k := 10, 3
	stream, err := scheme.New(rows, k, rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		fmt.Println(err)
		return
	}
	for epoch := range 2 {
		var seen []int
		for range k {
			b := stream.Next()
			fmt.Printf("batch %d: %d rows, scale %v\n", b.Index, b.Hi-b.Lo, b.Scale)
			seen = append(seen, stream.Arrangement()[b.Lo:b.Hi]...)
		}
		slices.Sort(seen)
		fmt.Println("epoch", epoch, "saw", seen)
	}
	// Output:
	// batch 2: 4 rows, scale 3
	// batch 1: 3 rows, scale 3
	// batch 0: 3 rows, scale 3
	// epoch 0 saw [0 1 2 3 4 5 6 7 8 9]
	// batch 1: 3 rows, scale 3
	// batch 0: 3 rows, scale 3
	// batch 2: 4 rows, scale 3
	// epoch 1 saw [0 1 2 3 4 5 6 7 8 9]
}

// there goes through the batches 0 … K−1, or back again, as a coin falls.
type there struct {
	k, at int
	back  bool
	rng   *rand.Rand
}

func (s *there) Next() int {
	if s.at == 0 {
		s.back = s.rng.IntN(2) == 1
	}
	i := s.at
	s.at = (s.at + 1) % s.k
	if s.back {
		return s.k - 1 - i
	}
	return i
}

// thereWords are its two words: 0 … K−1 and the reverse.
func thereWords(k int) []minibatch.Word {
	up := make([]int, k)
	for i := range up {
		up[i] = i
	}
	down := slices.Clone(up)
	slices.Reverse(down)
	return minibatch.EquallyLikely([][]int{up, down})
}

// A scheme of one's own over a fixed partition: how it draws, which words of
// batches that makes, and the order that it is claimed to keep. So package
// certify can hold it to the claim.
func ExampleScheme() {
	scheme := minibatch.Scheme{
		Name:   "there-or-back",
		About:  "one order forwards or backwards, by a coin",
		Visits: minibatch.Words{Length: func(k int) int { return k }, List: thereWords},
		Cap:    minibatch.Cap{Marginal: 2, Joint: 2},
		Index:  func(k int, rng *rand.Rand) minibatch.Index { return &there{k: k, rng: rng} },
	}
	schemes := append(minibatch.Builtin(), scheme)
	mine, err := schemes.Lookup("there-or-back")
	if err != nil {
		fmt.Println(err)
		return
	}
	index := mine.Index(4, rand.New(rand.NewPCG(2, 0)))
	for range 3 * mine.Visits.Period(4) {
		fmt.Print(index.Next(), " ")
	}
	fmt.Println()
	// Output: 3 2 1 0 0 1 2 3 0 1 2 3
}
