package report

import (
	"fmt"
	"io"
	"math"
	"slices"

	"hambench/figures"
	"hambench/gate"
	"hambench/internal/distinct"
)

// Comparison is the page of two runs side by side.
type Comparison struct{ *gate.Report }

// Write writes the page.
func (c Comparison) Write(w io.Writer) error { return pages.ExecuteTemplate(w, "comparison.html", c) }

// outcomes are what can become of a quantity, and how its points look.
var outcomes = []struct {
	gate.Outcome
	figures.Style
}{
	{gate.Passed, figures.Style{Color: 0x0072b2ff, Marker: "open circle"}},
	{gate.Hidden, figures.Style{Color: 0xe69f00ff, Marker: "triangle"}},
	{gate.Moved, figures.Style{Color: 0xd55e00ff, Marker: "square"}},
}

// Count returns how many quantities have an outcome.
func (c Comparison) Count(o gate.Outcome) (n int) {
	for _, p := range c.Pairs {
		if p.Outcome == o {
			n++
		}
	}
	return n
}

// Outcomes returns all outcomes, what moved first.
func (Comparison) Outcomes() []gate.Outcome {
	return []gate.Outcome{gate.Moved, gate.Hidden, gate.Passed, gate.Unchanged}
}

// Ordered returns the pairs, what moved first.
func (c Comparison) Ordered() []gate.Pair {
	all := slices.Clone(c.Pairs)
	slices.SortStableFunc(all, func(a, b gate.Pair) int {
		return slices.Index(c.Outcomes(), a.Outcome) - slices.Index(c.Outcomes(), b.Outcome)
	})
	return all
}

// Figure draws the new values against the old ones where they differ, one panel
// per quantity; nil if there is nothing to draw.
func (c Comparison) Figure() *figures.Figure {
	f := &figures.Figure{
		ID: "comparison", Title: "New against old", Data: figures.Records{Columns: []string{"where", "what", "old", "new", "outcome"}},
		Caption: "Each point is a quantity that differs between the runs: above the diagonal it is larger in the new one. Equal ones would lie on it.",
	}
	for _, o := range outcomes {
		f.Legend = append(f.Legend, figures.Entry{Name: string(o.Outcome), Label: string(o.Outcome), Style: o.Style})
	}
	var panels []*figures.Panel
	for _, p := range c.Pairs {
		f.Data.Rows = append(f.Data.Rows, []any{p.Where, p.What, p.Old, p.New, string(p.Outcome)})
	}
	for _, what := range distinct.Of(c.Pairs, func(p gate.Pair) string { return p.What }) {
		if p := c.panel(what); p != nil {
			panels = append(panels, p)
		}
	}
	if panels == nil {
		return nil
	}
	f.Rows = figures.Grid(panels, 3)
	return f
}

// panel has the pairs of one quantity that differ and are positive in both runs.
func (c Comparison) panel(what string) *figures.Panel {
	low, high, missing := math.Inf(1), 0.0, 0
	p := &figures.Panel{Title: what}
	for _, o := range outcomes {
		s := figures.Series{Name: string(o.Outcome), Style: o.Style}
		for _, pair := range c.Pairs {
			switch {
			case pair.What != what || pair.Outcome != o.Outcome:
			case pair.Old > 0 && pair.New > 0:
				s.X, s.Y, s.Points = append(s.X, pair.Old), append(s.Y, pair.New), append(s.Points, pair.Where)
				low, high = min(low, pair.Old, pair.New), max(high, pair.Old, pair.New)
			default:
				missing++
			}
		}
		p.Series = append(p.Series, s)
	}
	if high == 0 {
		return nil
	}
	if missing > 0 {
		p.Note = fmt.Sprintf("%d more are 0, or have no value in one of the runs", missing)
	}
	low, high = low/1.3, high*1.3
	p.X = figures.Axis{Label: "old", Log: true, Low: low, High: high}
	p.Y = figures.Axis{Label: "new", Log: true, Low: low, High: high}
	p.Series = append([]figures.Series{{Style: figures.Style{Color: 0x7f7f7fff, Width: 1, Dashes: []float64{2, 2}}, X: []float64{low, high}, Y: []float64{low, high}}}, p.Series...)
	return p
}

// change says how much larger the new value is.
func change(p gate.Pair) string {
	switch {
	case math.IsNaN(p.Old) || math.IsNaN(p.New), p.Old == 0 && p.New == 0:
		return "–"
	case p.Old == 0:
		return "from 0"
	}
	return fmt.Sprintf("%+.1f %%", 100*(p.New-p.Old)/math.Abs(p.Old))
}

// value is a number as people read it.
func value(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.4g", v)
}
