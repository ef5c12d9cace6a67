package table

import (
	"errors"
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

// Tables fit where they can: long columns are wrapped first, then minor ones are
// left out, then the rest is wrapped. No word is lost.
func TestFit(t *testing.T) {
	header := []string{"where", "number", "of least weight", "of little weight"}
	rows := [][]string{
		{"experiment=methods dataset=boston integrator=leapfrog friction=5 scheme=reshuffle", "0.123 ± 0.04", "a few words", "some more words"},
		{"short", "1", "2", "3"},
	}
	for _, c := range []struct {
		width int
		left  string
	}{{0, ""}, {200, ""}, {100, ""}, {80, ""}, {70, "of least weight"}, {40, "of least weight, of little weight"}} {
		var b strings.Builder
		left, err := Fit(&b, c.width, []int{0, 0, 2, 1}, header, rows)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(left, ", "); got != c.left {
			t.Errorf("%d columns: left out %q, want %q", c.width, got, c.left)
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if n := len([]rune(line)); c.width > 0 && n > c.width {
				t.Errorf("a line of %d characters on %d columns:\n%s", n, c.width, b.String())
			}
		}
		for _, word := range strings.Fields(rows[0][0] + " " + rows[0][1]) {
			if !strings.Contains(b.String(), word) {
				t.Errorf("%d columns: %q is lost", c.width, word)
			}
		}
		if c.width == 70 {
			t.Logf("\n%s", b.String())
		}
	}
}

// narrow is a writer that knows its width.
type narrow struct{ strings.Builder }

func (*narrow) Width() int { return 40 }

func TestWriteFitsAWriterWithAWidth(t *testing.T) {
	var b narrow
	header, row := []string{"n", "text", "minor"}, []string{"1", "a long cell that must be wrapped, whatever its length may be", "unbreakable-word"}
	if err := Write(&b, header, [][]string{row}, 0, 0, 1); err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(b.String(), "\n", " "); !strings.Contains(got, "want of room: minor;") {
		t.Errorf("a column is left out without a word:\n%s", b.String())
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if len(line) > 40 {
			t.Errorf("a line of %d characters on 40 columns:\n%s", len(line), b.String())
		}
	}
}

// What cannot be wrapped is cut, and no character is lost.
func TestLongWordsAreCutWhereNothingElseHelps(t *testing.T) {
	address := "https://example.org/" + strings.Repeat("0123456789", 9)
	var b narrow
	if err := errors.Join(Write(&b, []string{"n", "address", "name"}, [][]string{{"1", address, "a-name-that-is-one-word"}}), Note(&b, "a note that is longer than forty characters")); err != nil {
		t.Fatal(err)
	}
	var found strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		if len(line) > 40 {
			t.Errorf("a line of %d characters on 40 columns:\n%s", len(line), b.String())
		}
		if cells := strings.Split(line, "|"); len(cells) == 5 && !strings.Contains(line, "address") {
			found.WriteString(strings.TrimSpace(cells[2]))
		}
	}
	if found.String() != address {
		t.Errorf("of the address there is %s:\n%s", found.String(), b.String())
	}
}

func TestWidth(t *testing.T) {
	for columns, want := range map[string]int{"80": 80, "": 100, "wide": 100, "0": 100, "-3": 100} {
		t.Setenv("COLUMNS", columns)
		if got := Width(); got != want {
			t.Errorf("COLUMNS=%q: width %d, want %d", columns, got, want)
		}
	}
}

func TestWrapBreaksAtSpaces(t *testing.T) {
	if got := Wrap("one two  three", 7); got != "one two\nthree" {
		t.Errorf("got %q", got)
	}
	if got := Wrap("one  two", 0); got != "one  two" {
		t.Errorf("any width: got %q", got)
	}
}
