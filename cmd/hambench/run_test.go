package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// inFolder writes files into a new folder, which becomes the current one.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// good is a study that runs; each wrong one changes a line of it.
const good = `id    = "mine"
title = "Mine"

[data.own]
file   = "own.csv"
target = "y"
task   = "regression"
noise  = 0.1
test   = 0.2

[vary]
data       = ["linear", "own"]
integrator = ["leapfrog", "ubu"]
batch      = [8, "full"]
step       = "0.01 .. 0.02"

[fix]
friction = 5
samples  = 20

[figure]
x = "step"
y = "distance"

[table]
rows = ["data", "step"]

[profile.quick]
samples = 10
`

// ownCSV has twelve rows.
const ownCSV = "x,y\n0,2\n2,3.5\n3,1\n4,2.5\n5,7\n6,1\n7,3\n8,0\n9,2\n10,4\n11,6\n12,1\n"

func TestWrongStudiesAreRefusedInOneLineAndNothingIsWritten(t *testing.T) {
	for name, c := range map[string]struct{ line, with, want string }{
		"unknown table":             {`[figure]`, `[figur]`, `mine.toml:21: figur: unknown key "figur" (did you mean figure?): want one of id, `},
		"unknown table, suggestion": {`[figure]`, `[figur]`, "did you mean figure?"},
		"unknown key":               {`integrator = ["leapfrog", "ubu"]`, `integrater = ["leapfrog", "ubu"]`, `mine.toml:13: vary.integrater: unknown key "integrater" (did you mean integrator?): want one of`},
		"unknown key, suggestion":   {`integrator = ["leapfrog", "ubu"]`, `integrater = ["leapfrog", "ubu"]`, "did you mean integrator?"},
		"unknown key of data":       {`noise  = 0.1`, `nosie = 0.1`, `mine.toml:8: data.own.nosie: unknown key "nosie"`},
		"unknown key of a profile":  {"samples = 10", "sample = 10", `mine.toml:29: profile.quick.sample: unknown key "sample"`},
		"no TOML":                   {`id    = "mine"`, `id    = mine`, `mine.toml:1: `},
		"key twice":                 {`title = "Mine"`, `id = "other"`, `mine.toml:2: key id is already defined`},
		"id":                        {`id    = "mine"`, `id    = "my study"`, `mine.toml:1: id: is "my study": want ASCII letters, digits, - and _`},
		"id of another's table":     {`id    = "mine"`, `id    = "mine-table"`, `mine.toml:1: id: is "mine-table": want another end: files of a study "mine" would have its names`},
		"id without end":            {`id    = "mine"`, `id    = "` + strings.Repeat("m", 101) + `"`, `mine.toml:1: id: has 101 characters: want at most 100`},
		"title is a number":         {`title = "Mine"`, `title = 3`, `mine.toml:2: title: is 3: want a text in quotes`},
		"unknown integrator":        {`integrator = ["leapfrog", "ubu"]`, `integrator = ["leapfrg"]`, `mine.toml:13: vary.integrator: unknown integrator "leapfrg"`},
		"bad word":                  {`integrator = ["leapfrog", "ubu"]`, `integrator = ["split:XYZ"]`, `mine.toml:13: vary.integrator: `},
		"unknown parameter":         {`integrator = ["leapfrog", "ubu"]`, `integrator = [{ name = "mt3", variance = 1 }]`, `mine.toml:13: vary.integrator: `},
		"parameter out of range":    {`integrator = ["leapfrog", "ubu"]`, `integrator = [{ name = "mt3", w2-variance = -1 }]`, `mine.toml:13: vary.integrator: `},
		"integrator is a number":    {`integrator = ["leapfrog", "ubu"]`, `integrator = [3]`, `mine.toml:13: vary.integrator: integrator's name: is 3: want a text`},
		"unknown data set":          {`data       = ["linear", "own"]`, `data       = ["linear", "owl"]`, `mine.toml:12: vary.data: unknown data set "owl" (did you mean own?): want one of boston`},
		"value twice":               {`data       = ["linear", "own"]`, `data       = ["linear", "linear"]`, `mine.toml:12: vary.data: linear stands twice`},
		"empty list":                {`batch      = [8, "full"]`, `batch      = []`, `mine.toml:14: vary.batch: is empty: want at least one value`},
		"no list in vary":           {`batch      = [8, "full"]`, `batch      = 8`, `mine.toml:14: vary.batch: is 8: want a list in [vary], or the key in [fix]`},
		"list in fix":               {`friction = 5`, `friction = [5, 6]`, `mine.toml:18: fix.friction: is a list: want one value in [fix], or the key in [vary]`},
		"vary and fix":              {`friction = 5`, `batch = 8`, `mine.toml:18: fix.batch: stands in [vary], too: want it once`},
		"batch and K":               {`friction = 5`, "friction = 5\n[[grid]]\nK = 2\nbatch = 3", `mine.toml:20: grid.0.K: K and batch: want one of them`},
		"batch of 0":                {`batch      = [8, "full"]`, `batch      = [0]`, `mine.toml:14: vary.batch: is 0: want a whole number from 1 to 2147483647, or "full"`},
		"batch as a word":           {`batch      = [8, "full"]`, `batch      = ["all"]`, `mine.toml:14: vary.batch: is the text "all": want a whole number from 1 to 2147483647, or "full"`},
		"batches larger than data":  {`batch      = [8, "full"]`, `batch      = [1000]`, `mine.toml:1: data set "linear": no batch size cuts its 128 training rows`},
		"negative step":             {`step       = "0.01 .. 0.02"`, `step       = [-0.01]`, `mine.toml:15: vary.step: is -0.01: want a finite number > 0`},
		"infinite step":             {`step       = "0.01 .. 0.02"`, `step       = [inf]`, `mine.toml:15: vary.step: is +Inf: want a finite number > 0`},
		"step is no range":          {`step       = "0.01 .. 0.02"`, `step       = ["small"]`, `mine.toml:15: vary.step: is the text "small": want a number > 0, "stable"`},
		"range of two kinds":        {`step       = "0.01 .. 0.02"`, `step       = "0.01 .. stable"`, `want both ends relative to the stable step, or none`},
		"endless range":             {`step       = "0.01 .. 0.02"`, `step       = "0.01 .. 0.02 by 1.000001"`, `that is more than 100 steps`},
		"range by 1":                {`step       = "0.01 .. 0.02"`, `step       = "0.01 .. 0.02 by 1"`, `want a number > 1 behind by`},
		"friction of 0":             {`friction = 5`, `friction = 0`, `mine.toml:18: fix.friction: is 0: want a number > 0, or inf`},
		"samples with an exponent":  {`samples  = 20`, `samples  = 2e1`, `mine.toml:19: fix.samples: has a point or an exponent: want it written as 20`},
		"no estimator":              {`friction = 5`, `estimator = ""`, `mine.toml:18: fix.estimator: is empty: want a text`},
		"step too large":            {`step       = "0.01 .. 0.02"`, `step       = [1e101]`, `mine.toml:15: vary.step: is 1e+101: want a number > 0, at most 1e+100`},
		"part of a step too small":  {`step       = "0.01 .. 0.02"`, `step       = ["stable/` + strings.Repeat("9", 101) + `"]`, `want a number > 0 behind stable/, at most 1e+100`},
		"half a sample":             {`samples  = 20`, `samples  = 2.5`, `mine.toml:19: fix.samples: is 2.5: want a whole number from 1 to 1000000000`},
		"unknown model":             {`friction = 5`, `model = "bn"`, `mine.toml:18: fix.model: unknown model "bn"`},
		"model that does not fit":   {`friction = 5`, `model = "toy"`, `mine.toml:18: fix.model: model "toy" wants targets without features: data set "linear" is a regression with 1 features, 0 classes and 128 training rows: want one of linear, bnn`},
		"hidden of a linear model":  {`friction = 5`, `hidden = [5]`, `mine.toml:18: fix.hidden: model "linear" has nothing to choose`},
		"width of 0":                {`friction = 5`, `hidden = [0]`, `mine.toml:18: fix.hidden: is 0: want a whole number from 1 to 10000`},
		"unknown scheme":            {`friction = 5`, `scheme = "reshufle"`, `mine.toml:18: fix.scheme: unknown mini-batch scheme "reshufle"`},
		"unknown estimator":         {`friction = 5`, `estimator = "plan"`, `mine.toml:18: fix.estimator: unknown gradient estimator "plan"`},
		"precision":                 {`friction = 5`, `precision = "half"`, `mine.toml:18: fix.precision: unknown precision "half": want one of float32, float64`},
		"10 million cells":          {`step       = "0.01 .. 0.02"`, `step = "1e-9 .. 1e9 by 1.6"` + "\nsplits = 1000\nnl = [1,2,3,4,5,6,7,8,9,10]\nseed = [1,2,3,4,5,6,7,8,9,10]", `mine.toml:12: vary.data: the grid has more than 100000 cells: want fewer`},
		"no data":                   {`data       = ["linear", "own"]`, ``, `mine.toml:1: no data: want data = "…" or a list of them`},
		"no integrator":             {`integrator = ["leapfrog", "ubu"]`, ``, `mine.toml:1: no integrator: want integrator = … in [vary] or [fix]`},
		"no step":                   {`step       = "0.01 .. 0.02"`, ``, `mine.toml:1: no step: want step = … in [vary] or [fix]`},
		"file missing":              {`file   = "own.csv"`, `file   = "none.csv"`, `mine.toml:5: data.own.file: data set "own": open none.csv: no such file or directory`},
		"column missing":            {`target = "y"`, `target = "z"`, `mine.toml:5: data.own.file: data set "own": own.csv: line 2: no column is called "z": want one of x, y`},
		"text in a column":          {`file   = "own.csv"`, `file   = "text.csv"`, `text.csv: line 3: column 1 ("x"): "two" is not a number`},
		"value missing":             {`file   = "own.csv"`, `file   = "gap.csv"`, `gap.csv: line 3: column 1 ("x"): the value is missing`},
		"one class":                 {"file   = \"own.csv\"\ntarget = \"y\"\ntask   = \"regression\"\nnoise  = 0.1", "file = \"one.csv\"\ntask = \"classification\"", `every row is of class "a": want at least two classes`},
		"no noise":                  {`noise  = 0.1`, ``, `noise variance 0: want a positive number`},
		"no task":                   {"task   = \"regression\"\nnoise  = 0.1\n", ``, `mine.toml:4: data.own: file must be stated, and noise = V (of a regression) or task = "classification"`},
		"overridden everywhere":     {"[figure]", "[[grid]]\nbatch = 4\n[[grid]]\nbatch = 2\n[figure]", `mine.toml:14: vary.batch: every [[grid]] replaces it, and one of these values stands in none: want an empty [[grid]] for the cells of [vary], or the value left out`},
		"name of a built-in set":    {`[data.own]`, `[data.boston]`, `mine.toml:4: data.boston: there is a data set of this name`},
		"all rows held out":         {`test   = 0.2`, `test   = 1.5`, `test share 1.5: want 0 to 1`},
		"axis":                      {`x = "step"`, `x = "stp"`, `mine.toml:22: figure.x: unknown axis or value "stp"`},
		"rows of a table":           {`rows = ["data", "step"]`, `rows = ["dta"]`, `mine.toml:26: table.rows: unknown axis or value "dta"`},
		"kind":                      {`x = "step"`, `kind = "pie"`, `mine.toml:22: figure.kind: unknown kind of figure "pie"`},
		"cycle of paths":            {`title = "Mine"`, `base = "sub/../sub/two.toml"`, `is based on itself: mine.toml is based on sub/two.toml is based on mine.toml`},
		"base missing":              {`title = "Mine"`, `base = "methds"`, `mine.toml:2: base: unknown study "methds"`},
		"exact without a scheme":    {`[figure]`, "[[exact]]\nproblem = \"toy\"\n[figure]", `mine.toml:21: exact.0: want a problem and a scheme`},
		"exact with a bad problem":  {`[figure]`, "[[exact]]\nproblem = \"toi\"\n[figure]", `mine.toml:22: exact.0.problem: unknown problem "toi"`},
		"budget of 0":               {`[figure]`, "[[exact]]\nproblem = \"toy\"\nscheme = \"full\"\nbudget = [100, 0]\n[figure]", `mine.toml:24: exact.0.budget: is 0: want a finite number > 0`},
		"budget without end":        {`[figure]`, "[[exact]]\nproblem = \"toy\"\nscheme = \"full\"\nbudget = inf\n[figure]", `mine.toml:24: exact.0.budget: is +Inf: want a finite number > 0`},
		"budget twice":              {`[figure]`, "[[exact]]\nproblem = \"toy\"\nscheme = \"full\"\nbudget = [100, 200, 100, 200]\n[figure]", `mine.toml:24: exact.0.budget: 100 is given twice: want numbers of gradients that differ`},
		"budget as a word":          {`[figure]`, "[[exact]]\nproblem = \"toy\"\nscheme = \"full\"\nbudget = [\"many\", \"more\"]\n[figure]", `mine.toml:24: exact.0.budget: is the text "many": want a number`},
		"stability of 1":            {`[figure]`, "[[exact]]\nproblem = \"toy\"\nscheme = \"full\"\nstability = 1\n[figure]", `mine.toml:24: exact.0.stability: is 1: want true or false`},
		"distance of one step":      {`[figure]`, "[[exact]]\nproblem = \"toy\"\nscheme = \"full\"\none-step = true\ndistance = true\n[figure]", `mine.toml:21: exact.0: toy: one step has no stationary law to take averages of: want budgets, stability, distances and energies without it`},
		"inner steps of none":       {`[figure]`, "[[exact]]\nproblem = \"toy\"\nscheme = \"full\"\nintegrator = \"leapfrog\"\nnl = 3\n[figure]", `mine.toml:21: exact.0: toy: leapfrog: N_l = 3 inner steps: want 1 (the scheme has no inner steps)`},
		"masses of other positions": {`[figure]`, "[[exact]]\nproblem = \"gaussian\"\nscheme = \"full\"\ninverse-mass = [1, 2, 3]\n[figure]", `mine.toml:21: exact.0: gaussian, M ≠ I: inverse mass [1 2 3]: want 2 finite numbers > 0, one a position`},
		"answers of cells":          {`y = "distance"`, `y = "kolmogorov"`, `mine.toml:21: figure: axes "step" and "kolmogorov" are those of exact errors: want kind = "orders"`},
		"budget of cells":           {`x = "step"`, `x = "budget"`, `mine.toml:21: figure: axes "budget" and "distance" are those of exact errors`},
		"x is no number":            {`x = "step"`, `x = "data"`, `mine.toml:21: figure: x = "data" is no number`},
		"lines of a parameter":      {`x = "step"`, `lines = "w2-variance"`, `mine.toml:21: figure: no cell has the parameter "w2-variance"`},
		"rows of a parameter":       {`rows = ["data", "step"]`, `rows = ["data", "w2-variance"]`, `mine.toml:25: table: no cell has the parameter "w2-variance"`},
		"lines twice":               {`x = "step"`, `lines = ["batch", "batch"]`, `mine.toml:22: figure.lines: batch stands twice`},
		"score of classes":          {`y = "distance"`, `y = "accuracy"`, `mine.toml:21: figure: accuracy is a score of a classification: none of the data sets is one`},
		"classes in a table":        {`rows = ["data", "step"]`, "rows = [\"data\", \"step\"]\nvalues = \"accuracy\"", `mine.toml:25: table: accuracy is a score of a classification: none of the data sets is one`},
		"coupled distances":         {`y = "distance"`, `y = "coupled"`, `mine.toml:21: figure: shows cells that observe coupled, and one of these observes distance`},
		"coupled without a figure":  {"friction = 5\nsamples  = 20\n\n[figure]\nx = \"step\"\ny = \"distance\"", `observe = "coupled"`, `figure: shows cells that observe distance, and one of these observes coupled: state [figure] with y = "coupled"`},
		"setting on two axes":       {`x = "step"`, "x = \"step\"\nlines = [\"batch\", \"step\"]", `mine.toml:21: figure: "step" stands in several of panels, lines and x: want it in one`},
		"setting on both sides":     {`rows = ["data", "step"]`, "rows = [\"data\", \"step\"]\ncolumns = \"data\"", `mine.toml:25: table: "data" stands in several of rows and columns: want it in one`},
		"start in no file":          {`friction = 5`, `start = "nofile.csv"`, `mine.toml:18: fix.start: start nofile.csv: no such file or directory`},
		"relative to nothing":       {`x = "step"`, `x = "relative"`, `mine.toml:21: figure: x = "relative": want all steps relative to the stable one, as stable/8`},
		"distances of paths":        {`friction = 5`, `observe = "path"`, `mine.toml:21: figure: shows cells that observe distance, and one of these observes path`},
		"histogram of a plane":      {`friction = 5`, `observe = "histogram"`, `mine.toml:18: fix.observe: is "histogram": model "linear" on data set "linear" has no known posterior of one parameter`},
		"density of many":           {`friction = 5`, `observe = "density"`, `mine.toml:18: fix.observe: is "density": model "linear" on data set "linear" has 256 parameters: want 2`},
		"density of a point":        {"friction = 5\nsamples  = 20", "[[grid]]\n[[grid]]\ndata = \"logistic\"\nobserve = \"density\"\nsamples = 1", `mine.toml:22: grid.1.samples: cell observes density on 1 points a side: want samples from 2 to 2000`},
		"marginals unknown":         {`friction = 5`, `observe = "marginals"`, `mine.toml:18: fix.observe: is "marginals": model "bnn" on data set "own" has no known posterior along one feature`},
		"path of one":               {"friction = 5", "observe = \"path\"\n[[grid]]\ndata = \"toy\"\nbatch = \"full\"\n[[grid]]", `mine.toml:18: fix.observe: is "path": model "toy" on data set "toy" has 1 parameter`},
		"reference of no chains":    {`[figure]`, "[[grid]]\ndata = [\"linear\", \"own\"]\nmodel = \"linear\"\n[reference]\nthin = 2\n[figure]", `mine.toml:24: reference: changes nothing: exact draws judge these cells: want only chains, samples, seed`},
		"start nowhere":             {`friction = 5`, `start = "mode"`, `mine.toml:18: fix.start: unknown start "mode": want one of truth, prior, typical`},
		"start of coupled chains":   {`friction = 5`, "start = \"prior\"\nobserve = \"coupled\"", `coupled chains start at a typical position`},
		"kind of other cells":       {"x = \"step\"\ny = \"distance\"", `kind = "paths"`, `mine.toml:21: figure: shows cells that observe density, path, and one of these observes distance`},
		"kind of cells alike":       {"friction = 5\nsamples  = 20\n\n[figure]\nx = \"step\"\ny = \"distance\"", "observe = \"path\"\n[figure]\nkind = \"paths\"", `mine.toml:19: figure: kind = "paths": its cells may differ in friction alone, and these do in more`},
		"scores of batches":         {"x = \"step\"\ny = \"distance\"", `kind = "scores"`, `mine.toml:21: figure: kind = "scores": want integrator = "leapfrog" and batch = "full" for all cells`},
		"regimes of many samplers":  {"x = \"step\"\ny = \"distance\"", `kind = "regimes"`, `mine.toml:21: figure: kind = "regimes": its cells may differ in data set, model, precision, batch, K, scheme, step, thin, burn and friction alone, and these do in more`},
		"kind with axes":            {`y = "distance"`, `kind = "claims"`, `mine.toml:21: figure: kind = "claims" has axes of its own: leave panels, lines, x, y and their scales out`},
		"kind with a table":         {"x = \"step\"\ny = \"distance\"", `kind = "claims"`, `mine.toml:24: table: a study without cells, or with a figure of kind "claims", has no table of its own`},
		"orders of cells":           {"x = \"step\"\ny = \"distance\"", `kind = "orders"`, `mine.toml:21: figure: kind = "orders" shows exact errors: want [[exact]]`},
		"noise of next to nothing":  {`noise  = 0.1`, "noise = 1e-30\nmodel = \"linear\"", `model "linear": noise variance 1e-30 leaves the posterior's precision without an accurate inverse: want a larger one`},
		"K beyond the rows":         {`batch      = [8, "full"]`, `K = [5, 11]`, `mine.toml:14: vary.K: is 11: data set "own" has 10 training rows`},
		"reference of none":         {`friction = 5`, `observe = "reference"`, `mine.toml:18: fix.observe: is "reference": model "linear" on data set "linear" has a known posterior`},
		"inner steps of cells":      {`friction = 5`, `nl = 3`, `mine.toml:13: vary.integrator: leapfrog: N_l = 3 inner steps: want 1`},
		"several repeats":           {`friction = 5`, "[[grid]]\nrepeat = [2, 3]", `mine.toml:19: grid.0.repeat: is a list: want one number`},
		"repeats of listed seeds":   {`friction = 5`, "repeat = 3\n[[grid]]\nseed = [1, 2]", `mine.toml:20: grid.0.seed: is a list: leave it out where seeds are counted`},
		"profile of no profile":     {`[profile.quick]`, `[profile.default]`, `mine.toml:28: profile.default: is what a run without a profile is called`},
		"reference too short":       {`[figure]`, "[reference]\nchains = 1\n[figure]", `mine.toml:22: reference.chains: is 1: want a whole number from 2`},
		"date":                      {`friction = 5`, `samples = 2020-01-01`, `mine.toml:19: `},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(good, c.line, c.with, 1)
			if text == good {
				t.Fatalf("the good study has no line %s", c.line)
			}
			inFolder(t, map[string]string{
				"mine.toml": text, "own.csv": ownCSV, "text.csv": strings.Replace(ownCSV, "2,3.5", "two,3.5", 1), "gap.csv": strings.Replace(ownCSV, "2,3.5", ",3.5", 1),
				"one.csv": "x,y\n1,a\n2,a\n3,a\n", "sub/two.toml": "base = \"../mine.toml\"\n",
			})
			code, _, stderr := call(t, "run", "mine.toml", "--out", "out")
			if code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
				t.Errorf("exit code %d, %s: want 2 and one line with %s", code, stderr, c.want)
			}
			if _, err := os.Stat("out"); err == nil {
				t.Error("something was written")
			}
		})
	}
}

