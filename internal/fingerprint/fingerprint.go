// Package fingerprint digests what a method computes at a few points, so that
// results can be stored under the numbers that made them: a change of the
// method that changes numbers changes its digest, any other does not. It also digests
// bytes, of files and of descriptions.
package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
)

// Bytes returns the SHA-256 of data in hexadecimal digits.
func Bytes(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// JSON returns the SHA-256 of the JSON of a value, which must have one, in hexadecimal digits. Maps
// are written in the order of their keys, so that equal values have equal digests.
func JSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("fingerprint: no JSON of %T: %v", v, err)) // only NaN or Inf fields
	}
	return Bytes(b)
}

// Digest collects numbers. They enter with seven significant digits, on which
// processors with and without fused multiply-adds agree; so digits should not
// cancel at the points that are digested.
type Digest struct{ h hash.Hash }

// New returns an empty digest.
func New() Digest { return Digest{sha256.New()} }

// Add takes in a label and numbers. The label says what they are, so that
// numbers in another place make another digest.
func (d Digest) Add(label string, x ...float64) { fmt.Fprintf(d.h, "%q %.7g\n", label, x) }

// String returns the digest of all that was added: 32 hexadecimal digits.
func (d Digest) String() string { return hex.EncodeToString(d.h.Sum(nil)[:16]) }
