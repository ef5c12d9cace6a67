//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// tooLong ends a program that hangs.
const tooLong = 10 * time.Minute

// process is a running program.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr output
	over           chan struct{}
	started        time.Time
}

// output is a buffer that is read while it is written.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// ending is how a program ended.
type ending struct {
	code           int            // -1 if a signal ended it
	signal         syscall.Signal // that ended it
	stdout, stderr string
	took           time.Duration
}

// complaints are the lines on standard error that are no progress.
func (e ending) complaints() []string {
	var lines []string
	for line := range strings.Lines(e.stderr) {
		if strings.HasPrefix(line, "small:") || strings.HasPrefix(line, "hambench:") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// start starts a program, offline and without data but the built-in ones.
// change may alter the command.
func (l *lab) start(change func(*exec.Cmd), program string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(program, args...), over: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), "HAMBENCH_OFFLINE=1", "HAMBENCH_DATA=", "XDG_CACHE_HOME="+filepath.Join(l.dir, "cache"))
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if change != nil {
		change(p.cmd)
	}
	p.started = time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	hung := time.AfterFunc(tooLong, func() { p.cmd.Process.Kill() })
	go func() {
		p.cmd.Wait()
		hung.Stop()
		close(p.over)
	}()
	return p, nil
}

// wait waits for the program's end.
func (p *process) wait() ending {
	<-p.over
	e := ending{code: p.cmd.ProcessState.ExitCode(), stdout: p.stdout.String(), stderr: p.stderr.String(), took: time.Since(p.started)}
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		e.signal = s.Signal()
	}
	return e
}

// running waits for a while and reports whether the program still runs.
func (p *process) running(wait time.Duration) bool {
	select {
	case <-p.over:
		return false
	case <-time.After(wait):
		return true
	}
}

// until waits for a condition and reports whether it came before the end.
func (p *process) until(condition func() bool) bool {
	for !condition() {
		if !p.running(2 * time.Millisecond) {
			return condition()
		}
	}
	return true
}

func (p *process) kill() ending {
	p.send(syscall.SIGKILL)
	return p.wait()
}

func (p *process) send(s os.Signal) { p.cmd.Process.Signal(s) }

// call runs a program to its end.
func (l *lab) call(program string, args ...string) ending {
	p, err := l.start(nil, program, args...)
	if err != nil {
		return ending{code: -1, stderr: err.Error()}
	}
	return p.wait()
}

// sweepInto starts the small program's sweep.
func (l *lab) sweepInto(change func(*exec.Cmd), out string, more ...string) (*process, error) {
	return l.start(change, l.small, append([]string{"-out", out}, more...)...)
}

// finish runs the sweep to its end, which must be a good one.
func (l *lab) finish(out string) error {
	p, err := l.sweepInto(nil, out)
	if err != nil {
		return err
	}
	return p.wait().good()
}

func (e ending) good() error {
	if e.code != 0 {
		return fmt.Errorf("exit code %d, signal %v: %s", e.code, e.signal, strings.Join(e.complaints(), " | "))
	}
	return nil
}

// failedWith checks that the program ended with an exit code and one line that
// says so.
func (e ending) failedWith(code int, words ...string) error {
	lines := e.complaints()
	if e.code != code || len(lines) != 1 {
		shown := lines[:min(len(lines), 3)]
		return fmt.Errorf("exit code %d (signal %v) and %d lines, want %d and one: %s", e.code, e.signal, len(lines), code, strings.Join(shown, " | "))
	}
	for _, w := range words {
		if !strings.Contains(lines[0], w) {
			return fmt.Errorf("the line does not say %q: %s", w, lines[0])
		}
	}
	return nil
}

// errEarly says that a run was over before the fault could strike.
var errEarly = errors.New("the run was over too early")
