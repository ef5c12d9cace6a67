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

	"hambench/internal/fingerprint"
	"hambench/test/mutate"
	"hambench/usage"
)

// fixtures are small sets of invented numbers in the formats of the real
// files, which the project must not hold.
func fixtures(t testing.TB) (sources []Dataset, files [][][]byte) {
	t.Helper()
	sources = []Dataset{
		{Name: "regression", Shape: Shape{Task: Regression, Features: 6}, Rows: 12, NoiseVariance: 0.1, Files: []File{{Path: "invented-regression.txt"}}},
		{Name: "ionosphere", Shape: Shape{Task: Classification, Classes: 2, Features: 34}, Rows: 10, ClassNames: []string{"b", "g"}, Files: []File{{Path: "invented-two-classes.csv"}}},
		{Name: "vehicle", Shape: Shape{Task: Classification, Classes: 4, Features: 18}, Rows: 16, ClassNames: []string{"bus", "opel", "saab", "van"},
			Files: []File{{Path: "invented-four-classes-1.txt"}, {Path: "invented-four-classes-2.txt"}}},
	}
	for i := range sources {
		var of [][]byte
		for j := range sources[i].Files {
			f := &sources[i].Files[j]
			data, err := os.ReadFile(filepath.Join("testdata", f.Path))
			if err != nil {
				t.Fatal(err)
			}
			f.SHA256 = fingerprint.Bytes(data)
			of = append(of, data)
		}
		files = append(files, of)
	}
	return sources, files
}

// wellFormed checks what a parser has accepted: its shape, that all numbers
// are finite and all classes known, and that a split of it is finite too.
func wellFormed(s Dataset, set *Set) error {
	if max(len(set.Y), len(set.Labels)) != s.Rows || len(set.X) != s.Rows*s.Features || !finite(set.X) || !finite(set.Y) {
		return fmt.Errorf("%d rows of %d numbers, finite %v: want %d rows of %d features", len(set.Y)+len(set.Labels), len(set.X), finite(set.X), s.Rows, s.Features)
	}
	if (s.Task == Regression) != (len(set.Y) == s.Rows) || (s.Task == Classification) != (len(set.Labels) == s.Rows) {
		return fmt.Errorf("%d targets and %d labels", len(set.Y), len(set.Labels))
	}
	for _, c := range set.Labels {
		if c < 0 || c >= s.Classes {
			return fmt.Errorf("class %d of %d", c, s.Classes)
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
		for _, f := range s.Files {
			data, err := os.ReadFile(filepath.Join(dir, f.Path))
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
func mutateData(t *testing.T, rng *rand.Rand, n int, sources []Dataset, files [][][]byte) (c tally) {
	t.Helper()
	r := &Resolver{Dir: t.TempDir(), Offline: true}
	for i := range n {
		s, whole := sources[i%len(sources)], files[i%len(sources)]
		at := rng.IntN(len(whole))
		mutant, how := mutate.File(rng, whole[at])
		same := bytes.Equal(mutant, whole[at])
		fail := func(err error) { t.Fatalf("%s, mutant %d (%s): %v", s.Files[at].Path, i, how, err) }
		if i%10 == 0 { // the others spare the disk
			if err := fromFolder(r, s, s.Files[at], mutant, same); err != nil {
				fail(err)
			}
		}
		if same != (fingerprint.Bytes(mutant) == s.Files[at].SHA256) {
			fail(errors.New("digest and bytes disagree"))
		}
		if same {
			c.unchanged++
			continue
		}
		c.refused++
		if line := s.verify(s.Files[at], mutant).Error(); strings.ContainsAny(line, "\n\r") {
			fail(fmt.Errorf("%q is more than one line", line))
		}
		all := append([][]byte{}, whole...)
		all[at] = mutant
		set, err := s.read(all)
		switch {
		case err == nil:
			c.parsed++
			if err := wellFormed(s, set); err != nil {
				fail(err)
			}
		case !strings.ContainsAny(err.Error(), "\n\r"):
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
	good := Set{Dataset: s, X: []float64{1, 2, 4, 5}, Y: []float64{3, 6}}
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
func fromFolder(r *Resolver, s Dataset, f File, data []byte, right bool) error {
	path := filepath.Join(r.Dir, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return err
	}
	got, err := r.file(context.Background(), s, f)
	var bad *usage.Error
	if right && err == nil && bytes.Equal(got, data) {
		return nil
	}
	if !right && got == nil && errors.As(err, &bad) && !strings.ContainsAny(err.Error(), "\n\r") {
		return nil
	}
	return fmt.Errorf("%d bytes, error %w", len(got), err)
}
