//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"
)

// kill kills runs on one store at random moments, spread over the sweep's
// life, and lets the last one finish. After each kill every record that was
// ever there must still be there, and right.
func (l *lab) kill() (verdict, error) {
	k := &killer{lab: l, out: l.folder("kill"), rng: rand.New(rand.NewPCG(l.seed, 1)), fell: make(map[string]int)}
	k.startUp = l.call(l.small, "-plan", "-out", l.wholeOut).took
	reference, drawing := l.kills/5, l.kills/5
	cells := l.kills - reference - drawing
	var sum damage
	for i := range reference + cells {
		// Strata: each part of the reference and of the cells gets its share of
		// the kills, the reference more than its few files would have.
		from, to, part := 0, partsOfReference, (float64(i)+k.rng.Float64())/float64(reference)
		while := 300 * time.Millisecond // into the next chain
		if i >= reference {
			from, to, part = partsOfReference, l.all(), (float64(i-reference)+k.rng.Float64())/float64(cells)
			while = 40 * time.Millisecond
		}
		d, err := k.strike(from+int(float64(to-from)*part), func() time.Duration { return while })
		if err != nil {
			return verdict{done: k.String()}, fmt.Errorf("kill %d: %w", i, err)
		}
		sum.add(d)
	}
	if err := l.finishCells(k.out); err != nil {
		return verdict{done: k.String()}, err
	}
	k.drawing = l.call(l.small, "-draw", "-out", l.wholeOut).took
	for i := range drawing {
		d, err := k.strike(0, func() time.Duration { return k.drawing })
		if err != nil {
			return verdict{done: k.String()}, fmt.Errorf("kill %d at the figures: %w", i, err)
		}
		sum.add(d)
	}
	v := verdict{done: k.String(), before: len(k.last.records)}
	if err := l.finish(k.out); err != nil {
		return v, fmt.Errorf("the run after the kills: %w", err)
	}
	c, d, err := l.compare(k.out)
	sum.add(d)
	v.after, v.damage = len(c.records), sum
	v.done += fmt.Sprintf(", %d torn lines, %d temporary files left", len(c.torn), c.leftover)
	return v, err
}

// finishCells lets a run write the cells that are left, and kills it at the
// last.
func (l *lab) finishCells(out string) error {
	p, err := l.sweepInto(nil, out)
	if err != nil {
		return err
	}
	g := newGauge(out)
	if !p.until(func() bool { return g.progress() >= l.all() }) {
		return p.wait().good()
	}
	p.kill()
	return nil
}

type killer struct {
	*lab
	out     string
	rng     *rand.Rand
	fell    map[string]int // kills by what the run was doing
	last    contents
	startUp time.Duration // until a run knows what is missing
	// drawing is how long a run takes that has nothing to do but draw.
	drawing time.Duration
}

func (k *killer) String() string {
	n := 0
	for _, m := range k.fell {
		n += m
	}
	return fmt.Sprintf("kill -9 at %d random moments (%d at start-up, %d in the reference, %d among the cells, %d at the figures), then continued",
		n, k.fell["start"], k.fell["reference"], k.fell["cells"], k.fell["figures"])
}

// strike runs the sweep until it has written as much as target says, waits up
// to a while, and kills it. A run that is over before is none.
func (k *killer) strike(target int, while func() time.Duration) (damage, error) {
	for range 50 {
		g := newGauge(k.out)
		start := g.progress()
		p, err := k.sweepInto(nil, k.out)
		if err != nil {
			return damage{}, err
		}
		p.until(func() bool { return g.progress() >= target })
		p.running(time.Duration(k.rng.Int64N(int64(while()))))
		e := p.kill()
		if e.signal != syscall.SIGKILL {
			if err := e.good(); err != nil {
				return damage{}, err
			}
			k.drawing = e.took
			continue
		}
		k.note(start, g.progress(), e.took)
		now, err := read(k.out)
		if err != nil {
			return damage{}, err
		}
		d := within(k.whole, now)
		d.add(missing(k.last, now))
		k.last = now
		return d, nil
	}
	return damage{}, errEarly
}

// note counts a kill by what the run was doing.
func (k *killer) note(start, end int, after time.Duration) {
	switch {
	case end == start && after < k.startUp:
		k.fell["start"]++
	case start >= k.all():
		k.fell["figures"]++
	case end < partsOfReference:
		k.fell["reference"]++
	default:
		k.fell["cells"]++
	}
}
