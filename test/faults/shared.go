//go:build linux

package main

import (
	"fmt"
)

// shared lets three runs work on one store at the same time, and two on
// another.
func (l *lab) shared() (verdict, error) {
	v := verdict{done: "three runs at once on one store"}
	for _, n := range []int{3, 2} {
		out := l.folder(fmt.Sprintf("shared%d", n))
		var runs []*process
		for range n {
			p, err := l.sweepInto(nil, out)
			if err != nil {
				return v, err
			}
			runs = append(runs, p)
		}
		for _, p := range runs {
			if err := p.wait().good(); err != nil {
				return v, fmt.Errorf("one of %d runs: %w", n, err)
			}
		}
		c, d, err := l.compare(out)
		v.damage.add(d)
		v.after += len(c.records)
		if err != nil {
			return v, err
		}
		if n == 3 {
			v.done += fmt.Sprintf(" (%d lines, equal ones merged)", c.lines)
		} else {
			v.done += fmt.Sprintf(", two on another (%d lines)", c.lines)
		}
	}
	return v, nil
}
