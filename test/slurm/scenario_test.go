//go:build slurm

package slurm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hambench/bench"
	"hambench/bench/store"
)

// workers are more than there are nodes: some wait for others to end.
const workers = 5

// The selection needs no data. In the quick profile it takes eight seconds of
// one core, so that all scenarios fit in ten minutes on a busy machine; with
// HAMBENCH_TEST_PROFILE=standard it takes two minutes.
const experiments = "methods,friction,integration-length,toy,paths,synthetic"

var selection = []string{"--profile", cmp.Or(os.Getenv("HAMBENCH_TEST_PROFILE"), "quick"), "--only", experiments, "--datasets", "linear,toy,logistic"}

// limit leaves time to stop everything before go test's own limit.
const limit = 8*time.Minute + 45*time.Second

// lab is the cluster, the program, and what is to be computed.
type lab struct {
	*cluster
	ctx       context.Context
	reference string       // output folder of a run on one worker
	finished  func() error // waits for that run
}

// outcome is a scenario's line.
type outcome struct {
	expected, present     int
	submitted, duplicates int
	differing             int
}

func (o outcome) String() string {
	return fmt.Sprintf("cells expected %d, present %d; submitted %d times; duplicates merged %d; differing %d",
		o.expected, o.present, o.submitted, o.duplicates, o.differing)
}

// Whatever is done to the cluster, the array of workers that hambench slurm submits
// ends with every cell, once, and with the bits of a run on one worker.
func TestCluster(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ctx, done := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer done()
	check(t, install(ctx))
	l := &lab{cluster: startCluster(ctx, t), ctx: ctx}
	l.output(ctx, t, "go", "build", "-C", root(t), "-buildvcs=false", "-o", l.path("hambench"), "./cmd/hambench")
	l.reference = l.path("reference")
	finished := make(chan error, 1)
	go func() {
		_, err := l.cluster.run(ctx, l.path("hambench"), l.reproduce(l.reference, "--workers", "1")...)
		finished <- err
	}()
	l.finished = sync.OnceValue(func() error { return <-finished })

	for i, s := range []struct {
		what string
		run  func(*testing.T, *array)
		sign func(outcome) string // what must be seen of the disturbance; "" if it is
	}{
		{"submitted again while workers run", l.submitTwice, once(2)},
		{"a node crashed, and came back", l.crashNode, once(1)},
		{"a worker was killed: FAILED, not requeued", l.killWorker, once(1)},
		{"slurmd died alone: a worker ran twice at once", l.runTwice, twice(1)},
		{"the controller died and lost the submission", l.killController, once(2)},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			begin := time.Now()
			a := &array{l: l, out: l.outFolder(i), size: workers}
			s.run(t, a)
			a.wait(t)
			o := l.judge(t, a)
			fmt.Printf("(%d) %-46s %v; %s\n", i, s.what+":", o, time.Since(begin).Round(time.Second))
			if trouble := s.sign(o); trouble != "" {
				t.Errorf("%s\n%s", trouble, a.logs())
			}
			if o.differing != 0 || o.present != o.expected {
				t.Errorf("the results are not those of one worker")
			}
			l.waitIdle(ctx, t)
		})
		if t.Failed() {
			return
		}
	}
	l.negativeControls(t, l.outFolder(0))
}

// outFolder has a name that shells and Slurm could misread.
func (l *lab) outFolder(i int) string { return l.path(fmt.Sprintf("out %d of 100%%a", i)) }

// once wants so many submissions, and nothing computed twice.
func once(submissions int) func(outcome) string {
	return func(o outcome) string {
		if o.duplicates > 0 {
			return "something was computed twice"
		}
		return twice(submissions)(o)
	}
}