// A flag that would change nothing is refused, as the caption would state it, and
// so is one that leaves nothing.
func TestFlagsWithoutEffectAreRefused(t *testing.T) {
	known := "[fix]\ndata = \"linear\"\nintegrator = \"leapfrog\"\nstep = 0.1\n"
	inFolder(t, map[string]string{"mine.toml": good, "known.toml": known, "own.csv": ownCSV})
	if code, _, stderr := call(t, "run", "known.toml", "--out", "out", "--check", "--precision", "float64"); code != exitUsage || !strings.Contains(stderr, "--precision float64: nothing in known.toml has") {
		t.Errorf("--precision where all is known: exit code %d, %s", code, stderr)
	}
	for _, c := range []struct{ want, args string }{
		{"", "--precision float64"},
		{"--splits 3: mine.toml says no splits that this could replace", "--splits 3"},
		{"--samples 30: the profile of mine.toml has no samples of its own", "--samples 30"},
		{"", "--samples 30 --profile quick"},
		{"--seed-from 4611686018427387904: want 1 to 2^61", "--seed-from 4611686018427387904"},
	} {
		code, _, stderr := call(t, append([]string{"run", "mine.toml", "--out", "out", "--check"}, strings.Fields(c.args)...)...)
		if c.want != "" && (code != exitUsage || !strings.Contains(stderr, c.want)) || c.want == "" && code != exitFailed {
			t.Errorf("%s: exit code %d, %s", c.args, code, stderr)
		}
	}
}

