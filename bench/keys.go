package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"hambench/certify"
	"hambench/chain"
	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/internal/distinct"
	"hambench/internal/fingerprint"
	"hambench/models"
	"hambench/oracle"
	"hambench/usage"
)

// Keys gives jobs their keys: content addresses, hashes of a job's canonical
// JSON and of fingerprints of what makes its numbers. So a change to an
// integrator, an estimator, a scheme, a model, its data, the time loop, the
// making of references or the exact engine changes the keys of the jobs that
// it touches, and of no others. Keys is safe for concurrent use.
// Fingerprints are computed once and kept, since those of a model load its data.
type Keys struct {
	// Chains has the parts that names stand for; the zero value has the
	// built-in ones.
	Chains chain.Registries
	// Source has the models and the data.
	Source *models.Source

	// fingerprints holds a function for each name and what of a part that was met (see once),
	// which makes its fingerprint, or finds its number of rows, once.
	fingerprints sync.Map
}

// Cell returns the key of a cell; references are those that cells may name
// (ReferencesByID).
// It reads the data set, whose digest is part of the model's fingerprint. A reference that
// is missing is an error: a study that is restricted to some data sets has lost it.
func (k *Keys) Cell(ctx context.Context, c Cell,
	references map[string]ReferenceJob) (string, error) {
	if err := k.hasRows(ctx, c); err != nil {
		return "", err
	}
	job, err := c.Anywhere()
	if err != nil {
		return "", err
	}
	// A density runs no chain: of all that is computed, it depends on the model alone.
	parts := []part{k.model(ctx, c.Dataset, c.Split, c.Model)}
	if c.Kernels() > 0 {
		parts = append(parts, k.chain(c.Integrator, c.Values, c.Estimator, c.Scheme)...)
		// Code that N_l = 1 does not run leaves the keys of such cells alone.
		if c.Inner > 1 {
			parts = append(parts, part{"inner loop", "", chain.InnerFingerprint})
		}
	}
	if c.Observe == Coupled {
		parts = append(parts, part{"coupled", c.Stream(), func() (string, error) {
			// The chain at h has the normals of the one at h/2 in linear combinations. Their
			// weights follow from the integrator's noise.
			weights, err := k.Chains.Combinations(c.Chain())
			d := fingerprint.New()
			for _, w := range weights {
				for _, x := range w {
					d.Add("weight", math.Round(x*1e4)) // as far as all machines agree
				}
			}
			return d.String(), err
		}})
	}
	for _, s := range declared {
		v, ok := c.More[s.Name]
		if !ok || s.print == nil {
			continue
		}
		if print, err := s.print(v); err != nil {
			return "", err
		} else if print != "" {
			parts = append(parts, part{s.Name, print,
				func() (string, error) { return print, nil }})
		}
	}
	if c.ExactDraws != nil {
		parts = append(parts, part{"exact draws", "", oracle.SampledFingerprint})
	}
	if c.Oracle != "" && c.Oracle != Analytic {
		r, ok := references[c.Oracle]
		if !ok {
			return "", fmt.Errorf("no study of the run lists the reference %.12s of cell %v",
				c.Oracle, c)
		}
		parts = append(parts,
			part{"reference", c.Oracle, func() (string, error) { return k.Reference(ctx, r.Spec) }})
	}
	return k.key(job, parts)
}

// Reference returns the key of reference chains.
// The fingerprints are those of its chains and of the procedure that checks them.
func (k *Keys) Reference(ctx context.Context, s oracle.Spec) (string, error) {
	parts := append(k.chain(s.Integrator, nil, estimators.Plain.Name, "full"),
		k.model(ctx, s.Dataset, s.Split, s.Model), part{"procedure", "", oracle.Fingerprint})
	return k.key(s, parts)
}

