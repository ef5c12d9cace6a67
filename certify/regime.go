package certify

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"hambench/chain/minibatch"
	"hambench/internal/distinct"
	"hambench/internal/table"
)

// WriteRegimes says by which law mini-batches make the errors on a problem at each of the steps,
// under each of the schemes (minibatch.Scheme.Regime): those of the options, or their defaults.
// It says nothing where no scheme has mini-batches, or where no frequency is known.
func WriteRegimes(w io.Writer, o Options) error {
	k := o.Problem.Batches()
	_, omega := o.Problem.Frequencies(o.InvMass)
	steps, schemes := slices.Clone(o.Steps), o.Schemes
	if len(steps) == 0 {
		steps = defaultSteps(o.Problem.Kind)
	}
	if len(schemes) == 0 {
		schemes = ExactSchemes()
	}
	slices.Sort(steps)
	of := make(map[string][]string) // schemes, by what is said of them
	var said []string
	for _, s := range schemes {
		if text := regimesOf(s, k, steps, omega, o.Problem.Friction); text != "" {
			said, of[text] = distinct.Append(said, text), append(of[text], s.Name)
		}
	}
	var parts []string
	for _, text := range said {
		parts = append(parts, strings.Join(of[text], ", ")+": "+text)
	}
	if len(parts) == 0 {
		return nil
	}
	return table.Note(w, fmt.Sprintf("regime of mini-batch error, %s, Kηω = %.2g to %.2g, C/ω = "+
		"%.2g: %s.", o.Problem.Name, float64(k)*steps[0]*omega,
		float64(k)*steps[len(steps)-1]*omega, o.Problem.Friction/omega, strings.Join(parts, "; ")))
}

// regimesOf names the regimes of a scheme at ascending steps, each with its largest step; ""
// without any.
func regimesOf(s minibatch.Scheme, k int, steps []float64, omega, friction float64) string {
	var parts []string
	for i, h := range steps {
		now := s.Regime(k, h, omega, friction)
		if now == "" {
			return ""
		}
		if i+1 == len(steps) || s.Regime(k, steps[i+1], omega, friction) != now {
			parts = append(parts, fmt.Sprintf("%s up to h = %g", now, h))
		}
	}
	return strings.Join(parts, ", ")
}
