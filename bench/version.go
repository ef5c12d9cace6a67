package bench

import (
	"runtime"
	"runtime/debug"
)

// Build tells what this program is.
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