// Stable steps of an earlier run are those of its data and likelihood.
func TestStableStepsAreOfTheirData(t *testing.T) {
	const study = "[data.own]\nfile = \"own.csv\"\ntask = \"regression\"\nnoise = 0.1\n[fix]\ndata = \"own\"\nmodel = \"linear\"\nintegrator = \"leapfrog\"\nstep = \"stable\"\nsamples = 2\nthin = 1\nburn = 0\n"
	shared := t.TempDir()
	noisy, other := strings.Replace(study, "0.1", "0.5", 1), strings.Replace(ownCSV, "2,3.5", "2,30.5", 1)
	for _, c := range []struct {
		study, data string
		estimated   bool
	}{{study, ownCSV, true}, {study, ownCSV, false}, {noisy, ownCSV, true}, {noisy, other, true}, {noisy, other, false}} {
		inFolder(t, map[string]string{"mine.toml": c.study, "own.csv": c.data})
		code, _, stderr := call(t, "run", "mine.toml", "--out", filepath.Join(shared, "out"))
		if estimated := strings.Contains(stderr, "the largest stable step of leapfrog on own"); code != exitOK || estimated != c.estimated {
			t.Errorf("exit code %d, stable step estimated: %v, want %v; %s", code, estimated, c.estimated, stderr)
		}
	}
}

