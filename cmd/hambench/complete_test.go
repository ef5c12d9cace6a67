package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// completions are what the driver offers for the last of the words.
func completions(t *testing.T, words ...string) (names []string) {
	t.Helper()
	code, stdout, stderr := call(t, append([]string{"__complete"}, words...)...)
	if code != exitOK {
		t.Fatalf("%q: exit code %d, %s", words, code, stderr)
	}
	for _, line := range strings.Split(strings.TrimSpace(stdout), "\n") {
		name, _, _ := strings.Cut(line, "\t")
		if !strings.HasPrefix(name, ":") { // a directive
			names = append(names, name)
		}
	}
	return names
}

// The names that are offered are those that an error lists.
func TestCompletionOffersWhatErrorsList(t *testing.T) {
	for _, words := range [][]string{
		{"reproduce", "--profile"}, {"reproduce", "--only"},
		{"sample", "--precision"}, {"sample", "--format"}, {"sample", "--dataset"}, {"sample", "--model"},
		{"sample", "--model", "toy", "--scheme"}, {"sample", "--model", "toy", "--integrator"}, {"sample", "--model", "toy", "--estimator"},
		{"certify", "--scheme"}, {"certify", "--observe"}, {"certify", "--problem"}, {"certify", "--integrator"}, {"certify", "--estimator"},
		{"claims", "--format"}, {"export", "--format"}, {"judge", "draws.csv", "--dataset"}, {"data", "export", "--to", "x", "--dataset"},
		{"list"}, {"completion"}, {"list", "studies"}, {"data", "verify"}, {"store"}, {},
	} {
		code, _, stderr := call(t, append(slices.Clone(words), "nonsense")...)
		_, list, ok := strings.Cut(stderr, "one of ")
		if code != exitUsage || !ok {
			t.Errorf("%q: exit code %d, %q", words, code, stderr)
			continue
		}
		list, _, _ = strings.Cut(strings.TrimSpace(list), " (see")
		list, _, _ = strings.Cut(list, ", or ") // any splitting
		var want []string
		for _, name := range strings.Split(list, ", ") {
			name, _, _ = strings.Cut(name, " ")
			want = append(want, name)
		}
		got := slices.DeleteFunc(completions(t, append(slices.Clone(words), "")...), func(name string) bool { return name == "split:WORD" })
		if !slices.Equal(got, want) {
			t.Errorf("%q: offered %q, listed %q", words, got, want)
		}
	}
	if got := completions(t, "export", "--only", "toy,regi"); !slices.Equal(got, []string{"toy,regimes"}) {
		t.Errorf("a later study, which is exported, too: %q", got)
	}
	if got := completions(t, "certify", "--scheme", "full,re"); !slices.Equal(got, []string{"full,reshuffle", "full,replacement"}) {
		t.Errorf("the second of two names: %q", got)
	}
}

// Every flag that names something by NAME is completed.
func TestEveryNameIsCompleted(t *testing.T) {
	for _, c := range newRoot().Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			kind := strings.TrimSuffix(f.Value.Type(), ",...")
			if (kind == "NAME" || kind == "WORD") && f.Name != "partition" && len(completions(t, c.Name(), "--"+f.Name, "")) == 0 {
				t.Errorf("%s --%s is not completed", c.Name(), f.Name)
			}
		})
	}
}

// The scripts load in their shells and complete a flag and a value.
func TestShellsComplete(t *testing.T) {
	// Each prints what it offers for the line in $@, its last word unfinished.
	shells := map[string]string{
		"bash": `. ./script
			_init_completion() { words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]}; } # of the package bash-completion
			COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9
			__start_hambench
			printf '%s\n' "${COMPREPLY[@]}"`,
		"zsh": `autoload -U compinit && compinit -D -u
			. ./script
			_describe() { print -l -- ${(P)${@[-1]}} ${(P)${@[2]}} 2> /dev/null }
			words=("$@") CURRENT=$#
			_hambench`,
		"fish": `source script; complete -C "$argv"`,
	}
	dir := t.TempDir()
	driverIn(t, dir)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for shell, program := range shells {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skipf("%s is not on this machine", shell)
			}
			_, script, _ := call(t, "completion", shell)
			if err := os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				words []string
				want  string
				not   string
			}{
				{[]string{"hambench", "certify", "--integr"}, "--integrator", "--scheme"},
				{[]string{"hambench", "reproduce", "--profile", "qu"}, "quick", "paper"},
				{[]string{"hambench", "certify", "--scheme", "full,re"}, "full,replacement", "cyclic"},
				{[]string{"hambench", "store", "me"}, "merge", "verify"},
			} {
				args := append([]string{"-c", program, shell}, c.words...)
				if shell == "fish" { // takes no name of its own
					args = append([]string{"-c", program}, c.words...)
				}
				cmd := exec.Command(shell, args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "HOME="+dir)
				out, err := cmd.CombinedOutput()
				if err != nil || !strings.Contains(string(out), c.want) || strings.Contains(string(out), c.not) {
					t.Errorf("%q: %v, offered %q, want %q", c.words, err, out, c.want)
				}
			}
		})
	}
}
