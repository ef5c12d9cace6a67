package table

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// terminal is a writer that shows colours, or not, of a width.
type terminal struct {
	strings.Builder
	colours bool
}

func (t *terminal) Colours() bool { return t.colours }
func (t *terminal) Width() int    { return 60 }

func TestVerdictsAreColouredAndTablesAsWideAsWithout(t *testing.T) {
	header := []string{"scheme", "note", "verdict"}
	rows := [][]string{
		{"exact", "confirmed is a word of the text here", "confirmed"}, {"leapfrog", "a long text that has to be wrapped in so narrow a table", "refuted"},
		{"rk2", "", "inconclusive (20 sampled orders)"}, {"mt3", "", "unstable (radius 2)"}, {"ubu", "", "not decided"}, {"unstabled", "refutedly", ""},
	}
	coloured, plain := &terminal{colours: true}, &terminal{}
	for _, w := range []*terminal{coloured, plain} {
		if err := Write(w, header, rows); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("\n%s", coloured)
	escape := regexp.MustCompile("\x1b\\[[0-9]*m")
	if got := escape.ReplaceAllString(coloured.String(), ""); got != plain.String() || strings.Contains(plain.String(), "\x1b") {
		t.Errorf("beside colours the tables differ:\n%s\n%s", got, plain)
	}
	for word, code := range map[string]string{"refuted": "31", "inconclusive": "33", "unstable": "31", "not decided": "33"} {
		if want := "| \x1b[" + code + "m" + word + "\x1b[0m"; strings.Count(coloured.String(), want) != 1 {
			t.Errorf("%s: want %q once", word, want)
		}
	}
	if n := strings.Count(coloured.String(), "\x1b[32mconfirmed\x1b[0m"); n != 2 {
		t.Errorf("confirmed is green %d times: want the verdict, and the note that begins with it", n)
	}
}

func TestColoursOnlyWhereTheyAreWanted(t *testing.T) {
	device, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, as terminals are
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		reason, term, noColor string
		file                  *os.File
		want                  bool
	}{
		{"a terminal", "xterm", "", device, true},
		{"NO_COLOR is set", "xterm", "1", device, false},
		{"a dumb terminal", "dumb", "", device, false},
		{"an unknown terminal", "", "", device, false},
		{"a file", "xterm", "", file, false},
	} {
		t.Setenv("TERM", c.term)
		t.Setenv("NO_COLOR", c.noColor)
		if got := Colours(c.file); got != c.want {
			t.Errorf("%s: %v", c.reason, got)
		}
	}
}
