package integrators

// FusedForce is a Force that carries out parts of a step itself, because it can
// do so with fewer passes over the state. The result is the same as by Gradient
// up to rounding; how it is made is the force's own business. Schemes need not
// ask for it: Kick and Stages do.
type FusedForce interface {
	Force
	// Kick carries out θ ← θ + drift∘r and then u, with g = ∇U(θ), on θ =
	// u.Theta and r = u.R, with the next vector of n as ξ, or none if n is
	// nil. It must not use u.G.
	//
	// It returns what the next Kick may be given as ahead, if that has the
	// same drift and nothing else touches the state in between; otherwise ahead
	// is nil. A force must not trust an ahead that another force returned.
	Kick(drift Coef, u *Update, n Noise, ahead any) any
	// At stores the sum of the terms xs in x and returns ∇U(x) as a term for
	// Combine, with coefficient 0. Unless v is nil it also stores the sum of vs
	// in v and returns ∇²U(x)v. The terms are valid until the next call, as
	// long as x and v are not changed.
	At(x []float64, xs []Term, v []float64, vs []Term) (gradient, product Term)
}

// Kick is a step with one gradient, or part of one: a drift, and an Update
// with the gradient at the position that the drift leads to,
//
//	θ ← θ + drift∘r,   r ← P∘r + A∘∇U(θ),   θ ← θ + B∘r,
//	r ← Q∘r + S∘ξ,   θ ← θ + D∘r.
//
// It draws no noise if S is zero. It is cheapest under a FusedForce.
type Kick struct {
	drift  Coef
	update Update
	g      []float64
}

// NewKick returns the Kick of a drift and of an Update's coefficients.
func NewKick(dim int, drift Coef, u Update) *Kick {
	return &Kick{drift: drift, update: u, g: make([]float64, dim)}
}

// Step implements Stepper.
func (k *Kick) Step(z *State, f Force, n Noise) { k.step(z, f, n, nil) }

// step is Step, with what the last one returned, if nothing else has touched
// the state since.
func (k *Kick) step(z *State, f Force, n Noise, ahead any) any {
	fused, ok := f.(FusedForce)
	if !ok {
		k.gradient(z, f)
		k.finish(z, n)
		return nil
	}
	k.update.Theta, k.update.R, k.update.G = z.Theta, z.R, nil
	if isZero(k.update.S) {
		n = nil
	}
	return fused.Kick(k.drift, &k.update, n, ahead)
}

// gradient drifts and stores the gradient there in k.g.
func (k *Kick) gradient(z *State, f Force) {
	if !isZero(k.drift) {
		Combine(z.Theta, times(one, z.Theta), times(k.drift, z.R))
	}
	f.Gradient(k.g, z.Theta)
}

// finish is the rest of the step.
func (k *Kick) finish(z *State, n Noise) {
	k.update.G = k.g
	update(&k.update, z, n)
}

// update carries out u on z, without drift or noise where they are zero.
func update(u *Update, z *State, n Noise) {
	u.Theta, u.R = z.Theta, z.R
	if isZero(u.B) && isZero(u.D) {
		u.Theta = nil
	}
	if isZero(u.S) {
		u.Apply(nil)
		return
	}
	n.Update(u)
}

// follower is a Stepper that may profit from what its last step left; see Kick.step.
type follower interface {
	step(z *State, f Force, n Noise, ahead any) any
}

// isZero reports whether a term is left out: one by coordinate never is, whatever its numbers.
func isZero(c Coef) bool { return c.All == 0 && c.Each == nil }

// adaptive is a leapfrog that learns from its gradients until it is frozen.
type adaptive struct {
	leapfrog *Kick
	observe  func(gradient, r []float64) // may change the leapfrog, and rescale the momentum r
	frozen   bool
}

func (s *adaptive) Step(z *State, f Force, n Noise) { s.step(z, f, n, nil) }

// step is the leapfrog's once nothing looks at gradients.
func (s *adaptive) step(z *State, f Force, n Noise, ahead any) any {
	if s.frozen {
		return s.leapfrog.step(z, f, n, ahead)
	}
	s.leapfrog.gradient(z, f)
	s.observe(s.leapfrog.g, z.R)
	s.leapfrog.finish(z, n)
	return nil
}

// Freeze keeps what was learnt as it is: from then on the chain is Markov.
func (s *adaptive) Freeze() { s.frozen = true }

// flow is an Update without a gradient.
type flow struct{ Update }

func (s *flow) Step(z *State, _ Force, n Noise) { update(&s.Update, z, n) }

// sequence takes steps one after another.
type sequence []Stepper

func (s sequence) Step(z *State, f Force, n Noise) {
	for _, step := range s {
		step.Step(z, f, n)
	}
}
