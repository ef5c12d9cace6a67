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
	drawing := l.kills / 5
	all := l.all()
	var sum damage
	for i := range l.kills {
		// Strata: each part of the sweep gets its share of the kills.
		moment := func() int { return int(float64(all) * (float64(i) + k.rng.Float64()) / float64(l.kills-drawing)) }
		if i >= l.kills-drawing {
			moment = func() int { return all }
		}
		d, err := k.strike(moment)
		if err != nil {
			return verdict{done: k.String()}, fmt.Errorf("kill %d: %w", i, err)
		}
		sum.add(d)
	}
	v := verdict{done: k.String(), before: len(k.last.records)}
	if err := l.finish(l.small, k.out); err != nil {
		return v, fmt.Errorf("the run after the kills: %w", err)
	}
	c, d, err := l.compare(k.out)
	sum.add(d)
	v.after, v.damage = len(c.records), sum
	v.done += fmt.Sprintf(", %d torn lines, %d temporary files left", len(c.torn), c.leftover)
	return v, err
}

type killer struct {
	*lab
	out  string
	rng  *rand.Rand
	fell map[string]int // kills by what the run was doing
	last contents
}

func (k *killer) String() string {
	n := 0
	for _, m := range k.fell {
		n += m
	}
	return fmt.Sprintf("kill -9 at %d random moments (%d at start-up, %d in the oracle, %d among the cells, %d at the figures), then continued",
		n, k.fell["start"], k.fell["oracle"], k.fell["cells"], k.fell["figures"])
}

// strike runs the sweep until it has written as much as moment says, waits a
// random while, and kills it. A run that is over before is none.
func (k *killer) strike(moment func() int) (damage, error) {
	for range 50 {
		before := newGauge(k.out)
		start, figures := before.progress(), before.figures()
		target := moment()
		p, err := k.sweepInto(nil, k.small, k.out)
		if err != nil {
			return damage{}, err
		}
		g := newGauge(k.out)
		if target >= k.all() { // while figures are drawn
			want := figures + k.rng.IntN(2)
			p.until(func() bool { return g.progress() >= target && (g.figures() >= want || k.rng.IntN(100) == 0) })
		} else {
			p.until(func() bool { return g.progress() >= target })
		}
		p.running(time.Duration(k.rng.Int64N(int64(40 * time.Millisecond))))
		p.send(syscall.SIGKILL)
		if e := p.wait(); e.signal != syscall.SIGKILL {
			if err := e.good(); err != nil {
				return damage{}, err
			}
			continue
		}
		k.note(start, g.progress())
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

// note counts a kill by what the run had done: nothing, or what comes next.
func (k *killer) note(start, end int) {
	switch {
	case end >= k.all():
		k.fell["figures"]++
	case end == start:
		k.fell["start"]++
	case end < partsOfOracle:
		k.fell["oracle"]++
	default:
		k.fell["cells"]++
	}
}
