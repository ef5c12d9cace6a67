package datasets

import (
	_ "embed"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"hambench/usage"
)

// File is one file of a data set.
type File struct {
	// Path is relative to a data folder, with slashes, such as boston/data.txt.
	Path string
	// SHA256 is the digest of the file's bytes, in hexadecimal digits.
	SHA256 string
	// URLs are the HTTPS addresses of copies, in order of preference.
	URLs []string
}

// Shape holds the facts about data that a model must know before they are loaded.
type Shape struct {
	Task      Task `toml:"-"`
	TrainRows int  `toml:"train"` // of each split
	Features  int  // numbers of a row
	Classes   int  // of a classification; else 0
}

// Dataset is an entry of a Registry: everything that is known of a data set
// before it is loaded. What it declares is verified when the set is loaded.
type Dataset struct {
	Name  string
	Label string // for figures and tables
	About string // one line for lists
	Shape
	Rows     int // in all; a split may leave some out
	TestRows int `toml:"test"` // of each split
	// NoiseVariance is σ² of the Gaussian likelihood on the standardised target of a
	// regression.
	NoiseVariance float64 `toml:"noise"`
	// ReferenceStep is the step of reference chains; 0 for the usual one.
	ReferenceStep float64 `toml:"reference-step"`
	// Model is the model that studies use on the data unless they name another.
	Model string
	// StandIn is the set that takes its place if it cannot be obtained; "" means none.
	StandIn string `toml:"stand-in"`

	// Plain says that the numbers are used as they are, without standardisation.
	Plain bool
	// Splits is the number of splits; 0 means 1000.
	Splits int
	// Divide returns the row numbers of a split, each at most once. nil means the
	// first rows of a permutation with the project's own seed.
	Divide func(index int) (train, test []int) `toml:"-"`

	// Files hold the numbers: rows without a header, whose last column is the
	// target, but for Unused ones behind it. One of the inputs is a letter, each of which
	// is a feature, if Letters states how many there are. Without files, Make fills the
	// set. ClassNames, if known, are the names of the classes, whose order numbers them.
	Files      []File
	Letters    int
	Unused     int
	ClassNames []string     `toml:"class-names"`
	Make       func(s *Set) `toml:"-"`

	// Path is a user's own file, Digest the SHA-256 of its bytes, and Target the
	// name of the target's column, "" without a header. FeatureNames are the inputs'
	// names; nil if they have none. Notes are what the user should know of the file, a
	// line each. FromFile sets them.
	Path, Target, Digest string
	FeatureNames, Notes  []string
}

// Builtin reports whether the set comes from no file.
func (d Dataset) Builtin() bool { return len(d.Files) == 0 && d.Path == "" }

// Registry is a list of data sets. A program's own are appended to those of
// Builtin.
type Registry []Dataset

// None is the built-in data set without rows, for models that have data of their
// own.
const None = "none"

// mostTrain and mostTest bound the rows of a split that follow from the number of rows in all:
// those beyond are left out, so that no set costs more than the others together.
const mostTrain, mostTest = 2000, 200

// builtinText lists the built-in sets and the addresses of their files.
//
//go:embed builtin.toml
var builtinText string

// Builtin returns the data sets that the project knows, those from files
// first.
func Builtin() Registry { return slices.Clone(builtin()) }

// builtin reads builtinText once.
var builtin = sync.OnceValue(func() (r Registry) {
	var file struct {
		Address map[string]string // variables of the files' URLs
		Dataset []struct {
			Dataset
			Published bool // split as Gal and Ghahramani (2016) did
		}
	}
	d := toml.NewDecoder(strings.NewReader(builtinText)).DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		panic("datasets: " + err.Error()) // a mistake in builtin.toml
	}
	for _, e := range file.Dataset {
		d := e.Dataset
		switch {
		case d.TrainRows == 0 && !d.Plain:
			seed := uint64(ownSeed)
			if e.Published {
				seed = publishedSeed
			}
			train := int(math.RoundToEven(0.9 * float64(d.Rows)))
			d.TrainRows, d.TestRows = min(train, mostTrain), min(d.Rows-train, mostTest)
			d.Divide = permuted(seed, d.Rows, train, d.TrainRows, d.TestRows)
		case d.Plain:
			d.Splits, d.Divide = 1, fixedSplit(d.Rows, d.TrainRows)
		}
		if d.Classes > 0 {
			d.Task = Classification
		}
		d.Make = makers[d.Name]
		// Addresses begin with a variable such as ${archive}, which the table [address] defines.
		address := func(name string) string { return file.Address[name] }
		for _, f := range d.Files {
			for k, u := range f.URLs {
				f.URLs[k] = os.Expand(u, address)
			}
		}
		r = append(r, d)
	}
	return r
})

// Lookup returns the data set with a name. A name that is unknown, or that two
// data sets have, is a usage error.
func (r Registry) Lookup(name string) (Dataset, error) {
	return usage.Lookup("data set", name, r, func(d Dataset) string { return d.Name })
}

// StandIns returns the names, each once, with every unavailable set replaced by
// the one that takes its place. A set without a stand-in is left out.
func (r Registry) StandIns(names, unavailable []string) []string {
	var out []string
	for _, n := range names {
		if slices.Contains(unavailable, n) {
			d, _ := r.Lookup(n)
			n = d.StandIn
		}
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// MissingNote says which data sets were missing, what took their place, and
// which command fetches them; "" if none were missing.
func (r Registry) MissingNote(unavailable []string) string {
	if len(unavailable) == 0 {
		return ""
	}
	note := fmt.Sprintf("no data for %s: skipped", strings.Join(unavailable, ", "))
	if stand := r.StandIns(unavailable, unavailable); len(stand) > 0 {
		note += fmt.Sprintf("; in their place: %s (built in)", strings.Join(stand, ", "))
	}
	return note + ". Get the data with: " + FetchCommand +
		", or name a folder with copies by " + EnvData
}

// read returns the set of the entry, made or read from the bytes of its files, which are
// in the order of d.Files. An error names the file and the line, or the number that the
// set does not have as declared.
func (d Dataset) read(files [][]byte) (*Set, error) {
	s := &Set{Dataset: d}
	if d.Make != nil {
		d.Make(s)
		return s, s.check()
	}
	t := d.table()
	for i, f := range files {
		if err := t.read(f); err != nil {
			return nil, fmt.Errorf("%s: %w", d.Files[i].Path, err)
		}
	}
	s = t.set(d)
	return s, s.check()
}

// table returns an empty table for the rows of the entry's files: the target is the last
// column, and there is no header.
func (d Dataset) table() table {
	target := d.Features
	if d.Letters > 0 { // which are so many features, and one column
		target -= d.Letters - 1
	}
	return table{
		task: d.Task, target: target, words: d.Letters > 0, unused: d.Unused,
		columns: make([]column, target+1), classes: d.ClassNames,
	}
}