// A line for each stable step states all that the step is of.
func TestStableStepsSayWhatTheyAreOf(t *testing.T) {
	inFolder(t, map[string]string{"mine.toml": "[vary]\nintegrator = [\"mt3\", {name = \"mt3\", w2-variance = 2}]\nestimator = [\"plain\", \"cv\"]\ntemperature = [1, 4]\n" +
		"[fix]\ndata = \"toy\"\nK = 2\nscheme = \"replacement\"\nstep = \"stable\"\nsamples = 20\n"})
	code, _, stderr := call(t, "run", "mine.toml", "--dry-run")
	seen := make(map[string]bool)
	for line := range strings.Lines(stderr) {
		what, _, _ := strings.Cut(line, " is about ")
		seen[what] = true
	}
	for _, of := range []string{"replacement", "cv, replacement, T = 4", "w2-variance = 2, cv, replacement, T = 4"} {
		if want := "hambench: the largest stable step of mt3 on toy, C = 5, K = 2, " + of + ","; code != exitOK || !seen[want] || len(seen) != 8 {
			t.Errorf("exit code %d, %s: want 8 lines, one with %q", code, stderr, want)
		}
	}
}

// quickly is the good study with a small network and short reference chains, at
// steps relative to the stable one.
var quickly = strings.NewReplacer(
	`"linear", "own"`, `"own", "linear"`, "[8, \"full\"]", `[4, "full"]`, `step       = "0.01 .. 0.02"`, `step       = "stable/8 .. stable/4"`,
	`[figure]`, "[[grid]]\ndata = \"own\"\nhidden = [2]\n[[grid]]\ndata = \"linear\"\n[reference]\nchains = 2\nsamples = 20\nthin = 5\nburn = 50\n[figure]",
).Replace(good)

