package store

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// stores opens a folder several times, as several processes do.
func stores(t testing.TB, dir string, n int) []*Store {
	t.Helper()
	var all []*Store
	for range n {
		all = append(all, openStore(t, dir))
	}
	return all
}

// die makes a lease as a process does that dies at once, and returns its file.
func die(t testing.TB, s *Store, key string) string {
	t.Helper()
	file, err := s.lease(key)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// isLeased reports whether a key is held, without keeping it.
func isLeased(s *Store, key string) bool {
	release, ok := s.Lease(key)
	release()
	return !ok
}

// held returns the file of the one holder of a key.
func held(t testing.TB, dir, key string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, leaseFolder, key, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v; want one holder", files, err)
	}
	return files[0]
}

// leaseFiles lists what is in the leases folder.
func leaseFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, leaseFolder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestLeaseIsHeldUntilItIsReleased(t *testing.T) {
	dir := t.TempDir()
	s := stores(t, dir, 2)
	release, ok := s[0].Lease("a")
	if !ok {
		t.Fatal("a free key is not granted")
	}
	for _, other := range s {
		if !isLeased(other, "a") || isLeased(other, "b") {
			t.Error("want a held and b free")
		}
		if a, b := other.Holder("a"), other.Holder("b"); !strings.HasPrefix(a, fmt.Sprintf("process %d on ", os.Getpid())) || b != "" {
			t.Errorf("a is held by %q, b by %q", a, b)
		}
	}
	release()
	again, ok := s[1].Lease("a")
	if !ok {
		t.Error("a released key is not granted")
	}
	release() // a second release gives up nobody else's lease
	if !isLeased(s[0], "a") {
		t.Error("a lease was given up by its former holder")
	}
	again()
	if files := leaseFiles(t, dir); len(files) != 0 {
		t.Errorf("released leases left %v", files)
	}
}

// Many workers of several processes take and release a few keys in turn.
func TestTwoStoresNeverHoldOneKeyAtOnce(t *testing.T) {
	const processes, workers, rounds = 4, 2, 60
	dir := t.TempDir()
	keys := []string{"a", "b", "c"}
	holders, granted := make([]atomic.Int32, len(keys)), make([]atomic.Int32, len(keys))
	var group sync.WaitGroup
	for p, s := range stores(t, dir, processes) {
		for w := range workers {
			group.Go(func() {
				for i := range rounds {
					k := (p + w + i) % len(keys)
					release, ok := s.Lease(keys[k])
					if !ok {
						continue
					}
					if n := holders[k].Add(1); n != 1 {
						t.Errorf("%d holders of one key", n)
					}
					granted[k].Add(1)
					holders[k].Add(-1)
					release()
				}
			})
		}
	}
	group.Wait()
	for k := range keys {
		if n := granted[k].Load(); n < rounds/10 {
			t.Errorf("%s was granted %d times only", keys[k], n)
		}
	}
	if files := leaseFiles(t, dir); len(files) != 0 {
		t.Errorf("released leases left %v", files)
	}
}

func TestDeadLeaseIsTakenOverByExactlyOneOfManyTakers(t *testing.T) {
	const takers, rounds = 16, 25
	dir := t.TempDir()
	s := stores(t, dir, takers)
	for range rounds {
		dead := die(t, s[0], "key")
		backdate(t, dead, leaseLife-5*time.Second) // it may be alive
		if n, _ := race(s, "key"); n != 0 {
			t.Fatalf("%d takers were granted a lease that may be alive", n)
		}
		backdate(t, dead, 10*time.Second)
		n, release := race(s, "key")
		if n != 1 {
			t.Fatalf("%d takers were granted a dead lease, want 1", n)
		}
		release()
	}
	if files := leaseFiles(t, dir); len(files) != 0 {
		t.Errorf("released leases left %v", files)
	}
}

// Takers that are slow to remove the dead holder's file, here one of many, do
// not remove that of a taker that was faster.
func TestSlowTakersRemoveNobodyElsesLease(t *testing.T) {
	dir := t.TempDir()
	s := stores(t, dir, 8)
	for range 4 {
		folder := filepath.Dir(die(t, s[0], "key"))
		for i := range 200 {
			writeBytes(t, filepath.Join(folder, fmt.Sprint(i)), nil)
		}
		files, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			backdate(t, path, leaseLife+time.Second)
		}
		n, release := race(s, "key")
		if n != 1 {
			t.Fatalf("%d takers were granted a dead lease, want 1", n)
		}
		release()
	}
}

// race lets all stores ask for a key at once and returns how many were granted
// it, and what releases it.
func race(s []*Store, key string) (granted int32, release func()) {
	var n atomic.Int32
	releases := make([]func(), len(s))
	start := make(chan struct{})
	var group sync.WaitGroup
	for i := range s {
		group.Go(func() {
			<-start
			var ok bool
			if releases[i], ok = s[i].Lease(key); ok {
				n.Add(1)
			}
		})
	}
	close(start)
	group.Wait()
	return n.Load(), func() {
		for _, release := range releases {
			release()
		}
	}
}

