//go:build linux

package main

import (
	"fmt"
	"os/exec"
)

// build makes a program of this module.
func build(module, pkg, to string) error {
	cmd := exec.Command("go", "build", "-o", to, pkg)
	cmd.Dir = module
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}
