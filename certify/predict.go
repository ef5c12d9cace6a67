package certify

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"hambench/certify/markov"
	"hambench/certify/probe"
	"hambench/chain/minibatch"
	"hambench/integrators"
)

// Setting says where a chain stands between the law of orders and that of heat (docs/theory.md):
// the target's frequencies, and beside the highest of them, ω, an epoch at each step and the
// friction. It has no numbers of a chain without a momentum.
type Setting struct {
	Low     Number   `json:"omega_min,omitempty"` // see Problem.Frequencies
	High    Number   `json:"omega_max,omitempty"`
	Epochs  []Number `json:"k_eta_omega,omitempty"`  // Kηω at each step
	Damping Number   `json:"c_over_omega,omitempty"` // the fastest rate of C M⁻¹, over ω
	// The law that describes what the batches do at each step; of mini-batches only, and where
	// one is proven, along the direction of the highest frequency and along that of the lowest.
	Regimes []minibatch.Regime `json:"regime,omitempty"`
	Slowest []minibatch.Regime `json:"regime_omega_min,omitempty"`
}

// setting is that of a row of the problem, under a scheme of k batches. It has no regimes unless
// the laws are those of the integrator and of the gradients that it takes.
func (o *Options) setting(in integrators.Integrator, m minibatch.Scheme, k int) (s Setting) {
	low, high := o.Problem.Frequencies(o.InvMass)
	rate := o.Problem.Damping(o.InvMass)
	s.Low, s.High, s.Damping = Number(low), Number(high), Number(rate/high)
	// Both laws rest on how a step answers to its batch: one that has no such response has no
	// regime, though it has frequencies.
	_, reason, err := ResponseOf(in, o.Values, o.Problem.Friction)
	proven := err == nil && reason == "" && !o.OneStep && o.estimation().Plain()
	for _, h := range o.Steps {
		s.Epochs = append(s.Epochs, Number(float64(k)*h*high))
		if law := m.Regime(k, h, high, rate); law != "" && proven {
			s.Regimes = append(s.Regimes, law)
			s.Slowest = append(s.Slowest, m.Regime(k, h, low, rate))
		}
	}
	return s
}

// ResponseOf returns how a step of an integrator, with its own parameters, answers to the
// gradient of its batch, on which the coefficient of the law of orders rests; or the reason for
// which neither that law nor that of heat is proven of the integrator. The friction is one that its
// steps may take.
func ResponseOf(m integrators.Integrator, values map[string]float64,
	friction float64) (r probe.Response, reason string, err error) {
	if m.PositionOnly {
		return r, "the integrator has no momentum", nil
	}
	if m.Variables != nil {
		return r, "the integrator has auxiliary variables", nil
	}
	of := func(h float64) (*integrators.Instance, error) {
		in, err := m.New(1, integrators.Params{Step: h, Friction: friction, Values: values})
		if err == nil {
			in.Freeze()
		}
		return in, err
	}
	in, err := of(1)
	if err != nil {
		return r, "", err
	}
	if _, corrected := in.Kernel.(integrators.VarianceCorrected); corrected {
		return r, "the integrator lessens its noise by the variance of the batches' gradients", nil
	}
	if probe.BatchesTaken(in.Kernel) > 1 {
		return r, "a step takes several batches", nil
	}
	r, ok, err := probe.NewResponse(friction, of)
	if err == nil && !ok {
		reason = "a small step is not one of dθ = M⁻¹r dt, dr = −∇U dt"
	}
	return r, reason, err
}

// randomOrders returns the reason for which the law of orders is not one of a scheme; "" for
// the schemes that take all batches once in a random order.
func randomOrders(m minibatch.Scheme) string {
	switch m.Visits.(type) {
	case minibatch.Permutation, minibatch.Palindrome:
		return ""
	case minibatch.Single:
		return "every step takes all of the data"
	case minibatch.Independent:
		return "batches that are drawn independently add heat, of order 1"
	}
	return "the scheme does not take the batches in a random order"
}

// prediction is what the law of orders needs to know of an integrator on a problem; the reason
// says why it is not proven there.
type prediction struct {
	reason   string         // "" if the law of orders is proven; else the others are not set
	response probe.Response // of a step to its batch's gradient, from which c follows
	own      []finding      // with all of the data at every step, by observable
}

