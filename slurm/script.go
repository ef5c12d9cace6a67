package slurm

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"hambench/internal/atomicfile"
	"hambench/internal/distinct"
	"hambench/usage"
)

// Run is the work to be done, stage after stage.
type Run struct {
	ID     string // names the jobs; the same work has the same ID
	Dir    string // of scripts and logs; absolute, on a disk that all nodes share
	Env    []Var  // exported by every script
	Stages []Stage
	Options
}

// Var is a variable of the environment.
type Var struct{ Name, Value string }

// Stage is an array of tasks whose results are known to be there or not. It
// starts when the stages before it have ended, successfully or not.
type Stage struct {
	Name string
	// Tasks is the size of the array. 0 makes the stage one job, which runs
	// after every submission, and whose results are not looked at. Such
	// stages come last.
	Tasks int
	// Command is what a task runs. A task of an array gets its part as the last
	// argument, "INDEX/TASKS", after the flag --shard.
	Command []string
}

// Options are the options of sbatch for every job.
type Options struct {
	Partition, Time string // "" leaves it to the cluster
	CPUs            int    // per task
	Extra           []string
}

// refused are options that the scripts and their submission rest on.
var refused = []string{"--array", "--dependency", "--job-name", "--cpus-per-task", "--wrap", "--parsable", "--wait", "--ntasks"}

// timeLimit is what sbatch takes for --time.
var timeLimit = regexp.MustCompile(`(?i)^([0-9]+(:[0-9]+){0,2}|[0-9]+-[0-9]+(:[0-9]+){0,2}|infinite|unlimited)$`)

// The size of an array: the most that any cluster takes, and the most that one takes
// whose MaxArraySize was not set.
const (
	MaxTasks     = 4_000_001
	DefaultTasks = 1001
)

// Check returns a usage error for options that would break the scripts.
func (o Options) Check() error {
	if o.CPUs < 1 {
		return usage.Errorf("--cpus-per-task %d: want at least 1", o.CPUs)
	}
	for _, x := range o.Extra {
		switch name, _, _ := strings.Cut(x, "="); {
		case !strings.HasPrefix(name, "--") || len(name) < 3:
			return usage.Errorf("--sbatch %q: want a long option of sbatch, such as --sbatch=--mem=4G", x)
		case slices.Contains(refused, name):
			return usage.Errorf("--sbatch %q: %s is set by hambench", x, name)
		}
	}
	if o.Time != "" && !timeLimit.MatchString(o.Time) {
		return usage.Errorf("--time %q: want minutes, MM:SS, HH:MM:SS, DAYS-HH, DAYS-HH:MM, DAYS-HH:MM:SS or UNLIMITED", o.Time)
	}
	for _, x := range append([]string{o.Partition, o.Time}, o.Extra...) {
		if strings.ContainsAny(x, "\n\"") {
			return usage.Errorf("option of sbatch %q: want neither quotes nor line breaks", x)
		}
	}
	return nil
}

// JobName returns the name that the stage's jobs carry.
func (r Run) JobName(s Stage) string { return "hambench-" + r.ID + "-" + s.Name }

// JobNames returns the job names of all stages.
func (r Run) JobNames() []string { return distinct.Of(r.Stages, r.JobName) }

// ScriptPath returns the path of the stage's job script.
func (r Run) ScriptPath(s Stage) string { return filepath.Join(r.Dir, s.Name+".sh") }

// LogDir returns the folder of the jobs' output, one file per task.
func (r Run) LogDir() string { return filepath.Join(r.Dir, "log") }

// WriteScripts writes the job scripts.
func (r Run) WriteScripts() error {
	if err := os.MkdirAll(r.LogDir(), 0o755); err != nil {
		return usage.Errorf("folder of job scripts cannot be created: %w", err)
	}
	for _, s := range r.Stages {
		if err := atomicfile.Write(r.ScriptPath(s), []byte(r.Script(s))); err != nil {
			return err
		}
	}
	return nil
}

//go:embed script.sh.tmpl
var scriptText string

var script = template.Must(template.New("script").Funcs(template.FuncMap{
	"quote":    Quote,
	"percents": func(s string) string { return strings.ReplaceAll(s, "%", "%%") },
	"option": func(o string) string {
		if name, value, ok := strings.Cut(o, "="); ok {
			return name + `="` + value + `"`
		}
		return o
	},
}).Parse(scriptText))

// Script returns the text of the stage's job script. The script execs the program,
// so that Slurm's signals reach the program and the job ends with it.
func (r Run) Script(s Stage) string {
	var b strings.Builder
	err := script.Execute(&b, struct {
		Run
		Stage Stage
	}{r, s})
	if err != nil {
		panic("slurm: " + err.Error()) // the template is embedded, and tests run it
	}
	return b.String()
}

// plain is a word that the shell takes as it is.
var plain = regexp.MustCompile(`^[-A-Za-z0-9_./,=:+@%]+$`)

// Quote quotes s as one word of the shell.
func Quote(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// indices writes the indices of an array as sbatch takes them: 0-3,7.
func indices(tasks []int) string {
	var parts []string
	for len(tasks) > 0 {
		n := 1 // tasks in a row
		for n < len(tasks) && tasks[n] == tasks[0]+n {
			n++
		}
		part := fmt.Sprint(tasks[0])
		if n > 1 {
			part += fmt.Sprintf("-%d", tasks[n-1])
		}
		parts, tasks = append(parts, part), tasks[n:]
	}
	return strings.Join(parts, ",")
}
