//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// tmpfs mounts a file system of the given size on a new folder. It needs root.
func (l *lab) tmpfs(name, size string) (dir string, unmount func(), err error) {
	dir = filepath.Join(l.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", nil, err
	}
	if err := syscall.Mount("faults", dir, "tmpfs", 0, "size="+size); err != nil {
		return "", nil, fmt.Errorf("%w: a small file system cannot be mounted (%v): run as root, or with: unshare -rm", errSkipped, err)
	}
	return dir, func() { syscall.Unmount(dir, syscall.MNT_DETACH) }, nil
}

// fullDisk lets runs fill a small file system, enlarges it a little and
// continues, until the sweep fits. Each run on a full disk must end with one
// line that says so, and lose nothing that was written.
func (l *lab) fullDisk() (verdict, error) {
	dir, unmount, err := l.tmpfs("disk", "24k")
	if err != nil {
		return verdict{}, err
	}
	defer unmount()
	out := filepath.Join(dir, "out")
	v := verdict{done: "filled the disk"}
	var last contents
	var filled []string
	for kb := 24; ; kb = kb * 3 / 2 {
		if kb > 1<<16 {
			return v, errors.New("the sweep does not fit on 64 MiB")
		}
		if err := syscall.Mount("faults", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%dk", kb)); err != nil {
			return v, err
		}
		p, err := l.sweepInto(nil, out)
		if err != nil {
			return v, err
		}
		e := p.wait()
		if e.code == 0 {
			break
		}
		if err := e.failedWith(1, "no space left on device"); err != nil {
			return v, fmt.Errorf("with %d KiB: %w", kb, err)
		}
		now, err := read(out)
		if err != nil {
			return v, err
		}
		v.damage.add(within(l.whole, now))
		v.damage.add(missing(last, now))
		last = now
		if len(filled) == 0 {
			v.before = len(now.records)
		}
		filled = append(filled, fmt.Sprintf("%d", kb))
	}
	v.done = fmt.Sprintf("filled a disk of %s KiB, enlarging it each time, then continued", strings.Join(filled, ", "))
	c, d, err := l.compare(out)
	v.after = len(c.records)
	v.damage.add(d)
	if err == nil && len(filled) < 3 {
		err = fmt.Errorf("the disk was full %d times only: want 3 or more", len(filled))
	}
	return v, err
}

// nobody is a user without rights.
const nobody = 65534

// asNobody runs a program as a user whom permissions bind, which root is not.
func asNobody(cmd *exec.Cmd) {
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

// readOnly takes the right to write away: from the folders of a run that is in
// its cells, and from a store before a run starts. What only reads must work.
func (l *lab) readOnly() (verdict, error) {
	out := l.folder("readonly")
	v := verdict{done: "took the right to write"}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return v, err
	}
	if os.Getuid() == 0 {
		if err := os.Chown(out, nobody, nobody); err != nil {
			return v, fmt.Errorf("%w: %v", errSkipped, err)
		}
	}
	p, err := l.sweepInto(asNobody, out)
	if err != nil {
		return v, fmt.Errorf("%w: %v", errSkipped, err)
	}
	g := newGauge(out)
	if !p.until(func() bool { return g.records() >= 20 }) {
		return v, fmt.Errorf("%w: %v", errEarly, p.wait().complaints())
	}
	folders := []string{out, filepath.Join(out, "store")}
	for _, name := range []string{"records", "references", "parts", "runs", "leases"} {
		folders = append(folders, filepath.Join(out, "store", name))
	}
	if err := chmod(0o555, folders...); err != nil {
		return v, err
	}
	atStrike, err := read(out)
	if err != nil {
		return v, err
	}
	v.before = len(atStrike.records)
	if err := p.wait().failedWith(1, "permission denied"); err != nil {
		return v, fmt.Errorf("while running: %w", err)
	}
	now, err := read(out)
	if err != nil {
		return v, err
	}
	v.damage.add(within(l.whole, now))
	v.damage.add(missing(atStrike, now))
	if err := l.lookAtReadOnly(out, now); err != nil {
		return v, err
	}
	if err := chmod(0o755, folders...); err != nil {
		return v, err
	}
	p, err = l.sweepInto(asNobody, out)
	if err != nil {
		return v, err
	}
	if err := p.wait().good(); err != nil {
		return v, err
	}
	c, d, err := l.compare(out)
	v.damage.add(d)
	v.after = len(c.records)
	v.done = fmt.Sprintf("took the right to write from all folders among the cells, and before a start; %d more records went to the open file; then gave it back and continued", len(now.records)-v.before)
	return v, err
}

func chmod(mode os.FileMode, paths ...string) error {
	var err error
	for _, p := range paths {
		err = errors.Join(err, os.Chmod(p, mode))
	}
	return err
}

// lookAtReadOnly starts commands on a folder that cannot be written.
func (l *lab) lookAtReadOnly(out string, before contents) error {
	for _, c := range []struct {
		code    int
		program string
		args    []string
	}{
		{1, l.small, []string{"-plan", "-out", out}}, // not all cells are there
		{2, l.small, []string{"-out", out}},
		{0, l.program, []string{"store", "verify", "--out", out}},
		{0, l.program, []string{"export", "--out", out}},
	} {
		p, err := l.start(asNobody, c.program, c.args...)
		if err != nil {
			return err
		}
		e := p.wait()
		if complete := len(before.records) == len(l.whole.records); complete && c.code == 1 {
			c.code = 0
		}
		if e.code != c.code || len(e.complaints()) > 1 {
			return fmt.Errorf("%v on a store that cannot be written: exit code %d, want %d: %v", c.args, e.code, c.code, e.complaints())
		}
	}
	return nil
}

// oddPath runs the sweep in a folder whose name has what names can have.
func (l *lab) oddPath() (verdict, error) {
	out := filepath.Join(l.dir, "a folder – with [odd] *names* % and \"quotes\"", "Ergebnisse für θ … 結果\tund\nmehr")
	v := verdict{done: "stores below a name with blanks, quotes, patterns, a tab, a line break and letters beyond ASCII, killed half-way"}
	p, err := l.sweepInto(nil, out)
	if err != nil {
		return v, err
	}
	g := newGauge(out)
	if !p.until(func() bool { return g.progress() >= len(l.whole.records)/2 }) {
		return v, fmt.Errorf("%w: %v", errEarly, p.wait().complaints())
	}
	p.kill()
	v.before = g.records()
	if err := l.finish(out); err != nil {
		return v, err
	}
	c, d, err := l.compare(out)
	v.after, v.damage = len(c.records), d
	return v, err
}
