//go:build linux

// Command peers is this project's part in the comparison with other
// libraries: it states the problem, and measures the product's own step.
//
//	peers sets
//	peers problem [published] > FILE
//	peers serve FILE float32|float64
//
// See README.md; run.py starts it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"hambench/internal/kernel"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(2)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if err := kernel.Err(); err != nil {
		return err
	}
	switch {
	case len(args) == 1 && args[0] == "sets":
		for _, s := range kernel.Sets() {
			fmt.Fprintln(out, s.Name())
		}
		return nil
	case len(args) > 0 && args[0] == "problem" && len(args) <= 2:
		of := ""
		if len(args) == 2 {
			of = args[1]
		}
		p, err := newProblem(of)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(p)
	case len(args) == 3 && args[0] == "serve":
		p, err := readProblem(args[1])
		if err != nil {
			return err
		}
		s, err := newServer(p, args[2])
		if err != nil {
			return err
		}
		return s.serve(in, out)
	}
	return errors.New("want sets, problem [published], or serve FILE float32|float64")
}
