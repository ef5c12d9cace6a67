package certify

import (
	"flag"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"hambench/certify/gaussian"
	"hambench/integrators"
)

var stabilityCount = flag.Int("stability", 0,
	"random problems in TestEveryStepBelowTheLargestIsStable")

// tonguesOnce are trials of which a tongue was missed once: two of one order for ever, and one of
// random orders.
var tonguesOnce = []uint64{21, 25, 119}

// stabilityTrial is a chain whose largest stable step is asked for.
type stabilityTrial struct {
	problem            *Problem
	invMass            []float64
	integrator, scheme string
	fast               float64 // the largest frequency of a batch
	damping            float64 // the smallest rate of friction
}

// String shows a trial so that it can be repeated.
func (c stabilityTrial) String() string {
	raw, _ := c.problem.MarshalJSON()
	return fmt.Sprintf("%s under %s, M⁻¹ = %v, C/ω = %.2g: %s", c.integrator, c.scheme, c.invMass,
		c.damping/c.fast, raw)
}

// randomStabilityTrial draws the trial of a number: C/ω from 10⁻⁴ to 1, of which half are
// below 10⁻².
func randomStabilityTrial(seed uint64) stabilityTrial {
	rng := rand.New(rand.NewPCG(77, seed))
	schemes := []string{"full", "cyclic", "cyclic", "symmetric", "reshuffle", "replacement"}
	c := stabilityTrial{scheme: schemes[rng.IntN(len(schemes))]}
	d, k := 1+rng.IntN(3), 2+rng.IntN(4)
	if c.scheme != "cyclic" && c.scheme != "full" {
		d, k = 1+rng.IntN(2), 2+rng.IntN(3) // words are listed, and moments are of d² elements
	}
	p := &Problem{Name: "random", Kind: Gaussian}
	a, spread := mat.NewDense(d, d, nil), logUniform(rng, -2, -0.1)
	for i := range d {
		for j := range d {
			a.Set(i, j, rng.NormFloat64())
		}
		a.Set(i, i, a.At(i, i)+2)
	}
	for range d {
		c.invMass = append(c.invMass, 1)
	}
	if rng.IntN(3) == 0 {
		for i := range d {
			c.invMass[i] = logUniform(rng, -0.7, 0.7)
		}
	}
	unit := logUniform(rng, -8, 8)
	for range k {
		s := mat.NewDense(d, d, nil)
		for i := range d {
			for j := range i + 1 {
				v := spread * (2*rng.Float64() - 1) / float64(d)
				s.Set(i, j, v)
				s.Set(j, i, v)
			}
			s.Set(i, i, 1+s.At(i, i))
		}
		var b mat.Dense
		b.Product(a, s, a.T())
		precision, shift := make([]float64, d*d), make([]float64, d)
		for i := range d {
			for j := range d {
				precision[i*d+j] = b.At(min(i, j), max(i, j)) / (unit * unit)
			}
			shift[i] = rng.NormFloat64() / unit
		}
		p.gaussian = append(p.gaussian, newAffineForce(precision, shift))
		var eig mat.EigenSym
		m := mat.NewSymDense(d, nil)
		for i := range d {
			for j := i; j < d; j++ {
				m.SetSym(i, j, precision[i*d+j]*math.Sqrt(c.invMass[i]*c.invMass[j]))
			}
		}
		if !eig.Factorize(m, false) {
			panic("no eigenvalues")
		}
		c.fast = max(c.fast, math.Sqrt(eig.Values(nil)[d-1]))
	}
	c.damping = c.fast * logUniform(rng, -4, 0)
	p.Friction = c.damping / slices.Min(c.invMass)
	c.problem = p
	all := slices.DeleteFunc(All(p), func(m integrators.Integrator) bool { return m.PositionOnly })
	c.integrator = all[rng.IntN(len(all))].Name
	return c
}

// growth is the spectral radius of a period of an integrator at step h, of second moments
// where the order is random: words multiplied out, of maps that are differences of steps.
func (c stabilityTrial) growth(t *testing.T, m integrators.Integrator, h float64) float64 {
	d := c.problem.Dim()
	in, err := m.New(d, integrators.Params{Step: h, Friction: c.problem.Friction,
		InvMass: c.invMass})
	if err != nil {
		t.Fatal(err)
	}
	in.Freeze()
	n, forces := 2*d, c.problem.gaussian
	if c.scheme == "full" {
		forces = []*affineForce{gaussian.Mean(forces)}
	}
	// Positions in units of 1/fast, momenta as they are, so that the maps are of order 1.
	maps := make([]*mat.Dense, len(forces))
	for b, f := range forces {
		maps[b] = mat.NewDense(n, n, nil)
		linear := newAffineForce(f.Precision, make([]float64, d))
		for j := range n {
			z := in.NewState()
			if j < d {
				z.Theta[j] = 1 / c.fast
			} else {
				z.R[j-d] = 1
			}
			in.Kernel.Step(z, linear, silence{})
			for i := range d {
				maps[b].Set(i, j, z.Theta[i]*c.fast)
				maps[b].Set(d+i, j, z.R[i])
			}
		}
	}
	all := [][]int{{0}}
	if c.scheme != "full" {
		all = words(c.scheme, len(forces), 1)
	}
	var sum mat.Dense
	for _, word := range all {
		out := mat.NewDense(n, n, nil)
		for i := range n {
			out.Set(i, i, 1)
		}
		for _, b := range word {
			var next mat.Dense
			next.Mul(maps[b], out)
			out = &next
		}
		if len(all) > 1 {
			var squares mat.Dense
			squares.Kronecker(out, out)
			squares.Scale(1/float64(len(all)), &squares)
			out = &squares
		}
		if sum.IsEmpty() {
			sum.CloneFrom(out)
		} else {
			sum.Add(&sum, out)
		}
	}
	var eig mat.Eigen
	if !eig.Factorize(&sum, mat.EigenNone) {
		t.Fatal("no eigenvalues")
	}
	largest := 0.0
	for _, v := range eig.Values(nil) {
		largest = max(largest, cmplx.Abs(v))
	}
	return largest
}

