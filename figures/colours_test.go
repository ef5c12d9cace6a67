package figures

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/certify"
	"hambench/models"
	"hambench/models/datasets"
)

// inventExact adds to a store invented answers of all kinds for the exact jobs of a plan.
func inventExact(p bench.Plan, m memory) {
	for i, j := range p.Exact {
		var rows []certify.Row
		for k, scheme := range j.Exact.Schemes {
			at := func(x float64) []certify.Number {
				x *= 1 + 0.1*float64(i+k)
				return []certify.Number{certify.Number(x), certify.Number(x / 4)}
			}
			r := certify.Row{Problem: j.Exact.Name, Integrator: j.Exact.Integrator, Values: j.Exact.Values, Estimator: j.Exact.Estimator,
				Inner: j.Exact.Inner, Scheme: scheme, Steps: []float64{0.1, 0.05}}
			r.Kolmogorov, r.Wasserstein = at(0.1), at(0.2)
			if r.Estimator == "plain" {
				r.Estimator = ""
			}
			for name := range observableLabels {
				r.Observables = append(r.Observables, certify.Observable{Name: name, Errors: at(0.01), Resolution: []certify.Number{0, 0}})
			}
			for _, n := range j.Exact.Budgets {
				r.Budgets = append(r.Budgets, certify.AtBudget{Gradients: n, Step: 0.1, Best: at(1 / n)[0], MSE: at(1 / n)})
			}
			rows = append(rows, r)
		}
		m.rows[j.Key] = rows
	}
}

// In no chart of a built-in study do two lines have one colour, and each has that of its entry in
// the legend.
func TestNoTwoLinesOfAChartHaveOneColour(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "bench", "studies", "*.toml"))
	if err != nil {
		t.Fatal(err)
	}
	charts := 0
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), ".toml")
		if id == "reproduce" { // the list of the others
			continue
		}
		f, err := bench.Load(id, bench.Parts{Data: datasets.Builtin(), Models: models.Builtin()})
		if err != nil {
			t.Fatal(err)
		}
		var profile bench.Profile
		if slices.Contains(f.Profiles(), "standard") {
			profile.Name = "standard"
		}
		s, err := f.Study(profile)
		if err != nil {
			t.Fatal(err)
		}
		p := planOf(t, s)
		m := invent(p, nil)
		inventExact(p, m)
		for _, f := range made(t, p, m).Figures {
			charts++
			of := make(map[colour]string)
			for _, e := range f.legend {
				if e.Style.Marker == "" || e.Name == "" { // no line of points
					continue
				}
				if other, taken := of[e.Style.Color]; taken {
					t.Errorf("%s: %s and %s are both %v", f.ID, other, e.Name, e.Style.Color)
				}
				of[e.Style.Color] = e.Name
				if e.Name == "sghmc" && e.Style.Color != stylesOf([]string{"sghmc"})[0].Color {
					t.Errorf("%s: sghmc has another colour than elsewhere", f.ID)
				}
			}
			for _, row := range f.panels {
				for _, p := range row {
					if name := wrongColour(p, of); name != "" {
						t.Errorf("%s, %s: %s has not the colour of its entry", f.ID, p.Title, name)
					}
				}
			}
		}
	}
	if charts < 14 {
		t.Errorf("%d charts: want all", charts)
	}
}

// wrongColour is the name of a line of points whose colour is not that of its entry in the
// legend; "" if there is none.
func wrongColour(p *panel, of map[colour]string) string {
	if p == nil {
		return ""
	}
	for _, s := range p.Series {
		if s.Style.Marker != "" && of[s.Style.Color] != s.Name {
			return fmt.Sprint(s.Name)
		}
	}
	return ""
}

// Lines are told apart without colour: no two of the first 49 styles share dashes and markers.
func TestStylesDifferInGrey(t *testing.T) {
	seen := make(map[string]int)
	for i := range len(dashings) * len(markers) {
		s := categorical(i)
		key := fmt.Sprint(s.Dashes, s.Marker)
		if other, ok := seen[key]; ok {
			t.Errorf("styles %d and %d are both %s", other, i, key)
		}
		seen[key] = i
	}
}
