// Package child runs a program that answers each line on its standard input with
// a JSON object in one line on its standard output, and holds it to that: a
// child that is silent, ends early or says something else is a usage error of
// one line, and nothing that it started stays behind. It has what all children,
// samplers and models, have in common: how they introduce themselves
// ([Greeting]), and how vectors are written ([Vector]).
package child

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"hambench/usage"
)

const (
	// grace is how long a child may take to end when it is told to.
	grace = 2 * time.Second
	// maxAnswer bounds a line of an answer, in bytes.
	maxAnswer = 1 << 28
	// maxSaid is how much of what a child says on standard error is kept, and
	// maxShown how much of a text is shown.
	maxSaid  = 4096
	maxShown = 200
)

// Child is a running program. It serves one caller at a time.
type Child struct {
	command string
	timeout time.Duration
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	said    tail
	failed  error
	calls   int
}

// Start runs a command by sh -c in a folder, "" for the current one, in a process
// group of its own. Each answer must come within the timeout.
func Start(command, dir string, timeout time.Duration) (*Child, error) {
	c := &Child{command: command, timeout: timeout, process: exec.Command("sh", "-c", command)}
	c.process.Dir = dir
	c.process.Stderr = &c.said
	c.process.WaitDelay = grace
	setGroup(c.process)
	var out io.ReadCloser
	var err error
	if c.in, err = c.process.StdinPipe(); err == nil {
		out, err = c.process.StdoutPipe()
	}
	if err == nil {
		err = c.process.Start()
	}
	if err != nil {
		return nil, usage.Errorf("%s: cannot be started: %w", c.name(), err)
	}
	c.out = bufio.NewScanner(out)
	c.out.Buffer(make([]byte, 0, 1<<16), maxAnswer)
	return c, nil
}

// Calls returns how many questions were asked.
func (c *Child) Calls() int { return c.calls }

func (c *Child) name() string { return strings.TrimSpace(shown([]byte(c.command))) }

// Ask sends a question, called op in messages, and stores the answer in the
// struct that answer points to. The answer {"error":"…"} is an error, too. If ctx
// ends before the answer comes, so does the child. After an error the child has
// ended, and every call fails in the same way.
func (c *Child) Ask(ctx context.Context, op string, question, answer any) error {
	if c.failed != nil {
		return c.failed
	}
	defer context.AfterFunc(ctx, func() { killGroup(c.process) })()
	err := c.ask(op, question, answer)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		c.failed = err
		killGroup(c.process)
	}
	return err
}

func (c *Child) ask(op string, question, answer any) error {
	line, err := json.Marshal(question)
	if err != nil {
		return usage.Errorf("%s: %s: %w", c.name(), op, err)
	}
	c.calls++
	late := time.AfterFunc(c.timeout, func() { killGroup(c.process) })
	_, sent := c.in.Write(append(line, '\n'))
	heard := c.out.Scan()
	if !late.Stop() {
		return usage.Errorf("%s: no answer to %s within %s%s: want one line of JSON for each line, flushed; --exec-timeout allows more time", c.name(), op, c.timeout, c.said.last())
	}
	if !heard {
		if errors.Is(c.out.Err(), bufio.ErrTooLong) {
			return usage.Errorf("%s: the answer to %s is longer than %d MB: want one line", c.name(), op, maxAnswer>>20)
		}
		return c.ended(op)
	}
	if sent != nil {
		return usage.Errorf("%s: answered %s without reading it: %w", c.name(), op, sent)
	}
	return c.read(op, c.out.Bytes(), answer)
}

// ended says how the child ended without an answer.
func (c *Child) ended(op string) error {
	killGroup(c.process)
	how := "with exit code 0"
	if err := c.process.Wait(); err != nil {
		how = "with " + err.Error()
	}
	return usage.Errorf("%s: ended before it answered %s, %s%s", c.name(), op, how, c.said.last())
}

// read decodes an answer.
func (c *Child) read(op string, line []byte, answer any) error {
	line = bytes.TrimSpace(line)
	if !json.Valid(line) || line[0] != '{' {
		if bytes.Contains(line, []byte("NaN")) || bytes.Contains(line, []byte("Infinity")) {
			return usage.Errorf("%s: the answer to %s has numbers that are not finite", c.name(), op)
		}
		return usage.Errorf("%s: the answer to %s is not an object in JSON: %q: want nothing else on standard output; print to standard error", c.name(), op, shown(line))
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(answer)
	if err == nil {
		return nil
	}
	var refusal struct {
		Error *string `json:"error"`
	}
	if json.Unmarshal(line, &refusal) == nil && refusal.Error != nil {
		return usage.Errorf("%s: %s: %s", c.name(), op, shown([]byte(*refusal.Error)))
	}
	return usage.Errorf("%s: the answer to %s: %s", c.name(), op, strings.TrimPrefix(err.Error(), "json: "))
}

// Stop tells the child that there is no more, and ends what is left of it and of
// what it started.
func (c *Child) Stop() {
	if c.failed == nil {
		io.WriteString(c.in, `{"op":"bye"}`+"\n") // it may have ended already
	}
	c.in.Close()
	late := time.AfterFunc(grace, func() { killGroup(c.process) })
	for c.out.Scan() { // to the end: who writes must not wait
	}
	c.process.Wait()
	late.Stop()
	killGroup(c.process)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxSaid):]
	return len(p), nil
}

// last is the last line, introduced; "" if there is none.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.TrimSpace(t.text)
	if len(text) == 0 {
		return ""
	}
	return "; on standard error: " + shown(text[bytes.LastIndexByte(text, '\n')+1:])
}

// shown is a text in one line that is not too long.
func shown(text []byte) string {
	s := strings.Join(strings.Fields(string(text)), " ")
	if r := []rune(s); len(r) > maxShown {
		s = string(r[:maxShown]) + " …"
	}
	return s
}
