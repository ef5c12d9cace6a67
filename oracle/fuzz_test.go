package oracle

import (
	"bytes"
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

// FuzzDecode: bytes without the right checksum are refused.
func FuzzDecode(f *testing.F) {
	data, err := small().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(referenceMagic))
	f.Add([]byte(partMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Decode(data)
		if err != nil {
			refused(t, err)
		} else if again, err := r.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("accepted %q, which encodes as %q, error %v", data, again, err)
		}
		if _, err := decodePart(data); err != nil {
			refused(t, err)
		}
	})
}

// FuzzDecodeContents: contents with the right checksum, such as a faulty
// program may write. What is accepted has the shape that its spec and its
// numbers say, and takes no more memory than its file.
func FuzzDecodeContents(f *testing.F) {
	data, err := small().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[len(referenceMagic) : len(data)-32])
	f.Add([]byte(`{"shape":{"chains":1,"samples":1,"outputs":1,"dim":1}}` + "\n" + strings.Repeat("\x00", 20)))
	f.Add([]byte(`{"shape":{"chains":1,"samples":1,"outputs":1,"dim":1}}` + "\n" + strings.Repeat("\xff", 28)))
	f.Fuzz(func(t *testing.T, contents []byte) {
		w := writer{append([]byte(referenceMagic), contents...)}
		r, err := Decode(w.sum())
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
			if _, arrays, _ := bytes.Cut(contents, []byte("\n")); numbers != len(arrays) || len(r.Start) != len(r.Draws) || len(r.Potential) != len(r.Draws) {
				t.Fatalf("%d bytes of arrays give %d bytes of numbers", len(arrays), numbers)
			}
		}
		w = writer{append([]byte(partMagic), contents...)}
		p, err := decodePart(w.sum())
		if err != nil {
			refused(t, err)
		} else if len(p.draws) != p.Shape.Samples || len(p.end) != p.Shape.Dim || len(p.potential) != p.Shape.Samples || len(p.curvature) != p.Shape.Dim {
			t.Fatalf("a part of shape %+v has %d draws, %d positions, %d potentials, %d curvatures", p.Shape, len(p.draws), len(p.end), len(p.potential), len(p.curvature))
		}
	})
}