// Exact returns the key of an exact job.
// The problem's numbers are in the job itself. Budgets, stability and distances come from
// code of their own, so only jobs that ask for them depend on it.
func (k *Keys) Exact(e Exact) (string, error) {
	parts := []part{k.integrator(e.Integrator, e.Values), k.estimator(e.Estimator),
		{"engine", "", certify.Fingerprint}}
	for _, s := range e.Schemes {
		parts = append(parts, k.scheme("scheme "+s, s))
	}
	if e.Budgets != nil || e.Stability || e.Distances { // more than errors and orders
		parts = append(parts, part{"answers", "", certify.AnswersFingerprint})
	}
	return k.key(e, parts)
}

// StableSteps estimates the largest stable steps of cells' chains, on the cells' splits, in
// the form of Profile.Known. Cells of one target share its typical position, and as many targets
// are worked on at once as there are workers: a few seconds each, a minute where there are
// thousands of rows. Tell is called with each step, and how many are left, one call at a time.
// Steps have three digits: more would be read as if they meant something.
func (k *Keys) StableSteps(ctx context.Context, cells []Cell, workers int,
	tell func(c Cell, h float64, left int)) (map[string]float64, error) {
	// One warm-up serves all cells of a target, and their trials share its scratch space: a
	// target is one worker's.
	var targets []string
	of := make(map[string][]Cell)
	known := make(map[string]float64)
	for _, c := range cells {
		if _, twice := known[stableOf(c)]; twice {
			continue
		}
		// It is noted now, so that a cell of the same chains is not searched for twice.
		known[stableOf(c)] = 0
		name := fmt.Sprint(c.Dataset, c.Split, c.Model, c.Precision, c.More)
		targets, of[name] = distinct.Append(targets, name), append(of[name], c)
	}
	left := len(known)
	var failed error
	var mu sync.Mutex
	var all sync.WaitGroup
	// A worker holds a place in free while it works.
	free := make(chan struct{}, max(workers, 1))
	for _, name := range targets {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			err := k.stableOn(ctx, of[name], func(c Cell, h float64) {
				mu.Lock()
				defer mu.Unlock()
				h, _ = strconv.ParseFloat(strconv.FormatFloat(h, 'g', 3, 64), 64)
				known[stableOf(c)] = h
				left--
				tell(c, h, left)
			})
			mu.Lock()
			defer mu.Unlock()
			failed = cmp.Or(failed, err)
		})
	}
	all.Wait()
	return known, failed
}

// stableOn estimates the largest stable steps of cells of one target.
func (k *Keys) stableOn(ctx context.Context, cells []Cell, found func(Cell, float64)) error {
	c := cells[0]
	// The cells agree in data set, split, model, precision and More (StableSteps), and so in the
	// target, temperature included: the first one's serves all.
	t, err := k.Source.Target(ctx, c.Dataset, c.Split, c.Model,
		models.Options{Precision: c.Precision})
	if err != nil {
		return err
	}
	if t, err = c.Chain().Tempered(t); err != nil {
		return err
	}
	s, err := oracle.NewStability(ctx, t)
	if err != nil {
		return err
	}
	for _, c := range cells {
		h, err := s.Largest(ctx, k.Chains, c.Chain())
		if err != nil {
			return err
		}
		found(c, h)
	}
	return nil
}

// Known returns the stable steps of earlier plans on some data sets, in the form
// of Profile.Known. It leaves out cells whose keys have changed: a name may stand
// for other data now, or for another likelihood.
// A step that cannot be trusted is estimated again.
func (k *Keys) Known(ctx context.Context, plans []Plan, on ...string) map[string]float64 {
	known := make(map[string]float64)
	for _, p := range plans {
		references := ReferencesByID([]Plan{p})
		for _, j := range p.Cells {
			// A cell vouches for its own chains, and for those that [stable] has it follow.
			for _, of := range []string{stableOf(j.Cell), j.Follows} {
				h, ok := p.Stable[of]
				if _, twice := known[of]; !ok || twice || !slices.Contains(on, j.Cell.Dataset) {
					continue
				}
				if key, err := k.Cell(ctx, j.Cell, references); err == nil && key == j.Key {
					known[of] = h
				}
			}
		}
	}
	return known
}

