package sweep

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"hambench/internal/distinct"
	"hambench/internal/table"
)

// quietInterval is how often a progress line is written where lines cannot
// be rewritten, and liveInterval where they can.
const (
	quietInterval = 10 * time.Second
	liveInterval  = 500 * time.Millisecond
	pageInterval  = time.Minute // between calls of Runner.Live
)

// progress reports how far a run is: one line, rewritten on a terminal.
// Its methods may be called from any goroutine.
type progress struct {
	out      io.Writer // nil: silent
	live     func(string)
	terminal bool
	start    time.Time
	now      func() time.Time
	cores    int // that tasks run on

	mu                sync.Mutex
	cells, references tally
	open              map[*task]bool // not yet over
	spent             float64        // estimated seconds of one core of tasks that are over
	busy              float64        // seconds of one core that those of this process took
	running           map[*task]float64
	elsewhere         map[*task]string // tasks of other processes, and which these are, if known
	vague             int              // tasks not yet over whose cost is not known
	width             int              // of the last line, on a terminal
}

// tally counts tasks of a kind.
type tally struct{ done, total int }

// newProgress returns a reporter on out, which may be nil, as live may be.
func newProgress(out io.Writer, live func(string), now func() time.Time, cores int) *progress {
	p := &progress{out: out, live: live, start: now(), now: now, cores: cores,
		open: make(map[*task]bool), running: make(map[*task]float64),
		elsewhere: make(map[*task]string)}
	if f, ok := out.(*os.File); ok {
		p.terminal = table.Terminal(f)
	}
	return p
}

// add announces a task.
// Tasks that are announced later lengthen the time left.
func (p *progress) add(t *task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of(t).total++
	p.open[t] = true
	if t.vague {
		p.vague++
	}
}

// of returns the counts of a task's kind: references, or all others.
func (p *progress) of(t *task) *tally {
	if t.first {
		return &p.references
	}
	return &p.cells
}

// begin takes a task as running from now on.
func (p *progress) begin(t *task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[t], t.started = 0, p.now()
}

// lease says whether a task that has begun is this process's own, or else of which other one.
func (p *progress) lease(t *task, own bool, holder string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.elsewhere, t)
	if !own { // it begins again, later
		delete(p.running, t)
		p.elsewhere[t] = holder
	}
}

// part says which fraction of a running task is done.
// A task that never reports is taken to be as fast as estimated.
func (p *progress) part(t *task, fraction float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[t] = fraction
}

// end takes a task as done, or with ok = false as given up.
// Only work that was done counts for the speed.
func (p *progress) end(t *task, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, own := p.running[t]; own && ok {
		p.busy += p.took(t)
	}
	delete(p.running, t)
	delete(p.elsewhere, t)
	delete(p.open, t)
	if t.vague {
		p.vague--
	}
	if ok {
		p.of(t).done++
		p.spent += t.cost
	}
}

// watch writes lines, and calls live, until stop is called, which ends the line
// on a terminal.
func (p *progress) watch() (stop func()) {
	var lines, pages <-chan time.Time // nil where nobody listens
	switch {
	case p.terminal:
		lines = time.Tick(liveInterval)
	case p.out != nil:
		lines = time.Tick(quietInterval)
	}
	if p.live != nil {
		pages = time.Tick(pageInterval)
	}
	var watcher sync.WaitGroup
	quit := make(chan struct{})
	watcher.Go(func() {
		for {
			select {
			case <-quit:
				return
			case <-lines:
				p.print()
			case <-pages:
				p.live(p.line())
			}
		}
	})
	return func() {
		close(quit)
		watcher.Wait()
		if p.terminal {
			p.print()
			fmt.Fprintln(p.out)
		}
	}
}

// print writes the line, over the last one on a terminal.
func (p *progress) print() {
	line := p.line()
	if !p.terminal {
		fmt.Fprintln(p.out, line)
		return
	}
	// What the last line had more of is overwritten by spaces.
	pad := max(0, p.width-len(line))
	p.width = len(line)
	fmt.Fprintf(p.out, "\r%s%s", line, strings.Repeat(" ", pad))
}

// elapsed is the time since the start.
func (p *progress) elapsed() time.Duration { return p.now().Sub(p.start) }

// line is the state in words.
// It has the references and the jobs that are over, jobs a second, the time since the start
// and the time left, if that can be told, or whom the run waits for.
func (p *progress) line() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var s strings.Builder
	if p.references.total > 0 {
		fmt.Fprintf(&s, "references %d/%d, ", p.references.done, p.references.total)
	}
	elapsed := p.elapsed()
	fmt.Fprintf(&s, "jobs %d/%d, %.2g a second", p.cells.done, p.cells.total,
		float64(p.cells.done)/max(elapsed.Seconds(), 1e-9))
	fmt.Fprintf(&s, ", %s elapsed", clock(elapsed))
	switch others, waits := p.others(); {
	case waits:
		fmt.Fprintf(&s, ", waiting for %s", others)
	case p.vague == 0:
		fmt.Fprintf(&s, ", %s left", p.remaining())
	}
	return s.String()
}

// others names the processes that work at all that can be worked at now. It is false if this
// process works, too, or if there are none.
func (p *progress) others() (names string, waits bool) {
	for t := range p.running {
		if _, also := p.elsewhere[t]; !also { // one that is also there is only tried again
			return "", false
		}
	}
	var all []string
	for _, holder := range p.elsewhere {
		all = distinct.Append(all, cmp.Or(holder, "another process"))
	}
	if len(all) > 1 {
		return fmt.Sprintf("%d other processes", len(all)), true
	}
	return strings.Join(all, ""), len(all) > 0
}

// took is the time of one core that a running task has taken.
func (p *progress) took(t *task) float64 {
	return p.now().Sub(t.started).Seconds() * float64(max(t.cores, 1))
}

// remaining is the time left: the estimated cost of what is not done, as the dry run
// states it, corrected by the time that what is done took. The first tenth of all cost
// counts as done as estimated, so that the first seconds do not decide. It is not less than that
// of the longest task, on the cores that it can use.
func (p *progress) remaining() string {
	spent, busy, all, left, longest := p.spent, p.busy, p.spent, 0.0, 0.0
	for t := range p.open {
		fraction, running := p.running[t]
		// A reference reports its fraction (part); of all other tasks it stays 0.
		if running && fraction == 0 { // unknown: as estimated, but never quite done
			fraction = min(p.took(t)/max(t.cost, 1e-9), 0.9)
		}
		if running {
			busy += p.took(t)
		}
		rest := (1 - fraction) * t.cost
		all, spent, left = all+t.cost, spent+fraction*t.cost, left+rest
		longest = max(longest, rest/float64(max(t.width, 1)))
	}
	// How many times longer than estimated what is done took.
	slower := (busy + 0.1*all) / max(spent+0.1*all, 1e-9)
	seconds := slower * max(left/float64(p.cores), longest)
	return clock(time.Duration(seconds * float64(time.Second)))
}

// clock rounds a duration for people.
// Seconds below a minute, minutes and seconds below an hour, hours and minutes above.
func clock(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
