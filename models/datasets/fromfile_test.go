package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hambench/test/mutate"
	"hambench/usage"
)

// write puts a user's file into a folder of the test.
func write(t testing.TB, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "own.csv")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// loadFile loads a user's file as any other set of a registry.
func loadFile(t *testing.T, text string, o FileOptions) *Set {
	t.Helper()
	d, err := FromFile("own", write(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := (&Resolver{Registry: append(Builtin(), d), Offline: true}).Load(t.Context(), "own")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The same numbers in each form that people keep them in are the same set.
func TestFilesOfAllFormsAreRead(t *testing.T) {
	for reason, c := range map[string]struct {
		text   string
		target string
	}{
		"commas":                    {"1,2,3\n4,5,6\n7,8,9\n1,0,2\n", ""},
		"a header":                  {"a,b,y\n1,2,3\n4,5,6\n7,8,9\n1,0,2\n", "y"},
		"a header, target by place": {"a,b,y\n1,2,3\n4,5,6\n7,8,9\n1,0,2\n", "3"},
		"target in the middle":      {"a,y,b\n1,3,2\n4,6,5\n7,9,8\n1,2,0\n", "y"},
		"target first, no header":   {"3,1,2\n6,4,5\n9,7,8\n2,1,0\n", "1"},
		"line breaks in names":      {"\"first\nfeature\",\"b\",\"y\"\n1,2,3\n4,5,6\n7,8,9\n1,0,2\n", "y"},
		"semicolons and quotes":     {"\"a\";\"b\";\"y\"\n1;2;3\n4;5;6\n7;8;9\n1;0;2\n", "y"},
		"white space":               {"  1 2\t3\n4 5 6\n\n7 8 9\n1 0 2", ""},
		"spaces with a header":      {"a b y\n1 2 3\n4 5 6\n7 8 9\n1 0 2\n", "y"},
		"Windows":                   {"\ufeffa,b,y\r\n1,2,3\r\n4,5,6\r\n\r\n7,8,9\r\n1,0,2\r\n", "y"},
		"spaces after commas":       {"a, b, y\n1, 2, 3\n4, 5, 6\n7, 8 , 9\n1, 0, 2\n", "y"},
		"a comma in a quoted name":  {"\"a, in m\",b,y\n1,2,3\n4,5,6\n7,8,9\n1,0,2\n", "y"},
	} {
		s := loadFile(t, c.text, FileOptions{Target: c.target, NoiseVariance: 0.1, TestShare: 0.25})
		if !slices.Equal(s.X, []float64{1, 2, 4, 5, 7, 8, 1, 0}) || !slices.Equal(s.Y, []float64{3, 6, 9, 2}) || s.Features != 2 {
			t.Errorf("%s: X = %v, Y = %v", reason, s.X, s.Y)
		}
		if s.TrainRows != 3 || s.TestRows != 1 || s.Builtin() || len(s.Digest) != 64 || s.Model != "bnn" {
			t.Errorf("%s: %+v", reason, s.Dataset)
		}
	}
}

// Between tabs spaces are part of a name or a value, and nothing is a missing value; numbers that
// spaces separate, too, are numbers of their own.
func TestTabsSeparate(t *testing.T) {
	options := FileOptions{NoiseVariance: 0.1, TestShare: 0.25}
	for _, text := range []string{
		"city\tarea in m\ty\nNew York\t1\t3\nSan Jose\t4\t6\nNew York\t7\t9\nSan Jose\t1\t2\n",
		"city\tarea in m\ty\n\"New York\"\t1\t3\nSan Jose\t4\t6\r\nNew York\t7\t9\nSan Jose\t1\t2",
	} {
		s := loadFile(t, text, options)
		if want := []string{"city=New York", "city=San Jose", "area in m"}; !slices.Equal(s.FeatureNames, want) || !slices.Equal(s.X, []float64{1, 0, 1, 0, 1, 4, 1, 0, 7, 0, 1, 1}) {
			t.Errorf("%q: inputs %q, %v", text, s.FeatureNames, s.X)
		}
	}
	if s := loadFile(t, "1 2\t3\n4 5\t6\n7 8\t9\n1 0\t2\n", options); !slices.Equal(s.X, []float64{1, 2, 4, 5, 7, 8, 1, 0}) {
		t.Errorf("spaces and tabs: X = %v", s.X)
	}
	for text, want := range map[string]string{
		"a b\tc\ty\n1\t2\t3\n4\t\t6\n7\t8\t9\n": `line 3: column 2 ("c"): the value is missing`,
		"a b\tc\ty\n1\t2\t3\n4\t5\n7\t8\t9\n":   "line 3: 2 columns: want 3",
	} {
		if _, err := FromFile("own", write(t, text), options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A first row of 0, 1, 2, … is data, and may be the header of an array without names.
func TestARowThatCountsIsNamed(t *testing.T) {
	const note = "line 1 is 0, 1, …: if it is a header, as of an array without names, name the columns"
	for text, want := range map[string]bool{
		"0,1,2\n1,2,3\n4,5,6\n7,8,9\n": true, "0,1,3\n1,2,3\n4,5,6\n7,8,9\n": false, "a,b,y\n0,1,2\n4,5,6\n7,8,9\n": false,
		"0,1,2\na,2,3\na,5,6\n": false,
	} {
		d, err := FromFile("own", write(t, text), FileOptions{NoiseVariance: 0.1, TestShare: 0.3})
		if got := slices.Contains(d.Notes, note); got != want || want && (err != nil || d.Rows != 4) {
			t.Errorf("%q: notes %q, %d rows, %v", text, d.Notes, d.Rows, err)
		}
	}
}

// The same table as fourteen programs and people write it, each in its own way with row names, quotes,
// separators and ends of lines, is the same set to the last bit.
func TestFilesOfManyProgramsAreTheSameData(t *testing.T) {
	digest := ""
	for _, c := range []struct{ program, text string }{
		{"pandas, index=False", "dose,group,y\n0.5,a,1.25\n1.5,b,-0.75\n2.5,a,0.1\n7.25,b,3.0\n"},
		{"pandas", ",dose,group,y\n0,0.5,a,1.25\n1,1.5,b,-0.75\n2,2.5,a,0.1\n3,7.25,b,3.0\n"},
		{"pandas, after a shuffle of other rows", ",dose,group,y\n17,0.5,a,1.25\n3,1.5,b,-0.75\n8,2.5,a,0.1\n5,7.25,b,3.0\n"},
		{"R, write.csv", "\"\",\"dose\",\"group\",\"y\"\n\"1\",0.5,\"a\",1.25\n\"2\",1.5,\"b\",-0.75\n\"3\",2.5,\"a\",0.1\n\"4\",7.25,\"b\",3\n"},
		{"R, write.csv of named rows", "\"\",\"dose\",\"group\",\"y\"\n\"Rex\",0.5,\"a\",1.25\n\"Ida\",1.5,\"b\",-0.75\n\"Tom\",2.5,\"a\",0.1\n\"Eve\",7.25,\"b\",3\n"},
		{"R, write.table", "\"dose\" \"group\" \"y\"\n\"1\" 0.5 \"a\" 1.25\n\"2\" 1.5 \"b\" -0.75\n\"3\" 2.5 \"a\" 0.1\n\"4\" 7.25 \"b\" 3\n"},
		{"Excel, semicolons", "\ufeffdose;group;y\r\n0.5;a;1.25\r\n1.5;b;-0.75\r\n2.5;a;0.1\r\n7.25;b;3\r\n"},
		{"Excel for the Mac", "dose,group,y\r0.5,a,1.25\r1.5,b,-0.75\r2.5,a,0.1\r7.25,b,3\r"},
		{"Julia, CSV.jl", "dose,group,y\n0.5,a,1.25\n1.5,b,-0.75\n2.5,a,0.1\n7.25,b,3.0\n"},
		{"SQLite, .mode csv", "dose,\"group\",y\r\n0.5,a,1.25\r\n1.5,b,-0.75\r\n2.5,a,0.1\r\n7.25,b,3.0\r\n"},
		{"R, write.table with tabs", "\"dose\"\t\"group\"\t\"y\"\n\"1\"\t0.5\t\"a\"\t1.25\n\"2\"\t1.5\t\"b\"\t-0.75\n\"3\"\t2.5\t\"a\"\t0.1\n\"4\"\t7.25\t\"b\"\t3\n"},
		{"a person, with tabs", "dose\tgroup\t\ty\n0.5\ta\t1.25\n1.5\t\tb\t-0.75\n2.5\ta\t0.1\t\n7.25\tb\t3\n"},
		{"Excel, tabs", "dose\tgroup\ty\t\n0.5\ta\t1.25\t\n1.5\tb\t-0.75\t\n2.5\ta\t0.1\t\n7.25\tb\t3\t\n\t\t\t\n"},
		{"awk", "dose\tgroup\ty\n0.5\ta\t1.25\n1.5\tb\t-0.75\n2.5\ta\t0.1\n7.25\tb\t3\n"},
		{"numpy, savetxt with a comment", "# dose group y\n5.000000000000000000e-01 a 1.250000000000000000e+00\n" +
			"1.500000000000000000e+00 b -7.500000000000000000e-01\n# half\n2.500000000000000000e+00 a 1.000000000000000056e-01\n7.25e+00 b 3e+00\n"},
	} {
		s := loadFile(t, c.text, FileOptions{NoiseVariance: 0.1, TestShare: 0.25})
		if !slices.Equal(s.X, []float64{0.5, 1, 0, 1.5, 0, 1, 2.5, 1, 0, 7.25, 0, 1}) || !slices.Equal(s.Y, []float64{1.25, -0.75, 0.1, 3}) {
			t.Errorf("%s: X = %v, Y = %v", c.program, s.X, s.Y)
		}
		names := []string{"dose", "group=a", "group=b"}
		if strings.HasPrefix(c.text, "#") {
			names = []string{"x0", "x1=a", "x1=b"}
		}
		if !slices.Equal(s.FeatureNames, names) {
			t.Errorf("%s: the inputs are called %q, want %q", c.program, s.FeatureNames, names)
		}
		p, err := s.Split(0)
		if err != nil {
			t.Fatal(err)
		}
		if digest = cmp.Or(digest, p.Digest); p.Digest != digest {
			t.Errorf("%s: another digest", c.program)
		}
	}
}

// A column of whole numbers that has a name stays an input.
func TestNotesSayWhatAFileIsTakenFor(t *testing.T) {
	for _, c := range []struct {
		reason, text string
		want         []string
	}{
		{"nothing to say", "a,b,y\n1,2,3\n4,5,6\n6,8,9\n", nil},
		{"an index", "id,b,y\n7,2,3\n8,5,6\n9,8,9\n", []string{`column 1 ("id") counts the rows, and is an input like the others: leave it out if it is an index`}},
		{"row names", ",b,y\n7,2,3\n8,5,6\n5,8,9\n", []string{"column 1 has no name and names the rows: it is no input"}},
		{"an input without a name", ",b,y\n7.5,2,3\n8,5,6\n5,8,9\n", nil},
		{"words without a name that repeat", ",b,y\nu,2,3\nu,5,6\nv,8,9\nv,8,9\n", nil},
		{"an input constant but for rounding", "a,b,y\n0.1,1,3\n0.10000000000000002,2,6\n0.1,4,9\n", []string{`column 1 ("a") is 0.1 in every row, but for differences that are too small to compute with`}},
		{"inputs constant but for rounding", "a,b,y\n1e16,red,3\n10000000000000002,red,6\n1e16,red,9\n", []string{`column 1 ("a") is 1e+16 in every row, but for differences that are too small to compute with`, "all inputs are constant: nothing can be learnt from them"}},
		{"constant inputs", "a,b,y\n1,red,3\n1,red,6\n1,red,9\n", []string{"all inputs are constant: nothing can be learnt from them"}},
	} {
		d, err := FromFile("own", write(t, c.text), FileOptions{NoiseVariance: 1, TestShare: 0.34})
		if err != nil || !slices.Equal(d.Notes, c.want) {
			t.Errorf("%s: %q, %v", c.reason, d.Notes, err)
		}
	}
}

// Classes are numbered in order, numbers by value; a constant column keeps
// deviation 1, so its standardised values are 0.
func TestAFileOfClassesIsRead(t *testing.T) {
	for target, classes := range map[string][]string{
		"words": {"good", "bad", "ugly", "good", "bad", "ugly"}, "numbers": {"2", "10", "11", "2.0", "1e1", "11"},
	} {
		// In order: bad good ugly; 2 10 11.
		want := map[string][]int{"words": {1, 0, 2, 1, 0, 2}, "numbers": {0, 1, 2, 0, 1, 2}}[target]
		var text strings.Builder
		for i, class := range classes {
			fmt.Fprintf(&text, "%d,7,%s\n", i, class)
		}
		s := loadFile(t, text.String(), FileOptions{Task: Classification, TestShare: 0.34})
		if !slices.Equal(s.Labels, want) || s.Classes != 3 {
			t.Errorf("%s: labels %v of %d classes: want %v", target, s.Labels, s.Classes, want)
		}
		p, err := s.Split(0)
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(p.TrainX); i += 2 {
			if p.TrainX[i] != 0 {
				t.Errorf("%s: constant column holds %g, want 0", target, p.TrainX[i])
			}
		}
	}
}

// A constant stays one where the rounding of its mean is millions, and does not count the rows.
func TestLargeConstantsStaySmall(t *testing.T) {
	for _, value := range []string{"1e23", "123456789012345678901"} {
		var text strings.Builder
		for i := range 40 {
			fmt.Fprintf(&text, "%d,%s,%d\n", i%7, value, i%5)
		}
		s := loadFile(t, text.String(), FileOptions{NoiseVariance: 0.1})
		p, err := s.Split(0)
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(p.TrainX); i += 2 {
			if math.Abs(p.TrainX[i]) > 1 {
				t.Fatalf("column of %s holds %g: want at most 1", value, p.TrainX[i])
			}
		}
		if slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "counts the rows") }) {
			t.Errorf("%s: %v", value, s.Notes)
		}
	}
}

func TestBadFilesAreUsageErrorsWithRowAndColumn(t *testing.T) {
	reg := FileOptions{NoiseVariance: 0.1}
	cls := FileOptions{Task: Classification}
	for _, c := range []struct {
		reason, text string
		o            FileOptions
		want         string
	}{
		{"a missing value", "a,b,y\n1,2,3\n4,,6\n", reg, `line 3: column 2 ("b"): the value is missing`},
		{"a missing value by its usual word", "1,2,3\n4,5,NA\n", reg, "line 2: column 3: the value is missing"},
		{"a missing value in the first row", "?,2,3\n4,5,6\n", reg, "line 1: column 1: the value is missing"},
		{"a column of too many words", "a,b,y\n1,red,3\n4,blue,6\n", reg, `line 2: column 2 ("b"): "red" is not a number, and 2 different words in 2 rows are no categories`},
		{"a misprint in the first row", "1,2x,3\n4,5,6\n", reg, `line 2: column 2: "5" is a number, and "2x" in line 1 is not`},
		{"a misprint in a later row", "1,2,3\n4,5x,6\n", reg, `line 2: column 2: "5x" is not a number`},
		{"a decimal comma", "a;y\n1,5;2\n2,5;3\n", reg, `line 2: column 1 ("a"): "1,5" is not a number from -1e+150 to 1e+150 with a decimal point`},
		{"digits in groups", "1,2,3\n4,1_000,6\n", reg, `line 2: column 2: "1_000" is not a number`},
		{"a header that is too long", "a,b,c,y\n1,2,3\n", reg, "line 2: 3 columns: want 4, as the header has"},
		{"a regression without its noise", "1,2.5\n2,3.5\n3,4.5\n4,2.5\n", cls, "a regression needs --noise V"},
		{"row names and a target alone", ",y\na,1\nb,2\nc,4\n", reg, "no inputs: want a target and at least one feature"},

		{"a target of words for a regression", "1,2,red\n4,5,blue\n", reg, `line 1: column 3: "red" is not a number`},
		{"an infinite value", "1,2,3\n4,inf,6\n", reg, "line 2: column 2"},
		{"a value whose square overflows", "1,2,3\n4,1e200,6\n", reg, "line 2: column 2"},
		{"a short row", "1,2,3\n4,5\n", reg, "line 2: 2 columns: want 3"},
		{"a long row", "1 2 3\n4 5 6 7\n", reg, "line 2: 4 columns: want 3"},
		{"one column", "1\n2\n", reg, "line 1: 1 columns: want a target and at least one feature"},
		{"nothing", "", reg, "no rows of numbers"},
		{"a header alone", "a,b\n", reg, "no rows of numbers"},
		{"a quote that does not end", "1,2,3\n4,\"5,6\n", reg, "line 2"},
		{"UTF-16", "\xff\xfea\x00,\x00y\x00\n\x00", reg, "text in UTF-16: want UTF-8"},
		{"a constant target", "1,2,3\n4,5,3\n5,6,3\n", reg, "column 3: the target is 3 in every row: want values that differ"},
		{"a target whose deviation underflows", "1,2,1e-170\n4,5,2e-170\n5,6,3e-170\n", reg, "column 3: the target is 1e-170 in every row, but for differences that are too small to compute with: want values that differ"},
		{"a target constant but for rounding", "1,2,0.1\n4,5,0.10000000000000002\n5,6,0.1\n", reg, "column 3: the target is 0.1 in every row, but for"},
		{"two rows", "1,2,3\n4,5,6\n", reg, "2 rows are 2 to train and 0 to test"},
		{"one class", "1,2,a\n4,5,a\n7,8,a\n", cls, `column 3: every row is of class "a"`},
		{"a class with one row", "1,2,a\n4,5,a\n7,8,b\n1,1,a\n", cls, `line 3: column 3: the only row of class "b"`},
		{"an unknown target", "a,b,y\n1,2,3\n", FileOptions{Target: "z", NoiseVariance: 1}, `no column is called "z": want one of a, b, y`},
		{"a target's name without a header", "1,2,3\n", FileOptions{Target: "z", NoiseVariance: 1}, "want a number from 1 to 3"},
		{"a target's name that stands twice", "a,a,b\n1,2,3\n", FileOptions{Target: "a", NoiseVariance: 1}, "two columns are called"},
		{"a target beyond the columns", "1,2,3\n", FileOptions{Target: "4", NoiseVariance: 1}, "no column 4: want 1 to 3"},
		{"no noise to speak of", "1,2,3\n", FileOptions{NoiseVariance: 1e-300}, "noise variance 1e-300: want at least 1e-30"},
		{"no noise variance", "1,2,3\n", FileOptions{}, "noise variance 0: want a positive number"},
		{"noise of classes", "1,2,3\n", FileOptions{Task: Classification, NoiseVariance: 1}, "a classification has none"},
		{"all rows for the test", "1,2,3\n", FileOptions{NoiseVariance: 1, TestShare: 1}, "test share 1: want 0 to 1"},
	} {
		_, err := FromFile("own", write(t, c.text), c.o)
		var u *usage.Error
		if !errors.As(err, &u) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v: want a usage error of one line with %q", c.reason, err, c.want)
		}
	}
	for name, want := range map[string]string{"a/b": "want a name of ASCII letters", "données": "want a name of ASCII letters", "": "want a name of ASCII letters", "own": "no such file"} {
		var u *usage.Error
		if _, err := FromFile(name, filepath.Join(t.TempDir(), "none.csv"), reg); !errors.As(err, &u) || !strings.Contains(err.Error(), want) {
			t.Errorf("name %q: error %v: want %q", name, err, want)
		}
	}
}

// Splits of a user's file divide its rows, differ between indices, and are the
// same whenever the file is read.
func TestSplitsOfAFileAreReproducible(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintln(&text, i, i*i)
	}
	one, two := loadFile(t, text.String(), FileOptions{NoiseVariance: 1}), loadFile(t, text.String(), FileOptions{NoiseVariance: 1})
	checkPartition(t, one.Dataset)
	a, errA := one.Split(5)
	b, errB := two.Split(5)
	if errA != nil || errB != nil || a.Digest != b.Digest || one.Dataset.Digest != two.Dataset.Digest {
		t.Errorf("the same file gives other splits: %v, %v", errA, errB)
	}
	changed := loadFile(t, strings.Replace(text.String(), "39 1521", "39 1522", 1), FileOptions{NoiseVariance: 1})
	c, err := changed.Split(5)
	if err != nil || c.Digest == a.Digest || changed.Dataset.Digest == one.Dataset.Digest {
		t.Errorf("another number keeps the digest (%v)", err)
	}
}

// What an entry declares of its numbers is held against them.
func TestAnEntryThatIsWrongIsRefused(t *testing.T) {
	for reason, c := range map[string]struct {
		set    string
		change func(*Dataset)
		want   string
	}{
		"rows":           {"teacher-reg", func(d *Dataset) { d.Make = shortened(d.Make) }, "505 rows: want 506"},
		"features":       {"logistic", func(d *Dataset) { d.Features = 2 }, "want 2 features"},
		"task":           {"toy", func(d *Dataset) { d.Task, d.Classes = Classification, 2 }, "0 rows: want 2"},
		"classes":        {"logistic", func(d *Dataset) { d.Classes = 3 }, "no row is of class 2"},
		"fewer classes":  {"logistic", func(d *Dataset) { d.Classes = 1 }, "is of class 1: want 0 to 0"},
		"noise":          {"toy", func(d *Dataset) { d.NoiseVariance = 0 }, "noise variance 0"},
		"training rows":  {"toy", func(d *Dataset) { d.TrainRows, d.TestRows = 1, 1 }, "2 training and 0 test rows: want 1 and 1"},
		"a row twice":    {"toy", func(d *Dataset) { d.Divide = func(int) ([]int, []int) { return []int{0, 0}, nil } }, "row 0 is out of range or stands twice"},
		"made by no one": {"toy", func(d *Dataset) { d.Make = nil }, "0 rows: want 2"},
	} {
		d, err := Builtin().Lookup(c.set)
		if err != nil {
			t.Fatal(err)
		}
		c.change(&d)
		s, err := (&Resolver{Registry: Registry{d}, Offline: true}).Load(t.Context(), c.set)
		if err == nil {
			_, err = s.Split(0)
		}
		var u *usage.Error
		if !errors.As(err, &u) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.set) {
			t.Errorf("wrong %s: error %v: want a usage error with %q", reason, err, c.want)
		}
	}
}

