package certify

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// Every constant of type Verdict is among the verdicts, and no other text.
func TestVerdictsAreAll(t *testing.T) {
	source, err := os.ReadFile("claims.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	for _, m := range regexp.MustCompile(`(?m)^\s+\w+ Verdict = "(.*)"$`).FindAllSubmatch(source, -1) {
		declared = append(declared, string(m[1]))
	}
	var listed []string
	for _, v := range Verdicts() {
		listed = append(listed, string(v))
	}
	slices.Sort(declared)
	slices.Sort(listed)
	if !slices.Equal(declared, listed) || len(listed) != 10 {
		t.Errorf("verdicts %q, declared %q", listed, declared)
	}
	if got := Worse(Refuted, "of a later version"); got != "of a later version" {
		t.Errorf("an unknown verdict gives way to %q", got)
	}
}
