package sweep

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"testing"

	"hambench/bench"
	"hambench/bench/store"
	"hambench/certify"
	"hambench/chain"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/models"
	"hambench/models/datasets"
)

// ingredients are what keys hold fingerprints of.
type ingredients struct {
	chains chain.Registries
	models models.Registry
	data   datasets.Registry
}

func builtinParts() ingredients {
	return ingredients{
		chain.Registries{Integrators: integrators.Builtin(), Estimators: estimators.Builtin(), Schemes: minibatch.Builtin()},
		models.Builtin(), datasets.Builtin(),
	}
}

func (p ingredients) keys() *bench.Keys {
	return &bench.Keys{Chains: p.chains, Source: models.NewSource(p.models, &datasets.Resolver{Registry: p.data, Offline: true})}
}

// smallStudies are short chains and exact jobs on small built-in sets, with
// few parts in common.
func smallStudies() []bench.Study {
	short := func(dataset, integrator, scheme string, batches int) bench.Job {
		return bench.Job{Cell: bench.Cell{
			Observe: bench.Distance, Dataset: dataset, Model: dataset, Integrator: integrator, Inner: 1, Friction: 2, Scheme: scheme,
			Batches: batches, BatchSize: 1, Step: 0.01, Samples: 4, Thin: 2, BurnIn: 4, Precision: "float64", Oracle: bench.Analytic,
		}}
	}
	exact := func(integrator, scheme string) bench.ExactJob {
		p := certify.Builtin()[0]
		text, err := p.MarshalJSON()
		if err != nil {
			panic(err)
		}
		return bench.ExactJob{Purpose: bench.OfOrders, Exact: bench.Exact{Name: p.Name, Problem: text, Integrator: integrator, Inner: 1, Schemes: []string{scheme}, Steps: []float64{0.1, 0.05}}}
	}
	return []bench.Study{{
		ID: "small",
		Cells: []bench.Job{
			short("toy", "leapfrog", "replacement", 2), short("toy", "symmetric", "reshuffle", 2),
			short("linear", "leapfrog", "reshuffle", 2), short("linear", "mt3", "cyclic", 2),
		},
		Exact: []bench.ExactJob{exact("leapfrog", "reshuffle"), exact("baoab", "replacement")},
	}}
}

// jobNames says of each job of smallStudies what it is made of.
var jobNames = []string{
	"toy leapfrog replacement", "toy symmetric reshuffle", "linear leapfrog reshuffle", "linear mt3 cyclic",
	"exact leapfrog reshuffle", "exact baoab replacement",
}

