package bench

import (
	"strings"

	"hambench/internal/usage"
)

// Profile is how much of the paper's grid is run.
type Profile struct {
	Name      string
	About     string
	Splits    int
	Precision string // of network gradients
	// Steps are the η of the sweeps, FullSteps those with the full batch
	// (nil: the same), StepsOf those of a data set whose curvature wants
	// smaller ones.
	Steps, FullSteps []float64
	StepsOf          map[string][]float64
	BatchSizes       []int // Full among them
	Inner            []int
	Frictions        []float64
	// BottleneckSteps are the η of Figure 1, and BottleneckSamples the
	// length of its chains.
	BottleneckSteps   []float64
	BottleneckSamples int
	ToySamples        int
}

// Profiles returns the profiles, the smallest first.
func Profiles() []Profile {
	return []Profile{
		{
			Name: "quick", About: "every figure and table on a coarse grid, one split: 20 minutes on 2 cores",
			Splits: 1, Precision: "float32",
			Steps:           []float64{0.01, 0.02, 0.05, 0.1},
			FullSteps:       []float64{0.01, 0.02, 0.05, 0.1},
			BatchSizes:      []int{8, 32, Full},
			Inner:           []int{1, 10, 100},
			Frictions:       []float64{1, 5, 50},
			BottleneckSteps: []float64{0.02, 0.05, 0.1, 0.2}, BottleneckSamples: 2000,
			ToySamples: 100_000,
		},
		{
			Name: "standard", About: "a finer grid, two splits: 3 hours on 2 cores",
			Splits: 2, Precision: "float32",
			Steps:           []float64{0.002, 0.005, 0.01, 0.02, 0.05, 0.1},
			FullSteps:       []float64{0.005, 0.01, 0.02, 0.05, 0.1},
			BatchSizes:      []int{8, 32, 128, Full},
			Inner:           []int{1, 5, 20, 100},
			Frictions:       []float64{0.5, 2, 5, 10, 50},
			BottleneckSteps: []float64{0.01, 0.02, 0.05, 0.1, 0.2}, BottleneckSamples: 2000,
			ToySamples: 100_000,
		},
		{
			Name: "paper", About: "the paper's grid, five splits: a day on 2 cores",
			Splits: 5, Precision: "float32",
			Steps:           []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1},
			BatchSizes:      []int{8, 16, 32, 64, 128, Full},
			Inner:           []int{1, 2, 5, 10, 20, 50, 100},
			Frictions:       []float64{0.5, 1, 2, 5, 10, 20, 50, 100},
			BottleneckSteps: []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2}, BottleneckSamples: 2000,
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

// steps returns the η of a data set at a batch size.
func (p Profile) steps(dataset string, batch int) []float64 {
	if s, ok := p.StepsOf[dataset]; ok {
		return s
	}
	if batch == Full && p.FullSteps != nil {
		return p.FullSteps
	}
	return p.Steps
}
