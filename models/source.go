package models

import (
	"context"
	"errors"
	"sync"

	"hambench/models/datasets"
)

// Source makes targets of models and data sets by their names. It loads each
// data set once, and is safe for concurrent use.
type Source struct {
	// Processes holds the processes of external models, which Close ends.
	Processes Processes

	models   Registry
	resolver *datasets.Resolver

	mu     sync.Mutex
	sets   map[string]*datasets.Set // loaded, by name
	splits map[splitOf]*datasets.Split
}

// splitOf names a split.
type splitOf struct {
	dataset string
	index   int
}

// NewSource returns a source for the models in a registry, on the data sets
// that a resolver finds. A nil registry means Builtin's.
func NewSource(m Registry, r *datasets.Resolver) *Source {
	if m == nil {
		m = Builtin()
	}
	return &Source{
		models: m, resolver: r,
		sets: make(map[string]*datasets.Set), splits: make(map[splitOf]*datasets.Split),
	}
}

// Close ends the processes of external models. Their targets cannot be used
// afterwards.
func (s *Source) Close() { s.Processes.stop() }

// Models returns the models of the source.
func (s *Source) Models() Registry { return s.models }

// Datasets returns the data sets of the source.
func (s *Source) Datasets() datasets.Registry { return s.resolver.Datasets() }

// Split returns a split of a data set, which is loaded once. The caller must not
// change it. An unknown name and an index out of range are usage errors; the error
// wraps datasets.ErrUnavailable if the set cannot be obtained.
func (s *Source) Split(ctx context.Context, dataset string, index int) (*datasets.Split, error) {
	// The lock is held while a set is loaded, so that two callers do not fetch it twice.
	s.mu.Lock()
	defer s.mu.Unlock()
	key := splitOf{dataset, index}
	if p, ok := s.splits[key]; ok {
		return p, nil
	}
	set, ok := s.sets[dataset]
	if !ok {
		var err error
		if set, err = s.resolver.Load(ctx, dataset); err != nil {
			return nil, err
		}
		s.sets[dataset] = set
	}
	p, err := set.Split(index)
	if err != nil {
		return nil, err
	}
	s.splits[key] = p
	return p, nil
}

// Target returns a new target: a model on a split of a data set. Names that are
// unknown and a model that cannot take the data are usage errors. Of an external
// model, ctx also ends the calls that the target makes later.
func (s *Source) Target(ctx context.Context, dataset string, split int, model string,
	o Options) (Target, error) {
	m, p, err := s.look(ctx, dataset, split, model)
	if err != nil {
		return nil, err
	}
	return m.On(p, s.options(ctx, o))
}

// options gives external models their processes and a context.
func (s *Source) options(ctx context.Context, o Options) Options {
	o.ctx, o.processes = ctx, &s.Processes
	return o
}

// look returns a model and a split by their names. It refuses a model that cannot take
// the data before it loads them.
func (s *Source) look(ctx context.Context, dataset string, split int, model string) (
	Model, *datasets.Split, error) {
	d, err := s.Datasets().Lookup(dataset)
	if err != nil {
		return Model{}, nil, err
	}
	m, err := s.models.For(model, dataset, d.Shape)
	if err != nil {
		return m, nil, err
	}
	p, err := s.Split(ctx, dataset, split)
	return m, p, err
}

// Fingerprint digests what a model computes on a split of a data set, as the
// package's Fingerprint does.
func (s *Source) Fingerprint(ctx context.Context, dataset string, split int, model string,
	o Options) (string, error) {
	m, p, err := s.look(ctx, dataset, split, model)
	if err != nil {
		return "", err
	}
	return Fingerprint(m, p, s.options(ctx, o))
}

// Unavailable returns which of the data sets are available neither from a folder
// nor from the network. Any other failure, such as a damaged file, is an error.
func (s *Source) Unavailable(ctx context.Context, names ...string) ([]string, error) {
	var missing []string
	for _, n := range names {
		_, err := s.Split(ctx, n, 0)
		if errors.Is(err, datasets.ErrUnavailable) {
			missing = append(missing, n)
		} else if err != nil {
			return nil, err
		}
	}
	return missing, nil
}
