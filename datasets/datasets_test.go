package datasets

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hambench/internal/usage"
)

// realData returns the folder with the UCI files, or skips the test: the
// project must not hold them.
func realData(t *testing.T) string {
	dir := os.Getenv(EnvData)
	if dir == "" {
		t.Skip("needs the UCI files: set HAMBENCH_DATA")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("..", dir)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("needs the UCI files: %v", err)
	}
	return dir
}

func TestPublishedSplits(t *testing.T) {
	dir := realData(t)
	for _, s := range sources() {
		if s.make != nil || s.task != Regression {
			continue
		}
		split := publishedSplits(s.rows)
		for i := range 20 {
			train, test := split(i)
			compareIndices(t, filepath.Join(dir, s.name, "splits", fmt.Sprintf("index_train_%d.txt", i)), train)
			compareIndices(t, filepath.Join(dir, s.name, "splits", fmt.Sprintf("index_test_%d.txt", i)), test)
		}
	}
}

func compareIndices(t *testing.T, path string, got []int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(data))
	if len(want) != len(got) {
		t.Fatalf("%s: %d rows, generated %d", path, len(want), len(got))
	}
	for i, w := range want {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil || int(v) != got[i] {
			t.Fatalf("%s: row %d is %s, generated %d", path, i, w, got[i])
		}
	}
}

// The digest of the first three generated splits, checked once against the
// published files by TestPublishedSplits, holds without them.
func TestSplitsGolden(t *testing.T) {
	h := fnv.New64a()
	for _, n := range []int{506, 1030, 768, 308} {
		for i := range 3 {
			train, test := publishedSplits(n)(i)
			fmt.Fprint(h, train, test)
		}
	}
	if got, want := h.Sum64(), uint64(splitsDigest); got != want {
		t.Errorf("digest of the generated splits is %#x, want %#x", got, want)
	}
}

func TestRealSets(t *testing.T) {
	r := &Resolver{Dir: realData(t), Offline: true}
	sizes := map[string][3]int{ // features, train, test as in the paper's tables
		"boston": {13, 455, 51}, "concrete": {8, 927, 103}, "energy": {8, 691, 77}, "yacht": {6, 277, 31},
		"ionosphere": {34, 301, 34}, "vehicle": {18, 646, 200},
	}
	counts := map[string][]int{"ionosphere": {126, 225}, "vehicle": {218, 212, 217, 199}}
	for name, want := range sizes {
		s, err := r.Load(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Split(1)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]int{p.Features, p.TrainRows(), p.TestRows()}; got != want {
			t.Errorf("%s: features, train, test = %v, want %v", name, got, want)
		}
		checkStandardised(t, p)
		got := make([]int, s.Classes)
		for _, c := range s.Labels {
			got[c]++
		}
		if fmt.Sprint(got) != fmt.Sprint(append([]int{}, counts[name]...)) {
			t.Errorf("%s: class counts %v, want %v", name, got, counts[name])
		}
	}
}

func checkStandardised(t *testing.T, p *Split) {
	t.Helper()
	for j := range p.Features {
		// 1e-12 is a few hundred roundings of numbers of size 1.
		if mean, sd := moments(p.TrainX, p.Features, j); math.Abs(mean) > 1e-12 || (math.Abs(sd-1) > 1e-12 && sd != 0) {
			t.Errorf("%s: feature %d has mean %g and deviation %g", p.Name, j, mean, sd)
		}
	}
	if p.Task == Regression && p.TargetScale <= 0 {
		t.Errorf("%s: target scale %g", p.Name, p.TargetScale)
	}
}

func TestSplitsPartition(t *testing.T) {
	for _, s := range sources() {
		if s.make == nil {
			checkPartition(t, s.name, s.rows, s.set().split)
		}
	}
}

func checkPartition(t *testing.T, name string, rows int, split func(int) ([]int, []int)) {
	t.Helper()
	train, test := split(2)
	seen := map[int]bool{}
	for _, r := range append(append([]int{}, train...), test...) {
		if r < 0 || r >= rows || seen[r] {
			t.Fatalf("%s: row %d twice or out of range", name, r)
		}
		seen[r] = true
	}
	again, _ := split(2)
	other, _ := split(3)
	if fmt.Sprint(train) != fmt.Sprint(again) || fmt.Sprint(train) == fmt.Sprint(other) {
		t.Errorf("%s: splits must be the same for one index and differ between indices", name)
	}
}

