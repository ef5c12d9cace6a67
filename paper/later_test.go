package paper

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"hambench/bench"
	"hambench/bench/table"
	"hambench/certify"
	"hambench/chain/minibatch"
	"hambench/oracle"
)

// laterTruth is invented evidence that all claims of later papers hold by; a test
// changes one thing of it.
type laterTruth struct {
	order     func(study, integrator, scheme string) float64
	reshuffle float64                                          // error in random orders over that in symmetric sweeps
	critical  func(m int, curvature int) float64               // step
	large     func(h, critical float64) float64                // svrg's error above the critical step
	known     func(estimator, scheme string) bool              // whether the order is
	bias      func(integrator, scheme string) float64          // over what its energy error makes of it
	psgld     func(h float64) float64                          // error of pSGLD
	gamma     float64                                          // what Γ takes from it
	learning  func(seed int, h float64, scheme string) float64 // pSGLD's learning coefficient, over λ
	midpoint  float64                                          // its mean squared error over that of leapfrog
	predicted func(s float64) float64                          // constant of η² at a crossing
	crossing  func(seed int, scheme string) float64            // distance above the floor
	regimes   regimesTruth
}

// regimesTruth is what mini-batches do: error of a scheme, in random orders or not, where an epoch
// is x in units of 1/ω and the friction is C/ω = y.
type regimesTruth struct {
	heat func(h, friction float64) float64
	left func(scheme string, x, y float64) float64 // of heat
	// constants of exact errors at small steps
	constant func(scheme string, friction float64) float64
}

func trueLater() laterTruth {
	return laterTruth{
		order: func(study, integrator, scheme string) float64 {
			own := map[string]float64{"sghmc": 1, "ubu": 2, "baoab": 2, "quicsort": 3, "psgld": 1, "midpoint": 3}[integrator]
			return math.Min(own, map[string]float64{"full": 9, "replacement": 1}[scheme]+when(scheme == "symmetric" || scheme == "reshuffle", 2))
		},
		reshuffle: 1.05,
		critical:  func(m, curvature int) float64 { return 4 / float64(m*curvature) },
		large:     func(h, critical float64) float64 { return h / critical },
		known:     func(string, string) bool { return true },
		bias:      func(string, string) float64 { return 1 },
		psgld:     func(h float64) float64 { return 0.95 - 17*h },
		gamma:     0.01, midpoint: 0.5,
		learning: func(seed int, h float64, scheme string) float64 {
			return 1.1 + 0.01*float64(seed%3) + when(h < 0.0005, 0.9) - when(h < 0.0005 && scheme == "replacement", 0.3)
		},
		predicted: func(s float64) float64 { return math.Pow(s, 0.9) },
		crossing: func(seed int, scheme string) float64 {
			return 0.01*float64(seed%3) + 0.2*when(scheme == "replacement", 1)
		},
		regimes: regimesTruth{
			heat: func(h, friction float64) float64 { return math.Pow(h/friction, 0.7) },
			left: func(scheme string, x, y float64) float64 {
				if scheme == "replacement" {
					return 1
				}
				return minibatch.HeatLeft(x, y)
			},
			constant: func(scheme string, friction float64) float64 {
				if scheme == "replacement" {
					return 1 / friction
				}
				return 1
			},
		},
	}
}

