package ranks

import (
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