func TestConstantColumnKeepsDeviationOne(t *testing.T) {
	x := []float64{0.1, 1, 0.1, 2, 0.1, 3}
	if mean, sd := moments(x, 2, 0); sd != 1 || math.Abs(mean-0.1) > 1e-15 {
		t.Errorf("constant column: mean %g deviation %g, want 0.1 and 1", mean, sd)
	}
	if _, sd := moments(x, 2, 1); math.Abs(sd-math.Sqrt(2.0/3)) > 1e-15 {
		t.Errorf("deviation %g, want %g (divisor n)", sd, math.Sqrt(2.0/3))
	}
}

func TestBuiltins(t *testing.T) {
	r := &Resolver{Offline: true}
	sizes := map[string][2]int{"linear": {128, 200}, "logistic": {100, 100}, "toy": {2, 0}, "teacher-reg": {455, 51}, "teacher-cls": {301, 34}}
	for name, want := range sizes {
		s, err := r.Load(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Split(0)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int{p.TrainRows(), p.TestRows()}; got != want || !p.Builtin {
			t.Errorf("%s: train, test = %v, want %v; builtin %v", name, got, want, p.Builtin)
		}
	}
}

func TestBadInput(t *testing.T) {
	good := "1 2 3\n4 5 6\n"
	for _, c := range []struct{ reason, data, want string }{
		{"a column is missing", "1 2 3\n4 5\n", "f: line 2: 2 columns: want 3"},
		{"a column too many", "1 2 3 4\n", "f: line 1: 4 columns: want 3"},
		{"a word", "1 2 3\n\n4 x 6\n", `f: line 3: column 2: "x" is not a finite number`},
		{"not a number", "1 2 NaN\n", `f: line 1: column 3: "NaN" is not a finite number`},
		{"infinite", "1 Inf 3\n", `f: line 1: column 2: "Inf" is not a finite number`},
		{"too large for a float64", "1 1e999 3\n", `f: line 1: column 2: "1e999" is not a finite number`},
		{"empty", "\n \n", "f: no rows"},
		{"a row too few", "1 2 3\n", "f: 1 rows: want 2"},
	} {
		_, err := twoByTwo().read([][]byte{[]byte(c.data)}, []string{"f"})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.reason, err, c.want)
		}
	}
	if s, err := twoByTwo().read([][]byte{[]byte(good)}, []string{"f"}); err != nil || s.Y[1] != 6 {
		t.Errorf("good data: %v", err)
	}
}

func twoByTwo() source {
	return source{name: "small", task: Regression, rows: 2, features: 2, parse: parseRegression}
}

func TestBadClasses(t *testing.T) {
	s := source{task: Classification, rows: 1, features: 1, parse: parseIonosphere}
	_, err := s.read([][]byte{[]byte("1,x")}, []string{"f"})
	if want := `f: line 1: column 2: class "x": want b or g`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestUnknownSetIsUsageError(t *testing.T) {
	_, err := (&Resolver{}).Load(context.Background(), "bostn")
	var u *usage.Error
	if !errors.As(err, &u) || !strings.Contains(err.Error(), "boston") {
		t.Errorf("error %v, want a usage error that lists the sets", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("1 2 3\n4 5 6\n"))
	f.Add([]byte("1,2,g\n"))
	f.Add([]byte("1 2 van\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range []source{
			{task: Regression, rows: 2, features: 2, parse: parseRegression},
			{task: Classification, rows: 2, features: 2, parse: parseIonosphere},
			{task: Classification, rows: 2, features: 2, parse: parseVehicle},
		} {
			set, err := s.read([][]byte{data}, []string{"f"})
			if err == nil && (len(set.X) != 4 || set.Rows() != 2) {
				t.Errorf("accepted %q as %d numbers, %d rows", data, len(set.X), set.Rows())
			}
		}
	})
}