// silence is noise that is 0.
type silence struct{}

func (silence) Normal(dst []float64)         { clear(dst) }
func (silence) Update(u *integrators.Update) { u.Apply(make([]float64, len(u.R))) }

// TestEveryStepBelowTheLargestIsStable compares the largest stable step of random problems,
// with friction down to 10⁻⁴ of the largest frequency, with spectral radii on a grid so fine that
// it sees every resonance that friction does not damp.
func TestEveryStepBelowTheLargestIsStable(t *testing.T) {
	seeds := slices.Clone(tonguesOnce)
	seeds = append(seeds, numbered(*stabilityCount)...)
	for _, seed := range seeds {
		c := randomStabilityTrial(seed)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m, _ := integrators.Builtin().Lookup(c.integrator)
			s, _ := Schemes(c.scheme)
			rows, err := Errors(t.Context(), Options{Problem: c.problem, Stability: true,
				Integrators: []integrators.Integrator{m}, Schemes: s, InvMass: c.invMass,
				Steps: []float64{0.01 / c.fast}})
			if err != nil {
				t.Fatalf("%v: %v", c, err)
			}
			limit := float64(*rows[0].StableStep)
			top := min(limit, 8/c.fast)
			length := float64(len(words(c.scheme, c.problem.Batches(), 1)[0]))
			points := 0
			for h := 1 / (length * c.fast); h < top*(1-1e-4); points++ {
				if r := c.growth(t, m, h); r > 1+1e-10 {
					t.Errorf("%v: a stable step up to %.6g, but radius 1 + %.3g at %.6g (%.3g of it)",
						c, limit, r-1, h, h/limit)
					break
				}
				h += min(h*max(c.damping/c.fast, 1e-4)/8, 0.2/(length*c.fast), h/16)
			}
			// Somewhere just above: a tongue may be as narrow as the limit is known.
			unstable := math.IsInf(limit, 1)
			for part := 1e-5; !unstable && part < 1e-4; part *= 1.1 {
				unstable = c.growth(t, m, limit*(1+part)) > 1
			}
			if !unstable {
				t.Errorf("%v: all steps just above %.6g are stable", c, limit)
			}
			t.Logf("%v: %.6g/fast, %d points", c, limit*c.fast, points)
		})
	}
}

// TestLargestStableStepBelowIslands holds the largest stable step to narrow intervals of the step
// in which second moments grow, and in the last case the mean, above which steps are stable again.
// Radii at their middles are those of another program.
func TestLargestStableStepBelowIslands(t *testing.T) {
	tests := []struct {
		integrator, scheme string
		batches            int
		spread, friction   float64
		unstable, radius   float64
	}{
		{"exact", "replacement", 2, 0.9, 0.400539, 1.5, 1.00064},
		{"exact", "reshuffle", 3, 0.9, 0.280102, 1.0876, 1.0023},
		{"exact", "symmetric", 2, 0.9, 0.434374, 1.774, 1.0030},
		{"leapfrog", "symmetric", 2, 0.4, 0.244182, 1.3191, 1.0009}, // of the mean
	}
	for _, tt := range tests {
		t.Run(tt.integrator+" "+tt.scheme, func(t *testing.T) {
			t.Parallel()
			p := &Problem{Name: "pair", Kind: Gaussian, Friction: tt.friction}
			for i := range tt.batches {
				at := 2*float64(i)/float64(tt.batches-1) - 1
				p.gaussian = append(p.gaussian,
					newAffineForce([]float64{1 + at*tt.spread}, []float64{0}))
			}
			row := answersOf(t, Options{Problem: p, Stability: true,
				Steps: []float64{tt.unstable}}, tt.integrator, tt.scheme)
			if row.Radii == nil || !(math.Abs(float64(row.Radii[0])-tt.radius) < 1e-3) {
				t.Errorf("radii at step %v: %v, want %v", tt.unstable, row.Radii, tt.radius)
			}
			if h := float64(*row.StableStep); !(h < tt.unstable && h > 0.9*tt.unstable) {
				t.Errorf("stable up to %v, want a little less than %v", h, tt.unstable)
			}
		})
	}
}
