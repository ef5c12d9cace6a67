package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"hambench/certify"
	"hambench/chain"
	"hambench/estimators"
	"hambench/integrators"
	"hambench/internal/fingerprint"
	"hambench/minibatch"
	"hambench/models"
	"hambench/oracle"
)

// Keys gives jobs their keys: content addresses, hashes of a job's canonical
// JSON and of fingerprints of what makes its numbers. So a change to an
// integrator, an estimator, a scheme, a model, its data, the time loop, the
// making of references or the exact engine changes the keys of the jobs that
// it touches, and of no others. Keys is safe for concurrent use.
type Keys struct {
	// Chains has the parts that names stand for; the zero value has the
	// built-in ones.
	Chains chain.Registry
	// Source has the models and the data.
	Source *models.Source

	mu    sync.Mutex
	marks map[[2]string]func() (string, error) // fingerprints by part and what it is
}

// Cell returns the key of a cell; specs holds the reference chains that cells
// may name, by ID.
func (k *Keys) Cell(ctx context.Context, c Cell, specs map[string]oracle.Spec) (string, error) {
	m := marks{k: k}
	m.model(ctx, c.Dataset, c.Split, c.Model)
	if c.Kernels() > 0 {
		m.chain(c.Integrator, c.Values, c.Estimator, c.Scheme)
	}
	if c.Observe == Coupled {
		m.add("coupled", c.Stream(), func() (string, error) {
			weights, err := k.Chains.Combinations(c.Chain())
			d := fingerprint.New()
			for _, w := range weights {
				for _, x := range w {
					d.Add("weight", math.Round(x*1e4)) // as far as all machines agree
				}
			}
			return d.String(), err
		})
	}
	if c.Oracle != "" && c.Oracle != Analytic {
		spec, ok := specs[c.Oracle]
		if !ok {
			return "", fmt.Errorf("no study of the run lists the reference %.12s of cell %v", c.Oracle, c)
		}
		m.add("reference", c.Oracle, func() (string, error) { return k.Reference(ctx, spec) })
	}
	return m.key(c)
}

// Reference returns the key of reference chains.
func (k *Keys) Reference(ctx context.Context, s oracle.Spec) (string, error) {
	m := marks{k: k}
	m.model(ctx, s.Dataset, s.Split, s.Model)
	m.chain(s.Integrator, nil, "", "full")
	m.add("procedure", "", oracle.Fingerprint)
	return m.key(s)
}

// Exact returns the key of an exact job.
func (k *Keys) Exact(e Exact) (string, error) {
	m := marks{k: k}
	m.integrator(e.Integrator, e.Values)
	m.estimator(e.Estimator)
	for _, s := range e.Schemes {
		m.scheme("scheme "+s, s)
	}
	m.add("engine", "", certify.Fingerprint)
	if e.Budgets != nil || e.Stability || e.Distances { // more than errors and orders
		m.add("answers", "", certify.AnswersFingerprint)
	}
	return m.key(e)
}

// Stable estimates the largest stable step of a cell's chain; it can serve as
// Profile.Stable.
func (k *Keys) Stable(ctx context.Context, c Cell) (float64, error) {
	t, err := k.Source.Target(ctx, c.Dataset, c.Split, c.Model, models.Options{Precision: c.Precision})
	if err != nil {
		return 0, err
	}
	return oracle.StableStep(ctx, t, k.Chains, c.Chain())
}

// Known returns the stable steps of earlier plans on some data sets, in the form
// of Profile.Known. It leaves out cells whose keys have changed: a name may stand
// for other data now, or for another likelihood.
func (k *Keys) Known(ctx context.Context, plans []Plan, on ...string) map[string]float64 {
	known := make(map[string]float64)
	for _, p := range plans {
		specs := specsOf([]Plan{p})
		for _, j := range p.Jobs() {
			of := stableOf(j.Cell)
			h, ok := p.Stable[of]
			if _, twice := known[of]; !ok || twice || !slices.Contains(on, j.Cell.Dataset) {
				continue
			}
			if key, err := k.Cell(ctx, j.Cell, specs); err == nil && key == j.Key {
				known[of] = h
			}
		}
	}
	return known
}

// marks collects the fingerprints of what makes a job's numbers. Each is made once
// for all jobs.
type marks struct {
	k   *Keys
	of  map[string]string // by the part of the job
	err error             // the first
}

// add adds the fingerprint of what a part of the job is.
func (m *marks) add(part, what string, fingerprint func() (string, error)) {
	if m.err != nil {
		return
	}
	if m.of == nil {
		m.of = make(map[string]string)
	}
	k := m.k
	k.mu.Lock()
	if k.marks == nil {
		k.marks = make(map[[2]string]func() (string, error))
	}
	get, ok := k.marks[[2]string{part, what}]
	if !ok {
		get = sync.OnceValues(fingerprint)
		k.marks[[2]string{part, what}] = get
	}
	k.mu.Unlock()
	m.of[part], m.err = get()
}

// key is that of the job whose fingerprints these are.
func (m *marks) key(job any) (string, error) {
	if m.err != nil {
		return "", m.err
	}
	return digest(struct {
		Job   any               `json:"job"`
		Marks map[string]string `json:"fingerprints"`
	}{job, m.of}), nil
}

func (m *marks) model(ctx context.Context, dataset string, split int, model string) {
	m.add("model", fmt.Sprintf("%s %d %s", dataset, split, model), func() (string, error) {
		return m.k.Source.Fingerprint(ctx, dataset, split, model, models.Options{})
	})
}

// chain adds the parts of a chain.
func (m *marks) chain(integrator string, values map[string]float64, estimator, scheme string) {
	m.integrator(integrator, values)
	m.estimator(estimator)
	m.scheme("scheme", scheme)
	m.add("loop", "", chain.Fingerprint)
}

func (m *marks) integrator(name string, values map[string]float64) {
	print := func(i integrators.Method) (string, error) { return integrators.Fingerprint(i, values) }
	m.add("integrator", fmt.Sprint(name, values), found(m.k.Chains.Integrator, name, print))
}

func (m *marks) estimator(name string) {
	m.add("estimator", name, found(m.k.Chains.Estimator, name, estimators.Fingerprint))
}

func (m *marks) scheme(part, name string) {
	print := func(s minibatch.Method) (string, error) { return minibatch.Fingerprint(s), nil }
	m.add(part, name, found(m.k.Chains.Scheme, name, print))
}

// found makes the fingerprint of what a lookup finds.
func found[M any](lookup func(string) (M, error), name string, print func(M) (string, error)) func() (string, error) {
	return func() (string, error) {
		method, err := lookup(name)
		if err != nil {
			return "", err
		}
		return print(method)
	}
}