func (l laterTruth) rows(t *testing.T, study string) *table.Table {
	t.Helper()
	m, p := newMemory(), bench.Plan{Study: bench.Study{ID: study, Origin: bench.BuiltIn}}
	add := func(problem, integrator, estimator, scheme string, order float64, h []float64, errors func(h float64) float64) {
		o := certify.Observable{Name: jointLaw, Order: certify.Number(order), Verdict: certify.Confirmed}
		if !l.known(estimator, scheme) {
			o.Verdict = certify.Inconclusive
		}
		for _, h := range h {
			o.Errors = append(o.Errors, certify.Number(errors(h)))
		}
		m.putExact(t, &p, exactError{Purpose: study, Row: certify.Row{
			Problem: problem, Integrator: integrator, Estimator: estimator, Scheme: scheme, Inner: 1,
			Steps: h, Observables: []certify.Observable{o},
		}})
	}
	switch study {
	case "regimes":
		l.regimes.put(t, m, &p)
	case "population":
		for _, dataset := range []string{"boston", "kin8nm", "sonar", "wine"} {
			for _, friction := range []float64{0.5, 5, 50} {
				for _, h := range []float64{0.005, 0.01, 0.02, 0.04} {
					for _, k := range []int{1, 16} {
						m.putResult(&p, bench.Result{KS: 0.09 + when(k > 1, l.regimes.heat(h, friction)), KSSelf: 0.08, Scales: &oracle.Scales{Omega: 100, Spread: 1}, Cell: bench.Cell{
							Observe: bench.Distance, Dataset: dataset, Model: "bnn", Integrator: "leapfrog", Estimator: "plain", Inner: 1,
							Friction: bench.Real(friction), Batches: k, Step: h, Samples: 200, Seed: 2201, Oracle: bench.Analytic,
						}})
						if k > 1 {
							p.Cells[len(p.Cells)-1].Cell.BatchSize = 32
						}
					}
				}
			}
		}
	case "sms-ubu", "quicsort":
		for i, integrator := range []string{"ubu", "baoab", "sghmc", "quicsort"} {
			for _, scheme := range []string{"full", "symmetric", "reshuffle", "replacement"} {
				order := l.order(study, integrator, scheme)
				add("gaussian", integrator, "", scheme, order, []float64{0.2, 0.1}, func(h float64) float64 {
					return float64(1+i) * math.Pow(h, order) * (1 + when(scheme == "reshuffle", l.reshuffle-1))
				})
			}
		}
	case "energy-error":
		for _, problem := range []string{"gaussian", "ω = 1", "ω = 3", "ω = 10"} {
			for _, integrator := range []string{"obabo", "baoab", "rk2"} {
				for _, scheme := range []string{"full", "reshuffle", "replacement"} {
					const energy = 1e-6
					bias := l.bias(integrator, scheme) * certify.EnergyBound(energy)
					m.putExact(t, &p, exactError{Purpose: study, Row: certify.Row{
						Problem: problem, Integrator: integrator, Scheme: scheme, Inner: 1, Steps: []float64{0.1},
						Answers: certify.Answers{CovarianceBias: []certify.Number{certify.Number(bias)},
							EnergyError: []certify.Number{1}, BatchEnergyError: []certify.Number{energy}},
					}})
				}
			}
		}
	case "psgld-bias":
		for _, gamma := range []float64{0, 1} {
			for _, scheme := range []string{"full", "reshuffle", "replacement"} {
				o := certify.Observable{Name: "theta^2", Order: certify.Number(l.order(study, "psgld", scheme)), Verdict: certify.Confirmed}
				for _, h := range []float64{0.05, 0.0001953125} {
					o.Errors = append(o.Errors, certify.Number(l.psgld(h)*(1-gamma*l.gamma)))
				}
				row := certify.Row{Problem: "N(0, 1)", Integrator: "psgld", Scheme: scheme, Inner: 1,
					Steps: []float64{0.05, 0.0001953125}, Observables: []certify.Observable{o}}
				if gamma > 0 {
					row.Values = map[string]float64{"gamma": gamma}
				}
				m.putExact(t, &p, exactError{Purpose: study, Row: row})
			}
		}
	case "learning-psgld":
		for model, lambda := range map[string]float64{"3,3,3/1": 4, "4,3,4/1": 6, "3,2,2,3/1": 3} {
			for seed := range 6 {
				for _, scheme := range []string{"full", "replacement"} {
					for _, h := range []float64{0.001, 0.00001} {
						m.putResult(&p, bench.Result{Scores: map[string]float64{"llc": lambda * l.learning(seed, h, scheme)}, Cell: bench.Cell{
							Observe: bench.Learning, Dataset: "none", Model: "linear-net:" + model, Integrator: "psgld", Estimator: "plain", Inner: 1,
							Batches: 1 + 9*int(when(scheme == "replacement", 1)), Step: h, Samples: 500, Seed: uint64(seed),
						}})
						p.Cells[len(p.Cells)-1].Cell.Scheme = scheme
					}
				}
			}
		}
	case "midpoint-budgets":
		for integrator, mse := range map[string]float64{"midpoint": l.midpoint, "leapfrog": 1} {
			for _, scheme := range []string{"full", "reshuffle"} {
				m.putExact(t, &p, exactError{Purpose: study, Row: certify.Row{
					Problem: "gaussian", Integrator: integrator, Scheme: scheme, Inner: 1, Steps: []float64{0.1},
					Observables: []certify.Observable{{Name: jointLaw, Errors: []certify.Number{0.1}, Verdict: certify.Confirmed,
						Order: certify.Number(l.order(study, integrator, scheme))}},
					Answers: certify.Answers{Budgets: []certify.AtBudget{{Gradients: 1000, Best: certify.Number(mse), Step: 0.1, Worst: "theta"}}},
				}})
			}
		}
	case "crossing-orders":
		for _, s := range []float64{1, 1e3, 1e6} {
			var all []certify.Observable
			for _, name := range []string{"theta1^2", "theta1^2*theta2^2", "cos(theta1)", "r1^2"} {
				all = append(all, certify.Observable{Name: name, Errors: []certify.Number{certify.Number(math.NaN())}, Verdict: certify.Alone,
					Predicted: certify.Number(when(name != "r1^2", l.predicted(s))), PredictedOrder: 2})
			}
			m.putExact(t, &p, exactError{Purpose: study, Row: certify.Row{Problem: fmt.Sprintf("s = %.7g", s), Integrator: "baoab",
				Scheme: "reshuffle", Inner: 1, Steps: []float64{0.01}, Observables: all}})
		}
		for seed := range 8 {
			for _, scheme := range []string{"full", "reshuffle", "replacement"} {
				for _, integrator := range []string{"leapfrog", "baoab"} {
					k := 4 - 3*int(when(scheme == "full", 1))
					m.putResult(&p, bench.Result{KS: 0.03 + when(k == 4, l.crossing(seed, scheme)), Scales: &oracle.Scales{Omega: 30, Spread: 1}, Cell: bench.Cell{
						Observe: bench.Distance, Dataset: "none", Model: "crossing", Integrator: integrator, Estimator: "plain", Inner: 1, Friction: 1,
						Batches: k, Step: 0.001, Samples: 2000, Seed: uint64(seed), Oracle: bench.Analytic,
					}})
					p.Cells[len(p.Cells)-1].Cell.Scheme = scheme
				}
			}
		}
	case "svrg-ubu":
		var h []float64
		for x := 0.8; x > 1e-4; x /= math.Sqrt2 {
			h = append(h, x)
		}
		for _, curvature := range []int{1, 4} {
			problem := fmt.Sprintf("λ = %d", curvature)
			add(problem, "ubu", "", "replacement", l.order(study, "ubu", "replacement"), h, func(h float64) float64 { return h })
			for _, m := range []int{128, 512, 2048} {
				at := l.critical(m, curvature)
				add(problem, "ubu", fmt.Sprintf("svrg:%d", m), "replacement", l.order(study, "ubu", "symmetric"), h, func(h float64) float64 {
					if h > at {
						return l.large(h, at)
					}
					return h * h / (at * at)
				})
			}
		}
	}
	return m.of(p)
}