// twice wants so many submissions. How much is computed twice is chance.
func twice(submissions int) func(outcome) string {
	return func(o outcome) string {
		if o.submitted != submissions {
			return fmt.Sprintf("submitted %d times, want %d", o.submitted, submissions)
		}
		return ""
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	check(t, err)
	return dir
}

// reproduce are the arguments of a run of the selection.
func (l *lab) reproduce(out string, more ...string) []string {
	return append(append([]string{"reproduce", "--out", out}, selection...), more...)
}

// array is what hambench slurm submitted for one output folder.
type array struct {
	l         *lab
	out       string
	size      int // of each submission
	submitted int
	name      string // of the job
}

var submission = regexp.MustCompile(`^submitted \d+ workers as job \d+, (hambench-[0-9a-f]{8}): `)

// slurm calls hambench slurm and returns what it printed.
func (a *array) slurm(t *testing.T) string {
	t.Helper()
	args := []string{"slurm", "--out", a.out, "--array", strconv.Itoa(a.size),
		"--partition", "ci", "--time", "20", "--sbatch=--comment=a test"}
	return a.l.output(a.l.ctx, t, a.l.path("hambench"), append(args, selection...)...)
}

// submit submits workers.
func (a *array) submit(t *testing.T) {
	t.Helper()
	text := a.slurm(t)
	m := submission.FindStringSubmatch(text)
	if m == nil || a.name != "" && m[1] != a.name {
		t.Fatalf("hambench slurm, job %q so far: %s", a.name, text)
	}
	a.name = m[1]
	a.submitted++
}

// queued reports whether a worker is queued or running.
func (a *array) queued() bool {
	queue, err := a.l.run(a.l.ctx, "squeue", "--noheader", "--name="+a.name)
	return err != nil || queue != "" // a controller that is dead has said nothing
}

// wait waits until no worker is left.
func (a *array) wait(t *testing.T) {
	t.Helper()
	a.l.waitEvery(a.l.ctx, t, 500*time.Millisecond, "the end of all workers",
		func() bool { return !a.queued() })
}

// logs is what the workers said.
func (a *array) logs() string {
	var b strings.Builder
	paths, _ := filepath.Glob(filepath.Join(a.out, "slurm", "*", "log", "*.txt"))
	for _, p := range paths {
		text, _ := os.ReadFile(p)
		fmt.Fprintf(&b, "--- %s\n%s\n", p, text)
	}
	return b.String()
}

// few is less than half of a worker's cells: a worker that has stored no more has most
// of its work before it.
const few = 12

// held submits workers, and stops one that has stored between one cell and few: it is
// in the middle of the next.
func (a *array) held(t *testing.T) process {
	t.Helper()
	a.submit(t)
	var p process
	a.l.wait(a.l.ctx, t, "a running worker", func() bool {
		return slices.ContainsFunc(a.l.tasks(a.name), func(p1 process) bool {
			p = p1
			if syscall.Kill(p.pid, syscall.SIGSTOP) != nil {
				return false // it has ended
			}
			if n := a.stored(p); 1 <= n && n <= few {
				return true
			}
			syscall.Kill(p.pid, syscall.SIGCONT)
			return false
		})
	})
	return p
}

// stored counts the cells that a worker has stored.
func (a *array) stored(p process) int {
	n := 0
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.pid))
	for _, file := range files {
		path, err := os.Readlink(file)
		if err == nil && strings.HasPrefix(path, a.out) && strings.HasSuffix(path, ".jsonl") {
			text, _ := os.ReadFile(file)
			n += bytes.Count(text, []byte("\n"))
		}
	}
	return n
}

// submitTwice calls the command again while its workers run: more workers divide the
// same work.
func (l *lab) submitTwice(t *testing.T, a *array) {
	p := a.held(t)
	a.submit(t)
	check(t, syscall.Kill(p.pid, syscall.SIGCONT))
}

// crashNode kills a node in the middle of a worker's job, and starts it again.
func (l *lab) crashNode(t *testing.T, a *array) {
	p := a.held(t)
	l.crash(l.ctx, t, p.node)
	l.wait(l.ctx, t, "the end of what ran on "+p.node, func() bool {
		return !slices.ContainsFunc(l.processes(), func(q process) bool { return q.node == p.node })
	})
	l.startNode(t, p.node)
}