// read returns the text of a file.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// stoppedEarly is the exit code of a command that is interrupted when its store has
// a first result.
func stoppedEarly(t *testing.T, args ...string) int {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			files, _ := filepath.Glob("stopped/store/records/*")
			for _, file := range files {
				if info, err := os.Stat(file); err == nil && info.Size() > 0 {
					stop()
				}
			}
		}
	}()
	return run(ctx, io.Discard, io.Discard, args)
}

// The header of a reader's own file is text on the page, and in errors, whatever
// it holds.
func TestAHostileHeaderIsText(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	const target, feature = `=1+1<script>document.title="taken"</script>`, `"><img src=x onerror=alert(1)>`
	quoted := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	named := func(study string) string { return strings.Replace(study, `target = "y"`, "target = '"+target+"'", 1) }
	hostile := strings.Replace(ownCSV, "x,y", quoted(feature)+","+quoted(target), 1)
	inFolder(t, map[string]string{
		"mine.toml": named(quickly), "own.csv": hostile,
		"gap.toml": strings.Replace(named(good), "own.csv", "gap.csv", 1), "gap.csv": strings.Replace(hostile, "2,3.5", ",3.5", 1),
	})
	if code, _, stderr := call(t, "run", "mine.toml", "--out", "out", "--profile", "quick", "--datasets", "own"); code != exitUndecided { // its reference chains are short
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	page := read(t, "out/index.html")
	if !strings.Contains(page, "regression of =1&#43;1&lt;script&gt;document.title=") || strings.Contains(page, "<script>document") || strings.Contains(page, "<img src=x") {
		t.Error("the target's name is no text on the page")
	}
	if code, _, stderr := call(t, "run", "gap.toml", "--dry-run"); code != exitUsage || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "onerror") {
		t.Errorf("exit code %d, %q: want one line that names the column", code, stderr)
	}
}

