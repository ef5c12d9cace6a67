package models

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gonum.org/v1/gonum/floats"

	"hambench/internal/child"
	"hambench/models/datasets"
	"hambench/usage"
)

// Processes are those of a Source's models in other languages, exec:CMD: for each
// command as many as it had calls under way at one time. Their protocol is in
// docs/samplers.md.
type Processes struct {
	Dir     string        // where commands run; default: the current folder
	Timeout time.Duration // for each answer; default: a minute

	mu     sync.Mutex
	all    []*child.Child
	idle   map[string][]*server // by command
	failed error
}

// server is a process with what it was told last.
type server struct {
	*child.Child
	split *datasets.Split
	hello modelGreeting
}

// modelGreeting is how a model introduces itself.
type modelGreeting struct {
	child.Greeting
	Dim     int      `json:"dim"`
	Rows    int      `json:"rows"`
	Outputs int      `json:"outputs"` // predictive values; 0: the parameters stand for them
	Hessian bool     `json:"hessian"` // there are Hessian-vector products
	Files   []string `json:"files"`   // that its numbers depend on, beside those in the command
}

func (g modelGreeting) check(s *datasets.Split) error {
	switch {
	case g.Dim < 1 || g.Rows < 1 || g.Outputs < 0:
		return usage.Errorf("answer to hello: dim %d, rows %d, outputs %d: want at least 1, 1 and 0", g.Dim, g.Rows, g.Outputs)
	case s.TrainRows() > 0 && g.Rows != s.TrainRows():
		return usage.Errorf("answer to hello: %d rows: data set %q has %d for training; a model with data of its own is for data set %q", g.Rows, s.Name, s.TrainRows(), datasets.None)
	}
	return g.Check()
}

// modelHello is the question that models are asked first: with the data, unless
// they have their own.
type modelHello struct {
	child.Hello
	Data *wireData `json:"data"`
}

// wireData is a split in the protocol.
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
		Name: s.Name, Split: s.Index, Task: s.Task.String(), Classes: s.Classes, NoiseVariance: s.NoiseVariance,
		TrainX: rows(s.TrainX, s.TrainRows()), TrainY: s.TrainY, TestX: rows(s.TestX, s.TestRows()),
	}
	if s.Task == datasets.Classification {
		d.TrainY = s.TrainLabels
	}
	return d
}

// take returns a process of a command: an idle one, best one that has the data of
// a split, or a new one.
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

// greet tells a process of a split's data.
func (s *server) greet(ctx context.Context, split *datasets.Split) error {
	s.split, s.hello = split, modelGreeting{}
	if err := s.Ask(ctx, "hello", modelHello{child.Greet(), wire(split)}, &s.hello); err != nil {
		return err
	}
	return s.hello.check(split)
}

