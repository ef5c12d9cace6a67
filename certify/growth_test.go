package certify

import (
	"math"
	"strings"
	"testing"

	"hambench/integrators"
)

// mistaken is a leapfrog step, or one of SGLD, with noise and a constant kick of its own.
type mistaken struct {
	h, c, noise, kick float64
	overdamped        bool
	g, xi             []float64
}

func (m *mistaken) Step(z *integrators.State, f integrators.Force, n integrators.Noise) {
	drift := func() {
		for i, r := range z.R {
			z.Theta[i] += m.h / 2 * r
		}
	}
	if !m.overdamped {
		drift()
	}
	f.Gradient(m.g, z.Theta)
	n.Normal(m.xi)
	for i := range z.R {
		if m.overdamped {
			z.Theta[i] += -m.h*m.g[i] + m.noise*m.xi[i]
		} else {
			z.R[i] += -m.h*m.c*z.R[i] - m.h*m.g[i] + m.noise*m.xi[i] + m.kick
		}
	}
	if !m.overdamped {
		drift()
	}
}

// A step that forgets the factor √h of its noise, or the factor h of a force, has errors that
// grow as 1/h: they are refuted, whatever is claimed.
func TestErrorsThatGrowAreRefuted(t *testing.T) {
	for _, c := range []struct {
		name, observable string
		make             func(p integrators.Params) mistaken
		overdamped       bool
	}{
		{"leapfrog without √h", "theta.cov", func(p integrators.Params) mistaken {
			return mistaken{noise: math.Sqrt(2 * p.Friction)}
		}, false},
		{"leapfrog with a constant kick", "theta.mean", func(p integrators.Params) mistaken {
			return mistaken{noise: math.Sqrt(2 * p.Friction * p.Step), kick: 0.1}
		}, false},
		{"sgld without √h", "theta.cov", func(integrators.Params) mistaken {
			return mistaken{noise: math.Sqrt2}
		}, true},
	} {
		m := integrators.Define(integrators.Integrator{
			Name: c.name, PositionOnly: c.overdamped,
			Claims: integrators.Claims{WeakOrder: 1, ErgodicOrder: 1, PositionOrder: 1, Source: "here"},
			Needs:  integrators.Needs{Gradients: 1, Normals: 1},
		}, func(d int, p integrators.Params) (kernel, refresh integrators.Stepper) {
			s := c.make(p)
			s.h, s.c, s.overdamped = p.Step, p.Friction, c.overdamped
			s.g, s.xi = make([]float64, d), make([]float64, d)
			return &s, nil
		})
		for _, name := range []string{"full", "reshuffle"} {
			s, _ := Schemes(name)
			rows, err := Run(t.Context(), Options{Problem: gaussianBuiltin(), Schemes: s,
				Integrators: []integrators.Integrator{m}})
			if err != nil {
				t.Fatal(err)
			}
			if o := rows[0].observable(t, c.observable); o.Verdict != Refuted || o.Order != -1 ||
				!(math.Abs(float64(o.Slopes[0])+1) < 0.1) {
				t.Errorf("%s under %s: %s of order %v, slopes %v: want refuted, order -1", c.name,
					name, o.Verdict, o.Order, o.Slopes)
			} else if name == "reshuffle" && !c.overdamped && o.Reason != ownStays {
				t.Errorf("%s: nothing is predicted since %q: want %q", c.name, o.Reason, ownStays)
			}
			var text strings.Builder
			if err := WriteTable(&text, rows); err != nil ||
				!strings.Contains(text.String(), "order -1: the error grows as h^-1") {
				t.Errorf("%v: want a table that says that errors grow:\n%s", err, text.String())
			}
		}
	}
}

// The law of (θ, r) has that of θ in it: where an error of θ certainly grows, that of both is no
// better, though the elements of the momentum hide it.
func TestTheJointErrorIsNoBetterThanThatOfThePosition(t *testing.T) {
	m := integrators.Define(integrators.Integrator{
		Name:   "leapfrog with noise of its own",
		Claims: integrators.Claims{WeakOrder: 1, ErgodicOrder: 1, PositionOrder: 2, Source: "here"},
		Needs:  integrators.Needs{Gradients: 1, Normals: 1},
	}, func(d int, p integrators.Params) (kernel, refresh integrators.Stepper) {
		return &mistaken{h: p.Step, c: p.Friction, noise: math.Sqrt(2*p.Friction*p.Step + 1e-8),
			g: make([]float64, d), xi: make([]float64, d)}, nil
	})
	s, _ := Schemes("full")
	rows, err := Run(t.Context(), Options{Problem: gaussianBuiltin(), Schemes: s,
		Integrators: []integrators.Integrator{m}})
	if err != nil {
		t.Fatal(err)
	}
	theta, joint := rows[0].observable(t, "theta.cov"), rows[0].observable(t, "joint.cov")
	if theta.Verdict != Refuted || joint.Verdict != Refuted || joint.AtLeast > theta.Order {
		t.Errorf("θ: %s, order %v; (θ, r): %s, order %v, at least %v: want both refuted",
			theta.Verdict, theta.Order, joint.Verdict, joint.Order, joint.AtLeast)
	}
}
