// Package long marks tests that take more than a few seconds.
package long

import (
	"os"
	"testing"
)

// Test skips a test unless all are asked for, as by make test-long.
func Test(t testing.TB) {
	t.Helper()
	if os.Getenv("HAMBENCH_TEST_LONG") == "" {
		t.Skip("takes long: make test-long runs it")
	}
}