func shortened(fill func(*Set)) func(*Set) {
	return func(s *Set) {
		fill(s)
		s.X, s.Y = s.X[:len(s.X)-s.Features], s.Y[:len(s.Y)-1]
	}
}

func TestANameThatStandsTwiceIsRefused(t *testing.T) {
	d, err := FromFile("boston", write(t, "1,2\n3,4\n5,6\n7,8\n9,1\n"), FileOptions{NoiseVariance: 1})
	if err != nil {
		t.Fatal(err)
	}
	var u *usage.Error
	if _, err := append(Builtin(), d).Lookup("boston"); !errors.As(err, &u) || !strings.Contains(err.Error(), "two data sets") {
		t.Errorf("error %v: want a usage error", err)
	}
}

// Of 3000 damaged files each is refused in one line or read as a set of the
// shape that its entry declares.
func TestMutatedUserFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(2026, 11))
	text := []byte("size,colour,y\n")
	for i := range 20 {
		text = fmt.Appendf(text, "%d,%g,%d\n", i, float64(i)/7, i%3)
	}
	read := 0
	for i := range 3000 {
		mutant, how := mutate.File(rng, text)
		o := FileOptions{Task: Task(i % 2), Target: "y"}
		if o.Task == Regression {
			o.NoiseVariance = 0.1
		}
		own := &table{task: o.Task, wanted: o.Target, words: true}
		err := own.read(mutant)
		if err == nil {
			_, err = own.settle()
		}
		if err == nil {
			err = own.judge()
		}
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("mutant %d (%s): error of more than one line: %q", i, how, err)
			}
			continue
		}
		read++
		_, names := own.inputs()
		d := Dataset{Shape: Shape{Task: o.Task, Features: len(names), Classes: len(own.classes)}, Rows: len(own.lines), NoiseVariance: o.NoiseVariance}
		if err := own.set(d).check(); err != nil {
			t.Fatalf("mutant %d (%s): %v", i, how, err)
		}
	}
	if read < 300 {
		t.Errorf("%d of 3000 mutants are read: want many, or this test does not see what is accepted", read)
	}
}

// A column of 100 000 different words, such as names, is refused. By a look at all words before each
// it took 19 seconds: where this test is slow, that is back.
func TestAColumnOfManyWordsIsRefused(t *testing.T) {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "patient-%d,%d,%d\n", i, i%7, i%5)
	}
	own := &table{words: true}
	err := own.read([]byte(text.String()))
	if err == nil {
		_, err = own.settle()
	}
	if err == nil || !strings.Contains(err.Error(), "100000 different words") {
		t.Error(err)
	}
}
