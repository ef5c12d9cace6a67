package datasets

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hambench/usage"
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

// The generated splits are the published ones, as far as they are published, of which large sets
// take the first rows that train.
func TestPublishedSplits(t *testing.T) {
	dir := realData(t)
	for name, splits := range map[string]int{
		"boston": 20, "concrete": 20, "energy": 20, "yacht": 20, "kin8nm": 5, "power": 5, "naval": 5, "wine-red": 5,
	} {
		s, err := Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range splits {
			train, test := s.Divide(i)
			left := compareIndices(t, filepath.Join(dir, s.Name, "splits", fmt.Sprintf("index_train_%d.txt", i)), train)
			if len(train) != mostTrain && len(left) > len(train) {
				t.Errorf("%s: %d of %d published rows train", name, len(train), len(left))
			}
			if splits == 20 {
				compareIndices(t, filepath.Join(dir, s.Name, "splits", fmt.Sprintf("index_test_%d.txt", i)), test)
			}
			for _, r := range test {
				if slices.Contains(left, r) {
					t.Fatalf("%s, split %d: test row %d trains in the published one", name, i, r)
				}
			}
		}
	}
}

// compareIndices compares rows with the first of a file, and returns all of it.
func compareIndices(t *testing.T, path string, got []int) (all []int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range strings.Fields(string(data)) {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, int(v))
	}
	if len(all) < len(got) || !slices.Equal(all[:len(got)], got) {
		t.Fatalf("%s: generated rows are others", path)
	}
	return all
}

