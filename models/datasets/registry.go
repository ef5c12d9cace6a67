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
	Path   string   // relative to a data folder, with slashes
	SHA256 string   // hex digest of the file's bytes
	URLs   []string // where to get it, in order of preference
}

// Shape is what a model must know of data before they are loaded.
type Shape struct {
	Task      Task `toml:"-"`
	TrainRows int  `toml:"train"` // of a split
	Features  int
	Classes   int // of a classification
}

// Dataset is an entry of a Registry: everything that is known of a data set
// before it is loaded. What it declares is verified when the set is loaded.
type Dataset struct {
	Name  string
	Label string // for figures and tables
	About string // one line for lists
	Shape
	Rows     int // in all
	TestRows int `toml:"test"` // of a split
	// NoiseVariance is σ² of the Gaussian likelihood on the standardised target of a
	// regression.
	NoiseVariance float64 `toml:"noise"`
	Model         string  // the model that studies use on the data unless they name another
	StandIn       string  `toml:"stand-in"` // takes its place if it cannot be obtained; "" means none

	Plain  bool // used as it is: not standardised
	Splits int  // how many there are; 0 means 1000
	// Divide returns the row numbers of a split. nil means a permutation with
	// the project's own seed.
	Divide func(index int) (train, test []int) `toml:"-"`

	// Files hold the numbers: rows without a header, whose last column is the
	// target, in a classification one of ClassNames, whose order numbers the
	// classes. Without files, Make fills the set.
	Files      []File
	ClassNames []string     `toml:"class-names"`
	Make       func(s *Set) `toml:"-"`

	Path   string // of a user's own file
	Target string // its column in that file's header; "" without one
	Digest string // SHA-256 of that file's bytes
}

// Builtin reports whether the set comes from no file.
func (d Dataset) Builtin() bool { return len(d.Files) == 0 && d.Path == "" }

// Registry is a list of data sets. A program's own are appended to those of
// Builtin.
type Registry []Dataset

// None is the built-in data set without rows, for models that have data of their
// own.
const None = "none"

//go:embed builtin.toml
var builtinText string

// Builtin returns the data sets that the project knows, those from files
// first.
func Builtin() Registry { return slices.Clone(builtin()) }

var builtin = sync.OnceValue(func() (r Registry) {
	var file struct {
		Address map[string]string // that files' addresses name
		Dataset []struct {
			Dataset
			Published bool
		}
	}
	d := toml.NewDecoder(strings.NewReader(builtinText)).DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		panic("datasets: " + err.Error()) // tests read it
	}
	for _, e := range file.Dataset {
		d := e.Dataset
		switch {
		case e.Published:
			d.TrainRows = int(math.RoundToEven(0.9 * float64(d.Rows)))
			d.TestRows = d.Rows - d.TrainRows
			d.Divide = permuted(publishedSeed, d.Rows, d.TrainRows, d.TestRows)
		case d.Plain:
			d.Splits, d.Divide = 1, fixedSplit(d.Rows, d.TrainRows)
		}
		if d.Classes > 0 {
			d.Task = Classification
		}
		d.Make = makers[d.Name]
		for i := range d.Files {
			for k, u := range d.Files[i].URLs {
				d.Files[i].URLs[k] = os.Expand(u, func(name string) string { return file.Address[name] })
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
// the one that takes its place. A set that none can replace is left out.
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
	return note + ". Get the data with: " + FetchCommand
}

// read returns the set of the entry, from the bytes of its files if it has
// any, and verified.
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

// table is for the rows of the entry's files.
func (d Dataset) table() table {
	return table{
		task: d.Task, target: d.Features, names: make([]string, d.Features+1), classes: d.ClassNames,
	}
}
