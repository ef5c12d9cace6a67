//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// SetGroup has a command run in a process group of its own, which an interrupt from the terminal
// does not reach.
func SetGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a command and all that it started.
func killGroup(c *exec.Cmd) { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