// killWorker kills one of as many workers as there are nodes: nobody starts on its host
// who could see that it is dead. The others wait for its lease to expire.
func (l *lab) killWorker(t *testing.T, a *array) {
	a.size = len(nodes)
	check(t, syscall.Kill(a.held(t).pid, syscall.SIGKILL))
}

// runTwice kills slurmd alone. The worker that it left behind is held until all others
// have ended, the requeued one among them; they compute what it has a lease on, which
// expires. Then it goes on with what it has read of the store.
func (l *lab) runTwice(t *testing.T, a *array) {
	orphan := a.held(t)
	daemon := l.slurmd(orphan.node)
	if daemon == 0 {
		t.Fatal("no slurmd on " + orphan.node)
	}
	check(t, syscall.Kill(daemon, syscall.SIGKILL))
	l.down(l.ctx, t, orphan.node)
	twin := func() bool {
		return slices.ContainsFunc(l.tasks(orphan.job), func(p process) bool {
			return p.index == orphan.index && p.pid != orphan.pid
		})
	}
	l.wait(l.ctx, t, "the requeued worker", twin)
	a.wait(t)
	check(t, syscall.Kill(orphan.pid, syscall.SIGCONT))
	l.wait(l.ctx, t, "the end of both", func() bool { return len(l.tasks(orphan.job)) == 0 })
	l.crash(l.ctx, t, orphan.node)
	l.startNode(t, orphan.node)
}

// killController kills slurmctld when it has accepted the array, of which no worker may
// start, and starts it again without its state: had it saved some, it would be chance
// how old.
func (l *lab) killController(t *testing.T, a *array) {
	l.output(l.ctx, t, "scontrol", "update", "partitionname=ci", "state=down")
	a.submit(t)
	stop(l.controller)
	l.startController(t)
	l.waitIdle(l.ctx, t)
	a.submit(t)
}

// judge compares a run with the reference, and reads what happened to it.
func (l *lab) judge(t *testing.T, a *array) outcome {
	t.Helper()
	check(t, l.finished())
	l.output(l.ctx, t, l.path("hambench"), l.reproduce(a.out, "--check")...)
	if text := a.slurm(t); !strings.HasPrefix(text, "nothing is missing of ") {
		t.Errorf("all is there, and hambench slurm says %s", text)
	}
	logs, _ := filepath.Glob(filepath.Join(a.out, "slurm", "*", "log", "worker-*.txt"))
	if len(logs) != a.size {
		t.Errorf("logs of %d workers, want %d: %v", len(logs), a.size, logs)
	}
	differing, err := l.differing(a.out)
	check(t, err)
	report, err := store.Verify(filepath.Join(a.out, "store"))
	check(t, err)
	return outcome{
		expected: l.cells(t, l.reference), present: l.cells(t, a.out),
		submitted: a.submitted, duplicates: report.Duplicates, differing: differing,
	}
}

// cells counts the cells of a run's store.
func (l *lab) cells(t *testing.T, out string) int {
	t.Helper()
	s, err := stored(out)
	check(t, err)
	return len(s.Keys(store.Result))
}

// stored reads a run's store.
func stored(out string) (*store.Store, error) {
	return store.Read(filepath.Join(out, "store"), store.Machine{})
}

// differing counts what is not bit for bit the same in a run and in the
// reference: results and exact errors by key, and rows of the exported table
// but for the time they took.
func (l *lab) differing(out string) (int, error) {
	ours, err := l.contents(l.reference)
	if err != nil {
		return 0, err
	}
	theirs, err := l.contents(out)
	if err != nil {
		return 0, err
	}
	n := 0
	for key := range maps.Keys(ours) {
		if theirs[key] != ours[key] {
			n++
		}
	}
	for key := range maps.Keys(theirs) {
		if _, ok := ours[key]; !ok {
			n++
		}
	}
	return n, nil
}

