package probe

import (
	"testing"

	"hambench/integrators"
)

func TestListsOfForces(t *testing.T) {
	forces := []*integrators.Affine{integrators.NewAffine([]float64{1}, []float64{0}), integrators.NewAffine([]float64{2}, []float64{0})}
	all, err := Lists(forces, 3)
	if err != nil || len(all) != 8 {
		t.Fatalf("%d lists, error %v", len(all), err)
	}
	if m := Members(all[3]); m[0] != forces[0] || m[1] != forces[1] || m[2] != forces[1] {
		t.Errorf("list 3 is %v: want 0, 1, 1", m)
	}
	if _, err := Lists(forces, 13); err == nil {
		t.Errorf("2^13 lists were made")
	}
}
