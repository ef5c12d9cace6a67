// Package child runs external samplers and models: programs that answer each line on
// their standard input with a JSON object in one line on their standard output (the
// protocol of docs/samplers.md). A child that is silent, ends early or says something
// else is a usage error of one line, and nothing that it started stays behind.
//
// The package has the parts of the protocol that all children share: the first
// question and its answer ([Hello], [Greeting]), and vectors ([Vector]). What a
// sampler or a model is asked beyond that is the business of its caller.
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
	"unicode"

	"hambench/usage"
)

const (
	// grace is the time in which a child must end after its standard input was closed.
	grace = 2 * time.Second
	// maxAnswer bounds a line of an answer, in bytes.
	maxAnswer = 1 << 28
	// maxSaid is the number of bytes kept of what a child writes to standard error, and
	// maxShown the number of characters of a text that a message shows.
	maxSaid  = 4096
	maxShown = 200
)

// Child is a running program. It serves one caller at a time.
type Child struct {
	command string
	timeout time.Duration // for each answer
	process *exec.Cmd
	in      io.WriteCloser
	stdout  io.Closer // of out
	out     *bufio.Scanner
	said    tail  // on standard error
	failed  error // of the first call that failed
	calls   int
}

// Start runs a command by sh -c in a folder, "" for the current one, in a process
// group of its own. Each answer must come within the timeout. A shell or a folder that
// is not there is a usage error; a command that is not there shows at the first Ask.
func Start(command, dir string, timeout time.Duration) (*Child, error) {
	c := &Child{command: command, timeout: timeout, process: exec.Command("sh", "-c", command)}
	c.process.Dir = dir
	c.process.Stderr = &c.said
	c.process.WaitDelay = grace
	SetGroup(c.process)
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
	c.stdout, c.out = out, bufio.NewScanner(out)
	c.out.Buffer(make([]byte, 0, 1<<16), maxAnswer)
	return c, nil
}

// kill ends the child, and reading and writing: a process that left the group may hold the
// other ends of the pipes open.
func (c *Child) kill() {
	killGroup(c.process)
	c.in.Close()
	c.stdout.Close()
}

// Calls returns how many questions were asked.
func (c *Child) Calls() int { return c.calls }

// name stands for the child in errors: its command, shortened.
func (c *Child) name() string { return strings.TrimSpace(shown([]byte(c.command))) }

// Ask sends a question, called op in messages, and stores the answer in the
// struct that answer points to; keys that it does not have are refused. The answer
// {"error":"…"} is an error, too. If ctx ends before the answer comes, so does the
// child, and the error is that of ctx; all others are usage errors. After an error the
// child has ended, and every call returns the same error.
func (c *Child) Ask(ctx context.Context, op string, question, answer any) error {
	if c.failed != nil {
		return c.failed
	}
	defer context.AfterFunc(ctx, c.kill)()
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

// ask is Ask without the end of the child.
func (c *Child) ask(op string, question, answer any) error {
	line, err := json.Marshal(question)
	if err != nil {
		return usage.Errorf("%s: %s: %w", c.name(), op, err)
	}
	c.calls++
	// The answer may come without the question being read, which is an error of its own:
	// so the write's error waits for the answer.
	late := time.AfterFunc(c.timeout, c.kill)
	_, sent := c.in.Write(append(line, '\n'))
	heard := c.out.Scan()
	if !late.Stop() {
		return usage.Errorf("%s: no answer to %s within %s%s: want one line of JSON for each "+
			"line, flushed; --exec-timeout allows more time",
			c.name(), op, c.timeout, c.said.last())
	}
	if !heard {
		if errors.Is(c.out.Err(), bufio.ErrTooLong) {
			return usage.Errorf("%s: the answer to %s is longer than %d MB: want one line",
				c.name(), op, maxAnswer>>20)
		}
		return c.ended(op)
	}
	if sent != nil {
		return usage.Errorf("%s: answered %s without reading it: %w", c.name(), op, sent)
	}
	return c.read(op, c.out.Bytes(), answer)
}

// ended returns the error of a child that ended without an answer, with its exit code and
// its last words.
func (c *Child) ended(op string) error {
	killGroup(c.process)
	how := "with exit code 0"
	if err := c.process.Wait(); err != nil {
		how = "with " + err.Error()
	}
	return usage.Errorf("%s: ended before it answered %s, %s%s", c.name(), op, how, c.said.last())
}

// read decodes an answer. Its errors tell a number that JSON lacks, a line that is no
// object, a refusal by the child, and an object of another form apart.
func (c *Child) read(op string, line []byte, answer any) error {
	line = bytes.TrimSpace(line)
	if !json.Valid(line) || line[0] != '{' {
		// Encoders that are not strict, Python's by default, write these words.
		if bytes.Contains(line, []byte("NaN")) || bytes.Contains(line, []byte("Infinity")) {
			return usage.Errorf("%s: the answer to %s has numbers that are not finite, which "+
				"JSON does not have: a model's potential may be null, a step must be finite",
				c.name(), op)
		}
		return usage.Errorf("%s: the answer to %s is not an object in JSON: %q: want nothing else "+
			"on standard output; print to standard error", c.name(), op, shown(line))
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(answer)
	if err == nil {
		return nil
	}
	// A refusal ends up here, too: its key is one that the answer does not have.
	var refusal struct {
		Error *string `json:"error"`
	}
	if json.Unmarshal(line, &refusal) == nil && refusal.Error != nil {
		return usage.Errorf("%s: %s: %s", c.name(), op, shown([]byte(*refusal.Error)))
	}
	what := strings.TrimPrefix(err.Error(), "json: ")
	return usage.Errorf("%s: the answer to %s: %s", c.name(), op, what)
}

// Stop says bye to the child, waits a while for it to end, and kills what is left of it
// and of what it started.
func (c *Child) Stop() {
	// A child that does not read leaves no room for the bye.
	late := time.AfterFunc(grace, c.kill)
	if c.failed == nil {
		io.WriteString(c.in, `{"op":"bye"}`+"\n") // fails if it has ended already
	}
	c.in.Close()
	for c.out.Scan() { // a child that still writes must not block on a full pipe
	}
	c.process.Wait()
	late.Stop()
	killGroup(c.process)
}

// tail is a writer that keeps the last maxSaid bytes. It is safe for concurrent use: the
// process writes while a caller reads.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write adds p and drops what is too old. It never fails: an error would end the copying of what
// the child writes.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-maxSaid):]
	return len(p), nil
}

// last returns the last line as the end of a message; "" if there is none.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.TrimSpace(t.text)
	if len(text) == 0 {
		return ""
	}
	return "; on standard error: " + shown(text[bytes.LastIndexByte(text, '\n')+1:])
}

// shown returns a text in one line of at most maxShown characters. Control characters, which would
// be commands to a terminal, are replaced.
func shown(text []byte) string {
	s := strings.Join(strings.Fields(string(text)), " ")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	if r := []rune(s); len(r) > maxShown {
		s = string(r[:maxShown]) + " …"
	}
	return s
}
