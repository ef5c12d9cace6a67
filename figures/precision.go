package figures

import (
	"math"
	"strconv"

	"hambench/bench"
)

// precisionRow is the same chain with gradients in both precisions.
type precisionRow struct {
	Dataset    string  `json:"dataset"`
	Split      int     `json:"split"`
	Batch      int     `json:"batch"` // 0 for the full batch
	Step       float64 `json:"h"`
	Samples    int     `json:"samples"`
	Float32    float64 `json:"ks_float32"`
	Float64    float64 `json:"ks_float64"`
	Difference float64 `json:"difference"` // float64 less float32
	Self       float64 `json:"self_distance"`
	SelfLow    float64 `json:"self_distance_p05"`
	SelfHigh   float64 `json:"self_distance_p95"`
	// Diverged32 and Diverged64 say which chain left the finite numbers; its
	// distance is 1.
	Diverged32 bool `json:"diverged_float32"`
	Diverged64 bool `json:"diverged_float64"`
	// Alike: the difference is at most half the width of the band of
	// self-distance, and either both chains stayed finite or none.
	Alike bool `json:"alike"`
}

// drawPrecision writes the table of the study precision, a line per pair of
// chains: a figure would show pairs of points that lie on each other.
func drawPrecision(d *drawing) error {
	return listing[precisionRow]{
		rows:   precisionRows(d.results),
		header: "data set,split,batch,η,samples,float32,float64,Δ,self-distance (5–95 %),alike",
		text: func(r precisionRow) []string {
			self := decimals(r.Self, 3) + " (" + decimals(r.SelfLow, 3) + "–" + decimals(r.SelfHigh, 3) + ")"
			return fields(r.Dataset, r.Split, sizeText(r.Batch), decimal(r.Step), r.Samples,
				distanceText(r.Float32, r.Diverged32), distanceText(r.Float64, r.Diverged64), signed(&r.Difference, 3), self, yesNo(r.Alike))
		},
		csvHeader: "dataset,split,batch,h,samples,ks_float32,ks_float64,difference,self_distance,self_distance_p05,self_distance_p95,diverged_float32,diverged_float64,alike",
		csv: func(r precisionRow) []string {
			return fields(r.Dataset, r.Split, r.Batch, r.Step, r.Samples,
				r.Float32, r.Float64, r.Difference, r.Self, r.SelfLow, r.SelfHigh, r.Diverged32, r.Diverged64, r.Alike)
		},
		notes: []string{
			"Kolmogorov distances to the same oracle; η is the largest step known to be stable, wherever a chain starts. The chains have streams of their own.",
			"Alike: Δ is at most half the width of the band of self-distance.",
		},
	}.write(d)
}

// precisionRows pairs the results that differ in their precision alone;
// chains without their pair are left out.
func precisionRows(results []bench.Result) []precisionRow {
	double := make(map[string]bench.Result)
	for _, r := range results {
		if r.Cell.Precision == "float64" {
			double[r.Cell.Stream()] = r
		}
	}
	var rows []precisionRow
	for _, r := range results {
		c := r.Cell
		c.Precision = "float64"
		other, ok := double[c.Stream()]
		if r.Cell.Precision == "float64" || !ok {
			continue
		}
		diff := other.KS - r.KS
		rows = append(rows, precisionRow{
			Dataset: c.Dataset, Split: c.Split, Batch: c.BatchSize, Step: c.Step, Samples: c.Samples,
			Float32: r.KS, Float64: other.KS, Difference: diff, Self: r.KSSelf, SelfLow: r.KSSelfLow, SelfHigh: r.KSSelfHigh,
			Diverged32: r.Diverged, Diverged64: other.Diverged,
			Alike: r.Diverged == other.Diverged && math.Abs(diff) <= (r.KSSelfHigh-r.KSSelfLow)/2,
		})
	}
	return rows
}

// distanceText hides the 1 that stands for a diverged chain: it is no distance.
func distanceText(ks float64, diverged bool) string {
	if diverged {
		return "diverged"
	}
	return decimals(ks, 3)
}

// sizeText is a batch size as people read it.
func sizeText(batch int) string {
	if batch == bench.Full {
		return "full"
	}
	return strconv.Itoa(batch)
}

// yesNo is loud where a reader should look.
func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "NO"
}
