package certify

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"hambench/integrators"
)

// Rank returns the rows of each problem in the order of their errors at the best step
// for a budget, the one in place index of Options.Budgets; rows whose error is not
// known come last. Problems keep their order.
func Rank(rows []Row, index int) []Row {
	place := make(map[string]int) // of a problem, by its name
	for _, r := range rows {
		if _, known := place[r.Problem]; !known {
			place[r.Problem] = len(place)
		}
	}
	// Stable, so that rows of equal errors, as of those that are not known, keep their order.
	ranked := slices.Clone(rows)
	slices.SortStableFunc(ranked, func(a, b Row) int {
		return cmp.Or(cmp.Compare(place[a.Problem], place[b.Problem]),
			cmp.Compare(a.leastError(index), b.leastError(index)))
	})
	return ranked
}

// leastError is the mean squared error at the best step for the budget in place index; +Inf if
// it is not known, or the row has no such budget.
func (r Row) leastError(index int) float64 {
	if index >= len(r.Budgets) || math.IsNaN(float64(r.Budgets[index].Best)) {
		return math.Inf(1)
	}
	return float64(r.Budgets[index].Best)
}

// WriteBest names, for each problem and budget of the rows, the chain with the smallest
// error, its best step, and how many independent draws would have the same error. Exact flows
// are passed over: gradients alone do not give them. A budget that pays for no outer step of
// any chain has no line.
func WriteBest(w io.Writer, rows []Row) error {
	budgets := 0
	for _, r := range rows {
		budgets = max(budgets, len(r.Budgets))
	}
	for i := range budgets {
		ranked := slices.DeleteFunc(Rank(rows, i), func(r Row) bool {
			m, err := integrators.Builtin().Lookup(r.Integrator)
			return err == nil && m.Needs.Affine || math.IsInf(r.leastError(i), 1)
		})
		// The first of each problem.
		for j, r := range ranked {
			if j > 0 && ranked[j-1].Problem == r.Problem {
				continue
			}
			b := r.Budgets[i]
			_, err := fmt.Fprintf(w, "best for %g gradients on %s: %s under %s, step %.4g, "+
				"error %.3g%s (as small as with %.3g independent draws)\n",
				b.Gradients, r.Problem, r.Name(), r.Scheme, float64(b.Step), float64(b.Best),
				b.approximate(), 1/float64(b.Best))
			if err != nil {
				return err
			}
		}
	}
	return nil
}
