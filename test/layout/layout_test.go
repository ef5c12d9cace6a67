// Package layout holds the imports of the module to docs/architecture.md, and documents to
// each other.
package layout

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// everybody's rooms: all packages may import them.
var shared = []string{"integrators/noise", "usage"}

// allowed reads the table of imports in the document, by room.
func allowed(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "```imports\n")
	table, _, closed := strings.Cut(table, "```")
	if !ok || !closed {
		t.Fatal("docs/architecture.md has no table of imports")
	}
	rules := make(map[string][]string)
	for line := range strings.Lines(table) {
		room, imports, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("line %q of the table: want room : imports", line)
		}
		rules[strings.TrimSpace(room)] = strings.Fields(imports)
	}
	return rules
}

// wrong returns the imports that the table does not list, and the rooms that it
// lists without an import of them.
func wrong(imports, listed []string) (unlisted, unused []string) {
	unlisted = slices.DeleteFunc(slices.Clone(imports), func(i string) bool {
		return strings.HasPrefix(i, "internal/") || slices.Contains(shared, i) ||
			slices.Contains(listed, i)
	})
	unused = slices.DeleteFunc(slices.Clone(listed), func(i string) bool {
		return slices.Contains(imports, i)
	})
	return unlisted, unused
}

func TestImportsRunOneWay(t *testing.T) {
	rules := allowed(t)
	out, err := exec.Command("go", "list", "-f", `{{.Module.Path}} {{.ImportPath}} {{join .Imports " "}}`, "../../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		room := strings.TrimPrefix(f[1], f[0]+"/")
		var ours []string
		for _, i := range f[2:] {
			if r, ok := strings.CutPrefix(i, f[0]+"/"); ok {
				ours = append(ours, r)
			}
		}
		switch top, _, _ := strings.Cut(room, "/"); {
		case top == "cmd" || top == "test" || room == "bench/peers" || room == f[1]:
			continue
		case top == "internal" || slices.Contains(shared, room):
			if bad, _ := wrong(ours, nil); len(bad) > 0 {
				t.Errorf("%s imports %v: machine-level code knows no room", room, bad)
			}
			continue
		}
		rule, ok := rules[room]
		if !ok {
			t.Errorf("room %s is not in docs/architecture.md", room)
			continue
		}
		seen++
		unlisted, unused := wrong(ours, rule)
		if len(unlisted) > 0 {
			t.Errorf("%s imports %v, which docs/architecture.md does not list", room, unlisted)
		}
		if len(unused) > 0 {
			t.Errorf("%s imports no %v, which docs/architecture.md lists", room, unused)
		}
	}
	if seen != len(rules) {
		t.Errorf("%d rooms of the %d in docs/architecture.md are there", seen, len(rules))
	}
}

// The rules themselves have no cycle: a room's imports come before it.
func TestTheTableHasNoCycle(t *testing.T) {
	rules := allowed(t)
	var visit func(room string, path []string)
	visit = func(room string, path []string) {
		if slices.Contains(path, room) {
			t.Fatalf("cycle: %v → %s", path, room)
		}
		for _, i := range rules[room] {
			visit(i, append(slices.Clone(path), room))
		}
	}
	for room := range rules {
		visit(room, nil)
	}
}

// Negative control: an import that the table lacks, and one that it invents, are seen.
func TestAnImportAgainstTheTableIsSeen(t *testing.T) {
	imports := []string{"datasets", "sweep", "internal/mlp"}
	unlisted, unused := wrong(imports, []string{"datasets", "chain"})
	if !slices.Equal(unlisted, []string{"sweep"}) || !slices.Equal(unused, []string{"chain"}) {
		t.Errorf("found %v and %v, want sweep and chain", unlisted, unused)
	}
}

// Every folder of the top level is in the README's table.
func TestTheReadmeNamesEveryFolder(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	out := listed(t, "-d", "--name-only")
	for folder := range strings.FieldsSeq(out) {
		if folder[0] != '.' && !strings.Contains(string(readme), "`"+folder+"/") {
			t.Errorf("%s is not in the README's table", folder)
		}
	}
}

