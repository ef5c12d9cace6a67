package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"hambench/datasets"
	"hambench/models"
)

// Data is the Source of the registered data sets and models. It is safe for
// concurrent use.
type Data struct {
	resolver *datasets.Resolver

	mu     sync.Mutex
	sets   map[string]*datasets.Set
	splits map[splitOf]*datasets.Split
}

type splitOf struct {
	dataset string
	index   int
}

// NewData returns the source that finds its data by a resolver.
func NewData(r *datasets.Resolver) *Data {
	return &Data{resolver: r, sets: make(map[string]*datasets.Set), splits: make(map[splitOf]*datasets.Split)}
}

// Split returns a split of a data set, loading the set once. The caller must
// not change it.
func (d *Data) Split(ctx context.Context, dataset string, index int) (*datasets.Split, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := splitOf{dataset, index}
	if s, ok := d.splits[key]; ok {
		return s, nil
	}
	set, ok := d.sets[dataset]
	if !ok {
		var err error
		if set, err = d.resolver.Load(ctx, dataset); err != nil {
			return nil, err
		}
		d.sets[dataset] = set
	}
	s, err := set.Split(index)
	if err != nil {
		return nil, err
	}
	d.splits[key] = s
	return s, nil
}

// Target returns a new target for a model on a split.
func (d *Data) Target(ctx context.Context, dataset string, split int, model, precision string) (models.Target, *Plane, error) {
	s, err := d.Split(ctx, dataset, split)
	if err != nil {
		return nil, nil, err
	}
	t, err := models.Builtin().New(model, s, models.Options{Precision: precision})
	if err != nil {
		return nil, nil, err
	}
	if s.Features != 1 || s.Task != datasets.Regression {
		return t, nil, nil
	}
	return t, &Plane{TrainX: s.TrainX, TrainY: s.TrainY, TestX: s.TestX}, nil
}

// Unavailable returns which of the data sets can be had neither from a
// folder nor from the network. Other troubles (a damaged file) are errors.
func (d *Data) Unavailable(ctx context.Context, names ...string) ([]string, error) {
	var missing []string
	for _, n := range names {
		_, err := d.Split(ctx, n, 0)
		if errors.Is(err, datasets.ErrUnavailable) {
			missing = append(missing, n)
		} else if err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// SkippedNote says, for the end of a run, which data sets were missing, what
// took their place, and which command gets them; "" if none were.
func SkippedNote(unavailable []string) string {
	if len(unavailable) == 0 {
		return ""
	}
	var stand []string
	for _, n := range unavailable {
		if p, ok := LookupProblem(n); ok {
			if t := teacher(p.Task).Dataset; !slices.Contains(stand, t) {
				stand = append(stand, t)
			}
		}
	}
	return fmt.Sprintf("no data for %s: skipped; in their place: %s (built in). Get the data with: hambench data fetch",
		strings.Join(unavailable, ", "), strings.Join(stand, ", "))
}
