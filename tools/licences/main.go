// Command licences writes docs/licences.md: the modules that the program is
// built of, and those of its tests and tools, each with its licence as found
// in the module's own files. A module without a licence, or with one that is
// not among those accepted, is an error.
//
// With -check it writes nothing and fails if the file is not up to date.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// page is the file that this command keeps, relative to the repository.
const page = "docs/licences.md"

// accepted are the licences that ask for no more than notices.
var accepted = map[string]bool{
	"Apache-2.0": true, "BSD-2-Clause": true, "BSD-3-Clause": true, "BSL-1.0": true, "CC-BY-4.0": true,
	"FTL": true, "ISC": true, "MIT": true, "OFL-1.1": true, "SunPro": true, "Unicode-DFS-2016": true,
}

// chosen are the licences taken where a module leaves the choice.
var chosen = map[string]string{
	"github.com/golang/freetype": "FTL", // FTL or GPL-2.0, at the user's option
}

// A section is one group of modules on the page: those that the packages of
// patterns need, on a module of the repository, and no section before has.
type section struct {
	title, dir string
	list       []string // arguments of go list
}

var sections = []section{
	{"The program", ".", []string{"./cmd/hambench"}},
	{"Tests and benchmarks", ".", []string{"-test", "./..."}},
	{"Generators of the assembly", "internal/gen", []string{"./..."}},
	{"Tools that check the project", "tools", []string{"./...", "tool"}},
}

// platforms are those whose dependencies count: some packages need others on
// some systems only.
var platforms = []string{"linux", "darwin", "windows"}

// module is what is read of a module from go list.
type module struct {
	Path, Version, Dir string
	Main               bool

	folders map[string]bool // those of the packages used, and all above them in the module
}

func main() {
	check := flag.Bool("check", false, "write nothing; fail if "+page+" is not up to date")
	root := flag.String("root", "..", "the repository's `DIR`")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	text, err := render(root)
	if err != nil {
		return err
	}
	path := filepath.Join(root, page)
	if !check {
		return os.WriteFile(path, text, 0o644)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Equal(old, text) {
		return fmt.Errorf("%s is not up to date with the modules: run make licences and commit it", page)
	}
	return nil
}

// render returns the page.
func render(root string) ([]byte, error) {
	know, err := assets.DefaultClassifier()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprint(&out, "# Licences of the dependencies\n\nMade by `make licences` from the modules' own files; CI checks that it is up to date.\n"+
		"Go's own library, which is in every program, is under BSD-3-Clause, too.\n"+
		"Where a module leaves the choice, the licence taken.\n")
	seen := map[string]bool{}
	for _, s := range sections {
		found, err := s.modules(root)
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(m *module) bool { return m.Main || seen[m.Path+m.Version] })
		if len(found) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n## %s\n\n| module | version | licence |\n|---|---|---|\n", s.title)
		for _, m := range found {
			seen[m.Path+m.Version] = true
			names, err := licences(know, m)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&out, "| %s | %s | %s |\n", m.Path, m.Version, strings.Join(names, ", "))
		}
	}
	return out.Bytes(), nil
}

// modules lists the modules that a section's packages need, by path.
func (s section) modules(root string) ([]*module, error) {
	all := map[string]*module{}
	for _, system := range platforms {
		args := append([]string{"list", "-deps", "-json=Dir,Module"}, s.list...)
		cmd := exec.Command("go", args...)
		cmd.Dir = filepath.Join(root, s.dir)
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64")
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list in %s: %w", s.dir, err)
		}
		if err := decode(bytes.NewReader(text), all); err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *module) int { return cmp.Compare(a.Path, b.Path) }), nil
}

// decode adds the modules of a sequence of packages in JSON to a table by
// path. Packages of the standard library have none.
func decode(from io.Reader, all map[string]*module) error {
	for d := json.NewDecoder(from); ; {
		var p struct {
			Dir    string
			Module *module
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.Module == nil {
			continue
		}
		m := all[p.Module.Path]
		if m == nil {
			m = p.Module
			m.folders = map[string]bool{m.Dir: true}
			all[m.Path] = m
		}
		for dir := p.Dir; !m.folders[dir]; dir = filepath.Dir(dir) {
			m.folders[dir] = true
		}
	}
}

// legal matches the names of files with licences; folders with several have
// the names in collections.
var (
	legal       = regexp.MustCompile(`(?i)^(licen[cs]e|copying)`)
	collections = []string{"licenses", "THIRD_PARTY_LICENSES"}
)

// files lists the files that hold licences of what is used of a module.
func (m *module) files() ([]string, error) {
	var out []string
	read := func(dir string, every bool) error {
		entries, err := os.ReadDir(dir)
		for _, e := range entries {
			if !e.IsDir() && filepath.Ext(e.Name()) != ".go" && (every || legal.MatchString(e.Name())) {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
		return err
	}
	for dir := range m.folders {
		if err := read(dir, false); err != nil {
			return nil, err
		}
	}
	for _, c := range collections {
		if err := read(filepath.Join(m.Dir, c), true); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return out, nil
}

// licences returns the names of a module's licences, sorted; or the chosen
// one.
func licences(know *classifier.Classifier, m *module) ([]string, error) {
	paths, err := m.files()
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for _, match := range know.Match(text).Matches {
			if match.MatchType == "License" {
				found[match.Name] = true
			}
		}
	}
	if name, ok := chosen[m.Path]; ok && found[name] {
		return []string{name}, nil
	}
	names := slices.Sorted(maps.Keys(found))
	if len(names) == 0 {
		return nil, fmt.Errorf("%s %s: no licence that is known in its files", m.Path, m.Version)
	}
	for _, n := range names {
		if !accepted[n] {
			return nil, fmt.Errorf("%s %s: licence %s is not among the accepted ones", m.Path, m.Version, n)
		}
	}
	return names, nil
}