func TestAStudyIsRunInPartsContinuedMergedAndDrawnAgain(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	inFolder(t, map[string]string{"mine.toml": quickly, "own.csv": ownCSV})
	must := func(want string, args ...string) string {
		t.Helper()
		code, stdout, stderr := call(t, args...)
		short := code == exitUndecided && args[0] == "run" // its reference chains are
		if code != exitOK && !short || !strings.Contains(stdout, want) {
			t.Fatalf("%v: exit code %d, %s%s: want %q", args, code, stdout, stderr, want)
		}
		return stderr
	}
	must("16", "run", "mine.toml", "--dry-run")
	must("The longest chain takes ", "run", "mine.toml", "--dry-run")
	if steps := must("computed", "run", "mine.toml", "--out", "whole", "--datasets", "linear,own", "--workers", "1"); !strings.Contains(steps, "the largest stable step of ubu on own") {
		t.Errorf("%s does not state the stable steps", steps)
	}
	if steps := must("nothing was computed", "run", "mine.toml", "--out", "whole"); strings.Contains(steps, "stable step") {
		t.Errorf("the steps of the first run were estimated again: %s", steps)
	}
	must("nothing was computed", "run", "mine.toml", "--out", "whole")
	for _, name := range []string{"mine.png", "mine.svg", "mine.pdf", "mine.csv", "mine-table.txt", "mine-table.csv", "mine-table.json"} {
		if read(t, "whole/"+name) == "" {
			t.Errorf("%s is empty", name)
		}
	}
	if err := errors.Join(os.Mkdir("stopped", 0o755), os.WriteFile("stopped/index.html", []byte("The run is under way"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if code := stoppedEarly(t, "run", "mine.toml", "--out", "stopped", "--workers", "1"); code == exitOK {
		t.Error("a run that is interrupted at its first result ends well")
	}
	if page := read(t, "stopped/index.html"); strings.Contains(page, "under way") || !strings.Contains(page, "<html") {
		t.Error("the page of a run that was interrupted says that it is under way")
	}
	if end := must("mine", "run", "mine.toml", "--out", "stopped"); strings.Contains(end, "stable step") {
		t.Errorf("the continued run estimated its steps again: %s", end)
	}
	must("", "run", "mine.toml", "--out", "one", "--datasets", "linear")
	must("", "run", "mine.toml", "--out", "two")
	must("", "store", "merge", "--out", "merged", "one", "two")
	must("mine", "run", "mine.toml", "--out", "merged", "--figures-only")
	for _, name := range []string{"mine.csv", "mine-table.txt", "mine-table.csv", "mine-table.json"} {
		for _, out := range []string{"merged", "stopped"} {
			if read(t, out+"/"+name) != read(t, "whole/"+name) {
				t.Errorf("%s of the run %s differs from that of one run", name, out)
			}
		}
	}
	for _, out := range []string{"whole", "merged"} {
		_, rows, _ := call(t, "export", "--out", out, "--profile", "default")
		if err := os.WriteFile(out+".csv", []byte(rows), 0o644); err != nil || !strings.Contains(rows, "mine,own,") {
			t.Fatalf("the export of %s is %s, %v", out, rows, err)
		}
	}
	// Times may differ by anything here; the cells must not.
	if _, stdout, stderr := call(t, "gate", "whole.csv", "merged.csv"); !strings.Contains(stdout, "16 equal") {
		t.Errorf("gate says %s%s: want 16 equal cells", stdout, stderr)
	}
	must("16 of 16 jobs are missing", "slurm", "mine.toml", "--out", "cluster", "--dry-run")
	scripts, err := filepath.Glob("cluster/slurm/*/job.sh")
	if err != nil || len(scripts) != 1 {
		t.Fatalf("scripts %v, %v: want one", scripts, err)
	}
	if script := read(t, scripts[0]); !strings.Contains(script, "mine.toml") {
		t.Errorf("the script runs no study: %s", script)
	}
	must("0 jobs are missing", "run", "mine.toml", "--out", "whole", "--check")
	must("cells: computed 16", "run", "mine.toml", "--out", "seeds", "--repeat", "2", "--seed-from", "7", "--profile", "quick", "--datasets", "linear")
	if _, stdout, _ := call(t, "export", "--out", "seeds", "--profile", "quick", "--repeat", "2", "--seed-from", "7"); !strings.Contains(stdout, ",7,float64") || !strings.Contains(stdout, ",8,float64") {
		t.Errorf("the export does not have the seeds 7 and 8: %s", stdout)
	}
}

// What a reference judges that failed a check of its own has no verdict: the table, the page
// and the exit code say so.
func TestAFailedReferenceBearsNoVerdict(t *testing.T) {
	t.Setenv("HAMBENCH_OFFLINE", "1")
	inFolder(t, map[string]string{"short.toml": `title = "A reference of three short chains"
[vary]
data = ["logistic"]
integrator = ["baoab"]
batch = [25]
step = [0.05]
[fix]
samples = 100
[reference]
chains = 3
samples = 40
thin = 2
burn = 10
`})
	code, stdout, stderr := call(t, "run", "short.toml", "--out", "out")
	if code != exitUndecided || !strings.Contains(stderr, "logistic, split 0 (split-R̂ of outputs") {
		t.Fatalf("exit code %d, %s: want 3, and the reference with its check", code, stderr)
	}
	if !strings.Contains(stdout, "| –     |") || !strings.Contains(stdout, "No verdict is by distances to references that failed") {
		t.Errorf("the table has a verdict, or no note: %s", stdout)
	}
	if page := read(t, "out/index.html"); !strings.Contains(page, "References with checks that failed (1)") {
		t.Error("the page does not list the reference")
	}
	for _, flag := range []string{"--dry-run", "--check"} {
		if code, _, stderr := call(t, "run", "short.toml", "--out", "out", flag); code != exitOK {
			t.Errorf("%s: exit code %d, %s", flag, code, stderr)
		}
	}
}

// Jobs that are missing are told apart, whatever they differ in.
func TestMissingJobsHaveNamesOfTheirOwn(t *testing.T) {
	inFolder(t, map[string]string{"tiny.toml": tiny})
	_, stdout, stderr := call(t, "run", "tiny.toml", "--out", "out", "--check", "--repeat", "2")
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	slices.Sort(lines)
	if n := len(slices.Compact(lines)); n != 9 {
		t.Errorf("%d lines that differ, %s%s: want one for each of 8 jobs, and their number", n, stdout, stderr)
	}
}

// A PDF whose fonts cannot be prepared, for want of a temporary folder, is one line and exit code 1:
// results are kept, and the study's other files, its table and the page are written.
func TestAPDFWithoutATemporaryFolderIsOneLine(t *testing.T) {
	driver := driverIn(t, t.TempDir()) // fonts are prepared once a process
	inFolder(t, map[string]string{"tiny.toml": tiny})
	c := exec.Command(driver, "run", "tiny.toml", "--out", "out")
	c.Env = append(os.Environ(), "HAMBENCH_OFFLINE=1", "TMPDIR="+filepath.Join(t.TempDir(), "nowhere"))
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	c.Run()
	const want = "hambench: tiny: figures: tiny.pdf: could not generate font data for PDF: "
	_, said, _ := strings.Cut(stderr.String(), "\n") // behind the line of the kernels
	if code := c.ProcessState.ExitCode(); code != exitFailed || !strings.HasPrefix(said, want) || strings.Count(said, "\n") != 1 {
		t.Errorf("exit code %d, %s: want one line with %q", code, &stderr, want)
	}
	for _, name := range []string{"tiny.svg", "tiny-table.json", "index.html"} {
		if _, err := os.Stat(filepath.Join("out", name)); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(stdout.String(), "| toy") {
		t.Errorf("no table is printed: %s", &stdout)
	}
}

// tiny is a study of four short chains.
const tiny = `id = "tiny"
title = "T"
[vary]
data = ["toy"]
integrator = ["leapfrog", "baoab"]
step = [0.1, 0.2]
[fix]
friction = 2
samples = 20
[figure]
x = "step"
lines = "integrator"
y = "distance"
`
