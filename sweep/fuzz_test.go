package sweep

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hambench/usage"
	"strings"
	"testing"
)

// FuzzParseShard: a shard or a one-line usage error; a shard that is
// accepted is one of n that share every key among them.
func FuzzParseShard(f *testing.F) {
	for _, s := range []string{"", "0/1", "0/4", "3/4", "4/4", "-1/2", "1/0", "1", "a/b", "0/4/4", "+0/2", "0/99999999999999999999"} {
		f.Add(s, "key")
	}
	f.Fuzz(func(t *testing.T, s, key string) {
		shard, err := ParseShard(s)
		if err != nil {
			var bad *usage.Error
			if !errors.As(err, &bad) || strings.ContainsAny(err.Error(), "\n") {
				t.Fatalf("%q is not a one-line usage error", err)
			}
			return
		}
		if again, err := ParseShard(fmt.Sprintf("%d/%d", shard.Index, max(shard.Count, 1))); err != nil || s != "" && again != shard {
			t.Fatalf("%q → %+v → %+v, error %v", s, shard, again, err)
		}
		if shard.Count > 1 && (shard.Index < 0 || shard.Index >= shard.Count) {
			t.Fatalf("accepted %q as %+v", s, shard)
		}
		key = fmt.Sprintf("%x", sha256.Sum256([]byte(key))) // as the keys of cells are
		owners, count := 0, max(1, shard.Count)
		if count > 1000 {
			return // too many to ask
		}
		for i := range count {
			if (Shard{i, shard.Count}).Has(key) {
				owners++
			}
		}
		if owners != 1 {
			t.Fatalf("key %q lies in %d of %d shards", key, owners, count)
		}
	})
}
