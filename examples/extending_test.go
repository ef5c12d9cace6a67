// Package examples holds docs/extending.md to the programs that it shows.
package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// link is a link to a program of this module.
var link = regexp.MustCompile(`\]\(\.\./examples/([a-z]+/main\.go)\)`)

// Every excerpt stands, line by line, in the program that was linked last
// before it; every program is linked.
func TestTheDocumentShowsThePrograms(t *testing.T) {
	doc, err := os.ReadFile("../docs/extending.md")
	if err != nil {
		t.Fatal(err)
	}
	linked, program := make(map[string]bool), ""
	for rest := string(doc); ; {
		prose, after, found := strings.Cut(rest, "```go\n")
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			program = m[1]
			linked[program] = true
		}
		if !found {
			break
		}
		excerpt, end, closed := strings.Cut(after, "```")
		source, err := os.ReadFile(program)
		if err != nil || !closed {
			t.Fatalf("excerpt of %q: %v", program, err)
		}
		if !strings.Contains(string(source), "\n"+excerpt) {
			t.Errorf("%s has no such lines:\n%s", program, excerpt)
		}
		rest = end
	}
	programs, err := filepath.Glob("*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if !linked[filepath.ToSlash(p)] {
			t.Errorf("docs/extending.md does not show %s", p)
		}
	}
}