func resolved(t *testing.T, k *bench.Keys) []bench.Plan {
	t.Helper()
	plans, err := k.Resolve(t.Context(), "test", smallStudies())
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

// A constant that is changed by a millionth in a part makes the results that
// rest on it not found, and no others.
func TestAChangedPartIsComputedAgainAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	k := builtinParts().keys()
	first := resolved(t, k)
	if _, err := (&Runner{Store: s, Source: k.Source, Parts: bench.Parts{Chains: k.Chains}}).Run(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		part   string
		change func(p *ingredients)
		lost   []string
	}{
		{"nothing", func(*ingredients) {}, nil},
		{"an integrator", func(p *ingredients) {
			replaceIn(p.chains.Integrators, func(m integrators.Integrator) bool { return m.Name == "leapfrog" }, slower)
		}, []string{"toy leapfrog replacement", "linear leapfrog reshuffle", "exact leapfrog reshuffle"}},
		{"a scheme", func(p *ingredients) {
			replaceIn(p.chains.Schemes, func(m minibatch.Scheme) bool { return m.Name == "replacement" }, lastFirst)
		}, []string{"toy leapfrog replacement", "exact baoab replacement"}},
		{"a scheme's order", func(p *ingredients) {
			replaceIn(p.chains.Schemes, func(m minibatch.Scheme) bool { return m.Name == "cyclic" }, func(m minibatch.Scheme) minibatch.Scheme {
				m.Visits = minibatch.Independent{}
				return m
			})
		}, []string{"linear mt3 cyclic"}},
		{"an estimator", func(p *ingredients) {
			replaceIn(p.chains.Estimators, func(m estimators.Estimator) bool { return true }, stronger)
		}, jobNames},
		{"a model", func(p *ingredients) {
			replaceIn(p.models, func(m models.Model) bool { return m.Name == "toy" }, steeper)
		}, []string{"toy leapfrog replacement", "toy symmetric reshuffle"}},
		{"a number of the data", func(p *ingredients) {
			replaceIn(p.data, func(d datasets.Dataset) bool { return d.Name == "toy" }, func(d datasets.Dataset) datasets.Dataset {
				make_ := d.Make
				d.Make = func(s *datasets.Set) { make_(s); s.Y[0] *= 1 + 1e-6 }
				return d
			})
		}, []string{"toy leapfrog replacement", "toy symmetric reshuffle"}},
		{"the rows of a split", func(p *ingredients) {
			replaceIn(p.data, func(d datasets.Dataset) bool { return d.Name == "linear" }, func(d datasets.Dataset) datasets.Dataset {
				divide := d.Divide
				d.Divide = func(i int) (train, test []int) {
					train, test = divide(i)
					train = slices.Clone(train)
					train[0], train[1] = train[1], train[0]
					return train, test
				}
				return d
			})
		}, []string{"linear leapfrog reshuffle", "linear mt3 cyclic"}},
	} {
		p := builtinParts()
		c.change(&p)
		plan := resolved(t, p.keys())[0]
		var lost []string
		for i, j := range plan.Cells {
			if !s.Has(store.Result, j.Key) {
				lost = append(lost, jobNames[i])
			}
		}
		for i, j := range plan.Exact {
			if !s.Has(store.Exact, j.Key) {
				lost = append(lost, jobNames[len(plan.Cells)+i])
			}
		}
		if !slices.Equal(lost, c.lost) {
			t.Errorf("with another %s these are not found: %q; want %q", c.part, lost, c.lost)
		}
	}
}

func replaceIn[T any](list []T, which func(T) bool, by func(T) T) {
	for i := range list {
		if which(list[i]) {
			list[i] = by(list[i])
		}
	}
}

// slower is an integrator whose friction is a millionth less.
func slower(m integrators.Integrator) integrators.Integrator {
	build := m.New
	m.New = func(dim int, p integrators.Params) (*integrators.Instance, error) {
		p.Friction *= 1 - 1e-6
		return build(dim, p)
	}
	return m
}

// lastFirst is a scheme that counts the batches from the last one.
func lastFirst(m minibatch.Scheme) minibatch.Scheme {
	index := m.Index
	m.Index = func(k int, rng *rand.Rand) minibatch.Index { return reversed{index(k, rng), k} }
	return m
}

type reversed struct {
	minibatch.Index
	k int
}

func (r reversed) Next() int { return r.k - 1 - r.Index.Next() }

// stronger is an estimator whose gradients are a millionth too large.
func stronger(m estimators.Estimator) estimators.Estimator {
	build := m.New
	m.New = func(p estimators.Problem) (estimators.Instance, error) {
		e, err := build(p)
		return scaled{e}, err
	}
	return m
}

type scaled struct{ estimators.Instance }

func (s scaled) Force(step estimators.Step, z *integrators.State) integrators.Force {
	return scaledForce{s.Instance.Force(step, z)}
}

type scaledForce struct{ integrators.Force }

func (f scaledForce) Gradient(g, theta []float64) {
	f.Force.Gradient(g, theta)
	for i := range g {
		g[i] *= 1 + 1e-6
	}
}

// steeper is a model whose gradients are a millionth too large.
func steeper(m models.Model) models.Model {
	build := m.New
	m.New = func(s *datasets.Split, o models.Options) (models.Target, error) {
		t, err := build(s, o)
		return steepTarget{t.(models.Analytic)}, err
	}
	return m
}

type steepTarget struct{ models.Analytic }

