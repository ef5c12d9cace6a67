package oracle

import (
	"errors"
	"strings"
	"testing"
)

// refused fails the test unless an error is one line about damage.
func refused(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, ErrCorrupt) || strings.ContainsAny(err.Error(), "\n\r") {
		t.Fatalf("error %q: want one line about damage", err)
	}
}

// FuzzDecode: any bytes, such as a faulty program may write. What is accepted
// has the shape that its numbers say, and takes no more memory than its bytes.
func FuzzDecode(f *testing.F) {
	data, err := small().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"shape":{"chains":1,"samples":1,"outputs":1,"dim":1},"arrays":"AAAAAAAAAAAAAAAAAAAAAAAAAAA="}`))
	f.Add([]byte(`{"shape":{"chains":1,"samples":1,"outputs":1,"dim":1},"arrays":"/////////////////////////////////////w=="}`))
	one := small()
	one.Draws, one.Start, one.Potential, one.curvature = one.Draws[:1], one.Start[:1], one.Potential[:1], []float64{1, 2}
	part, err := one.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(part)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			refused(t, err)
		} else {
			numbers := 0
			for c, draws := range r.Draws {
				for _, d := range draws {
					numbers += 4 * len(d)
				}
				numbers += 8 * (len(r.Start[c]) + len(r.Potential[c]))
			}
			if numbers > len(data) || len(r.Start) != len(r.Draws) || len(r.Potential) != len(r.Draws) {
				t.Fatalf("%d bytes give %d bytes of numbers", len(data), numbers)
			}
		}
	})
}
