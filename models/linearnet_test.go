package models

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"hambench/models/datasets"
)

func netOf(t *testing.T, name string) *linearNet {
	t.Helper()
	m, err := Builtin().Lookup("linear-net:" + name)
	if err != nil {
		t.Fatal(err)
	}
	target, err := m.On(&datasets.Split{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return target.(*linearNet)
}

// The coefficient of two layers is that of Aoyagi and Watanabe (2005), theorem 1 with its four
// cases, for all widths up to 6 and all ranks.
func TestLearningCoefficientsOfTwoLayers(t *testing.T) {
	for m := 1; m <= 6; m++ {
		for h := 1; h <= 6; h++ {
			for n := 1; n <= 6; n++ {
				for r := 0; r <= min(m, h, n); r++ {
					M, H, N, R := float64(m), float64(h), float64(n), float64(r)
					want, multiplicity := 0.0, 1
					switch {
					case m+h < n+r:
						want = (H*M - H*R + N*R) / 2
					case n+h < m+r:
						want = (H*N - H*R + M*R) / 2
					case m+n < h+r:
						want = M * N / 2
					default:
						want = -(H+R)*(H+R) - M*M - N*N + 2*(H+R)*(M+N) + 2*M*N
						if (m+h+n+r)%2 == 1 {
							want, multiplicity = want+1, 2
						}
						want /= 8
					}
					net := &linearNet{widths: []int{m, h, n}, rank: r}
					if got, k := net.LearningCoefficient(); got != want || k != multiplicity {
						t.Errorf("%d, %d, %d, rank %d: λ = %v, m = %d: want %v, %d", m, h, n, r, got, k, want, multiplicity)
					}
				}
			}
		}
	}
}

// Of more layers: a product of L scalars is fitted to 0 with λ = ½ and m = L; a layer that is
// wider than all others changes nothing beyond a width; the order of the widths does not
// matter where the truth is 0; layers as narrow as the truth's rank are regular, with the
// dimension of the matrices of that rank.
func TestLearningCoefficientsOfManyLayers(t *testing.T) {
	of := func(rank int, widths ...int) (float64, int) {
		return (&linearNet{widths: widths, rank: rank}).LearningCoefficient()
	}
	for layers := 1; layers <= 6; layers++ {
		widths := slices.Repeat([]int{1}, layers+1)
		if lambda, m := of(0, widths...); lambda != 0.5 || m != layers {
			t.Errorf("%d scalars: λ = %v, m = %d", layers, lambda, m)
		}
	}
	if lambda, m := of(2, 4, 2, 2, 5); lambda != 2*(4+5-2)/2.0 || m != 1 {
		t.Errorf("matrices of rank 2: λ = %v, m = %d", lambda, m)
	}
	a, _ := of(1, 4, 3, 5, 4)
	b, _ := of(1, 4, 5, 3, 4)
	c, _ := of(1, 4, 3, 50, 4)
	d, _ := of(1, 4, 3, 500, 4)
	if a != b || c != d || a > c {
		t.Errorf("λ = %v, %v, %v, %v", a, b, c, d)
	}
	one, _ := of(1, 4, 3, 4)
	if deep, _ := of(1, 4, 3, 3, 4); deep >= one {
		t.Errorf("λ = %v with another layer: want less than %v", deep, one)
	}
}

// Over all rows the data are those of infinitely many: the loss is n|W − W₀|²/2v + const, least
// at the optimum, where batches pull apart.
func TestTheLossOfALinearNetwork(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, name := range []string{"4,3,2", "3,2,2,4/2", "1,1,1/0"} {
		net := netOf(t, name)
		truth, w := make([]float64, net.Outputs()), make([]float64, net.Outputs())
		net.Predict(truth, net.Optimum())
		if got := floats.Sum(truth); got != float64(net.rank) {
			t.Errorf("%s: W₀ = %v", name, truth)
		}
		least := net.Loss(net.Optimum())
		for range 5 {
			theta := normals(r, net.Dim())
			net.Predict(w, theta)
			want := linearNetRows * math.Pow(floats.Distance(w, truth, 2), 2) / 2
			if got := net.Loss(theta) - least; math.Abs(got-want) > 1e-7*(1+want) {
				t.Errorf("%s: loss %v, want %v", name, got, want)
			}
		}
		theta := net.Optimum()
		for i := range theta {
			theta[i]++
		}
		g, half := make([]float64, net.Dim()), make([]float64, net.Dim())
		net.Gradient(g, theta, Rows{Lo: 0, Hi: net.Rows(), Scale: 1})
		net.Gradient(half, theta, Rows{Lo: 0, Hi: net.Rows() / 2, Scale: 2})
		if floats.Distance(g, half, 2) < 1e-3*floats.Norm(g, 2) {
			t.Errorf("%s: the halves of the rows have the same gradient", name)
		}
	}
}

// Gradients over rows in any arrangement are derivatives of the loss of these rows alone, by
// differences that err by 1e-7 of the potential.
func TestGradientsOfALinearNetwork(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for _, name := range []string{"4,3,2", "3,2,2,4/2", "1,1,1/0"} {
		net := netOf(t, name)
		order := r.Perm(net.Rows())
		net.Arrange(order)
		in, out := net.widths[0], net.widths[len(net.widths)-1]
		for _, rows := range []Rows{{Lo: 0, Hi: net.Rows(), Scale: 1}, {Lo: 3, Hi: 9, Scale: 7}, {Lo: 9, Hi: 9, Scale: 2}} {
			u := func(theta []float64) float64 {
				w, sum := make([]float64, net.Outputs()), 0.0
				net.Predict(w, theta)
				for _, i := range order[rows.Lo:rows.Hi] {
					for o := range out {
						e := net.y[i*out+o] - floats.Dot(w[o*in:(o+1)*in], net.x[i*in:(i+1)*in])
						sum += e * e
					}
				}
				return rows.Scale*sum/2 + halfSquares(theta)
			}
			theta, v, g := normals(r, net.Dim()), normals(r, net.Dim()), make([]float64, net.Dim())
			net.Gradient(g, theta, rows)
			if got, want := dot(g, v), slope(u, theta, v, 1e-5); math.Abs(got-want) > 1e-7*(u(theta)+math.Abs(want)) {
				t.Errorf("%s, %+v: gradient along v is %v, differences give %v", name, rows, got, want)
			}
		}
	}
}

// A scheme whose batches begin at any row asks for ever new sums: those kept are bounded, and do
// not differ from those that were dropped.
func TestTheSumsOfALinearNetworkAreBounded(t *testing.T) {
	net := newLinearNet([]int{300, 1, 300}, 1, 700, 1)
	theta, first, again := normals(rand.New(rand.NewPCG(3, 1)), net.Dim()), make([]float64, net.Dim()), make([]float64, net.Dim())
	net.Gradient(first, theta, Rows{Lo: 0, Hi: 1, Scale: 2})
	for lo := range 240 {
		net.of(Rows{Lo: lo, Hi: lo + 1})
		if n := len(net.moments) * 300 * 600; n > keptSums {
			t.Fatalf("%d numbers are kept", n)
		}
	}
	net.Gradient(again, theta, Rows{Lo: 0, Hi: 1, Scale: 2})
	if !slices.Equal(first, again) {
		t.Error("sums made again have another gradient")
	}
}

func TestBadLinearNetworksAreUsageErrors(t *testing.T) {
	for name, want := range map[string]string{
		"linear-net":             "model \"linear-net\" without its widths: want those of inputs, hidden layers and outputs, as in linear-net:5,3,5",
		"linear-net:5,3":         "model \"linear-net:5,3\": 2 widths: want those of inputs, hidden layers and outputs, as in linear-net:5,3,5",
		"linear-net:5,x,3":       `model "linear-net:5,x,3": width "x": want 1 to 10000`,
		"linear-net:5,3,5/4":     `model "linear-net:5,3,5/4": rank "4" of the truth: want 0 to 3, the smallest width`,
		"linear-net:5,3,5/r":     `model "linear-net:5,3,5/r": rank "r" of the truth: want 0 to 3, the smallest width`,
		"linear-net:900,900,900": `model "linear-net:900,900,900": 1620000 weights: want at most 100000, and at most 1000 inputs and outputs`,
		"crossing:2":             `model "crossing" has nothing to choose: want no more than its name`,
	} {
		if _, err := Builtin().New(name, &datasets.Split{}, Options{}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Builtin().checkTakes(t, "crossing"); err == nil || !strings.Contains(err.Error(), "wants no rows") {
		t.Error(err)
	}
}

func (r Registry) checkTakes(t *testing.T, name string) error {
	t.Helper()
	_, err := r.New(name, builtin(t, "linear"), Options{})
	return err
}

// crossingGrid integrates functions over the crossing's density, exp(−s(ab)²/2 − γ|θ|²/2), by
// another way: trapezoids of width 0.01 in a and b, which resolve the ridge's width of
// 1/√s = 0.2.
func crossingGrid(s, gamma float64, all ...func(a, b float64) float64) []float64 {
	sums, total := make([]float64, len(all)), 0.0
	for i := -600; i <= 600; i++ {
		for j := -600; j <= 600; j++ {
			a, b := float64(i)/100, float64(j)/100
			p := math.Exp(-s*a*a*b*b/2 - gamma*(a*a+b*b)/2)
			total += p
			for k, f := range all {
				sums[k] += p * f(a, b)
			}
		}
	}
	floats.Scale(1/total, sums)
	return sums
}

// Quadrature of the crossing against a grid, at a temperature and a localisation that leave
// s = 25 and γ = 1.025.
func TestTheLawOfTheCrossing(t *testing.T) {
	plain, err := Builtin().New("crossing", &datasets.Split{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	target, err := (Tempering{Temperature: 40, Localisation: 1, Centre: []float64{0, 0}}).On(plain)
	if err != nil {
		t.Fatal(err)
	}
	can := CapabilitiesOf(target)
	const s, gamma = 25, 1.025
	for _, x := range [][2]float64{{0.3, -0.7}, {2, 1}} {
		want := s*x[0]*x[0]*x[1]*x[1]/2 + gamma*(x[0]*x[0]+x[1]*x[1])/2
		if got := target.Potential(x[:]) - target.Potential([]float64{0, 0}); math.Abs(got-want) > 1e-9 {
			t.Errorf("U = %v at %v, want %v", got, x, want)
		}
	}
	_, sd := can.Analytic.PredictiveMarginals()
	at := []float64{-1, 0.1234, 0.5178}
	functions := []func(a, b float64) float64{
		func(a, _ float64) float64 { return a * a }, func(_, b float64) float64 { return b * b },
		func(a, b float64) float64 { return a * a * b * b },
	}
	for _, v := range at {
		functions = append(functions,
			// Half a cell on both sides of v takes the rest of the error.
			func(a, _ float64) float64 { return min(max((v-a)/0.01+0.5, 0), 1) },
			func(a, b float64) float64 {
				if a*b <= v {
					return 1
				}
				return 0
			})
	}
	want := crossingGrid(s, gamma, functions...)
	for o := range 3 {
		if math.Abs(sd[o]/math.Sqrt(want[o])-1) > 1e-5 {
			t.Errorf("deviation %v of output %d, want %v", sd[o], o, math.Sqrt(want[o]))
		}
	}
	for i, v := range at {
		if got := can.Marginals.CDF(0, v); math.Abs(got-want[3+2*i]) > 1e-4 {
			t.Errorf("P(a ≤ %v) = %v, want %v", v, got, want[3+2*i])
		}
		// The indicator of a cell of the grid is off by its size.
		if got := can.Marginals.CDF(2, v); math.Abs(got-want[4+2*i]) > 3e-3 {
			t.Errorf("P(ab ≤ %v) = %v, want %v", v, got, want[4+2*i])
		}
	}
	// Exact draws follow the distribution functions: right ones exceed 1.95/√n once in 1000, one of
	// three outputs at up to 3 seeds in 1000. The seed is pinned.
	r, draws := rand.New(rand.NewPCG(3, 1)), make([][]float64, 3)
	const n = 1000
	for range n {
		theta, out := normals(r, 2), make([]float64, 3)
		can.Analytic.DrawPosterior(theta)
		target.Predict(out, theta)
		for o, v := range out {
			draws[o] = append(draws[o], v)
		}
	}
	for o, x := range draws {
		slices.Sort(x)
		var worst float64
		for i, v := range x {
			worst = max(worst, math.Abs(can.Marginals.CDF(o, v)-(float64(i)+0.5)/n))
		}
		if worst > 1.95/math.Sqrt(n) {
			t.Errorf("draws of output %d are %v from their law", o, worst)
		}
	}
	// A centre elsewhere has no known law.
	tied, err := (Tempering{Temperature: 1, Localisation: 1, Centre: []float64{1, 0}}).On(plain)
	if err != nil || CapabilitiesOf(tied).Analytic != nil {
		t.Errorf("%v: the law tied to (1, 0) is said to be known", err)
	}
}