// The variance of the likelihood of the sets that the paper does not have is the mean squared
// error of predicting each training row of split 0 by the mean of its five nearest others, to one
// digit: a rule that needs no chain.
func TestLikelihoodVariancesFollowTheRule(t *testing.T) {
	r := &Resolver{Dir: realData(t), Offline: true}
	for _, name := range []string{"kin8nm", "power", "naval", "wine-red", "wine-white", "abalone"} {
		s, err := r.Load(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Split(0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strconv.FormatFloat(neighbourError(p), 'g', 1, 64); got != fmt.Sprint(p.NoiseVariance) {
			t.Errorf("%s: variance %v, by the rule %v", name, p.NoiseVariance, got)
		}
	}
}

// neighbourError is the mean squared error of predicting the standardised target of each training
// row by the mean of those of its five nearest others by the standardised inputs; of equally near
// ones the first count.
func neighbourError(p *Split) (mse float64) {
	const neighbours = 5
	n, d := p.TrainRows(), p.Features
	for i := range n {
		var near, y []float64 // the nearest so far, by distance
		for j := range n {
			var squares float64
			for f := range d {
				x := p.TrainX[i*d+f] - p.TrainX[j*d+f]
				if squares += x * x; len(near) == neighbours && squares >= near[neighbours-1] {
					break
				}
			}
			if j == i || len(near) == neighbours && squares >= near[neighbours-1] {
				continue
			}
			at, _ := slices.BinarySearchFunc(near, squares, func(a, b float64) int {
				if a <= b {
					return -1
				}
				return 1
			})
			near, y = slices.Insert(near, at, squares), slices.Insert(y, at, p.TrainY[j])
			near, y = near[:min(len(near), neighbours)], y[:min(len(y), neighbours)]
		}
		e := p.TrainY[i]
		for _, v := range y {
			e -= v / neighbours
		}
		mse += e * e / float64(n)
	}
	return mse
}

// Inputs and targets are the columns that they should be: the sex of abalone is three inputs, of
// which one is 1, naval's target is the second last column, and two of its inputs are constant.
func TestColumnsOfRealSets(t *testing.T) {
	r := &Resolver{Dir: realData(t), Offline: true}
	load := func(name string) *Set {
		t.Helper()
		s, err := r.Load(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	abalone, naval := load("abalone"), load("naval")
	// F, I, M: the first row is M,0.455,0.365,…,15.
	if got := abalone.X[:5]; !slices.Equal(got, []float64{0, 0, 1, 0.455, 0.365}) || abalone.Y[0] != 15 {
		t.Errorf("abalone begins with %v, %v", got, abalone.Y[0])
	}
	if naval.Y[0] != 0.95 || naval.X[15] != 0.082 {
		t.Errorf("naval has targets %v, …, and ends its first row with %v", naval.Y[0], naval.X[15])
	}
	p, err := naval.Split(0)
	if err != nil {
		t.Fatal(err)
	}
	constant := 0
	for j := range p.Features {
		if _, sd := moments(naval.X, p.Features, j); sd == 1 {
			constant++
			for i := j; i < len(p.TrainX); i += p.Features {
				if math.Abs(p.TrainX[i]) > 1e-12 {
					t.Fatalf("constant input %d is %v", j, p.TrainX[i])
				}
			}
		}
	}
	if constant != 2 {
		t.Errorf("%d inputs of naval are constant", constant)
	}
}

// The digest of the first three generated splits, checked once against the
// published files by TestPublishedSplits, holds without them.
func TestSplitsGolden(t *testing.T) {
	h := fnv.New64a()
	for _, name := range []string{"boston", "concrete", "energy", "yacht"} {
		d, err := Builtin().Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			train, test := d.Divide(i)
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
		// Of the others nine tenths train, and at most 2000 and 200 rows count.
		"kin8nm": {8, 2000, 200}, "power": {4, 2000, 200}, "naval": {16, 2000, 200}, "wine-red": {11, 1439, 160},
		"wine-white": {11, 2000, 200}, "abalone": {10, 2000, 200}, "banknote": {4, 1235, 137}, "pima": {8, 691, 77},
		"sonar": {60, 187, 21}, "seeds": {7, 189, 21}, "wine": {13, 160, 18}, "glass": {9, 193, 21},
		"thyroid": {5, 194, 21}, "phoneme": {5, 2000, 200},
	}
	counts := map[string][]int{
		"ionosphere": {126, 225}, "vehicle": {218, 212, 217, 199}, "banknote": {762, 610}, "pima": {500, 268}, "sonar": {111, 97},
		"seeds": {70, 70, 70}, "wine": {59, 71, 48}, "glass": {70, 76, 17, 13, 9, 29}, "thyroid": {150, 35, 30}, "phoneme": {3818, 1586},
	}
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
	for _, s := range Builtin() {
		if !s.Builtin() {
			checkPartition(t, s)
		}
	}
}

func checkPartition(t *testing.T, d Dataset) {
	t.Helper()
	divide := func(index int) []int {
		train, test, err := (&Set{Dataset: d}).divide(index) // refuses rows twice or out of range
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		return append(train, test...)
	}
	if fmt.Sprint(divide(2)) != fmt.Sprint(divide(2)) || fmt.Sprint(divide(2)) == fmt.Sprint(divide(3)) {
		t.Errorf("%s: splits must be the same for one index and differ between indices", d.Name)
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
		if got := [2]int{p.TrainRows(), p.TestRows()}; got != want || !s.Builtin() {
			t.Errorf("%s: train, test = %v, want %v; builtin %v", name, got, want, s.Builtin())
		}
	}
}

func TestBadInput(t *testing.T) {
	good := "1 2 3\n4 5 6\n"
	for _, c := range []struct{ reason, data, want string }{
		{"a column is missing", "1 2 3\n4 5\n", "f: line 2: 2 columns: want 3"},
		{"a column too many", "1 2 3 4\n", "f: line 1: 4 columns: want 3"},
		{"a word", "1 2 3\n\n4 x 6\n", `f: line 3: column 2: "x" is not a number from -1e+150 to 1e+150`},
		{"not a number", "1 2 NaN\n", `f: line 1: column 3: the value is missing ("NaN"): want every value, or the row left out`},
		{"infinite", "1 Inf 3\n", `f: line 1: column 2: "Inf" is not a number from -1e+150 to 1e+150`},
		{"too large for a float64", "1 1e999 3\n", `f: line 1: column 2: "1e999" is not a number from -1e+150 to 1e+150`},
		{"empty", "\n \n", "f: no rows of numbers"},
		{"a row too few", "1 2 3\n", "1 rows: want 2"},
	} {
		_, err := twoByTwo().read([][]byte{[]byte(c.data)})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.reason, err, c.want)
		}
	}
	if s, err := twoByTwo().read([][]byte{[]byte(good)}); err != nil || s.Y[1] != 6 {
		t.Errorf("good data: %v", err)
	}
}

func twoByTwo() Dataset {
	return Dataset{
		Name: "small", Shape: Shape{Task: Regression, TrainRows: 2, Features: 2}, Rows: 2, NoiseVariance: 0.1, Files: []File{{Path: "f"}},
	}
}

func TestBadClasses(t *testing.T) {
	s := Dataset{Shape: Shape{Task: Classification, Features: 1, Classes: 2}, Rows: 1, ClassNames: []string{"b", "g"}, Files: []File{{Path: "f"}}}
	_, err := s.read([][]byte{[]byte("1,x")})
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

func TestSplitOutOfRangeIsUsageError(t *testing.T) {
	for name, splits := range map[string]int{"toy": 1, "teacher-reg": 1000} {
		s := load(t, name)
		want := fmt.Sprintf("data set %q has no split %d: want 0 to %d", name, splits, splits-1)
		var u *usage.Error
		if _, err := s.Split(splits); !errors.As(err, &u) || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		if _, err := s.Split(-1); !errors.As(err, &u) {
			t.Errorf("split -1: error %v, want a usage error", err)
		}
		if _, err := s.Split(splits - 1); err != nil {
			t.Errorf("last split: %v", err)
		}
	}
}

// The built-in sets are the same numbers on every machine. Their digests are
// over six decimals, to which all but the training split's moments are
// rounded.
func TestBuiltinsGolden(t *testing.T) {
	for name, want := range builtinDigests {
		s, err := (&Resolver{}).Load(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		h := fnv.New64a()
		for _, v := range append(append([]float64(nil), s.X...), s.Y...) {
			fmt.Fprintf(h, "%.6f ", v)
		}
		fmt.Fprint(h, s.Labels)
		if got := h.Sum64(); got != want {
			t.Errorf("%s: digest %#x, want %#x", name, got, want)
		}
	}
}

// load returns a built-in set.
func load(t *testing.T, name string) *Set {
	t.Helper()
	s, err := (&Resolver{Offline: true}).Load(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The teachers can be learnt from: the regression's targets have the stated
// noise around a function of the inputs, and both classes are common.
func TestTeachers(t *testing.T) {
	s := load(t, "teacher-reg")
	// Total variance is 1 by construction, up to the sampling error of
	// 506 noises: 2·√(σ²(1−σ²)/506) + σ²√(2/506) = 0.05; 3 of them.
	_, sd := moments(s.Y, 1, 0)
	if math.Abs(sd*sd-1) > 0.15 || s.NoiseVariance != 0.2 {
		t.Errorf("targets have variance %.3f with noise %g: want 1 and 0.2", sd*sd, s.NoiseVariance)
	}
	ones := 0
	for _, c := range load(t, "teacher-cls").Labels {
		ones += c
	}
	if ones < 100 || ones > 251 {
		t.Errorf("%d of 351 rows are of class 1: want both classes common", ones)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("1 2 3\n4 5 6\n"))
	f.Add([]byte("1,2,g\n"))
	f.Add([]byte("1 2 van\r\n3 4 bus\r\n"))
	f.Add([]byte("1,2,b\n3,-4e-3,g\n\n"))
	f.Add([]byte("NaN 1e999 0x1p-3\n\xff 1 2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range []Dataset{
			twoByTwo(),
			{Shape: Shape{Task: Classification, Features: 2, Classes: 2}, Rows: 2, ClassNames: []string{"b", "g"}, Files: []File{{Path: "f"}}},
			{Shape: Shape{Task: Classification, Features: 2, Classes: 4}, Rows: 2, ClassNames: []string{"bus", "opel", "saab", "van"}, Files: []File{{Path: "f"}}},
		} {
			set, err := s.read([][]byte{data})
			switch {
			case err != nil && strings.ContainsAny(err.Error(), "\n\r"):
				t.Errorf("%q: error of more than one line: %v", data, err)
			case err == nil && wellFormed(s, set) != nil:
				t.Errorf("accepted %q: %v", data, wellFormed(s, set))
			}
		}
	})
}

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// uci are the sets from files.
func uci() []Dataset {
	return slices.DeleteFunc(Builtin(), func(s Dataset) bool { return s.Builtin() })
}