// put adds the study regimes: exact errors on two of its problems, and chains on seven data sets in
// the regimes of heat and of orders, with the full batches that measure the floor.
func (l regimesTruth) put(t *testing.T, m memory, p *bench.Plan) {
	for _, name := range []string{"d = 1, K = 4", "d = 1, K = 6"} {
		k := map[string]float64{"d = 1, K = 4": 4, "d = 1, K = 6": 6}[name]
		for _, friction := range []float64{0.3, 1, 3} {
			for _, scheme := range []string{"reshuffle", "symmetric", "replacement"} {
				o := certify.Observable{Name: "theta.cov", Order: certify.Number(2 - when(scheme == "replacement", 1)), Verdict: certify.Confirmed, Constant: certify.Number(l.constant(scheme, friction))}
				steps := []float64{3.2, 1.6, 0.02, 0.01}
				for _, h := range steps {
					o.Errors = append(o.Errors, certify.Number(h/friction*l.left(scheme, k*h, friction)))
				}
				m.putExact(t, p, exactError{Purpose: "regimes", Row: certify.Row{
					Problem: fmt.Sprintf("%s, C = %g", name, friction), Integrator: "exact", Scheme: scheme, Inner: 1, Steps: steps, Observables: []certify.Observable{o},
				}})
			}
		}
	}
	const omega, floor = 100, 0.09
	for i, dataset := range []string{"boston", "concrete", "energy", "yacht", "ionosphere", "vehicle", "linear"} {
		put := func(k int, scheme string, h, friction, excess float64) {
			m.putResult(p, bench.Result{KS: floor + excess*(1+0.01*float64(i)), KSSelf: 0.08, Scales: &oracle.Scales{Omega: omega, Spread: 1}, Cell: bench.Cell{
				Observe: bench.Distance, Dataset: dataset, Model: "bnn", Integrator: "leapfrog", Estimator: "plain", Inner: 1,
				Friction: bench.Real(friction), Batches: k, Step: h, Samples: 200, Seed: 2101, Oracle: bench.Analytic,
			}})
			// Of mini-batches putResult knows one scheme alone.
			if last := &p.Cells[len(p.Cells)-1]; k > 1 {
				last.Cell.Scheme = scheme
				if k == 4 {
					last.Cell.BatchSize = 0
				}
			}
		}
		for _, friction := range []float64{0.2, 2.5, 5, 10} {
			put(1, "full", 0.005, friction, 0)
		}
		for _, scheme := range []string{"reshuffle", "symmetric", "repartition", "replacement"} {
			for _, friction := range []float64{2.5, 5, 10} {
				for _, h := range []float64{0.005, 0.01, 0.02} {
					put(16, scheme, h, friction, l.heat(h, friction)*l.left(scheme, 16*h*omega, friction/omega))
				}
			}
			put(4, scheme, 0.0005, 0.2, l.heat(0.0005, 0.2)*l.left(scheme, 4*0.0005*omega, 0.2/omega))
		}
	}
}

