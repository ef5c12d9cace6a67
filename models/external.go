package models

import (
	"cmp"
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"gonum.org/v1/gonum/floats"

	"hambench/internal/child"
	"hambench/internal/distinct"
	"hambench/internal/fingerprint"
	"hambench/internal/input"
	"hambench/models/datasets"
	"hambench/usage"
)

// Processes holds the processes of a Source's external models, exec:CMD: for each
// command as many as it had calls in progress at one time, since a process keeps no
// state of a chain and any of them can answer for any. The protocol is in
// docs/samplers.md.
type Processes struct {
	// Dir is where commands run; "" means the current folder.
	Dir string
	// Timeout bounds the wait for each answer; 0 means a minute.
	Timeout time.Duration

	mu sync.Mutex
	// all are the processes that were started, idle those without a call in progress,
	// by command.
	all  []*child.Child
	idle map[string][]*server
	// failed is the error of the first call that failed; every later one returns it.
	failed error
}

// server is a process, the split that it was last given, and its answer to that.
type server struct {
	*child.Child
	split *datasets.Split
	hello modelGreeting
}

// modelGreeting is a model's answer to hello.
type modelGreeting struct {
	child.Greeting
	// Dim and Rows are the numbers of parameters and of training rows.
	Dim  int `json:"dim"`
	Rows int `json:"rows"`
	// Outputs is the number of predictive values; with 0 the parameters stand for them.
	Outputs int `json:"outputs"`
	// Hessian says that the model answers for Hessian-vector products.
	Hessian bool `json:"hessian"`
	// Files names the files that the numbers depend on, the command's own words apart.
	Files []string `json:"files"`
}

// The largest sizes of a model. A vector of mostNumbers is as long as an answer can be, a line of
// at most 256 MB, and an order of mostRows takes less than a gigabyte: a wrong answer to hello
// cannot ask for all memory.
const (
	mostNumbers = 10_000_000
	mostRows    = 100_000_000
)

// check returns a usage error for impossible sizes, and for another number of rows
// than the split has.
func (g modelGreeting) check(s *datasets.Split) error {
	switch {
	case g.Dim < 1 || g.Dim > mostNumbers:
		return usage.Errorf("answer to hello: dim %d: want 1 to %d parameters", g.Dim, mostNumbers)
	case g.Rows < 1 || g.Rows > mostRows:
		return usage.Errorf("answer to hello: rows %d: want 1 to %d", g.Rows, mostRows)
	case g.Outputs < 0 || g.Outputs > mostNumbers:
		return usage.Errorf("answer to hello: outputs %d: want 0 to %d predictive values",
			g.Outputs, mostNumbers)
	case s.TrainRows() > 0 && g.Rows != s.TrainRows():
		return usage.Errorf("answer to hello: %d rows: data set %q has %d for training; "+
			"a model with data of its own is for data set %q",
			g.Rows, s.Name, s.TrainRows(), datasets.None)
	}
	return g.Check()
}

// modelHello is the first question to a model. Data is null if the split has no rows:
// the model then has data of its own.
type modelHello struct {
	child.Hello
	Data *wireData `json:"data"`
}

// wireData is a split as the protocol writes it, standardised.
type wireData struct {
	Name          string      `json:"name"`
	Split         int         `json:"split"`
	Task          string      `json:"task"`
	Classes       int         `json:"classes,omitempty"`
	NoiseVariance float64     `json:"noise_variance,omitempty"`
	TrainX        [][]float64 `json:"train_x"`
	TrainY        any         `json:"train_y"` // numbers, or classes from 0 on
	TestX         [][]float64 `json:"test_x"`
}

// wire returns a split for the question hello; nil for a split without rows.
func wire(s *datasets.Split) *wireData {
	if s.TrainRows() == 0 {
		return nil
	}
	rows := func(x []float64, n int) [][]float64 {
		out := make([][]float64, n)
		for i := range out {
			out[i] = x[i*s.Features : (i+1)*s.Features]
		}
		return out
	}
	d := &wireData{
		Name: s.Name, Split: s.Index, Task: s.Task.String(), Classes: s.Classes,
		NoiseVariance: s.NoiseVariance,
		TrainX:        rows(s.TrainX, s.TrainRows()), TrainY: s.TrainY,
		TestX: rows(s.TestX, s.TestRows()),
	}
	if s.Task == datasets.Classification {
		d.TrainY = s.TrainLabels
	}
	return d
}

