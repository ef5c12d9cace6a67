//go:build !unix

package child

import "os/exec"

// SetGroup does nothing: this system has no process groups.
func SetGroup(*exec.Cmd) {}

// killGroup ends a command; what it started is out of reach here.
func killGroup(c *exec.Cmd) { c.Process.Kill() }
