//go:build slurm

package slurm

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nodes are the cluster's, one processor each: three tasks run at once.
var nodes = []string{"n1", "n2", "n3"}

// packages are Debian's that bring the programs, and programs what is needed
// of them.
var (
	packages = []string{"slurmctld", "slurmd", "slurm-client", "munge"}
	programs = []string{"slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "munged", "unshare", "hostname"}
)

// configuration: what is unusual has a reason beside it.
const configuration = `ClusterName=hambench
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=17100
SlurmUser=%[3]s
SlurmdUser=%[3]s
AuthType=auth/munge
# A requeued task waits until its credential has expired, 121 s by default.
AuthInfo=socket=%[2]s/munge/socket,cred_expire=15
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
# A busy machine answers late.
SlurmdTimeout=120
MessageTimeout=60
JobRequeue=1
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool/%%n
SlurmctldPidFile=%[2]s/run/slurmctld.pid
SlurmdPidFile=%[2]s/run/slurmd-%%n.pid
SlurmctldLogFile=%[2]s/log/slurmctld.txt
SlurmdLogFile=%[2]s/log/slurmd-%%n.txt
NodeName=n[1-3] NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=[17101-17103] CPUs=1 State=UNKNOWN
PartitionName=ci Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// cluster is a Slurm cluster with all its files in one folder.
type cluster struct {
	dir        string
	env        []string
	controller *exec.Cmd
	nodes      map[string]*exec.Cmd // their namespaces' parents
}

// install installs what is missing.
func install(ctx context.Context) error {
	if os.Getuid() != 0 {
		return errors.New("run this as root: nodes have host names of their own")
	}
	var missing []string
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	need := fmt.Sprintf("%s not found: needs Debian's packages %s", strings.Join(missing, ", "), strings.Join(packages, " "))
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New(need + "; install them, or run this where there is apt-get")
	}
	install := append([]string{"install", "-y", "--no-install-recommends"}, packages...)
	for _, args := range [][]string{{"update"}, install} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s; apt-get %s: %v: %s", need, args[0], err, lastLine(out))
		}
	}
	return nil
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// starts runs functions on one thread that lives as long as the program: the
// kernel kills the processes that were started there when it ends, whatever
// ends it.
var starts = make(chan func())

func init() {
	go func() {
		runtime.LockOSThread()
		for f := range starts {
			f()
		}
	}()
}

// start starts a process that does not outlive this program. Linux shares a
// busy machine out by sessions: each process gets one of its own.
func start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	err := make(chan error)
	starts <- func() { err <- cmd.Start() }
	return <-err
}

// stop kills a process that was started here.
func stop(cmd *exec.Cmd) {
	if cmd != nil && cmd.Process != nil {
		cmd.Process.Kill()
		cmd.Wait()
	}
}

// startCluster starts a cluster and stops it when the test is over.
func startCluster(ctx context.Context, t *testing.T) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "hambench-slurm-")
	check(t, err)
	c := &cluster{dir: dir, nodes: make(map[string]*exec.Cmd)}
	c.env = append(os.Environ(), "SLURM_CONF="+c.path("slurm.conf"), "HAMBENCH_OFFLINE=1", "HAMBENCH_DATA=")
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	check(t, os.Chmod(dir, 0o755)) // munge asks for it
	for _, d := range []string{"munge", "state", "spool/n1", "spool/n2", "spool/n3", "run", "log"} {
		check(t, os.MkdirAll(c.path(d), 0o755))
	}
	key := make([]byte, 1024)
	rand.Read(key)
	check(t, os.WriteFile(c.path("munge/key"), key, 0o600))
	c.configure(t)
	munged := c.command("munged", "--foreground", "--key-file="+c.path("munge/key"), "--socket="+c.path("munge/socket"),
		"--pid-file="+c.path("munge/pid"), "--seed-file="+c.path("munge/seed"), "--log-file="+c.path("munge/log"))
	check(t, start(munged))
	t.Cleanup(func() { stop(munged) })
	c.wait(ctx, t, "munge's socket", func() bool { _, err := os.Stat(c.path("munge/socket")); return err == nil })
	c.startController(t)
	t.Cleanup(func() { stop(c.controller) })
	for _, n := range nodes {
		c.startNode(t, n)
		t.Cleanup(func() { stop(c.nodes[n]) })
	}
	c.waitIdle(ctx, t)
	return c
}

func (c *cluster) configure(t *testing.T) {
	host, err := os.Hostname()
	check(t, err)
	host, _, _ = strings.Cut(host, ".")
	user, err := exec.Command("id", "-un").Output()
	check(t, err)
	text := fmt.Sprintf(configuration, host, c.dir, strings.TrimSpace(string(user)))
	check(t, os.WriteFile(c.path("slurm.conf"), []byte(text), 0o644))
	hosts := fmt.Sprintf("127.0.0.1 localhost %s %s\n", host, strings.Join(nodes, " "))
	check(t, os.WriteFile(c.path("hosts"), []byte(hosts), 0o644))
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

// command is a program with the cluster's environment; what it says goes to
// a file.
func (c *cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = c.env, c.dir
	log, err := os.OpenFile(c.path("log/"+filepath.Base(name)+"-output.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil { // else it goes nowhere
		cmd.Stdout, cmd.Stderr = log, log
	}
	return cmd
}

// startController starts slurmctld without the state that an earlier one may
// have saved.
func (c *cluster) startController(t *testing.T) {
	t.Helper()
	c.controller = c.command("slurmctld", "-D", "-c")
	check(t, start(c.controller))
}

// startNode starts a node in namespaces of its own: one signal crashes it with all that
// runs on it, and it has a host name, which leases name their holders by. The first
// process is a shell: slurmd can die alone.
func (c *cluster) startNode(t *testing.T, name string) {
	t.Helper()
	script := fmt.Sprintf("hostname %[1]s; mount --bind %[2]s /etc/hosts; slurmd -D -N %[1]s & wait; "+
		"exec sleep infinity", name, c.path("hosts"))
	c.nodes[name] = c.command("unshare", "--pid", "--uts", "--fork", "--mount-proc", "--kill-child", "sh", "-c", script)
	check(t, start(c.nodes[name]))
}

// crash kills a node with everything on it, and tells the controller.
func (c *cluster) crash(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	stop(c.nodes[name])
	c.down(ctx, t, name)
}

func (c *cluster) down(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	c.output(ctx, t, "scontrol", "update", "nodename="+name, "state=down", "reason=crash")
}

// output runs a program to its end and returns what it printed.
func (c *cluster) output(ctx context.Context, t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := c.run(ctx, name, args...)
	check(t, err)
	return out
}

func (c *cluster) run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = c.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := start(cmd); err != nil {
		return "", err
	}
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("%s %v: %v: %s", filepath.Base(name), args, err, lastLine(errs.Bytes()))
	}
	return out.String(), nil
}

// waitIdle waits until all nodes are up and nothing is queued.
func (c *cluster) waitIdle(ctx context.Context, t *testing.T) {
	t.Helper()
	c.waitEvery(ctx, t, 500*time.Millisecond, "idle nodes", func() bool {
		states, err1 := c.run(ctx, "sinfo", "--noheader", "--Node", "--format=%N %t")
		queue, err2 := c.run(ctx, "squeue", "--noheader")
		return err1 == nil && err2 == nil && strings.Count(states, " idle\n") == len(nodes) && queue == ""
	})
}

// wait polls a condition.
func (c *cluster) wait(ctx context.Context, t *testing.T, what string, is func() bool) {
	t.Helper()
	c.waitEvery(ctx, t, 50*time.Millisecond, what, is)
}

func (c *cluster) waitEvery(ctx context.Context, t *testing.T, interval time.Duration, what string, is func() bool) {
	t.Helper()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s: %v\n%s", what, context.Cause(ctx), c.logs())
		case <-time.After(interval):
		}
	}
}

// logs are the nodes, the queue, and the ends of the cluster's logs.
func (c *cluster) logs() string {
	const tail = 2000
	var b strings.Builder
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, args := range [][]string{{"sinfo", "--Node", "--long"}, {"squeue", "--long"}} {
		text, err := c.run(ctx, args[0], args[1:]...)
		if err != nil {
			text = err.Error() + "\n"
		}
		b.WriteString(text)
	}
	paths, _ := filepath.Glob(c.path("log/*"))
	for _, p := range paths {
		text, _ := os.ReadFile(p)
		fmt.Fprintf(&b, "--- %s\n%s\n", p, text[max(0, len(text)-tail):])
	}
	return b.String()
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
