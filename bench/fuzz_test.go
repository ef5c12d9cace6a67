package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"hambench/usage"
)

// FuzzScanRecords: whatever the bytes of a segment, every record that is
// served has, within its frame, a body with its checksum; every line is
// either served or trouble; and the count of bytes is that of whole lines.
func FuzzScanRecords(f *testing.F) {
	one, err := encodeRecord(result(1))
	if err != nil {
		f.Fatal(err)
	}
	two, err := encodeRecord(result(2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Join([][]byte{one, two}, nil))
	f.Add(bytes.Join([][]byte{one, two[:40]}, nil))
	f.Add(bytes.ReplaceAll(one, []byte("\n"), []byte("\r\n")))
	f.Add([]byte("\n\n{\"v\":2,\"sum\":\"\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := bytes.SplitAfter(data, []byte("\n"))
		whole := len(lines) - 1 // behind the last newline there is no line, or a torn one
		torn := lines[whole]
		seen := make([]bool, len(lines)+1)
		take := func(n int) {
			if n < 1 || n > len(lines) || seen[n] {
				t.Fatalf("line %d of %d, or twice", n, len(lines))
			}
			seen[n] = true
		}
		size, last, err := scanRecords(bytes.NewReader(data), 0, func(n int, r Result) {
			take(n)
			line := bytes.TrimSuffix(lines[n-1], []byte("\n"))
			body := line[len(frameSum)+sumDigits+len(frameBody) : len(line)-len(frameEnd)]
			if !bytes.Equal(line, frame(body)) || r.Key != r.Cell.Key() {
				t.Fatalf("accepted %q as %+v", line, r)
			}
		}, func(tr Trouble) {
			take(tr.Line)
			if tr.Reason == "" || strings.Contains(tr.Reason, "\n") {
				t.Fatalf("trouble %q: want one line", tr.Reason)
			}
		})
		if err != nil || last != whole || size != int64(len(data)-len(torn)) {
			t.Fatalf("%d bytes in %d lines, error %v; want %d in %d", size, last, err, len(data)-len(torn), whole)
		}
		for n := 1; n <= len(lines); n++ {
			if want := n <= whole || len(torn) > 0; seen[n] != want {
				t.Fatalf("line %d of %q: seen %v, want %v", n, data, seen[n], want)
			}
		}
	})
}

// frame puts a body into the frame of a record with its checksum.
func frame(body []byte) []byte {
	return []byte(frameSum + checksum(body) + frameBody + string(body) + frameEnd)
}

// FuzzRecordBody: bodies with the right checksum, such as another version of
// the program may write. What is accepted survives being written again, to
// the last bit.
func FuzzRecordBody(f *testing.F) {
	body, err := json.Marshal(result(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add([]byte(`{"cell":{"observe":"density"},"key":""}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := decodeRecord(frame(body))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("error of more than one line: %q", err)
			}
			return
		}
		line, err := encodeRecord(r)
		if err != nil {
			t.Fatalf("accepted %q, which cannot be written again: %v", body, err)
		}
		again, err := decodeRecord(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil || !Equal(r, again) || r.Seconds != again.Seconds {
			t.Fatalf("%+v becomes %+v, error %v", r, again, err)
		}
	})
}

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
		if again, err := ParseShard(shard.String()); err != nil || again.String() != shard.String() {
			t.Fatalf("%q → %+v → %q → %+v, error %v", s, shard, shard, again, err)
		}
		if shard.Count > 1 && (shard.Index < 0 || shard.Index >= shard.Count) {
			t.Fatalf("accepted %q as %+v", s, shard)
		}
		key = checksum([]byte(key)) // as the keys of cells are
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

// FuzzCellJSON: a cell that is read from JSON has a key that does not change
// when it is written and read again, and Check answers in one line.
func FuzzCellJSON(f *testing.F) {
	data, err := json.Marshal(result(1).Cell)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"observe":"density","samples":-1,"h":1e-320}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var c, again Cell
		if json.Unmarshal(data, &c) != nil {
			return
		}
		if err := c.Check(); err != nil && strings.Contains(err.Error(), "\n") {
			t.Fatalf("error of more than one line: %q", err)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if err := json.Unmarshal(text, &again); err != nil || again.Key() != c.Key() || !reflect.DeepEqual(again, c) {
			t.Fatalf("%+v becomes %+v, error %v", c, again, err)
		}
	})
}
