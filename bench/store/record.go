package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Kind says what a record's body is. The store does not look into bodies.
type Kind string

// The kinds of records.
const (
	// Result is what one chain yielded (bench.Result).
	Result Kind = "result"
	// Exact is what one exact job yielded: rows of ergodic errors (certify.Row).
	Exact Kind = "exact"
	// Reference is a set of reference chains (oracle.Reference).
	Reference Kind = "reference"
	// Part is a finished chain of a reference under way.
	Part Kind = "part"
	// Run is the manifest of a study whose results are in this store (bench.Plan).
	Run Kind = "run"
)

// folder is where records of a kind lie, each a file of its own; none for the
// kinds whose records are lines of segments.
func (k Kind) folder() string {
	switch k {
	case Reference, Part, Run:
		return string(k) + "s"
	}
	return ""
}

// Record is what the store keeps under a kind and a key.
type Record struct {
	Kind Kind `json:"kind"`
	// Key is at most 200 printable ASCII characters without a space or a slash,
	// and does not begin with a dot: it can name a file.
	Key  string `json:"key"`
	Made Made   `json:"made"`
	// Seconds is how long the body took, of a reference its chains one after another.
	Seconds float64 `json:"seconds,omitempty"`
	// Body is JSON. Two records of one kind, key, machine and Basis have equal bodies,
	// byte for byte; what may differ between them is outside the body.
	Body json.RawMessage `json:"body"`
}

// Basis names what a record's body depends on besides its key and its machine; "" for nothing.
// Records of one key and machine whose bases differ are all right: that of the first basis by
// name counts. The package that knows bodies sets it before any store is opened.
var Basis = func(Record) string { return "" }

// NewRecord returns a record with a body that is written as JSON.
func NewRecord(kind Kind, key string, seconds float64, made Made, body any) (Record, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return Record{}, fmt.Errorf("%s %.12s: %w", kind, key, err)
	}
	return Record{Kind: kind, Key: key, Seconds: seconds, Made: made, Body: b}, nil
}

// Machine is what numbers depend on besides their key: the processor's
// architecture, the instruction set of the machine kernels, and a digest of what
// they compute at fixed points. The zero Machine is no particular one.
type Machine struct {
	Arch    string `json:"arch,omitempty"`
	ISA     string `json:"isa,omitempty"`
	Kernels string `json:"kernels,omitempty"`
}

// Made says where a record comes from, and when.
type Made struct {
	Machine
	Go     string    `json:"go,omitempty"`
	Commit string    `json:"commit,omitempty"`
	Time   time.Time `json:"time,omitzero"`
}

// String names the machine by architecture and instruction set.
// The digest of its machine kernels is left out.
func (m Machine) String() string {
	s := m.Arch + " " + m.ISA
	if m.Kernels != "" {
		s += fmt.Sprintf(" (kernels %.8s)", m.Kernels)
	}
	return s
}

// Version is the version of the record format. Version 1 was the first edition's.
const Version = 2

// A record is one line:
//
//	{"v":2,"sum":"<hex SHA-256 of the record's bytes>","record":<Record as JSON>}
//
// Readers compare these bytes exactly, so every altered byte is noticed: in
// the record by the sum, elsewhere by the frame.
const (
	frameSum    = `{"v":2,"sum":"`
	frameRecord = `","record":`
	frameEnd    = "}\n"
	sumDigits   = 2 * sha256.Size
)

// Corruption is a line or a file of a store that is not a valid record. It is
// quarantined: a line stays where it is, unused, and a copy of it goes to the
// quarantine folder; a file is moved there.
type Corruption struct {
	File   string
	Line   int // 0 for a file that holds one record
	Reason string
	// Known says that it was already quarantined.
	Known bool
	sum   string // of the bytes
	text  []byte // of a line, until it is quarantined
}

// Error names the file, the line if it is one, and what is wrong with it.
// It is one line, whatever the file holds.
func (c *Corruption) Error() string {
	if c.Line == 0 {
		return fmt.Sprintf("%s: %s", c.File, c.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", c.File, c.Line, c.Reason)
}

// encode returns the record's line, newline included. What decode would refuse
// is an error, and so is a body that is no JSON.
func (r Record) encode() ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	record, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("%s %.12s: %w", r.Kind, r.Key, err)
	}
	return []byte(frameSum + checksum(record) + frameRecord + string(record) + frameEnd), nil
}

