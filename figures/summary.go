package figures

import (
	"slices"
	"strconv"

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
		var scores []float64
		for _, r := range finished {
			scores = appendScore(scores, r, name)
		}
		if len(scores) > 0 {
			row.Scores[name] = meanOf(scores)
		}
	}
	return row
}

// writeSummary writes the table of a sweep.
func writeSummary(d *drawing, s *sweep) error {
	var rows []summaryRow
	for _, b := range s.blocks {
		for _, l := range b.lines {
			for _, pt := range l.points {
				if pt.known() {
					rows = append(rows, newSummaryRow(b, l, pt))
				}
			}
		}
	}
	shown := slices.DeleteFunc(slices.Clone(summaryScores), func(name string) bool {
		return !slices.ContainsFunc(rows, func(r summaryRow) bool { return r.Scores[name] != nil })
	})
	text, csv := make([][]string, len(rows)), make([][]string, len(rows))
	for i, r := range rows {
		text[i] = []string{r.Dataset, sizeText(r.Batch), r.Line, decimal(r.Step), splitsText(r.Splits, r.Diverged), show(r.Distance, r.SD, 3), yesNo(r.InBand)}
		csv[i] = []string{r.Dataset, strconv.Itoa(r.Batch), r.Line, number(r.Step), strconv.Itoa(r.Splits), strconv.Itoa(r.Diverged), optional(r.Distance), optional(r.SD), strconv.FormatBool(r.InBand)}
		for _, name := range shown {
			text[i], csv[i] = append(text[i], show(r.Scores[name], nil, 3)), append(csv[i], optional(r.Scores[name]))
		}
		text[i], csv[i] = append(text[i], show(r.Gradients, nil, 0)), append(csv[i], optional(r.Gradients))
	}
	if err := d.csv(slices.Concat([]string{"dataset", "batch", "line", "h", "splits", "splits_diverged", "ks", "ks_sd", "in_band"}, shown, []string{"gradients"}), csv); err != nil {
		return err
	}
	if err := d.json(rows); err != nil {
		return err
	}
	header := slices.Concat([]string{"data set", "batch", "line", "η", "splits", "distance", "in band"}, shown, []string{"gradients"})
	err := d.table(header, text, []string{
		"Means over splits; ±: standard deviation. A chain that diverged counts as distance 1 and has no scores.",
		"In band: the distance is at most the 95 % quantile of the self-distance of independent chains.",
	})
	if len(rows) > longestPrinted {
		d.out.Text = ""
	}
	return err
}

// longestPrinted is how many rows of a sweep's table a terminal gets; longer
// ones are files alone.
const longestPrinted = 24
