package child

import (
	"context"
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