// check refuses records that could not be found again.
func (r Record) check() error {
	switch {
	case !isName(string(r.Kind)):
		return fmt.Errorf("record of kind %.40q, which is no name", r.Kind)
	case !isName(r.Key):
		return fmt.Errorf("record with key %.40q, which is no name", r.Key)
	case len(r.Body) == 0:
		return fmt.Errorf("%s %.12s: record without a body", r.Kind, r.Key)
	}
	return nil
}

// isName reports whether a kind or key can name a file.
func isName(s string) bool {
	outside := func(c rune) bool { return c <= ' ' || c > '~' || c == '/' || c == '\\' }
	return s != "" && len(s) <= 200 && s[0] != '.' && strings.IndexFunc(s, outside) < 0
}

// fileName is the name of the file of a record that has one of its own: one
// per key for manifests, otherwise one per key, machine and body. So writers
// never replace what is different, and readers see that it differs.
func (r Record) fileName() string {
	if r.Kind == Run {
		return r.Key
	}
	m := r.Made.Machine
	text := fmt.Appendf(nil, "%s\n%s\n%s\n%s", m.Arch, m.ISA, m.Kernels, r.Body)
	return fmt.Sprintf("%s-%.16s", r.Key, checksum(text))
}

// checksum returns the hex SHA-256 of a record's bytes.
// It covers the bytes as they are in the line, not what they mean.
func checksum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// errTorn says that a line is incomplete, as after a crash while it was written.
var errTorn = errors.New("torn record: the line has no end")

// otherVersion matches the beginning of a line of another format, which is left alone.
var otherVersion = regexp.MustCompile(`^\{"v":([0-9]+)[,}]`)

// decode is the inverse of encode. The error says what is wrong with the line. One
// without a newline, the last of its file, was written in part.
func decode(line []byte) (Record, error) {
	// The digits of the sum end at sumEnd, and the record begins at start.
	const sumEnd = len(frameSum) + sumDigits
	const start = sumEnd + len(frameRecord)
	if !bytes.HasSuffix(line, []byte("\n")) {
		return Record{}, errTorn
	}
	if !bytes.HasPrefix(line, []byte(frameSum)) {
		if m := otherVersion.FindSubmatch(line); m != nil && string(m[1]) != strconv.Itoa(Version) {
			return Record{}, fmt.Errorf("foreign record: it has version %s, this program knows "+
				"version %d",
				m[1], Version)
		}
		return Record{}, errors.New("foreign line: not a record of a result store")
	}
	// The length comes first: the cuts behind it, and those below, are then within the line.
	if len(line) < start+len(frameEnd) || string(line[sumEnd:start]) != frameRecord ||
		!bytes.HasSuffix(line, []byte(frameEnd)) {
		return Record{}, errors.New("damaged record: its frame is incomplete")
	}
	record := line[start : len(line)-len(frameEnd)]
	if sum := checksum(record); sum != string(line[len(frameSum):sumEnd]) {
		return Record{}, errors.New("altered record: its bytes do not have its checksum")
	}
	// The sum vouches for the bytes, not for what wrote them: the record is checked all the same.
	var r Record
	err := json.Unmarshal(record, &r)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return Record{}, fmt.Errorf("record with a valid checksum that is none: %v", err)
	}
	return r, nil
}

// scanRecords calls record or corrupt for every line of the part of a segment that
// begins at a position, and returns the position behind the last whole line.
func scanRecords(
	text []byte, at position, record func(line int, r Record), corrupt func(*Corruption),
) position {
	for line := range bytes.Lines(text) {
		r, err := decode(line)
		if err == nil {
			record(at.line+1, r)
		} else {
			bad := bytes.TrimSuffix(line, []byte("\n"))
			corrupt(&Corruption{
				Line: at.line + 1, Reason: err.Error(), sum: checksum(bad), text: bytes.Clone(bad),
			})
		}
		if err != errTorn {
			at = position{at.offset + int64(len(line)), at.line + 1}
		}
	}
	return at
}