// with has a process that has the data of a split answer. Its error is that of
// all later calls: one that failed would fail again.
func (p *Processes) with(ctx context.Context, command string, split *datasets.Split, ask func(*server) error) {
	s, err := p.take(command, split)
	if err == nil && s.split != split {
		err = s.greet(ctx, split)
	}
	if err == nil {
		err = ask(s)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
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

// elsewhere is a target in another process.
type elsewhere struct {
	Options
	command string
	split   *datasets.Split
	hello   modelGreeting
	order   []int // of the rows; nil: as they were given
}

// differentiable is one with Hessian-vector products.
type differentiable struct{ *elsewhere }

// newElsewhere makes the targets of exec:CMD.
func newElsewhere(command string) func(*datasets.Split, Options) (Target, error) {
	return func(s *datasets.Split, o Options) (_ Target, err error) {
		switch {
		case command == "":
			return nil, usage.Errorf("model exec without a command: want exec:CMD, as in exec:python3 model.py")
		case o.processes == nil:
			return nil, usage.Errorf("model exec:%s is not made by a Source, which keeps its processes", command)
		}
		defer child.Catch(&err)
		t := &elsewhere{Options: o, command: command, split: s}
		o.processes.with(o.ctx, command, s, func(c *server) error { t.hello = c.hello; return nil })
		if err := t.check(); err != nil {
			return nil, usage.Errorf("%s: %w", t.Name(), err)
		}
		if t.hello.Hessian {
			return differentiable{t}, nil
		}
		return t, nil
	}
}

func (t *elsewhere) Name() string { return t.hello.Name }
func (t *elsewhere) Dim() int     { return t.hello.Dim }
func (t *elsewhere) Rows() int    { return t.hello.Rows }

func (t *elsewhere) Outputs() int {
	if t.hello.Outputs == 0 {
		return t.hello.Dim
	}
	return t.hello.Outputs
}

func (t *elsewhere) Arrange(order []int) { t.order = slices.Clone(order) }

// DrawPrior takes the normals as they are: chains start there, and nothing else
// asks for the prior.
func (t *elsewhere) DrawPrior([]float64) {}

func (t *elsewhere) Potential(theta []float64) float64 {
	u := make([]float64, 1)
	t.ask(u, modelQuestion{Op: "potential", Rows: []int{0, t.Rows()}, Scale: 1}, theta)
	return u[0]
}

func (t *elsewhere) Gradient(g, theta []float64, rows Rows) {
	t.ask(g, t.over(rows, "gradient"), theta)
}

func (t differentiable) HessianVector(hv, theta, v []float64, rows Rows) {
	q := t.over(rows, "product")
	q.Vectors = [][]float64{v}
	t.ask(hv, q, theta)
}

func (t *elsewhere) Predict(dst, theta []float64) {
	if t.hello.Outputs == 0 {
		copy(dst, theta)
		return
	}
	t.ask(dst, modelQuestion{Op: "predict"}, theta)
}

// Scores implements Scorer, where the outputs are predictions of the test rows.
func (t *elsewhere) Scores(draws [][]float64) map[string]float64 {
	each := 1
	if t.split.Classes > 2 {
		each = t.split.Classes
	}
	if t.hello.Outputs != each*t.split.TestRows() {
		return nil
	}
	return Score(t.split, draws)
}

// modelQuestion is the call for numbers at positions.
type modelQuestion struct {
	Op      string      `json:"op"`
	Thetas  [][]float64 `json:"thetas"`
	Vectors [][]float64 `json:"vectors,omitempty"`
	Rows    []int       `json:"rows,omitempty"`  // from, to
	Index   []int       `json:"index,omitempty"` // in place of rows: their numbers
	Scale   float64     `json:"scale,omitempty"`
}

// over is a question about rows.
func (t *elsewhere) over(r Rows, op string) modelQuestion {
	if t.order != nil {
		return modelQuestion{Op: op, Index: t.order[r.Lo:r.Hi], Scale: r.Scale}
	}
	return modelQuestion{Op: op, Rows: []int{r.Lo, r.Hi}, Scale: r.Scale}
}

// ask stores the answer to a question at one position: NaN where that is not
// finite, as after a chain diverged.
func (t *elsewhere) ask(dst []float64, q modelQuestion, theta []float64) {
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
			return usage.Errorf("%s: the answer to %s has %d vectors, of %d numbers together: want 1 of %d", t.Name(), q.Op, len(answer.Values), len(slices.Concat(answer.Values...)), len(dst))
		}
		copy(dst, answer.Values[0])
		return nil
	})
}

// checkTolerance bounds relative defects of gradients: a wrong term is larger,
// and differences of a potential in float64 are closer.
const checkTolerance = 1e-3

// check refuses gradients that are not those of the potential, and rows that do
// not add up to all data: numbers that no chain would betray.
func (t *elsewhere) check() error {
	const e = 1e-4 // of a central difference
	n, draw := t.Rows(), newPoints(9)
	theta, v, at := draw.point(t.Dim()), draw.point(t.Dim()), make([]float64, t.Dim())
	g, half := make([]float64, t.Dim()), make([]float64, t.Dim())
	t.Gradient(g, theta, Rows{Lo: 0, Hi: n, Scale: 1})
	up := t.Potential(floats.AddScaledTo(at, theta, e, v))
	down := t.Potential(floats.AddScaledTo(at, theta, -e, v))
	slope, size := floats.Dot(g, v), floats.Norm(g, 2)
	if math.IsNaN(up + down + slope) {
		return usage.Errorf("potential or gradient is not finite at a random position near 0: want finite ones at all positions")
	}
	if want := (up - down) / (2 * e); !(math.Abs(slope-want) <= checkTolerance*(size+math.Abs(up)*1e-8)) {
		return usage.Errorf("gradient is not that of the potential: along one direction it is %.4g, and by differences of the potential (rows 0 to %d, scale 1) %.4g", slope, n, want)
	}
	for _, r := range []Rows{{0, n / 2, 2}, {n / 2, n, 2}} {
		t.Gradient(half, theta, r)
		floats.AddScaled(g, -0.5, half)
	}
	if off := floats.Norm(g, 2); n > 1 && !(off <= checkTolerance*size) {
		return usage.Errorf("gradients of the two halves of the rows, each with scale 2, have another mean than that of all %d rows: off by %.2g (relative): want scale times the rows' part, plus the prior's", n, off/size)
	}
	return nil
}

// sources digests the files that the model's numbers depend on: those that words
// of the command name, and those of its greeting.
func (t *elsewhere) sources() (string, error) {
	h := sha256.New()
	words := strings.Fields(t.command)
	for i, name := range append(words, t.hello.Files...) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(t.processes.Dir, name)
		}
		text, err := os.ReadFile(name)
		if err != nil && i >= len(words) { // other words may name no file
			return "", usage.Errorf("%s: answer to hello: files: %w", t.Name(), err)
		}
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
