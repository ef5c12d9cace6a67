package bench

import (
	"strings"

	"hambench/usage"
)

// Profile is how much of the paper's grid is run.
type Profile struct {
	Name      string
	About     string
	Splits    int
	Precision string // of network gradients
	Samples   int    // per chain of the sweeps; the tables and Figure 1 have the paper's numbers
	Sweeps    []Sweep
	Inner     []int
	Frictions []float64
	// Bottleneck is Figure 1: its steps with batch size 8, with the full
	// batch, and those of euler with the full batch, which is stable far
	// below the others.
	Bottleneck, BottleneckFull, BottleneckEuler []float64
	BottleneckSamples                           int
	ToySamples                                  int
}

// Sweep is a block of the grid of step and batch sizes.
type Sweep struct {
	Datasets   []string // nil: all
	BatchSizes []int    // Full among them
	Steps      []float64
	Only       []string // the studies that have it; nil: all
}

// Profiles returns the profiles, the smallest first.
//
// The steps follow where the data sets stop being stable (safeFull): a
// grid that reaches one step beyond shows where, and what lies further
// costs nothing and says nothing. A step half the size costs twice the time,
// which is why quick starts just below.
func Profiles() []Profile {
	return []Profile{
		{
			Name: "quick", About: "every figure and table on a coarse grid, one split, sweeps of 40 samples: about 15 minutes on 2 cores",
			Splits: 1, Precision: "float32", Samples: 40,
			Sweeps: []Sweep{
				{Datasets: []string{"boston"}, BatchSizes: []int{8, 32}, Steps: []float64{0.005, 0.01, 0.02, 0.05}},
				{Datasets: []string{"boston"}, BatchSizes: []int{Full}, Steps: []float64{0.01, 0.02, 0.05}},
				{Datasets: []string{"concrete"}, BatchSizes: []int{8}, Steps: []float64{0.001, 0.002, 0.005}},
				{Datasets: []string{"concrete"}, BatchSizes: []int{32}, Steps: []float64{0.002, 0.005}},
				{Datasets: []string{"concrete"}, BatchSizes: []int{Full}, Steps: []float64{0.005, 0.01}},
				{Datasets: []string{"energy", "yacht"}, BatchSizes: []int{8}, Steps: []float64{0.0005, 0.001, 0.002}},
				{Datasets: []string{"energy", "yacht"}, BatchSizes: []int{32}, Steps: []float64{0.001, 0.002}},
				{Datasets: []string{"energy", "yacht"}, BatchSizes: []int{Full}, Steps: []float64{0.002, 0.005}},
				{Datasets: []string{"ionosphere", "vehicle"}, BatchSizes: []int{8, 32, Full}, Steps: []float64{0.01, 0.02, 0.05, 0.1}},
				{Datasets: []string{"linear"}, BatchSizes: []int{8, 32, Full}, Steps: []float64{0.005, 0.01, 0.02, 0.05, 0.1}},
			},
			Inner:           []int{1, 10, 100},
			Frictions:       []float64{1, 5, 20, 50},
			Bottleneck:      []float64{0.002, 0.005, 0.01, 0.02, 0.05, 0.1},
			BottleneckFull:  []float64{0.02, 0.05, 0.07, 0.1, 0.15},
			BottleneckEuler: []float64{0.005, 0.01, 0.02, 0.05}, BottleneckSamples: 2000,
			ToySamples: 100_000,
		},
		{
			Name: "standard", About: "a finer grid, one split, the paper's chains of 200 samples: one to two hours on 2 cores",
			Splits: 1, Precision: "float32", Samples: 200,
			Sweeps: []Sweep{
				{Datasets: []string{"boston"}, BatchSizes: []int{8, 32, 128}, Steps: []float64{0.002, 0.005, 0.01, 0.02, 0.05}},
				{Datasets: []string{"boston"}, BatchSizes: []int{Full}, Steps: []float64{0.005, 0.01, 0.02, 0.05}},
				{Datasets: []string{"concrete", "energy", "yacht"}, BatchSizes: []int{8}, Steps: []float64{0.0005, 0.001, 0.002, 0.005}},
				{Datasets: []string{"concrete", "energy", "yacht"}, BatchSizes: []int{32, 128}, Steps: []float64{0.001, 0.002, 0.005}},
				{Datasets: []string{"concrete", "energy", "yacht"}, BatchSizes: []int{Full}, Steps: []float64{0.002, 0.005, 0.01}},
				{Datasets: []string{"ionosphere", "vehicle"}, BatchSizes: []int{8, 32, 128, Full}, Steps: []float64{0.005, 0.01, 0.02, 0.05, 0.1}},
				{Datasets: []string{"linear"}, BatchSizes: []int{8, 32, 128, Full}, Steps: []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1}},
			},
			Inner:           []int{1, 5, 20, 100},
			Frictions:       []float64{0.5, 2, 5, 10, 50},
			Bottleneck:      []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1},
			BottleneckFull:  []float64{0.01, 0.02, 0.03, 0.05, 0.07, 0.08, 0.09, 0.1, 0.15},
			BottleneckEuler: []float64{0.002, 0.005, 0.01, 0.02, 0.03, 0.05}, BottleneckSamples: 2000,
			ToySamples: 100_000,
		},
		{
			Name: "paper", About: "the paper's grid but for one column (docs/decisions.md), five splits: about a day on 2 cores",
			Splits: 5, Precision: "float32", Samples: 200,
			Sweeps: []Sweep{
				{BatchSizes: []int{8, 16, 32, 64, 128}, Steps: []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1}},
				{BatchSizes: []int{Full}, Steps: []float64{0.002, 0.005, 0.01, 0.02, 0.05, 0.1}},
				// At a fifth or less of the step that is stable (energy's is
				// 0.002), not for the eight frictions: it would take a tenth
				// of the time.
				{Datasets: []string{"energy"}, BatchSizes: []int{Full}, Steps: []float64{0.001}},
				{Datasets: []string{"boston", "concrete", "yacht", "ionosphere", "vehicle", "linear"},
					BatchSizes: []int{Full}, Steps: []float64{0.001}, Only: []string{"methods", "integration-length"}},
			},
			Inner:           []int{1, 2, 5, 10, 20, 50, 100},
			Frictions:       []float64{0.5, 1, 2, 5, 10, 20, 50, 100},
			Bottleneck:      []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1},
			BottleneckFull:  []float64{0.01, 0.02, 0.03, 0.05, 0.07, 0.08, 0.09, 0.1, 0.15},
			BottleneckEuler: []float64{0.002, 0.005, 0.01, 0.02, 0.03, 0.05}, BottleneckSamples: 2000,
			ToySamples: 100_000,
		},
	}
}

// LookupProfile returns the profile of a name. An unknown name is a usage
// error that lists what there is.
func LookupProfile(name string) (Profile, error) {
	var names []string
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, usage.Errorf("unknown profile %q: want one of %s", name, strings.Join(names, ", "))
}
