package chain

import (
	"cmp"
	"math"

	"hambench/chain/minibatch"
	"hambench/integrators"
	"hambench/integrators/estimators"
	"hambench/integrators/noise"
	"hambench/models"
	"hambench/usage"
)

// Spec describes a chain: all but its target.
type Spec struct {
	// Integrator is a name, or split:WORD; Params are its step, friction, inner steps,
	// mass, and the parameters of its own.
	Integrator string
	Params     integrators.Params
	// Estimator names the gradient estimator; "" means plain.
	Estimator string
	// Scheme names the mini-batch scheme; "" means DefaultScheme.
	Scheme string
	// Batches is K, the number of batches of an epoch; 0 means 1.
	Batches int
	// More has the settings of a run that no field states (bench.Setting), by name, where
	// they differ from their defaults: float64 or string.
	More map[string]any
	// Centre is where a localisation is centred; nil means at the fixed start that More names,
	// which is then read once for each chain.
	Centre []float64
	// Key names the random streams: a seed, or noise.KeyOf a digest.
	Key uint64
	// Noise drives the integrator; nil means the key's stream StreamNoise.
	Noise integrators.Noise
}

// Registries holds what chains can be made of. A nil list stands for the
// built-in one.
type Registries struct {
	Integrators integrators.Registry
	Estimators  estimators.Registry
	Schemes     minibatch.Registry
}

// New assembles the chain of a spec on a target, which the chain takes over.
// These two alone determine the chain's numbers. An unknown name, a number out
// of range, and parts that do not fit each other are usage errors.
func (r Registries) New(t models.Target, s Spec) (*Sampler, error) {
	in, estimator, scheme, err := r.parts(t.Dim(), s)
	if err != nil {
		return nil, err
	}
	if err := scheme.CheckVisits(s.Batches); err != nil {
		return nil, err
	}
	if t, err = s.Tempered(t); err != nil {
		return nil, err
	}
	if can := models.CapabilitiesOf(t); scheme.Lists && can.Gatherer == nil {
		return nil, usage.Errorf("scheme %q draws lists of rows, which model %q does not take",
			scheme.Name, can.Name)
	}
	p := estimators.Problem{Scheme: scheme.Name, Epoch: cmp.Or(s.Batches, 1)}
	// Only a scheme with an Index has a partition, whose batches come again.
	if scheme.Index != nil {
		p.Batches = p.Epoch
	}
	stream, err := scheme.New(t.Rows(), p.Epoch, noise.New(s.Key, noise.StreamBatches).Rand())
	if err != nil {
		return nil, err
	}
	if s.Noise == nil {
		s.Noise = noise.New(s.Key, noise.StreamNoise)
	}
	return newSampler(t, in, estimator, stream, p, s.Noise)
}

// Check returns the usage errors of New for a spec whose names or numbers are
// wrong. It needs no target.
func (r Registries) Check(s Spec) error {
	_, _, _, err := r.parts(1, s)
	return err
}

// parts returns the parts that a spec names, with the integrator made for a dimension.
// The first unknown name or number out of range is its usage error.
func (r Registries) parts(dim int, s Spec) (in *integrators.Instance, e estimators.Estimator,
	scheme minibatch.Scheme, err error) {
	method, err := r.Integrator(s.Integrator)
	if err == nil {
		in, err = method.New(dim, s.Params)
	}
	if err == nil {
		err = method.CheckNeeds(s.Params)
	}
	if err == nil {
		e, err = r.Estimator(s.Estimator)
	}
	if err == nil {
		scheme, err = r.Scheme(cmp.Or(s.Scheme, DefaultScheme(cmp.Or(s.Batches, 1))))
	}
	return in, e, scheme, err
}

// Integrator returns the integrator with a name, or that of split:WORD. An unknown name
// is a usage error.
func (r Registries) Integrator(name string) (integrators.Integrator, error) {
	return r.Filled().Integrators.Lookup(name)
}

// Estimator returns the estimator with a name; "" is plain. An unknown name is a usage
// error.
func (r Registries) Estimator(name string) (estimators.Estimator, error) {
	return r.Filled().Estimators.Lookup(cmp.Or(name, estimators.Plain.Name))
}

// Scheme returns the mini-batch scheme with a name. An unknown name is a usage error.
func (r Registries) Scheme(name string) (minibatch.Scheme, error) {
	return r.Filled().Schemes.Lookup(name)
}

// Filled returns the registry with the built-in lists in place of nil ones.
func (r Registries) Filled() Registries {
	if r.Integrators == nil {
		r.Integrators = integrators.Builtin()
	}
	if r.Estimators == nil {
		r.Estimators = estimators.Builtin()
	}
	if r.Schemes == nil {
		r.Schemes = minibatch.Builtin()
	}
	return r
}

// DefaultScheme returns the name of the scheme of a chain that names none: the paper's
// reshuffle, or full for one batch.
func DefaultScheme(batches int) string {
	if batches == 1 {
		return "full"
	}
	return "reshuffle"
}

// Batches returns K for a batch size: round(rows/size), so that batches
// differ by at most one row and have about size rows. It is 1 for size 0, which
// stands for all rows, and for sizes above ⅔ of the rows.
func Batches(rows, size int) int {
	if size == 0 {
		return 1
	}
	return max(1, int(math.Round(float64(rows)/float64(size))))
}

// Simulation times, in the units of the step h. They are the same for every chain of a
// data set, whatever its step (paper, appendix "Comparison framework": 500 steps of
// 0.005 per sample, 2000 of burn-in).
const (
	SampleTime = 2.5
	BurnInTime = 10
)

// maxSteps is more steps than a chain can run: the shortest, of a microsecond,
// take half a year.
const maxSteps = 1 << 44

// stepsOver returns the number of steps that comes closest to a simulation time; at
// least 1, at most maxSteps.
func stepsOver(time, step float64) int {
	return int(max(1, min(maxSteps, math.Round(time/step))))
}

// PaperPlan returns the plan of a chain over the paper's simulation times, for a step h.
func PaperPlan(step float64, samples int) Plan {
	return Plan{
		BurnIn:  stepsOver(BurnInTime, step),
		Samples: samples,
		Thin:    stepsOver(SampleTime, step),
	}
}

// Check returns a usage error for a plan without samples, and for one of more steps than a
// chain can run.
func (p Plan) Check() error {
	if p.Samples < 1 || p.Thin < 1 || p.BurnIn < 0 {
		return usage.Errorf("%d samples, %d steps apart, after %d steps: want at least 1, 1 and 0",
			p.Samples, p.Thin, p.BurnIn)
	}
	if n := float64(p.BurnIn) + float64(p.Samples)*float64(p.Thin); n >= maxSteps {
		return usage.Errorf("%d steps before the first of %d samples and %d for each: "+
			"no chain ends; want a larger step h, or fewer", p.BurnIn, p.Samples, p.Thin)
	}
	return nil
}
