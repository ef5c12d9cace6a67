package draws

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// vector returns which vector of a draw the formats that hold only one write, with
// its name and length.
func (h Header) vector() (name string, length int, of func(Draw) []float64) {
	if h.Predictive {
		return "f", h.Outputs, func(d Draw) []float64 { return d.Predictions }
	}
	return "theta", h.Dim, func(d Draw) []float64 { return d.Theta }
}

// lines writes a draw as a line, as the draws come.
type lines func(Draw) error

func (l lines) write(d Draw) error { return l(d) }
func (lines) close() error         { return nil }

func newCSV(to *output, h Header) (form, error) {
	w := to.stream
	name, n, of := h.vector()
	begun := false
	return lines(func(d Draw) error {
		if !begun { // chains that cannot start leave nothing
			begun = true
			writeHead(w, h.Numbered, name, n)
		}
		if h.Numbered {
			fmt.Fprintf(w, "%d,", d.Chain)
		}
		w.WriteString(strconv.Itoa(d.Index))
		return writeRow(w, of(d))
	}), nil
}

// writeHead writes the line that names the columns.
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

// writeRow ends a line with numbers, each after a comma, with all their digits.
func writeRow(w *bufio.Writer, values []float64) error {
	for _, v := range values {
		w.WriteByte(',')
		w.Write(strconv.AppendFloat(w.AvailableBuffer(), v, 'g', -1, 64))
	}
	return w.WriteByte('\n')
}

func newJSONL(to *output, h Header) (form, error) {
	_, _, of := h.vector()
	return lines(func(d Draw) error {
		values, err := json.Marshal(of(d))
		if err != nil {
			return err
		}
		number := fmt.Sprintf(`"sample":%d`, d.Index)
		if h.Numbered {
			number = fmt.Sprintf(`"chain":%d,"draw":%d`, d.Chain, d.Index)
		}
		_, err = fmt.Fprintf(to.stream, "{%s,\"values\":%s}\n", number, values)
		return err
	}), nil
}

// stan is a folder of Stan CSV. The comments are those by which readers know a
// sample: of the algorithm fixed_param, which has no adaptation to report. They
// want a warm-up, even if it is not saved; hambench_burn_in_steps is the true one.
type stan struct {
	values  func(Draw) []float64
	files   []*os.File
	writers []*bufio.Writer
}

func newStan(to *output, h Header) (form, error) {
	name, n, of := h.vector()
	s := &stan{values: of}
	for c := range h.Chains {
		f, err := os.Create(filepath.Join(to.draft, fmt.Sprintf("chain-%d.csv", c+1)))
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		w := bufio.NewWriter(f)
		s.files, s.writers = append(s.files, f), append(s.writers, w)
		fmt.Fprintf(w, "# stan_version_major = 2\n# stan_version_minor = 36\n# stan_version_patch = 0\n# model = %v\n", h.Attributes["model"])
		fmt.Fprintf(w, "# method = sample\n#   sample\n#     num_samples = %d\n#     num_warmup = 1\n#     save_warmup = false\n#     thin = 1\n", h.Draws)
		fmt.Fprintf(w, "#     algorithm = fixed_param\n# id = %d\n", c+1)
		for _, key := range slices.Sorted(maps.Keys(h.Attributes)) {
			fmt.Fprintf(w, "# hambench_%s = %v\n", key, h.Attributes[key])
		}
		w.WriteString("lp__,energy__")
		for i := range n {
			fmt.Fprintf(w, ",%s.%d", name, i+1)
		}
		w.WriteByte('\n')
	}
	return s, nil
}

func (s *stan) write(d Draw) error {
	w := s.writers[d.Chain]
	fmt.Fprintf(w, "%v,%v", d.LogDensity, d.Energy)
	return writeRow(w, s.values(d))
}

// close ends the files with the block of times that readers look for; chains side
// by side have no times of their own.
func (s *stan) close() (err error) {
	for c, f := range s.files {
		fmt.Fprint(s.writers[c], "# \n#  Elapsed Time: 0 seconds (Warm-up)\n#                0 seconds (Sampling)\n#                0 seconds (Total)\n# \n")
		err = errors.Join(err, s.writers[c].Flush(), f.Close())
	}
	return err
}
