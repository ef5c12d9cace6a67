package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// A claim is a folder claims/KEY with one file, named after the holder. The
// folder's name makes claims exclusive: it is renamed into place with the file
// in it, which fails while there is one. The file's name makes it safe to
// remove the claim of a dead holder: no later holder has the same name, so
// that a process which judged it dead long ago removes nobody else's.
const (
	claimRenewal = 10 * time.Second
	claimLife    = time.Minute // beyond which a claim that was not renewed is a dead holder's
)

// claim is one that this process holds.
type claim struct {
	folder, file string
	stop, ended  chan struct{}
}

// Claim asks for the work on a key, so that processes that share the store
// divide work among themselves. If ok, no other process works at it: Refresh,
// since its last holder may have put the record, and release the claim when
// the record has been put or was given up. If not, another worker, of this
// process or another, is at it: look at another key and Claim again later.
// A claim is renewed while it is held and ends with Close. That of a process
// that died is free at once on its own host, and a minute later elsewhere, as is
// that of a process that lost its connection.
//
// A claim is a courtesy that saves time: nothing is wrong when two processes
// compute one record, since equal records merge. Where claims cannot be made (a
// full disk, say), every claim is granted. A store that is open for reading
// grants none.
func (s *Store) Claim(key string) (release func(), ok bool) {
	if s.readOnly {
		return func() {}, false
	}
	c, err := s.claim(key)
	if errors.Is(err, fs.ErrExist) {
		return func() {}, false
	}
	if err != nil {
		return func() {}, true
	}
	s.mu.Lock()
	s.claims[key] = c
	s.mu.Unlock()
	go c.keep()
	return func() { s.release(key, c) }, true
}

// claim makes a claim, or returns fs.ErrExist if there is one. It prepares the
// folder under a name of its own, whose file has the file system's time: the
// clocks of machines may differ.
func (s *Store) claim(key string) (*claim, error) {
	if !isName(key) {
		return nil, fmt.Errorf("claim of %.40q, which is no name", key)
	}
	id := processID()
	prepared := filepath.Join(s.dir, claimFolder, "."+id)
	defer os.RemoveAll(prepared)
	if err := os.Mkdir(prepared, 0o755); err != nil {
		return nil, err
	}
	if err := sign(filepath.Join(prepared, id), os.O_CREATE|os.O_EXCL); err != nil {
		return nil, err
	}
	_, now, err := look(filepath.Join(prepared, id))
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(s.dir, claimFolder, key)
	if err := clearDead(folder, now); err != nil {
		return nil, err
	}
	if err := os.Rename(prepared, folder); err != nil {
		return nil, err
	}
	return &claim{folder, filepath.Join(folder, id), make(chan struct{}), make(chan struct{})}, nil
}

// sign writes who holds a claim, and since when or still when, for people.
// Writing sets the file's time by the file system's clock.
func sign(path string, flags int) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|flags, 0o644)
	if err != nil {
		return err
	}
	host, _ := os.Hostname()
	_, err = fmt.Fprintf(f, holderFormat+" at %s\n", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	return errors.Join(err, f.Close())
}

// holderFormat is how a claim begins: with the holder's process and host.
const holderFormat = "process %d on %q"

// holderDied reports whether a claim's holder ran on this host and is no longer
// there. What cannot be told is alive: a text half written, another host's
// process, a process id in new hands. A process of another container with this
// host's name is taken for dead, which costs no more than work done twice.
func holderDied(claim []byte) bool {
	var pid int
	var host string
	if _, err := fmt.Sscanf(string(claim), holderFormat, &pid, &host); err != nil || host == "" {
		return false
	}
	if here, _ := os.Hostname(); host != here {
		return false
	}
	p, err := os.FindProcess(pid)
	return err == nil && errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// look reads a claim and returns when it was last written. On a network file
// system opening a file asks the server; os.Stat may answer from a cache of
// minutes.
func look(path string) (claim []byte, at time.Time, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, at, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, at, err
	}
	claim, err = io.ReadAll(f)
	return claim, info.ModTime(), err
}

// clearDead removes from a claim's folder the file of a dead holder, and the
// folder; fs.ErrExist if there is a live one.
func clearDead(folder string, now time.Time) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		claim, at, err := look(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // released, or found dead by another process
		case err != nil:
			return err
		case now.Sub(at) <= claimLife && !holderDied(claim):
			return fs.ErrExist
		}
		_ = os.Remove(path)
	}
	_ = os.Remove(folder) // unless it has a new holder
	return nil
}

// keep renews a claim until it is released or lost.
func (c *claim) keep() {
	defer close(c.ended)
	tick := time.NewTicker(claimRenewal)
	defer tick.Stop()
	for {
		select {
		case <-c.stop:
			return
		case <-tick.C:
			if err := sign(c.file, 0); errors.Is(err, fs.ErrNotExist) {
				return // this process slept for too long: another one has it
			}
		}
	}
}

// release gives a claim up, once.
func (s *Store) release(key string, c *claim) {
	s.mu.Lock()
	held := s.claims[key] == c
	if held {
		delete(s.claims, key)
	}
	s.mu.Unlock()
	if !held {
		return
	}
	close(c.stop)
	<-c.ended
	_ = os.Remove(c.file)
	_ = os.Remove(c.folder) // unless it has a new holder
}

func (s *Store) releaseClaims() {
	s.mu.Lock()
	held := make(map[string]*claim, len(s.claims))
	for key, c := range s.claims {
		held[key] = c
	}
	s.mu.Unlock()
	for key, c := range held {
		s.release(key, c)
	}
}

// removeDeadClaims removes the claims of dead holders, and what was left of
// those that died while they made one.
func (s *Store) removeDeadClaims(now time.Time) {
	entries, _ := os.ReadDir(filepath.Join(s.dir, claimFolder))
	for _, e := range entries {
		folder := filepath.Join(s.dir, claimFolder, e.Name())
		switch info, err := e.Info(); {
		case err != nil:
		case e.Name()[0] != '.':
			_ = clearDead(folder, now)
		case now.Sub(info.ModTime()) >= leftoverAge:
			_ = os.RemoveAll(folder)
		}
	}
}
