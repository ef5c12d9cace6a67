package paper

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"hambench/bench"
	"hambench/bench/table"
)

// A test that was chosen when its numbers were known says little. The claims' files
// therefore hold, for each claim, the moment at which its test was frozen, and a digest of
// what decides: the test in words, the statistic, the limits and the rows that are read.
// What was stored before is older than the freeze; a verdict that reads such a record says
// so, and so does one whose test is not that of the digest.

// Freeze says when a claim's test was frozen, and what it was.
type Freeze struct {
	Frozen *Moment `json:"frozen"`           // nil for the claims of users' studies
	Digest string  `json:"digest,omitempty"` // of the test that was frozen
}

// A Moment is a day of UTC (2026-11-23), or a time (2026-11-27T14:00:00Z). All of the day
// on which a test was frozen is before the freeze.
type Moment struct {
	text string // as it was written
	end  time.Time
}

// UnmarshalTOML reads a day or a time.
func (m *Moment) UnmarshalTOML(text []byte) error {
	day, err := time.Parse(time.DateOnly, string(text))
	m.text, m.end = string(text), day.AddDate(0, 0, 1)
	if err != nil {
		m.end, err = time.Parse(time.RFC3339, m.text)
	}
	return err
}

// MarshalText writes what was read.
func (m Moment) MarshalText() ([]byte, error) { return []byte(m.text), nil }

func (m Moment) String() string { return m.text }

// codeLimits are the limits that stand in the code, since several statistics share them.
// They are part of every digest.
var codeLimits = fmt.Sprint(orderTolerance, threeDigits, longEpoch, shortEpoch, fewest,
	fewestSteps, paperSplits, rounding, lagError, nearScore, referenceShare, nearFriction,
	frictionSpread)

// currentDigest is that of a claim's test as the file has it now. How numbers are written,
// and what is said about a verdict, does not decide it, and is no part of it.
func (c Claim) currentDigest() string {
	h := sha256.New()
	// Maps are printed in the order of their keys.
	fmt.Fprintf(h, "%s\n%v\n%s\n%s\n%s\n", c.ID, c.Frozen, c.Test, c.Undecided, codeLimits)
	for _, x := range c.Cases {
		fmt.Fprintf(h, "%v over %v: %s of %s in %v at %v, from %v by %v; %v %q %q %t %t\n",
			x.Where, x.Over, x.Statistic, x.Of, x.Between, x.Level, x.From, x.SD,
			x.Worst, x.At, x.Replicates, x.Optional, x.SameSplits)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// changed reports whether the test of a claim is another than the one that was frozen.
func (c Claim) changed() bool { return c.Frozen != nil && c.Digest != c.currentDigest() }

// older reports whether a row may have been known when the test was frozen: it was made
// before, or has no time. Of a cell that has not been run nothing was known.
func (c Claim) older(r table.Row) bool {
	if c.Frozen == nil || r.Get("missing").Truth() {
		return false
	}
	made, err := time.Parse(time.RFC3339, r.Text(bench.MadeColumn))
	return err != nil || made.Before(c.Frozen.end)
}

// since is the opposite of older.
func (c Claim) since(r table.Row) bool { return !c.older(r) }