// take returns a process of a command: an idle one that was given the split, else any
// idle one, else a new one.
func (p *Processes) take(command string, split *datasets.Split) (*server, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed != nil {
		return nil, p.failed
	}
	if idle := p.idle[command]; len(idle) > 0 {
		at := max(0, slices.IndexFunc(idle, func(s *server) bool { return s.split == split }))
		s := idle[at]
		p.idle[command] = slices.Delete(idle, at, at+1)
		return s, nil
	}
	c, err := child.Start(command, p.Dir, cmp.Or(p.Timeout, time.Minute))
	if err != nil {
		return nil, err
	}
	p.all = append(p.all, c)
	return &server{Child: c}, nil
}

// greet gives a process the data of a split and checks its answer.
func (s *server) greet(ctx context.Context, split *datasets.Split) error {
	s.split, s.hello = split, modelGreeting{}
	if err := s.Ask(ctx, "hello", modelHello{child.Greet(), wire(split)}, &s.hello); err != nil {
		return err
	}
	return s.hello.check(split)
}

// with calls ask with a process that has the data of a split. The methods of a Target
// return no error, so with panics with a child.Failure, which the loops of package
// chain recover. Unless ctx ended the call, its error is that of all later calls: the
// command would fail again.
func (p *Processes) with(ctx context.Context, command string, split *datasets.Split,
	ask func(*server) error) {
	// Splits are compared by their addresses: a Source makes each once.
	s, err := p.take(command, split)
	if err == nil && s.split != split {
		err = s.greet(ctx, split)
	}
	if err == nil {
		err = ask(s)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil { // the process does not become idle again, and is stopped with the others
		if ctx.Err() == nil {
			p.failed = err
		}
		panic(&child.Failure{Err: err})
	}
	if p.idle == nil {
		p.idle = make(map[string][]*server)
	}
	p.idle[command] = append(p.idle[command], s)
}

// stop ends all processes, with what they started.
func (p *Processes) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.all {
		c.Stop()
	}
	p.all, p.idle = nil, nil
}

// external is a target whose numbers another process computes.
type external struct {
	Options
	command string
	split   *datasets.Split
	hello   modelGreeting
	order   []int // of the rows; nil: as they were given
}

// externalHessian is an external target with Hessian-vector products.
type externalHessian struct{ *external }

// newExternal returns the New of the model exec:CMD: it starts the command, and
// refuses a model whose gradients are not those of its potential.
func newExternal(command string) func(*datasets.Split, Options) (Target, error) {
	return func(s *datasets.Split, o Options) (_ Target, err error) {
		switch {
		case command == "":
			return nil, usage.Errorf("model exec without a command: want exec:CMD, " +
				"as in exec:python3 model.py")
		case o.processes == nil:
			return nil, usage.Errorf(
				"model exec:%s is not made by a Source, which keeps its processes", command)
		}
		defer child.Catch(&err)
		t := &external{Options: o, command: command, split: s}
		o.processes.with(o.ctx, command, s, func(c *server) error {
			t.hello = c.hello
			return nil
		})
		if err := checkGradient(t); err != nil {
			return nil, usage.Errorf("%s: %w", t.Name(), err)
		}
		if t.hello.Hessian {
			return externalHessian{t}, nil
		}
		return t, nil
	}
}

func (t *external) Name() string { return t.hello.Name }
func (t *external) Dim() int     { return t.hello.Dim }
func (t *external) Rows() int    { return t.hello.Rows }

// Outputs is the number that the model stated, or Dim if it has no predictions.
func (t *external) Outputs() int {
	if t.hello.Outputs == 0 {
		return t.hello.Dim
	}
	return t.hello.Outputs
}

// Arrange keeps the order: questions name rows by their numbers as given, so that every
// process of the command can answer them.
func (t *external) Arrange(order []int) { t.order = slices.Clone(order) }

// DrawPrior leaves the normals as they are: chains start there, and nothing else asks
// for the prior.
func (t *external) DrawPrior([]float64) {}

// Potential asks for U(θ) over all rows.
func (t *external) Potential(theta []float64) float64 {
	u := make([]float64, 1)
	t.ask(u, modelQuestion{Op: "potential", Rows: []int{0, t.Rows()}, Scale: 1}, theta)
	return u[0]
}

// Gradient asks for Scale × the rows' part plus the prior's.
func (t *external) Gradient(g, theta []float64, rows Rows) {
	t.ask(g, t.over(rows, "gradient"), theta)
}

