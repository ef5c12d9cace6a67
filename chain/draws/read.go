package draws

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hambench/compare"
	"hambench/usage"
)

// Read reads the draws of one side from files of one format, chains in the order of the files
// and, within a file, in the order in which they begin. Of a CSV file each row is a draw: a
// column named chain tells chains apart, and without it the file is one chain; those named
// sample, draw or iteration number the draws. Only the columns of the names in want are read,
// all others if it is nil. All files must have them. What cannot be read is a usage error that
// names the file.
func Read(files, want []string) (compare.Side, error) {
	var all compare.Side
	for i, file := range files {
		if slices.ContainsFunc(files[:i], func(other string) bool { return same(file, other) }) {
			return all, usage.Errorf("draws %s: the file is given twice: want each once", file)
		}
		side, err := readCSV(file, want)
		if err == nil {
			err = join(&all, side)
		}
		if err != nil {
			return all, usage.Errorf("draws %s: %w", file, err)
		}
	}
	return all, nil
}

// same reports whether two paths lead to one file.
func same(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}

// join adds the chains of a further file, its columns in the order of the first one's.
func join(all *compare.Side, side compare.Side) error {
	if all.Names == nil {
		*all = side
		return nil
	}
	var from []int
	for _, name := range all.Names {
		at := slices.Index(side.Names, name)
		if at < 0 {
			return fmt.Errorf("no column %s, which the first file has", name)
		}
		from = append(from, at)
	}
	if len(side.Names) > len(from) {
		i := slices.IndexFunc(side.Names, func(n string) bool { return !slices.Contains(all.Names, n) })
		return fmt.Errorf("a column %s, which the first file has not", side.Names[i])
	}
	for _, chain := range side.Chains {
		var columns [][]float64
		for _, at := range from {
			columns = append(columns, chain[at])
		}
		all.Chains = append(all.Chains, columns)
	}
	return nil
}

// Names of columns: those that number the draws in CSV files of this program and of R's
// posterior; elements of vectors as Stan's CSV and this program's write them, which get the
// names of posteriordb, theta[1] and x[1,2].
var (
	numbering   = regexp.MustCompile(`^\.?(chain|sample|draw|iteration)$`)
	stanElement = regexp.MustCompile(`^(\w+?)((?:\.\d+)+)$`)
	ownElement  = regexp.MustCompile(`^theta(\d+)$`)
)

// columnName returns the name of a column as reports have it.
func columnName(name string) string {
	if m := stanElement.FindStringSubmatch(name); m != nil {
		return m[1] + "[" + strings.ReplaceAll(m[2][1:], ".", ",") + "]"
	}
	if m := ownElement.FindStringSubmatch(name); m != nil {
		if i, err := strconv.Atoi(m[1]); err == nil {
			return fmt.Sprintf("theta[%d]", i+1)
		}
	}
	return name
}

// builder collects draws, whose chains may alternate.
type builder struct {
	side   compare.Side
	number map[string]int // of each chain, by its name
}

// chain returns the columns of a chain, which it begins if need be.
func (b *builder) chain(name string) [][]float64 {
	c, ok := b.number[name]
	if !ok {
		if b.number == nil {
			b.number = make(map[string]int)
		}
		c = len(b.side.Chains)
		b.number[name] = c
		b.side.Chains = append(b.side.Chains, make([][]float64, len(b.side.Names)))
	}
	return b.side.Chains[c]
}

// readCSV reads a CSV file, of Stan too: lines that begin with # are comments.
func readCSV(file string, want []string) (compare.Side, error) {
	var b builder
	in, err := os.Open(filepath.Clean(file))
	if err != nil {
		return b.side, err
	}
	defer in.Close()
	r := csv.NewReader(in) // a row with another number of fields than the header is an error
	r.Comment, r.ReuseRecord = '#', true
	header, err := r.Read()
	if err != nil {
		return b.side, fmt.Errorf("no header: %w", err)
	}
	header = slices.Clone(header)
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // a byte order mark
	var places []int
	chain := -1
	for i, name := range header {
		as := columnName(name)
		switch {
		case strings.TrimPrefix(name, ".") == "chain":
			chain = i
		case numbering.MatchString(name) || want != nil && !slices.Contains(want, as):
		case slices.Contains(b.side.Names, as):
			return b.side, fmt.Errorf("two columns %s: want one", as)
		default:
			places, b.side.Names = append(places, i), append(b.side.Names, as)
		}
	}
	for row, err := r.Read(); err != io.EOF; row, err = r.Read() {
		if err != nil {
			return b.side, err
		}
		of := ""
		if chain >= 0 {
			of = row[chain]
		}
		columns := b.chain(of)
		for j, i := range places {
			v, err := strconv.ParseFloat(row[i], 64)
			if err != nil {
				line, _ := r.FieldPos(i)
				return b.side, fmt.Errorf("line %d, column %s: %q: want a number", line, header[i],
					row[i])
			}
			columns[j] = append(columns[j], v)
		}
	}
	if len(b.side.Chains) == 0 {
		return b.side, errors.New("a header and no draws: want a row a draw")
	}
	return b.side, nil
}
