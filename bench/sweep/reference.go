package sweep

import (
	"encoding/json"
	"errors"

	"hambench/bench/store"
	"hambench/oracle"
)

// LoadReference returns the reference chains of a key from a store, with the
// machine that they were made on; nil if there are none.
// A record that cannot be decoded counts as none, and is quarantined.
func LoadReference(s *store.Store, key string) (*oracle.Reference, store.Machine) {
	for {
		r, ok := s.Get(store.Reference, key)
		if !ok {
			return nil, store.Machine{}
		}
		if ref, err := oracle.Decode(r.Body); err != nil {
			s.Reject(r, err.Error())
		} else {
			ref.Seconds = r.Seconds
			return ref, r.Made.Machine
		}
	}
}

// parts keeps the finished chains of a reference under way in the store.
type parts struct {
	s   *session
	key string // of the reference
}

// part is the key of the record of one chain.
func (p parts) part(name string) string { return p.key + "-" + name }

// Load returns a chain that an earlier run finished.
// ok is false if there is none.
func (p parts) Load(name string) (body []byte, seconds float64, ok bool) {
	r, ok := p.s.Store.Get(store.Part, p.part(name))
	return r.Body, r.Seconds, ok
}

// Save keeps a finished chain.
// A store that cannot be written ends the run.
func (p parts) Save(name string, body []byte, seconds float64) error {
	return p.s.fatal(p.s.Store.Put(store.Record{Kind: store.Part, Key: p.part(name), Made: p.s.Made,
		Seconds: seconds, Body: json.RawMessage(body)}))
}

// removeParts removes what is no longer needed of a reference.
// All are tried; failures are returned together.
func (s *session) removeParts(j Job) error {
	var failed error
	for _, name := range j.Spec.PartNames() {
		failed = errors.Join(failed, s.Store.Remove(store.Part, parts{s, j.Key}.part(name)))
	}
	return failed
}
