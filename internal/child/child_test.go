package child

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// patience is far beyond every timeout here, and shorter than children live that nobody ends.
const patience = 60 * time.Second

// start starts a child by a shell's command, or skips the test where there is none.
func start(t *testing.T, command string, timeout time.Duration) *Child {
	t.Helper()
	for _, program := range []string{"sh", "setsid"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	c, err := Start(command, "", timeout)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// within fails the test if something hangs.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { do(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal(what + " hangs")
	}
}

// A process that has left the child's group holds its pipes open, whoever is killed.
func TestAProcessOutsideTheGroupHoldsUpNobody(t *testing.T) {
	var answer struct{}
	c := start(t, "setsid sleep 90 & sleep 90", time.Second)
	within(t, "an answer", func() {
		if c.Ask(context.Background(), "hello", Greet(), &answer) == nil {
			t.Error("a child that says nothing has answered")
		}
		c.Stop()
	})
	c = start(t, "setsid sleep 90 & while read l; do echo '{}'; done", patience)
	within(t, "the end", c.Stop)
}

// A child that answers without reading leaves no room for the last question.
func TestAChildThatDoesNotReadIsStopped(t *testing.T) {
	var answer struct{}
	c := start(t, "while echo '{}'; do :; done", 3*time.Second)
	for range 16 { // which fill the pipe
		if c.Ask(context.Background(), "fill", strings.Repeat("x", 4093), &answer) != nil {
			break
		}
	}
	within(t, "the end", c.Stop)
}

// A child that says nothing ends with its timeout, and what it said is in the message. One whose
// caller gives up ends with the caller's error, and a later question has the first one's.
func TestASilentChildEndsWithTheTimeoutOrTheCaller(t *testing.T) {
	var answer struct{}
	c := start(t, "echo no model >&2; sleep 90", 500*time.Millisecond)
	defer c.Stop()
	within(t, "an answer", func() {
		first := c.Ask(context.Background(), "hello", Greet(), &answer)
		if first == nil || !strings.Contains(first.Error(), "no answer to hello within 500ms") {
			t.Errorf("after the timeout: %v", first)
		}
		if later := c.Ask(context.Background(), "go", Greet(), &answer); later != first || c.Calls() != 1 {
			t.Errorf("asked again: %v, %d calls; want the first error, and one call", later, c.Calls())
		}
	})

	c = start(t, "sleep 90", patience)
	defer c.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	within(t, "an answer", func() {
		if err := c.Ask(ctx, "hello", Greet(), &answer); err != context.DeadlineExceeded {
			t.Errorf("after the caller's end: %v", err)
		}
	})
}

// A child that ends instead of answering, or that answers with something else, is an error that
// says how.
func TestErrorsSayWhatTheChildDid(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"read l; echo out of memory >&2; exit 3", "ended before it answered hello, with exit status 3; on standard error: out of memory"},
		{"read l; exit 0", "ended before it answered hello, with exit code 0"},
		{"read l; echo loading; sleep 90", `not an object in JSON: "loading": want nothing else on standard output`},
		{`read l; echo '{"x": NaN}'; sleep 90`, "numbers that are not finite"},
		{`read l; echo '{"error": "no GPU"}'; sleep 90`, ": hello: no GPU"},
		{`read l; printf '{"error": "%s"}\n' 'no\u001b[31m \u009b2JGPU'; sleep 90`, ": hello: no\ufffd[31m \ufffd2JGPU"},
		{`read l; echo '{"x": 1}'; sleep 90`, `the answer to hello: unknown field "x"`},
	} {
		var answer struct{}
		child := start(t, c.command, patience)
		err := child.Ask(context.Background(), "hello", Greet(), &answer)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want one line with %q", c.command, err, c.want)
		}
		within(t, "the end", child.Stop)
	}
}

// A null is no number and not 0; what is no list of numbers is refused.
func TestAVectorIsAListOfNumbers(t *testing.T) {
	var v Vector
	if err := json.Unmarshal([]byte("[1, null,-2.5e3 ]"), &v); err != nil || len(v) != 3 ||
		v[0] != 1 || !math.IsNaN(v[1]) || v[2] != -2500 {
		t.Errorf("%v, %v", v, err)
	}
	for text, want := range map[string]string{
		`"1"`: "want an array of numbers", `{"a":1}`: "want an array of numbers",
		`[1e999]`: "want finite numbers", `["1"]`: "want finite numbers",
	} {
		err := json.Unmarshal([]byte(text), &v)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

// A greeting is of this version, and has a name that tables can show.
func TestGreetingsAreChecked(t *testing.T) {
	one, two := 1, 2
	for _, c := range []struct {
		greeting Greeting
		want     string // "" if it is right
	}{
		{Greeting{&one, "mine"}, ""}, {Greeting{nil, strings.Repeat("é", longestName)}, ""},
		{Greeting{&two, "mine"}, "version 2 of the protocol: want 1"},
		{Greeting{nil, ""}, "want 1 to 60 printable characters"},
		{Greeting{nil, "a,b"}, "want 1 to 60 printable characters"},
		{Greeting{nil, "a\tb"}, "want 1 to 60 printable characters"},
		{Greeting{nil, strings.Repeat("x", longestName+1)}, "want 1 to 60 printable characters"},
	} {
		err := c.greeting.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.greeting, err, c.want)
		}
	}
}

// Of what a child writes to standard error the end is kept, and its last line shown, so far as it
// is short.
func TestTheLastWordsAreShown(t *testing.T) {
	var said tail
	if got := said.last(); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	said.Write(bytes.Repeat([]byte("x"), 2*maxSaid))
	said.Write([]byte("\nfirst\n the  last\n\n"))
	if got := said.last(); got != "; on standard error: the last" || len(said.text) != maxSaid {
		t.Errorf("%q of %d bytes", got, len(said.text))
	}
	said.Write(bytes.Repeat([]byte("é"), maxShown+1))
	want := ": " + strings.Repeat("é", maxShown) + " …"
	if got := said.last(); !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q at its end", got, want)
	}
}

// An infinity in an answer is named like a NaN.
func TestAnInfiniteNumberIsNamed(t *testing.T) {
	var answer struct{ X float64 }
	err := (&Child{command: "mine"}).read("go", []byte(`{"x": -Infinity}`), &answer)
	if err == nil || !strings.Contains(err.Error(), "numbers that are not finite") {
		t.Errorf("error %v", err)
	}
}
