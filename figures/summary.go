package figures

import (
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"hambench/bench"
)

// summaryScores are the scores that tables of sweeps show, where there are any.
var summaryScores = []string{"rmse", "accuracy", "mnll", "lag1"}

// summaryRow is a line of a sweep at one step size: means over splits, or over
// seeds where a set has no splits.
type summaryRow struct {
	Dataset   string              `json:"dataset"`
	Batch     int                 `json:"batch"` // 0 for the full batch
	Line      string              `json:"line"`  // what varies
	Step      float64             `json:"h"`
	Splits    int                 `json:"splits"`
	Diverged  int                 `json:"splits_diverged"`
	Distance  *float64            `json:"ks"` // a diverged chain counts as 1
	SD        *float64            `json:"ks_sd"`
	InBand    bool                `json:"in_band"` // at most the 95 % quantile of the self-distance
	Scores    map[string]*float64 `json:"scores"`  // of the chains that stayed finite
	Gradients *float64            `json:"gradients"`
}

// newSummaryRow takes means over the results of a point. Chains that diverged
// have a distance and a cost, but no scores: theirs would be of an early end.
func newSummaryRow(b block, l line, pt point) summaryRow {
	row := summaryRow{
		Dataset: b.dataset, Batch: b.batch, Line: l.name, Step: pt.h, Splits: pt.have, Diverged: pt.diverged,
		Distance: finite(pt.mean), SD: finite(pt.sd), InBand: pt.known() && pt.mean <= b.self.high, Scores: make(map[string]*float64),
	}
	var gradients []float64
	finished := slices.DeleteFunc(slices.Clone(pt.results), func(r bench.Result) bool { return r.Diverged })
	for _, r := range pt.results {
		gradients = append(gradients, float64(r.Gradients))
	}
	row.Gradients = finite(stat.Mean(gradients, nil))
	for _, name := range summaryScores {
		if scores := scoresOf(finished, name); len(scores) > 0 {
			row.Scores[name] = meanOf(scores)
		}
	}
	return row
}

// writeSummary writes the table of a sweep.
func writeSummary(d *drawing, s *sweep) error {
	var rows []summaryRow
	s.each(func(b block, l line, p point) {
		if p.known() {
			rows = append(rows, newSummaryRow(b, l, p))
		}
	})
	shown := slices.DeleteFunc(slices.Clone(summaryScores), func(name string) bool {
		return !slices.ContainsFunc(rows, func(r summaryRow) bool { return r.Scores[name] != nil })
	})
	columns := strings.Join(append(slices.Clone(shown), "gradients"), ",")
	err := listing[summaryRow]{
		rows:   rows,
		header: "data set,batch,line,η,splits,distance,in band," + columns,
		text: func(r summaryRow) []string {
			out := []string{r.Dataset, sizeText(r.Batch), r.Line, decimal(r.Step), splitsText(r.Splits, r.Diverged), show(r.Distance, r.SD, 3), yesNo(r.InBand)}
			for _, name := range shown {
				out = append(out, show(r.Scores[name], nil, 3))
			}
			return append(out, show(r.Gradients, nil, 0))
		},
		csvHeader: "dataset,batch,line,h,splits,splits_diverged,ks,ks_sd,in_band," + columns,
		csv: func(r summaryRow) []string {
			out := fields(r.Dataset, r.Batch, r.Line, r.Step, r.Splits, r.Diverged, r.Distance, r.SD, r.InBand)
			for _, name := range shown {
				out = append(out, fields(r.Scores[name])...)
			}
			return append(out, fields(r.Gradients)...)
		},
		notes: []string{
			"Means over splits; ±: standard deviation. A chain that diverged counts as distance 1 and has no scores.",
			"In band: the distance is at most the 95 % quantile of the self-distance of independent chains.",
		},
	}.write(d)
	if len(rows) > longestPrinted {
		d.out.Text = ""
	}
	return err
}

// longestPrinted is how many rows of a sweep's table a terminal gets; longer
// ones are files alone.
const longestPrinted = 24
