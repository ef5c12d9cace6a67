package figures

import (
	"bufio"
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

// Every column of the committed CSV files is defined.
func TestColumnsOfTheResultsAreDefined(t *testing.T) {
	text := string(read(t, filepath.Join("..", "docs", "studies.md")))
	_, text, _ = strings.Cut(text, "**Columns of CSV files.**")
	text, _, _ = strings.Cut(text, "\n\n**") // which begins the next part
	defined := make(map[string]bool)
	for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(text, -1) {
		defined[m[1]] = true
	}
	of := regexp.MustCompile(`^\w+?_(mean|sd|median|min|max|paper|paper_sd|difference|difference_in_sd|half)$`)
	files, err := filepath.Glob(filepath.Join("..", "docs", "results", "*.csv"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		head := bufio.NewScanner(f)
		head.Scan()
		f.Close()
		for column := range strings.SplitSeq(head.Text(), ",") {
			m := of.FindStringSubmatch(column)
			if !defined[column] && (m == nil || !defined["V_"+m[1]]) {
				t.Errorf("%s: docs/studies.md does not say what %s is", filepath.Base(name), column)
			}
		}
	}
}
