//go:build linux

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
)

// build makes a program of this module.
func build(module, pkg, to string) error {
	cmd := exec.Command(cmp.Or(os.Getenv("GO"), "go"), "build", "-buildvcs=false", "-o", to, pkg)
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}
