//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// clock runs the sweep with a wall clock that is up to 50 years off, anew at
// each look at it, kills it twice and, in between, gives every file a random
// time. Nothing may follow from the wall clock but the names of segments.
func (l *lab) clock() (verdict, error) {
	out := l.folder("clock")
	rng := rand.New(rand.NewPCG(l.seed, 2))
	v := verdict{done: "wall clock jumping by up to 50 years at each look, file times likewise, killed twice"}
	all := l.all()
	begin := time.Now()
	for _, at := range []int{all / 3, 2 * all / 3} {
		p, err := l.sweepInto(nil, out, "-clock")
		if err != nil {
			return v, err
		}
		g := newGauge(out)
		if !p.until(func() bool { return g.progress() >= at }) {
			return v, fmt.Errorf("%w: %v", errEarly, p.wait().complaints())
		}
		p.kill()
		v.before = g.records()
		if err := scatterTimes(out, rng); err != nil {
			return v, err
		}
	}
	p, err := l.sweepInto(nil, out, "-clock")
	if err != nil {
		return v, err
	}
	e := p.wait()
	if err := e.good(); err != nil {
		return v, err
	}
	if err := saneTimes(out, e, time.Since(begin)); err != nil {
		return v, err
	}
	c, d, err := l.compare(out)
	v.after, v.damage = len(c.records), d
	return v, err
}

// scatterTimes gives every file a time between 1976 and 2076.
func scatterTimes(dir string, rng *rand.Rand) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		t := time.Unix(0, 0).AddDate(6+rng.IntN(100), 0, 0)
		return os.Chtimes(path, t, t)
	})
}

var summaryTime = regexp.MustCompile(`computed \d+ cells.* in ([0-9hms.]+)`)

// saneTimes checks what the run says of times: how long it took and how long
// is left, and how long each cell took.
func saneTimes(out string, e ending, all time.Duration) error {
	m := summaryTime.FindStringSubmatch(e.stdout)
	if m == nil {
		return fmt.Errorf("no line says how long the run took: %q", e.stdout[max(0, len(e.stdout)-200):])
	}
	if d, err := time.ParseDuration(m[1]); err != nil || d < 0 || d > e.took+time.Second {
		return fmt.Errorf("the run says that it took %s, and took %s", m[1], e.took)
	}
	for line := range strings.Lines(e.stderr) {
		if strings.Contains(line, " left") && strings.Contains(line, "-") {
			return fmt.Errorf("progress runs backwards: %s", line)
		}
	}
	files := newGauge(out).files(".jsonl", "store", "records")
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(data) {
			var r struct{ Record struct{ Seconds float64 } }
			// A reference cell tells the time of the reference's chains together.
			if err := json.Unmarshal(line, &r); err == nil && (r.Record.Seconds < 0 || r.Record.Seconds > 10*all.Seconds()) {
				return fmt.Errorf("%s: a cell took %g s", f, r.Record.Seconds)
			}
		}
	}
	return nil
}
