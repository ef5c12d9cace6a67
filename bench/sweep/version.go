package sweep

import (
	"runtime"
	"runtime/debug"

	"hambench/bench/store"
	"hambench/internal/kernel"
	"hambench/models"
)

// Version is that of the program and of its Python package.
const Version = "3.0.0"

// Commit returns the commit that the program was built from, with a mark if files
// differed from it; "" in programs of `go test` and `go run`, which know none.
func Commit() string {
	// Go records these where it builds inside a repository (-buildvcs).
	var commit, changes string
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				changes = "+changes"
			}
		}
	}
	if commit == "" {
		return linked
	}
	return commit + changes
}

// linked is the commit as the linker states it (-X), for builds of which Go does not record
// it: Python's wheel.
var linked string

// Here describes the machine that the program runs on.
// Records of machines that differ in any of these stand side by side in a store.
func Here() store.Machine {
	return store.Machine{Arch: runtime.GOARCH, ISA: kernel.ISA(), Kernels: models.KernelDigest()}
}

// MadeHere returns what is stamped on records that this program makes.
func MadeHere() store.Made {
	return store.Made{Machine: Here(), Go: runtime.Version(), Commit: Commit()}
}
