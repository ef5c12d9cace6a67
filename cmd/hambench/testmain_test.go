package main

import (
	"os"
	"path/filepath"
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
	os.Exit(m.Run())
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
