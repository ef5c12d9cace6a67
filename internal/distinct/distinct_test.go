package distinct

import (
	"slices"
	"strings"
	"testing"
)

func TestListsKeepTheFirstOfEach(t *testing.T) {
	words := []string{"b", "a", "b", "c", "a"}
	var got []string
	for _, x := range words {
		got = Append(got, x)
	}
	if want := []string{"b", "a", "c"}; !slices.Equal(got, want) {
		t.Errorf("Append: %q, want %q", got, want)
	}
	if got, want := Of(words, strings.ToUpper), []string{"B", "A", "C"}; !slices.Equal(got, want) {
		t.Errorf("Of: %q, want %q", got, want)
	}
}
