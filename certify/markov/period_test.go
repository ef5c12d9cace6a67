package markov

import (
	"context"
	"errors"
	"testing"

	"hambench/chain/minibatch"
	"hambench/usage"
)

func TestSchemesWithoutALawAreRefusedByName(t *testing.T) {
	two := minibatch.Cap{Marginal: 2, Joint: 2}
	many := func(int) []minibatch.Word { return minibatch.EquallyLikely(make([][]int, MaxWordSteps)) }
	for _, tt := range []struct {
		scheme minibatch.Scheme
		want   string
	}{
		{minibatch.Scheme{Name: "mine"}, `scheme "mine" has no fixed batches: want one of full, reshuffle, replacement, cyclic, symmetric`},
		{minibatch.Scheme{Name: "mine", Visits: minibatch.Cycle{}}, `scheme "mine" states the cap {Marginal:0 Joint:0} on the order: want numbers > 0, +Inf for none`},
		{minibatch.Scheme{Name: "mine", Visits: minibatch.Words{Length: func(int) int { return 3 }, List: many}, Cap: two}, `scheme "mine": word 0 for K = 2 has 0 batches: want 3`},
	} {
		_, err := NewPeriod(context.Background(), Evolution{Kernels: make([]Operator, 2), Each: 1, Inner: 1}, tt.scheme)
		var mistake *usage.Error
		if !errors.As(err, &mistake) || err.Error() != tt.want {
			t.Errorf("error %q, want %q", err, tt.want)
		}
	}
}

func TestListsOfBatchesAreCounted(t *testing.T) {
	e := Evolution{Kernels: make([]Operator, 8), Each: 3}
	if k := e.batches(); k != 2 {
		t.Errorf("8 lists of 3 batches are of %d batches, want 2", k)
	}
}
