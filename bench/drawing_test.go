package bench

import (
	"strings"
	"testing"
)

// Kinds of figures whose captions state settings, or that show chains of different settings as one,
// refuse studies of which that would not be true.
func TestKindsRefuseCellsThatTheyWouldMisstate(t *testing.T) {
	const (
		toy     = "[fix]\ndata = \"toy\"\nobserve = \"histogram\"\nstep = 0.4\nsamples = 100\nbatch = 1\n"
		sets    = "[vary]\ndata = [\"boston\", \"yacht\"]\n[fix]\nsamples = 20\n"
		regimes = sets + "integrator = \"leapfrog\"\n[[grid]]\nbatch = 8\nfriction = [1, 2]\nstep = [0.001, 0.002]\nscheme = [\"reshuffle\", \"replacement\"]\n" +
			"[[grid]]\nbatch = \"full\"\nfriction = [1, 2]\nstep = 0.001\nprecision = \"float64\"\nrepeat = 2\n"
		paths  = "[fix]\ndata = \"logistic\"\nintegrator = \"baoab\"\nstep = 0.1\nbatch = \"full\"\nsamples = 40\n[[grid]]\nobserve = \"path\"\nfriction = [1, 5]\n[[grid]]\nobserve = \"density\"\n"
		under  = `kind = "paths": want one density, of the target of all paths`
		exact  = "[[exact]]\nproblem = \"gaussian\"\nintegrator = \"exact\"\nfriction = [1, 2]\nscheme = [\"reshuffle\", \"replacement\"]\nstep = [0.1, 0.2]\n"
		differ = `kind = "regimes": its cells may differ in data set, model, precision, batch, K, scheme, step, thin, burn and friction alone, and these do in more`
	)
	for _, c := range []struct{ text, kind, want string }{
		{toy + "integrator = \"exact\"\n", "toy", ""},
		{toy + "integrator = \"leapfrog\"\n", "toy", `kind = "toy": want integrator = "exact" for all cells`},
		{sets + "integrator = \"leapfrog\"\nbatch = \"full\"\n[[grid]]\nobserve = \"reference\"\n[[grid]]\nstep = [0.005, 0.002]\n", "scores", ""},
		{sets + "integrator = \"leapfrog\"\nstep = 0.005\nbatch = 8\n", "scores", `kind = "scores": want integrator = "leapfrog" and batch = "full" for all cells`},
		{sets + "integrator = \"baoab\"\nstep = 0.005\nbatch = \"full\"\n", "scores", `kind = "scores": want integrator = "leapfrog" and batch = "full" for all cells`},
		{sets + "integrator = \"leapfrog\"\nstep = 0.005\nbatch = \"full\"\n[[grid]]\nfriction = [1, 2]\n", "scores", `in data set, model, precision, step, thin and burn alone, and these do in more`},
		{paths, "paths", ""},
		{paths + "temperature = 2\n", "paths", under},
		{paths + "temperature = [1, 2]\n", "paths", under},
		{regimes, "regimes", ""},
		{regimes + exact, "regimes", ""},
		{regimes + "[[grid]]\nintegrator = \"baoab\"\nbatch = 8\nstep = 0.001\n", "regimes", differ},
		{regimes + "[[grid]]\nestimator = \"svrg\"\nbatch = 8\nstep = 0.001\n", "regimes", differ},
		{regimes + "[[grid]]\nstart = \"typical\"\nbatch = 8\nstep = 0.001\n", "regimes", differ},
		{regimes + "[[grid]]\nsamples = 40\nbatch = 8\nstep = 0.001\n", "regimes", differ},
		{regimes + "[[grid]]\nhidden = 5\nbatch = 8\nstep = 0.001\n", "regimes", `kind = "regimes": want one model on data set "boston", and there are bnn and bnn:5`},
		{regimes + strings.Replace(exact, `"exact"`, `["exact", "leapfrog"]`, 1), "regimes", `kind = "regimes": its exact errors may differ in problem, friction, scheme and step alone, and these do in more`},
	} {
		f, err := load(t, c.text+"[figure]\nkind = \""+c.kind+"\"\n")
		if err == nil {
			_, err = f.Study(Profile{})
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), "figure: ") || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s:\n%s%v, want %q", c.kind, c.text, err, c.want)
		}
	}
}
