package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// A lease is a folder leases/KEY with one file, named after the holder. The
// folder's name makes leases exclusive: it is renamed into place with the file
// in it, which fails while there is one. The file's name makes it safe to
// remove the lease of a dead holder: no later holder has the same name, so a
// process that judged it dead long ago cannot remove anybody else's.
const (
	leaseRenewal = 10 * time.Second
	leaseLife    = time.Minute // without renewal after which a lease's holder counts as dead
)

// Lease asks for the right to work on a key, so that processes that share the
// store divide the work. If ok, no other process works on the key: call Refresh,
// since its last holder may have put the record, and release the lease when the
// record has been put or given up. If not ok, another worker, in this process or
// another, works on it: go on with another key and ask again later. A lease is
// renewed until it is released. The lease of a process that died is free at once on
// its own host, and a minute later elsewhere, as is the lease of a process that lost
// its connection.
//
// A lease only saves time: two processes may compute one record, since equal
// records merge. If leases cannot be made (the disk is full, say), every lease is
// granted. A store that is open for reading grants none.
func (s *Store) Lease(key string) (release func(), ok bool) {
	if s.readOnly {
		return func() {}, false
	}
	file, err := s.lease(key)
	if err != nil {
		return func() {}, !errors.Is(err, fs.ErrExist)
	}
	stop := make(chan struct{})
	var keeper sync.WaitGroup
	keeper.Go(func() { keep(file, stop) })
	return sync.OnceFunc(func() {
		close(stop)
		keeper.Wait()
		_ = os.Remove(file)
		_ = os.Remove(filepath.Dir(file)) // unless it has a new holder
	}), true
}

// Holder names the process that works on a key, for people; "" if none does, or if that is not
// known.
func (s *Store) Holder(key string) string {
	entries, _ := os.ReadDir(filepath.Join(s.dir, leaseFolder, key))
	for _, e := range entries {
		text, _, err := look(filepath.Join(s.dir, leaseFolder, key, e.Name()))
		if pid, host, ok := holder(text); err == nil && ok {
			return fmt.Sprintf("process %d on %s", pid, host)
		}
	}
	return ""
}

// lease makes one and returns its file, or fs.ErrExist if there is one. It prepares
// the folder under a name of its own, whose file has the file system's time: the
// clocks of machines may differ.
func (s *Store) lease(key string) (file string, err error) {
	if !isName(key) {
		return "", fmt.Errorf("lease of %.40q, which is no name", key)
	}
	id := processID()
	prepared := filepath.Join(s.dir, leaseFolder, "."+id)
	defer os.RemoveAll(prepared)
	if err := os.Mkdir(prepared, 0o755); err != nil {
		return "", err
	}
	if err := sign(filepath.Join(prepared, id), os.O_CREATE|os.O_EXCL); err != nil {
		return "", err
	}
	_, now, err := look(filepath.Join(prepared, id))
	if err != nil {
		return "", err
	}
	folder := filepath.Join(s.dir, leaseFolder, key)
	// Two processes may both clear the folder; only one can rename its own into place.
	if err := clearDead(folder, now); err != nil {
		return "", err
	}
	return filepath.Join(folder, id), os.Rename(prepared, folder)
}

// sign writes who holds a lease, and since when or still when, for people.
// Writing sets the file's time by the file system's clock.
func sign(path string, flags int) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|flags, 0o644)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	_, err = fmt.Fprintf(f, holderFormat+" at %s\n", os.Getpid(), host,
		time.Now().UTC().Format(time.RFC3339))
	return errors.Join(err, f.Close())
}

// holderFormat is how a lease begins: with the holder's process and host.
const holderFormat = "process %d on %q"

// holderDied reports whether a lease's holder ran on this host and is no longer
// there. In doubt a holder counts as alive: a text half written, another host's
// process, a process id that another process has now. A process of another container
// with this host's name is taken for dead, which costs no more than work done twice.
func holderDied(text []byte) bool {
	pid, host, ok := holder(text)
	if here, _ := os.Hostname(); !ok || host != here {
		return false
	}
	p, err := os.FindProcess(pid)
	return err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// holder returns the process and the host that a lease's text begins with.
func holder(text []byte) (pid int, host string, ok bool) {
	_, err := fmt.Sscanf(string(text), holderFormat, &pid, &host)
	return pid, host, err == nil && host != ""
}

// look reads a lease and returns when it was last written. On a network file
// system opening a file asks the server; os.Stat may answer from a cache of
// minutes.
func look(path string) (text []byte, at time.Time, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, at, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, at, err
	}
	text, err = io.ReadAll(f)
	return text, info.ModTime(), err
}

// clearDead removes from a lease's folder the file of a dead holder, and the
// folder; fs.ErrExist if there is a live one.
func clearDead(folder string, now time.Time) error {
	entries, err := os.ReadDir(folder)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		text, at, err := look(path)
		switch {
		case gone(err):
			continue // released, or found dead by another process
		case err != nil:
			return err
		case now.Sub(at).Abs() <= leaseLife && !holderDied(text): // a clock may have been set back
			return fs.ErrExist
		}
		_ = os.Remove(path)
	}
	_ = os.Remove(folder) // unless it has a new holder
	return nil
}

// keep renews a lease until it is released or lost.
func keep(file string, stop <-chan struct{}) {
	tick := time.Tick(leaseRenewal)
	for {
		select {
		case <-stop:
			return
		case <-tick:
			if err := sign(file, 0); errors.Is(err, fs.ErrNotExist) {
				return // this process slept for too long: another one has it
			}
		}
	}
}

// removeDeadLeases removes the leases of dead holders, and what was left of
// those that died while they made one.
func (s *Store) removeDeadLeases(now time.Time) {
	entries, _ := os.ReadDir(filepath.Join(s.dir, leaseFolder))
	for _, e := range entries {
		folder := filepath.Join(s.dir, leaseFolder, e.Name())
		switch info, err := e.Info(); {
		case err != nil:
		case e.Name()[0] != '.':
			_ = clearDead(folder, now)
		case now.Sub(info.ModTime()) >= leftoverAge:
			_ = os.RemoveAll(folder)
		}
	}
}
