package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/licenseclassifier/v2/assets"
)

const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so,
subject to the following conditions: The above copyright notice and this permission notice shall be included in all copies or
substantial portions of the Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS
OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING
FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

func TestLicences(t *testing.T) {
	know, err := assets.DefaultClassifier()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason, file, text, want string // want is the licence, or part of the error
	}{
		{"a licence", "LICENSE.md", mit, "MIT"},
		{"in the folder of a package that is used", "used/COPYING", mit, "MIT"},
		{"in a collection", "licenses/one.txt", mit, "MIT"},
		{"none", "README", mit, "no licence that is known"},
		{"of a package that is not used", "unused/LICENSE", mit, "no licence that is known"},
		{"a text that is no licence", "LICENSE", "All rights reserved.", "no licence that is known"},
	} {
		m := &module{Path: "example.org/m", Dir: t.TempDir()}
		m.folders = map[string]bool{m.Dir: true, filepath.Join(m.Dir, "used"): true}
		for _, dir := range []string{"used", "unused"} {
			if err := os.Mkdir(filepath.Join(m.Dir, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(m.Dir, c.file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		names, err := licences(know, m)
		got := strings.Join(names, ", ")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.reason, got, c.want)
		}
	}
	delete(accepted, "MIT")
	defer func() { accepted["MIT"] = true }()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte(mit), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := licences(know, &module{Dir: dir, folders: map[string]bool{dir: true}}); err == nil || !strings.Contains(err.Error(), "not among the accepted") {
		t.Errorf("a licence that is not accepted: error %v", err)
	}
}
