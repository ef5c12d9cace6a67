package table

import (
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	var b strings.Builder
	err := Write(&b, []string{"N_l", "order η"}, [][]string{{"1", "2.0"}, {"a long cell that must not be wrapped at all, whatever its length may be", ""}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", b.String())
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 6 {
		t.Errorf("got %d lines, want a header and two rows between three rules", len(lines))
	}
	for _, want := range []string{"N_l", "order η", "whatever its length may be", "| 1 "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("table lacks %q", want)
		}
	}
	for _, l := range lines {
		for _, r := range l {
			if r > 127 && r != 'η' {
				t.Errorf("rule character %q is not ASCII", r)
			}
		}
	}
}
