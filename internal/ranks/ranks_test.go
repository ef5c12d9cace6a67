package ranks

import (
	"math"
	"slices"
	"testing"
)

// Equal values share a rank, and stay in the order in which they came.
func TestMiddle(t *testing.T) {
	middle, order := Middle([]float64{3, 1, 3, 2, 3})
	if want := []float64{3.5, 0.5, 3.5, 1.5, 3.5}; !slices.Equal(middle, want) {
		t.Errorf("middle ranks %v, want %v", middle, want)
	}
	if want := []int{1, 3, 0, 2, 4}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

// Chains that ran away may hold NaN: each is below all numbers and has a rank of its own.
func TestMiddleOfNaN(t *testing.T) {
	middle, order := Middle([]float64{1, math.NaN(), math.Inf(1), math.NaN(), 1})
	if want := []float64{3, 0.5, 4.5, 1.5, 3}; !slices.Equal(middle, want) {
		t.Errorf("middle ranks %v, want %v", middle, want)
	}
	if want := []int{1, 3, 0, 4, 2}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}
