package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A study's own claims are decided by its run, on the page, and again from the store.
func TestAStudyDecidesItsOwnClaims(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	file, out := "../../examples/own-claims/variance-reduction.toml", t.TempDir()
	code, stdout, stderr := call(t, "run", file, "--out", out)
	if code != exitOK {
		t.Fatalf("run: exit code %d, %s", code, stderr)
	}
	page, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"claim plain-order: confirmed", "claim saga-order: refuted", "claim svrg-error: confirmed"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("run prints no %q:\n%s", want, stdout)
		}
	}
	if !strings.Contains(string(page), "saga keeps order 2 in random orders.") {
		t.Error("the page does not show the study's claims")
	}
	for strict, want := range map[string]int{"--strict": exitFailed, "--strict=false": exitOK} {
		code, stdout, stderr = call(t, "claims", file, "--out", out, strict)
		if code != want || !strings.Contains(stdout, "3 claims: 2 confirmed, 1 refuted, 0 not decided; profile default") {
			t.Errorf("claims %s: exit code %d, want %d: %s%s", strict, code, want, stdout, stderr)
		}
	}
}

func TestAMistakeInAClaimIsOneLineWithFileAndKey(t *testing.T) {
	const study = `id = "own"

[[exact]]
problem    = "gaussian"
integrator = "lietrotter"
scheme     = "reshuffle"

[[claim]]
id        = "one"
text      = "It has order 2."
statistic = "order"
of        = "error"
between   = [1.7, 2.3]
`
	for _, c := range []struct{ old, with, want string }{
		{`"order"`, `"slope"`, `claim.0.statistic: unknown statistic "slope": want one of order, excess-ratio, ratio, mean, share, distance`},
		{`"error"`, `"erorr"`, `claim.0.of: unknown column "erorr" (did you mean error?)`},
		{`"error"`, `"problem"`, `claim.0.of: is "problem": want a column of numbers`},
		{`[1.7, 2.3]`, `[2.3, 1.7]`, `claim.0.between: want two numbers, [low, high]`},
		{`[1.7, 2.3]`, `2`, `claim.0.between: want two numbers`},
		{`[1.7, 2.3]`, "[1.7, 2.3]\nlevel = 99", `claim.0.level: is 99: want a number from 0.5, below 1`},
		{`[1.7, 2.3]`, "[1.7, 2.3]\nwhere = { integrator = \"leapfrog\" }", `claim.0.where.integrator: no row of the study has leapfrog: want one of [lietrotter]`},
		{`[1.7, 2.3]`, "[1.7, 2.3]\nwhere = { integrator = 2 }", `claim.0.where.integrator: is 2: want a text`},
		{`[1.7, 2.3]`, "[1.7, 2.3]\nwhere = { colour = \"red\" }", `claim.0.where.colour: unknown column "colour"`},
		{`[1.7, 2.3]`, "[1.7, 2.3]\nover = { scheme = \"full\" }", `claim.0.over.scheme: no row of the study has full`},
		{`[1.7, 2.3]`, "[1.7, 2.3]\nfrom = 2", `from and sd are of distance alone`},
		{`"order"`, `"excess-ratio"`, `a ratio has no over`},
		{"of        = \"error\"", "of        = \"step\"", `claim.0.of: is "step": a setting is what a chain was told, no result`},
		{"\"order\"", "\"ratio\"\nover = { scheme = \"reshuffle\" }", `claim.0.over: selects rows that where selects, too, which would be divided by themselves`},
		{`"order"`, `"distance"`, `a distance has no from`},
		{"\"order\"", "\"ratio\"\nover = { integrator = [\"lietrotter\", \"lietrotter\"] }", `claim.0.over.integrator: lietrotter stands twice`},
		{"\"order\"", "\"ratio\"\nwhere = { step = 0.1 }\nover = { step = 0.2 }", `claim.0.over: has the step: a ratio is of rows at one step: want another column`},
		{"\"order\"", "\"ratio\"\nwhere = { relative = 1 }\nover = { relative = 0.5 }", `claim.0.over: has the step`},
		{`"error"`, `"constant"`, `claim.0.of: is "constant": of what is exact the order of error alone is known`},
		{`"error"`, `"value"`, `claim.0.of: is "value": of what is exact the order of error alone is known`},
		{"\"order\"\nof        = \"error\"", "\"mean\"\nof        = \"relative\"", `claim.0.of: is "relative": a setting is what a chain was told`},
		{"\"order\"\nof        = \"error\"", "\"share\"\nof        = \"missing\"", `claim.0.of: is "missing": a setting is what a chain was told`},
		{`[1.7, 2.3]`, `[-inf, inf]`, `claim.0.between: holds every number: want one end that does not`},
		{`[1.7, 2.3]`, "[1.7, 2.3]\nwhere = { regime = \"heta\" }", `claim.0.where.regime: no row of the study has heta: want one of [orders between heat]`},
		{`[1.7, 2.3]`, "[1.7, 2.3]\nwhere = { observable = \"theta.var\" }", `claim.0.where.observable: no row of the study has theta.var: want one of [theta theta.mean theta.cov`},
		{`"order"`, `"share"`, `a share is of a column that is true or false`},
		{`id        = "one"`, ``, `claim.0: has no id`},
		{`text      = "It has order 2."`, `claims = 2`, `claim.0.claims: unknown key "claims"`},
		{"[[claim]]", "[claim]", `claim: is a table: want tables, [[claim]]`},
	} {
		file := filepath.Join(t.TempDir(), "own.toml")
		if err := os.WriteFile(file, []byte(strings.Replace(study, c.old, c.with, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := call(t, "run", file, "--dry-run", "--out", t.TempDir())
		if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "own.toml:") {
			t.Errorf("%s: exit code %d, %q: want 2 and one line with %q", c.with, code, stderr, c.want)
		}
	}
	file := filepath.Join(t.TempDir(), "own.toml")
	if err := os.WriteFile(file, []byte(study[:strings.Index(study, "[[claim]]")]), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(t, "claims", file, "--out", t.TempDir()); code != exitUsage || !strings.Contains(stderr, "states no claims: want [[claim]]") {
		t.Errorf("a study without claims: exit code %d, %s", code, stderr)
	}
}

// A file whose id another one has, or that has changed, is told from the file of the store's
// last run, by what it says of its jobs: the rows of one do not decide the claims of the other
// without a word. Editing claims, titles and figures is no change, nor are other profiles.
func TestRowsOfAnotherFileAreNotTakenForOnesOwn(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	const study = `id = "mine"
[[exact]]
problem    = "gaussian"
integrator = "lietrotter"
scheme     = "reshuffle"
step       = [0.1, 0.05, 0.025]
friction   = 2
[profile.quick]
samples = 5
[[claim]]
id        = "order"
text      = "It has order 2."
statistic = "order"
of        = "error"
between   = [1.7, 2.3]
`
	changed := func(old, with string) string { return strings.Replace(study, old, with, 1) }
	inFolder(t, map[string]string{
		"mine.toml": strings.Replace(study, "friction   = 2\n", "", 1), "fast.toml": study, "two.toml": changed("[0.1, 0.05, 0.025]", "[0.2, 0.1, 0.05]"),
		"claims.toml": "# mine\ntitle = \"A title\"\n" + changed("[1.7, 2.3]", "[1.5, inf]"), "profile.toml": changed("samples = 5", "samples = 6"),
	})
	const other = "note: study mine: the store's last run of this id was of another file or an older version of it; figures and claims are of %s run\n"
	for _, step := range []struct{ command, file, which string }{ // "" for no word
		{"run", "mine.toml", ""}, {"run", "mine.toml", ""}, {"claims", "mine.toml", ""}, {"claims", "two.toml", "that"},
		{"run", "fast.toml", "this"}, {"claims", "fast.toml", ""}, {"claims", "claims.toml", ""}, {"claims", "profile.toml", ""},
		{"claims", "mine.toml", "that"}, {"run", "claims.toml", ""}, {"claims", "fast.toml", ""},
		{"figures", "two.toml", "that"}, {"figures", "claims.toml", ""}, {"run", "two.toml", "this"}, {"run", "two.toml", ""}, {"claims", "claims.toml", "that"},
	} {
		args := []string{step.command, step.file, "--out", "out"}
		if step.command == "figures" {
			args = []string{"run", step.file, "--out", "out", "--figures-only"}
		}
		code, _, stderr := call(t, args...)
		said := strings.Count(stderr, "the store's last run of this id")
		if code != exitOK || step.which == "" && said != 0 || step.which != "" && (said != 1 || !strings.Contains(stderr, fmt.Sprintf(other, step.which))) {
			t.Errorf("%s %s: exit code %d, %s: want %q", step.command, step.file, code, stderr, step.which)
		}
	}
}

// A run on some data sets leaves claims on all of them open, and says which are missing; data sets
// that are one file are named.
func TestClaimsSayWhatTheirDataSetsAre(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	inFolder(t, map[string]string{"own.csv": ownCSV, "mine.toml": `[data.a]
file = "own.csv"
noise = 0.1
[data.b]
file = "own.csv"
noise = 0.1
[vary]
data = ["a", "b", "linear"]
seed = [1, 2, 3, 4, 5, 6]
[fix]
model = "linear"
integrator = "leapfrog"
step = 0.02
samples = 5
[[claim]]
id = "far"
text = "Chains of five samples have a distance."
statistic = "mean"
of = "distance"
between = [0, 1]
`})
	const note = "note: data sets a, b have the same contents: they are no replicates of one another\n"
	code, stdout, stderr := call(t, "run", "mine.toml", "--out", "out", "--datasets", "linear")
	if code != exitOK || !strings.Contains(stdout, "claim far: not decided") || strings.Count(stderr, note) != 1 {
		t.Errorf("run: exit code %d, %s%s", code, stdout, stderr)
	}
	code, stdout, stderr = call(t, "claims", "mine.toml", "--out", "out")
	if code != exitOK || !strings.Contains(stdout, "6 seeds; the run left out a, b") || !strings.Contains(stdout, "Data sets left out: a, b.") || strings.Count(stderr, note) != 1 {
		t.Errorf("claims: exit code %d, %s%s", code, stdout, stderr)
	}
}

// What a file says of its title and its claims now is shown of what is stored, but not of the
// jobs of another version.
func TestEditedFilesAreShownWithoutARun(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	const study = `id = "mine"
title = "As it was run"
[[exact]]
problem    = "gaussian"
integrator = "lietrotter"
scheme     = "reshuffle"
step       = [0.1, 0.05, 0.025]
`
	const claim = "[[claim]]\nid = \"order\"\ntext = \"It has order 2.\"\nstatistic = \"order\"\nof = \"error\"\nbetween = [1.7, 2.3]\n"
	edited := strings.Replace(study, "As it was run", "As it was edited", 1)
	inFolder(t, map[string]string{"mine.toml": study, "edited.toml": edited + claim, "other.toml": strings.Replace(edited, "0.1, ", "", 1)})
	for _, step := range []struct{ file, title, claim string }{
		{"edited.toml", "As it was edited", "claim order: confirmed"}, {"other.toml", "As it was run", ""}, {"mine.toml", "As it was run", ""},
	} {
		if code, _, stderr := call(t, "run", "mine.toml", "--out", "out"); code != exitOK {
			t.Fatal(stderr)
		}
		code, stdout, stderr := call(t, "run", step.file, "--out", "out", "--figures-only")
		page, err := os.ReadFile(filepath.Join("out", "index.html"))
		if code != exitOK || err != nil || !strings.Contains(string(page), step.title) || !strings.Contains(stdout, step.claim) || step.claim == "" && strings.Contains(stdout, "claim order") {
			t.Errorf("%s: exit code %d, %s%s: want %q on the page, and %q", step.file, code, stdout, stderr, step.title, step.claim)
		}
	}
}
