package sweep

import (
	"runtime"
	"runtime/debug"

	"hambench/internal/kernel"
	"hambench/models"
	"hambench/store"
)

// Build describes the running program.
type Build struct {
	Go       string // version of the compiler
	Commit   string // "" if the build does not know it
	Modified bool   // built from files that differ from the commit
}

// Version returns what the build recorded of itself. Programs of `go test`
// and `go run` know no commit.
func Version() Build {
	b := Build{Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String is the commit, with a mark if files differ from it.
func (b Build) String() string {
	if b.Modified {
		return b.Commit + "+changes"
	}
	return b.Commit
}

// Here describes the machine that the program runs on.
func Here() store.Machine {
	return store.Machine{Arch: runtime.GOARCH, ISA: kernel.ISA(), Kernels: models.KernelDigest()}
}

// MadeHere is what is stamped on records that this program makes.
func MadeHere() store.Made {
	b := Version()
	return store.Made{Machine: Here(), Go: b.Go, Commit: b.String()}
}