// The holder's clock is the bubble's, its leases' times are the file system's:
// the time that passes is taken off these.
func TestLiveLeaseIsNeverTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := stores(t, dir, 2)
		release, ok := s[0].Lease("key")
		if !ok {
			t.Fatal("not granted")
		}
		for range 20 {
			backdate(t, held(t, dir, "key"), leaseLife-5*time.Second)
			if !isLeased(s[1], "key") {
				t.Fatal("a live holder's lease was taken over")
			}
			time.Sleep(leaseRenewal + time.Second)
			synctest.Wait()
		}
		release()
		if isLeased(s[1], "key") {
			t.Error("a released lease is held")
		}
	})
}

// A process that slept for longer than a lease lives, as laptops do, neither
// renews nor releases that of the process that took over.
func TestALostLeaseIsTheNewHoldersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := stores(t, dir, 3)
		lost, _ := s[0].Lease("key")
		backdate(t, held(t, dir, "key"), leaseLife+time.Second)
		taken, ok := s[1].Lease("key")
		if !ok {
			t.Fatal("an old lease is not taken over")
		}
		time.Sleep(leaseRenewal + time.Second)
		synctest.Wait()
		held(t, dir, "key") // the former holder's file is not there again
		lost()
		if !isLeased(s[2], "key") {
			t.Error("the new holder's lease is gone")
		}
		backdate(t, held(t, dir, "key"), leaseLife+time.Second)
		if isLeased(s[2], "key") {
			t.Error("the former holder renews the new one's lease")
		}
		taken()
		if files := leaseFiles(t, dir); len(files) != 0 {
			t.Errorf("leases left %v", files)
		}
	})
}

func TestOpenRemovesDeadLeasesOnly(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	release, _ := s.Lease("live")
	defer release()
	backdate(t, held(t, dir, "live"), leaseLife-10*time.Second)
	backdate(t, die(t, s, "dead"), leaseLife+time.Second)
	prepared := func(name string, age time.Duration) string {
		folder := filepath.Join(dir, leaseFolder, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		writeBytes(t, filepath.Join(folder, "id"), nil)
		backdate(t, folder, age)
		return folder
	}
	young := prepared(".young", leftoverAge-time.Minute)
	prepared(".old", leftoverAge+time.Minute)
	if err := os.Mkdir(filepath.Join(dir, leaseFolder, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	openStore(t, dir)
	if files, want := leaseFiles(t, dir), []string{young, filepath.Join(dir, leaseFolder, "live")}; !slices.Equal(files, want) {
		t.Errorf("leases %v, want %v", files, want)
	}
}

// childStore makes the test's program a process that holds a key of a store
// and waits to be killed.
const childStore = "HAMBENCH_TEST_LEASE"

func TestLeaseOfAKilledProcessIsTakenOverAtOnce(t *testing.T) {
	if dir := os.Getenv(childStore); dir != "" {
		if _, ok := openStore(t, dir).Lease("key"); ok {
			fmt.Println("leased")
		}
		select {} // until it is killed
	}
	dir := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), childStore+"="+dir)
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || line != "leased\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	s := openStore(t, dir)
	if !isLeased(s, "key") {
		t.Error("a living process's lease was taken over")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
	if isLeased(s, "key") {
		t.Error("a killed process still holds its lease")
	}
}

func TestHolderIsDeadOnlyWhereThatIsCertain(t *testing.T) {
	child := exec.Command(os.Args[0], "-test.run=^$")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dead := child.Process.Pid
	for _, c := range []struct {
		reason, lease string
		died          bool
	}{
		{"a process that has ended", fmt.Sprintf("process %d on %q at now\n", dead, host), true},
		{"this process", fmt.Sprintf("process %d on %q at now\n", os.Getpid(), host), false},
		{"another host's process", fmt.Sprintf("process %d on %q at now\n", dead, host+"-other"), false},
		{"a host without a name", fmt.Sprintf("process %d on \"\" at now\n", dead), false},
		{"not yet written", "", false},
		{"half written", fmt.Sprintf("process %d on %q", dead, host)[:12], false},
		{"no process", fmt.Sprintf("process 0 on %q at now\n", host), false},
	} {
		if died := holderDied([]byte(c.lease)); died != c.died {
			t.Errorf("%s: dead %v, want %v", c.reason, died, c.died)
		}
	}
}

// A lease from the future is that of a dead holder whose file system's clock
// was set back since: a live one would have renewed it.
func TestALeaseFromTheFutureIsFree(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	dead := die(t, s, "key")
	backdate(t, dead, -leaseLife+10*time.Second) // it may be alive
	if !isLeased(s, "key") {
		t.Error("granted, though its holder may be alive")
	}
	backdate(t, dead, -20*time.Second)
	if isLeased(s, "key") {
		t.Error("not granted")
	}
}

// A folder that its holder has emptied but not yet removed is free.
func TestAnEmptyLeaseIsFree(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	if err := os.Mkdir(filepath.Join(dir, leaseFolder, "key"), 0o755); err != nil {
		t.Fatal(err)
	}
	if isLeased(s, "key") {
		t.Error("not granted")
	}
}

// A lease only saves time: without it the work is done all the same.
func TestLeasesThatCannotBeMadeAreGranted(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	if isLeased(s, "no/name") {
		t.Error("a key that cannot name a file is not granted")
	}
	if err := os.Remove(filepath.Join(dir, leaseFolder)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		release, ok := s.Lease("key")
		if !ok {
			t.Error("not granted where leases cannot be made")
		}
		release()
	}
	if err := errors.Join(s.Put(record(Result, 1)), s.Close()); err != nil {
		t.Error(err)
	}
}
