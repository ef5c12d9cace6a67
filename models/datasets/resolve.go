package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"syscall"

	"hambench/internal/atomicfile"
	"hambench/internal/fingerprint"
	"hambench/usage"
)

// Environment variables that a resolver made by NewResolver obeys.
const (
	// EnvData names a folder with copies of the data; --data takes precedence.
	EnvData = "HAMBENCH_DATA"
	// EnvOffline forbids the network by any value but "" and 0.
	EnvOffline = "HAMBENCH_OFFLINE"
)

// ErrUnavailable says that a set's files are neither in the data folder nor
// in the cache and cannot be fetched.
var ErrUnavailable = errors.New("data unavailable")

// Resolver finds the files of data sets in Dir, in CacheDir or, unless Offline,
// on the network, in this order. It verifies what it fetches and keeps it in
// CacheDir. It is safe for concurrent use.
type Resolver struct {
	// Registry lists the sets; nil means Builtin's.
	Registry Registry
	// Dir is the user's folder with copies; "" means none.
	Dir string
	// CacheDir is the folder in which what is fetched is kept; "" means that it is not.
	CacheDir string
	// Offline forbids the network.
	Offline bool
	// Client fetches; nil means one with short time-outs. Redirects are followed to
	// HTTPS only.
	Client *http.Client

	network network
}

// NewResolver returns the resolver of a command line: it looks in dir or, if that
// is "", in the folder that HAMBENCH_DATA names, and in the user's cache folder. A
// data folder that does not exist is a usage error.
func NewResolver(dir string) (*Resolver, error) {
	from := "--data"
	if dir == "" {
		dir, from = os.Getenv(EnvData), EnvData
	}
	if dir != "" {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			what := "does not exist"
			if err == nil {
				what = "is not a folder"
			}
			return nil, usage.Errorf(
				"data folder %q (%s) %s: want a folder with boston/data.txt and so on",
				dir, from, what)
		}
	}
	r := &Resolver{Dir: dir, Offline: os.Getenv(EnvOffline) != "" && os.Getenv(EnvOffline) != "0"}
	if cache, err := os.UserCacheDir(); err == nil {
		r.CacheDir = filepath.Join(cache, "hambench")
	}
	return r, nil
}

// Load returns a data set, verified and parsed. The error wraps
// ErrUnavailable if the set cannot be obtained, and is a usage error if the
// name is unknown or a file in the data folder is not the one it should be.
func (r *Resolver) Load(ctx context.Context, name string) (*Set, error) {
	d, err := r.Datasets().Lookup(name)
	if err != nil {
		return nil, err
	}
	files := make([][]byte, len(d.Files))
	for i, f := range d.Files {
		if files[i], err = r.file(ctx, d, f); err != nil {
			return nil, fmt.Errorf("data set %s: %w", name, err)
		}
	}
	s, err := d.read(files)
	if err != nil {
		return nil, usage.Errorf("data set %s: %w", name, err)
	}
	return s, nil
}

// Datasets returns the data sets that the resolver finds.
func (r *Resolver) Datasets() Registry {
	if r.Registry == nil {
		return Builtin()
	}
	return r.Registry
}

// file returns the verified bytes of a file. A damaged copy in the user's folder is a
// usage error, since the program must not replace it; one in the cache is fetched again.
func (r *Resolver) file(ctx context.Context, d Dataset, f File) ([]byte, error) {
	// The folders are looked up one by one: what a wrong copy means differs between them.
	data, path, err := d.local(f, r.Dir)
	if path != "" && err != nil {
		return nil, usage.Errorf("%s: %w", path, err)
	}
	if path == "" {
		data, path, err = d.local(f, r.CacheDir)
	}
	if path != "" && err == nil {
		return data, nil
	}
	data, err = r.download(ctx, f)
	if err == nil && r.CacheDir != "" {
		err = keep(r.CacheDir, f, data)
	}
	return data, err
}

// local returns the bytes and the path of the first copy of a file in the folders, and
// an error if they are not what they should be; path is "" if there is no copy.
func (d Dataset) local(f File, dirs ...string) (data []byte, path string, err error) {
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		path = filepath.Join(dir, filepath.FromSlash(f.Path))
		data, err = os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		if err == nil {
			err = d.verify(f, data)
		}
		return data, path, err
	}
	return nil, "", nil
}

// verify returns an error if a file has another digest than it should have. If the bytes
// cannot be parsed either, the error is the parser's, which is closer to the cause.
func (d Dataset) verify(f File, data []byte) error {
	got := fingerprint.Bytes(data)
	if got == f.SHA256 {
		return nil
	}
	t := d.table()
	err := t.read(data)
	if err == nil && len(d.Files) == 1 {
		err = t.set(d).check()
	}
	if err == nil {
		return fmt.Errorf("wrong contents: SHA-256 is %s: want %s", got, f.SHA256)
	}
	return fmt.Errorf("%w (SHA-256 %.12s…: want %.12s…)", err, got, f.SHA256)
}

// keep stores a fetched file in the cache, whole or not at all, so that another process
// never reads half of it. A folder that cannot be written is a usage error.
func keep(dir string, f File, data []byte) error {
	path := filepath.Join(dir, filepath.FromSlash(f.Path))
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = atomicfile.Write(path, data)
	}
	if err != nil {
		return usage.Errorf("data cache %s cannot be written: %w: "+
			"want a writable folder (XDG_CACHE_HOME), or %s", dir, err, EnvData)
	}
	return nil
}

// Status is the state of one file of a data set on this machine.
type Status struct {
	Dataset string // its name
	File    File
	Path    string // of the copy that was found; "" if none
	Err     error  // why it cannot be used; nil if verified or missing
}

// Missing reports whether no copy was found.
func (s Status) Missing() bool { return s.Path == "" && s.Err == nil }

// Status verifies the local copies of a data set's files and returns the state of each.
// It does not use the network. Built-in sets have no files. An unknown name is a usage
// error.
func (r *Resolver) Status(name string) ([]Status, error) {
	d, err := r.Datasets().Lookup(name)
	if err != nil {
		return nil, err
	}
	var out []Status
	for _, f := range d.Files {
		_, path, err := d.local(f, r.Dir, r.CacheDir)
		out = append(out, Status{Dataset: d.Name, File: f, Path: path, Err: err})
	}
	return out, nil
}

// FetchCommand is the command that fetches data sets and keeps them.
const FetchCommand = "hambench data fetch"
