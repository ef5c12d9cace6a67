package draws

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// vector returns what a line holds of a draw: the vector, its length, and the name that
// its columns have before their number.
func (h Header) vector() (name string, length int, of func(Draw) []float64) {
	if h.Predictive {
		return "f", h.Outputs, func(d Draw) []float64 { return d.Predictions }
	}
	return "theta", h.Dim, func(d Draw) []float64 { return d.Theta }
}

// newCSV writes lines "sample,theta0,theta1,…", or with "chain,draw" in place of
// "sample" if the header is Numbered. The line that names the columns comes with the
// first draw: chains that cannot start leave an empty output.
func newCSV(to *output, h Header) (form, error) {
	w := to.stream // errors of its writes stay with it, and are returned by the last of a line
	name, n, of := h.vector()
	begun := false
	return func(d Draw) error {
		if !begun {
			begun = true
			writeHead(w, h.Numbered, name, n)
		}
		if h.Numbered {
			fmt.Fprintf(w, "%d,", d.Chain)
		}
		w.WriteString(strconv.Itoa(d.Index))
		return writeRow(w, of(d))
	}, nil
}

// writeHead writes the line that names the columns: the numbers of the chain and of the
// draw, and then name0, name1, … for n values.
func writeHead(w *bufio.Writer, numbered bool, name string, n int) {
	head := "sample"
	if numbered {
		head = "chain,draw"
	}
	w.WriteString(head)
	for i := range n {
		fmt.Fprintf(w, ",%s%d", name, i)
	}
	w.WriteByte('\n')
}

// writeRow ends a line with numbers, each after a comma, with the fewest digits that give
// the same float64. NaN and infinities are written as NaN, +Inf and -Inf.
func writeRow(w *bufio.Writer, values []float64) error {
	for _, v := range values {
		w.WriteByte(',')
		w.Write(strconv.AppendFloat(w.AvailableBuffer(), v, 'g', -1, 64))
	}
	return w.WriteByte('\n')
}

// newJSONL writes objects {"sample":0,"theta":[…],"gradients":250}, or with "chain" and "draw"
// in place of "sample", and without gradients if these are not known. A number that is not
// finite has no JSON: it is null, which readJSONL takes for NaN.
func newJSONL(to *output, h Header) (form, error) {
	name, _, of := h.vector()
	return func(d Draw) error {
		numbers := of(d)
		var list any = numbers
		if slices.ContainsFunc(numbers, func(v float64) bool { return math.IsNaN(v - v) }) {
			values := make([]any, len(numbers))
			for i, v := range numbers {
				if !math.IsNaN(v - v) { // v − v of an infinity is NaN, too
					values[i] = v
				}
			}
			list = values
		}
		values, err := json.Marshal(list)
		if err != nil {
			return err
		}
		// The keys are in a fixed order, which a map's would not be.
		// A draw that costs nothing is one whose cost is not known: its key is left out.
		number, cost := fmt.Sprintf(`"sample":%d`, d.Index), ""
		if h.Numbered {
			number = fmt.Sprintf(`"chain":%d,"draw":%d`, d.Chain, d.Index)
		}
		if d.Gradients > 0 {
			cost = fmt.Sprintf(`,"gradients":%g`, d.Gradients)
		}
		_, err = fmt.Fprintf(to.stream, "{%s,%q:%s%s}\n", number, name, values, cost)
		return err
	}, nil
}
