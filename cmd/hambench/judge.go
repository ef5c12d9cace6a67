package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hambench/internal/table"
	"hambench/models"
	"hambench/oracle"
	"hambench/usage"
)

func judgeCommand() *cobra.Command {
	var f selection
	var asJSON bool
	c := &cobra.Command{
		Use:   "judge DRAWS.csv …",
		Short: "Judges draws made elsewhere against a data set's posterior.",
		Long: `Each row is a draw: columns f0 … hold the predictive values at the test inputs, as
sample --predictions writes them. A column named chain tells the chains of a file
apart; a file without it is one chain. Other columns are ignored. The truth is the
exact posterior, or the reference chains in the store of --out, made there if
missing. Exit code 1 if the draws are farther from it than independent ones, as
many as their effective sample size, would be once in a hundred times.`,
		Example: "hambench judge --dataset linear draws.csv",
		RunE:    func(c *cobra.Command, files []string) error { return f.judge(c.Context(), files, asJSON) },
	}
	f.register(c, referenceFlags)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (f *selection) judge(ctx context.Context, files []string, asJSON bool) error {
	target, err := f.openPosterior(ctx, "")
	if err != nil {
		return err
	}
	var chains [][][]float64
	for _, file := range files {
		of, err := readDraws(file, target.Outputs())
		if err != nil {
			return err
		}
		chains = append(chains, of...)
	}
	var truth oracle.Truth
	if _, exact := target.(models.Analytic); exact {
		truth, err = oracle.NewAnalytic(f.model, target)
	} else {
		truth, _, err = f.reference(ctx)
	}
	if err != nil {
		return err
	}
	j, err := oracle.Judge(target, truth, chains)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(f.stdout, "  ", j)
	} else {
		err = printJudgement(f.stdout, j)
	}
	if err == nil && !j.Accepted {
		err = fmt.Errorf("not draws of this posterior: distance %.3f, beyond %.3f", j.Distance, j.Limit)
	}
	return err
}

// readDraws reads the columns f0 … of a CSV: the draws of its chains, in the order
// in which these begin.
func readDraws(file string, outputs int) ([][][]float64, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, usage.Errorf("draws: %w", err)
	}
	defer in.Close()
	r := csv.NewReader(in)
	header, err := r.Read()
	if err != nil {
		return nil, usage.Errorf("draws %s: no header: %w", file, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff") // a byte order mark
	at := make([]int, outputs)
	for o := range at {
		name := fmt.Sprintf("f%d", o)
		if at[o] = slices.Index(header, name); at[o] < 0 {
			return nil, usage.Errorf("draws %s: no column f%d: want f0 to f%d, a predictive value each", file, o, outputs-1)
		}
		if slices.Contains(header[at[o]+1:], name) {
			return nil, usage.Errorf("draws %s: two columns f%d: want one", file, o)
		}
	}
	if slices.Contains(header, fmt.Sprintf("f%d", outputs)) {
		return nil, usage.Errorf("draws %s: there is a column f%d: want f0 to f%d: are they of another split?", file, outputs, outputs-1)
	}
	var draws [][][]float64
	chain, known := slices.Index(header, "chain"), make(map[string]int)
	for row, err := r.Read(); err != io.EOF; row, err = r.Read() {
		if err != nil {
			return nil, usage.Errorf("draws %s: %w", file, err)
		}
		d := make([]float64, outputs)
		for o, i := range at {
			if d[o], err = strconv.ParseFloat(row[i], 64); err != nil || !(math.Abs(d[o]) <= math.MaxFloat32) { // as references hold them
				line, _ := r.FieldPos(i)
				return nil, usage.Errorf("draws %s: line %d, column f%d: %q: want a finite number in the range of float32", file, line, o, row[i])
			}
		}
		name := ""
		if chain >= 0 {
			name = row[chain]
		}
		c, ok := known[name]
		if !ok {
			c, draws = len(draws), append(draws, nil)
			known[name] = c
		}
		draws[c] = append(draws[c], d)
	}
	if len(draws) == 0 {
		return nil, usage.Errorf("draws %s: a header and no draws: want a row a draw", file)
	}
	return draws, nil
}

func printJudgement(w io.Writer, j oracle.Judgement) error {
	verdict := "yes"
	if !j.Accepted {
		verdict = "NO"
	}
	rows := [][]string{
		{"chains × draws", fmt.Sprintf("%d × %d", j.Chains, j.Draws)},
		{"effective sample size, mean over the outputs", number(j.Diagnostics.ESS.Mean)},
		{"split-R̂, 95 % quantile over the outputs", number(j.Diagnostics.SplitRHat.P95)},
		{"lag-1 autocorrelation, mean", number(j.Diagnostics.Lag1.Mean)},
		{"distance", number(j.Distance)},
		{fmt.Sprintf("self-distance of %.0f independent draws (5–95 %%)", j.Effective), fmt.Sprintf("%s (%s–%s)", number(j.Self.Mean), number(j.Self.Low), number(j.Self.High))},
		{"limit, with 1 % false alarms", number(j.Limit)},
		{"draws of the posterior", verdict},
	}
	for _, name := range slices.Sorted(maps.Keys(j.Scores)) {
		rows = append(rows, []string{name, number(j.Scores[name])})
	}
	return table.Write(w, []string{"", "value"}, rows)
}
