package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"hambench/internal/atomicfile"
	"hambench/usage"
)

// Environment variables that a resolver made by NewResolver obeys.
const (
	EnvData    = "HAMBENCH_DATA"    // folder with copies of the data
	EnvOffline = "HAMBENCH_OFFLINE" // any value but 0 forbids the network
)

// ErrUnavailable says that a set's files are neither in the data folder nor
// in the cache, and cannot be fetched.
var ErrUnavailable = errors.New("data unavailable")

// Resolver finds the files of data sets: in Dir, in CacheDir, and, unless
// Offline, on the network, in this order. What it fetches it verifies and
// keeps in CacheDir. It is safe for concurrent use.
type Resolver struct {
	Registry Registry // nil is Builtin's
	Dir      string   // the user's folder; "" is none
	CacheDir string   // "" is none: what is fetched is not kept
	Offline  bool
	Client   *http.Client // nil is one with short time-outs; redirects are followed to HTTPS only

	once    sync.Once
	client  *http.Client
	network network
}

// NewResolver returns the resolver of a command line: dir, or else the folder
// that HAMBENCH_DATA names, and the user's cache folder. A data folder that
// does not exist is a usage error.
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
			return nil, usage.Errorf("data folder %q (%s) %s: want a folder with boston/data.txt and so on", dir, from, what)
		}
	}
	r := &Resolver{Dir: dir, Offline: os.Getenv(EnvOffline) != "" && os.Getenv(EnvOffline) != "0"}
	if cache, err := os.UserCacheDir(); err == nil {
		r.CacheDir = filepath.Join(cache, "hambench")
	}
	return r, nil
}

// Load returns a data set, verified and parsed. The error wraps
// ErrUnavailable where the set cannot be had, and is a usage error where the
// name is unknown or a file in the data folder is not the one it should be.
func (r *Resolver) Load(ctx context.Context, name string) (*Set, error) {
	d, err := r.Datasets().Lookup(name)
	if err != nil {
		return nil, err
	}
	if len(d.Files) == 0 {
		s, err := d.build()
		if err != nil {
			return nil, usage.Errorf("data set %s: %w", name, err)
		}
		return s, nil
	}
	var files [][]byte
	var names []string
	for _, f := range d.Files {
		data, from, err := r.file(ctx, d, f)
		if err != nil {
			return nil, fmt.Errorf("data set %s: %w", name, err)
		}
		files, names = append(files, data), append(names, from)
	}
	s, err := d.read(files, names)
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

// file returns the verified bytes of a file and where they came from.
func (r *Resolver) file(ctx context.Context, d Dataset, f File) (data []byte, from string, err error) {
	for _, dir := range []string{r.Dir, r.CacheDir} {
		data, path, err := local(dir, f)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, path, usage.Errorf("%w", err)
		}
		if got := digest(data); got == f.SHA256 {
			return data, path, nil
		} else if dir == r.Dir {
			return nil, path, usage.Errorf("%s: %s", path, d.mismatch(f, path, data, got))
		}
		// A damaged copy in the cache is fetched again.
	}
	data, err = r.download(ctx, f)
	if err != nil {
		return nil, "", err
	}
	if r.CacheDir != "" {
		if err := keep(r.CacheDir, f, data); err != nil {
			return nil, "", err
		}
	}
	return data, f.URLs[0], nil
}

// mismatch describes a file of the wrong digest: by what the parser makes of
// it, where that finds fault, since it is closer to the cause.
func (d Dataset) mismatch(f File, path string, data []byte, got string) string {
	err := d.Parse(&Set{Dataset: d}, [][]byte{data}, []string{path})
	if len(d.Files) == 1 {
		_, err = d.read([][]byte{data}, []string{path})
	}
	bad, ok := errors.AsType[*ParseError](err)
	if !ok {
		return fmt.Sprintf("wrong contents: SHA-256 is %s: want %s", got, f.SHA256)
	}
	where := ""
	if bad.Line > 0 {
		where = fmt.Sprintf("line %d: ", bad.Line)
	}
	return fmt.Sprintf("%s%s (SHA-256 %.12s…: want %.12s…)", where, bad.Problem, got, f.SHA256)
}

// local reads a file of a data folder; no folder holds no file.
func local(dir string, f File) (data []byte, path string, err error) {
	if dir == "" {
		return nil, "", fs.ErrNotExist
	}
	path = filepath.Join(dir, filepath.FromSlash(f.Path))
	data, err = os.ReadFile(path)
	return data, path, err
}

// keep stores a fetched file in the cache, whole or not at all.
func keep(dir string, f File, data []byte) error {
	path := filepath.Join(dir, filepath.FromSlash(f.Path))
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = atomicfile.Write(path, data)
	}
	if err != nil {
		return usage.Errorf("data cache %s cannot be written: %w: want a writable folder (XDG_CACHE_HOME), or %s", dir, err, EnvData)
	}
	return nil
}

func digest(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// Status is the state of one file of a data set.
type Status struct {
	Dataset string
	File    File
	Path    string // where it was found; "" if nowhere
	Err     error  // why it cannot be used; nil if verified or missing
}

// Missing reports that no copy was found.
func (s Status) Missing() bool { return s.Path == "" && s.Err == nil }

// Status looks at the local copies of a data set's files and verifies them.
// It does not use the network. Built-in sets have no files.
func (r *Resolver) Status(name string) ([]Status, error) {
	d, err := r.Datasets().Lookup(name)
	if err != nil {
		return nil, err
	}
	var out []Status
	for _, f := range d.Files {
		out = append(out, r.status(d, f))
	}
	return out, nil
}

func (r *Resolver) status(d Dataset, f File) Status {
	for _, dir := range []string{r.Dir, r.CacheDir} {
		data, path, err := local(dir, f)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		t := Status{Dataset: d.Name, File: f, Path: path, Err: err}
		if got := digest(data); err == nil && got != f.SHA256 {
			t.Err = errors.New(d.mismatch(f, path, data, got))
		}
		return t
	}
	return Status{Dataset: d.Name, File: f}
}

// FetchCommand is the command that gets data sets for good.
const FetchCommand = "hambench data fetch"