func TestClaimsOfLaterPapers(t *testing.T) {
	all := map[string]bool{}
	for _, study := range bench.Later() {
		for _, c := range Later(study) {
			if c.Study != study || c.By == "" || c.Statement == "" || c.Where == "" || c.Test == "" || all[c.ID] {
				t.Errorf("%s: %+v: want an id of its own and every text", study, c)
			}
			if (c.By == "not in the paper") != (c.Paper == "") {
				t.Errorf("%s: paper %q: want that of a claim by %s", c.ID, c.Paper, c.By)
			}
			all[c.ID] = true
			if f := Decide([]Claim{c}, trueLater().rows(t, study))[0].Finding; f.Verdict != Confirmed {
				t.Errorf("%s by true evidence: %s (%s)", c.ID, f.Verdict, f.Summary)
			}
			if f := Decide([]Claim{c}, memory{}.of())[0].Finding; f.Verdict != NotDecided || f.Summary != "no results yet: run hambench run "+study {
				t.Errorf("%s without evidence: %s (%s)", c.ID, f.Verdict, f.Summary)
			}
		}
	}
	orders := func(integrator, scheme string, order float64) func(*laterTruth) {
		return func(l *laterTruth) {
			right := l.order
			l.order = func(study, i, s string) float64 {
				if i == integrator && s == scheme {
					return order
				}
				return right(study, i, s)
			}
		}
	}
	unresolvedSteps := func(l *laterTruth) { l.large = func(float64, float64) float64 { return 0 } }
	bias := func(integrator, scheme string, ratio float64) func(*laterTruth) {
		return func(l *laterTruth) {
			l.bias = func(i, s string) float64 { return 1 + (ratio-1)*when(i == integrator && s == scheme, 1) }
		}
	}
	for _, tt := range []struct {
		id     string
		change func(*laterTruth)
		want   Verdict
	}{
		{"crossing-constant", func(l *laterTruth) { l.predicted = func(s float64) float64 { return math.Pow(s, 1.1) } }, Refuted},
		{"crossing-constant", func(l *laterTruth) { l.predicted = func(s float64) float64 { return math.Log(s) / math.Log(s) * s } }, NotDecided},
		{"crossing-removes-heat", func(l *laterTruth) {
			l.crossing = func(seed int, _ string) float64 { return 0.2 + 0.001*float64(seed%3) }
		}, Refuted},
		{"crossing-removes-heat", func(l *laterTruth) {
			l.crossing = func(seed int, scheme string) float64 {
				return 0.05*float64(seed%5) + 0.1*when(scheme == "replacement", 1)
			}
		}, NotDecided},
		{"psgld-order", orders("psgld", "full", 0), Refuted},
		{"psgld-gamma", func(l *laterTruth) { l.gamma = 0.3 }, Refuted},
		{"psgld-rises", func(l *laterTruth) { l.psgld = func(float64) float64 { return 0.1 } }, Refuted},
		{"psgld-limit", func(l *laterTruth) { l.psgld = func(float64) float64 { return 0.3 } }, Refuted},
		{"psgld-learning", func(l *laterTruth) { l.learning = func(int, float64, string) float64 { return 1.1 } }, Refuted},
		{"psgld-learning", func(l *laterTruth) {
			l.learning = func(seed int, h float64, _ string) float64 { return 1.1 + 0.3*float64(seed%2) + when(h < 0.0005, 0.9) }
		}, NotDecided},
		{"psgld-learning-batches", func(l *laterTruth) {
			l.learning = func(seed int, _ float64, _ string) float64 { return 1.1 + 0.01*float64(seed%3) }
		}, Refuted},
		{"midpoint-order", orders("midpoint", "full", 2), Refuted},
		{"midpoint-order", orders("midpoint", "reshuffle", 1), Refuted},
		{"midpoint-budget", func(l *laterTruth) { l.midpoint = 1.2 }, Refuted},
		{"energy-bound", bias("obabo", "full", 1.001), Refuted},
		{"energy-bound", bias("obabo", "full", 0.5), Confirmed},
		{"energy-bound", bias("rk2", "full", 9), Confirmed},
		{"energy-sharp", bias("obabo", "full", 0.9), Refuted},
		{"energy-other", bias("rk2", "full", 9), Refuted},
		{"energy-batches", bias("obabo", "replacement", 9), Refuted},
		{"energy-batches", bias("obabo", "reshuffle", 9), Refuted},
		{"sms-ubu-order", orders("ubu", "symmetric", 1), Refuted},
		{"sms-ubu-order", func(l *laterTruth) { l.known = func(_, scheme string) bool { return scheme != "symmetric" } }, NotDecided},
		{"sg-order", orders("baoab", "replacement", 2), Refuted},
		{"sms-against-orders", func(l *laterTruth) { l.reshuffle = 1.2 }, Refuted},
		{"sg-ubu-order", orders("ubu", "replacement", 2), Refuted},
		{"svrg-ubu-transition", orders("ubu", "symmetric", 1), Refuted},
		{"svrg-ubu-transition", func(l *laterTruth) { l.large = func(h, c float64) float64 { return h * h / (c * c) } }, Refuted},
		{"svrg-ubu-transition", func(l *laterTruth) { l.known = func(estimator, _ string) bool { return estimator == "" } }, NotDecided},
		{"svrg-ubu-transition", unresolvedSteps, NotDecided},
		{"svrg-ubu-critical", unresolvedSteps, NotDecided},
		{"svrg-ubu-critical", func(l *laterTruth) {
			l.critical = func(m, curvature int) float64 { return 0.3 / math.Sqrt(float64(m)) / float64(curvature) }
		}, Refuted},
		{"svrg-ubu-critical", func(l *laterTruth) { l.critical = func(m, _ int) float64 { return 4 / float64(m) } }, Refuted},
		{"quicsort-order", orders("quicsort", "full", 2), Refuted},
		{"quicsort-bottleneck", orders("quicsort", "reshuffle", 3), Refuted},
		{"quicsort-bottleneck", orders("quicsort", "replacement", 2), Refuted},
		{"orders-law-eta-squared", func(l *laterTruth) {
			l.regimes.constant = func(_ string, friction float64) float64 { return 1 / friction }
		}, Refuted},
		{"heat-law-exact", func(l *laterTruth) { l.regimes.constant = func(string, float64) float64 { return 1 } }, Refuted},
		{"heat-law-eta-over-c", func(l *laterTruth) {
			l.regimes.heat = func(h, friction float64) float64 { return math.Pow(h, 0.7) }
		}, Refuted},
		{"heat-law-eta-over-c", func(l *laterTruth) {
			l.regimes.heat = func(h, friction float64) float64 { return h * h }
		}, Refuted},
		{"heat-law-eta-over-c", func(l *laterTruth) { // saturated: by heat-law-grows alone it is seen
			l.regimes.heat = func(h, friction float64) float64 { return 0.8 }
		}, Confirmed},
		{"heat-law-grows", func(l *laterTruth) {
			l.regimes.heat = func(h, friction float64) float64 { return 0.8 }
		}, Refuted},
		{"heat-law-grows", func(l *laterTruth) {
			l.regimes.heat = func(h, friction float64) float64 { return math.Pow(h, 0.7) }
		}, Refuted},
		{"heat-on-twenty-sets", func(l *laterTruth) {
			l.regimes.heat = func(h, friction float64) float64 { return math.Pow(h, 0.7) }
		}, Refuted},
		{"regime-line", func(l *laterTruth) { l.regimes.left = func(string, float64, float64) float64 { return 1 } }, Refuted},
		{"regime-line", func(l *laterTruth) {
			l.regimes.left = func(scheme string, _, _ float64) float64 { return 0.05 + when(scheme == "replacement", 0.95) }
		}, Refuted},
		{"random-orders-gain-nothing-in-heat", func(l *laterTruth) {
			l.regimes.left = func(scheme string, _, _ float64) float64 { return 1 - when(scheme == "symmetric", 0.5) }
		}, Refuted},
		{"random-orders-remove-heat", func(l *laterTruth) {
			l.regimes.left = func(scheme string, _, _ float64) float64 {
				return when(scheme == "repartition" || scheme == "replacement", 1)
			}
		}, Refuted},
	} {
		l := trueLater()
		tt.change(&l)
		for _, study := range bench.Later() {
			for _, c := range Later(study) {
				if c.ID != tt.id {
					continue
				}
				if f := Decide([]Claim{c}, l.rows(t, study))[0].Finding; f.Verdict != tt.want || strings.Contains(f.Summary, "hambench") {
					t.Errorf("%s: %s (%s), want %s", tt.id, f.Verdict, f.Summary, tt.want)
				}
			}
		}
	}
}
