package oracle

import (
	"errors"
	"math"
	"math/rand/v2"
	"regexp"
	"testing"

	"gonum.org/v1/gonum/floats"

	"hambench/models"
	"hambench/models/datasets"
	"hambench/usage"
)

// exactDraws are independent draws of the toy's predictive values, with the
// deviation from the mean multiplied.
func exactDraws(a *Analytic, t models.Target, n int, rng *rand.Rand, widened float64) [][]float64 {
	theta, draws := make([]float64, t.Dim()), make([][]float64, n)
	for i := range draws {
		a.DrawStart(theta, rng)
		draws[i] = make([]float64, t.Outputs())
		t.Predict(draws[i], theta)
		for o := range draws[i] {
			draws[i][o] = a.mean[o] + widened*(draws[i][o]-a.mean[o])
		}
	}
	return draws
}

// Of right draws, one set in a hundred is refused: 4 of 400, give or take 2. Of
// draws with twice the deviation, nearly all are. The toy has one output, so the limit is
// nearly Kolmogorov's 99 % quantile, 1.628/√n, of as many draws as are effective: one that
// is too high would refuse too few wrong ones.
func TestJudgeRefusesOneRightSetInAHundred(t *testing.T) {
	target, err := models.NewSource(nil, &datasets.Resolver{Offline: true}).Target(t.Context(), "toy", 0, "toy", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	truth, err := NewAnalytic("toy", target)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	refused := map[float64]int{}
	for range 400 {
		for _, widened := range []float64{1, 2} {
			j, err := Judge(target, truth, [][][]float64{exactDraws(truth, target, 200, rng, widened)})
			if err != nil {
				t.Fatal(err)
			}
			if !j.Accepted {
				refused[widened]++
			}
			if at := j.Limit * math.Sqrt(j.Effective); at < 1.55 || at > 1.72 {
				t.Fatalf("the limit of %.0f effective draws is %.3f/√n, want about 1.63", j.Effective, at)
			}
		}
	}
	if refused[1] > 12 || refused[2] < 390 {
		t.Errorf("refused %d of 400 right sets and %d of 400 wrong ones: want at most 12, at least 390", refused[1], refused[2])
	}
	t.Logf("refused %d of 400 right sets, %d of 400 with twice the deviation", refused[1], refused[2])
}

// manyOutputs is a target of which Judge asks nothing else.
type manyOutputs struct {
	models.Target
	outputs int
}

func (m manyOutputs) Outputs() int { return m.outputs }

// Against a reference, too, about one right set in a hundred is refused, of fewer
// draws than it has and of more: at most 4 % of 240, a false alarm of the test once in
// 3000 at 1 %. Of sets whose deviation is half as large again, nearly all are; of 40 draws
// 0.4, with a standard error of 0.03.
func TestJudgeRefusesFewRightSetsByReferences(t *testing.T) {
	const outputs = 10
	rng := rand.New(rand.NewPCG(2, 1))
	for _, n := range []int{40, 200, 2000} {
		refused := map[float64]int{}
		for range 24 {
			r := &Reference{Spec: Spec{Samples: 200}, Draws: correlated(rng, 5, 200, outputs, 0.05, 0.6, 0)}
			for range 10 {
				draws := converted[float64](correlated(rng, 1, n, outputs, 0, 0.6, 0)[0])
				for _, widened := range []float64{1, 1.5} {
					for _, d := range draws {
						floats.Scale(widened, d)
					}
					j, err := Judge(manyOutputs{outputs: outputs}, r, [][][]float64{draws})
					if err != nil {
						t.Fatal(err)
					}
					if !j.Accepted {
						refused[widened]++
					}
				}
			}
		}
		t.Logf("%d draws: refused %d of 240 right sets, %d of 240 with 1.5 times the deviation", n, refused[1], refused[1.5])
		least := map[bool]int{true: 230, false: 78}[n >= 200]
		if refused[1] > 9 || refused[1.5] < least {
			t.Errorf("%d draws: refused %d of 240 right sets and %d wrong ones: want at most 9, and at least %d", n, refused[1], refused[1.5], least)
		}
	}
}

func TestJudgeRefusesChainsThatCannotBeCompared(t *testing.T) {
	target, err := models.NewSource(nil, &datasets.Resolver{Offline: true}).Target(t.Context(), "toy", 0, "toy", models.Options{})
	if err != nil {
		t.Fatal(err)
	}
	draws := func(n, outputs int) [][]float64 {
		out := make([][]float64, n)
		for i := range out {
			out[i] = make([]float64, outputs)
		}
		return out
	}
	for name, chains := range map[string][][][]float64{
		"none": nil, "short": {draws(3, 1)}, "of two lengths": {draws(5, 1), draws(6, 1)}, "of other outputs": {draws(5, 2)},
	} {
		var mistake *usage.Error
		if _, err := Judge(target, nil, chains); !errors.As(err, &mistake) {
			t.Errorf("%s: %v: want a usage error", name, err)
		}
	}
}

// Draws that cannot show the law they have are neither accepted nor refused.
func TestJudgeSaysWhatItCannotDecide(t *testing.T) {
	target := manyOutputs{outputs: 5}
	rng := rand.New(rand.NewPCG(3, 1))
	reference := func() *Reference {
		return &Reference{Spec: Spec{Samples: 200}, Draws: correlated(rng, 5, 200, 5, 0, 0.6, 0)}
	}
	draws := func(chains, n int, phi float64) [][][]float64 {
		var out [][][]float64
		for _, c := range correlated(rng, chains, n, 5, phi, 0.6, 0) {
			out = append(out, converted[float64](c))
		}
		return out
	}
	stuck := draws(2, 200, 0)
	for c := range stuck {
		for s := range stuck[c] {
			stuck[c][s] = stuck[c][0]
		}
	}
	apart := draws(2, 200, 0)
	for _, d := range apart[0] {
		d[0], d[1], d[2], d[3], d[4] = d[0]+4, d[1]+4, d[2]+4, d[3]+4, d[4]+4
	}
	failed := reference()
	failed.Checks = []Check{{Name: "self-distance, mean"}}
	for _, c := range []struct {
		what, want string
		truth      *Reference
		chains     [][][]float64
	}{
		{"chains that never moved", "never moved", reference(), stuck},
		{"ten draws", "effective sample size of|not mixed", reference(), draws(1, 10, 0)},
		{"hardly moving chains", "want at least 20|not mixed", reference(), draws(1, 200, 0.99)},
		{"chains apart", "not mixed", reference(), apart},
		{"a bad reference", "the reference chains fail a check: self-distance, mean", failed, draws(2, 200, 0)},
		{"right draws", "", reference(), draws(2, 200, 0.2)},
	} {
		j, err := Judge(target, c.truth, c.chains)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(c.want).MatchString(j.Undecided) || (j.Undecided == "") != (c.want == "") {
			t.Errorf("%s: undecided %q, want %q", c.what, j.Undecided, c.want)
		}
		if j.Accepted != (c.want == "") || errors.Is(j.Err(), ErrUndecided) != (c.want != "") {
			t.Errorf("%s: accepted %v, error %v", c.what, j.Accepted, j.Err())
		}
	}
}
