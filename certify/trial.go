package certify

import (
	"math/rand/v2"
	"slices"

	"hambench/certify/markov"
	"hambench/certify/probe"
	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/usage"
)

// trialPoints is the number of states, and of noises at each, of a trial.
const trialPoints = 3

// degeneracy returns the verdict on a step that is not that of a sampler: Frozen,
// Silent or Adrift, or "" for any other. A stationary law would be solved for all the same,
// and might be right by chance. A step that is not the same when it is repeated is a usage
// error.
//
// A few steps are tried from a few states, with a few noises each, under two forces of the same
// curvature: one that is 0 at the position where the trials start, and one that is not.
func (o *Options) degeneracy(e markov.Engine, m integrators.Integrator) (Verdict, error) {
	fast := e.Pace().Fast
	in, err := o.integrator(m, trialStep/fast)
	if err != nil {
		return "", err
	}
	// Both forces have the curvature fast², so that the step suits them as it does the batches.
	dim := o.Problem.Dim()
	none, pull := make([]float64, dim), slices.Repeat([]float64{fast}, dim)
	stiffness := make([]float64, dim*dim)
	for i := range dim {
		stiffness[i*dim+i] = fast * fast
	}
	free := try(in, integrators.NewAffine(stiffness, none))
	pulled := try(in, integrators.NewAffine(stiffness, pull))
	if !slices.EqualFunc(pulled, try(in, integrators.NewAffine(stiffness, pull)), repeated) {
		return "", usage.Errorf("integrator %q: a step differs when it is taken again, from the "+
			"same state and with the same normals: want one that draws no numbers of its own "+
			"and keeps nothing between calls", m.Name)
	}
	// What is part of the state: the momentum only if there is one.
	same := func(a, b []float64) bool {
		return slices.Equal(a[:dim], b[:dim]) && slices.Equal(a[2*dim:], b[2*dim:]) &&
			(m.PositionOnly || slices.Equal(a[dim:2*dim], b[dim:2*dim]))
	}
	// moves: some position changes; heard: two noises lead to different states; led: so do two
	// forces.
	moves, heard, led := false, false, false
	for i, z := range pulled {
		moves = moves || markov.Largest(z[:dim]) != 0 // or is lost
		heard = heard || !same(z, pulled[i-i%trialPoints])
		led = led || !same(z, free[i])
	}
	switch {
	case !moves:
		return Frozen, nil
	case !heard:
		return Silent, nil
	case !led:
		return Adrift, nil
	}
	return "", nil
}

// repeated reports whether a state is the same when steps are taken again: NaN, which a variable
// that turned negative may make, is NaN again.
func repeated(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || x != x && y != y })
}

// trialStep is the step of a trial, over the time of the fastest rate.
const trialStep = 0.1

// trialSteps is how many a trial takes: what a first one leaves in auxiliary variables shows in the
// position by the third.
const trialSteps = 3

// try takes a few outer steps under one force from positions 0, where the smallest
// step shows, and returns where they lead: trialPoints of them from each state,
// with different noises.
func try(in *integrators.Instance, f *integrators.Affine) [][]float64 {
	rng := rand.New(rand.NewPCG(13, 14)) // any points do
	// The first state is at rest, the others have momenta; auxiliary variables are where a
	// chain starts them.
	var z [][]float64
	for s := range trialPoints {
		from := probe.Start(in)
		if s > 0 {
			copy(from[in.Dim:], noise.Normals(rng, in.Dim))
		}
		for range trialPoints {
			z = append(z, slices.Clone(from))
		}
	}
	// Every part of an outer step, with new noise for each of the states.
	part := func(s integrators.Stepper, f integrators.Force) {
		step := probe.NewTransition(in, s, f)
		xi := make([][]float64, len(z))
		for i := range xi {
			xi[i] = noise.Normals(rng, step.Normals)
		}
		step.Apply(z, xi)
	}
	// All batches of a kernel that takes several are the same.
	alike, _ := probe.Lists([]*integrators.Affine{f}, probe.BatchesTaken(in.Kernel))
	for range trialSteps {
		for range in.Batches / probe.BatchesTaken(in.Kernel) {
			part(in.Kernel, alike[0])
		}
		if in.Refresh != nil {
			part(in.Refresh, nil)
		}
	}
	return z
}
