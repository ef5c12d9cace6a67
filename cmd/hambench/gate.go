package main

import (
	"context"
	"io"

	"hambench/gate"
	"hambench/usage"
)

func gateCommand() *command {
	return &command{
		name:  "gate",
		about: "Compares two runs; exit code 1 when an order, a constant, a cell or a benchmark moved.",
		usage: "OLD NEW",
		detail: `OLD and NEW are outputs of certify --json, of export, or of go test -bench.
Benchmarks and costs are tested by Mann-Whitney with Holm's correction, and
must be worse by a least effect: run them several times (-count 10).
Exit code 0: nothing moved. 1: something moved, and a table says what. 2: the
input cannot be compared.`,
		example: "hambench certify --problem gaussian --json > new.json && hambench gate testdata/certify.json new.json",
		run:     runGate,
	}
}

// runGate carries out hambench gate. It returns an error that is
// gate.ErrMoved when something moved.
func runGate(_ context.Context, c *command, stdout, _ io.Writer, args []string) error {
	var o gate.Options
	fs := c.flagSet()
	fs.Float64Var(&o.Order, "order", 0, "largest change `X` of a convergence order; 0 means 0.05")
	fs.Float64Var(&o.Constant, "constant", 0, "largest relative change `X` of a leading constant or error; 0 means 0.005")
	fs.Float64Var(&o.Alpha, "alpha", 0, "error rate `X` over all benchmarks together; 0 means 0.05")
	fs.Float64Var(&o.Effect, "effect", 0, "least relative change `X` of a benchmark that counts; 0 means 0.05")
	fs.Float64Var(&o.Distance, "distance", 0, "least change `X` of a cell's distance that counts; 0 means 0.03")
	files, err := c.parse(fs, stdout, args)
	if err != nil {
		return err
	}
	if len(files) != 2 {
		return usage.Errorf("%s: %d files given: want two, OLD and NEW (see '%s --help')", c.name, len(files), c.name)
	}
	report, err := gate.Files(files[0], files[1], o)
	if err != nil {
		return err
	}
	if err := report.Write(stdout); err != nil {
		return err
	}
	return report.Err()
}
