//go:build slurm

package slurm

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
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
	"hambench/store"
)

// shards are more than there are nodes: tasks wait for others to end.
const shards = 5

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
	expected, present       int
	resubmitted, duplicates int
	differing               int
}

func (o outcome) String() string {
	return fmt.Sprintf("cells expected %d, present %d; tasks resubmitted %d; duplicates merged %d; differing %d",
		o.expected, o.present, o.resubmitted, o.duplicates, o.differing)
}

// Whatever is done to the cluster, hambench slurm ends with every cell, once,
// and with the bits of a run on one worker.
func TestCluster(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ctx, done := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer done()
	check(t, install(ctx))
	l := &lab{cluster: startCluster(ctx, t), ctx: ctx}
	l.output(ctx, t, "go", "build", "-C", root(t), "-o", l.path("hambench"), "./cmd/hambench")
	l.reference = l.path("reference")
	finished := make(chan error, 1)
	go func() {
		_, err := l.cluster.run(ctx, l.path("hambench"), l.reproduce(l.reference, "--workers", "1")...)
		finished <- err
	}()
	l.finished = sync.OnceValue(func() error { return <-finished })

	for i, s := range []struct {
		what string
		run  func(*testing.T, *follower)
		sign func(outcome) string // what must be seen of the disturbance; "" if it is
	}{
		{"Ctrl-C, and the same command again", l.callAgain, undisturbed},
		{"a node crashed, and came back", l.crashNode, always},
		{"a task was killed: FAILED, not requeued", l.killTask, resubmitted},
		{"slurmd died alone: a task ran twice at once", l.runTwice, always},
		{"the controller died and lost the submission", l.killController, resubmitted},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			begin := time.Now()
			f := &follower{l: l, out: l.outFolder(i)}
			t.Cleanup(f.kill)
			s.run(t, f)
			f.wait(t)
			o := l.judge(t, f)
			fmt.Printf("(%d) %-46s %v; %s\n", i, s.what+":", o, time.Since(begin).Round(time.Second))
			if trouble := s.sign(o); trouble != "" {
				t.Errorf("%s\n%s", trouble, f.text())
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

func undisturbed(o outcome) string {
	if o.resubmitted+o.duplicates > 0 {
		return "something was computed twice"
	}
	return ""
}

func always(outcome) string { return "" }

func resubmitted(o outcome) string {
	if o.resubmitted == 0 {
		return "nothing was submitted again"
	}
	return ""
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

// follower is a running hambench slurm.
type follower struct {
	l    *lab
	out  string
	cmd  *exec.Cmd
	over chan error

	mu     sync.Mutex
	lines  []string
	stdout bytes.Buffer
}

// start starts hambench slurm.
func (f *follower) start(t *testing.T) {
	t.Helper()
	args := []string{"slurm", "--out", f.out, "--shards", strconv.Itoa(shards), "--poll", "1s", "--partition", "ci", "--time", "20", "--sbatch=--comment=a test"}
	f.cmd = exec.Command(f.l.path("hambench"), append(args, selection...)...)
	f.cmd.Env = f.l.env
	f.cmd.Stdout = &f.stdout
	// A pipe of our own: Wait would close one of the command's too early.
	r, w, err := os.Pipe()
	check(t, err)
	f.cmd.Stderr = w
	check(t, start(f.cmd))
	w.Close()
	f.over = make(chan error, 1)
	read := make(chan struct{})
	go func() { defer close(read); f.read(r) }()
	go func() { err := f.cmd.Wait(); <-read; f.over <- err }()
}

func (f *follower) kill() {
	if f.cmd != nil {
		f.cmd.Process.Kill()
	}
}

func (f *follower) read(from io.ReadCloser) {
	defer from.Close()
	for s := bufio.NewScanner(from); s.Scan(); {
		f.mu.Lock()
		f.lines = append(f.lines, s.Text())
		f.mu.Unlock()
	}
}

// text is what the follower has said.
func (f *follower) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.lines, "\n")
}

var runID = regexp.MustCompile(`run ([0-9a-f]{8})`)

// job is the name of the array.
func (f *follower) job(t *testing.T) string {
	t.Helper()
	f.l.wait(f.l.ctx, t, "the run's name", func() bool { return runID.MatchString(f.text()) })
	return "hambench-" + runID.FindStringSubmatch(f.text())[1] + "-sweep"
}

// few is less than half of a task's cells: a task that has stored no more has
// most of its work before it.
const few = 12

// held starts the following, and stops a task that has stored at least so many
// cells, and few.
func (f *follower) held(t *testing.T, stored int) process {
	t.Helper()
	f.start(t)
	var p process
	job := f.job(t)
	f.l.wait(f.l.ctx, t, "a running task", func() bool {
		return slices.ContainsFunc(f.l.tasks(job), func(p1 process) bool {
			p = p1
			if syscall.Kill(p.pid, syscall.SIGSTOP) != nil {
				return false // it has ended
			}
			n := f.stored(p)
			if stored <= n && n <= few {
				return true
			}
			syscall.Kill(p.pid, syscall.SIGCONT)
			return false
		})
	})
	return p
}

// stored counts the cells that a task has stored.
func (f *follower) stored(p process) int {
	n := 0
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.pid))
	for _, file := range files {
		if path, err := os.Readlink(file); err == nil && strings.HasPrefix(path, f.out) && strings.HasSuffix(path, ".jsonl") {
			text, _ := os.ReadFile(file)
			n += bytes.Count(text, []byte("\n"))
		}
	}
	return n
}

