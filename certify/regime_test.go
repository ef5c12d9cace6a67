package certify

import (
	"strings"
	"testing"

	"hambench/chain/minibatch"
)

// A problem of ω = 2 and C = 1 with two batches: Kηω = 4h.
func TestRegimesOfAProblem(t *testing.T) {
	p, err := ParseProblem("own", []byte(`{"kind":"gaussian","friction":1,"batches":[{"precision":[[3]],"shift":[0]},{"precision":[[5]],"shift":[0]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	p.Name = "own"
	for _, c := range []struct {
		steps []float64
		names []string
		want  string
	}{
		{[]float64{1, 0.5, 0.05, 0.01}, []string{"reshuffle", "symmetric", "replacement", "full"},
			"regime of mini-batch error, own, Kηω = 0.04 to 4, C/ω = 0.5: reshuffle, symmetric: orders up to h = 0.05, between up to h = 0.5, heat up to h = 1; replacement: heat up to h = 1."},
		{nil, []string{"cyclic"}, "regime of mini-batch error, own, Kηω = 0.01 to 0.16, C/ω = 0.5: cyclic: orders up to h = 0.04."},
		{nil, []string{"full"}, ""},
	} {
		var schemes []minibatch.Scheme
		for _, name := range c.names {
			s, err := minibatch.Builtin().Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			schemes = append(schemes, s)
		}
		var b strings.Builder
		if err := WriteRegimes(&b, Options{Problem: p, Steps: c.steps, Schemes: schemes}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(b.String()), " "); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