func (t steepTarget) Gradient(g, theta []float64, rows models.Rows) {
	t.Analytic.Gradient(g, theta, rows)
	for i := range g {
		g[i] *= 1 + 1e-6
	}
}

// Records of other kernels of this machine's instruction set are not reused,
// those of another machine are.
func TestRecordsOfOtherKernelsAreComputedAgain(t *testing.T) {
	dir := t.TempDir()
	k := builtinParts().keys()
	plans := resolved(t, k)
	run := func(m store.Machine) Summary {
		s, err := store.Open(dir, m)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		sum, err := (&Runner{Store: s, Source: k.Source, Parts: bench.Parts{Chains: k.Chains}, Made: store.Made{Machine: m}}).Run(t.Context(), plans)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	cells, exact := len(plans[0].Cells), len(plans[0].Exact)
	if sum := run(here); sum.Cells.Computed != cells || sum.Exact.Computed != exact {
		t.Errorf("first: %+v; want all computed", sum)
	}
	elsewhere, newer := here, here
	elsewhere.Arch, newer.Kernels = "another", "others"
	if sum := run(elsewhere); !sum.Nothing() {
		t.Errorf("on another machine: %+v; want all reused", sum)
	}
	if sum := run(newer); sum.Cells.Computed != cells || sum.Exact.Computed != exact {
		t.Errorf("with other kernels: %+v; want all computed again", sum)
	}
	if sum := run(newer); !sum.Nothing() {
		t.Errorf("with other kernels, again: %+v; want all reused", sum)
	}
}

// An exact error that was damaged is found, quarantined and computed again.
func TestADamagedExactErrorIsComputedAgain(t *testing.T) {
	dir := t.TempDir()
	k := builtinParts().keys()
	plans := resolved(t, k)
	plans[0].Cells = nil
	run := func() Summary {
		s := openStore(t, dir)
		defer s.Close()
		sum, err := (&Runner{Store: s, Source: k.Source}).Run(t.Context(), plans)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	if sum := run(); sum.Exact != (Tally{2, 2, 0}) {
		t.Errorf("first: %+v; want 2 exact jobs computed", sum)
	}
	damage(t, glob(t, dir, "records", "*"), 0.3)
	if r, err := store.Verify(dir); err != nil || r.New() != 1 || r.Keys[store.Exact] != 1 {
		t.Errorf("verify: %+v, %v; want one corruption", r, err)
	}
	if sum := run(); sum.Exact != (Tally{2, 1, 1}) {
		t.Errorf("after the damage: %+v; want one exact job computed", sum)
	}
	if r, err := store.Verify(dir); err != nil || !r.OK() || len(r.Quarantined) != 1 || r.Keys[store.Exact] != 2 {
		t.Errorf("verify: %+v, %v; want the corruption quarantined", r, err)
	}
}

const keysOnly = "HAMBENCH_TEST_KEYS"

// Keys are the same on every machine: under every instruction set.
func TestKeysAreTheSameUnderEveryInstructionSet(t *testing.T) {
	if os.Getenv(keysOnly) != "" {
		for _, p := range resolved(t, builtinParts().keys()) {
			fmt.Println("digest", bench.Digest([]bench.Plan{p}))
		}
		ref, err := builtinParts().keys().Reference(t.Context(), isaSpec())
		fmt.Println("reference", ref, err)
		return
	}
	var first []byte
	for _, isa := range []string{"generic", "avx2", "avx512", "neon"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKeysAreTheSameUnderEveryInstructionSet$")
		cmd.Env = append(os.Environ(), "HAMBENCH_ISA="+isa, keysOnly+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			continue // this machine lacks the instruction set
		}
		out, _, _ = bytes.Cut(out, []byte("PASS"))
		if first == nil {
			first = out
		} else if !bytes.Equal(out, first) {
			t.Errorf("%s:\n%swant\n%s", isa, out, first)
		}
	}
	if !bytes.Contains(first, []byte("digest ")) || !bytes.Contains(first, []byte("reference ")) {
		t.Errorf("no keys in %q", first)
	}
}
