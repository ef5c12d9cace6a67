//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"hambench/chain"
	"hambench/integrators"
	"hambench/internal/kernel"
	"hambench/models"
	"hambench/test/peak"
)

// server answers requests for numbers about this program's own step, one a
// line, as the peers' workers do:
//
//	check B  largest relative error of a layer's gradient
//	heat B   mean squared momentum of a chain
//	time B   microseconds per step, the best of some series
//	peak     multiply-adds in registers, GFLOP/s
type server struct {
	problem   *problem
	precision string
	cases     map[int]*ours // by batch size
	clock     func() time.Duration
}

// ours is the product's chain on batches of one size.
type ours struct {
	batches
	target  models.Target
	sampler *chain.Sampler
	state   *integrators.State
	steps   int // of a series
}

func newServer(p *problem, precision string) (*server, error) {
	clock, err := namedClock(os.Getenv("PEERS_CLOCK"))
	if err != nil {
		return nil, err
	}
	s := &server{problem: p, precision: precision, cases: make(map[int]*ours), clock: clock}
	for _, b := range p.Cases {
		t, err := p.target(b.Size*b.Count, precision)
		if err != nil {
			return nil, err
		}
		c, err := newSampler(t, b.Count, p.Step)
		if err != nil {
			return nil, err
		}
		z := integrators.NewState(t.Dim())
		copy(z.Theta, p.Theta)
		s.cases[b.Size] = &ours{batches: b, target: t, sampler: c, state: z, steps: 1}
	}
	return s, nil
}

// serve answers until the requests end.
func (s *server) serve(requests io.Reader, answers io.Writer) error {
	lines := bufio.NewScanner(requests)
	for lines.Scan() {
		v, err := s.answer(lines.Text())
		if err != nil {
			return err
		}
		fmt.Fprintln(answers, v)
	}
	return lines.Err()
}

func (s *server) answer(request string) (float64, error) {
	if request == "peak" {
		return s.peak(), nil
	}
	var what string
	var size int
	if _, err := fmt.Sscan(request, &what, &size); err != nil {
		return 0, fmt.Errorf("request %q: want check, heat or time with a batch size, or peak", request)
	}
	c, ok := s.cases[size]
	if !ok {
		return 0, fmt.Errorf("request %q: want a batch size of the problem", request)
	}
	switch what {
	case "check":
		return c.disagreement(s.problem), nil
	case "heat":
		return c.heat()
	case "time":
		return s.time(c)
	}
	return 0, fmt.Errorf("request %q: want check, heat, time or peak", request)
}

func (s *server) peak() float64 {
	if s.precision == "float32" {
		return 2 * peak.Of[float32](kernel.Default())
	}
	return 2 * peak.Of[float64](kernel.Default())
}

// disagreement is the largest relative error of the gradient of a layer's
// weights or biases: over all of them, a wrong bias would go under.
func (c *ours) disagreement(p *problem) float64 {
	g := make([]float64, len(p.Theta))
	c.target.Gradient(g, p.Theta, models.Rows{Lo: 0, Hi: c.Size, Scale: float64(c.Count)})
	worst, at := 0.0, 0
	for l, in := range p.Widths[:len(p.Widths)-1] {
		for _, n := range []int{in * p.Widths[l+1], p.Widths[l+1]} {
			worst = max(worst, distance(g[at:at+n], c.Gradient[at:at+n]))
			at += n
		}
	}
	return worst
}

// distance is |x − y| / |y|.
func distance(x, y []float64) float64 {
	var d, n float64
	for i := range y {
		d += (x[i] - y[i]) * (x[i] - y[i])
		n += y[i] * y[i]
	}
	return math.Sqrt(d / n)
}

// heatSteps are ten relaxation times of the momentum, 1/(Ch) = 40 steps.
const heatSteps = 400

// heat is 1 in equilibrium, whatever the momentum was at first: a chain that
// forgets friction or noise shows it.
func (c *ours) heat() (float64, error) {
	if err := c.run(heatSteps); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, r := range c.state.R {
		sum += r * r
	}
	return sum / float64(len(c.state.R)), nil
}

func (c *ours) run(steps int) error {
	return c.sampler.Run(context.Background(), c.state, chain.Plan{Samples: 1, Thin: steps}, func(int, *integrators.State) error { return nil })
}

// A series is long against the clock's resolution and short against the
// machine's disturbances.
const (
	series      = 5
	seriesLimit = 20 * time.Millisecond
)

// time returns the microseconds per step of the fastest series.
func (s *server) time(c *ours) (float64, error) {
	best := math.Inf(1)
	for i := 0; i < series; i++ {
		start := s.clock()
		if err := c.run(c.steps); err != nil {
			return 0, err
		}
		took := s.clock() - start
		if took < seriesLimit/2 {
			c.steps, i, best = 2*c.steps, -1, math.Inf(1)
			continue
		}
		best = min(best, took.Seconds()*1e6/float64(c.steps))
	}
	return best, nil
}

// namedClock returns the wall clock, or the processor time of this process,
// which other programs on a busy machine disturb less.
func namedClock(name string) (func() time.Duration, error) {
	switch name {
	case "", "wall":
		start := time.Now()
		return func() time.Duration { return time.Since(start) }, nil
	case "processor":
		return func() time.Duration {
			var t unix.Timespec
			if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
				panic("peers: " + err.Error()) // Linux has this clock
			}
			return time.Duration(t.Nano())
		}, nil
	}
	return nil, fmt.Errorf("PEERS_CLOCK=%s: want wall or processor", name)
}