// listed is what git says of the files of the last commit. It skips the test where git does not know
// these files, as in an archive inside another repository.
func listed(t *testing.T, options ...string) string {
	t.Helper()
	if exec.Command("git", "ls-files", "--error-unmatch", "../../go.mod").Run() != nil {
		t.Skip("not a checkout")
	}
	out, err := exec.Command("git", append(append([]string{"ls-tree", "--full-tree"}, options...), "HEAD")...).Output()
	if err != nil {
		t.Skip("nothing is committed yet")
	}
	return string(out)
}

// Nothing is committed that is built: the largest files are the page and the store of results.
func TestNoFileIsLarge(t *testing.T) {
	out := listed(t, "-r", "--format=%(objectsize) %(path)")
	for line := range strings.Lines(out) {
		size, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(size); err != nil || n > 5_000_000 {
			t.Errorf("%s has %s bytes: want at most 5 MB", path, size)
		}
	}
}

// The changelog's newest version is the one that is cited, and the Python package's.
func TestOneVersion(t *testing.T) {
	var want string
	for _, c := range []struct{ file, pattern string }{
		{"CHANGELOG.md", `(?m)^## (\S+?),? `},
		{"CITATION.cff", `(?m)^version: "(.*)"$`},
		{"bench/sweep/version.go", `(?m)^const Version = "(.*)"$`},
		{"python/hambench/__init__.py", `(?m)^__version__ = "(.*)"$`},
	} {
		text, err := os.ReadFile("../../" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(c.pattern).FindSubmatch(text)
		if found == nil {
			t.Fatalf("%s states no version", c.file)
		}
		if want = cmp.Or(want, string(found[1])); string(found[1]) != want {
			t.Errorf("%s is of version %s, the changelog's newest is %s", c.file, found[1], want)
		}
	}
}

// The Containerfile installs every package of Debian that a target of the Makefile asks for.
func TestContainerfileHasWhatTargetsNeed(t *testing.T) {
	var texts [2]string
	for i, name := range []string{"Makefile", "Containerfile"} {
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	installed := strings.Fields(texts[1])
	needs := regexp.MustCompile(`needs Debian's ([\w-]+)`).FindAllStringSubmatch(texts[0], -1)
	for _, need := range append(needs, []string{"", "slurm-wlm"}, []string{"", "chromium"}) {
		if !slices.Contains(installed, need[1]) {
			t.Errorf("a target needs %s, which the Containerfile does not install", need[1])
		}
	}
	if len(needs) == 0 {
		t.Error("no target needs a package")
	}
}

// What documents ask go test to run is there: packages, and tests or benchmarks in them.
func TestDocumentsNameTestsThatThereAre(t *testing.T) {
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	docs = append(docs, "../../README.md", "../../CONTRIBUTING.md", "../../testdata/README.md")
	command := regexp.MustCompile(`go test ([^\x60\n>]*)`)
	named, seen := regexp.MustCompile(`-(run|bench) (\w+)`), 0
	for _, doc := range docs {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			var tests []byte
			for _, folder := range regexp.MustCompile(`\./\S+`).FindAllString(m[1], -1) {
				seen++
				files, err := filepath.Glob("../../" + folder + "/*_test.go")
				if err != nil || len(files) == 0 {
					t.Errorf("%s: go test %s: no tests in %s", doc, m[1], folder)
				}
				for _, file := range files {
					of, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					tests = append(tests, of...)
				}
			}
			for _, n := range named.FindAllStringSubmatch(m[1], -1) {
				name := regexp.MustCompile(`func \w*` + n[2])
				if n[2] != "xxx" && !name.Match(tests) {
					t.Errorf("%s: go test %s: nothing is called %s", doc, m[1], n[2])
				}
			}
		}
	}
	if seen == 0 {
		t.Error("documents ask for no test")
	}
}
