package draws

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"hambench/usage"
)

// Read reads predictive draws from a CSV file, as this package or another program wrote
// them: a row a draw, whose columns f0 … hold the predictive values, as many as outputs. A
// column named chain tells chains apart; without it the file is one chain. Other columns
// are ignored. It returns the draws of each chain, chains in the order in which they begin.
// What cannot be read is a usage error that names the file and, of a value, its line and
// column.
func Read(file string, outputs int) ([][][]float64, error) {
	chains, err := readChains(file, outputs)
	if err != nil {
		return nil, usage.Errorf("draws %s: %w", file, err)
	}
	return chains, nil
}

// readChains is Read with errors that do not name the file: [chain][draw][output].
func readChains(file string, outputs int) (chains [][][]float64, err error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	// A row with another number of fields than the header is an error of the reader.
	r := csv.NewReader(in)
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("no header: %w", err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // a byte order mark
	// Columns are found by their names: their order does not matter.
	columns, err := predictiveColumns(header, outputs)
	if err != nil {
		return nil, err
	}
	// number has the place of each chain's name in the result; "" without that column.
	named, number := slices.Index(header, "chain"), make(map[string]int)
	for row, err := r.Read(); err != io.EOF; row, err = r.Read() {
		if err != nil {
			return nil, err
		}
		d := make([]float64, outputs)
		for o, i := range columns {
			// References hold their draws in float32.
			d[o], err = strconv.ParseFloat(row[i], 64)
			if err != nil || !(math.Abs(d[o]) <= math.MaxFloat32) {
				line, _ := r.FieldPos(i)
				return nil, fmt.Errorf("line %d, column f%d: %q: want a finite number in the "+
					"range of float32", line, o, row[i])
			}
		}
		name := ""
		if named >= 0 {
			name = row[named]
		}
		// Rows of several chains may alternate, as those of this package do.
		c, ok := number[name]
		if !ok {
			c, chains = len(chains), append(chains, nil)
			number[name] = c
		}
		chains[c] = append(chains[c], d)
	}
	if len(chains) == 0 {
		return nil, errors.New("a header and no draws: want a row a draw")
	}
	return chains, nil
}

// predictiveColumns returns the positions of f0 … in a header, each of which must be there
// once. A further one says that the draws are of another split.
func predictiveColumns(header []string, outputs int) (columns []int, err error) {
	for o := range outputs {
		name := fmt.Sprintf("f%d", o)
		at := slices.Index(header, name)
		if at < 0 {
			return nil, fmt.Errorf("no column f%d: want f0 to f%d, a predictive value each", o,
				outputs-1)
		}
		if slices.Contains(header[at+1:], name) {
			return nil, fmt.Errorf("two columns f%d: want one", o)
		}
		columns = append(columns, at)
	}
	if slices.Contains(header, fmt.Sprintf("f%d", outputs)) {
		return nil, fmt.Errorf("there is a column f%d: want f0 to f%d: are they of another split?",
			outputs, outputs-1)
	}
	return columns, nil
}
