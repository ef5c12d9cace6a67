package models

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"hambench/models/datasets"
)

// plainNet is the paper's network written down without any thought for
// speed: f_l = W_l φ(f_{l−1})/√D_{l−1} + b_l, with θ holding W_l as [in][out], then
// b_l, layer after layer.
func plainNet(widths []int, theta, x []float64) []float64 {
	f := x
	for l := 1; l < len(widths); l++ {
		in, out := widths[l-1], widths[l]
		w, b := theta[:in*out], theta[in*out:(in+1)*out]
		theta = theta[(in+1)*out:]
		next := make([]float64, out)
		for o := range next {
			for i, v := range f {
				if l > 1 {
					v = math.Max(v, 0)
				}
				next[o] += w[i*out+o] * v
			}
			next[o] = next[o]/math.Sqrt(float64(in)) + b[o]
		}
		f = next
	}
	if len(theta) != 0 {
		panic("too many parameters")
	}
	return f
}

// plainPotential is U(θ) of a network, constants left out for regression.
func plainPotential(s *datasets.Split, widths []int, theta []float64) float64 {
	var u float64
	for _, v := range theta {
		u += v * v / 2
	}
	for i := range s.TrainRows() {
		f := plainNet(widths, theta, s.TrainX[i*s.Features:(i+1)*s.Features])
		if s.Task == datasets.Regression {
			u += (f[0] - s.TrainY[i]) * (f[0] - s.TrainY[i]) / (2 * s.NoiseVariance)
			continue
		}
		var sum float64
		for _, z := range f {
			sum += math.Exp(z)
		}
		u += math.Log(sum) - f[s.TrainLabels[i]]
	}
	return u
}

// networks are the paper's networks on data of every kind.
func networks(t testing.TB) map[string][]int {
	return map[string][]int{
		"teacher-reg": {13, 50, 50, 50, 50, 1},
		"teacher-cls": {34, 50, 50, 2},
		"four":        {5, 50, 50, 4},
	}
}

func networkData(t testing.TB, name string) *datasets.Split {
	if name == "four" {
		return vehicles()
	}
	return builtin(t, name)
}

// The default network is the paper's, with its potential and its
// predictions. Sums of at most 8401 + 455 terms in another order: 1e-12.
func TestNetworkAgainstPlainOne(t *testing.T) {
	for name, widths := range networks(t) {
		s := networkData(t, name)
		target, err := Builtin().New("bnn", s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(8, 0))
		theta, other := normals(r, target.Dim()), normals(r, target.Dim())
		got := target.Potential(theta) - target.Potential(other)
		want := plainPotential(s, widths, theta) - plainPotential(s, widths, other)
		if size := plainPotential(s, widths, theta); math.Abs(got-want) > 1e-12*size {
			t.Errorf("%s: potential differs by %.15g: want %.15g", name, got, want)
		}
		out := make([]float64, target.Outputs())
		target.Predict(out, theta)
		for i := range s.TestRows() {
			checkPrediction(t, s, out, i, plainNet(widths, theta, s.TestX[i*s.Features:(i+1)*s.Features]))
		}
	}
}

// checkPrediction compares the outputs at test row i with raw network
// outputs.
func checkPrediction(t *testing.T, s *datasets.Split, out []float64, i int, raw []float64) {
	t.Helper()
	want := raw
	if s.Task == datasets.Classification {
		var sum float64
		for _, z := range raw {
			sum += math.Exp(z)
		}
		want = nil
		for _, z := range raw {
			want = append(want, math.Exp(z)/sum)
		}
		if s.Classes == 2 {
			want = want[1:]
		}
	}
	for k, w := range want {
		if got := out[i*len(want)+k]; math.Abs(got-w) > 1e-12*math.Max(1, math.Abs(w)) {
			t.Fatalf("%s: output %d of test row %d is %.15g: want %.15g", s.Name, k, i, got, w)
		}
	}
}

// Gradients of float32 agree with those of float64 to float32's resolution:
// 1.2e-7 per rounding, a few hundred of them in a chain of five products.
func TestNetworkPrecisions(t *testing.T) {
	for name := range networks(t) {
		s := networkData(t, name)
		narrow, _ := Builtin().New("bnn", s, Options{Precision: "float32"})
		wide, err := Builtin().New("bnn", s, Options{Precision: "float64"})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(9, 0))
		theta, a, b := normals(r, wide.Dim()), make([]float64, wide.Dim()), make([]float64, wide.Dim())
		rows := Rows{Lo: 0, Hi: s.TrainRows(), Scale: 1}
		narrow.Gradient(a, theta, rows)
		wide.Gradient(b, theta, rows)
		if d := distance(a, b) / norm(b); d > 1e-5 || d == 0 {
			t.Errorf("%s: relative difference of float32 to float64 is %.2g: want more than 0 and below 1e-5", name, d)
		}
	}
}

// On the real sets the parameters number as the architecture says, and the
// scores of a constant prediction are the data's own.
func TestNetworksOnUCI(t *testing.T) {
	r := &datasets.Resolver{Dir: dataFolder(t), Offline: true}
	for name, dim := range map[string]int{"boston": 8401, "concrete": 8151, "energy": 8151, "yacht": 8051, "ionosphere": 4402, "vehicle": 3704} {
		set, err := r.Load(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := set.Split(0)
		if err != nil {
			t.Fatal(err)
		}
		target, err := Builtin().New(set.Model, s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if target.Dim() != dim {
			t.Errorf("%s: %d parameters: want %d", name, target.Dim(), dim)
		}
		if s.Task == datasets.Regression {
			checkConstantScores(t, target, set, s)
		}
	}
}

// checkConstantScores compares the error of the prediction 0 with that of the
// training mean, taken from the unstandardised targets.
func checkConstantScores(t *testing.T, target Target, set *datasets.Set, s *datasets.Split) {
	t.Helper()
	var mean, squares float64
	for _, i := range s.TrainAt {
		mean += set.Y[i] / float64(len(s.TrainAt))
	}
	for _, i := range s.TestAt {
		squares += (set.Y[i] - mean) * (set.Y[i] - mean) / float64(len(s.TestAt))
	}
	got := target.(Scorer).Scores([][]float64{make([]float64, target.Outputs())})["rmse"]
	if want := math.Sqrt(squares); math.Abs(got-want) > 1e-12*want {
		t.Errorf("%s: rmse of the mean is %.15g: want %.15g", s.Name, got, want)
	}
}

// dataFolder is the folder of the UCI files; a relative one is so from the
// module's root.
func dataFolder(t *testing.T) string {
	dir := os.Getenv(datasets.EnvData)
	if dir == "" {
		t.Skip("needs the UCI files: set HAMBENCH_DATA")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join("..", dir)
	}
	return dir
}
