package datasets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hambench/internal/mutate"
	"hambench/usage"
)

// fixtures are small sets of invented numbers in the formats of the real
// files, which the project must not hold.
func fixtures(t testing.TB) (sources []source, files [][][]byte) {
	t.Helper()
	sources = []source{
		{name: "regression", task: Regression, rows: 12, features: 6, noise: 0.1, parse: parseRegression, files: []File{{Path: "invented-regression.txt"}}},
		{name: "ionosphere", task: Classification, classes: 2, rows: 10, features: 34, train: 6, test: 4, parse: parseIonosphere, files: []File{{Path: "invented-two-classes.csv"}}},
		{name: "vehicle", task: Classification, classes: 4, rows: 16, features: 18, train: 10, test: 6, parse: parseVehicle,
			files: []File{{Path: "invented-four-classes-1.txt"}, {Path: "invented-four-classes-2.txt"}}},
	}
	for i := range sources {
		var of [][]byte
		for j := range sources[i].files {
			f := &sources[i].files[j]
			data, err := os.ReadFile(filepath.Join("testdata", f.Path))
			if err != nil {
				t.Fatal(err)
			}
			f.SHA256 = digest(data)
			of = append(of, data)
		}
		files = append(files, of)
	}
	return sources, files
}

// wellFormed checks what a parser has accepted: its shape, that all numbers
// are finite and all classes known, and that a split of it is finite too.
func wellFormed(s source, set *Set) error {
	if set.Rows() != s.rows || len(set.X) != s.rows*s.features || !finite(set.X) || !finite(set.Y) {
		return fmt.Errorf("%d rows of %d numbers, finite %v: want %d rows of %d features", set.Rows(), len(set.X), finite(set.X), s.rows, s.features)
	}
	if (s.task == Regression) != (len(set.Y) == s.rows) || (s.task == Classification) != (len(set.Labels) == s.rows) {
		return fmt.Errorf("%d targets and %d labels", len(set.Y), len(set.Labels))
	}
	for _, c := range set.Labels {
		if c < 0 || c >= s.classes {
			return fmt.Errorf("class %d of %d", c, s.classes)
		}
	}
	return nil
}

// Of 10 000 damaged data files a data folder gives none away: the digest
// refuses all but the old bytes. The parser behind it, which must not rely on
// that, refuses in one line or returns a set of the right shape. Every tenth
// goes through a folder on the disk.
func TestMutatedDataFiles(t *testing.T) {
	sources, files := fixtures(t)
	rng := rand.New(rand.NewPCG(2026, 5))
	count := mutateData(t, rng, 10_000, sources, files)
	t.Logf("10000 data files: %s", count)
	if count.parsed < 100 {
		t.Errorf("the parser accepts %d changed files: want many, or this test does not see what it accepts", count.parsed)
	}
}

// The same with the real files.
func TestMutatedRealDataFiles(t *testing.T) {
	dir := realData(t)
	var files [][][]byte
	for _, s := range uci() {
		var of [][]byte
		for _, f := range s.files {
			data, _, err := local(dir, f)
			if err != nil {
				t.Fatal(err)
			}
			of = append(of, data)
		}
		files = append(files, of)
	}
	t.Logf("1000 real data files: %s", mutateData(t, rand.New(rand.NewPCG(2026, 6)), 1000, uci(), files))
}

// tally counts what became of mutants.
type tally struct{ unchanged, refused, parsed, malformed int }

func (c tally) String() string {
	return fmt.Sprintf("%d refused by their digest, %d with the old bytes and accepted; the parser alone would refuse %d of the changed and take %d as other numbers",
		c.refused, c.unchanged, c.malformed, c.parsed)
}

// mutateData damages n files and holds resolver and parsers to what they
// promise.
func mutateData(t *testing.T, rng *rand.Rand, n int, sources []source, files [][][]byte) (c tally) {
	t.Helper()
	r := &Resolver{Dir: t.TempDir(), Offline: true}
	for i := range n {
		s, whole := sources[i%len(sources)], files[i%len(sources)]
		at := rng.IntN(len(whole))
		mutant, how := mutate.File(rng, whole[at])
		same := bytes.Equal(mutant, whole[at])
		fail := func(err error) { t.Fatalf("%s, mutant %d (%s): %v", s.files[at].Path, i, how, err) }
		if i%10 == 0 { // the others spare the disk
			if err := fromFolder(r, s, s.files[at], mutant, same); err != nil {
				fail(err)
			}
		}
		if same != (digest(mutant) == s.files[at].SHA256) {
			fail(errors.New("digest and bytes disagree"))
		}
		if same {
			c.unchanged++
			continue
		}
		c.refused++
		if line := s.mismatch(s.files[at], "file", mutant, digest(mutant)); strings.ContainsAny(line, "\n\r") {
			fail(fmt.Errorf("%q is more than one line", line))
		}
		all := append([][]byte{}, whole...)
		all[at] = mutant
		set, err := s.read(all, make([]string, len(all)))
		var malformed *ParseError
		switch {
		case err == nil:
			c.parsed++
			if err := wellFormed(s, set); err != nil {
				fail(err)
			}
		case errors.As(err, &malformed) && !strings.ContainsAny(err.Error(), "\n\r"):
			c.malformed++
		default:
			fail(err)
		}
	}
	return c
}

// The test's own judge finds what it looks for.
func TestWellFormedFindsMalformedSets(t *testing.T) {
	s := twoByTwo()
	good := Set{Features: 2, X: []float64{1, 2, 4, 5}, Y: []float64{3, 6}}
	if err := wellFormed(s, &good); err != nil {
		t.Error(err)
	}
	zero := 0.0
	for reason, change := range map[string]func(*Set){
		"a number short":  func(p *Set) { p.X = p.X[:3] },
		"a row short":     func(p *Set) { p.Y = p.Y[:1] },
		"no number":       func(p *Set) { p.X = []float64{1, 2, 4, zero / zero} },
		"infinite target": func(p *Set) { p.Y = []float64{3, 1 / zero} },
		"labels":          func(p *Set) { p.Y, p.Labels = nil, []int{0, 1} },
	} {
		p := good
		change(&p)
		if wellFormed(s, &p) == nil {
			t.Errorf("%s: passes", reason)
		}
	}
}

// fromFolder puts bytes into a data folder and checks that a resolver returns
// them if they are the right ones, and refuses them in one line if not.
func fromFolder(r *Resolver, s source, f File, data []byte, right bool) error {
	path := filepath.Join(r.Dir, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	got, _, err := r.file(context.Background(), s, f)
	var bad *usage.Error
	if right && err == nil && bytes.Equal(got, data) {
		return nil
	}
	if !right && got == nil && errors.As(err, &bad) && !strings.ContainsAny(err.Error(), "\n\r") {
		return nil
	}
	return fmt.Errorf("%d bytes, error %w", len(got), err)
}
