package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"hambench/models/datasets"
)

// TestMain runs the driver instead of the tests if the test binary is called hambench,
// as by the link of driverIn: no test has to build the driver. Tests run in their
// package's folder; a relative HAMBENCH_DATA is meant from the repository's root.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "hambench" {
		main()
	}
	if dir := os.Getenv(datasets.EnvData); dir != "" && !filepath.IsAbs(dir) {
		if abs, err := filepath.Abs(filepath.Join("..", "..", dir)); err == nil {
			os.Setenv(datasets.EnvData, abs)
		}
	}
	code := m.Run()
	if certifiedIn != "" {
		os.RemoveAll(certifiedIn)
	}
	os.Exit(code)
}

// certifiedIn is the folder of certified, once it is made.
var certifiedIn string

// certified returns what reproduce gave of the studies orders and claims, and the folder
// with what it computed: minutes of work, done once for all tests, which copy it.
var certified = sync.OnceValue(func() (made struct {
	code           int
	dir            string
	stdout, stderr bytes.Buffer
}) {
	var err error
	if certifiedIn, err = os.MkdirTemp("", "certified"); err != nil {
		panic(err)
	}
	made.dir = certifiedIn
	made.code = run(context.Background(), &made.stdout, &made.stderr, []string{
		"reproduce", "--only", "orders,claims", "--out", made.dir,
	})
	return made
})

// copyCertified puts the store of certified into a folder for results.
func copyCertified(t *testing.T, out string) {
	t.Helper()
	made := certified()
	if made.code != exitOK {
		t.Fatalf("exit code %d, %s", made.code, &made.stderr)
	}
	store := filepath.Join(out, "store")
	if err := os.CopyFS(store, os.DirFS(filepath.Join(made.dir, "store"))); err != nil {
		t.Fatal(err)
	}
}

// driverIn puts the driver into a folder, for tests that need a process of their own,
// and returns its path.
func driverIn(t *testing.T, dir string) string {
	t.Helper()
	binary, err := os.Executable()
	path := filepath.Join(dir, "hambench")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.Symlink(binary, path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
