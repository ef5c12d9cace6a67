// Package slurm writes and submits a job array of identical workers that share one
// store.
//
// The workers divide the work by leases in the store, so a task needs no part of its
// own, and none may fail for another's sake: what a lost task was computing is taken
// over by the others. A task may run twice, even at the same time, when the node that
// it ran on is only thought to be dead; its results must allow that. What a lost array
// left undone is known from the store alone: submit again.
package slurm

import (
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"hambench/internal/atomicfile"
	"hambench/usage"
)

// Job is an array of tasks that all run one command.
type Job struct {
	Name    string   // of the job, in the queue
	Dir     string   // of script and logs; absolute, on a disk that all nodes share
	Env     []Var    // exported before the command runs
	Command []string // the program and its arguments, as words

	Tasks           int      // size of the array
	CPUs            int      // per task
	Partition, Time string   // "" leaves it to the cluster
	Extra           []string // further options of sbatch, such as --mem=4G
}

// Var is a variable of the environment.
type Var struct{ Name, Value string }

// reserved are options that the script sets or that break its submission.
var reserved = []string{
	"--array", "--dependency", "--job-name", "--cpus-per-task", "--wrap", "--parsable", "--wait",
	"--ntasks", "--requeue", "--no-requeue",
}

// Check returns a usage error for options that would break the script. Others are
// sbatch's to refuse.
func (j Job) Check() error {
	switch {
	case j.Tasks < 1:
		return usage.Errorf("--array %d: want at least 1 worker", j.Tasks)
	case j.CPUs < 1:
		return usage.Errorf("--cpus-per-task %d: want at least 1", j.CPUs)
	}
	for _, x := range j.Extra {
		switch name, _, _ := strings.Cut(x, "="); {
		case !strings.HasPrefix(name, "--") || len(name) < 3:
			return usage.Errorf("--sbatch %q: want a long option of sbatch, such as "+
				"--sbatch=--mem=4G", x)
		// In a script sbatch takes a value behind a space, too: the name is not known then.
		case strings.ContainsFunc(name, unicode.IsSpace):
			return usage.Errorf("--sbatch %q: want the value behind =, as in --sbatch=--mem=4G", x)
		case slices.Contains(reserved, name):
			return usage.Errorf("--sbatch %q: %s is set by hambench", x, name)
		}
	}
	// Values stand between double quotes on lines of their own in the script, where sbatch takes a
	// backslash from before the next character.
	const special = "\n\"\\"
	for _, x := range append([]string{j.Partition, j.Time}, j.Extra...) {
		if strings.ContainsAny(x, special) {
			return usage.Errorf("option of sbatch %q: want no double quotes, backslashes or line "+
				"breaks", x)
		}
	}
	if strings.ContainsAny(j.Dir, special) { // of the logs, which are an option, too
		return usage.Errorf("folder %q: want no double quotes, backslashes or line breaks in its "+
			"name", j.Dir)
	}
	return nil
}

// LogDir returns the folder of the tasks' output, one file for each index of the array.
func (j Job) LogDir() string { return filepath.Join(j.Dir, "log") }

// Last returns the index of the array's last task.
func (j Job) Last() int { return j.Tasks - 1 }

// Write writes the job script and returns its path.
func (j Job) Write() (path string, err error) {
	if err := os.MkdirAll(j.LogDir(), 0o755); err != nil {
		return "", usage.Errorf("folder of the job script cannot be created: %w", err)
	}
	path = filepath.Join(j.Dir, "job.sh")
	return path, atomicfile.Write(path, []byte(j.Script()))
}

//go:embed script.sh.tmpl
var scriptText string

// script is the job script. Every value is quoted for the shell.
// It is one array: each task is the same worker.
var script = template.Must(template.New("script").Funcs(template.FuncMap{
	"quote": Quote,
	// sbatch replaces patterns such as %j in the names of logs.
	"percents": func(s string) string { return strings.ReplaceAll(s, "%", "%%") },
	// Check has refused the characters that double quotes do not protect.
	"option": func(o string) string {
		if name, value, ok := strings.Cut(o, "="); ok {
			return name + `="` + value + `"`
		}
		return o
	},
}).Parse(scriptText))

// Script returns the text of the job script. The script execs the program, so that
// Slurm's signals reach the program and the task ends with it.
func (j Job) Script() string {
	var b strings.Builder
	if err := script.Execute(&b, j); err != nil {
		panic("slurm: " + err.Error()) // the template is embedded, and tests run it
	}
	return b.String()
}

// plain matches a word that the shell takes as it is.
var plain = regexp.MustCompile(`^[-A-Za-z0-9_./,=:+@%]+$`)

// Quote quotes s as one word of the shell.
func Quote(s string) string {
	if plain.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