// HessianVector asks for the product of what Gradient asks for.
func (t externalHessian) HessianVector(hv, theta, v []float64, rows Rows) {
	q := t.over(rows, "product")
	q.Vectors = [][]float64{v}
	t.ask(hv, q, theta)
}

// Predict stores the model's predictions, or theta if it has none.
func (t *external) Predict(dst, theta []float64) {
	if t.hello.Outputs == 0 {
		copy(dst, theta)
		return
	}
	t.ask(dst, modelQuestion{Op: "predict"}, theta)
}

// Scores implements Scorer. It returns nil if the outputs are not one for each test row
// (and class, of more than two).
func (t *external) Scores(draws [][]float64) map[string]float64 {
	each := 1
	if t.split.Classes > 2 {
		each = t.split.Classes
	}
	if t.hello.Outputs != each*t.split.TestRows() {
		return nil
	}
	return Score(t.split, draws)
}

// modelQuestion asks for numbers at positions. The protocol allows several; the program
// asks for one at a time.
type modelQuestion struct {
	// Op is potential, gradient, product (of the Hessian and a vector) or predict.
	Op string `json:"op"`
	// Thetas has one position of Dim numbers, Vectors as many of a product.
	Thetas  [][]float64 `json:"thetas"`
	Vectors [][]float64 `json:"vectors,omitempty"`
	// Rows are the first row and one past the last; Index has their numbers instead, if
	// they are arranged in another order. Scale is that of type Rows.
	Rows  []int   `json:"rows,omitempty"`
	Index []int   `json:"index,omitempty"`
	Scale float64 `json:"scale,omitempty"`
}

// over returns a question about rows of the current arrangement.
func (t *external) over(r Rows, op string) modelQuestion {
	if t.order != nil {
		return modelQuestion{Op: op, Index: t.order[r.Lo:r.Hi], Scale: r.Scale}
	}
	return modelQuestion{Op: op, Rows: []int{r.Lo, r.Hi}, Scale: r.Scale}
}

// ask stores the answer to a question at one position in dst. Where theta or a vector
// of the question is not finite, as after a chain diverged, JSON could not carry it:
// dst becomes NaN, and the process is not asked.
func (t *external) ask(dst []float64, q modelQuestion, theta []float64) {
	for _, x := range slices.Concat(append(q.Vectors, theta)...) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			floats.AddConst(math.NaN(), dst)
			return
		}
	}
	q.Thetas = [][]float64{theta}
	t.processes.with(t.ctx, t.command, t.split, func(s *server) error {
		var answer struct {
			Values []child.Vector `json:"values"`
		}
		if err := s.Ask(t.ctx, q.Op, q, &answer); err != nil {
			return err
		}
		if len(answer.Values) != 1 || len(answer.Values[0]) != len(dst) {
			return usage.Errorf(
				"%s: the answer to %s has %d vectors, of %d numbers together: want 1 of %d",
				t.Name(), q.Op, len(answer.Values), len(slices.Concat(answer.Values...)), len(dst))
		}
		copy(dst, answer.Values[0])
		return nil
	})
}

// sources returns a digest of the files that the model's numbers depend on: those that
// words of the command name, quoted ones too, and those that its answer to hello lists. A listed
// file that cannot be read, or is no regular one, is a usage error.
func (t *external) sources() (string, error) {
	var all []byte
	// A word that names no readable file, such as an option, adds nothing.
	words := strings.Fields(t.command)
	for _, word := range unquoted(t.command) {
		words = distinct.Append(words, word)
	}
	for i, name := range append(words, t.hello.Files...) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(t.processes.Dir, name)
		}
		text, err := input.ReadRegular(name)
		if err != nil && i >= len(words) { // a word of the command may name no file
			return "", usage.Errorf("%s: answer to hello: files: %w", t.Name(), err)
		}
		all = append(all, text...)
	}
	return fingerprint.Bytes(all), nil
}

// unquoted returns the words of a command, as a shell cuts them, and those within them, which a
// shell that is called may run; none of a command without quotes and backslashes.
func unquoted(command string) (words []string) {
	if !strings.ContainsAny(command, "'\"\\") {
		return nil
	}
	var word strings.Builder
	var quote rune // that is open
	escaped := false
	for _, c := range command + " " {
		switch {
		case escaped:
			escaped = false
			word.WriteRune(c)
		case c == '\\' && quote != '\'':
			escaped = true
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && unicode.IsSpace(c):
			if word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
		default:
			word.WriteRune(c)
		}
	}
	for _, w := range words {
		words = append(words, strings.Fields(w)...)
		words = append(words, unquoted(w)...)
	}
	return words
}