// predict returns what is needed to predict the errors of the integrator of a certification with
// all of the data.
func (c certification) predict(ctx context.Context) (*prediction, error) {
	var out prediction
	o := c.options
	switch {
	case o.OneStep:
		out.reason = "one step has no stationary law"
	case !o.estimation().Plain():
		out.reason = "the gradients are not those of the batches"
	case o.Problem.Batches() == 1:
		out.reason = "there is one batch"
	}
	if out.reason != "" {
		return &out, nil
	}
	var err error
	out.response, out.reason, err = ResponseOf(c.asked.method, o.Values, o.Problem.Friction)
	if err != nil || out.reason != "" {
		return &out, err
	}
	if c.scheme, err = minibatch.Builtin().Lookup("full"); err != nil {
		return nil, err
	}
	if o.Problem.Kind == Crossing { // the integrator is taken at its word
		for _, name := range c.asked.Observables() {
			f := unknown()
			f.order = c.own(name)
			out.own = append(out.own, f)
		}
		return &out, nil
	}
	var points []markov.Point
	for _, h := range o.Steps {
		p, err := c.asked.at(ctx, c.scheme, h)
		if err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	// c is a copy of the certification: the row's own progress does not count these points.
	c.decides, c.onPoint = true, func() {}
	out.own, err = c.decide(ctx, &Row{}, points)
	return &out, err
}

// withinEpoch is the mean of j(K − j)/(K − 1) over the ends of outer steps, j the steps of the
// epoch by then: what the momentum's covariance has more there, in η² E δδᵀ.
func withinEpoch(k, inner int) float64 {
	sum := 0.0
	for outer := range k { // as many make whole epochs
		j := float64(outer * inner % k)
		sum += j * (float64(k) - j) / float64(k-1)
	}
	return sum / float64(k)
}

// foresee states in an observable what the law of orders predicts, the size of the signed sum of
// the integrator's own leading coefficient and of what random orders add, or why it predicts
// nothing; and whether that is not what was found.
func (c *certification) foresee(i int, f finding, out *Observable) {
	out.Predicted, out.Reason = Number(math.NaN()), randomOrders(c.scheme)
	switch {
	case out.Reason != "":
		return
	case c.degeneracy != "":
		out.Reason = "the step is not that of a sampler"
		return
	case c.law == nil:
		out.Reason = "no orders are asked for"
		return
	case c.law.reason != "":
		out.Reason = c.law.reason
		return
	}
	k, within := c.options.Problem.Batches(), 0.0
	if c.options.EveryStep {
		within = withinEpoch(k, c.options.Inner)
	}
	// The signed error is the integrator's own and what is added, which is of order 2: an own error
	// of order 1 leads alone, and one of an order above 2 does not count.
	added := c.asked.RandomOrders(c.law.response.Coefficient(k), within)[i]
	own, order, unsure := c.law.own[i], 2, lawError*c.asked.Size(i, added)
	switch {
	// Of a crossing problem the own order is the claimed one, without a coefficient.
	case own.leading == nil && own.order == 2:
		out.Reason = batchesAlone
	case own.leading == nil && own.order < 2:
		out.Reason = ownUnknown
		return
	case own.order < 1:
		out.Reason = ownStays
		return
	case own.order == 1: // random orders add nothing of that order
		order, added = 1, own.leading
	case own.order == 2:
		floats.Add(added, own.leading)
	// The own order is not known; it must be known to be above 2.
	case !(own.order > 2) && !own.lacks(2):
		out.Reason = ownUnknown
		return
	}
	// The integrator's own coefficient is fitted, and as unsure as its fit.
	if own.leading != nil && own.order <= 2 {
		unsure += own.uncertainty * own.constant
	}
	size := c.asked.Size(i, added)
	// The batches may all be equal: then nothing is added, but for rounding.
	if size < squaredRounding {
		size = 0
	}
	out.Predicted, out.PredictedOrder = Number(size), order
	out.Apart = c.amplified == nil && f.contradicts(order, size, unsure)
}

// Reasons for which an error's constant is not predicted, or not all of it.
const (
	ownUnknown   = "the integrator's own error of order 1 or 2 is not known"
	ownStays     = "the integrator's own error does not vanish with the step"
	batchesAlone = "of what random orders add: the integrator's own error of order 2 is not known"
)

const (
	// lawError bounds the relative rounding of the law's coefficient.
	lawError = 1e-6
	// squaredRounding is what is left of equal batches, as the law goes by the squares of their
	// differences.
	squaredRounding = 1e-28
)
