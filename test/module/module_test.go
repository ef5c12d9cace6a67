// Package module holds `make module` to its promise, in a copy of the
// repository.
package module

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hambench/internal/long"
)

// skipped are folders that hold no source.
var skipped = []string{".git", "bin", "out", "results"}

// files returns the repository's files by their paths.
func files(t *testing.T, root string) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skipped, d.Name()):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		all[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func run(t *testing.T, dir string, command ...string) (string, error) {
	t.Helper()
	c := exec.Command(command[0], command[1:]...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	return string(out), err
}

func TestLongTheModulesPathIsTheOwnersToChoose(t *testing.T) {
	long.Test(t)
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("needs make")
	}
	before, dir := files(t, "../.."), t.TempDir()
	for name, text := range before {
		path := filepath.Join(dir, name)
		info, err := os.Stat(filepath.Join("../..", name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o755)
		}
		if err == nil {
			err = os.WriteFile(path, text, info.Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	old, _, _ := strings.Cut(strings.TrimPrefix(string(before["go.mod"]), "module "), "\n")
	const chosen = "example.org/you/lab.v0"

	for _, bad := range []string{"PATH=", "PATH=two words", "PATH=/abs", "PATH=a//b"} {
		if out, err := run(t, dir, "make", "module", bad); err == nil || !strings.Contains(out, "want one such as") {
			t.Errorf("make module %s: %v, %s: want a line that says what is allowed", bad, err, out)
		}
	}
	if out, err := run(t, dir, "make", "module", "PATH="+chosen); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range files(t, dir) {
		if strings.HasSuffix(name, ".go") && bytes.Contains(text, []byte(`"`+old+`/`)) {
			t.Errorf("%s still imports %s", name, old)
		}
	}
	for _, module := range []string{".", "examples"} {
		if out, err := run(t, filepath.Join(dir, module), "go", "build", "./..."); err != nil {
			t.Errorf("%s: %v\n%s", module, err, out)
		}
	}
	if out, err := run(t, dir, "make", "module", "PATH="+old); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	after := files(t, dir)
	for name, text := range before {
		if !bytes.Equal(text, after[name]) {
			t.Errorf("%s differs when the old path is put back", name)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, %d before", len(after), len(before))
	}
}
