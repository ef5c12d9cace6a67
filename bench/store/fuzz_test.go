package store

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// frame puts a record's bytes into the frame with their checksum.
func frame(record []byte) []byte {
	return []byte(frameSum + checksum(record) + frameRecord + string(record) + frameEnd)
}

// FuzzScanRecords: whatever the bytes of a segment, every record that is
// served has, within its frame, bytes with its checksum; every line is either
// served or corrupt; and the count of bytes is that of whole lines.
func FuzzScanRecords(f *testing.F) {
	one, err := record(Result, 1).encode()
	if err != nil {
		f.Fatal(err)
	}
	two, err := record(Exact, 2).encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Join([][]byte{one, two}, nil))
	f.Add(bytes.Join([][]byte{one, two[:40]}, nil))
	f.Add(bytes.ReplaceAll(one, []byte("\n"), []byte("\r\n")))
	f.Add([]byte("\n\n{\"v\":3,\"sum\":\"\"}\n"))
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
		end := scanRecords(data, position{}, func(n int, r Record) {
			take(n)
			line := lines[n-1]
			inner := line[len(frameSum)+sumDigits+len(frameRecord) : len(line)-len(frameEnd)]
			if !bytes.Equal(line, frame(inner)) || r.Kind == "" || r.Key == "" {
				t.Fatalf("accepted %q as %+v", line, r)
			}
		}, func(c *Corruption) {
			take(c.Line)
			if c.Reason == "" || strings.Contains(c.Reason, "\n") {
				t.Fatalf("corruption %q: want one line", c.Reason)
			}
		})
		if want := (position{int64(len(data) - len(torn)), whole}); end != want {
			t.Fatalf("whole lines end at %+v, want %+v", end, want)
		}
		for n := 1; n <= len(lines); n++ {
			if want := n <= whole || len(torn) > 0; seen[n] != want {
				t.Fatalf("line %d of %q: seen %v, want %v", n, data, seen[n], want)
			}
		}
	})
}

// FuzzRecord: records with the right checksum, such as another version of the
// program may write. What is accepted survives being written again, and its
// file's name is one in its folder.
func FuzzRecord(f *testing.F) {
	for _, kind := range allKinds {
		record, err := json.Marshal(record(kind, 1))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(record)
	}
	f.Add([]byte(`{"kind":"run","key":"../../etc","body":1}`))
	f.Add([]byte(`{"kind":"part","key":"a","made":{"time":"2026-02-30T00:00:00+23:59"},"body":null}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, record []byte) {
		r, err := decode(frame(record))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("error of more than one line: %q", err)
			}
			return
		}
		if strings.ContainsAny(r.fileName(), "/\\\n\x00") || strings.HasPrefix(r.fileName(), ".") {
			t.Fatalf("accepted %q, whose file would be %q", record, r.fileName())
		}
		line, err := r.encode()
		if err != nil {
			t.Fatalf("accepted %q, which cannot be written again: %v", record, err)
		}
		again, err := decode(line)
		if err != nil || !same(r, again) || r.Made.Machine != again.Made.Machine || r.Seconds != again.Seconds || !r.Made.Time.Equal(again.Made.Time) {
			t.Fatalf("%+v becomes %+v, error %v", r, again, err)
		}
	})
}
