package mutate

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Every kind of damage occurs, leaves its input alone, and is damage in most
// cases: fields of a line without a separator cannot be swapped.
func TestFile(t *testing.T) {
	data := []byte("1.5 2,x\n{\"a\": [1, 2]}\n\nlast 3\n")
	whole := bytes.Clone(data)
	rng := rand.New(rand.NewPCG(1, 1))
	changed, drawn := map[string]int{}, map[string]int{}
	for range 3000 {
		m, how := File(rng, data)
		drawn[how]++
		if !bytes.Equal(m, whole) {
			changed[how]++
		}
		if !bytes.Equal(data, whole) {
			t.Fatalf("%s: the input was changed", how)
		}
	}
	for _, k := range kinds {
		if 2*changed[k.name] < drawn[k.name] || drawn[k.name] == 0 {
			t.Errorf("%s: %d of %d copies differ, want most", k.name, changed[k.name], drawn[k.name])
		}
	}
	for range 1000 {
		File(rng, []byte{'x'}) // the shortest file
	}
}
