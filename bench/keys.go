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

// Keys gives jobs their keys: content addresses that hold, beside the job's
// canonical JSON, fingerprints of what makes its numbers. A change of an
// integrator, an estimator, a scheme, a model, its data, the time loop, the
// making of references, or the exact engine so changes the keys of the jobs
// that it touches, and of no others. It is safe for concurrent use.
type Keys struct {
	// Chains are the parts that names stand for; the zero value has the
	// built-in ones.
	Chains chain.Registry
	// Source has the models and the data.
	Source *models.Source

	mu    sync.Mutex
	marks map[string]func() (string, error) // fingerprints by what they are of
}

// keyed is what is hashed to a key.
type keyed struct {
	Job   any               `json:"job"`
	Marks map[string]string `json:"fingerprints"`
}

// Cell returns the key of a cell; specs are the reference chains that cells
// may name, by ID.
func (k *Keys) Cell(ctx context.Context, c Cell, specs map[string]oracle.Spec) (string, error) {
	marks := make(map[string]string)
	add := func(name string, mark string, err error) error {
		marks[name] = mark
		return err
	}
	mark, err := k.model(ctx, c.Dataset, c.Split, c.Model)
	if err := add("model", mark, err); err != nil {
		return "", err
	}
	if c.Kernels() > 0 {
		if err := k.addChain(marks, c.Integrator, c.Values, c.Estimator, c.Scheme); err != nil {
			return "", err
		}
	}
	if c.Observe == Coupled {
		weights, err := k.Chains.Combinations(c.Chain())
		if err != nil {
			return "", err
		}
		d := fingerprint.New()
		for _, w := range weights {
			for _, x := range w {
				d.Add("weight", math.Round(x*1e4)) // as far as all machines agree
			}
		}
		marks["coupled"] = d.String()
	}
	if c.Oracle != "" && c.Oracle != Analytic {
		spec, ok := specs[c.Oracle]
		if !ok {
			return "", fmt.Errorf("no study of the run lists the reference %.12s of cell %v", c.Oracle, c)
		}
		mark, err := k.Reference(ctx, spec)
		if err := add("reference", mark, err); err != nil {
			return "", err
		}
	}
	return digest(keyed{c, marks}), nil
}

// addChain adds the fingerprints of the parts of a chain.
func (k *Keys) addChain(marks map[string]string, integrator string, values map[string]float64, estimator, scheme string) (err error) {
	if marks["integrator"], err = k.integrator(integrator, values); err != nil {
		return err
	}
	if marks["estimator"], err = k.estimator(estimator); err != nil {
		return err
	}
	if marks["scheme"], err = k.scheme(scheme); err != nil {
		return err
	}
	marks["loop"], err = k.mark("loop", chain.Fingerprint)
	return err
}

// Reference returns the key of reference chains.
func (k *Keys) Reference(ctx context.Context, s oracle.Spec) (string, error) {
	marks := make(map[string]string)
	var err error
	if marks["model"], err = k.model(ctx, s.Dataset, s.Split, s.Model); err != nil {
		return "", err
	}
	if err := k.addChain(marks, s.Integrator, nil, "", "full"); err != nil {
		return "", err
	}
	if marks["procedure"], err = k.mark("procedure", oracle.Fingerprint); err != nil {
		return "", err
	}
	return digest(keyed{s, marks}), nil
}

// Exact returns the key of an exact job.
func (k *Keys) Exact(e Exact) (string, error) {
	marks := make(map[string]string)
	var err error
	if marks["integrator"], err = k.integrator(e.Integrator, e.Values); err != nil {
		return "", err
	}
	if marks["estimator"], err = k.estimator(e.Estimator); err != nil {
		return "", err
	}
	for _, s := range e.Schemes {
		if marks["scheme "+s], err = k.scheme(s); err != nil {
			return "", err
		}
	}
	if marks["engine"], err = k.mark("engine", certify.Fingerprint); err != nil {
		return "", err
	}
	if e.asks() {
		marks["answers"], err = k.mark("answers", certify.AnswersFingerprint)
	}
	return digest(keyed{e, marks}), err
}

// Stable estimates the largest stable step of a cell's chain, as Profile.Stable
// wants it.
func (k *Keys) Stable(ctx context.Context, c Cell) (float64, error) {
	t, err := k.Source.Target(ctx, c.Dataset, c.Split, c.Model, models.Options{Precision: c.Precision})
	if err != nil {
		return 0, err
	}
	return oracle.StableStep(ctx, t, k.Chains, c.Chain())
}

// Known returns the stable steps of earlier plans on some data sets, as
// Profile.Known has them, of cells whose keys are what they were: a name may stand
// for other data now, or for another likelihood of theirs.
func (k *Keys) Known(ctx context.Context, plans []Plan, on ...string) map[string]float64 {
	known := make(map[string]float64)
	for _, p := range plans {
		specs := make(map[string]oracle.Spec)
		for _, r := range p.References {
			specs[r.Spec.ID()] = r.Spec
		}
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

// mark returns a fingerprint, which is made once.
func (k *Keys) mark(name string, make_ func() (string, error)) (string, error) {
	k.mu.Lock()
	if k.marks == nil {
		k.marks = make(map[string]func() (string, error))
	}
	get, ok := k.marks[name]
	if !ok {
		get = sync.OnceValues(make_)
		k.marks[name] = get
	}
	k.mu.Unlock()
	return get()
}

func (k *Keys) model(ctx context.Context, dataset string, split int, model string) (string, error) {
	return k.mark(fmt.Sprintf("model %s %d %s", dataset, split, model), func() (string, error) {
		return k.Source.Fingerprint(ctx, dataset, split, model, models.Options{})
	})
}

func (k *Keys) integrator(name string, values map[string]float64) (string, error) {
	return k.mark(fmt.Sprintf("integrator %s %v", name, values), func() (string, error) {
		m, err := k.Chains.Integrator(name)
		if err != nil {
			return "", err
		}
		return integrators.Fingerprint(m, values)
	})
}

func (k *Keys) estimator(name string) (string, error) {
	return k.mark("estimator "+name, func() (string, error) {
		m, err := k.Chains.Estimator(name)
		if err != nil {
			return "", err
		}
		return estimators.Fingerprint(m)
	})
}

func (k *Keys) scheme(name string) (string, error) {
	return k.mark("scheme "+name, func() (string, error) {
		m, err := k.Chains.Scheme(name)
		if err != nil {
			return "", err
		}
		return minibatch.Fingerprint(m), nil
	})
}
