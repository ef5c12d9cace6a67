package integrators

// Stages is a step with gradients at several positions that are linear
// combinations of the state, of normals, and of one another: its formulas,
// carried out line by line. It is cheapest under a FusedForce.
type Stages struct {
	Theta, R *Vector // the state
	dim      int
	lines    []func(f Force, n Noise) // in the order of the formulas
	sums     [][]Term                 // of the lines, in the same order
}

// Vector is a vector in the formulas of a step: the position, the momentum, or
// what a line makes.
type Vector struct {
	x    []float64
	uses []*Term // the terms of sums in which it stands
}

// is sets the vector, without a coefficient, in all terms in which it stands.
func (x *Vector) is(now Term) {
	for _, t := range x.uses {
		*t = now.Times(t.C)
	}
}

// Scaled is a vector times a number.
type Scaled struct {
	x *Vector
	c float64
}

// Times returns the vector times c.
func (x *Vector) Times(c float64) Scaled { return Scaled{x, c} }

// NewStages returns the step whose formulas, for a coordinate of inverse mass m,
// are the calls that write makes, in their order. They may depend on m in their
// numbers only.
func NewStages(dim int, p Params, write func(s *Stages, m float64)) *Stages {
	written := func(dim int, m float64) *Stages {
		s := &Stages{Theta: &Vector{}, R: &Vector{}, dim: dim}
		write(s, m)
		return s
	}
	// One run of write at M = I makes the lines. Another for each inverse mass makes its
	// coefficients, which are copied into the same terms.
	s := written(dim, 1)
	for i, m := range p.InvMass {
		for j, sum := range written(0, m).sums {
			for k, t := range sum {
				c := &s.sums[j][k].C
				if i == 0 {
					c.Each = make([]float64, dim)
				}
				c.Each[i] = t.C.All
			}
		}
	}
	return s
}

// Step carries out the lines on a state. Vectors that change their storage from step to
// step, the state and what a fused force returns, are set where they are used.
func (s *Stages) Step(z *State, f Force, n Noise) {
	s.Theta.x, s.R.x = z.Theta, z.R
	s.Theta.is(Term{X: z.Theta})
	s.R.is(Term{X: z.R})
	for _, line := range s.lines {
		line(f, n)
	}
}

// line appends a line.
func (s *Stages) line(do func(f Force, n Noise)) { s.lines = append(s.lines, do) }

// vector returns a new vector of the step's own.
func (s *Stages) vector() *Vector { return &Vector{x: make([]float64, s.dim)} }

// sum returns the terms of a sum, and notes in which terms each vector stands.
func (s *Stages) sum(of ...Scaled) []Term {
	terms := make([]Term, len(of))
	for i, t := range of {
		terms[i] = Term{C: Coef{All: t.c}, X: t.x.x}
		t.x.uses = append(t.x.uses, &terms[i])
	}
	s.sums = append(s.sums, terms)
	return terms
}

// Normal returns the noise's next vector.
func (s *Stages) Normal() *Vector {
	xi := s.vector()
	s.line(func(_ Force, n Noise) { n.Normal(xi.x) })
	return xi
}

// Sum returns the sum of the terms.
func (s *Stages) Sum(terms ...Scaled) *Vector {
	x := s.vector()
	s.Set(x, terms...)
	return x
}

// Set stores the sum of the terms in x, which may be one of theirs.
func (s *Stages) Set(x *Vector, terms ...Scaled) {
	sum := s.sum(terms...)
	s.line(func(Force, Noise) { Combine(x.x, sum...) })
}

// Gradient returns x, the sum of the terms, and ∇U(x), which is valid until the
// force is evaluated again.
func (s *Stages) Gradient(terms ...Scaled) (x, g *Vector) {
	x, g, _ = s.evaluate(terms)
	return x, g
}

// Derivatives returns what Gradient returns, and ∇²U(x)v. The step panics under a force
// that is no HessianForce, which Integrator.Check refuses if Needs says so.
func (s *Stages) Derivatives(v Scaled, terms ...Scaled) (x, g, hv *Vector) {
	return s.evaluate(terms, v)
}

// evaluate writes the line of Gradient or, along a vector, of Derivatives.
func (s *Stages) evaluate(terms []Scaled, along ...Scaled) (x, g, hv *Vector) {
	x, g, hv = s.vector(), s.vector(), s.vector()
	xs := s.sum(terms...)
	var v []float64
	var vs []Term
	if len(along) > 0 {
		v, vs = s.vector().x, s.sum(along...)
	}
	s.line(func(f Force, _ Noise) {
		gradient, product := Term{X: g.x}, Term{X: hv.x}
		if fused, ok := f.(FusedForce); ok {
			gradient, product = fused.At(x.x, xs, v, vs)
		} else {
			Combine(x.x, xs...)
			f.Gradient(g.x, x.x)
			if v != nil {
				Combine(v, vs...)
				NeedHessian(f).HessianVector(hv.x, x.x, v)
			}
		}
		// A fused force may answer in vectors of its own, others at every call: the sums in which
		// g and hv stand are told of them.
		g.is(gradient)
		hv.is(product)
	})
	return x, g, hv
}
