package bench

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
)

// schema is the version of the records. Those of another version are set
// aside like any line that cannot be used.
const schema = 1

// A record is one line:
//
//	{"v":1,"sum":"<hex SHA-256 of the body's bytes>","body":<Result as JSON>}
//
// Readers compare these bytes exactly, so every altered byte is noticed: in
// the body by the sum, elsewhere by the frame.
const (
	frameSum  = `{"v":1,"sum":"`
	frameBody = `","body":`
	frameEnd  = `}`
	sumDigits = 2 * sha256.Size
	maxRecord = 64 << 20 // bytes; a longer line is no record
)

// Trouble is a line of a store that is no valid record, or an oracle file
// that is damaged. It is set aside: the line stays where it is and is not
// used; a copy of it, or the oracle file itself, goes to the set-aside folder.
type Trouble struct {
	File   string
	Line   int // 0 for an oracle file
	Reason string
	// Known says that an earlier run has reported it.
	Known bool
	text  []byte
}

func (t Trouble) String() string {
	if t.Line == 0 {
		return fmt.Sprintf("%s: %s", t.File, t.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", t.File, t.Line, t.Reason)
}

// encodeRecord returns the record's line, newline included. Results with
// NaN or Inf are an error.
func encodeRecord(r Result) ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("result of cell %s: %w", r.Key, err)
	}
	line := make([]byte, 0, len(frameSum)+sumDigits+len(frameBody)+len(body)+len(frameEnd)+1)
	line = append(line, frameSum...)
	line = append(line, checksum(body)...)
	line = append(line, frameBody...)
	line = append(line, body...)
	line = append(line, frameEnd...)
	return append(line, '\n'), nil
}

func checksum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

var otherSchema = regexp.MustCompile(`^\{"v":([0-9]+)[,}]`)

// decodeRecord is the inverse of encodeRecord, for a line without its
// newline. The error says what is wrong with the line.
func decodeRecord(line []byte) (Result, error) {
	const start = len(frameSum) + sumDigits + len(frameBody)
	if !bytes.HasPrefix(line, []byte(frameSum)) {
		if m := otherSchema.FindSubmatch(line); m != nil && string(m[1]) != strconv.Itoa(schema) {
			return Result{}, fmt.Errorf("foreign record: it has schema version %s, this program knows version %d", m[1], schema)
		}
		return Result{}, errors.New("foreign line: not a record of a result store")
	}
	if len(line) < start+len(frameEnd) || string(line[len(frameSum)+sumDigits:start]) != frameBody || !bytes.HasSuffix(line, []byte(frameEnd)) {
		return Result{}, errors.New("damaged record: its frame is incomplete")
	}
	body := line[start : len(line)-len(frameEnd)]
	if sum := checksum(body); sum != string(line[len(frameSum):len(frameSum)+sumDigits]) {
		return Result{}, errors.New("altered record: its body does not have its checksum")
	}
	var r Result
	if err := json.Unmarshal(body, &r); err != nil {
		return Result{}, fmt.Errorf("record with a valid checksum that is no result: %v", err)
	}
	if r.Key != r.Cell.Key() {
		return Result{}, fmt.Errorf("record whose key %.12s is not that of its cell, %.12s", r.Key, r.Cell.Key())
	}
	return r, nil
}

// scanSegment calls record or trouble for every line from the offset on and
// returns the offset and line number behind the last whole line. A last
// line without a newline is trouble: a torn write.
func scanSegment(path string, offset int64, line int, record func(line int, r Result), trouble func(Trouble)) (int64, int, error) {
	f, err := os.Open(path)
	if err != nil {
		return offset, line, err
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return offset, line, err
	}
	size, line, err := scanRecords(f, line, record, func(t Trouble) { t.File = path; trouble(t) })
	return offset + size, line, err
}

// scanRecords is scanSegment for any reader; it returns the bytes of the
// whole lines.
func scanRecords(from io.Reader, line int, record func(line int, r Result), trouble func(Trouble)) (int64, int, error) {
	in := bufio.NewReaderSize(from, 1<<16)
	for offset := int64(0); ; {
		text, size, err := readLine(in)
		if err != nil && err != io.EOF {
			return offset, line, err
		}
		if err == io.EOF {
			if size > 0 {
				trouble(Trouble{Line: line + 1, Reason: "torn record: the line has no end", text: text})
			}
			return offset, line, nil
		}
		offset += size
		line++
		if r, err := decodeRecord(text); err != nil {
			trouble(Trouble{Line: line, Reason: err.Error(), text: text})
		} else {
			record(line, r)
		}
	}
}

// readLine returns the next line without its newline and the bytes it took.
// Of a line longer than any record only the beginning is kept.
func readLine(in *bufio.Reader) (text []byte, size int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		size += int64(len(part))
		if len(text) <= maxRecord {
			text = append(text, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		return bytes.TrimSuffix(text, []byte{'\n'}), size, err
	}
}
