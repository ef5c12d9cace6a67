package figures

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tables beside the paper's and the claims about them state one difference from the paper
// for each number, rounded alike.
func TestTablesAndClaimsStateOneDifference(t *testing.T) {
	results := filepath.Join("..", "docs", "results")
	claims, err := os.ReadFile(filepath.Join(results, "claims.md"))
	if err != nil {
		t.Fatal(err)
	}
	of := make(map[string]string) // by the name of the number in the claims
	entry := regexp.MustCompile(`\| (\w+, \w+, \w+) \| .* ([+-]\d+\.\d+) standard deviations`)
	for _, m := range entry.FindAllStringSubmatch(string(claims), -1) {
		of[m[1]] = m[2]
	}
	n := 0
	for table, score := range map[string]string{"regression": "rmse", "classification": "accuracy"} {
		set := ""
		for _, line := range strings.Split(string(read(t, filepath.Join(results, table+".txt"))), "\n") {
			var fields []string
			for _, f := range strings.Split(line, "|") {
				fields = append(fields, strings.TrimSuffix(strings.TrimSpace(f), " *"))
			}
			if len(fields) < 14 || fields[4] != "SHMC" && fields[4] != "SGHMC" {
				continue
			}
			if fields[1] != "" {
				set = fields[1]
			}
			for name, got := range map[string]string{score: fields[9], "mnll": fields[12]} {
				n++
				if want := of[set+", "+fields[4]+", "+name]; got != want {
					t.Errorf("%s, %s, %s: %q in the table, %q in the claims", set, fields[4], name, got, want)
				}
			}
		}
	}
	if n != 24 || len(of) != 24 {
		t.Errorf("%d numbers in tables, %d in the claims: want 24", n, len(of))
	}
}
