//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	longRun   = 60 * time.Second
	busyRun   = 5 * longRun // what a long run may take on a busy machine
	fewest    = 20          // cells of which growth can be told
	sampling  = 200 * time.Millisecond
	settleFor = 3 * time.Second
	leakSize  = 512 << 10 // bytes per cell, planted in the control
)

// limit is by how many MiB memory may grow between the first and the last
// third of a run: the store keeps every result, of which 6 KiB is generous, and
// 12 MiB is what the collector's mood makes.
func limit(cells int) int { return 12 + 6*cells/1024 }

// memory samples the resident memory of a long run, which must stay flat, and
// of one with a planted leak, which must not.
func (l *lab) memory() (verdict, error) {
	v := verdict{done: "a long run"}
	flat, err := l.watch("memory", 0, func([]int, int) bool { return false })
	if err != nil {
		return v, err
	}
	v.after = flat.cells
	grown := growth(flat.mib)
	v.done = fmt.Sprintf("resident memory over %s and %d cells: first %d, last %d, highest %d MiB; last third over first third %+d MiB (limit %d)",
		flat.took.Round(time.Second), flat.cells, flat.mib[0], flat.mib[len(flat.mib)-1], slices.Max(flat.mib), grown, limit(flat.cells))
	if grown > limit(flat.cells) {
		return v, errors.New("memory grows")
	}
	grows := func(mib []int, cells int) bool {
		return len(mib) >= 30 && cells >= fewest && growth(mib) > limit(cells)
	}
	leak, err := l.watch("leak", leakSize, grows)
	if err != nil {
		return v, err
	}
	if !grows(leak.mib, leak.cells) {
		return v, fmt.Errorf("the control leaks %d KiB in each of %d cells, and its growth of %d MiB is not noticed", leakSize>>10, leak.cells, growth(leak.mib))
	}
	v.done += fmt.Sprintf("; control that leaks %d KiB per cell: noticed after %d cells", leakSize>>10, leak.cells)
	return v, nil
}

// growth is by how many MiB the median of the last third is above that of the
// first.
func growth(mib []int) int {
	third := len(mib) / 3
	return median(mib[len(mib)-third:]) - median(mib[:third])
}

func median(x []int) int {
	s := slices.Sorted(slices.Values(x))
	return s[len(s)/2]
}

// samples are a run's resident memory after its start-up.
type samples struct {
	mib   []int
	cells int
	took  time.Duration
}

// watch runs the long sweep to its end, which a fast machine reaches, or until
// enough was seen, and ends it in good order. It takes at most the time of the long
// run, longer only on a machine too busy for the fewest cells.
func (l *lab) watch(name string, leak int, enough func(mib []int, cells int) bool) (samples, error) {
	var s samples
	out := l.folder(name)
	p, err := l.sweepInto(nil, out, "-long", "-leak", strconv.Itoa(leak))
	if err != nil {
		return s, err
	}
	p.running(settleFor)
	g := newGauge(out)
	inTime := func() bool {
		took := time.Since(p.started)
		return took < longRun || took < busyRun && g.records() < fewest
	}
	for inTime() && p.running(sampling) && !enough(s.mib, g.records()) {
		n, err := resident(p.cmd.Process.Pid)
		if err != nil {
			break // it is over
		}
		s.mib = append(s.mib, n)
	}
	s.took = time.Since(p.started)
	p.send(syscall.SIGTERM)
	if e := p.wait(); e.code != interrupted && e.code != 0 {
		return s, fmt.Errorf("the long run failed after %s: %v", e.took, e.complaints())
	}
	s.cells = g.records()
	if len(s.mib) < 9 || s.cells < fewest {
		return s, fmt.Errorf("%d samples and %d cells are too few", len(s.mib), s.cells)
	}
	return s, nil
}

// resident is a process's resident memory in MiB.
func resident(pid int) (int, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(data))
	if len(fields) < 2 {
		return 0, fmt.Errorf("process %d is over", pid)
	}
	pages, err := strconv.Atoi(fields[1])
	return pages * os.Getpagesize() >> 20, err
}
