package paper

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/pelletier/go-toml/v2"

	"hambench/bench"
	"hambench/bench/table"
)

// A test that was chosen when its numbers were known says little. The claims' files
// therefore hold, for each claim, the date on which its test was frozen, and a digest of
// what decides: the test in words, the statistic, the limits and the rows that are read.
// What was stored until the end of that day is older than the freeze; a verdict that
// reads such a record says so, and so does one whose test is not that of the digest.

// Freeze is the day on which a claim's test was frozen, and what it was.
type Freeze struct {
	// Frozen is the day, in UTC; nil for the claims of users' studies.
	Frozen *toml.LocalDate `json:"frozen"`
	Digest string          `json:"digest,omitempty"` // of the test on that day
}

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

// older reports whether a row was known when the test was frozen: on that day or before
// it. One without a time may have been.
func (c Claim) older(r table.Row) bool {
	if c.Frozen == nil {
		return false
	}
	made, err := time.Parse(time.RFC3339, r.Text(bench.MadeColumn))
	return err != nil || made.Before(c.Frozen.AsTime(time.UTC).AddDate(0, 0, 1))
}

// since is the opposite of older.
func (c Claim) since(r table.Row) bool { return !c.older(r) }
