//go:build slurm

package slurm

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// process is a running program of this cluster, as /proc shows it from
// outside of the nodes' namespaces.
type process struct {
	pid   int
	name  string
	node  string
	job   string // name of its job
	index string // in the array
}

// processes lists the programs that carry the cluster's configuration in
// their environment: they were started here, and by nobody else.
func (c *cluster) processes() []process {
	var list []process
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			continue // ended, or not ours
		}
		env := make(map[string]string)
		for _, v := range strings.Split(string(text), "\x00") {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		if env["SLURM_CONF"] != c.path("slurm.conf") {
			continue
		}
		dir := filepath.Dir(p)
		pid, _ := strconv.Atoi(filepath.Base(dir))
		name, _ := os.ReadFile(filepath.Join(dir, "comm"))
		list = append(list, process{pid, strings.TrimSpace(string(name)), env["SLURMD_NODENAME"], env["SLURM_JOB_NAME"], env["SLURM_ARRAY_TASK_ID"]})
	}
	return list
}

// tasks lists the tasks of a job that run as hambench.
func (c *cluster) tasks(job string) []process {
	var list []process
	for _, p := range c.processes() {
		if p.name == "hambench" && p.job == job && p.node != "" {
			list = append(list, p)
		}
	}
	return list
}

// slurmd returns the process of a node's daemon; 0 if it does not run.
func (c *cluster) slurmd(node string) int {
	for _, p := range c.processes() {
		args, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "cmdline"))
		if err == nil && p.name == "slurmd" && string(args) == "slurmd\x00-D\x00-N\x00"+node+"\x00" {
			return p.pid
		}
	}
	return 0
}
