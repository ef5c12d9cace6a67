package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"hambench/certify"
	"hambench/integrators"
	"hambench/internal/kernel"
	"hambench/minibatch"
	"hambench/usage"
)

var certifyCommand = &command{
	name:  "certify",
	about: "Computes exact ergodic errors of integrators under mini-batch schemes and judges the claimed orders.",
	detail: `No Monte Carlo: errors of the stationary law come from linear algebra. Without
flags everything is certified on the built-in problems gaussian, scalar and toy.`,
	example: "hambench certify --problem gaussian --integrator leapfrog,mt3 --scheme full,reshuffle --steps 0.1,0.05,0.025",
	run:     runCertify,
}

// certifyFlags are the command's flags as they were typed.
type certifyFlags struct {
	problem, integrators, schemes, steps, observe string
	inner                                         int
	json                                          bool
}

// runCertify carries out hambench certify.
func runCertify(ctx context.Context, c *command, stdout, _ io.Writer, args []string) error {
	var f certifyFlags
	fs := c.flagSet()
	fs.StringVar(&f.problem, "problem", "", "`FILE` of a problem in JSON, or a built-in one by name; all of these if empty")
	fs.StringVar(&f.integrators, "integrator", "", "`NAME,…` of integrators, split:WORD included; all if empty")
	fs.StringVar(&f.schemes, "scheme", "", "`NAME,…` of full, reshuffle, replacement, cyclic, symmetric; all if empty")
	fs.StringVar(&f.steps, "steps", "", "`H,…` step sizes; a geometric grid if empty")
	fs.StringVar(&f.observe, "observe", "period", "`WHEN`: period (at the end of each) or every-step (averaged over the steps in it)")
	fs.IntVar(&f.inner, "nl", 1, "`N` inner steps of lietrotter; N divides the number of batches or is a multiple of it")
	fs.BoolVar(&f.json, "json", false, "print JSON instead of a table")
	if _, err := c.parse(fs, stdout, args); err != nil {
		return err
	}
	if err := kernel.Err(); err != nil {
		return err
	}
	problems, options, err := f.options()
	if err != nil {
		return err
	}
	var rows []certify.Row
	for _, p := range problems {
		options.Problem = p
		here := options
		if len(problems) > 1 {
			here.Integrators = certify.Compatible(p, options.Integrators)
			if len(here.Integrators) == 0 && len(options.Integrators) > 0 {
				continue
			}
		}
		r, err := certify.Run(ctx, here)
		if err != nil {
			return fmt.Errorf("certify: %w", err)
		}
		rows = append(rows, r...)
	}
	if !f.json {
		return certify.WriteTable(stdout, rows)
	}
	e := json.NewEncoder(stdout)
	e.SetIndent("", " ")
	return e.Encode(rows)
}

// options turns the flags into problems and what to certify on them.
func (f certifyFlags) options() ([]*certify.Problem, certify.Options, error) {
	var o certify.Options
	problems, err := findProblems(f.problem)
	if err != nil {
		return nil, o, err
	}
	if o.Integrators, err = lookupAll(f.integrators, integrators.Builtin().Lookup); err != nil {
		return nil, o, err
	}
	if o.Schemes, err = lookupAll(f.schemes, func(name string) (minibatch.Method, error) {
		m, err := certify.Schemes(name)
		if err != nil {
			return minibatch.Method{}, err
		}
		return m[0], nil
	}); err != nil {
		return nil, o, err
	}
	if o.Steps, err = lookupAll(f.steps, parseStep); err != nil {
		return nil, o, err
	}
	if f.inner < 1 {
		return nil, o, usage.Errorf("certify: --nl %d: want at least 1", f.inner)
	}
	o.Inner = f.inner
	if f.observe != "period" && f.observe != "every-step" {
		return nil, o, usage.Errorf("certify: --observe %q: want period or every-step", f.observe)
	}
	o.EveryStep = f.observe == "every-step"
	return problems, o, nil
}

// findProblems returns the built-in problems, one of them, or a file's.
func findProblems(name string) ([]*certify.Problem, error) {
	all := certify.Builtin()
	if name == "" {
		return all, nil
	}
	for _, p := range all {
		if p.Name == name {
			return []*certify.Problem{p}, nil
		}
	}
	p, err := certify.LoadProblem(name)
	if err != nil {
		return nil, err
	}
	return []*certify.Problem{p}, nil
}

// lookupAll looks up each name of a comma-separated list; an empty list gives
// none.
func lookupAll[T any](list string, lookup func(string) (T, error)) ([]T, error) {
	if list == "" {
		return nil, nil
	}
	var out []T
	for _, name := range strings.Split(list, ",") {
		v, err := lookup(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func parseStep(s string) (float64, error) {
	h, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, usage.Errorf("certify: --steps: %q is not a number: want numbers > 0, separated by commas", s)
	}
	return h, nil
}
