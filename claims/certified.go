package claims

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"hambench/certify"
	"hambench/integrators"
	"hambench/internal/atomicfile"
	"hambench/minibatch"
	"hambench/usage"
)

// engineRevision is part of every key. Raise it when package certify gives
// other numbers for the same problem, integrator, scheme and steps; changes
// of an integrator are noticed without it.
const engineRevision = 1

// Job is one call of the certifier, addressed by all that its rows depend
// on.
type Job struct {
	Key string
	run func(ctx context.Context) ([]certify.Row, error)
}

// newJob addresses a call of certify.Run. The integrators must be given.
func newJob(o certify.Options) (Job, error) {
	problem, err := json.Marshal(o.Problem)
	if err != nil {
		return Job{}, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "revision %d\nproblem %s %s\nsteps %v\nnl %d\n", engineRevision, o.Problem.Name, problem, o.Steps, o.Inner)
	for _, s := range o.Schemes {
		fmt.Fprintf(h, "scheme %s %s\n", s.Name, minibatch.Fingerprint(s))
	}
	for _, m := range o.Integrators {
		mark, err := integrators.Fingerprint(m, nil)
		if err != nil {
			return Job{}, err
		}
		fmt.Fprintf(h, "integrator %s %+v %s\n", m.Name, m.Claims, mark)
	}
	run := func(ctx context.Context) ([]certify.Row, error) { return certify.Run(ctx, o) }
	return Job{Key: hex.EncodeToString(h.Sum(nil)), run: run}, nil
}

// Cache keeps certified rows as files, one a job, named by its key.
type Cache struct {
	Dir string // created when something is written; "" keeps nothing
	// Optional says that rows which cannot be kept are no failure.
	Optional bool

	computed, reused atomic.Int64
}

// Computed counts the jobs that Rows ran.
func (c *Cache) Computed() int { return int(c.computed.Load()) }

// Reused counts the jobs whose rows Rows found.
func (c *Cache) Reused() int { return int(c.reused.Load()) }

// Rows returns the rows of the jobs, in their order, and runs those that are
// not there, on the given number of workers.
func (c *Cache) Rows(ctx context.Context, jobs []Job, workers int) ([]certify.Row, error) {
	rows, errs := make([][]certify.Row, len(jobs)), make([]error, len(jobs))
	free := make(chan struct{}, max(1, workers))
	var wg sync.WaitGroup
	for i, j := range jobs {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				rows[i], errs[i] = c.rows(ctx, j)
			}
		})
	}
	wg.Wait()
	var all []certify.Row
	for i := range jobs {
		if errs[i] != nil {
			return nil, errs[i]
		}
		all = append(all, rows[i]...)
	}
	return all, nil
}

// Known returns the rows of those jobs that are there, and how many jobs have
// none. It does not count as a reuse.
func (c *Cache) Known(jobs []Job) (rows []certify.Row, missing int) {
	for _, j := range jobs {
		if r, ok := c.read(j.Key); ok {
			rows = append(rows, r...)
		} else {
			missing++
		}
	}
	return rows, missing
}

func (c *Cache) rows(ctx context.Context, j Job) ([]certify.Row, error) {
	if rows, ok := c.read(j.Key); ok {
		c.reused.Add(1)
		return rows, nil
	}
	rows, err := j.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("certify: %w", err)
	}
	c.computed.Add(1)
	if err := c.write(j.Key, rows); err != nil && !c.Optional {
		return nil, err
	}
	return rows, nil
}

// entry is a file of the cache.
type entry struct {
	Key    string          `json:"key"`
	Digest string          `json:"sha256"` // of the rows' bytes
	Rows   json.RawMessage `json:"rows"`
}

func (c *Cache) path(key string) string { return filepath.Join(c.Dir, key+".json") }

func (c *Cache) write(key string, rows []certify.Row) error {
	if c.Dir == "" {
		return nil
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("claims: certified rows: %w", err)
	}
	data, err := json.Marshal(entry{Key: key, Digest: digest(raw), Rows: raw})
	if err != nil {
		return fmt.Errorf("claims: certified rows: %w", err)
	}
	return c.put(key, append(data, '\n'))
}

// put writes the file of a key.
func (c *Cache) put(key string, data []byte) error {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return usage.Errorf("folder of certified rows cannot be created: %w", err)
	}
	return atomicfile.Write(c.path(key), data)
}

// read returns the rows of a key. A file that is damaged counts as missing:
// it is computed again and replaced.
func (c *Cache) read(key string) ([]certify.Row, bool) {
	if c.Dir == "" {
		return nil, false
	}
	data, err := os.ReadFile(c.path(key))
	if err != nil {
		return nil, false
	}
	return decode(data, key)
}

// decode returns the rows in a file's bytes.
func decode(data []byte, key string) ([]certify.Row, bool) {
	var e entry
	if json.Unmarshal(data, &e) != nil || e.Key != key || e.Digest != digest(e.Rows) {
		return nil, false
	}
	var rows []certify.Row
	if json.Unmarshal(e.Rows, &rows) != nil {
		return nil, false
	}
	restore(rows)
	return rows, true
}

// Merge adds the files of another cache's folder that are not there, and
// returns how many. Damaged files are left out. Round-off differs from one
// processor to another, so rows of one key need not be the same bits; another
// verdict is an error that names both files.
func (c *Cache) Merge(dir string) (added int, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("claims: %w", err)
	}
	for _, e := range entries {
		key, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(key, ".") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			return added, fmt.Errorf("claims: %w", err)
		}
		theirs, ok := decode(data, key)
		if !ok {
			continue
		}
		if ours, ok := c.read(key); !ok {
			if err := c.put(key, data); err != nil {
				return added, err
			}
			added++
		} else if !sameVerdicts(ours, theirs) {
			return added, fmt.Errorf("exact errors of one key have different verdicts: %s and %s", c.path(key), path)
		}
	}
	return added, nil
}

// sameVerdicts reports whether two computations of a job decide the same.
func sameVerdicts(a, b []certify.Row) bool {
	return slices.EqualFunc(a, b, func(x, y certify.Row) bool {
		return x.Integrator == y.Integrator && x.Scheme == y.Scheme && x.Inner == y.Inner &&
			slices.EqualFunc(x.Observables, y.Observables, func(o, p certify.Observable) bool { return o.Name == p.Name && o.Verdict == p.Verdict })
	})
}

// restore puts back the infinities that JSON cannot say: a claim or an
// uncertainty is never NaN.
func restore(rows []certify.Row) {
	infinite := func(x *certify.Number) {
		if math.IsNaN(float64(*x)) {
			*x = certify.Number(math.Inf(1))
		}
	}
	for _, r := range rows {
		for i := range r.Observables {
			infinite(&r.Observables[i].Claim)
			infinite(&r.Observables[i].Uncertainty)
		}
	}
}

func digest(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