// wait waits for the follower's end, which must be complete.
func (f *follower) wait(t *testing.T) {
	t.Helper()
	select {
	case err := <-f.over:
		if err != nil {
			t.Fatalf("hambench slurm: %v\n%s\n%s", err, f.text(), f.l.logs())
		}
	case <-f.l.ctx.Done():
		t.Fatalf("hambench slurm does not end: %v\n%s\n%s", context.Cause(f.l.ctx), f.text(), f.l.logs())
	}
}

// callAgain interrupts the following, and calls the command again: the jobs
// have gone on.
func (l *lab) callAgain(t *testing.T, f *follower) {
	p := f.held(t, 0)
	check(t, f.cmd.Process.Signal(os.Interrupt))
	err := <-f.over
	if f.cmd.ProcessState.ExitCode() != 130 || !strings.Contains(f.text(), "the same command follows it again") {
		t.Fatalf("interrupted: %v; want exit code 130 and how to go on\n%s", err, f.text())
	}
	if err := syscall.Kill(p.pid, syscall.SIGCONT); err != nil {
		t.Fatalf("the task has ended with the following: %v", err)
	}
	f.start(t)
}

// crashNode kills a node in the middle of a task, and starts it again.
func (l *lab) crashNode(t *testing.T, f *follower) {
	p := f.held(t, 0)
	l.crash(l.ctx, t, p.node)
	l.wait(l.ctx, t, "the end of what ran on "+p.node, func() bool {
		return !slices.ContainsFunc(l.processes(), func(q process) bool { return q.node == p.node })
	})
	l.startNode(t, p.node)
}

// killTask kills a task; the job script was replaced by it.
func (l *lab) killTask(t *testing.T, f *follower) {
	check(t, syscall.Kill(f.held(t, 0).pid, syscall.SIGKILL))
}

// runTwice kills slurmd alone. The task that it left behind is held until the
// requeued one has ended, which computes also what the first one has claimed;
// then the first one goes on with what it has read of the store.
func (l *lab) runTwice(t *testing.T, f *follower) {
	orphan := f.held(t, 1)
	daemon := l.slurmd(orphan.node)
	if daemon == 0 {
		t.Fatal("no slurmd on " + orphan.node)
	}
	check(t, syscall.Kill(daemon, syscall.SIGKILL))
	l.down(l.ctx, t, orphan.node)
	twin := func() bool {
		return slices.ContainsFunc(l.tasks(orphan.job), func(p process) bool { return p.index == orphan.index && p.pid != orphan.pid })
	}
	l.wait(l.ctx, t, "the requeued task", twin)
	f.wait(t)
	f.over <- nil
	check(t, syscall.Kill(orphan.pid, syscall.SIGCONT))
	l.wait(l.ctx, t, "the end of both", func() bool { return len(l.tasks(orphan.job)) == 0 })
	l.crash(l.ctx, t, orphan.node)
	l.startNode(t, orphan.node)
}

// killController kills slurmctld when it has accepted the array, of which no
// task may start, and starts it again without its state: had it saved some, it
// would be chance how old. The follower has asked it in the meantime.
func (l *lab) killController(t *testing.T, f *follower) {
	l.output(l.ctx, t, "scontrol", "update", "partitionname=ci", "state=down")
	f.start(t)
	l.wait(l.ctx, t, "a submission", func() bool { return strings.Contains(f.text(), "submitted figures") })
	stop(l.controller)
	l.wait(l.ctx, t, "a question to the dead controller", func() bool {
		return slices.ContainsFunc(l.processes(), func(p process) bool { return p.name == "squeue" })
	})
	l.startController(t)
}

var resubmissions = regexp.MustCompile(`is complete: submitted (\d+) tasks, resubmitted (\d+)`)

// judge compares a run with the reference, and reads what happened to it.
func (l *lab) judge(t *testing.T, f *follower) outcome {
	t.Helper()
	check(t, l.finished())
	l.output(l.ctx, t, l.path("hambench"), l.reproduce(f.out, "--check")...)
	said := resubmissions.FindStringSubmatch(f.stdout.String())
	if said == nil {
		t.Fatalf("hambench slurm does not say that it is complete:\n%s\n%s", f.stdout.String(), f.text())
	}
	if logs, _ := filepath.Glob(filepath.Join(f.out, "slurm", "*", "log", "sweep-*.txt")); len(logs) != shards {
		t.Errorf("logs of %d tasks, want %d: %v", len(logs), shards, logs)
	}
	differing, err := l.differing(f.out)
	check(t, err)
	report, err := store.Verify(filepath.Join(f.out, "store"))
	check(t, err)
	o := outcome{expected: l.cells(t, l.reference), present: l.cells(t, f.out), duplicates: report.Duplicates, differing: differing}
	o.resubmitted, _ = strconv.Atoi(said[2])
	return o
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
	altered, err := r.Record()
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
