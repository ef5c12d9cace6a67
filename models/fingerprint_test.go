package models

import (
	"crypto/sha256"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"hambench/internal/kernel"
	"hambench/models/datasets"
)

func fingerprintOf(t testing.TB, model string, s *datasets.Split, o Options) string {
	t.Helper()
	m, err := Builtin().Lookup(model)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Fingerprint(m, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// changed is a model whose target differs in one thing.
type changed struct {
	Target
	potential, gradient, prediction, prior, score, marginal, product float64 // added, relative
}

func (c changed) Potential(theta []float64) float64 {
	return c.Target.Potential(theta) * (1 + c.potential)
}

func (c changed) Gradient(g, theta []float64, rows Rows) {
	c.Target.Gradient(g, theta, rows)
	g[len(g)/2] += c.gradient * norm(g)
}

func (c changed) HessianVector(hv, theta, v []float64, rows Rows) {
	c.Target.(Hessian).HessianVector(hv, theta, v, rows)
	hv[0] += c.product * norm(hv)
}

func (c changed) Predict(dst, theta []float64) {
	c.Target.Predict(dst, theta)
	if len(dst) > 0 {
		dst[0] += c.prediction * norm(dst)
	}
}

func (c changed) DrawPrior(dst []float64) {
	c.Target.DrawPrior(dst)
	for i := range dst {
		dst[i] *= 1 + c.prior
	}
}

func (c changed) Scores(draws [][]float64) map[string]float64 {
	s := c.Target.(Scorer).Scores(draws)
	for name := range s {
		s[name] *= 1 + c.score
	}
	return s
}

func (c changed) PredictiveMarginals() (mean, sd []float64) {
	mean, sd = c.Target.(Analytic).PredictiveMarginals()
	sd = slices.Clone(sd)
	sd[0] *= 1 + c.marginal
	return mean, sd
}

func (c changed) DrawPosterior(dst []float64) { c.Target.(Analytic).DrawPosterior(dst) }

// A change of one part in 100 000 of anything that a target computes is
// another fingerprint; the same target in a wrapper has the same.
func TestFingerprintChangesWithTheModel(t *testing.T) {
	s := builtin(t, "linear")
	m, err := Builtin().Lookup("linear")
	if err != nil {
		t.Fatal(err)
	}
	of := func(c changed) string {
		w := m
		w.New = func(s *datasets.Split, o Options) (Target, error) {
			inner, err := m.New(s, o)
			c.Target = inner
			return c, err
		}
		f, err := Fingerprint(w, s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	same, seen := of(changed{}), map[string]string{}
	seen[same] = "no change"
	const small = 1e-5
	for what, c := range map[string]changed{
		"potential": {potential: small}, "gradient": {gradient: small}, "Hessian-vector product": {product: small},
		"prediction": {prediction: small}, "prior": {prior: small}, "scores": {score: small}, "marginals": {marginal: small},
	} {
		f := of(c)
		if seen[f] != "" {
			t.Errorf("another %s has the fingerprint of %s", what, seen[f])
		}
		seen[f] = what
	}
	if of(changed{potential: 1e-12}) != same {
		t.Error("a change in the thirteenth digit is another fingerprint")
	}
	m.Name, m.About = "other", "words"
	if of(changed{}) != same {
		t.Error("another name is another fingerprint")
	}
}

// A change of one number in the data, of the noise, or of the split's rows is
// another fingerprint; the name and the index of a split are not in it.
func TestFingerprintChangesWithTheData(t *testing.T) {
	whole := builtin(t, "teacher-reg")
	o := Options{Hidden: []int{5}}
	want := fingerprintOf(t, "bnn", whole, o)
	with := func(change func(s *datasets.Split)) string {
		s := *whole
		s.Digest = "" // it would show each of these changes, if made in the set
		s.TrainX, s.TestX = slices.Clone(s.TrainX), slices.Clone(s.TestX)
		s.TrainY, s.TestY = slices.Clone(s.TrainY), slices.Clone(s.TestY)
		change(&s)
		return fingerprintOf(t, "bnn", &s, o)
	}
	seen := map[string]string{want: "the data", with(func(*datasets.Split) {}): "the data without their digest"}
	for what, change := range map[string]func(s *datasets.Split){
		"input in the last row":  func(s *datasets.Split) { s.TrainX[len(s.TrainX)-1] += 1e-3 },
		"target":                 func(s *datasets.Split) { s.TrainY[200] += 1e-3 },
		"test input":             func(s *datasets.Split) { s.TestX[3] += 1e-3 },
		"test target":            func(s *datasets.Split) { s.TestY[7] += 1e-3 },
		"noise variance":         func(s *datasets.Split) { s.NoiseVariance *= 1.0001 },
		"scale of the target":    func(s *datasets.Split) { s.TargetScale *= 1.0001 },
		"order of training rows": func(s *datasets.Split) { swapRows(s, 11, 401) },
		"row less":               func(s *datasets.Split) { s.TrainX, s.TrainY = s.TrainX[:454*13], s.TrainY[:454] },
	} {
		f := with(change)
		if seen[f] != "" {
			t.Errorf("another %s has the fingerprint of %s", what, seen[f])
		}
		seen[f] = what
	}
	renamed := *whole
	renamed.Name, renamed.Index = "other", 9
	if fingerprintOf(t, "bnn", &renamed, o) != want {
		t.Error("the name of the split is in the fingerprint")
	}
	set, err := (&datasets.Resolver{Offline: true}).Load(t.Context(), "teacher-reg")
	if err != nil {
		t.Fatal(err)
	}
	other, err := set.Split(1)
	if err != nil {
		t.Fatal(err)
	}
	if seen[fingerprintOf(t, "bnn", other, o)] != "" {
		t.Error("another split has the same fingerprint")
	}
	// The smallest change of a number in the set shows by the digest.
	set.Y[whole.TrainAt[17]] *= 1 + 1e-15
	bit, err := set.Split(0)
	if err != nil {
		t.Fatal(err)
	}
	if fingerprintOf(t, "bnn", bit, o) == want {
		t.Error("another last bit of a target has the same fingerprint")
	}
}

func swapRows(s *datasets.Split, i, j int) {
	s.TrainY[i], s.TrainY[j] = s.TrainY[j], s.TrainY[i]
	for k := range s.Features {
		a, b := i*s.Features+k, j*s.Features+k
		s.TrainX[a], s.TrainX[b] = s.TrainX[b], s.TrainX[a]
	}
}

// The options that change numbers change the fingerprint; precision, which
// does not change the model, does not.
func TestFingerprintKnowsTheOptions(t *testing.T) {
	s := builtin(t, "teacher-cls")
	one := fingerprintOf(t, "bnn", s, Options{Hidden: []int{5}})
	if fingerprintOf(t, "bnn", s, Options{Hidden: []int{6}}) == one {
		t.Error("other layers have the same fingerprint")
	}
	if fingerprintOf(t, "bnn", s, Options{Hidden: []int{5}, Precision: "float32"}) != one {
		t.Error("another precision is another fingerprint")
	}
	if fingerprintOf(t, "logistic", s, Options{}) == one {
		t.Error("another model has the same fingerprint")
	}
}

// prints is the environment variable that makes the test binary print its
// fingerprints and end.
const prints = "HAMBENCH_TEST_FINGERPRINTS"

// The fingerprints are the same under every instruction set, and the digest
// of the kernels is another under each: Each set computes in a process of its
// own, as HAMBENCH_ISA chooses it.
func TestFingerprintsAreTheSameUnderEveryInstructionSet(t *testing.T) {
	if os.Getenv(prints) != "" {
		t.Logf("digest:%s", KernelDigest())
		for _, d := range []string{"toy", "logistic", "linear", "teacher-reg", "teacher-cls"} {
			for _, m := range taking(builtin(t, d).Shape()) {
				if m.Dim == nil { // in another language
					continue
				}
				t.Logf("print:%s:%s:%s", d, m.Name, fingerprintOf(t, m.Name, builtin(t, d), Options{}))
			}
		}
		return
	}
	digests, all := map[string]string{}, map[string]string{}
	for _, set := range kernel.Sets() {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFingerprintsAreTheSameUnderEveryInstructionSet$", "-test.v")
		c.Env = append(os.Environ(), prints+"=1", "HAMBENCH_ISA="+set.Name())
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", set.Name(), err, out)
		}
		var found []string
		for _, f := range strings.Fields(string(out)) {
			if d, ok := strings.CutPrefix(f, "digest:"); ok {
				if digests[d] != "" {
					t.Errorf("%s and %s have the same digest of their kernels", set.Name(), digests[d])
				}
				digests[d] = set.Name()
			}
			if strings.HasPrefix(f, "print:") {
				found = append(found, f)
			}
		}
		if len(found) != 9 {
			t.Fatalf("%s printed %d fingerprints: want 9\n%s", set.Name(), len(found), out)
		}
		all[strings.Join(found, "\n")] = set.Name()
	}
	if len(all) != 1 {
		t.Errorf("fingerprints differ between instruction sets: %v", all)
	}
}

// A kernel that rounds one result otherwise has another digest.
func TestKernelDigestSeesTheLastBit(t *testing.T) {
	digest := func(x float64) string {
		d := bitDigest{sha256.New(), newPoints(8)}
		d.add([]float64{1, x})
		return string(d.Sum(nil))
	}
	if digest(1) == digest(1+0x1p-52) || KernelDigest() != KernelDigest() {
		t.Error("the digest does not see the last bit, or is not the same twice")
	}
}

// BenchmarkFingerprint: below 50 ms on the paper's sets.
func BenchmarkFingerprint(b *testing.B) {
	for model, set := range map[string]string{"bnn": "teacher-reg", "linear": "linear"} {
		s := builtin(b, set)
		b.Run(model, func(b *testing.B) {
			for range b.N {
				fingerprintOf(b, model, s, Options{})
			}
		})
	}
}
