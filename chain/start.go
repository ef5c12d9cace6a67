package chain

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"hambench/integrators"
	"hambench/integrators/noise"
	"hambench/internal/input"
	"hambench/models"
	"hambench/usage"
)

// Start returns the state in which a chain starts: at the position theta, or,
// if that is nil, at a draw from the prior; with a fresh momentum from N(0, M)
// and the integrator's auxiliary variables at their start. What is random
// comes from the key's stream StreamStart.
func (s *Sampler) Start(key uint64, theta []float64) *integrators.State {
	return s.start(theta, noise.New(key, noise.StreamStart))
}

// start is Start with the random numbers of a noise.
func (s *Sampler) start(theta []float64, n integrators.Noise) *integrators.State {
	z := s.in.NewState()
	if theta != nil {
		copy(z.Theta, theta)
	} else {
		drawPrior(z.Theta, s.target, n)
	}
	n.Normal(z.R)
	for i, w := range s.in.InvMass() {
		z.R[i] /= math.Sqrt(w)
	}
	return z
}

// StartAtRest returns a start without momentum or auxiliary variables, at a draw
// from the prior made of the given noise. It is for warm-ups, which change
// integrators on the way.
func StartAtRest(t models.Target, n integrators.Noise) *integrators.State {
	z := integrators.NewState(t.Dim())
	drawPrior(z.Theta, t, n)
	return z
}

// drawPrior stores a draw from the prior in theta, made of the next normals.
func drawPrior(theta []float64, t models.Target, n integrators.Noise) {
	n.Normal(theta)
	t.DrawPrior(theta)
}

// AtOptimum is the start at a position where a target's likelihood is largest.
const AtOptimum = "optimum"

// FixedStart returns the position that a start names whatever the random numbers are: that in
// a file, or the optimum that the target knows; nil for other starts. A target that knows none
// is a usage error, as are those of ReadPosition.
func FixedStart(start string, t models.Target) ([]float64, error) {
	can := models.CapabilitiesOf(t)
	switch {
	case IsFile(start):
		return ReadPosition(start, t.Dim())
	case start != AtOptimum:
		return nil, nil
	case can.Optimal == nil:
		return nil, usage.Errorf("start %q: model %q does not know its optimum: want the file of "+
			"a position", start, can.Name)
	}
	return can.Optimal.Optimum(), nil
}

// IsFixed reports whether FixedStart has a position for a start.
func IsFixed(start string) bool { return IsFile(start) || start == AtOptimum }

// IsFile reports whether a start is the name of a file with a position, and not a word for
// one: it has a dot or a slash.
func IsFile(start string) bool { return strings.ContainsAny(start, `./\`) }

// ReadPosition reads a position from a file: all its numbers, with white space or commas
// between them; of the CSV file that hambench sample writes, the parameters of the last draw.
// Lines that begin with # are comments.
// A file that cannot be read, what is no finite number, and another number of them than dim,
// are usage errors that name the file.
func ReadPosition(file string, dim int) ([]float64, error) {
	theta, err := readPosition(file)
	if err == nil && len(theta) != dim {
		err = fmt.Errorf("%d numbers: want one for each of %d parameters", len(theta), dim)
	}
	if err != nil {
		return nil, usage.Errorf("start %s: %w", file, err)
	}
	return theta, nil
}

// readPosition is ReadPosition with errors that do not name the file, for any dimension.
func readPosition(file string) (theta []float64, err error) {
	in, err := input.Open(file)
	if err != nil {
		return nil, errors.Unwrap(err) // without the file's name
	}
	defer in.Close()
	var header []string // of draws
	lines := bufio.NewScanner(in)
	// A line of draws has all parameters: 64 MB hold more than a million of them.
	lines.Buffer(nil, 1<<26)
	for n := 1; lines.Scan(); n++ {
		fields := strings.FieldsFunc(lines.Text(), func(r rune) bool {
			return strings.ContainsRune(", \t\r", r)
		})
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue // a blank line and a comment are no draws
		}
		if theta == nil && header == nil {
			names := strings.Fields(strings.ReplaceAll(strings.Join(fields, " "), `"`, ""))
			if slices.Contains(names, "theta0") {
				header = names
				continue
			}
		}
		if header != nil {
			// A file of draws has one a line: the last one counts.
			theta = theta[:0]
		}
		for i, f := range fields {
			if header != nil && (i >= len(header) || !strings.HasPrefix(header[i], "theta")) {
				continue
			}
			x, err := strconv.ParseFloat(f, 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("line %d: %q: want a finite number", n, f)
			}
			theta = append(theta, x)
		}
	}
	return theta, lines.Err()
}
