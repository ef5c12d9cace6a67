//go:build linux

package main

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// The exit codes of runs that a signal ended in good order: the sweep's, and
// hambench's at SIGTERM.
const (
	interrupted = 130
	terminated  = 143
)

// signals ends runs by SIGTERM, in the reference, among the cells and at
// the figures, and by SIGINT twice.
func (l *lab) signals() (verdict, error) {
	out := l.folder("signals")
	v := verdict{done: "SIGTERM in the reference, among the cells and at the figures: exit code 143, says how to continue"}
	g := newGauge(out)
	half := l.all() / 2
	for _, at := range []struct {
		name    string
		reached func() bool
	}{
		{"reference", func() bool { return g.progress() >= 2 }},
		{"cells", func() bool { return g.progress() >= half }},
		{"figures", func() bool { return g.figures() >= 1 }},
	} {
		p, err := l.signalAt(out, at.reached, syscall.SIGTERM)
		if err != nil {
			return v, fmt.Errorf("%s: %w", at.name, err)
		}
		if err := p.wait().failedWith(interrupted, "the same command continues"); err != nil {
			return v, fmt.Errorf("SIGTERM, %s: %w", at.name, err)
		}
		if err := l.check(out, &v); err != nil {
			return v, err
		}
		if at.name == "cells" {
			d, err := l.twice(out)
			if err != nil {
				return v, err
			}
			v.done += fmt.Sprintf("; SIGINT twice: over %s after the second", d.Round(time.Millisecond))
		}
	}
	v.before = newGauge(out).records()
	if err := l.finish(out); err != nil {
		return v, err
	}
	c, d, err := l.compare(out)
	v.after = len(c.records)
	v.damage.add(d)
	if err != nil {
		return v, err
	}
	v.done += "; the same to hambench itself"
	err = l.signalsToHambench(&v)
	return v, err
}

// signalsToHambench ends hambench itself, as users have it, among the cells and
// at the figures, and compares what it has in the end with an undisturbed run.
func (l *lab) signalsToHambench(v *verdict) error {
	out, whole := l.folder("signals-hambench"), l.folder("whole-hambench")
	args := func(out string) []string {
		return []string{"reproduce", "--only", "methods,friction,synthetic", "--datasets", "linear", "--out", out}
	}
	if err := l.call(l.program, args(whole)...).good(); err != nil {
		return err
	}
	want, err := read(whole)
	if err != nil {
		return err
	}
	g := newGauge(out)
	for _, at := range []struct {
		name    string
		reached func() bool
	}{
		{"cells", func() bool { return g.records() >= len(want.records)/2 }},
		{"figures", func() bool { return g.figures() >= 1 }},
	} {
		p, err := l.start(nil, l.program, args(out)...)
		if err != nil {
			return err
		}
		if !p.until(at.reached) {
			return fmt.Errorf("hambench, %s: %w: %v", at.name, errEarly, p.wait().complaints())
		}
		p.send(syscall.SIGTERM)
		if err := p.wait().failedWith(terminated, "the same command continues"); err != nil {
			return fmt.Errorf("SIGTERM to hambench, %s: %w", at.name, err)
		}
	}
	if err := l.call(l.program, args(out)...).good(); err != nil {
		return err
	}
	got, err := read(out)
	v.damage.add(compare(want, got))
	return err
}

// check looks at the store on its way.
func (l *lab) check(out string, v *verdict) error {
	now, err := read(out)
	v.damage.add(within(l.whole, now))
	if err == nil && len(now.torn) > 0 {
		err = fmt.Errorf("torn records after a signal: %v", now.torn)
	}
	return err
}

// signalAt starts the sweep and sends a signal once it has got somewhere.
func (l *lab) signalAt(out string, reached func() bool, s os.Signal) (*process, error) {
	p, err := l.sweepInto(nil, out)
	if err != nil {
		return nil, err
	}
	if !p.until(reached) {
		return nil, fmt.Errorf("%w: %v", errEarly, p.wait().complaints())
	}
	p.send(s)
	return p, nil
}

// atOnce is how long a process may take to end on a busy machine when nothing
// holds it.
const atOnce = 500 * time.Millisecond

// twice interrupts a run, and again before it has ended. It may take its time
// after the first, not after the second.
func (l *lab) twice(out string) (after time.Duration, err error) {
	for range 20 {
		g := newGauge(out)
		start := g.progress()
		p, err := l.signalAt(out, func() bool { return g.progress() > start }, syscall.SIGINT)
		if err != nil {
			return 0, err
		}
		p.running(2 * time.Millisecond)
		second := time.Now()
		p.send(syscall.SIGINT)
		e := p.wait()
		after = time.Since(second)
		if e.signal != syscall.SIGINT { // the first was enough
			if e.code != interrupted {
				return 0, fmt.Errorf("SIGINT twice: exit code %d: %v", e.code, e.complaints())
			}
			continue
		}
		if after > atOnce {
			return after, fmt.Errorf("SIGINT twice: over %s after the second", after)
		}
		return after, nil
	}
	return 0, fmt.Errorf("SIGINT twice: %w every time", errEarly)
}