// contents are a run's results by name, as the store has them byte for byte.
func (l *lab) contents(out string) (map[string]string, error) {
	s, err := stored(out)
	if err != nil {
		return nil, err
	}
	all := make(map[string]string)
	for _, kind := range []store.Kind{store.Result, store.Exact} {
		for _, key := range s.Keys(kind) {
			r, _ := s.Get(kind, key)
			all[fmt.Sprint(kind, " ", key)] = string(r.Body)
		}
	}
	return all, l.addTable(all, out)
}

// addTable adds the rows that hambench export writes.
func (l *lab) addTable(all map[string]string, out string) error {
	export := exec.Command(l.path("hambench"), "export", "--out", out, "--profile", selection[1], "--only", experiments)
	export.Env = l.env
	text, err := export.Output()
	if err != nil {
		return fmt.Errorf("hambench export: %w", err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	seconds := slices.Index(rows[0], "seconds")
	if seconds < 0 {
		return errors.New("the exported table has no column seconds")
	}
	for i, row := range rows {
		row[seconds] = ""
		all[fmt.Sprint("row ", i)] = strings.Join(row, ",")
	}
	return nil
}

// negativeControls plant altered results: the comparison must notice them.
func (l *lab) negativeControls(t *testing.T, out string) {
	s, err := stored(out)
	check(t, err)
	r, ok := bench.Results{Store: s}.Result(s.Keys(store.Result)[0])
	if !ok {
		t.Fatal("no result in " + out)
	}
	r.KS = math.Nextafter(r.KS, 2) // one bit
	altered, err := store.NewRecord(store.Result, r.Key, r.Seconds, r.Made, r)
	check(t, err)

	clash := l.path("clash")
	check(t, os.CopyFS(filepath.Join(clash, "store"), os.DirFS(filepath.Join(out, "store"))))
	planted := l.plant(t, altered, clash)
	_, err = l.differing(clash)
	if err == nil || !strings.Contains(err.Error(), "differ") || !strings.Contains(err.Error(), planted) || strings.Count(err.Error(), ".jsonl:") != 2 {
		t.Errorf("an altered duplicate was planted: %v; want an error that names both files", err)
	}
	fmt.Printf("(-) an altered duplicate was planted: %v\n", err)

	other := l.path("other")
	l.plantAlone(t, s, altered, other)
	n, err := l.differing(other)
	if err != nil || n < 1 {
		t.Errorf("an altered result was planted: differing %d, %v; want at least 1", n, err)
	}
	fmt.Printf("(-) an altered result was planted in place of the true one: differing %d\n", n)
}

// plant adds a record to a run's store as another process would, and returns
// the name of its file.
func (l *lab) plant(t *testing.T, r store.Record, out string) string {
	t.Helper()
	dir := l.path("planted")
	s, err := store.Open(dir, r.Made.Machine)
	check(t, err)
	check(t, s.Put(r))
	check(t, s.Close())
	files, err := filepath.Glob(filepath.Join(dir, "records", "*.jsonl"))
	check(t, err)
	text, err := os.ReadFile(files[0])
	check(t, err)
	name := filepath.Base(files[0])
	check(t, os.WriteFile(filepath.Join(out, "store", "records", name), text, 0o644))
	return name
}

// plantAlone makes a store with all records but one, and an altered one in its
// place.
func (l *lab) plantAlone(t *testing.T, from *store.Store, altered store.Record, out string) {
	t.Helper()
	s, err := store.Open(filepath.Join(out, "store"), altered.Made.Machine)
	check(t, err)
	defer s.Close()
	for _, kind := range []store.Kind{store.Result, store.Exact, store.Run} {
		for _, key := range from.Keys(kind) {
			r, _ := from.Get(kind, key)
			if r.Key == altered.Key {
				r = altered
			}
			check(t, s.Put(r))
		}
	}
}