// part is one of the things that make a job's numbers.
// Its fingerprint is made when it is first needed.
type part struct {
	name, what  string // such as integrator, leapfrog
	fingerprint func() (string, error)
}

// key is that of a job whose numbers the parts make.
// The names of the parts are part of the hash, so that an estimator never passes for an
// integrator.
func (k *Keys) key(job any, parts []part) (string, error) {
	of := make(map[string]string)
	for _, p := range parts {
		var err error
		if of[p.name], err = once(k, p.name, p.what, p.fingerprint); err != nil {
			return "", err
		}
	}
	return digest(struct {
		Job          any               `json:"job"`
		Fingerprints map[string]string `json:"fingerprints"`
	}{job, of}), nil
}

// once returns what is made of a part under a name, or was made of it before.
func once[T any](k *Keys, name, what string, compute func() (T, error)) (T, error) {
	// Of two goroutines that come here at once, one stores its function, both call that one.
	made, _ := k.fingerprints.LoadOrStore([2]string{name, what}, sync.OnceValues(compute))
	return made.(func() (T, error))()
}

// hasRows checks that a model with data of its own, which says only when it is asked how many
// rows it has, has one for each batch of a cell.
func (k *Keys) hasRows(ctx context.Context, c Cell) error {
	if !c.HasOwnData() || c.Batches <= 1 {
		return nil
	}
	rows, err := once(k, "rows", c.Model, func() (int, error) {
		t, err := k.Source.Target(ctx, c.Dataset, c.Split, c.Model, models.Options{})
		if err != nil {
			return 0, err
		}
		return t.Rows(), nil
	})
	if err == nil && c.Batches > rows {
		return usage.Errorf("K = %d: model %q has %d training rows", c.Batches, c.Model, rows)
	}
	return err
}

// model is the model on a split of a data set: a change to either changes its fingerprint.
func (k *Keys) model(ctx context.Context, dataset string, split int, model string) part {
	return part{"model", fmt.Sprintf("%s %d %s", dataset, split, model), func() (string, error) {
		return k.Source.Fingerprint(ctx, dataset, split, model, models.Options{})
	}}
}

// chain has the parts of a chain.
func (k *Keys) chain(integrator string, values map[string]float64, estimator,
	scheme string) []part {
	return []part{k.integrator(integrator, values), k.estimator(estimator),
		k.scheme("scheme", scheme), {"loop", "", chain.Fingerprint}}
}

// integrator is an integrator with its own parameters.
func (k *Keys) integrator(name string, values map[string]float64) part {
	digestOf := func(i integrators.Integrator) (string, error) {
		return integrators.Fingerprint(i, values)
	}
	return part{"integrator", fmt.Sprint(name, values), found(k.Chains.Integrator, name, digestOf)}
}

// estimator is an estimator of gradients.
func (k *Keys) estimator(name string) part {
	digestOf := func(e estimators.Estimator) (string, error) {
		return estimators.Fingerprint(e, chain.ModeSearch()...)
	}
	return part{"estimator", name, found(k.Chains.Estimator, name, digestOf)}
}

// scheme is a mini-batch scheme, under the name that the key has for it: an exact job has
// several.
func (k *Keys) scheme(as, name string) part {
	digestOf := func(s minibatch.Scheme) (string, error) { return minibatch.Fingerprint(s), nil }
	return part{as, name, found(k.Chains.Scheme, name, digestOf)}
}

// found makes the fingerprint of what a lookup finds.
// The lookup is part of it, so that an unknown name is the error of the key.
func found[M any](lookup func(string) (M, error), name string,
	digestOf func(M) (string, error)) func() (string, error) {
	return func() (string, error) {
		method, err := lookup(name)
		if err != nil {
			return "", err
		}
		return digestOf(method)
	}
}
