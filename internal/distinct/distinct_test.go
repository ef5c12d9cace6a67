package distinct

import (
	"slices"
	"testing"
)

func TestAppendKeepsTheFirstOfEach(t *testing.T) {
	var got []string
	for _, x := range []string{"b", "a", "b", "c", "a"} {
		got = Append(got, x)
	}
	if want := []string{"b", "a", "c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
